//! The calls by which an operating system starts and stops collection, as host firmware (OPAL) answers them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::nest::{Call, CallType, Command, Outcome, Passed, REGION_SIZE, Request};

use super::Chip;
use crate::irq::InterruptLine;
use crate::topology::Machine;

/// The cores of a machine, for calls of the types [`Core`](CallType::Core) and [`Trace`](CallType::Trace). A [`Machine`] of POWER9
/// implements it. Each method names a core by one of its threads, counted through the machine, and returns whether there is such a core.
pub trait Cores {
    /// PDBAR is written and the engine stops.
    fn init(&self, thread: usize, address: u64) -> bool;
    /// The engine starts.
    fn start(&self, thread: usize) -> bool;
    /// The engine stops, after everything counted has been posted into memory.
    fn stop<M: Memory>(&self, thread: usize, memory: &M) -> bool;
    /// The engine stops without posting, and keeps its memory address.
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
        // What memory refuses is kept until the engine is started again.
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

/// The highest chip number: a PIR has seven bits for it.
const MAX_CHIP: u32 = 0x7F;

/// Why chips and threads do not form a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PlatformError {
    /// The number of a chip has more than the seven bits that a PIR has for it.
    ChipNumber {
        /// The number.
        id: u32,
    },
    /// The home base of a chip is not a multiple of 8: memory would refuse every posting.
    Misaligned {
        /// The number of the chip.
        id: u32,
        /// Its home base in bytes.
        home: u64,
    },
    /// Two chips have the same number.
    SameChip {
        /// The number.
        id: u32,
    },
    /// The regions of two chips overlap.
    SameHome {
        /// The number of the first.
        id: u32,
        /// The number of the second.
        other: u32,
        /// The home base of the second in bytes.
        home: u64,
    },
    /// Two threads have the same PIR.
    SamePir {
        /// The PIR.
        pir: u32,
    },
}

impl core::fmt::Display for PlatformError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            PlatformError::ChipNumber { id } => write!(formatter, "chip {id}: a chip's number is 0 to {MAX_CHIP}"),
            PlatformError::Misaligned { id, home } => write!(formatter, "chip {id} has its home base at {home:#x}: it is a multiple of 8"),
            PlatformError::SameChip { id } => write!(formatter, "two chips have the number {id}: each has one of its own"),
            PlatformError::SameHome { id, other, home } => {
                write!(
                    formatter,
                    "the home base {home:#x} of chip {other} is that of chip {id}: regions have {REGION_SIZE:#x} bytes and lie apart"
                )
            }
            PlatformError::SamePir { pir } => write!(formatter, "two threads have the PIR {pir:#x}: each has one of its own"),
        }
    }
}

impl core::error::Error for PlatformError {}

