//! The calls by which an operating system starts and stops collection, as host firmware (OPAL) answers them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::nest::{Command, Outcome, Passed, Request};

use super::Chip;

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
        let request = Request::of(number, arguments)?;
        let is_known = self.thread(request.pir).is_some();
        Some(match (request.refusal(is_known), request.nest_command()) {
            (Some(outcome), _) => outcome,
            (None, Some(command)) => self.command(request.chip(), command, memory),
            (None, None) => Outcome::Success,
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
