//! A group in flight: its sources, results and accesses.

use super::rows::{self, Consumer, Ia64Row, Producer, ResultKind, Special};
use crate::bus_traffic::BusTraffic;
use crate::bytes::{Damaged, Reader, Writer};
use crate::ia64_register::PREDICATES;
use crate::instruction::{AccessKind, Class, Instruction, Register};
use crate::pipeline::resources::registers::ANY;
use crate::pipeline::resources::saving::{number, pick, small, time};
use crate::pipeline::{Findings, Touch};

/// Maximum number of registers that a group reads, and writes, other than predicates. No six instructions name more.
const SOURCES: usize = 32;
const RESULTS: usize = 24;
/// Maximum number of accesses of a group; those of the register stack engine are counted instead.
const ACCESSES: usize = 6;
/// Producers of predicates.
pub(in crate::pipeline) const PREDICATE_PRODUCERS: [Producer; 3] = [Producer::Compare, Producer::FloatCompare, Producer::Estimate];
/// Access number of a result that no access brings.
const NO_ACCESS: u8 = ACCESSES as u8;

/// A register that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) struct Needed {
    pub(in crate::pipeline) register: u16,
    pub(in crate::pipeline) consumer: Consumer,
}

/// A register that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) struct Made {
    pub(in crate::pipeline) register: u16,
    pub(in crate::pipeline) producer: Producer,
    /// The access that brings it, if any.
    pub(in crate::pipeline) access: u8,
}

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) struct Reference {
    pub(in crate::pipeline) touch: Touch,
    /// Whether it is for floating-point registers.
    pub(in crate::pipeline) floating: bool,
    pub(in crate::pipeline) special: Special,
    /// Whether it evicted a modified line from the second level.
    pub(in crate::pipeline) evicts: bool,
    /// The clock in which its data arrive.
    pub(in crate::pipeline) arrival: u64,
}

/// Operations of a group in the second level other than accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) struct Singles {
    /// `mf`, `mf.a` and `sync.i`.
    pub(in crate::pipeline) fences: bool,
    pub(in crate::pipeline) accepts: bool,
    pub(in crate::pipeline) synchronizes: bool,
    /// Whether it flushes a line.
    pub(in crate::pipeline) flushes: bool,
}

/// Work of the register stack engine for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) struct Stack {
    /// Number of registers that are stored at once, loaded, and loaded by `loadrs`.
    pub(in crate::pipeline) spills: u32,
    pub(in crate::pipeline) fills: u32,
    pub(in crate::pipeline) loads: u32,
    /// Whether it waits until writes of the engine's registers are done.
    pub(in crate::pipeline) waits: bool,
    /// Number of clocks until its write of such a register is done.
    pub(in crate::pipeline) keeps: u64,
    /// Whether it ends with `bsw`.
    pub(in crate::pipeline) switches: bool,
}

/// A group of instructions.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) struct InstructionGroup {
    needed: [Needed; SOURCES],
    needs: u8,
    made: [Made; RESULTS],
    makes: u8,
    references: [Reference; ACCESSES],
    accesses: u8,
    /// Predicates that it reads, one bit each: qualifying ones, and those of branches.
    pub(in crate::pipeline) qualifying: u64,
    pub(in crate::pipeline) deciding: u64,
    /// Predicates that it writes, by [`PREDICATE_PRODUCERS`].
    pub(in crate::pipeline) predicates: [u64; 3],
    pub(in crate::pipeline) stack: Stack,
    /// Clocks of walks for the register stack engine, and of its accesses' translations from the second-level TLB.
    pub(in crate::pipeline) stack_walk: u64,
    pub(in crate::pipeline) stack_transfer: u64,
    /// Bus traffic for it apart from its accesses, and the longest latency of the data of that.
    pub(in crate::pipeline) carried: BusTraffic,
    pub(in crate::pipeline) carried_latency: u64,
    /// Whether the floating-point unit has to check if an operation raises an exception.
    pub(in crate::pipeline) checks: bool,
    pub(in crate::pipeline) serializes: bool,
    pub(in crate::pipeline) fences: bool,
    pub(in crate::pipeline) singles: Singles,
    /// Whether it writes a control or application register, or PSR.
    pub(in crate::pipeline) writes_special: bool,
    /// The clock in which it executed, and the one in which its REN stage began.
    pub(in crate::pipeline) executed: u64,
    pub(in crate::pipeline) renamed: u64,
}

