//! `ebb`: event-based branches in problem state, as a profiler in a process uses them.

use vm_pmu::arch::power9::spr;

use super::FC;
use super::fields::{before, mmcr0, pmc, problem, select};
use crate::power::{FRAME_STATE, Kernel, USER_PC, own};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{
    AssembleError, CR0, Gpr, Label, R3, R4, R5, R13, R14, R15, R16, R17, R18, R19, R20, R21, R22, R23, R24, R25, R26, R27, R28, R29, R30,
    R31,
};
use vm_pmu_engines::power::registers::{bescr, facility, msr, spr as cpu, vector};

/// Branches in each order of rearming.
const BRANCHES: u64 = 100;
/// Instructions of a turn of the loop.
const TURN: u64 = 3;
/// Turns between two branches.
const TURNS: u64 = 20;

/// PMC2, which counts instructions.
const COUNTER: u16 = pmc(2);
/// How many performance monitor interrupts there were.
const INTERRUPTS: i64 = own(0);

const PMAE: u64 = 1 << 26;
const PMAO: u64 = 1 << 7;

/// The order in which a handler enables the next branch and starts the counter.
#[derive(Clone, Copy)]
enum Order {
    BranchesFirst,
    CounterFirst,
}

impl Order {
    /// Instructions that count outside of the loop: the handler's from the mtspr to MMCR0 to rfebb.
    const fn around(self) -> u64 {
        match self {
            Order::BranchesFirst => 2,
            Order::CounterFirst => 4,
        }
    }
}

/// What the kernel grants a process: alerts of PMC2 to PMC6 that freeze, and branch.
fn granted() -> u64 {
    mmcr0(|m| {
        m.set_fc(true);
        m.set_fcece(true);
        m.set_bhrba(true);
        m.set_ebe(true);
        m.set_pmcc(0b10);
        m.set_pmcjce(true);
    })
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    count_interrupts(&mut k);
    let rearming = [Order::BranchesFirst, Order::CounterFirst].map(|order| (order, process(&mut k, order)));
    let held = held_process(&mut k);
    let other = other_process(&mut k);
    k.main();
    k.a.mfspr(R3, cpu::FSCR);
    k.a.load(R4, facility::EBB);
    k.a.or(R3, R3, R4);
    k.a.mtspr(cpu::FSCR, R3);
    k.write(spr::MMCR1, select(&[0x2_0002]));
    for (order, code) in rearming {
        let name = match order {
            Order::BranchesFirst => "BESCR before MMCR0",
            Order::CounterFirst => "MMCR0 before BESCR",
        };
        rearm(&mut k, name, order, code);
    }
    hold(&mut k, &held, other);
    k.a.ld(R3, INTERRUPTS, R13);
    k.check_is("interrupts in all of this", R3, 0);
    k.end_main();
    k.finish()
}

/// An interrupt that should not come: it is counted, and no other follows.
fn count_interrupts(k: &mut Kernel) {
    use vm_pmu_engines::power::assemble::R1;
    k.handler(vector::PERFORMANCE_MONITOR);
    k.a.ld(R3, INTERRUPTS, R13);
    k.a.addi(R3, R3, 1);
    k.a.std(R3, INTERRUPTS, R13);
    k.a.ld(R3, FRAME_STATE, R1);
    k.a.load(R4, msr::EE);
    k.a.andc(R3, R3, R4);
    k.a.std(R3, FRAME_STATE, R1);
    k.end_handler();
}

/// Records in GPR 16 if a register is not what `right` holds.
fn compare(k: &mut Kernel, number: u16, right: Gpr) {
    k.a.mfspr(R3, number);
    k.a.xor(R3, R3, right);
    k.a.or(R16, R16, R3);
}

