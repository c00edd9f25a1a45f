//! Classification of instructions: their ports, the kinds of their results and sources, and their demands on the stages. Sections M1, M2.1
//! and I1 of `docs/notes/pipelines-ia64.md` have the sources. Latencies are specific to each part.

use crate::bundle::Unit;
use crate::ia64_register::{APPLICATION, BRANCH, FLOATING, PREDICATES, STATUS};
use crate::instruction::{AccessKind, Class, Instruction, Register};

/// Ports of Montecito that can take an instruction (PM11a). The first Itanium distinguishes fewer kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) enum BundlePort {
    /// Any integer port: an I port if it is in an I slot and one is free, otherwise an M port.
    Any,
    /// M0 to M3.
    Memory,
    /// M0 and M1.
    Load,
    /// M0.
    Memory0,
    /// M2 and M3.
    Store,
    /// M2.
    Memory2,
    /// I0 and I1.
    Integer,
    /// I0.
    Integer0,
    /// The F port of its bundle.
    Floating,
    /// An I port, together with the F port of its bundle.
    Long,
    /// A branch port, by its template.
    Branch,
    /// A nop in a B slot.
    BranchNop,
}

/// The producer of a result, as far as its latency is concerned: the rows of the tables of M1 and I1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) enum Producer {
    /// Integers and post-increments.
    #[default]
    Integer,
    /// Logic, and integers of an I slot, where they are distinguished.
    Slow,
    /// Parallel integers and variable shifts.
    Parallel,
    /// `probe`, `getf` and their like.
    Probe,
    /// `setf`.
    Setf,
    /// Floating point.
    Float,
    /// Operations other than multiplications and additions, where they are distinguished.
    FloatOther,
    /// Integer multiplications, and conversions, where they are distinguished.
    FloatFixed,
    /// Integer compares and tests, and moves to PR.
    Compare,
    /// `fcmp` and `fclass`.
    FloatCompare,
    /// The predicate of `frcpa` and `frsqrta`.
    Estimate,
    /// An integer load, counted from the arrival of its data.
    Load,
    /// A floating-point load, likewise.
    FloatLoad,
    /// A move from BR, `alloc`, and a move from PR.
    MoveBranch,
    /// A move from LC, EC, PFS, IIP or IIM.
    MoveLoop,
    /// A move from RNAT or UNAT, and the result of a move to them, or to CCV.
    Move5,
    /// A move from RR or PKR.
    Move6,
    /// A move from the other application and control registers, and the result of a move to them.
    Move12,
    /// Other indirect moves.
    Move35,
}

/// The consumer of a result: the columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) enum Consumer {
    /// A qualifying predicate.
    Qualifying,
    /// The predicate of a branch.
    Branch,
    /// An integer, or a register that is neither general nor floating-point.
    #[default]
    Integer,
    /// An address.
    Address,
    /// A parallel integer.
    Parallel,
    /// The data of a store.
    Store,
    /// A floating-point number.
    Float,
    /// A floating-point number that is neither multiplied nor added, where that is distinguished.
    FloatOther,
    /// The source of `getf`.
    Getf,
    /// The source of `setf`.
    Setf,
    /// A write to a register whose load has not brought its data yet (PM14).
    Written,
}

impl Producer {
    pub(in crate::pipeline) const ALL: [Producer; Producer::Move35 as usize + 1] = [
        Producer::Integer,
        Producer::Slow,
        Producer::Parallel,
        Producer::Probe,
        Producer::Setf,
        Producer::Float,
        Producer::FloatOther,
        Producer::FloatFixed,
        Producer::Compare,
        Producer::FloatCompare,
        Producer::Estimate,
        Producer::Load,
        Producer::FloatLoad,
        Producer::MoveBranch,
        Producer::MoveLoop,
        Producer::Move5,
        Producer::Move6,
        Producer::Move12,
        Producer::Move35,
    ];

    pub(in crate::pipeline) fn loads(self) -> bool {
        matches!(self, Producer::Load | Producer::FloatLoad)
    }
}

impl Consumer {
    pub(in crate::pipeline) const ALL: [Consumer; Consumer::Written as usize + 1] = [
        Consumer::Qualifying,
        Consumer::Branch,
        Consumer::Integer,
        Consumer::Address,
        Consumer::Parallel,
        Consumer::Store,
        Consumer::Float,
        Consumer::FloatOther,
        Consumer::Getf,
        Consumer::Setf,
        Consumer::Written,
    ];
}

/// Distinguished kinds of registers (PM15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) enum ResultKind {
    General,
    Floating,
    Predicate,
    Special,
}

impl ResultKind {
    pub(in crate::pipeline) fn of(register: u16) -> ResultKind {
        match register {
            FLOATING..PREDICATES => ResultKind::Floating,
            PREDICATES..BRANCH => ResultKind::Predicate,
            BRANCH..=STATUS => ResultKind::Special,
            _ => ResultKind::General,
        }
    }
}

