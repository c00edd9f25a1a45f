//! What is known of a block of code that Unicorn translated as one.

use std::ops::Range;

use vm_pmu::Countdown;

use crate::blocks::Facts;
use crate::memory::{Memory, PAGE};
use crate::x86::Step;

/// A block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Where it begins in RAM.
    physical: u64,
    /// How many bytes it has.
    size: u32,
    /// How often the code of its page had been written when it was decoded.
    generation: u64,
    /// Its instructions as far as they run at one go, as steps that access nothing.
    steps: Box<[Step]>,
    /// What they add if the last one continues at the next instruction, and if it goes elsewhere.
    facts: [Facts; 2],
    /// The address of the next instruction.
    follows: u64,
}

impl Block {
    /// The block of `size` bytes at `physical` in RAM. `steps` are those of its instructions that Unicorn executes, and `facts` what
    /// they add if the last does not transfer control, and if it does.
    pub(super) fn new(physical: u64, size: u32, generation: u64, steps: Vec<Step>, facts: [Facts; 2]) -> Block {
        let follows = steps.last().map_or(0, |last| last.rip.wrapping_add(u64::from(last.instruction.length)));
        Block { physical, size, generation, steps: steps.into(), facts, follows }
    }

    pub(super) fn size(&self) -> u32 {
        self.size
    }

    pub(super) fn bytes(&self) -> Range<u64> {
        self.physical..self.physical + u64::from(self.size)
    }

    /// How many instructions run at one go; 0 if none may.
    pub(super) fn steps(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Whether its code has not been written since it was decoded.
    pub(super) fn is_current(&self, memory: &Memory) -> bool {
        memory.generation(self.physical) == self.generation
    }

    /// What its entry takes off the countdown; none if it does not run at one go.
    pub(super) fn takes(&self) -> Option<u64> {
        (!self.steps.is_empty()).then(|| Countdown::takes(self.steps(), 0))
    }

    /// What it adds if it is followed by what is at `next`.
    pub(super) fn facts(&self, next: u64) -> &Facts {
        let [follows, elsewhere] = &self.facts;
        if next == self.follows { follows } else { elsewhere }
    }

    /// Its instructions before the one at `address`, if that is one of them.
    pub(super) fn before(&self, address: u64) -> Option<&[Step]> {
        let count = self.steps.iter().position(|step| step.rip == address)?;
        self.steps.get(..count)
    }
}

/// Whether `size` bytes at `address` lie in one page.
pub(super) fn in_one_page(address: u64, size: u32) -> bool {
    address % PAGE + u64::from(size) <= PAGE
}