impl Default for InstructionGroup {
    fn default() -> InstructionGroup {
        InstructionGroup {
            needed: [Needed::default(); SOURCES],
            needs: 0,
            made: [Made::default(); RESULTS],
            makes: 0,
            references: [Reference::default(); ACCESSES],
            accesses: 0,
            qualifying: 0,
            deciding: 0,
            predicates: [0; 3],
            stack: Stack::default(),
            stack_walk: 0,
            stack_transfer: 0,
            carried: BusTraffic::NONE,
            carried_latency: 0,
            checks: false,
            serializes: false,
            fences: false,
            singles: Singles::default(),
            writes_special: false,
            executed: 0,
            renamed: 0,
        }
    }
}

/// Returns the bit of a predicate.
fn bit(register: u16) -> u64 {
    1 << ((register - PREDICATES) & 63)
}

/// Returns the number under which a register's time is kept.
fn place(register: Register) -> u16 {
    if register.0 == ANY { ANY } else { register.0 % ANY }
}

/// Whether an instruction that waits for others was executed, not predicated off.
fn is_executed(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.class, Class::Fence | Class::Serializing)
}

impl InstructionGroup {
    /// Empties the group.
    pub(in crate::pipeline) fn clear(&mut self) {
        // Elements beyond the counts are not read. Each field is named, so that none is forgotten.
        let InstructionGroup {
            needed: _,
            needs,
            made: _,
            makes,
            references: _,
            accesses,
            qualifying,
            deciding,
            predicates,
            stack,
            stack_walk,
            stack_transfer,
            carried,
            carried_latency,
            checks,
            serializes,
            fences,
            singles,
            writes_special,
            executed,
            renamed,
        } = self;
        (*needs, *makes, *accesses) = (0, 0, 0);
        (*qualifying, *deciding, *predicates) = (0, 0, [0; 3]);
        (*stack, *stack_walk, *stack_transfer) = (Stack::default(), 0, 0);
        (*carried, *carried_latency) = (BusTraffic::NONE, 0);
        (*checks, *serializes, *fences, *singles) = (false, false, false, Singles::default());
        (*writes_special, *executed, *renamed) = (false, 0, 0);
    }

    #[inline]
    pub(in crate::pipeline) fn needed(&self) -> &[Needed] {
        self.needed.get(..usize::from(self.needs)).unwrap_or(&[])
    }

    #[inline]
    pub(in crate::pipeline) fn made(&self) -> &[Made] {
        self.made.get(..usize::from(self.makes)).unwrap_or(&[])
    }

    #[inline]
    pub(in crate::pipeline) fn references(&self) -> &[Reference] {
        self.references.get(..usize::from(self.accesses)).unwrap_or(&[])
    }

    pub(in crate::pipeline) fn references_mut(&mut self) -> &mut [Reference] {
        self.references.get_mut(..usize::from(self.accesses)).unwrap_or(&mut [])
    }

    fn need(&mut self, register: u16, consumer: Consumer) {
        if let Some(place) = self.needed.get_mut(usize::from(self.needs)) {
            *place = Needed { register, consumer };
            self.needs += 1;
        }
    }

    fn make(&mut self, register: u16, producer: Producer, access: u8) {
        if let Some(place) = self.made.get_mut(usize::from(self.makes)) {
            *place = Made { register, producer, access };
            self.makes += 1;
        }
    }