/// Demands of an instruction on the stages beyond its registers and accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::pipeline) enum Special {
    #[default]
    None,
    /// Work on the register stack (PM25).
    Stack,
    /// `loadrs`.
    LoadStack,
    /// A read of BSP, BSPSTORE or RNAT (PM26).
    ReadStack,
    /// `bsw`.
    Bank,
    /// `srlz.d`.
    Serialize,
    /// `mf`.
    Fence,
    /// An acquiring load or a semaphore.
    Acquire,
    /// `st8.spill`.
    Spill,
    /// `ld8.fill`.
    Fill,
    /// A releasing store.
    Release,
    /// `mf.a`.
    Accept,
    /// `sync.i`.
    Synchronize,
}

impl Special {
    pub(in crate::pipeline) const ALL: [Special; Special::Synchronize as usize + 1] = [
        Special::None,
        Special::Stack,
        Special::LoadStack,
        Special::ReadStack,
        Special::Bank,
        Special::Serialize,
        Special::Fence,
        Special::Acquire,
        Special::Spill,
        Special::Fill,
        Special::Release,
        Special::Accept,
        Special::Synchronize,
    ];
}

/// An instruction as seen by the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct Ia64Row {
    pub(in crate::pipeline) port: BundlePort,
    /// The producer of its results, except predicates of estimates and the base registers of accesses.
    pub(in crate::pipeline) producer: Producer,
    /// The use of the general and floating-point registers that it reads.
    pub(in crate::pipeline) consumer: Consumer,
    pub(in crate::pipeline) special: Special,
    /// Whether it accesses memory for floating-point registers.
    pub(in crate::pipeline) floating: bool,
    /// Whether it prefetches.
    pub(in crate::pipeline) prefetches: bool,
}

const fn row(port: BundlePort) -> Ia64Row {
    Ia64Row { port, producer: Producer::Integer, consumer: Consumer::Integer, special: Special::None, floating: false, prefetches: false }
}

impl Ia64Row {
    pub(in crate::pipeline) const fn makes(self, producer: Producer) -> Ia64Row {
        Ia64Row { producer, ..self }
    }

    pub(in crate::pipeline) const fn uses(self, consumer: Consumer) -> Ia64Row {
        Ia64Row { consumer, ..self }
    }

    const fn asks(self, special: Special) -> Ia64Row {
        Ia64Row { special, ..self }
    }

    /// Returns the producer of its result in `register`.
    pub(in crate::pipeline) fn producer_of(&self, register: u16, base: bool) -> Producer {
        match (self.producer, ResultKind::of(register)) {
            _ if base => Producer::Integer,
            (Producer::Float | Producer::FloatOther, ResultKind::Predicate) => Producer::Estimate,
            (producer, _) => producer,
        }
    }
}

/// Returns `length` bits of `word` from bit `low` on.
pub(in crate::pipeline) fn field(word: u64, low: u32, length: u32) -> u64 {
    word >> low & ((1 << length) - 1)
}

/// Returns the row of an instruction with the given unit and 41 bits.
pub(in crate::pipeline) fn of(instruction: &Instruction<'_>, encoding: Option<(Unit, u64)>) -> Ia64Row {
    let Some((unit, word)) = encoding else { return by_class(instruction) };
    let major = word >> 37;
    match unit {
        Unit::M if major < 2 => system(word),
        Unit::M if major < 8 => memory(word),
        Unit::I if major < 8 => integer(word),
        Unit::M | Unit::I if major == 8 && field(word, 34, 2) == 1 => parallel(BundlePort::Any),
        Unit::M | Unit::I if major >= 12 => row(BundlePort::Any).makes(Producer::Compare),
        Unit::M | Unit::I => row(BundlePort::Any),
        Unit::F => float(word),
        Unit::B => branch(word),
        Unit::X if matches!(major, 0xC | 0xD) => row(BundlePort::Long).uses(Consumer::Branch),
        Unit::X => row(BundlePort::Long),
    }
}

const fn parallel(port: BundlePort) -> Ia64Row {
    row(port).makes(Producer::Parallel).uses(Consumer::Parallel)
}

