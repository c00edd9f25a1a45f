//! Blocks of what Unicorn executes.

use std::collections::HashMap;
use std::rc::Rc;

use vm_pmu::decode::power::{LoadStore, operation};

use super::plain::{Plain, plain};
use crate::power::Step;
use crate::power::registers::msr;
use crate::power::state::Core;

/// The most instructions of a block.
const MOST: usize = 64;
/// Bytes of a page: no block runs over the end of one.
const PAGE: u64 = 4096;
/// The bits of MSR that make another block of the same words.
const MODE: u64 = msr::SF | msr::LE;

/// A sequence of instructions that Unicorn executes, of which at most the last is a branch.
#[derive(Debug)]
pub(super) struct Block<S> {
    /// The words as they are in memory.
    words: Vec<u8>,
    /// What is known of each step.
    pub(super) steps: Vec<Step>,
    /// The access of the first.
    pub(super) access: Option<LoadStore>,
    /// The first, and any, may change XER.
    pub(super) changes_xer: [bool; 2],
    /// The first, and any, uses floating point.
    pub(super) floating: [bool; 2],
    /// What all but a branch at the end add.
    pub(super) sums: S,
}

/// The blocks of one CPU.
#[derive(Debug)]
pub(super) struct Blocks<S> {
    known: HashMap<(u64, u64, bool), Rc<Block<S>>>,
}

/// What was found at an address.
pub(super) struct Found<S> {
    pub(super) block: Option<Rc<Block<S>>>,
    /// Other words than before: bytes up to here must be translated anew.
    pub(super) changed: Option<u64>,
}

impl<S> Default for Blocks<S> {
    fn default() -> Self {
        Blocks { known: HashMap::new() }
    }
}

impl<S> Blocks<S> {
    /// The block at the address of `core`; none if its first instruction is not one for Unicorn. `sum` returns what steps add together.
    pub(super) fn at(&mut self, core: &Core, sum: impl FnOnce(&[Step]) -> S) -> Found<S> {
        // Translation is the interpreter's.
        if core.radix() {
            return Found { block: None, changed: None };
        }
        let floating = core.need_floating().is_ok();
        let key = (core.pc, core.msr & MODE, floating);
        let real = Core::real(core.pc);
        let memory = &core.shared.memory;
        let mut bytes = [0; 4 * MOST];
        let here = |length: usize, bytes: &mut [u8; 4 * MOST]| memory.read_bytes(real, &mut bytes[..length]).is_ok();
        let mut changed = None;
        if let Some(block) = self.known.get(&key) {
            // Memory may have been written since: its words now decide.
            let length = block.words.len();
            if here(length, &mut bytes) && bytes[..length] == block.words {
                return Found { block: Some(Rc::clone(block)), changed: None };
            }
            changed = Some(core.pc + length as u64);
        }
        let room = (PAGE - real % PAGE).min(memory.size().saturating_sub(real)).min(4 * MOST as u64) as usize & !3;
        let block = here(room, &mut bytes).then(|| decoded(core, floating, &bytes[..room], sum)).flatten().map(Rc::new);
        if let Some(block) = &block {
            self.known.insert(key, Rc::clone(block));
        }
        Found { block, changed }
    }
}

fn decoded<S>(core: &Core, floating: bool, bytes: &[u8], sum: impl FnOnce(&[Step]) -> S) -> Option<Block<S>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut access = None;
    let (mut changes_xer, mut floats) = ([false; 2], [false; 2]);
    for (index, word) in bytes.chunks_exact(4).enumerate() {
        let word = word.try_into().map_or(0, u32::from_le_bytes);
        let word = if core.little_endian() { word } else { word.swap_bytes() };
        let address = core.pc + 4 * index as u64;
        let Some(known) = operation(word).and_then(|op| plain(op, word, address)).filter(|known| floating || !known.floating) else {
            break;
        };
        let Plain { mut step, access: first, .. } = known;
        step.real = Core::real(address);
        step.next = address + 4;
        if index == 0 {
            access = first;
            changes_xer[0] = known.changes_xer;
            floats[0] = known.floating;
        }
        changes_xer[1] |= known.changes_xer;
        floats[1] |= known.floating;
        steps.push(step);
        if known.ends_block {
            break;
        }
    }
    let last = steps.last()?;
    let body = steps.len() - usize::from(last.branch.is_some());
    let sums = sum(&steps[..body]);
    let words = bytes[..4 * steps.len()].to_vec();
    Some(Block { words, steps, access, changes_xer, floating: floats, sums })
}