/// The process that takes branches in a loop: GPR 14 branches, 15 turns, 16 mismatches.
fn process(k: &mut Kernel, order: Order) -> Label {
    let (handler, again) = (k.a.label(), k.a.label());
    k.a.routine(match order {
        Order::BranchesFirst => "branch_handler_bescr_first",
        Order::CounterFirst => "branch_handler_mmcr0_first",
    });
    k.a.here(handler);
    k.a.addi(R14, R14, 1);
    compare(k, problem(spr::MMCR0), R26);
    compare(k, problem(COUNTER), R27);
    compare(k, cpu::EBBRR, R24);
    compare(k, problem(spr::SIAR), R25);
    compare(k, cpu::BESCR, R20);
    k.a.mtspr(problem(COUNTER), R23);
    match order {
        Order::BranchesFirst => {
            k.a.mtspr(cpu::BESCRR, R20);
            k.a.mtspr(cpu::BESCRS, R21);
            k.a.mtspr(problem(spr::MMCR0), R22);
        }
        Order::CounterFirst => {
            k.a.mtspr(problem(spr::MMCR0), R22);
            k.a.mtspr(cpu::BESCRR, R20);
            k.a.mtspr(cpu::BESCRS, R21);
        }
    }
    k.a.rfebb(true);
    k.a.routine(match order {
        Order::BranchesFirst => "process_bescr_first",
        Order::CounterFirst => "process_mmcr0_first",
    });
    let entry = k.a.mark();
    k.a.load_address(R3, handler);
    k.a.mtspr(cpu::EBBHR, R3);
    k.a.load(R3, bescr::GE | bescr::PME);
    k.a.mtspr(cpu::BESCRS, R3);
    k.a.load_address(R24, again);
    // The instruction at which the counter is negative: the last of a turn.
    k.a.addi(R25, R24, 4 * (TURN as i64 - 1));
    // The mtspr counts, and as many more as the handler has.
    k.a.mtspr(problem(spr::MMCR0), R22);
    for _ in 1..order.around() {
        k.a.nop();
    }
    k.a.here(again);
    k.a.addi(R15, R15, 1);
    k.a.cmpld(CR0, R14, R17);
    k.a.blt(again);
    k.a.sc();
    entry
}

fn rearm(k: &mut Kernel, name: &str, order: Order, code: Label) {
    let start = before(order.around() + TURN * TURNS);
    k.write(COUNTER, start);
    k.write(spr::MMCR0, granted());
    for (register, value) in [
        (R14, 0),
        (R15, 0),
        (R16, 0),
        (R17, BRANCHES),
        (R20, bescr::PMEO),
        (R21, bescr::PME),
        (R22, PMAE),
        (R23, start),
        (R26, FC | PMAO),
        (R27, before(0)),
    ] {
        k.a.load(register, value);
    }
    k.enter_user(code, 0);
    k.write(spr::MMCR0, FC);
    k.write(cpu::BESCR, 0);
    k.check_is(&format!("{name}: branches"), R14, BRANCHES);
    k.check_is(&format!("{name}: MMCR0, PMC2, EBBRR, SIAR and BESCR of each"), R16, 0);
    // The last branch comes between two turns; the turn after it is the last.
    k.check_is(&format!("{name}: turns"), R15, BRANCHES * TURNS + 1);
}

/// A process that is checked each time it calls the kernel, and the addresses after its calls.
struct Held {
    entry: Label,
    enabled: Label,
    back: Label,
    fifth: Label,
}

/// GPR 14 branches, 28 where the last one came from; 18, 19, 29 and 30 for the kernel to check.
fn held_process(k: &mut Kernel) -> Held {
    let (handler, enabled, back, fifth) = (k.a.label(), k.a.label(), k.a.label(), k.a.label());
    k.a.routine("held_branch_handler");
    k.a.here(handler);
    k.a.addi(R14, R14, 1);
    k.a.mfspr(R28, cpu::EBBRR);
    k.a.load(R3, FC);
    k.a.mtspr(problem(spr::MMCR0), R3);
    k.a.mtspr(cpu::BESCRR, R20);
    k.a.rfebb(true);
    k.a.routine("held_process");
    let entry = k.a.mark();
    k.a.load_address(R3, handler);
    k.a.mtspr(cpu::EBBHR, R3);
    // Branches are off while the alert comes.
    arm(k, COUNTER, 3);
    for _ in 0..6 {
        k.a.nop();
    }
    k.a.mr(R18, R14);
    k.a.mfspr(R19, problem(spr::MMCR0));
    k.a.mfspr(R29, cpu::BESCR);
    k.a.mtspr(cpu::BESCRS, R31);
    k.a.here(enabled);
    k.a.nop();
    k.a.sc();
    // The mtspr, the nop and sc count; the kernel's first instruction is the fourth.
    arm(k, COUNTER, 4);
    k.a.nop();
    k.a.sc();
    k.a.here(back);
    k.a.nop();
    k.a.sc();
    // FC is the process's to write.
    k.a.load(R3, FC);
    k.a.load(R4, 0);
    k.a.mtspr(problem(COUNTER), R4);
    k.a.mtspr(problem(spr::MMCR0), R4);
    for _ in 0..8 {
        k.a.nop();
    }
    k.a.mtspr(problem(spr::MMCR0), R3);
    for _ in 0..8 {
        k.a.nop();
    }
    k.a.mfspr(R18, problem(COUNTER));
    k.a.mfspr(R19, problem(spr::MMCR0));
    k.a.sc();
    // PMC5: the mtspr and four more, the run latch on.
    arm(k, pmc(5), 5);
    for _ in 0..4 {
        k.a.nop();
    }
    k.a.here(fifth);
    k.a.nop();
    k.a.mfspr(R18, problem(pmc(6)));
    k.a.sc();
    // The same with PMC5 and PMC6 frozen.
    arm(k, pmc(5), 1);
    for _ in 0..8 {
        k.a.nop();
    }
    k.a.mfspr(R18, problem(pmc(5)));
    k.a.sc();
    Held { entry, enabled, back, fifth }
}

