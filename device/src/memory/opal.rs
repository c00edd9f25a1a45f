//! The calls by which an operating system starts and stops collection, as host firmware (OPAL) answers them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::nest::{Command, Passed};

use super::Chip;
use crate::irq::InterruptLine;
use crate::topology::Machine;

/// A call by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// OPAL_IMC_COUNTERS_INIT: type, address of memory, PIR of a CPU.
    Init,
    /// OPAL_IMC_COUNTERS_START: type, PIR of a CPU.
    Start,
    /// OPAL_IMC_COUNTERS_STOP: type, PIR of a CPU.
    Stop,
}

impl Call {
    /// Its number.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Call::Init => 149,
            Call::Start => 150,
            Call::Stop => 151,
        }
    }

    /// The call of this number, if it is one of these.
    #[must_use]
    pub const fn of_number(number: u64) -> Option<Call> {
        match number {
            149 => Some(Call::Init),
            150 => Some(Call::Start),
            151 => Some(Call::Stop),
            _ => None,
        }
    }
}

/// What a call is about: the type in its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallType {
    /// A chip's nest.
    Nest,
    /// A core, for its own counters and for those of its threads.
    Core,
    /// Traces of a core's threads.
    Trace,
}

impl CallType {
    /// The type of this number, if it is one.
    #[must_use]
    pub const fn of_number(number: u64) -> Option<CallType> {
        match number {
            1 => Some(CallType::Nest),
            2 => Some(CallType::Core),
            3 => Some(CallType::Trace),
            _ => None,
        }
    }
}

/// What a call returns to the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// OPAL_SUCCESS.
    Success,
    /// OPAL_PARAMETER.
    Parameter,
    /// OPAL_HARDWARE.
    Hardware,
}

impl Outcome {
    /// The value in the guest's register.
    #[must_use]
    pub const fn value(self) -> i64 {
        match self {
            Outcome::Success => 0,
            Outcome::Parameter => -1,
            Outcome::Hardware => -6,
        }
    }
}

/// The cores of a machine, as calls of the types [`Core`](CallType::Core) and [`Trace`](CallType::Trace) reach them. A [`Machine`] of POWER9 is
/// one. Each is asked by a thread of it, counted through the machine; what returns says whether there is such a core.
pub trait Cores {
    /// PDBAR is written and the engine stops.
    fn init(&self, thread: usize, address: u64) -> bool;
    /// The engine starts.
    fn start(&self, thread: usize) -> bool;
    /// The engine stops; what was counted until then is in memory.
    fn stop<M: Memory>(&self, thread: usize, memory: &M) -> bool;
    /// The engine stops, and its memory stays.
    fn halt(&self, thread: usize) -> bool;
}

impl<L: InterruptLine> Cores for Machine<L> {
    fn init(&self, thread: usize, address: u64) -> bool {
        self.collection_of(thread).map(|core| core.init(address)).is_some()
    }

    fn start(&self, thread: usize) -> bool {
        self.collection_of(thread).map(|core| core.start()).is_some()
    }

    fn stop<M: Memory>(&self, thread: usize, memory: &M) -> bool {
        let Some(core) = self.collection_of(thread) else { return false };
        // What memory refuses is kept for when the engine has been started again.
        core.post(memory);
        core.stop();
        true
    }

    fn halt(&self, thread: usize) -> bool {
        self.collection_of(thread).map(|core| core.stop()).is_some()
    }
}

/// Cores that post nothing: calls about them succeed.
struct Silent;

impl Cores for Silent {
    fn init(&self, _thread: usize, _address: u64) -> bool {
        true
    }

    fn start(&self, _thread: usize) -> bool {
        true
    }

    fn stop<M: Memory>(&self, _thread: usize, _memory: &M) -> bool {
        true
    }

    fn halt(&self, _thread: usize) -> bool {
        true
    }
}

/// The chips of a machine.
///
/// ```
/// use vm_memory::{GuestAddress, GuestMemoryMmap};
/// use vm_pmu::memory::{Chip, Guest, Nest, Outcome, Platform};
///
/// let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x80_0000)]).unwrap();
/// let platform = Platform::new(vec![Chip::new(0, Nest::new(0x40_0000))], vec![0, 1, 2, 3]);
/// let guest = Guest(&memory);
/// // The engine has not begun.
/// assert_eq!(platform.call(150, [1, 0, 0], &guest), Some(Outcome::Hardware));
/// platform.pass(4 * platform.chips()[0].slot_cycles(), &guest).ok().unwrap();
/// assert_eq!(platform.call(150, [1, 0, 0], &guest), Some(Outcome::Success));
/// assert_eq!(platform.call(150, [1, 4, 0], &guest), Some(Outcome::Parameter), "no CPU has that PIR");
/// assert_eq!(platform.call(1, [0, 0, 0], &guest), None, "some other call");
/// ```
#[derive(Debug)]
pub struct Platform {
    chips: Box<[Chip]>,
    pirs: Box<[u32]>,
}

