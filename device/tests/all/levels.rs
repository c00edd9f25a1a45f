//! Counters that privilege stops and lets go on: at which event they overflow, and what of the context must be told.

use vm_pmu::arch::power9::spr;
use vm_pmu::irq::Flags;
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::{Context, Signal};

const PERIOD: u64 = 50_000;

/// POWER: problem state below the hypervisor, and privileged state.
const PROBLEM: u64 = 1 << 14;
const PRIVILEGED: u64 = 0;

fn k8(select: u64) -> Machine<Flags> {
    let machine = Builder::new("k8").unwrap().build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(PERIOD)).unwrap();
    thread.x86().wrmsr(0xC001_0000, select).unwrap();
    machine
}

/// IA32_FIXED_CTR0 counts retired instructions up to an interrupt, at the levels of `control`: 1 for level 0, 2 above it.
fn knl(control: u64) -> Machine<Flags> {
    let machine = Builder::new("knl").unwrap().build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    thread.x86().wrmsr(0x309, (1 << 40) - PERIOD).unwrap();
    thread.x86().wrmsr(0x38D, 8 | control).unwrap();
    thread.x86().wrmsr(0x38F, 1 << 32).unwrap();
    machine
}

/// PMC2 counts completed instructions up to an alert, with these freezes of MMCR0 beside PMAE, FCECE and PMCjCE.
fn power9(freezes: u64) -> Machine<Flags> {
    let machine = Builder::new("power9").unwrap().build(Flags::new(1)).unwrap();
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::power(PRIVILEGED, 1));
    thread.power().mtspr(spr::MMCR1, 0x02 << 16).unwrap();
    thread.power().mtspr(spr::PMC1 + 1, 0x8000_0000 - PERIOD).unwrap();
    thread.power().mtspr(spr::MMCR0, 0x0600_4000 | freezes).unwrap();
    // PMC1-4 stand still in the cycle after a write of MMCR1.
    thread.totals().add(Signal::Cycles, 1);
    thread.service();
    machine
}

/// Executes `instructions` at the two levels by turns, for as long as `stays` says. Returns after how many at the first of them the PMU asked, and how
/// often somebody looked.
fn until_asked(machine: &Machine<Flags>, levels: [Context; 2], mut stays: impl FnMut(u64) -> u64, asks: impl Fn() -> bool) -> (u64, u64) {
    let thread = machine.thread(0).unwrap();
    let (mut counted, mut looks) = (0, 0);
    for stay in 0.. {
        let level = (stay % 2) as usize;
        thread.set_context(levels[level]);
        for _ in 0..stays(stay) {
            counted += u64::from(level == 0);
            thread.totals().add(Signal::InstructionsRetired, 1);
            thread.totals().add(Signal::Cycles, 1);
            if thread.due() {
                looks += 1;
                thread.check();
            }
            if asks() {
                return (counted, looks);
            }
        }
    }
    unreachable!("it asks some time")
}

/// Stays of these lengths, again and again.
fn cycling(lengths: &'static [u64]) -> impl FnMut(u64) -> u64 {
    move |stay| lengths[stay as usize % lengths.len()]
}

const STAYS: [&[u64]; 4] = [&[1, 1], &[300, 700], &[5000, 1, 1, 9000], &[40_000, 60_000]];

#[test]
fn a_counter_of_the_user_level_overflows_at_its_event_however_often_levels_change() {
    let each = STAYS.into_iter().flat_map(|stays| [(stays, "k8"), (stays, "knl")]);
    for (stays, part) in each {
        // On K8 retired instructions, INT, EN, USR: other levels do not count.
        let machine = if part == "k8" { k8(0x0051_00C0) } else { knl(2) };
        let levels = [3, 0].map(|cpl| Context::x86(cpl, 0x202, 0));
        let (counted, looks) = until_asked(&machine, levels, cycling(stays), || machine.line().take(0));
        assert_eq!(counted, PERIOD, "{part}, stays of {stays:?}");
        assert!(looks < 2000, "{looks} looks on {part} with stays of {stays:?}");
    }
}

#[test]
fn a_fixed_counter_written_while_it_stands_still_waits_for_its_new_overflow() {
    let machine = knl(2);
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    thread.set_context(Context::x86(0, 0x202, 0));
    thread.x86().wrmsr(0x309, (1 << 40) - 7).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    assert_eq!(thread.deadlines().distance(Signal::InstructionsRetired, thread.totals()), 7);
}

#[test]
fn the_deadline_of_a_counter_that_is_disabled_while_it_stands_still_goes() {
    let machine = knl(2);
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    thread.set_context(Context::x86(0, 0x202, 0));
    thread.x86().wrmsr(0x38F, 0).unwrap();
    assert_eq!(thread.deadlines().distance(Signal::InstructionsRetired, thread.totals()), u64::MAX);
    // Enabled again, it waits for the whole distance.
    thread.totals().add(Signal::InstructionsRetired, 100);
    thread.x86().wrmsr(0x38F, 1 << 32).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    assert_eq!(thread.deadlines().distance(Signal::InstructionsRetired, thread.totals()), PERIOD);
}

