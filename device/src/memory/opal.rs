//! The calls by which an operating system starts and stops collection, as host firmware (OPAL) answers them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::nest::{Command, Passed};

use super::Chip;

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
/// platform.boot(&guest).ok().unwrap();
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
        self.each(|chip| chip.pass(cycles, memory))
    }

    /// On every chip, lets the slots go by after which an operating system finds the engine paused.
    pub fn boot<M: Memory>(&self, memory: &M) -> Passed<M::Error> {
        self.each(|chip| chip.boot(memory))
    }

    fn each<E>(&self, mut work: impl FnMut(&Chip) -> Passed<E>) -> Passed<E> {
        let mut sum = Passed { slots: 0, late: 0, refused: 0, error: None };
        self.chips.iter().for_each(|chip| sum.join(work(chip)));
        sum
    }

    /// The thread whose PIR this is, counted through the machine.
    #[must_use]
    pub fn thread(&self, pir: u64) -> Option<usize> {
        self.pirs.iter().position(|known| u64::from(*known) == pir)
    }

    /// Answers the call `number` with the arguments as the guest's registers have them; `None` for a call that is none of these.
    ///
    /// A type that is not known succeeds and does nothing.
    pub fn call<M: Memory>(&self, number: u64, arguments: [u64; 3], memory: &M) -> Option<Outcome> {
        let call = Call::of_number(number)?;
        let [kind, second, third] = arguments;
        let kind = CallType::of_number(kind & 0xFFFF_FFFF);
        let pir = if call == Call::Init { third } else { second };
        let outcome = match (call, kind) {
            (Call::Init, Some(CallType::Nest) | None) => Outcome::Success,
            _ if self.thread(pir).is_none() => Outcome::Parameter,
            (Call::Start, Some(CallType::Nest)) => self.command(pir, Command::Resume, memory),
            (Call::Stop, Some(CallType::Nest)) => self.command(pir, Command::Pause, memory),
            _ => Outcome::Success,
        };
        Some(outcome)
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
