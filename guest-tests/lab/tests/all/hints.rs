//! What is remarked at the end of a run about how a guest used its PMU: storms of interrupts, and counters that cannot do what they are for.

use vm_pmu::Part;
use vm_pmu::arch::power9::{CounterFreezes, Mmcr0, spr};
use vm_pmu::companion::Clock;
use vm_pmu_board::Storm;
use vm_pmu_board::trace::{Choice, Kind, Kinds};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{CR0, R3, R4, R5};
use vm_pmu_engines::power::registers::{msr, vector};
use vm_pmu_guests::{ia64, power, runtime};
use vm_pmu_lab::hints::Delivered;
use vm_pmu_lab::report::{Action, Interrupts, Report};
use vm_pmu_lab::runner::{Options, run_image};

/// MMCR0[FC]: all counters are frozen.
const FROZEN: u64 = 0x8000_0000;
/// PM_INST_CMPL on PMC1 (02h).
const INSTRUCTIONS: u64 = 0x0200_0000;

fn run(pmu: &str, image: &Image, trace: Choice) -> Report {
    run_image(pmu, "own", image, 1, Clock::Embedder, &Options { trace, limit: 100_000, ..Options::default() }).unwrap()
}

/// A guest of POWER9 that arms PMC1 for 50 instructions of `run`, alerts on, and then does nothing for 100. Its handler leaves PMAO as it is, and
/// stops everything when it was called `most` times.
fn stormy(most: u64) -> Image {
    let mut k = power::Kernel::new(true);
    let taken = k.reserve(8);
    k.handler(vector::PERFORMANCE_MONITOR);
    k.a.load(R4, taken);
    k.a.ld(R3, 0, R4);
    k.a.addi(R3, R3, 1);
    k.a.std(R3, 0, R4);
    let again = k.a.label();
    k.a.load(R5, most);
    k.a.cmpd(CR0, R3, R5);
    k.a.bne(again);
    k.write(spr::MMCR0, FROZEN);
    k.a.here(again);
    k.end_handler();
    k.main();
    k.write(spr::MMCR0, FROZEN);
    k.write(spr::MMCR1, INSTRUCTIONS);
    k.write(spr::PMC1, 0x8000_0000 - 50);
    let mut go = Mmcr0::default();
    go.set_pmae(true);
    go.set_pmc1ce(true);
    go.set_fcece(true);
    k.set_state(msr::EE);
    k.write(spr::MMCR0, go.bits());
    (0..100).for_each(|_| k.a.nop());
    k.end_main();
    k.finish().unwrap()
}

#[test]
fn each_interrupt_that_is_taken_has_a_line_while_pmao_stays() {
    // P25: taking the interrupt clears nothing.
    let report = run("power9", &stormy(10), Choice { kinds: Kinds::NONE.with(Kind::Interrupt), ..Choice::first(100) });
    let count = |action: &Action| report.trace.iter().filter(|entry| entry.action == *action).count();
    assert_eq!((count(&Action::Taken), count(&Action::Interrupt { counters: vec![1] })), (10, 1));
}

#[test]
fn a_level_that_comes_up_is_a_request_of_the_negative_counters() {
    let report = run("power9", &stormy(10), Choice::default());
    assert_eq!(report.interrupts, [Interrupts { thread: 0, counter: 1, requested: 1 }]);
    assert_eq!(report.delivered.iter().map(|one| (one.thread, one.taken)).collect::<Vec<_>>(), [(0, 10)]);
}

#[test]
fn a_storm_is_named() {
    let report = run("power9", &stormy(10), Choice::default());
    let storm = report.delivered[0].storm.expect("a storm");
    assert_eq!(storm.times, 10);
    let [line] = report.remarks().try_into().expect("one remark");
    let (address, returned) = (storm.interrupted, storm.returned);
    let said = format!(
        "F00h was taken 10 times without progress at {address:#x}: PMAO was 1 at rfid ({returned:#x}); POWER9 PMU User's Guide A.3, PMAO"
    );
    assert_eq!(line, said);
}