/// The chips of a machine.
///
/// ```
/// use vm_memory::{GuestAddress, GuestMemoryMmap};
/// use vm_pmu::memory::{Chip, Guest, Nest, Outcome, Platform};
///
/// let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x80_0000)]).unwrap();
/// let platform = Platform::new(vec![Chip::new(0, Nest::new(0x40_0000))], vec![0, 1, 2, 3]).unwrap();
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
    /// The chips, and the PIRs of the machine's threads in their order: the number of a thread's chip is in the bits from 8 on, that of its
    /// core in bits 2 to 7, its own in bits 0 and 1.
    ///
    /// # Errors
    ///
    /// Two chips or two threads cannot be told apart, or a chip can post nowhere: [`PlatformError`].
    pub fn new(chips: Vec<Chip>, pirs: Vec<u32>) -> Result<Platform, PlatformError> {
        for (number, chip) in chips.iter().enumerate() {
            let before = chips.get(..number).unwrap_or(&[]);
            let (id, home) = (chip.id(), chip.home());
            if id > MAX_CHIP {
                return Err(PlatformError::ChipNumber { id });
            }
            if !home.is_multiple_of(8) {
                return Err(PlatformError::Misaligned { id, home });
            }
            if before.iter().any(|other| other.id() == id) {
                return Err(PlatformError::SameChip { id });
            }
            if let Some(other) = before.iter().find(|other| other.home().abs_diff(home) < REGION_SIZE) {
                return Err(PlatformError::SameHome { id: other.id(), other: id, home });
            }
        }
        let is_again = |number: usize, pir: &u32| pirs.get(..number).is_some_and(|before| before.contains(pir));
        if let Some((_, pir)) = pirs.iter().enumerate().find(|(number, pir)| is_again(*number, pir)) {
            return Err(PlatformError::SamePir { pir: *pir });
        }
        Ok(Platform { chips: chips.into_boxed_slice(), pirs: pirs.into_boxed_slice() })
    }

    /// The chips.
    #[must_use]
    pub fn chips(&self) -> &[Chip] {
        &self.chips
    }

    /// Lets `cycles` of the nest go by on every chip. Returns the sum of what each returned.
    pub fn advance<M: Memory>(&self, cycles: u64, memory: &M) -> Passed<M::Error> {
        self.each(|chip| chip.advance(cycles, memory))
    }

    /// On every chip, runs the slots after which an operating system finds the engine paused.
    pub fn boot<M: Memory>(&self, memory: &M) -> Passed<M::Error> {
        self.each(|chip| chip.boot(memory))
    }

    fn each<E>(&self, mut work: impl FnMut(&Chip) -> Passed<E>) -> Passed<E> {
        let mut sum = Passed { slots: 0, late: 0, refused: 0, error: None };
        self.chips.iter().for_each(|chip| sum.join(work(chip)));
        sum
    }

    /// The thread with this PIR, counted through the machine.
    #[must_use]
    pub fn thread(&self, pir: u64) -> Option<usize> {
        self.pirs.iter().position(|known| u64::from(*known) == pir)
    }

    /// Answers the call `number` with the arguments from the guest's registers; `None` for any other call. Calls about cores succeed and do
    /// nothing: if cores post, use [`call_with`](Platform::call_with).
    ///
    /// A call of an unknown type succeeds and does nothing.
    pub fn call<M: Memory>(&self, number: u64, arguments: [u64; 3], memory: &M) -> Option<Outcome> {
        self.call_with(&Silent, number, arguments, memory)
    }

    /// As [`call`](Platform::call), with cores that post: the threads of `cores` are those whose PIRs the platform knows.
    ///
    /// Cores have up to four threads each, and a fused core is two: a call affects only the core of its thread. Calls about traces control
    /// the same engine, and traces are not written.
    ///
    /// ```
    /// use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};
    /// use vm_pmu::Signal;
    /// use vm_pmu::memory::{Guest, Outcome, Platform};
    /// use vm_pmu::topology::Builder;
    ///
    /// let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x1_0000)]).unwrap();
    /// let machine = Builder::new("power9").unwrap().threads(4).build(|_thread, _counter| {}).unwrap();
    /// let platform = Platform::new(vec![], vec![0, 1, 2, 3]).unwrap();
    /// let guest = Guest(&memory);
    /// // OPAL_IMC_COUNTERS_INIT and START of the core of PIR 0, with its memory at 8000h.
    /// assert_eq!(platform.call_with(&machine, 149, [2, 0x8000, 0], &guest), Some(Outcome::Success));
    /// assert_eq!(platform.call_with(&machine, 150, [2, 0, 0], &guest), Some(Outcome::Success));
    /// machine.thread(0).unwrap().totals().add(Signal::InstructionsRetired, 5120);
    /// // STOP: the counts are then in memory, in steps of 512.
    /// assert_eq!(platform.call_with(&machine, 151, [2, 0, 0], &guest), Some(Outcome::Success));
    /// let instructions: [u8; 8] = memory.read_obj(GuestAddress(0x8020)).unwrap();
    /// assert_eq!(u64::from_be_bytes(instructions), 10);
    /// ```
    pub fn call_with<M: Memory>(&self, cores: &impl Cores, number: u64, arguments: [u64; 3], memory: &M) -> Option<Outcome> {
        let request = Request::of(number, arguments)?;
        let thread = self.thread(request.pir);
        Some(match (request.refusal(thread.is_some()), request.nest_command(), thread) {
            (Some(outcome), _, _) => outcome,
            (None, Some(command), _) => self.command(request.chip(), command, memory),
            (None, None, Some(thread)) if !control(cores, request, thread, memory) => Outcome::Hardware,
            (None, None, _) => Outcome::Success,
        })
    }

    /// Writes a command for the engine of a chip.
    fn command<M: Memory>(&self, chip: u64, command: Command, memory: &M) -> Outcome {
        let chip = self.chips.iter().find(|known| u64::from(known.id()) == chip);
        match chip.map(|chip| chip.command(command, memory)) {
            Some(Ok(true)) => Outcome::Success,
            Some(Ok(false) | Err(_)) | None => Outcome::Hardware,
        }
    }
}

/// Executes a request for the core of a thread. Returns whether there is such a core.
fn control<M: Memory>(cores: &impl Cores, request: Request, thread: usize, memory: &M) -> bool {
    match (request.call, request.kind) {
        (Call::Init, Some(CallType::Core)) => cores.init(thread, request.address),
        // The trace macro is set up with the engine disabled.
        (Call::Init, Some(CallType::Trace)) => cores.halt(thread),
        (Call::Start, Some(CallType::Core | CallType::Trace)) => cores.start(thread),
        (Call::Stop, Some(CallType::Core | CallType::Trace)) => cores.stop(thread, memory),
        (_, Some(CallType::Nest) | None) => true,
    }
}
