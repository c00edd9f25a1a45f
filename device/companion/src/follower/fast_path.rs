//! The short way of an instruction that hits everywhere.
//!
//! The first level has the line and the translation of the instruction's code, and those of its only access, if it makes one; or a store is
//! written through to the second level, which has its line. So no other thread is affected, and the only lookup needed is that it hits.
//! Afterwards the state is the same as after the long way; a test compares both. Most instructions are of this kind.

use vm_pmu_arch::feed::{DataSource, StoreOutcome, Translation};

use crate::caches::hit_log::Local;
use crate::caches::remembered_hits::Find;
use crate::caches::{Cluster, Level};
use crate::follower::Follower;
use crate::follower::code_prefetch::CodeStream;
use crate::instruction::{Access, AccessKind, Instruction, Transfer};
use crate::outcome::Outcome;
use crate::pipeline::Source;
use crate::profile::WritePolicy;

/// The content of the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutcomeContent {
    Nothing,
    /// An access hit the first level.
    Hit,
    /// A store hit the second level, to which it was written through.
    Stored,
    /// Something else.
    Other,
}

impl Follower<'_> {
    /// Executes an instruction that only computes and lies in the line of the one before, of a thread that is alone. Returns whether it is
    /// such an instruction; if not, nothing has been done.
    #[inline]
    pub(super) fn execute_plain(&mut self, instruction: &Instruction<'_>) -> bool {
        if !instruction.computes() || !self.is_alone() {
            return false;
        }
        if self.is_fetched(instruction) {
            return self.execute_plain_of_another_piece(instruction);
        }
        self.takes_plain_time(instruction)
    }

    /// Executes such an instruction that begins another piece.
    #[inline(never)]
    fn execute_plain_of_another_piece(&mut self, instruction: &Instruction<'_>) -> bool {
        let done = self.goes_on_in_line(instruction) && self.takes_plain_time(instruction);
        if done {
            self.fetch_pieces_of(instruction);
        }
        done
    }

    /// Passes an instruction that only computes through the pipeline in the shortest way. Returns whether the pipeline took it.
    #[inline]
    fn takes_plain_time(&mut self, instruction: &Instruction<'_>) -> bool {
        let done = self.pipeline.as_mut().is_some_and(|pipeline| pipeline.execute_plain(instruction, &mut self.tally));
        if done {
            self.outcome.cycles = None;
            self.tell_nothing();
        }
        done
    }

    #[cfg(test)]
    pub(super) fn count_short(&mut self, short: bool) {
        self.shorts += usize::from(short);
    }

    #[inline]
    pub(super) fn tell_nothing(&mut self) {
        if self.told != OutcomeContent::Nothing {
            self.outcome = Outcome::default();
            self.told = OutcomeContent::Nothing;
        }
    }

    /// Follows an instruction, with its accesses and its transfer, while no records are asked for. Returns whether it took the short way. If
    /// not, the long way has the same effect as if this had not been tried.
    #[inline(never)]
    pub(super) fn execute_short(&mut self, instruction: &Instruction<'_>, accesses: &[Access], transfer: Option<&Transfer>) -> bool {
        let far = transfer.is_some_and(|transfer| transfer.kind.is_far());
        if far || instruction.class.writes_out() || !self.is_quiet(instruction) {
            return false;
        }
        let mut lines = None;
        if self.is_fetched(instruction) {
            let Some(found) = self.finds_lines(instruction) else { return false };
            lines = Some(found);
        }
        let mut hit = None;
        match accesses {
            [] => self.tell_nothing(),
            [access] => {
                let Some(level) = self.hits(access) else { return false };
                self.tell_hit(instruction, access, level);
                hit = Some((access, level));
            }
            [load, store] if self.modifies(instruction, load, store) => {}
            _ => return false,
        }
        self.outcome.cycles = None;
        if let Some(lines) = lines {
            self.fetch_found(instruction, lines);
        }
        if let Some(transfer) = transfer {
            self.transfer(instruction, transfer);
            self.told = OutcomeContent::Other;
        }
        if self.pipeline.is_some() {
            self.take_short_time(instruction, hit);
        }
        if self.stream != CodeStream::Off {
            self.prefetch_stream();
        }
        true
    }

    /// Passes an instruction that hits everywhere through the pipeline, with its access and the level of that.
    #[inline(always)]
    fn take_short_time(&mut self, instruction: &Instruction<'_>, hit: Option<(&Access, Level)>) {
        if !self.is_alone() {
            hit.into_iter().for_each(|(access, level)| self.keep_access(access, level));
            return self.take_time_beside(instruction);
        }
        let (Some(pipeline), profile) = (&mut self.pipeline, &self.system.profile) else { return };
        let Some((access, level)) = hit else { return pipeline.execute_alone(instruction, &mut self.tally) };
        let line = access.physical >> profile.caches.line_bits.min(63);
        let through = (level != Level::First).then(|| u32::from(profile.costs.second));
        pipeline.execute_hit(instruction, (access, line), through, &mut self.tally);
    }

    /// Whether nothing pending arrives with the next instruction, and the instruction requests no code ahead.
    #[inline]
    pub(super) fn is_quiet(&self, instruction: &Instruction<'_>) -> bool {
        if !self.system.profile.pipeline.is_ia64() {
            return instruction.bundle.is_none();
        }
        let presages = instruction.bundle.as_ref().is_some_and(|bundle| bundle.presaged(instruction.address).is_some());
        !presages && self.nothing_arrives()
    }

    /// Whether nothing pending arrives with the next instruction.
    #[inline]
    pub(super) fn nothing_arrives(&self) -> bool {
        !self.system.profile.pipeline.is_ia64() || self.stream == CodeStream::Off && self.tally.carried.is_none()
    }

    /// Returns the line of an access that lies within one line.
    #[inline]
    fn line_of(&self, access: &Access) -> Option<u64> {
        let line_bits = self.system.profile.caches.line_bits.min(63);
        let end = access.physical.wrapping_add(u64::from(access.size.max(1)) - 1);
        let line = access.physical >> line_bits;
        (end >> line_bits == line).then_some(line)
    }

    /// Returns the level that an access hits, if it is a usual one.
    #[inline(always)]
    fn hits(&mut self, access: &Access) -> Option<Level> {
        let writes = access.kind == AccessKind::Store;
        let local = self.local.filter(|_| is_usual(access))?;
        let line = self.line_of(access)?;
        if writes && self.found.stores_through() {
            return self.stores_through(local, line, access.address);
        }
        if self.found.again(local, line, writes, access.address) {
            return Some(Level::First);
        }
        self.look_up(local, writes, line, access.address)
    }

    /// Returns the level that a store hits, which may be written through to the second level.
    #[inline(never)]
    fn stores_through(&mut self, local: &Local, line: u64, address: u64) -> Option<Level> {
        let Some(first) = self.found.stores_again(local, line, address) else {
            return self.look_up(local, true, line, address);
        };
        Cluster::count_store_through(first, &mut self.tally);
        Some(Level::Second)
    }

    /// Looks up the level that an access hits, with the lock of the cluster.
    #[inline(never)]
    fn look_up(&mut self, local: &Local, writes: bool, line: u64, address: u64) -> Option<Level> {
        let cluster = self.home.filter(|_| self.found.seeks())?;
        let mut caches = cluster.lock_for(self.core, self.finder);
        let find = caches.hits(self.core, writes, line, (self.thread, address), &mut self.tally);
        if matches!(find, Some(Find::Second { .. })) && caches.storer != self.core {
            // Other cores use the second level too.
            caches.storer = self.core;
            cluster.change();
        }
        match find {
            Some(find) => self.found.find(local.changes(), address, line, find),
            // The long way changes more.
            None => self.found.fail(),
        }
        find.map(Find::level)
    }

    /// Whether an instruction loads and stores data that the first level has and may write. If so, both accesses are counted and added to
    /// the outcome.
    #[inline(never)]
    fn modifies(&mut self, instruction: &Instruction<'_>, load: &Access, store: &Access) -> bool {
        let same = load.kind == AccessKind::Load
            && store.kind == AccessKind::Store
            && (load.address, load.physical, load.size) == (store.address, store.physical, store.size);
        let back = self.system.profile.caches.data_write == WritePolicy::Back;
        // A line that may be written may be read too.
        let hits = same && back && !load.locked && !load.uncached && self.hits(store) == Some(Level::First);
        if hits {
            // Neither takes longer than the other.
            for access in [load, store] {
                self.tell_hit(instruction, access, Level::First);
                self.keep_access(access, Level::First);
            }
        }
        hits
    }

    /// Counts an access that hits a level, and adds it to the outcome.
    #[inline(always)]
    fn tell_hit(&mut self, instruction: &Instruction<'_>, access: &Access, level: Level) {
        self.count_access(access, u64::from(access.size.max(1)), access.kind == AccessKind::Store);
        (self.prefetched, self.went) = (false, None);
        let profile = &self.system.profile;
        let (first, costs) = (level == Level::First, &profile.costs);
        let told = if first { OutcomeContent::Hit } else { OutcomeContent::Stored };
        if self.told != told {
            self.outcome = Outcome {
                latency: u32::from(if first { costs.first } else { costs.second }),
                source: DataSource::Cache(if first { 1 } else { 2 }),
                translation: Translation::Hit(1),
                store_outcome: if first { StoreOutcome::None } else { StoreOutcome::Completed },
                accessed: true,
                ..Outcome::default()
            };
            self.told = told;
        }
        if costs.second_floating != 0 && access.kind == AccessKind::Load {
            self.load_floating(instruction);
            self.told = OutcomeContent::Other;
        }
    }

    /// Tells the pipeline, if time is kept, about an access that hits a level.
    fn keep_access(&mut self, access: &Access, level: Level) {
        let profile = &self.system.profile;
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.access(access, access.physical >> profile.caches.line_bits.min(63));
            if level != Level::First {
                pipeline.missed(u32::from(profile.costs.second), Source::Second);
            }
        }
    }

    /// Passes an instruction that hits everywhere through the pipeline, which other threads of the core use too.
    fn take_time_beside(&mut self, instruction: &Instruction<'_>) {
        let Some(pipeline) = &mut self.pipeline else { return };
        let thread = usize::from(self.thread);
        let mut together = self.competes.and_then(|core| core.together(thread));
        let together = together.as_mut().map(|(sharing, running)| (&mut **sharing, *running));
        pipeline.execute_beside(instruction, thread, together, &mut self.tally);
    }

    /// Passes the instruction through the pipeline, which other threads of the core may use too.
    pub(super) fn take_time(&mut self, instruction: &Instruction<'_>) {
        let Some(pipeline) = &mut self.pipeline else { return };
        let thread = usize::from(self.thread);
        let mut together = self.competes.and_then(|core| core.together(thread));
        let together = together.as_mut().map(|(sharing, running)| (&mut **sharing, *running));
        pipeline.execute(instruction, thread, together, &mut self.tally);
        if !self.demand.records().is_none() {
            self.told = OutcomeContent::Other;
            pipeline.tell(&mut self.outcome);
        }
    }
}

/// Whether an access is a plain cached load or store, as most are.
#[inline]
fn is_usual(access: &Access) -> bool {
    matches!(access.kind, AccessKind::Load | AccessKind::Store) && !access.locked && !access.uncached
}