/// Returns the row of majors 0 and 1 of M slots.
fn system(word: u64) -> Ia64Row {
    let (major, x3) = (word >> 37, field(word, 33, 3));
    match (major, x3) {
        (0, 0) => match (field(word, 31, 2), field(word, 27, 4)) {
            (0, 0 | 1) => row(BundlePort::Memory),
            (0, 0xA) => row(BundlePort::Memory0).asks(Special::LoadStack),
            (0, 0xC) => row(BundlePort::Memory0).asks(Special::Stack),
            (1, _) => row(BundlePort::Load),
            (2, 2) => row(BundlePort::Memory0).asks(Special::Fence),
            (2, 3) => row(BundlePort::Memory0).asks(Special::Accept),
            (3, 3) => row(BundlePort::Memory0).asks(Special::Synchronize),
            (3, 0) => row(BundlePort::Memory0).asks(Special::Serialize),
            (2 | 3, 0..4) => row(BundlePort::Memory0),
            (2, 8) => to_register(word, row(BundlePort::Memory2)),
            _ => to_control(row(BundlePort::Memory2)),
        },
        // chk.a
        (0, 4..) => row(BundlePort::Load),
        // chk.s
        (1, 1 | 3) => row(BundlePort::Store),
        (1, 6) => row(BundlePort::Memory2).makes(Producer::MoveBranch).asks(Special::Stack),
        _ => registers(word),
    }
}

/// Returns the row of moves of system registers, probes and translations.
fn registers(word: u64) -> Ia64Row {
    let row = row(BundlePort::Memory2);
    let number = field(word, 20, 7);
    match field(word, 27, 6) {
        0x22 => from_application(number, row),
        0x2A => to_register(word, row),
        // IIP and IIM
        0x24 if matches!(number, 19 | 24) => row.makes(Producer::MoveLoop),
        0x24 | 0x21 | 0x25 => row.makes(Producer::Move12),
        0x2C | 0x2D | 0x29 => to_control(row),
        0x10 | 0x13 => row.makes(Producer::Move6),
        0x11..=0x17 => row.makes(Producer::Move35),
        0x18..=0x1F | 0x38 | 0x39 => row.makes(Producer::Probe),
        _ => row,
    }
}

/// Numbers of application registers.
const RSC: u64 = 16;
const RNAT: u64 = 19;
pub(in crate::pipeline) const CCV: u64 = 32;
pub(in crate::pipeline) const UNAT: u64 = 36;
const PFS: u64 = 64;

fn from_application(number: u64, row: Ia64Row) -> Ia64Row {
    match number {
        RNAT => row.makes(Producer::Move5).asks(Special::ReadStack),
        17 | 18 => row.makes(Producer::Move12).asks(Special::ReadStack),
        UNAT => row.makes(Producer::Move5),
        PFS.. => row.makes(Producer::MoveLoop),
        _ => row.makes(Producer::Move12),
    }
}

/// Returns the row of a move to an application register. The result is ready later than that of a general register, except for registers
/// that branches use. Chosen: as late as for a move from there.
fn to_register(word: u64, row: Ia64Row) -> Ia64Row {
    match field(word, 20, 7) {
        RNAT | UNAT | CCV => row.makes(Producer::Move5),
        PFS.. => row,
        _ => row.makes(Producer::Move12),
    }
}

fn to_control(row: Ia64Row) -> Ia64Row {
    row.makes(Producer::Move12)
}

/// Returns the row of majors 4 to 7 of M slots.
fn memory(word: u64) -> Ia64Row {
    let (major, by_register, extended, x6) = (word >> 37, field(word, 36, 1) == 1, field(word, 27, 1) == 1, field(word, 30, 6));
    let load = row(BundlePort::Load).makes(Producer::Load);
    let store = row(BundlePort::Store).uses(Consumer::Store);
    match (major, extended && major & 1 == 0) {
        (4, true) if !by_register => match x6 {
            0x1C..=0x1F => row(BundlePort::Memory2).makes(Producer::Probe).uses(Consumer::Getf),
            0x28 | 0x2C => load,
            0x30 => store,
            0x34 => store.asks(Special::Release),
            _ => row(BundlePort::Store).makes(Producer::Load).uses(Consumer::Store).asks(Special::Acquire),
        },
        (4 | 5, _) if x6 >= 0x30 => store.asks(match x6 {
            0x34..=0x37 => Special::Release,
            0x3B => Special::Spill,
            _ => Special::None,
        }),
        (4 | 5, _) => load.asks(match x6 >> 2 {
            5 | 0xA => Special::Acquire,
            6 if x6 == 0x1B => Special::Fill,
            _ => Special::None,
        }),
        (6, true) if !by_register && (0x1C..=0x1F).contains(&x6) => row(BundlePort::Store).makes(Producer::Setf).uses(Consumer::Setf),
        (6, true) => Ia64Row { floating: true, ..row(BundlePort::Load).makes(Producer::FloatLoad) },
        _ if (0x2C..0x30).contains(&x6) => Ia64Row { prefetches: true, ..row(BundlePort::Load) },
        _ if x6 >= 0x30 => Ia64Row { floating: true, ..store },
        _ => Ia64Row { floating: true, ..row(BundlePort::Memory).makes(Producer::FloatLoad) },
    }
}

