//! `measured`: what the companion makes, counted over code with a known answer.

use vm_pmu::arch::power9::spr;

use super::FC;
use super::chain::{Chain, FIRST, MEMORY, PAGES, SECOND, THIRD, chase};
use super::fields::{mmcr0, pmc, select};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, Gpr, Label, R0, R3, R14, R16, R17, R18, R19, R20};

/// An event's name, its code and what it must count.
type Count = (&'static str, u64, u64);

/// Events with the same counters are counted one after the other.
const COUNTERS: usize = 4;

/// Pages whose translation is forgotten.
const FORGOTTEN: u64 = 5;
/// Calls within calls; the stack of returns has 32 entries.
const DEPTH: u64 = 40;
const RETURNS: u64 = 32;
/// Jumps to two places in turn.
const JUMPS: u64 = 20;

/// Problem state alone is counted.
fn control() -> u64 {
    mmcr0(|m| m.set_fch(true))
}

/// A pass over a chain of `lines` of which so many come from the L2, the L3 and memory.
const fn pass(lines: u64, second: u64, third: u64, memory: u64) -> [Count; 10] {
    [
        ("PM_LD_REF_L1", 0x1_00FC, lines),
        ("PM_LSU_DERAT_MISS", 0x2_00F6, 0),
        ("PM_DATA_FROM_L3MISS", 0x3_00FE, memory),
        ("PM_LD_MISS_L1", 0x4_00F0, second + third + memory),
        ("PM_DATA_FROM_L2", 0x1_C042, second),
        ("PM_DATA_FROM_L2MISS", 0x2_00FE, third + memory),
        ("PM_DTLB_MISS", 0x3_00FC, 0),
        ("PM_DATA_FROM_L3", 0x4_C042, third),
        ("PM_DATA_FROM_LMEM", 0x2_C048, memory),
        ("PM_DATA_FROM_MEMORY", 0x4_00FE, memory),
    ]
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    let chase = chase(&mut k);
    let calls = calls(&mut k);
    let jumps = jumps(&mut k);
    k.main();
    let (second, third, memory) = (SECOND.lines, THIRD.lines, MEMORY.lines);
    chains(&mut k, chase, &FIRST, &pass(FIRST.lines, 0, 0, 0));
    chains(&mut k, chase, &SECOND, &pass(second, second, 0, 0));
    chains(&mut k, chase, &THIRD, &pass(third, 0, third, 0));
    chains(&mut k, chase, &MEMORY, &pass(memory, 0, 0, memory));
    chains(&mut k, chase, &PAGES, &[("PM_LSU_DERAT_MISS", 0x2_00F6, PAGES.lines), ("PM_DTLB_MISS", 0x3_00FC, 0)]);
    let forget = |k: &mut Kernel| {
        for page in 0..FORGOTTEN {
            k.a.load(R3, PAGES.line(7 * page));
            k.a.load(R14, 0);
            k.a.tlbie(R3, R14);
        }
    };
    let forgotten = [("PM_LSU_DERAT_MISS", 0x2_00F6, PAGES.lines), ("PM_DTLB_MISS", 0x3_00FC, FORGOTTEN)];
    measure(&mut k, "256 pages, five forgotten", &forgotten, forget, |k| PAGES.follow(k, chase, 1));

    let saved = k.reserve(8 * DEPTH);
    let nested = |k: &mut Kernel| {
        k.a.load(R16, saved);
        k.enter_user(calls, 0);
    };
    for _ in 0..4 {
        nested(&mut k);
    }
    // The calls of the outermost returns have been overwritten by the innermost.
    let returns = [("PM_BR_MPRED_LSTACK", 0x1_48AC, DEPTH - RETURNS), ("PM_BR_MPRED_CMPL", 0x4_00F6, DEPTH - RETURNS)];
    measure(&mut k, "calls within calls", &returns, |_| {}, nested);
    let alternating = |k: &mut Kernel| {
        k.a.load_address(R17, jumps.targets[0]);
        k.a.load_address(R18, jumps.targets[1]);
        k.a.load(R19, JUMPS);
        k.enter_user(jumps.entry, 0);
    };
    for _ in 0..4 {
        alternating(&mut k);
    }
    // The last target is the predicted one, and is never the next.
    let targets = [("PM_BR_MPRED_CCACHE", 0x1_40AC, JUMPS), ("PM_BR_MPRED_LSTACK", 0x2_48AC, 0)];
    measure(&mut k, "jumps to two places in turn", &targets, |_| {}, alternating);
    k.end_main();
    k.finish()
}

fn chains(k: &mut Kernel, chase: Label, chain: &Chain, counts: &[Count]) {
    chain.link(k);
    chain.follow(k, chase, 4);
    measure(k, chain.name, counts, |_| {}, |k| chain.follow(k, chase, 1));
}

/// Counts `body`, as often as the counters need; `first` comes before each time.
fn measure(k: &mut Kernel, what: &str, counts: &[Count], first: impl Fn(&mut Kernel), body: impl Fn(&mut Kernel)) {
    for group in counts.chunks(COUNTERS) {
        let codes: Vec<u64> = group.iter().map(|(_, code, _)| *code).collect();
        k.write(spr::MMCR1, select(&codes));
        first(k);
        for number in 1..=4 {
            k.write(pmc(number), 0);
        }
        k.write(spr::MMCR0, control());
        body(k);
        k.write(spr::MMCR0, FC);
        for (name, code, right) in group {
            k.a.mfspr(R14, pmc((code >> 16) as u16));
            k.check_is(&format!("{what}: {name}"), R14, *right);
        }
    }
}

/// [`DEPTH`] calls, each within the one before and from its own place.
fn calls(k: &mut Kernel) -> Label {
    let functions: Vec<Label> = (0..DEPTH).map(|_| k.a.label()).collect();
    k.a.routine("calls");
    let entry = k.a.mark();
    k.a.bl(functions[0]);
    k.a.sc();
    for (depth, function) in (0..).zip(&functions) {
        k.a.routine(&format!("nested_{depth}"));
        k.a.here(*function);
        let kept = 8 * depth as i64;
        if let Some(next) = functions.get(depth + 1) {
            k.a.mflr(R0);
            k.a.std(R0, kept, R16);
            k.a.bl(*next);
            k.a.ld(R0, kept, R16);
            k.a.mtlr(R0);
        }
        k.a.blr();
    }
    entry
}

struct Jumps {
    entry: Label,
    targets: [Label; 2],
}

/// GPR 19 jumps, in turn to the addresses in GPR 17 and 18.
fn jumps(k: &mut Kernel) -> Jumps {
    let (one, other, joined) = (k.a.label(), k.a.label(), k.a.label());
    k.a.routine("jumps");
    let entry = k.a.mark();
    k.a.mtctr(R17);
    let swap: [(Gpr, Gpr); 3] = [(R20, R17), (R17, R18), (R18, R20)];
    for (to, from) in swap {
        k.a.mr(to, from);
    }
    k.a.bctr();
    k.a.here(one);
    k.a.b(joined);
    k.a.here(other);
    k.a.nop();
    k.a.here(joined);
    k.a.addi(R19, R19, -1);
    k.a.cmpdi(CR0, R19, 0);
    k.a.bne(entry);
    k.a.sc();
    Jumps { entry, targets: [one, other] }
}
