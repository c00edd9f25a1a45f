//! What the hooks of an emulator see, and what they decide.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use vm_pmu::{Countdown, Signal};

use super::block::Block;
use crate::blocks::Sums;
use crate::memory::Memory;
use crate::x86::Step;

/// The most accesses of an instruction that Unicorn executes: a load and a store, each in two halves.
const ACCESSES: usize = 4;

/// An access as Unicorn reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) physical: u64,
    pub(super) size: u8,
    pub(super) is_write: bool,
}

/// Why a run of blocks stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pause {
    /// It did not, or something other than a block stopped it: an exception, or memory that is no RAM.
    #[default]
    None,
    /// The next block, of so many bytes, is unknown.
    Unknown {
        /// Its linear address.
        address: u64,
        /// Its bytes.
        size: u32,
    },
    /// The next block must go instruction by instruction.
    Stepwise,
    /// The next instruction is not for Unicorn.
    Board,
    /// Code was written.
    CodeWritten,
}

/// What belongs to the hooks of one emulator.
#[derive(Debug)]
pub(super) struct Tap {
    memory: Arc<Memory>,
    accesses: [Seen; ACCESSES],
    count: usize,
    /// A store hit code that the decoder has read.
    pub(super) code_written: bool,
    /// An exception was raised.
    pub(super) raised: bool,
    /// What is known of blocks, by their linear addresses.
    blocks: HashMap<u64, Block>,
    /// The edition of what they add.
    edition: u32,
    /// How many instructions may run, and have run.
    pub(super) countdown: Countdown,
    /// What else the blocks that ran have added.
    pub(super) sums: Sums,
    /// The block that runs, by its address and its bytes in RAM.
    running: Option<(u64, Range<u64>)>,
    pub(super) pause: Pause,
    /// The block that ran overwrote itself, and was left after the store.
    pub(super) cut: bool,
    /// Blocks that ran at one go.
    pub(super) whole: u64,
}

impl Tap {
    pub(super) fn new(memory: &Arc<Memory>) -> Tap {
        Tap {
            memory: Arc::clone(memory),
            accesses: [Seen::default(); ACCESSES],
            count: 0,
            code_written: false,
            raised: false,
            blocks: HashMap::new(),
            edition: 0,
            countdown: Countdown::new(),
            sums: Sums::new(Signal::COUNT),
            running: None,
            pause: Pause::None,
            cut: false,
            whole: 0,
        }
    }

    /// Forgets what was seen, before something runs.
    pub(super) fn begin(&mut self) {
        self.count = 0;
        self.code_written = false;
        self.raised = false;
        self.running = None;
        self.pause = Pause::None;
        self.cut = false;
    }

    /// What was accessed, in this order.
    pub(super) fn accesses(&self) -> &[Seen] {
        self.accesses.get(..self.count).unwrap_or(&[])
    }

    /// An access of one instruction.
    pub(super) fn access(&mut self, seen: Seen) {
        if let Some(slot) = self.accesses.get_mut(self.count) {
            *slot = seen;
            self.count += 1;
        }
        if seen.is_write {
            self.code_written |= self.memory.written(seen.physical, u64::from(seen.size));
        }
    }

    /// A store of a block that runs at one go; returns whether the run must end after the block.
    pub(super) fn store(&mut self, physical: u64, size: u8) -> bool {
        if !self.memory.is_code(physical, u64::from(size)) {
            return false;
        }
        self.memory.written(physical, u64::from(size));
        self.code_written = true;
        self.pause = Pause::CodeWritten;
        if let Some((_, bytes)) = &self.running {
            self.cut |= physical < bytes.end && bytes.start < physical + u64::from(size);
        }
        true
    }

    /// A block of `size` bytes at `address` is about to run; returns whether it may. The one before it is complete.
    pub(super) fn enter(&mut self, address: u64, size: u32) -> bool {
        if self.pause != Pause::None {
            return false;
        }
        self.settle(address);
        let Some(block) = self.known(address, size) else {
            self.pause = Pause::Unknown { address, size };
            return false;
        };
        let bytes = block.bytes();
        let fits = block.takes().is_some_and(|takes| self.countdown.enter(takes));
        if fits {
            self.running = Some((address, bytes));
        } else {
            self.pause = Pause::Stepwise;
        }
        fits
    }

    /// The block that runs comes to an instruction that is not Unicorn's.
    pub(super) fn leave(&mut self, address: u64) {
        if self.pause == Pause::None {
            self.settle(address);
            self.pause = Pause::Board;
        }
    }

    /// The block that ran is complete, and execution continues at `next`.
    pub(super) fn settle(&mut self, next: u64) {
        if let Some((address, _)) = self.running.take()
            && let Some(block) = self.blocks.get(&address)
        {
            self.sums.add(block.facts(next));
            self.whole += 1;
        }
    }

    /// The instructions of the block that was left at `address`, in its middle. If it was not, it is complete.
    pub(super) fn interrupted(&mut self, address: u64) -> Option<&[Step]> {
        let begun = self.running.as_ref().map(|(begun, _)| *begun)?;
        if self.blocks.get(&begun).is_none_or(|block| block.before(address).is_none()) {
            self.settle(address);
            return None;
        }
        self.running = None;
        let block = self.blocks.get(&begun)?;
        let executed = block.before(address)?;
        self.countdown.take_back(Countdown::takes(block.steps() - executed.len() as u32, 0));
        Some(executed)
    }

    /// What is known of the block at `address`, if its code is still what it was.
    fn known(&self, address: u64, size: u32) -> Option<&Block> {
        self.blocks.get(&address).filter(|block| block.size() == size && block.is_current(&self.memory))
    }

    /// Whether a run from `address` on would get anywhere, as far as is known.
    pub(super) fn is_worth_it(&self, address: u64) -> bool {
        let fits = |block: &Block| block.takes().is_some() && u64::from(block.steps()) <= self.countdown.left();
        self.blocks.get(&address).is_none_or(|block| !block.is_current(&self.memory) || fits(block))
    }

    /// Before blocks run at one go: those of another edition are forgotten.
    pub(super) fn start(&mut self, countdown: Countdown, edition: u32) {
        self.countdown = countdown;
        self.sums.clear();
        if self.edition != edition {
            self.edition = edition;
            self.forget();
        }
    }

    /// What is now known of the block at `address`.
    pub(super) fn learn(&mut self, address: u64, block: Block) {
        self.blocks.insert(address, block);
    }

    /// Translations have changed.
    pub(super) fn forget(&mut self) {
        self.blocks.clear();
    }
}
