//! From the bytes of a block to what is known of it.

use vm_pmu::companion::AccessKind;
use vm_pmu::decode::x86::{self, Mode};

use super::block::{Block, in_one_page};
use super::division::{is_conditional, is_executed, is_transfer, must_be_aligned};
use crate::memory::PAGE;
use crate::x86::executor::inside::{Core, Decoded, LONGEST, Outcome, decode};
use crate::x86::{Branch, BranchKind, Observer, Step};

/// A block, and the first instruction in it that Unicorn does not execute.
pub(super) struct Learned {
    pub(super) block: Block,
    pub(super) stop: Option<u64>,
}

/// Decodes the block of `size` bytes at the linear address `address`, which is `physical` in RAM. One that is not contiguous there must go
/// instruction by instruction.
pub(super) fn learn<O: Observer>(core: &Core, observer: &O, address: u64, physical: u64, size: u32) -> Learned {
    let memory = &core.shared.memory;
    let generation = memory.generation(physical);
    let mut code = vec![0; size as usize];
    if !in_one_page(physical, size) || memory.read_bytes(physical, &mut code).is_err() {
        return Learned { block: Block::new(physical, size, generation, Vec::new(), Default::default()), stop: None };
    }
    let mut steps = Vec::new();
    let mut stop = None;
    let mut conditional = false;
    let mut offset = 0;
    while let Some(bytes) = code.get(offset..).filter(|bytes| !bytes.is_empty()) {
        let rip = address.wrapping_add(offset as u64);
        let at = physical + offset as u64;
        let decoded = match decode(bytes.get(..LONGEST).unwrap_or(bytes), rip) {
            Outcome::Instruction(decoded) if is_executed(&decoded) && !must_be_aligned(&decoded) => decoded,
            _ => {
                stop = Some(rip);
                break;
            }
        };
        memory.mark_code(at, (PAGE - at % PAGE).min(LONGEST as u64));
        conditional = is_conditional(&decoded);
        steps.push(counted(bytes, plain(core, &decoded, rip, at)));
        offset += usize::from(decoded.info.length).max(1);
    }
    let follows = observer.facts(&steps);
    let elsewhere = match steps.last_mut().and_then(|last| last.branch.as_mut()).filter(|_| conditional) {
        Some(branch) => {
            branch.taken = true;
            observer.facts(&steps)
        }
        None => follows.clone(),
    };
    let (steps, facts) = match (follows, elsewhere) {
        (Some(follows), Some(elsewhere)) => (steps, [follows, elsewhere]),
        _ => Default::default(),
    };
    Learned { block: Block::new(physical, size, generation, steps, facts), stop }
}

/// An instruction as a step that accesses nothing; a conditional branch is not taken.
fn plain(core: &Core, decoded: &Decoded, rip: u64, physical: u64) -> Step {
    let next_rip = rip.wrapping_add(u64::from(decoded.info.length));
    let branch = is_transfer(decoded).then(|| Branch {
        kind: kind(decoded),
        taken: !is_conditional(decoded),
        target: next_rip.wrapping_add(decoded.immediate),
    });
    let mut step = Step::default();
    step.begin(rip);
    (step.physical, step.next_rip, step.cpl) = (physical, next_rip, core.cpl);
    (step.instruction, step.branch) = (decoded.info, branch);
    step
}

/// The kind of a near transfer.
pub(super) fn kind(decoded: &Decoded) -> BranchKind {
    decoded.info.branch.unwrap_or(BranchKind::Conditional)
}

/// The step with how many loads and stores it makes.
fn counted(bytes: &[u8], mut step: Step) -> Step {
    let described = x86::decode(bytes, Mode::Bits64, step.rip);
    for access in described.iter().flat_map(|instruction| instruction.description.accesses()) {
        if access.kind == AccessKind::Load {
            step.loads += 1;
        } else {
            step.stores += 1;
        }
    }
    step
}
