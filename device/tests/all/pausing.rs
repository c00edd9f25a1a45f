//! Handlers of POWER9 freeze all counters and let them go: what a guest sees does not depend on whether what is demanded was kept meanwhile.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::select;
use vm_pmu::Signal;
use vm_pmu::arch::power9::spr;
use vm_pmu::irq::Flags;
use vm_pmu::litmus::Litmus;
use vm_pmu::topology::{Builder, Machine};

/// PMAE, FCECE and PMCjCE: counters from PMC2 on alert and freeze all.
const SAMPLING: u64 = 0x0600_4000;
const FC: u64 = 0x8000_0000;
const PERIOD: u64 = 100_000;
/// For so many events the demand outlives a freeze.
const PATIENCE: u64 = 1 << 20;

/// PMC2 counts completed instructions (02h) up to an alert.
fn sampling() -> Machine<Flags> {
    let machine = Builder::new("power9").unwrap().build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    thread.power().mtspr(spr::MMCR1, 0x02 << 16).unwrap();
    thread.power().mtspr(spr::PMC1 + 1, 0x8000_0000 - PERIOD).unwrap();
    thread.power().mtspr(spr::MMCR0, SAMPLING).unwrap();
    // PMC1-4 stand still in the cycle after a write of MMCR1.
    retire(&machine, 1);
    machine
}

fn retire(machine: &Machine<Flags>, instructions: u64) {
    let thread = machine.thread(0).unwrap();
    thread.totals().add(Signal::InstructionsRetired, instructions);
    thread.totals().add(Signal::Cycles, instructions);
    if thread.due() {
        thread.check();
    }
}

#[test]
fn a_handler_that_lets_the_counters_go_changes_no_demand() {
    let machine = sampling();
    let thread = machine.thread(0).unwrap();
    let before = thread.demand();
    retire(&machine, PERIOD);
    assert_eq!(thread.power().mfspr(spr::MMCR0), Ok(FC | SAMPLING & !0x0400_0000 | 0x80), "FC and PMAO are set, PMAE is not");
    assert_eq!(thread.demand(), before);
    retire(&machine, 500);
    thread.power().mtspr(spr::PMC1 + 1, 0x8000_0000 - PERIOD).unwrap();
    thread.power().mtspr(spr::MMCR0, SAMPLING).unwrap();
    retire(&machine, 3);
    assert_eq!(thread.power().mfspr(spr::PMC1 + 1), Ok(0x8000_0000 - PERIOD + 3));
    assert_eq!(thread.demand(), before);
}

#[test]
fn branches_are_demanded_when_alerts_are_enabled_with_the_counters_frozen() {
    let machine = sampling();
    let thread = machine.thread(0).unwrap();
    thread.power().mtspr(spr::MMCR0, SAMPLING & !0x0400_0000).unwrap();
    assert!(!thread.demand().records().taken_branches);
    thread.power().mtspr(spr::MMCR0, FC | SAMPLING).unwrap();
    assert!(thread.demand().records().taken_branches);
}

#[test]
fn counters_that_stay_frozen_are_demanded_no_more_after_a_while() {
    let machine = sampling();
    let thread = machine.thread(0).unwrap();
    thread.power().mtspr(spr::MMCR0, FC | SAMPLING).unwrap();
    retire(&machine, PATIENCE - 1);
    assert!(thread.demand().wants(Signal::InstructionsRetired));
    retire(&machine, 1);
    assert!(!thread.demand().wants(Signal::InstructionsRetired));
}

#[test]
fn a_guest_that_always_finds_its_counters_frozen_is_not_demanded_for_ever() {
    let machine = sampling();
    let thread = machine.thread(0).unwrap();
    for _ in 0..PATIENCE / 1000 + 1 {
        thread.power().mtspr(spr::MMCR0, FC | SAMPLING).unwrap();
        retire(&machine, 1000);
    }
    assert!(!thread.demand().wants(Signal::InstructionsRetired));
}

/// What a handler or a scheduler does between instructions.
fn statement() -> impl Strategy<Value = String> {
    let control = select(vec![
        0x0600_4000u64,
        0x0200_4000,
        0x8600_4000,
        0x8200_4080,
        0x8200_4000,
        0x8000_0000,
        0x0600_C000,
        0x8600_C000,
        0x4600_4000,
        0xC600_4000,
        0x0400_4000,
        0x8400_4000,
        0x8208_4010,
        0x060C_4000,
        0x860C_4000,
        0x0601_4000,
        0x0600_4010,
        0x0640_4000,
        0x0600_2000,
        0x0610_4000,
        0x8610_4000,
        0x0700_4000,
    ]);
    let near = select(vec![0u64, 0x7FFF_FFFD, 0x7FFF_FFFF, 0x8000_0000, 0x7FFF_0000, 0xFFFF_FFFE]);
    prop_oneof![
        4 => control.prop_map(|value| format!("write MMCR0 {value:#x}")),
        3 => (1..=6u32, near).prop_map(|(number, value)| format!("write PMC{number} {value:#x}")),
        2 => (1..=6u32).prop_map(|number| format!("read PMC{number}")),
        1 => select(vec!["MMCR0", "MMCRA", "SIAR", "SDAR", "MMCR2", "BESCR", "bhrb:0"]).prop_map(|name| format!("read {name}")),
        1 => select(vec!["MMCR1 0x20000", "MMCR1 0x2001e02", "MMCR2 0", "MMCR2 0x2010080402000000", "MMCRA 0", "MMCRA 1", "MMCRA 0x80000000000", "BESCR 0x100000000", "spr:802 0x100000001", "bhrb:0 0"]).prop_map(|write| format!("write {write}")),
        2 => (0..=1u32).prop_map(|problem| format!("context hv=0 pr={problem} run=1")),
        4 => (1..=4u32).prop_map(|times| format!("repeat {times} feed instructions_retired=1 cycles=1")),
        1 => Just("record address=0x4000 branch=conditional taken=1 target=0x5000 encoding=0x41820010 feed branches_taken=1 instructions_retired=1 cycles=1".into()),
        1 => (1 << 18..1 << 21u32).prop_map(|amount| format!("feed cycles={amount}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of the embedders that are compared, one is saved and restored after every statement, which forgets what was kept.
    #[test]
    fn an_arbitrary_handler_looks_the_same_to_every_embedder(statements in proptest::collection::vec(statement(), 0..60)) {
        let mut program = String::from("title: handlers\npmu: power9\nsection: A.3\ncontext hv=0 pr=0 run=1\nwrite MMCR1 0x20000\n");
        for statement in statements {
            let expectation = if statement.starts_with("read") { " = 0" } else { "" };
            writeln!(program, "{statement}{expectation}").unwrap();
        }
        let litmus: Litmus = program.parse().unwrap();
        litmus.try_contract().map_err(|broken| TestCaseError::fail(broken.to_string()))?;
    }
}