#[test]
fn a_deadline_that_stays_is_set_again_when_another_counter_takes_back_the_same() {
    let machine = knl(2);
    let thread = machine.thread(0).unwrap();
    // IA32_PMC0 counts retired instructions at every level, and is written while IA32_FIXED_CTR0 stands still.
    thread.x86().wrmsr(0x186, 0x0053_00C0).unwrap();
    thread.x86().wrmsr(0x38F, 1 << 32 | 1).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    thread.set_context(Context::x86(0, 0x202, 0));
    thread.x86().wrmsr(0x0C1, 5).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    assert_eq!(thread.deadlines().distance(Signal::InstructionsRetired, thread.totals()), PERIOD);
}

#[test]
fn the_levels_of_a_thread_that_is_not_alone_in_its_package_do_not_add_up() {
    let alone = knl(2);
    let together = Builder::new("knl").unwrap().threads(2).build(Flags::new(2)).unwrap();
    together.thread(0).unwrap().x86().wrmsr(0x38D, 2).unwrap();
    together.thread(0).unwrap().x86().wrmsr(0x38F, 1 << 32).unwrap();
    for (machine, expected) in [(&alone, true), (&together, false)] {
        machine.thread(0).unwrap().set_context(Context::x86(3, 0x202, 0));
        assert_eq!(adds_up(machine), expected);
    }
}

#[test]
fn a_counter_of_problem_state_turns_negative_at_its_event_however_often_states_change() {
    for stays in STAYS {
        // FCS and FCH.
        let machine = power9(1 << 30 | 1);
        let levels = [PROBLEM, PRIVILEGED].map(|msr| Context::power(msr, 1));
        let thread = machine.thread(0).unwrap();
        let (counted, looks) = until_asked(&machine, levels, cycling(stays), || thread.lines().interrupt);
        assert_eq!(counted, PERIOD, "stays of {stays:?}");
        assert!(looks < 2000, "{looks} looks with stays of {stays:?}");
    }
}

#[test]
fn a_far_deadline_stays_while_its_counter_stands_still_and_goes_when_it_is_reached() {
    let machine = k8(0x0051_00C8);
    let thread = machine.thread(0).unwrap();
    let distance = || thread.deadlines().distance(Signal::NearReturns, thread.totals());
    thread.set_context(Context::x86(3, 0x202, 0));
    thread.set_context(Context::x86(0, 0x202, 0));
    assert_eq!(distance(), PERIOD);
    thread.totals().add(Signal::NearReturns, PERIOD);
    thread.service();
    assert_eq!(distance(), u64::MAX);
    thread.set_context(Context::x86(3, 0x202, 0));
    assert_eq!(distance(), PERIOD);
}

#[test]
fn a_counter_written_while_it_stands_still_waits_for_its_new_overflow() {
    let machine = k8(0x0051_00C8);
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    thread.set_context(Context::x86(0, 0x202, 0));
    thread.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(7)).unwrap();
    thread.set_context(Context::x86(3, 0x202, 0));
    assert_eq!(thread.deadlines().distance(Signal::NearReturns, thread.totals()), 7);
}

#[test]
fn what_no_counter_depends_on_need_not_be_told() {
    let sensitivity = |machine: &Machine<Flags>| machine.thread(0).unwrap().sensitivity().load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(sensitivity(&k8(0x0053_00C0)), 0, "every level counts");
    assert_eq!(sensitivity(&k8(0x0051_00C0)), u64::MAX, "CPL is no bit of RFLAGS");
    let (external, problem) = (1 << 15, 1 << 14);
    assert_eq!(sensitivity(&power9(1 << 30)) & (external | problem), problem);
}

#[test]
fn two_numbers_add_up_to_the_epoch() {
    let machine = k8(0x0053_00C0);
    let thread = machine.thread(0).unwrap();
    let sum = || thread.epochs().map(|cell| cell.load(std::sync::atomic::Ordering::Acquire)).into_iter().fold(0, u32::wrapping_add);
    assert_eq!(sum(), thread.epoch());
    thread.x86().wrmsr(0xC001_0001, 0x0053_00E0).unwrap(); // a northbridge event: the package follows it
    assert_eq!(sum(), thread.epoch());
}

/// Whether contexts may be told in sums now.
fn adds_up(machine: &Machine<Flags>) -> bool {
    machine.thread(0).unwrap().contexts_add_up().load(std::sync::atomic::Ordering::Relaxed) != 0
}

