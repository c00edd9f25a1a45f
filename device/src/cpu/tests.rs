use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::topology::{Builder, Machine};
use crate::{Address, Pace};
use vm_pmu_arch::feed::{Branch, BranchKind, Occasion};

/// What a guest does.
#[derive(Clone, Debug)]
enum Act {
    /// Execute so many instructions. Every fifth is a branch, every third a load.
    Run(u32),
    /// Go on in one of the contexts.
    Context(usize),
    /// Write one of the values to one of the registers.
    Write(usize, usize),
    /// Read one of the registers.
    Read(usize),
    /// Take an interrupt.
    Interrupt,
}

/// A part, as these guests use it.
struct Guest {
    part: &'static str,
    contexts: &'static [Context],
    registers: &'static [Address],
    values: &'static [&'static [u64]],
}

const K8: Guest = Guest {
    part: "k8",
    contexts: &[Context::x86(0, 0x202, 0), Context::x86(3, 0x202, 0x100), Context::x86(3, 0x246, 0x100), Context::x86(0, 2, 0)],
    registers: &[
        Address::Msr(0xC001_0000),
        Address::Msr(0xC001_0001),
        Address::Msr(0xC001_0002),
        Address::Msr(0xC001_0004),
        Address::Msr(0xC001_0005),
        Address::Msr(0xC001_0006),
    ],
    // Retired instructions, cycles, retired branches, accesses to the data cache: of level 3, of level 0, of both, and stopped.
    values: &[&[0x0051_00C0, 0x0052_0076, 0x0053_00C2, 0x0051_0040, 0x0052_00C0, 0], &[0, u64::MAX - 2, u64::MAX - 40, u64::MAX - 200]],
};

const POWER9: Guest = Guest {
    part: "power9",
    contexts: &[
        Context::power(0x9000_0000_0000_8000, 1),
        Context::power(0x8000_0000_0000_C000, 1),
        Context::power(0x8000_0000_0000_8000, 1),
        Context::power(0x9000_0000_0000_0000, 1),
    ],
    // MMCR0, MMCR1, MMCR2, PMC1, PMC2, PMC5.
    registers: &[Address::Spr(795), Address::Spr(798), Address::Spr(785), Address::Spr(771), Address::Spr(772), Address::Spr(775)],
    // MMCR0: running, with problem or privileged state frozen, with overflow conditions enabled; MMCR1: PM_INST_CMPL, PM_BR_CMPL of each.
    values: &[&[0, 0x2000_0000, 0x4000_0000, 0x0400_C000, 0x2400_C000, 0x8000_0000], &[0xFEFE_FEFE, 0x0200_0000, 0x1E02_0000, 0x4000_0000]],
};

impl Guest {
    fn machine(&self) -> Machine<Flags> {
        let single = [Signal::InstructionsRetired, Signal::BranchesRetired, Signal::InterruptsTaken].into_iter().collect();
        Builder::new(self.part).unwrap().pace(Pace::default().single(single)).build(Flags::new(1)).unwrap()
    }

    fn value(&self, register: usize, value: usize) -> u64 {
        if self.part == "power9" && register >= 3 {
            return 0x8000_0000 - [1, 30, 170, 0x8000_0000][value % 4];
        }
        let values = self.values[usize::from(register >= if self.part == "power9" { 1 } else { 3 })];
        values[value % values.len()]
    }
}

fn is_branch(number: u64) -> bool {
    number % 5 == 4
}

fn is_load(number: u64) -> bool {
    number % 3 == 1
}

/// What a run shows: how many instructions had been executed when something was asked for or read.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    interrupts: Vec<u64>,
    reads: Vec<(u64, Result<u64, crate::Fault>)>,
}

/// An instruction of the guest that accesses a register.
fn access(guest: &Guest, act: &Act, pmu: &Thread<'_, Flags>, executed: u64, shown: &mut Shown) {
    match *act {
        Act::Write(register, value) => _ = pmu.write(guest.registers[register], guest.value(register, value)),
        Act::Read(register) => shown.reads.push((executed, pmu.read(guest.registers[register]))),
        _ => {}
    }
}