/// Has `counter` count, from `events` before it alerts. The value comes first: PME makes PMAE 1, and a counter that is still negative would
/// alert.
fn arm(k: &mut Kernel, counter: u16, events: u64) {
    k.a.load(R4, before(events));
    k.a.load(R3, PMAE);
    k.a.mtspr(problem(counter), R4);
    k.a.mtspr(cpu::BESCRS, R21);
    k.a.mtspr(problem(spr::MMCR0), R3);
}

fn other_process(k: &mut Kernel) -> Label {
    k.a.routine("other_process");
    let entry = k.a.mark();
    for _ in 0..8 {
        k.a.nop();
    }
    k.a.sc();
    entry
}

fn hold(k: &mut Kernel, held: &Held, other: Label) {
    for (register, value) in [(R14, 0), (R20, bescr::PMEO), (R21, bescr::PME), (R28, 0), (R31, bescr::GE)] {
        k.a.load(register, value);
    }
    k.write(spr::MMCR0, granted());
    k.enter_user(held.entry, 0);
    k.check_is("branches while GE is 0", R18, 0);
    k.check_is("MMCR0 in the meantime", R19, FC | PMAO);
    k.check_is("BESCR in the meantime", R29, bescr::PMEO);
    k.check_is("branches when GE is 1 again", R14, 1);
    check_place(k, "it comes behind what sets GE", held.enabled);

    k.resume_user();
    k.set_state(msr::EE);
    for _ in 0..4 {
        k.a.nop();
    }
    k.a.mfspr(R3, spr::MMCR0);
    k.check_is("MMCR0 after an alert in the kernel", R3, granted() | PMAO);
    k.check_is("branches in the kernel", R14, 1);
    // Another process gets the CPU.
    k.a.mfspr(R17, spr::MMCR0);
    k.a.mfspr(R22, cpu::BESCR);
    k.a.ld(R23, USER_PC, R13);
    k.write(spr::MMCR0, FC);
    k.write(cpu::BESCR, 0);
    k.enter_user(other, 0);
    k.check_is("branches in another process", R14, 1);
    k.check_is("BESCR that is kept", R22, bescr::GE | bescr::PMEO);
    k.a.mtspr(cpu::BESCR, R22);
    k.a.mtspr(spr::MMCR0, R17);
    k.a.std(R23, USER_PC, R13);
    k.resume_user();
    k.check_is("branches when the process has the CPU again", R14, 2);
    check_place(k, "it comes before the first instruction", held.back);

    k.resume_user();
    // The mtspr that starts the counter, and eight.
    k.check_is("PMC2 while the process lets it count", R18, 9);
    k.check_is("MMCR0 that the process has frozen", R19, FC);

    k.write(cpu::CTRL, 1);
    k.write(pmc(6), 0);
    k.resume_user();
    k.check_is("branches by PMC5", R14, 3);
    check_place(k, "behind the fifth run instruction", held.fifth);
    // The same five instructions, a cycle each.
    k.check_is("PMC6 at that branch", R18, 5);

    k.a.mfspr(R4, spr::MMCR0);
    k.a.load(R5, mmcr0(|m| m.set_fc5_6(true)));
    k.a.or(R4, R4, R5);
    k.a.mtspr(spr::MMCR0, R4);
    k.resume_user();
    k.check_is("PMC5 while FC5-6 is set", R18, before(1));
    k.check_is("branches while FC5-6 is set", R14, 3);
    k.write(spr::MMCR0, FC);
    k.write(cpu::BESCR, 0);
}

fn check_place(k: &mut Kernel, name: &str, place: Label) {
    k.a.load_address(R30, place);
    k.check_same(name, R28, R30);
}