/// Returns the row of majors below 8 of I slots.
fn integer(word: u64) -> Ia64Row {
    let (major, x3, x6) = (word >> 37, field(word, 33, 3), field(word, 27, 6));
    match (major, x3, x6) {
        (0, 0, 0x31 | 0x33) => row(BundlePort::Integer0).makes(Producer::MoveBranch),
        (0, 0, 0x30) => row(BundlePort::Integer0),
        (0, 0, 0x32) => from_application(field(word, 20, 7), row(BundlePort::Integer0)),
        (0, 0, 0x0A | 0x2A) => to_register(word, row(BundlePort::Integer0)),
        (0, 2 | 3, _) => row(BundlePort::Integer0).makes(Producer::Compare),
        (0, 7, _) => row(BundlePort::Integer0),
        (5, ..) if field(word, 34, 2) == 0 => row(BundlePort::Integer).makes(Producer::Compare),
        // Multiplications.
        (7, ..) if field(word, 32, 1) == 0 && field(word, 34, 2) != 1 && matches!(field(word, 28, 2), 1 | 3) && !is_minimum(word) => {
            parallel(BundlePort::Integer0)
        }
        (7, ..) => parallel(BundlePort::Integer),
        _ => row(BundlePort::Integer),
    }
}

/// Whether it is `pmin`, `pmax`, `psad` or a shift by a number, which are encoded among the multiplications.
fn is_minimum(word: u64) -> bool {
    matches!((field(word, 34, 2), field(word, 30, 2)), (2, 0..=2) | (3, _))
}

fn float(word: u64) -> Ia64Row {
    let row = row(BundlePort::Floating).makes(Producer::Float).uses(Consumer::Float);
    match word >> 37 {
        4 | 5 => row.makes(Producer::FloatCompare),
        // fsetc and fclrf
        0 if field(word, 33, 1) == 0 && matches!(field(word, 27, 6), 4 | 5) => to_control(row),
        _ => row,
    }
}

fn branch(word: u64) -> Ia64Row {
    let row = row(BundlePort::Branch).uses(Consumer::Branch);
    match (word >> 37, field(word, 27, 6)) {
        (2, 0 | 1) | (7 | 2, _) => Ia64Row { port: BundlePort::BranchNop, ..row },
        // cover, rfi, br.ret; bsw
        (0, 0x02 | 0x08 | 0x21) | (1 | 5, _) => row.asks(Special::Stack),
        (0, 0x0C | 0x0D) => row.asks(Special::Bank),
        _ => row,
    }
}

/// Returns the row of an instruction without a bundle, by its class alone.
fn by_class(instruction: &Instruction<'_>) -> Ia64Row {
    let stores = instruction.accesses.first().is_some_and(|access| matches!(access.kind, AccessKind::Store));
    let floating = instruction.floating_point;
    let row = match instruction.class {
        Class::Fence => row(BundlePort::Memory0).asks(Special::Fence),
        Class::ToVector => row(BundlePort::Store).makes(Producer::Setf).uses(Consumer::Setf),
        Class::FromVector => row(BundlePort::Memory2).makes(Producer::Probe).uses(Consumer::Getf),
        Class::Vector | Class::VectorMultiply | Class::VectorPermute => parallel(BundlePort::Integer),
        class if Class::FloatAdd as u8 <= class as u8 && class as u8 <= Class::FloatEstimate as u8 => {
            row(BundlePort::Floating).makes(Producer::Float).uses(Consumer::Float)
        }
        _ if stores => row(BundlePort::Store).uses(Consumer::Store),
        _ if !instruction.accesses.is_empty() && floating => row(BundlePort::Memory).makes(Producer::FloatLoad),
        _ if !instruction.accesses.is_empty() => row(BundlePort::Load).makes(Producer::Load),
        _ => row(BundlePort::Any),
    };
    let locked = instruction.accesses.first().is_some_and(|access| access.locked);
    let special = if locked { Special::Acquire } else { row.special };
    Ia64Row { floating: floating && !locked, special, ..row }
}

/// Returns for how many clocks the result of a move to `register` keeps the register stack engine waiting (PM26).
pub(in crate::pipeline) fn keeps_stack(register: Register, producer: Producer) -> u64 {
    let application = |number: u64| APPLICATION + number as u16;
    match (register.0, producer) {
        (_, Producer::Integer | Producer::MoveBranch) => 0,
        (register, _) if register == application(RNAT) => 5,
        (register, _) if register == application(RSC) || register == application(18) => 12,
        _ => 0,
    }
}

/// Whether a move to `register` must be done before `srlz.d` is (PM21).
pub(in crate::pipeline) fn is_serialized(register: Register, producer: Producer) -> bool {
    matches!(producer, Producer::Move5 | Producer::Move12) && (APPLICATION..=STATUS).contains(&register.0)
}