/// Runs a guest instruction by instruction, with every change reported at once.
fn run_singly(guest: &Guest, acts: &[Act]) -> Shown {
    let machine = guest.machine();
    let pmu = machine.thread(0).unwrap();
    let (mut executed, mut shown, mut raised) = (0, Shown::default(), false);
    let mut look = |executed: u64, shown: &mut Shown| {
        let up = pmu.lines().interrupt;
        if pmu.line().take(0) || up && !raised {
            shown.interrupts.push(executed);
        }
        raised = up;
    };
    for act in acts {
        match *act {
            Act::Run(count) => {
                for _ in 0..count {
                    if is_load(executed) {
                        pmu.totals().add(Signal::DataCacheAccesses, 1);
                    }
                    if is_branch(executed) {
                        pmu.totals().add(Signal::BranchesRetired, 1);
                    }
                    pmu.retire(&[Signal::InstructionsRetired], 1);
                    executed += 1;
                    look(executed, &mut shown);
                }
            }
            Act::Context(number) => pmu.set_context(guest.contexts[number]),
            Act::Write(..) | Act::Read(_) => {
                access(guest, act, &pmu, executed, &mut shown);
                pmu.retire(&[Signal::InstructionsRetired], 1);
                executed += 1;
            }
            Act::Interrupt => pmu.retire(&[Signal::InterruptsTaken], 1),
        }
        look(executed, &mut shown);
    }
    shown
}

/// Runs it in blocks.
fn run_in_blocks(guest: &Guest, acts: &[Act]) -> Shown {
    let machine = guest.machine();
    let mut cpu = Cpu::with_countdown(machine.thread(0).unwrap(), Countdown::new().paired(Signal::BranchesRetired));
    let (mut executed, mut shown, mut raised) = (0, Shown::default(), false);
    let mut look = |executed: u64, cpu: &Cpu<'_, Flags>, shown: &mut Shown| {
        let up = cpu.lines().interrupt;
        if cpu.take_interrupt() || up && !raised {
            shown.interrupts.push(executed);
        }
        raised = up;
    };
    for act in acts {
        match *act {
            Act::Run(count) => {
                let end = executed + u64::from(count);
                while executed < end {
                    let mut length = (end - executed) as u32;
                    let takes = |length: u32| {
                        let branches = (executed..executed + u64::from(length)).filter(|number| is_branch(*number)).count();
                        Countdown::takes(length, branches as u32)
                    };
                    if !cpu.enter(takes(length)) {
                        length = cpu.refill(length);
                        look(executed, &cpu, &mut shown);
                        assert!(cpu.enter(takes(length)), "what a refill leaves fits");
                    }
                    for number in executed..executed + u64::from(length) {
                        cpu.counts().add(Signal::DataCacheAccesses, is_load(number).into());
                    }
                    executed += u64::from(length);
                }
            }
            Act::Context(number) => cpu.set_context(guest.contexts[number]),
            Act::Write(..) | Act::Read(_) => {
                let takes = Countdown::takes(1, 0);
                if !cpu.enter(takes) {
                    assert_eq!(cpu.refill(1), 1);
                    look(executed, &cpu, &mut shown);
                    assert!(cpu.enter(takes));
                }
                cpu.access(|pmu| access(guest, act, &pmu, executed, &mut shown));
                executed += 1;
            }
            Act::Interrupt => _ = cpu.retire(&[Signal::InterruptsTaken], 1),
        }
        // A deadline that the last instruction has reached is served before anything else happens.
        if cpu.countdown().left() == 0 {
            cpu.sync();
        }
        look(executed, &cpu, &mut shown);
    }
    shown
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (1u32..60).prop_map(Act::Run),
        4 => (0usize..4).prop_map(Act::Context),
        3 => (0usize..6, 0usize..6).prop_map(|(register, value)| Act::Write(register, value)),
        1 => (0usize..6).prop_map(Act::Read),
        1 => Just(Act::Interrupt),
    ];
    proptest::collection::vec(act, 1..80)
}

