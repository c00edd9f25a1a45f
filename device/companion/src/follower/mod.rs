//! The companion of one hardware thread.

mod accesses;
mod code_prefetch;
mod deliver;
mod execute;
mod fast_path;
mod fetches;
mod lines;
mod nested;
mod requests;
mod traffic;

use alloc::boxed::Box;
use core::sync::atomic::Ordering::Relaxed;

use vm_pmu_arch::feed::{Demand, Request, Signal};

use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::hit_log::Local;
use crate::caches::lock::ClusterLock;
use crate::caches::remembered_hits::{Finder, RememberedHits};
use crate::caches::streams::{Combining, Streams};
use crate::clock::Clock;
use crate::fabric::System;
use crate::fabric::hypertransport::{OF_LINKS, is_of_link};
use crate::fabric::scope::Went;
use crate::follower::code_prefetch::CodeStream;
use crate::follower::execute::Way;
use crate::follower::fast_path::OutcomeContent;
use crate::follower::fetches::CodePiece;
use crate::follower::nested::Steps;
use crate::follower::requests::Requests;
use crate::outcome::Outcome;
use crate::pipeline::cores::Core;
use crate::pipeline::{Pipeline, ThirdLevelMiss, boxed};
use crate::predictor::events;
use crate::predictor::{BranchPath, Tables};
use crate::signals;
use crate::tally::Tally;
use crate::translation::{Invalidation, Page};

/// Bits of an address within the smallest page.
const SMALLEST_PAGE: u32 = 12;

/// The companion of one hardware thread: it follows what the thread executes.
///
/// Only the host thread that runs the thread uses it. Locks guard the state that threads share; they are held for single accesses.
#[derive(Debug)]
pub struct Follower<'a> {
    system: &'a System,
    tables: &'a Tables,
    number: usize,
    package: usize,
    cluster: usize,
    /// Its cluster, and the part of the cluster's state that belongs to its core.
    home: Option<&'a ClusterLock>,
    local: Option<&'a Local>,
    core: usize,
    thread: u8,
    /// The core, if its threads compete, and the state of that core while no other of its threads runs.
    competes: Option<&'a Core>,
    alone: u32,
    clock: Clock,
    /// Whether it follows even while nothing is counted.
    always: bool,
    active: bool,
    /// Whether it follows fetches and accesses, and whether it follows branches.
    memory: bool,
    branches: bool,
    tally: Tally,
    path: BranchPath,
    /// The part's pipeline, if the clock is the companion's.
    pipeline: Option<Box<Pipeline>>,
    pipelined: bool,
    streams: Streams,
    combining: Combining,
    /// The page of the last translation, and the source of its entry.
    page: Page,
    /// The line of code that is being executed, and the number of its virtual page.
    pub(crate) line: Option<(u64, u64)>,
    piece: CodePiece,
    /// The lines of code that are prefetched.
    stream: CodeStream,
    outcome: Outcome,
    told: OutcomeContent,
    finder: Finder,
    /// The lines and pages of data that it finds without the lock of its cluster.
    found: RememberedHits,
    way: Way,
    /// The way of instructions that reach no deadline, so that no record of them is wanted there.
    way_between: Way,
    /// Whether the last requested line that missed the first level was brought in by the prefetcher, and this is its first use.
    pub(crate) prefetched: bool,
    /// The distance that the request for the last line went, if it left the cluster and the part predicts the distance.
    pub(crate) went: Option<Went>,
    requests: Requests,
    /// The steps of nested translations, on a part that reports them.
    nested: Option<Box<Steps>>,
    /// Whether places of memory are watched, so that everything is followed.
    watched: bool,
    /// Whether it counts link traffic, whether it counts the idle slots of its package's links, and the cycles since it last did.
    linked: bool,
    counts_idle: bool,
    link_cycles: u64,
    demand: Demand,
    /// Number of instructions that took a short way.
    #[cfg(test)]
    pub(crate) shorts: usize,
}