#[test]
fn a_storm_of_event_based_branches_ends_at_rfebb() {
    let storm = Storm { times: 3, event_based: true, interrupted: 0x100, returned: 0x20 };
    let delivered = Delivered { thread: 0, taken: 3, storm: Some(storm) };
    assert_eq!(
        delivered.told(Part::named("power9").unwrap(), |_| None).as_deref(),
        Some(
            "The event-based branch was taken 3 times without progress at 0x100: PMAO was 1 at rfebb (0x20); POWER9 PMU User's Guide A.3, PMAO"
        )
    );
}

#[test]
fn one_interrupt_is_no_storm() {
    let report = run("power9", &stormy(1), Choice::default());
    assert_eq!((report.delivered[0].taken, report.delivered[0].storm), (1, None));
}

#[test]
fn a_write_shows_what_the_register_holds_after_it() {
    // PMC1 is negative already: the write lets go, alerts and freezes at once. PMAE is taken back, FC and PMAO are set.
    let mut k = power::Kernel::new(true);
    k.main();
    k.write(spr::MMCR0, FROZEN);
    k.write(spr::PMC1, 0x8000_0000);
    let mut go = Mmcr0::default();
    go.set_pmae(true);
    go.set_pmc1ce(true);
    go.set_fcece(true);
    k.write(spr::MMCR0, go.bits());
    k.end_main();
    let report = run("power9", &k.finish().unwrap(), Choice::first(100));
    let mut held = go;
    held.set_pmae(false);
    held.set_pmao(true);
    held.set_fc(true);
    let writes: Vec<(u64, Option<u64>)> = report
        .trace
        .iter()
        .filter_map(|entry| match &entry.action {
            Action::Write { register, value, after, .. } if register == "MMCR0" => Some((*value, *after)),
            _ => None,
        })
        .collect();
    assert_eq!(writes, [(FROZEN, None), (go.bits(), Some(held.bits()))]);
}

/// What is remarked about a guest of POWER9 that writes these registers, lets the counters go by `mmcr0`, and reads PMC5 when it has stopped them.
fn remarked(writes: &[(u16, u64)], mmcr0: Mmcr0) -> Vec<String> {
    let mut k = power::Kernel::new(true);
    k.main();
    k.write(spr::MMCR0, FROZEN);
    writes.iter().for_each(|(number, value)| k.write(*number, *value));
    k.write(spr::MMCR0, mmcr0.bits());
    (0..10).for_each(|_| k.a.nop());
    k.write(spr::MMCR0, FROZEN);
    k.a.mfspr(R3, spr::PMC1 + 4);
    k.end_main();
    run("power9", &k.finish().unwrap(), Choice::default()).hints.into_iter().map(|hint| hint.text).collect()
}

#[test]
fn counters_of_power9_that_are_frozen_wherever_the_guest_runs() {
    // FC5-6, while PMC5 is read. FC4H: PMC4 (3Eh in the lowest byte) stands still in hypervisor state, where this guest runs.
    let mut mmcr0 = Mmcr0::default();
    mmcr0.set_fc5_6(true);
    let mut freezes = CounterFreezes::default();
    freezes.set_fch(true);
    let hints = remarked(&[(spr::MMCR1, 0x3E), (spr::MMCR2, freezes.bits() >> 27)], mmcr0);
    assert_eq!(
        hints,
        [
            "PMC4 counted nothing: MMCR2[FC4H] kept it frozen wherever the guest ran",
            "PMC5 counted nothing: MMCR0[FC5-6] kept it frozen wherever the guest ran"
        ]
    );
}