    /// Adds an instruction.
    pub(in crate::pipeline) fn add(&mut self, instruction: &Instruction<'_>, found: &Findings, row: &Ia64Row) {
        if !found.carried.is_none() {
            self.carried.join(found.carried);
        }
        let accesses = !instruction.accesses.is_empty() || found.count != 0;
        let access = if accesses { self.access(instruction, found, row) } else { NO_ACCESS };
        self.registers(instruction, row, access);
        self.checks |= instruction.operation.as_ref().is_some_and(|operation| operation.may_trap);
        match row.special {
            Special::Serialize => self.serializes |= is_executed(instruction),
            Special::Fence | Special::Accept => {
                self.fences |= is_executed(instruction);
                let single = if row.special == Special::Fence { &mut self.singles.fences } else { &mut self.singles.accepts };
                *single |= is_executed(instruction);
            }
            Special::Synchronize => self.singles.synchronizes |= is_executed(instruction),
            Special::Stack | Special::LoadStack | Special::ReadStack => self.stack.waits = true,
            Special::Bank => self.stack.switches = true,
            Special::None | Special::Acquire | Special::Spill | Special::Fill | Special::Release => {}
        }
    }

    /// Adds the accesses of an instruction. Returns the one that brings its data.
    fn access(&mut self, instruction: &Instruction<'_>, found: &Findings, row: &Ia64Row) -> u8 {
        let mut last = NO_ACCESS;
        self.singles.flushes |= instruction.accesses.iter().any(|access| access.kind == AccessKind::Flush);
        for touch in found.touches() {
            if matches!(touch.kind, AccessKind::RegisterStackLoad | AccessKind::RegisterStackStore) {
                let clocks = if touch.walked { &mut self.stack_walk } else { &mut self.stack_transfer };
                *clocks += u64::from(touch.translation);
                self.carried.join(touch.carried);
                self.carried_latency = self.carried_latency.max(u64::from(touch.latency.max(touch.translation)));
            } else if let Some(place) = self.references.get_mut(usize::from(self.accesses)) {
                let evicts = touch.missed && found.written_back != 0;
                *place = Reference { touch: *touch, floating: row.floating, special: row.special, evicts, arrival: 0 };
                last = self.accesses;
                self.accesses += 1;
            }
        }
        let count = |kind| instruction.accesses.iter().filter(|access| access.kind == kind).count() as u32;
        self.stack.spills += count(AccessKind::RegisterStackStore);
        let fills = count(AccessKind::RegisterStackLoad);
        if row.special == Special::LoadStack {
            self.stack.loads += fills;
        } else {
            self.stack.fills += fills;
        }
        last
    }

