//! Blocks of instructions, as a translator knows them before they are executed.

use alloc::vec::Vec;
use core::ops::Range;

use crate::instruction::{Instruction, Operation, Register, Transfer};

/// The instructions of a translated block: everything about them that does not change from one execution to the next.
///
/// ```
/// use vm_pmu::companion::{Block, BranchKind, Instruction, Transfer};
///
/// // ADD RAX, [RBX]; JNZ: what the load accesses and where the branch goes is told when they are executed.
/// let mut block = Block::new();
/// block.push(&Instruction { address: 0x1000, physical: 0x7000, length: 3, ..Instruction::default() });
/// let branch = Transfer { kind: BranchKind::Conditional, taken: false, target: 0 };
/// block.push(&Instruction { address: 0x1003, physical: 0x7003, length: 2, transfer: Some(branch), ..Instruction::default() });
/// assert_eq!((block.len(), block.address(), block.end()), (2, 0x1000, 0x1005));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Block {
    instructions: Vec<Known>,
    /// The registers of all operations.
    registers: Vec<Register>,
}

/// An instruction of a block.
#[derive(Clone, Debug)]
struct Known {
    /// The instruction without accesses, transfer and registers.
    instruction: Instruction<'static>,
    transfer: Option<Transfer>,
    /// Where its registers are among those of the block: for addresses, read, written.
    registers: [Range<usize>; 3],
    /// The first instruction of the run that it belongs to; the next instruction if it belongs to none.
    since: usize,
}

/// Instructions that only compute, one behind the other in a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) address: u64,
    pub(crate) physical: u64,
    /// Its length in bytes.
    pub(crate) length: u64,
}

impl Block {
    /// A block without instructions.
    #[must_use]
    pub const fn new() -> Block {
        Block { instructions: Vec::new(), registers: Vec::new() }
    }

    /// Adds an instruction. Its accesses are left out. Of its transfer the kind is kept, and that it is always taken if it is `taken`: only the
    /// last instruction has one.
    pub fn push(&mut self, instruction: &Instruction<'_>) {
        let operation = instruction.operation.unwrap_or_default();
        let registers = [operation.addresses, operation.reads, operation.writes].map(|registers| self.keep(registers));
        let known = Instruction {
            operation: instruction.operation.map(|operation| Operation { addresses: &[], reads: &[], writes: &[], ..operation }),
            accesses: &[],
            transfer: None,
            ..*instruction
        };
        let number = self.instructions.len();
        let computes = instruction.transfer.is_none() && known.computes() && known.next_page.is_none();
        let before = self.instructions.last().filter(|before| before.since < number && before.is_followed_by(&known));
        let since = if computes { before.map_or(number, |before| before.since) } else { number + 1 };
        self.instructions.push(Known { instruction: known, transfer: instruction.transfer, registers, since });
    }

    fn keep(&mut self, registers: &[Register]) -> Range<usize> {
        let begin = self.registers.len();
        self.registers.extend_from_slice(registers);
        begin..self.registers.len()
    }

    /// Returns the number of instructions.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Whether it has no instruction.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// Returns the virtual address of the first instruction; 0 without instructions.
    #[must_use]
    #[inline]
    pub fn address(&self) -> u64 {
        self.instructions.first().map_or(0, |first| first.instruction.address)
    }

    /// Returns the virtual address behind the last instruction; 0 without instructions.
    #[must_use]
    #[inline]
    pub fn end(&self) -> u64 {
        self.instructions.last().map_or(0, |last| last.end())
    }

    /// Returns the transfer of the last instruction when the CPU goes on at `next`; `None` if it is no transfer.
    #[must_use]
    #[inline]
    pub fn transfer_to(&self, next: u64) -> Option<Transfer> {
        let last = self.instructions.last()?;
        let transfer = last.transfer?;
        Some(Transfer { taken: transfer.taken || next != last.end(), target: next, ..transfer })
    }

    /// Returns instruction `number` without accesses and transfer.
    #[must_use]
    pub fn instruction(&self, number: usize) -> Option<Instruction<'_>> {
        let known = self.instructions.get(number)?;
        let of = |range: &Range<usize>| self.registers.get(range.clone()).unwrap_or(&[]);
        let [addresses, reads, writes] = &known.registers;
        let whole = |operation| Operation { addresses: of(addresses), reads: of(reads), writes: of(writes), ..operation };
        Some(Instruction { operation: known.instruction.operation.map(whole), ..known.instruction })
    }

    /// Returns instruction `number` without accesses, transfer and registers.
    #[inline]
    pub(crate) fn brief(&self, number: usize) -> Option<&Instruction<'static>> {
        self.instructions.get(number).map(|known| &known.instruction)
    }

    /// Returns the run that these instructions are, if all of them only compute and lie one behind the other.
    #[inline]
    pub(crate) fn run(&self, numbers: Range<usize>) -> Option<Run> {
        let last = self.instructions.get(numbers.end.wrapping_sub(1)).filter(|last| last.since <= numbers.start)?;
        let Instruction { address, physical, .. } = self.instructions.get(numbers.start)?.instruction;
        Some(Run { address, physical, length: last.end().wrapping_sub(address) })
    }
}

impl Known {
    #[inline]
    fn end(&self) -> u64 {
        self.instruction.address.wrapping_add(u64::from(self.instruction.length))
    }

    /// Whether `next` begins where this instruction ends, in virtual and in physical memory.
    fn is_followed_by(&self, next: &Instruction<'_>) -> bool {
        let length = u64::from(self.instruction.length);
        let ends = [self.instruction.address, self.instruction.physical].map(|begin| begin.wrapping_add(length));
        ends == [next.address, next.physical]
    }
}