proptest! {
    #[test]
    fn blocks_show_a_k8s_guest_what_single_instructions_do(acts in acts()) {
        prop_assert_eq!(run_in_blocks(&K8, &acts), run_singly(&K8, &acts));
    }

    #[test]
    fn blocks_show_a_power9s_guest_what_single_instructions_do(acts in acts()) {
        prop_assert_eq!(run_in_blocks(&POWER9, &acts), run_singly(&POWER9, &acts));
    }
}

/// A K8's CPU in blocks, whose counter 0 counts instructions of level 3, and which has been in levels 0 and 3 since.
fn between_levels<'a>(machine: &'a Machine<Flags>) -> Cpu<'a, Flags> {
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0041_00C0)).unwrap();
    for level in [3, 0] {
        cpu.set_context(Context::x86(level, 0x202, 0));
        assert_eq!(cpu.refill(10), 10);
        assert!(cpu.enter(Countdown::takes(10, 0)));
    }
    cpu
}

#[test]
fn a_pmu_learns_later_of_contexts_whose_counts_add_up() {
    let machine = K8.machine();
    let mut cpu = between_levels(&machine);
    cpu.set_context(Context::x86(3, 0x202, 0));
    assert_eq!(cpu.thread().context().privilege, 0, "the PMU does not know yet");
    assert!(cpu.enter(Countdown::takes(7, 0)));
    cpu.set_context(Context::x86(0, 0x202, 0));
    assert!(cpu.enter(Countdown::takes(5, 0)), "the budget stays");
    assert!(cpu.enter(Countdown::takes(1, 0)));
    assert_eq!(cpu.access(|pmu| pmu.x86().rdpmc(0)), Ok(17));
    assert_eq!(cpu.thread().context().privilege, 0);
}

#[test]
fn a_pmu_learns_at_once_of_a_context_that_it_does_not_know() {
    let machine = K8.machine();
    let mut cpu = between_levels(&machine);
    cpu.set_context(Context::x86(3, 0x202, 0x100));
    assert_eq!(cpu.thread().context().control, 0x100);
}

#[test]
fn a_state_in_which_a_counter_of_edges_starts_is_no_edge() {
    let machine = K8.machine();
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.set_level(Signal::InterruptsMaskedPendingCycles, true);
    // PerfEvtSel0: event CEh, cycles with interrupts masked and pending, edges, OS, EN.
    cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0046_00CE)).unwrap();
    cpu.advance(3, &[Signal::Cycles, Signal::InterruptsMaskedPendingCycles]);
    assert_eq!(cpu.access(|pmu| pmu.x86().rdpmc(0)), Ok(0));
}

#[test]
fn a_block_ends_where_the_record_of_a_deadline_is_wanted() {
    let machine = Builder::new("power9").unwrap().build(Flags::new(1)).unwrap();
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.set_context(POWER9.contexts[0]);
    // MMCR1: PM_INST_CMPL on PMC1; PMC1: 30 to go; MMCR0: PMAE, FCECE, PMC1CE.
    for (register, value) in [(798, 0x0200_0000), (771, 0x8000_0000 - 30), (795, 0x0600_8000)] {
        cpu.access(|pmu| pmu.power().mtspr(register, value)).unwrap();
    }
    assert!(cpu.demand().records().at_deadline);
    let mut executed = 0;
    while !cpu.wants_record() {
        let length = cpu.refill(8);
        assert!(cpu.enter(Countdown::takes(length, 0)));
        executed += length;
    }
    assert_eq!(executed, 30);
}

#[cfg(feature = "companion")]
#[test]
fn an_emulator_adds_what_it_keeps_although_the_companion_could() {
    let machine = K8.machine();
    let companion = crate::companion::Builder::new("k8").unwrap().build();
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.follow(companion.follower(0).unwrap(), SignalSet::only(Signal::DataCacheAccesses));
    // PerfEvtSel0 and 1: accesses to the data cache and misses, OS, EN.
    cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0042_0040)).unwrap();
    assert!(!cpu.is_followed(), "nothing that only the companion knows");
    cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0001, 0x0042_0041)).unwrap();
    assert!(cpu.is_followed());
    assert!(cpu.own_demand().wants(Signal::DataCacheAccesses) && !cpu.own_demand().wants(Signal::DataCacheMisses));
}