#[test]
fn a_counter_of_power9_that_nobody_reads_and_one_that_is_armed_negative() {
    // The selector of PMC2 in the byte of PMC3.
    let mut mmcr0 = Mmcr0::default();
    mmcr0.set_cc56run(true);
    assert_eq!(remarked(&[(spr::MMCR1, 0x200)], mmcr0), ["PMC3 counted an event, and nobody read it or armed it for an interrupt"]);
    mmcr0.set_pmae(true);
    mmcr0.set_pmcjce(true);
    assert_eq!(
        remarked(&[(spr::MMCR1, 0x2_0000), (spr::PMC1 + 1, 0x8000_0000)], mmcr0),
        ["PMC2 was armed with 0x80000000, which is negative: it alerts at once, and not after a period"]
    );
}

#[test]
fn counters_of_the_k8() {
    // PerfCtr0: a period that is not negated. PerfCtr1 counts ring 3 alone, and the guest stays in ring 0. PerfCtr2: nobody reads it.
    let build = || -> runtime::Built<Image> {
        let mut k = runtime::Kernel::new(Vec::new())?;
        k.main()?;
        k.wrmsr(0xC001_0004, 1000)?;
        for (select, value) in [(0xC001_0000, 0x52_00C0), (0xC001_0001, 0x41_00C0), (0xC001_0002, 0x42_00C0)] {
            k.wrmsr(select, value)?;
        }
        k.a.ret()?;
        k.finish()
    };
    let hints = run("k8", &build().unwrap(), Choice::default()).hints;
    assert_eq!(
        hints.iter().map(|hint| hint.text.as_str()).collect::<Vec<_>>(),
        [
            "PerfCtr0 was armed with 0x3e8, which is positive: its overflow is more than half its range away; should it be the negated period?",
            "PerfCtr1 counted nothing: PerfEvtSel1[OS] = 0 kept it frozen wherever the guest ran",
            "PerfCtr2 counted an event, and nobody read it or armed it for an interrupt"
        ]
    );
}

#[test]
fn counters_of_knights_landing() {
    // IA32_PMC0 is enabled in its select and not in IA32_PERF_GLOBAL_CTRL, which enables fixed counter 0 alone; that one is read.
    let build = || -> runtime::Built<Image> {
        let mut k = runtime::Kernel::new(Vec::new())?;
        k.main()?;
        for (msr, value) in [(0x38F, 1 << 32), (0x186, 0x42_00C0), (0x38D, 0x1)] {
            k.wrmsr(msr, value)?;
        }
        k.rdmsr(0x309)?;
        k.a.ret()?;
        k.finish()
    };
    let hints = run("knl", &build().unwrap(), Choice::default()).hints;
    assert_eq!(
        hints.iter().map(|hint| hint.text.as_str()).collect::<Vec<_>>(),
        ["IA32_PMC0 counted nothing: bit 0 of IA32_PERF_GLOBAL_CTRL = 0 kept it frozen wherever the guest ran"]
    );
}

#[test]
fn monitors_of_the_itaniums() {
    // PMC4 counts level 3 alone; PMC5 is a privileged monitor at level 0, and PSR.pp stays clear. es = 08h or 12h, ism as each part wants it.
    for (pmu, ism) in [("montecito", 0x200_0000), ("itanium", 0)] {
        let mut k = ia64::Kernel::new();
        k.main();
        k.write_pmc(4, ism | 0x1208);
        k.write_pmc(5, ism | 0x1241);
        k.write_pmc(0, 0);
        k.nops(4);
        k.end_main();
        let hints = run(pmu, &k.finish().unwrap(), Choice::default()).hints;
        assert_eq!(
            hints.iter().map(|hint| hint.text.as_str()).collect::<Vec<_>>(),
            [
                "PMD4 counted nothing: bit 0 of PMC4.plm = 0 kept it frozen wherever the guest ran",
                "PMD5 counted nothing: PSR.pp = 0 kept it frozen wherever the guest ran"
            ],
            "{pmu}"
        );
    }
}