#[test]
fn levels_add_up_once_every_counter_waits_at_all_of_them() {
    let machine = k8(0x0051_0076);
    let thread = machine.thread(0).unwrap();
    let tell = |level| thread.set_context(Context::x86(level, 0x202, 0));
    tell(0);
    assert!(!adds_up(&machine), "it never counted: nothing waits");
    tell(3);
    assert!(adds_up(&machine), "it counts");
    tell(0);
    assert!(adds_up(&machine), "its deadline stays");
    thread.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(PERIOD)).unwrap();
    assert!(!adds_up(&machine), "a register was written");
    thread.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(4000)).unwrap();
    tell(3);
    tell(0);
    assert!(!adds_up(&machine), "its deadline is near, and was taken back");
}

/// Two contexts, and how a thread is told what is executed in them by turns. Returns after how many instructions in all the PMU asked.
struct Embedder<'a> {
    machine: &'a Machine<Flags>,
    levels: [Context; 2],
    /// What was executed in each that the PMU was not told.
    kept: [u64; 2],
    known: [bool; 2],
    present: usize,
    executed: u64,
    asked: Vec<u64>,
}

impl<'a> Embedder<'a> {
    fn new(machine: &'a Machine<Flags>, levels: [Context; 2]) -> Self {
        machine.thread(0).unwrap().set_context(levels[0]);
        Embedder { machine, levels, kept: [0; 2], known: [true, false], present: 0, executed: 0, asked: Vec::new() }
    }

    /// Tells what was kept, the present context last.
    fn settle(&mut self) {
        let thread = self.machine.thread(0).unwrap();
        for level in [1 - self.present, self.present] {
            if self.kept[level] != 0 || level == self.present {
                thread.set_context(self.levels[level]);
                thread.totals().add(Signal::InstructionsRetired, self.kept[level]);
                thread.totals().add(Signal::Cycles, self.kept[level]);
                self.kept[level] = 0;
            }
        }
    }

    /// Goes to a level, and executes there.
    fn execute(&mut self, level: usize, mut instructions: u64, in_sums: bool) {
        let thread = self.machine.thread(0).unwrap();
        if level != self.present && !(in_sums && self.known[level] && adds_up(self.machine)) {
            self.settle();
            thread.set_context(self.levels[level]);
            self.known[level] = true;
        }
        self.present = level;
        while instructions != 0 {
            let room = thread.room().saturating_sub(self.kept.iter().sum()).max(1);
            let step = room.min(instructions);
            instructions -= step;
            self.executed += step;
            self.kept[level] += step;
            if step == room || !in_sums {
                self.settle();
                thread.check();
                if self.machine.line().take(0) || thread.lines().interrupt && self.asked.is_empty() {
                    self.asked.push(self.executed);
                }
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn what_adds_up_may_be_told_in_sums(stays in proptest::collection::vec((0..2_usize, 1..9000_u64), 1..60), part in 0..3_usize) {
        let machines = [false, true].map(|_| match part {
            0 => k8(0x0051_00C0),
            1 => knl(2),
            _ => power9(1 << 30 | 1),
        });
        let levels = match part {
            2 => [PRIVILEGED, PROBLEM].map(|msr| Context::power(msr, 1)),
            _ => [0, 3].map(|cpl| Context::x86(cpl, 0x202, 0)),
        };
        let seen = [0, 1].map(|way| {
            let mut embedder = Embedder::new(&machines[way], levels);
            for (level, instructions) in &stays {
                embedder.execute(*level, *instructions, way == 1);
            }
            embedder.settle();
            (embedder.asked, machines[way].thread(0).unwrap().state())
        });
        let [counted, counted_in_sums] = seen.each_ref().map(|(asked, _)| asked.clone());
        proptest::prop_assert_eq!(counted, counted_in_sums);
        let value = |way: usize| {
            let thread = machines[way].thread(0).unwrap();
            thread.set_context(levels[0]);
            match part {
                0 => thread.x86().rdmsr(0xC001_0004),
                1 => thread.x86().rdmsr(0x309),
                _ => thread.power().mfspr(spr::PMC1 + 1),
            }
        };
        proptest::prop_assert_eq!(value(0), value(1));
    }

    #[test]
    fn nothing_is_told_again_of_states_that_add_up(stays in proptest::collection::vec(1..50_u64, 2..40)) {
        let machine = power9(1 << 30 | 1);
        let levels = [PRIVILEGED, PROBLEM].map(|msr| Context::power(msr, 1));
        let mut embedder = Embedder::new(&machine, levels);
        embedder.execute(1, 1, true);
        embedder.execute(0, 1, true);
        for (number, instructions) in stays.iter().enumerate() {
            embedder.execute((number + 1) % 2, *instructions, true);
        }
        proptest::prop_assert_eq!(embedder.kept.iter().sum::<u64>(), stays.iter().sum::<u64>() + 2);
    }
}