/// A taken branch.
struct TakenBranch;

impl Step for TakenBranch {
    fn count(&self, counts: &Counts<'_>) {
        counts.add(Signal::InstructionsRetired, 1);
        counts.add(Signal::Cycles, 1);
    }

    fn occasion(&self) -> Occasion {
        Occasion::branch(true)
    }

    fn record(&self) -> Option<Record> {
        let branch = Branch::new(BranchKind::Conditional, true, 0x2000);
        // Of the B form, so that its own address is recorded.
        Some(Record { branch: Some(branch), encoding: 0x4182_0010, ..Record::at(0x1000) })
    }
}

#[test]
fn a_record_is_reported_where_one_is_wanted() {
    let machine = POWER9.machine();
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    let mut history = |mmcr0| {
        // A privileged state, and not that of the hypervisor, whose branches are not recorded.
        cpu.set_context(POWER9.contexts[2]);
        cpu.access(|pmu| pmu.power().mtspr(795, mmcr0)).unwrap();
        cpu.complete(&TakenBranch);
        cpu.access(|pmu| {
            pmu.power().mtspr(795, 0).unwrap();
            pmu.read(Address::Bhrb(0))
        })
    };
    assert_eq!(history(0), Ok(0), "PMAE is 0: nothing is recorded");
    assert_eq!(history(0x0400_0000), Ok(0x1000));
}

#[test]
fn records_that_are_left_out_are_not_demanded() {
    let machine = POWER9.machine();
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.set_context(POWER9.contexts[2]);
    cpu.leave_out(Records::TAKEN_BRANCHES);
    // MMCR0: PMAE, with which alerts and records of branches are wanted.
    cpu.access(|pmu| pmu.power().mtspr(795, 0x0400_0000)).unwrap();
    assert!(cpu.demand().records().at_deadline && !cpu.demand().records().taken_branches);
    cpu.leave_out(Records::NONE);
    assert!(cpu.demand().records().taken_branches);
}

#[test]
fn blocks_whose_instructions_take_several_cycles_end_at_the_deadline() {
    let machine = K8.machine();
    let mut cpu = Cpu::with_countdown(machine.thread(0).unwrap(), Countdown::with([(Signal::Cycles, 3)]));
    // PerfCtr0: cycles, OS, INT, EN, ten to go: the fourth instruction brings them.
    for (register, value) in [(0xC001_0004, 0u64.wrapping_sub(10)), (0xC001_0000, 0x0052_0076)] {
        cpu.access(|pmu| pmu.x86().wrmsr(register, value)).unwrap();
    }
    assert_eq!(cpu.refill(100), 4);
    assert!(cpu.enter(Countdown::takes(4, 0)));
    cpu.sync();
    assert!(cpu.take_interrupt());
    assert_eq!(cpu.thread().totals().get(Signal::Cycles), 12);
}

#[test]
fn what_was_executed_before_a_restore_is_not_counted_after_it() {
    let machine = K8.machine();
    let mut cpu = between_levels(&machine);
    cpu.set_context(Context::x86(3, 0x202, 0));
    cpu.sync();
    let saved = machine.states();
    // Ten instructions of a postponed context, and ten that are subtracted from the countdown alone.
    for level in [0, 3] {
        cpu.set_context(Context::x86(level, 0x202, 0));
        cpu.refill(10);
        assert!(cpu.enter(Countdown::takes(10, 0)));
    }
    machine.restore(&saved).unwrap();
    cpu.restored();
    cpu.sync();
    // Of the ten that were executed in level 3 before.
    assert_eq!(cpu.thread().peek("PerfCtr0").unwrap().value, 10);
}

