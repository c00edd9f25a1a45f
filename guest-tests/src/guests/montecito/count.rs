//! Counts a known mix.

use super::counting::{FIRST, KERNEL, USER, check_counter, counted, program, selection};
use crate::engine::image::Image;
use crate::engine::itanium::assemble::*;
use crate::engine::itanium::registers::psr;
use crate::guests::itanium::Kernel;

/// What is counted, on PMC4 and those behind it.
const EVENTS: [(u8, &str); 4] =
    [(0x08, "IA64_INST_RETIRED"), (0x50, "NOPS_RETIRED"), (0x12, "CPU_OP_CYCLES"), (0x51, "PREDICATE_SQUASHED_RETIRED")];

/// How often the mix is done.
const TURNS: u64 = 5;

/// p1 is 1, p2 is 0, r20 points at data.
fn mix(k: &mut Kernel) {
    let a = &mut k.a;
    // No no-operation: a load, a sum, a shift.
    a.group([ld8(R4, R20), adds(R5, 1, R5), shl_imm(R6, R5, 3)]);
    // One that is predicated off beside one that is not, one no-operation.
    a.bundle(Template::MII_S, [adds(R5, 1, R5).when(P1), adds(R5, 1, R5).when(P2), nop(0)]);
    // No-operations: two, of which one is predicated off and therefore none that is counted.
    a.bundle(Template::MII_S, [st8(R20, R4), nop(0).when(P2), nop(0)]);
    // MLX: two instructions.
    a.bundle(Template::MLX_S, [nop(0), movl(R6, 0x1234_5678_9ABC_DEF0)]);
    // A branch that is not taken, and a no-operation of B. A branch that is predicated off is no squashed instruction.
    let over = a.label();
    a.bundle(Template::MBB_S, [nop(0), br_cond(over).when(P2), nop(0)]);
    // A branch that is taken, out of the middle: what is behind it does not complete.
    a.bundle(Template::MBB_S, [fetchadd8_acq(R6, R20, 1), br_cond(over).when(P1), nop(0)]);
    a.here(over);
    // Floating point.
    a.bundle(Template::MFI_S, [ldfd(F6, R20), fma(F7, F6, F6, F1), nop(0)]);
    // A call and its return.
    let (called, behind) = (a.label(), a.label());
    a.bundle(Template::BBB_S, [br_call(B5, called), nop(0), nop(0)]);
    a.put(br_cond(behind));
    a.here(called);
    a.bundle(Template::BBB_S, [br_ret(B5), nop(0), nop(0)]);
    a.here(behind);
}

/// Of [`mix`], bundle by bundle.
const INSTRUCTIONS: u64 = 3 + 3 + 3 + 2 + 3 + 2 + 3 + 1 + 1 + 3;
const NOPS: u64 = 1 + 1 + 1 + 2 + 1 + 2;
const BUNDLES: u64 = 10;
const SQUASHED: u64 = 1 + 1;

pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let buffer = k.reserve(64);
    let user = k.a.label();
    k.a.here(user);
    k.repeat(TURNS, mix);
    k.system_call();
    k.main();
    k.a.load(R20, buffer);
    k.a.put(cmp_eq(P1, P2, R0, R0));
    k.user_monitors(true);
    // The bundle that lets the counters go, the two before the loop, and the turns with a bundle for their branch.
    let turns = |of_mix: u64, of_branch: u64| TURNS * (of_mix + of_branch);
    let loops = [2 * 3 - 1 + turns(INSTRUCTIONS, 3), 1 + 2 + turns(NOPS, 2), 2 + turns(BUNDLES, 1), turns(SQUASHED, 0)];
    let start = [3, 2, 1, 0];
    program(&mut k, &EVENTS.map(|(event, _)| selection(event, KERNEL)));
    counted(&mut k, |k| k.repeat(TURNS, mix));
    for (number, ((_, name), (of_loops, of_start))) in (FIRST..).zip(EVENTS.iter().zip(loops.into_iter().zip(start))) {
        check_counter(&mut k, &format!("{name} at level 0"), number, of_start + of_loops);
    }
    // With PSR.up clear nothing is counted: the bundle of the rum is the last.
    program(&mut k, &EVENTS.map(|(event, _)| selection(event, KERNEL)));
    counted(&mut k, |k| {
        k.user_monitors(false);
        k.nops(5);
    });
    // The rum itself still counts, what follows it in its bundle no longer.
    for (number, ((_, name), right)) in (FIRST..).zip(EVENTS.iter().zip([4, 2, 2, 0])) {
        check_counter(&mut k, &format!("{name} with PSR.up clear"), number, right);
    }
    // User code alone.
    program(&mut k, &EVENTS.map(|(event, _)| selection(event, USER)));
    counted(&mut k, |k| k.enter_user(user, psr::UP));
    // The break that ends it does not complete, but its interruption is a cycle of the level that it interrupts.
    for (number, ((_, name), (of_loops, of_break))) in (FIRST..).zip(EVENTS.iter().zip(loops.into_iter().zip([0, 0, 1, 0]))) {
        check_counter(&mut k, &format!("{name} at level 3"), number, of_loops + of_break);
    }
    k.end_main();
    k.finish()
}