impl<'a> Follower<'a> {
    /// Creates the follower of thread `number`, whose place is `place` if every cluster is counted as full.
    pub(crate) fn new(system: &'a System, tables: &'a Tables, number: usize, place: usize, clock: Clock, always: bool) -> Follower<'a> {
        let profile = &system.profile;
        let threads = usize::from(profile.threads.max(1));
        let per_cluster = threads * usize::from(profile.cores.max(1));
        let home = system.clusters.get(place / per_cluster);
        let core = place % per_cluster / threads;
        Follower {
            system,
            tables,
            number,
            package: place / per_cluster / system.clusters_per_package,
            cluster: place / per_cluster,
            home,
            local: home.and_then(|home| home.local(core)),
            core,
            thread: (place % threads) as u8,
            competes: system.cores.get(place / threads),
            alone: Core::alone(place % threads),
            clock,
            always,
            active: false,
            memory: false,
            branches: false,
            tally: Tally::new(),
            path: BranchPath::new(&profile.predictor),
            pipeline: (clock == Clock::Companion).then(|| boxed(|| Pipeline::new(profile.pipeline))),
            pipelined: false,
            streams: Streams::new(),
            combining: Combining::new(profile.write_combining),
            page: Page::default(),
            line: None,
            piece: CodePiece::none(u32::from(profile.caches.fetch_bits.min(63))),
            stream: CodeStream::Off,
            outcome: Outcome::default(),
            told: OutcomeContent::Nothing,
            finder: Finder { number: system.followers.fetch_add(1, Relaxed) + 1, thread: (place % threads) as u8 },
            found: system.nothing_found(place / per_cluster),
            way: Way::Idle,
            way_between: Way::Idle,
            prefetched: false,
            went: None,
            requests: Requests::new(),
            nested: profile.translation.is_radix().then(Steps::new),
            watched: false,
            linked: false,
            counts_idle: false,
            link_cycles: 0,
            demand: Demand::default(),
            #[cfg(test)]
            shorts: 0,
        }
    }

    /// Returns the number of the thread that it follows.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Updates which signals are counted. Call it whenever the epoch of the thread's demand has changed, after everything has been
    /// delivered.
    pub fn sync(&mut self, demand: &Demand) {
        let (profile, clock) = (&self.system.profile, self.clock);
        self.tally.update(demand, |signal| signals::reports(profile, clock, signal));
        self.demand = *demand;
        let time = clock == Clock::Companion && demand.wants(Signal::Cycles);
        self.requests.clear();
        self.requests.wanted = demand.records().requests;
        if let Some(steps) = &mut self.nested {
            steps.clear();
        }
        self.watched = self.system.is_watched();
        let follows = self.always || self.watched;
        let active = follows || time || !self.tally.is_empty() || !demand.records().is_none();
        self.set_active(active);
        let whole = follows || time || clock == Clock::Companion && active || !demand.records().is_none();
        let predictor = &profile.predictor;
        self.branches = whole || self.tally.signals().iter().any(|signal| events::supplies(predictor, *signal));
        self.memory = whole || self.tally.signals().iter().any(|signal| !events::supplies(predictor, *signal));
        self.pipelined = self.keeps_time();
        self.count_links();
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.sync(self.pipelined, !demand.records().is_none(), |signal| demand.wants(signal));
        }
        if let Some(core) = self.competes.filter(|_| !self.pipelined) {
            core.leave(usize::from(self.thread));
        }
        self.choose_way();
    }

    /// Updates from the demand whether it counts link traffic. The first thread of a package keeps the time of the package's links.
    fn count_links(&mut self) {
        let mut counted = self.tally.signals().iter().filter(|signal| is_of_link(**signal));
        let idle = counted.clone().any(|signal| OF_LINKS.iter().any(|link| link[3] == *signal));
        let linked = self.active && counted.next().is_some();
        self.set_linked(linked);
        let first = self.thread == 0 && self.core == 0 && self.cluster == self.package * self.system.clusters_per_package;
        self.set_counts_idle(linked && idle && first && self.pipelined);
    }

    fn set_counts_idle(&mut self, counts_idle: bool) {
        match (self.counts_idle, counts_idle) {
            (false, true) => _ = self.system.idle_counted.fetch_add(1, Relaxed),
            (true, false) => {
                self.system.idle_counted.fetch_sub(1, Relaxed);
                self.system.forget_sent(self.package);
                self.link_cycles = 0;
            }
            _ => {}
        }
        self.counts_idle = counts_idle;
    }

    fn set_linked(&mut self, linked: bool) {
        match (self.linked, linked) {
            (false, true) => _ = self.system.linked.fetch_add(1, Relaxed),
            (true, false) => _ = self.system.linked.fetch_sub(1, Relaxed),
            _ => {}
        }
        self.linked = linked;
    }

    /// Reports that the thread has halted or runs again. With a [pipeline](crate::Profile::pipeline), the threads of a core compete: a
    /// running thread has its share of the common resources, whether it is followed or not. At first no thread runs; a thread that executes
    /// something while it is followed counts as running. So call this when the thread halts, and when it continues.
    ///
    /// ```
    /// use vm_pmu::companion::{Builder, Clock};
    ///
    /// // The four threads of a core; the second is not used.
    /// let companion = Builder::new("knl").unwrap().threads(4).clock(Clock::Companion).build();
    /// let followers = [0, 1, 2, 3].map(|number| companion.follower(number).unwrap());
    /// followers.iter().for_each(|follower| follower.set_halted(false));
    /// followers[1].set_halted(true);
    /// ```
    pub fn set_halted(&self, halted: bool) {
        if let Some(core) = self.competes {
            core.set_running(usize::from(self.thread), !halted);
        }
    }

    /// Sets whether the embedder switches the threads of a core when one misses the third-level cache, as Montecito does. With its
    /// [pipeline](crate::Profile::pipeline), [`deliver`](Follower::deliver) then reports cycles only up to the one in which a miss is
    /// known. The embedder then asks for [the miss](Follower::third_level_miss), and the next delivery continues. Off at first, and not
    /// part of the saved state.
    pub fn watch_third_level(&mut self, watched: bool) {
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.watch(watched);
        }
    }

    /// Returns the miss of the third-level cache at which the last delivery ended, once, if [misses are
    /// watched](Follower::watch_third_level).
    pub fn third_level_miss(&mut self) -> Option<ThirdLevelMiss> {
        self.pipeline().and_then(Pipeline::third_level_miss)
    }

    /// Limits the cycles that deliveries report from now on, while misses of the third-level cache [are
    /// watched](Follower::watch_third_level); `None` removes the limit. Whatever the thread still waits for then is not over, and may
    /// continue [in the background](Follower::resume).
    pub fn report_at_most(&mut self, cycles: Option<u64>) {
        if let Some(pipeline) = self.pipeline() {
            pipeline.report_at_most(cycles);
        }
    }

    /// Returns the cycles from the thread's last completed instruction to the last delivery, if a pipeline that keeps time knows them.
    #[must_use]
    pub fn idle(&self) -> Option<u64> {
        self.pipeline.as_ref().filter(|_| self.pipelined).and_then(|pipeline| pipeline.idle())
    }

    /// Returns the thread to the foreground of its core after `background` cycles, in which whatever it waited for continued. With a
    /// pipeline, the switch itself takes the cycles that the part needs, before the next instruction. More than 2^32 cycles count as 2^32.
    pub fn resume(&mut self, background: u64) {
        if self.pipelined
            && let Some(pipeline) = &mut self.pipeline
        {
            pipeline.resume(background, &mut self.tally);
        }
    }

    fn set_active(&mut self, active: bool) {
        if self.active != active
            && let Some(cluster) = self.home
        {
            if active && !self.system.is_followed(self.package) {
                // Work of the package's memory from before is dropped.
                self.system.report_work_abroad(self.package, None);
            }
            cluster.lock().listen(active);
        }
        self.active = active;
    }

    /// Whether anything that it supplies is demanded. If not, reports to it are unnecessary and ignored: caches, translation buffers and
    /// predictor stay unchanged.
    #[must_use]
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether it currently follows fetches and accesses, in addition to branches.
    #[must_use]
    #[inline]
    pub fn follows_accesses(&self) -> bool {
        self.active && self.memory
    }

    /// Whether it currently supplies the cycles.
    #[must_use]
    #[inline]
    pub fn keeps_time(&self) -> bool {
        self.active && self.clock == Clock::Companion
    }

    /// Whether it currently supplies `signal`. If so, the embedder must not add it.
    #[must_use]
    pub fn supplies(&self, signal: Signal) -> bool {
        self.active && signals::supplies(&self.system.profile, self.clock, signal)
    }

    /// Whether a state that it supplies held in the last cycle. `None` if the companion does not keep time, no cycle has elapsed, or it
    /// does not supply the state. For `Thread::supply_levels`.
    #[must_use]
    pub fn holds(&self, state: Signal) -> Option<bool> {
        self.pipeline.as_ref()?.holds(state).filter(|_| self.supplies(state))
    }

    /// Whether [`Companion::watch_places`](crate::Companion::watch_places) has changed what is watched since the last
    /// [`sync`](Follower::sync), which is then due again.
    #[must_use]
    #[inline]
    pub fn is_stale(&self) -> bool {
        self.watched != self.system.is_watched()
    }

    /// Returns the outcome of the last instruction.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Returns the requests that have left the core's first-level caches since the last delivery, in order, if the demand asks for them
    /// ([`Records::requests`](vm_pmu_arch::feed::Records)); at most 128. [`deliver`](Follower::deliver) reports them to the thread's PMU.
    #[must_use]
    #[inline]
    pub fn requests(&self) -> &[Request] {
        self.requests.all()
    }

    /// Drops the [requests](Follower::requests) without reporting them to the thread's PMU: for an embedder that reports them to another
    /// device, while the PMU does not ask for them.
    #[inline]
    pub fn drop_requests(&mut self) {
        self.requests.clear();
    }

    /// Returns the number of requests lost since the follower was made, because more than 128 came between two deliveries. No instruction
    /// of two accesses on Knights Landing makes more than 97.
    #[must_use]
    pub fn lost_requests(&self) -> u64 {
        self.requests.lost()
    }

    /// Returns the number of steps of nested translations lost since the follower was made, because more than 48 came between two
    /// deliveries. No instruction of two accesses makes more than 36.
    #[must_use]
    pub fn lost_nested_steps(&self) -> u64 {
        self.nested.as_ref().map_or(0, |steps| steps.lost())
    }

    /// Invalidates translations.
    pub fn invalidate(&mut self, what: Invalidation) {
        if let Some(cluster) = self.home
            && let Some(caches) = cluster.lock().cores.get_mut(self.core)
        {
            caches.translations.forget(what, self.thread);
        }
        self.tally.add(Signal::InstructionTranslationPurges, 1);
        self.line = None;
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        let (line, page) = self.line.unwrap_or_default();
        writer.words(&[u64::from(self.line.is_some()), line, page]);
        let piece = self.piece.number();
        writer.words(&[u64::from(piece.is_some()), piece.unwrap_or_default()]);
        self.path.save(writer);
        if let Some(pipeline) = &self.pipeline {
            pipeline.save(writer);
        }
        self.streams.save(writer);
        self.combining.save(writer);
        self.stream.save(writer);
        writer.word(self.link_cycles);
    }

    pub(crate) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let (there, line, page) = (reader.word()?, reader.word()?, reader.word()?);
        self.line = (there & 1 == 1).then_some((line, page));
        let (there, piece) = (reader.word()?, reader.word()?);
        self.piece.set((there & 1 == 1).then_some(piece));
        self.path.load(reader)?;
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.load(reader)?;
        }
        self.streams.load(reader)?;
        self.combining.load(reader)?;
        self.stream = CodeStream::load(reader)?;
        self.link_cycles = reader.word()?;
        Ok(())
    }
}

impl Drop for Follower<'_> {
    fn drop(&mut self) {
        self.set_counts_idle(false);
        self.set_linked(false);
        self.set_active(false);
    }
}