#[test]
fn flags_that_changed_within_a_block_are_known_at_the_access_that_ends_it() {
    let machine = K8.machine();
    let mut cpu = between_levels(&machine);
    assert!(cpu.enter(Countdown::takes(4, 0)));
    cpu.refresh_context(Context::x86(0, 0x246, 0x100));
    assert_eq!(cpu.access(|pmu| (pmu.context().control, pmu.context().machine_state)), (0x100, 0x246));
    // The access and the three before it: 23 of level 0, since which a counter that counts level 3 has not moved.
    assert_eq!(cpu.thread().totals().get(Signal::InstructionsRetired), 23);
    assert_eq!(cpu.access(|pmu| pmu.x86().rdpmc(0)), Ok(10));
}

#[cfg(feature = "companion")]
mod followed {
    use super::*;
    use crate::companion::{self, Companion, PageTables, Walk};

    struct Identity;

    impl PageTables for Identity {
        fn walk(&mut self, _address: u64) -> Walk {
            Walk::direct(12)
        }
    }

    /// An instruction that the countdown counts.
    struct Entered(u64);

    impl Step for Entered {
        fn count(&self, _counts: &Counts<'_>) {}

        fn record(&self) -> Option<Record> {
            Some(Record::at(self.0))
        }
    }

    fn with_follower<'a>(machine: &'a Machine<Flags>, companion: &'a Companion) -> Cpu<'a, Flags> {
        let mut cpu = Cpu::new(machine.thread(0).unwrap());
        cpu.follow(companion.follower(0).unwrap(), SignalSet::EMPTY);
        cpu
    }

    #[test]
    fn the_record_of_an_entered_instruction_comes_before_its_deadline_is_served() {
        let machine = Builder::new("power9").unwrap().build(Flags::new(1)).unwrap();
        let companion = companion::Builder::new("power9").unwrap().build();
        let mut cpu = with_follower(&machine, &companion);
        cpu.set_context(POWER9.contexts[0]);
        // MMCR1: PM_INST_CMPL on PMC1; PMC1: 3 to go; MMCR0: PMAE, FCECE, PMC1CE.
        for (register, value) in [(798, 0x0200_0000), (771, 0x8000_0000 - 3), (795, 0x0600_8000)] {
            cpu.access(|pmu| pmu.power().mtspr(register, value)).unwrap();
        }
        assert!(cpu.is_followed(), "the companion's part of the record is wanted");
        for number in 0..5 {
            while !cpu.enter(Countdown::takes(1, 0)) {
                assert_eq!(cpu.refill(1), 1);
            }
            let address = 0x1000 + 4 * number;
            cpu.execute(&Instruction { address, physical: address, length: 4, ..Instruction::default() }, &mut Identity);
            cpu.complete(&Entered(address));
            assert_eq!(cpu.lines().interrupt, number >= 2, "{number}");
        }
        // SIAR.
        assert_eq!(cpu.access(|pmu| pmu.power().mfspr(796)), Ok(0x1008));
    }

    #[test]
    fn a_companion_follows_for_what_is_worth_it_and_then_makes_the_rest() {
        let machine = K8.machine();
        let companion = companion::Builder::new("k8").unwrap().build();
        let mut cpu = with_follower(&machine, &companion);
        cpu.follow_for(SignalSet::only(Signal::DataCacheMisses), Records::NONE);
        // PerfEvtSel0 and 1: accesses to the data cache and misses, OS, EN.
        cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0042_0040)).unwrap();
        assert!(!cpu.is_followed() && cpu.own_demand().wants(Signal::DataCacheAccesses));
        cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0001, 0x0042_0041)).unwrap();
        assert!(cpu.is_followed() && !cpu.own_demand().wants(Signal::DataCacheAccesses));
        cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0001, 0)).unwrap();
        assert!(!cpu.is_followed());
    }

    #[test]
    fn a_cpu_without_its_follower_adds_every_signal_itself() {
        let machine = K8.machine();
        let companion = companion::Builder::new("k8").unwrap().build();
        let mut cpu = with_follower(&machine, &companion);
        cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0042_0041)).unwrap();
        assert!(cpu.is_followed());
        assert!(cpu.unfollow().is_some() && cpu.unfollow().is_none());
        assert!(!cpu.is_followed() && cpu.own_demand().wants(Signal::DataCacheMisses));
    }
}