    fn registers(&mut self, instruction: &Instruction<'_>, row: &Ia64Row, access: u8) {
        let Some(operation) = instruction.operation else {
            self.need(ANY, Consumer::Integer);
            return self.make(ANY, row.producer, access);
        };
        for register in operation.addresses {
            self.need(place(*register), Consumer::Address);
        }
        for register in operation.reads {
            let register = place(*register);
            match ResultKind::of(register) {
                ResultKind::Predicate if row.consumer == Consumer::Branch => self.deciding |= bit(register),
                ResultKind::Predicate => self.qualifying |= bit(register),
                ResultKind::Special if row.consumer == Consumer::Branch => self.need(register, Consumer::Branch),
                ResultKind::Special => self.need(register, Consumer::Integer),
                ResultKind::General | ResultKind::Floating => self.need(register, row.consumer),
            }
        }
        for (number, register) in operation.writes.iter().enumerate() {
            // The target of a load comes before its base register.
            let base = number != 0 && operation.addresses.contains(register);
            let producer = row.producer_of(register.0, base);
            self.stack.keeps = self.stack.keeps.max(rows::keeps_stack(*register, producer));
            self.writes_special |= rows::is_serialized(*register, producer);
            let register = place(*register);
            if ResultKind::of(register) == ResultKind::Predicate {
                let number = PREDICATE_PRODUCERS.iter().position(|each| *each == producer).unwrap_or(0);
                if let Some(predicates) = self.predicates.get_mut(number) {
                    *predicates |= bit(register);
                }
                continue;
            }
            self.make(register, producer, if producer.loads() { access } else { NO_ACCESS });
        }
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&[u64::from(self.needs), u64::from(self.makes), u64::from(self.accesses)]);
        let count = |count: u8| usize::from(count);
        for each in self.needed().iter().chain(core::iter::repeat_n(&Needed::default(), SOURCES - count(self.needs))) {
            writer.words(&[u64::from(each.register), number(&Consumer::ALL, &each.consumer)]);
        }
        for each in self.made().iter().chain(core::iter::repeat_n(&Made::default(), RESULTS - count(self.makes))) {
            writer.words(&[u64::from(each.register), number(&Producer::ALL, &each.producer), u64::from(each.access)]);
        }
        for each in self.references().iter().chain(core::iter::repeat_n(&Reference::default(), ACCESSES - count(self.accesses))) {
            each.touch.save(writer);
            writer.words(&[u64::from(each.floating), number(&Special::ALL, &each.special), u64::from(each.evicts), each.arrival]);
        }
        writer.words(&[self.qualifying, self.deciding]);
        writer.words(&self.predicates);
        let stack = &self.stack;
        writer.words(&[u64::from(stack.spills), u64::from(stack.fills), u64::from(stack.loads)]);
        writer.words(&[u64::from(stack.waits), stack.keeps, u64::from(stack.switches), self.stack_walk, self.stack_transfer]);
        self.carried.save(writer);
        writer.word(self.carried_latency);
        let flags = [self.checks, self.serializes, self.fences, self.writes_special];
        flags.iter().for_each(|flag| writer.word(u64::from(*flag)));
        let singles = [self.singles.fences, self.singles.accepts, self.singles.synchronizes, self.singles.flushes];
        writer.word(singles.iter().rev().fold(0, |singles, single| singles << 1 | u64::from(*single)));
        writer.words(&[self.executed, self.renamed]);
    }

    pub(in crate::pipeline) fn load(reader: &mut Reader<'_>, now: u64) -> Result<InstructionGroup, Damaged> {
        let mut group = InstructionGroup {
            needs: small(reader, SOURCES)?,
            makes: small(reader, RESULTS)?,
            accesses: small(reader, ACCESSES)?,
            ..InstructionGroup::default()
        };
        let register = |word: u64| u16::try_from(word).ok().filter(|register| *register <= ANY).ok_or(Damaged);
        for each in &mut group.needed {
            *each = Needed { register: register(reader.word()?)?, consumer: pick(&Consumer::ALL, reader)? };
        }
        for each in &mut group.made {
            *each = Made { register: register(reader.word()?)?, producer: pick(&Producer::ALL, reader)?, access: small(reader, ACCESSES)? };
        }
        for each in &mut group.references {
            *each = Reference {
                touch: Touch::load(reader)?,
                floating: small(reader, 1)? == 1,
                special: pick(&Special::ALL, reader)?,
                evicts: small(reader, 1)? == 1,
                arrival: time(reader, now)?,
            };
        }
        (group.qualifying, group.deciding) = (reader.word()?, reader.word()?);
        reader.words(&mut group.predicates)?;
        let mut amount = || u32::try_from(reader.word()?).ok().filter(|amount| *amount <= 1 << 16).ok_or(Damaged);
        (group.stack.spills, group.stack.fills, group.stack.loads) = (amount()?, amount()?, amount()?);
        group.stack.waits = small(reader, 1)? == 1;
        group.stack.keeps = u64::from(small(reader, 12)?);
        group.stack.switches = small(reader, 1)? == 1;
        let mut clocks = || Some(reader.word()?).filter(|clocks| *clocks <= 1 << 40).ok_or(Damaged);
        (group.stack_walk, group.stack_transfer) = (clocks()?, clocks()?);
        (group.carried, group.carried_latency) = (BusTraffic::load(reader)?, time(reader, 0)?);
        (group.checks, group.serializes) = (small(reader, 1)? == 1, small(reader, 1)? == 1);
        (group.fences, group.writes_special) = (small(reader, 1)? == 1, small(reader, 1)? == 1);
        let singles = small(reader, 0b1111)?;
        let single = |bit: u32| singles >> bit & 1 == 1;
        group.singles = Singles { fences: single(0), accepts: single(1), synchronizes: single(2), flushes: single(3) };
        (group.executed, group.renamed) = (time(reader, now)?, time(reader, now)?);
        Ok(group)
    }
}