impl Platform {
    /// The chips, and the PIRs of the machine's threads in their order: the number of a thread's chip is in the bits from 8 on, that of its core
    /// in bits 2 to 7, its own in bits 0 and 1.
    #[must_use]
    pub fn new(chips: Vec<Chip>, pirs: Vec<u32>) -> Platform {
        Platform { chips: chips.into_boxed_slice(), pirs: pirs.into_boxed_slice() }
    }

    /// The chips.
    #[must_use]
    pub fn chips(&self) -> &[Chip] {
        &self.chips
    }

    /// Lets `cycles` of the nest go by on every chip. What is returned adds up what each returned.
    pub fn pass<M: Memory>(&self, cycles: u64, memory: &M) -> Passed<M::Error> {
        let mut sum = Passed { slots: 0, late: 0, refused: 0, error: None };
        for chip in &self.chips {
            let passed = chip.pass(cycles, memory);
            sum.slots = sum.slots.saturating_add(passed.slots);
            sum.late = sum.late.saturating_add(passed.late);
            sum.refused = sum.refused.saturating_add(passed.refused);
            sum.error = sum.error.or(passed.error);
        }
        sum
    }

    /// The thread whose PIR this is, counted through the machine.
    #[must_use]
    pub fn thread(&self, pir: u64) -> Option<usize> {
        self.pirs.iter().position(|known| u64::from(*known) == pir)
    }

    /// Answers the call `number` with the arguments as the guest's registers have them; `None` for a call that is none of these. Calls about cores
    /// succeed and do nothing: a machine whose cores post is told by [`call_with`](Platform::call_with).
    ///
    /// A type that is not known succeeds and does nothing.
    pub fn call<M: Memory>(&self, number: u64, arguments: [u64; 3], memory: &M) -> Option<Outcome> {
        self.call_with(&Silent, number, arguments, memory)
    }

    /// As [`call`](Platform::call), with cores that post: the threads of `cores` are those whose PIRs the platform knows.
    ///
    /// Cores are of up to four threads each, a fused one counting as two: a call is about the core of its thread alone. Calls about traces control the same
    /// engine, and traces are not written.
    ///
    /// ```
    /// use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};
    /// use vm_pmu::Signal;
    /// use vm_pmu::memory::{Guest, Outcome, Platform};
    /// use vm_pmu::topology::Builder;
    ///
    /// let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x1_0000)]).unwrap();
    /// let machine = Builder::new("power9").unwrap().threads(4).build(|_thread, _counter| {});
    /// let platform = Platform::new(vec![], vec![0, 1, 2, 3]);
    /// let guest = Guest(&memory);
    /// // OPAL_IMC_COUNTERS_INIT and START of the core of PIR 0, with its memory at 8000h.
    /// assert_eq!(platform.call_with(&machine, 149, [2, 0x8000, 0], &guest), Some(Outcome::Success));
    /// assert_eq!(platform.call_with(&machine, 150, [2, 0, 0], &guest), Some(Outcome::Success));
    /// machine.thread(0).unwrap().totals().add(Signal::InstructionsRetired, 5120);
    /// // STOP: what was counted is in memory then, in steps of 512.
    /// assert_eq!(platform.call_with(&machine, 151, [2, 0, 0], &guest), Some(Outcome::Success));
    /// let instructions: [u8; 8] = memory.read_obj(GuestAddress(0x8020)).unwrap();
    /// assert_eq!(u64::from_be_bytes(instructions), 10);
    /// ```
    pub fn call_with<M: Memory>(&self, cores: &impl Cores, number: u64, arguments: [u64; 3], memory: &M) -> Option<Outcome> {
        let call = Call::of_number(number)?;
        let [kind, second, third] = arguments;
        let kind = CallType::of_number(kind & 0xFFFF_FFFF);
        let pir = if call == Call::Init { third } else { second };
        let of_core = |there: bool| if there { Outcome::Success } else { Outcome::Hardware };
        Some(match (call, kind, self.thread(pir)) {
            (Call::Init, Some(CallType::Nest) | None, _) => Outcome::Success,
            (_, _, None) => Outcome::Parameter,
            (_, None, _) => Outcome::Success,
            (Call::Start, Some(CallType::Nest), _) => self.command(pir, Command::Resume, memory),
            (Call::Stop, Some(CallType::Nest), _) => self.command(pir, Command::Pause, memory),
            (Call::Init, Some(CallType::Core), Some(thread)) => of_core(cores.init(thread, second)),
            // The trace macro is set up with the engine disabled.
            (Call::Init, Some(CallType::Trace), Some(thread)) => of_core(cores.halt(thread)),
            (Call::Start, Some(CallType::Core | CallType::Trace), Some(thread)) => of_core(cores.start(thread)),
            (Call::Stop, Some(CallType::Core | CallType::Trace), Some(thread)) => of_core(cores.stop(thread, memory)),
        })
    }

    /// Writes a command for the engine of a thread's chip.
    fn command<M: Memory>(&self, pir: u64, command: Command, memory: &M) -> Outcome {
        let chip = self.chips.iter().find(|chip| u64::from(chip.id()) == pir >> 8);
        match chip.map(|chip| chip.command(command, memory)) {
            Some(Ok(true)) => Outcome::Success,
            Some(Ok(false) | Err(_)) | None => Outcome::Hardware,
        }
    }
}
