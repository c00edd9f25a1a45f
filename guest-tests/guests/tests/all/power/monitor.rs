//! A performance monitor attached: register hooks, interrupts, event-based branches.

use vm_pmu_guests::power::{Kernel, own};

use super::support::*;

/// A performance monitor of the simplest kind. SPR 779 is control: bit 63 enables, bit 62 sends to event-based branches, bit 61 is set when
/// the event has occurred. SPR 771 counts completed instructions down while enabled; at 0 the event occurs.
#[derive(Clone, Debug, Default)]
struct Monitor {
    control: u64,
    left: u64,
    contexts: Vec<(u64, u64)>,
    notices: Vec<Notice>,
    matches: [u64; 4],
    history_cleared: bool,
    waited: u64,
    cycles: Option<u32>,
}

const ENABLE: u64 = 1;
const BRANCHES: u64 = 2;
const HAPPENED: u64 = 4;

impl Monitor {
    fn count(&mut self, amount: u64) {
        if self.control & ENABLE == 0 {
            return;
        }
        self.left = self.left.saturating_sub(amount);
        if self.left == 0 {
            self.control = self.control & !ENABLE | HAPPENED;
        }
    }
}

impl Observer for Monitor {
    fn read_spr(&mut self, number: u16, cpu: &CpuView<'_>) -> Result<u64, SprFault> {
        match number {
            771 => Ok(self.left),
            779 => Ok(self.control),
            // One that problem state may not read, one for each result.
            787 if cpu.problem() => Err(SprFault::Privileged),
            772 => Err(SprFault::FacilityUnavailable { hypervisor: false, cause: 3 }),
            773 => Err(SprFault::FacilityUnavailable { hypervisor: true, cause: 3 }),
            774 => Err(SprFault::EmulationAssistance),
            775 => Err(SprFault::NoOp),
            _ => Err(SprFault::Unclaimed),
        }
    }

    fn write_spr(&mut self, number: u16, value: u64, _: &CpuView<'_>) -> Result<(), SprFault> {
        match number {
            771 => self.left = value,
            779 => self.control = value,
            775 => return Err(SprFault::NoOp),
            _ => return Err(SprFault::Unclaimed),
        }
        Ok(())
    }

    fn branch_history(&mut self, index: u16, _: &CpuView<'_>) -> Result<u64, SprFault> {
        if index < 2 { Ok(100 + u64::from(index)) } else { Err(SprFault::FacilityUnavailable { hypervisor: false, cause: 4 }) }
    }

    fn clear_branch_history(&mut self, _: &CpuView<'_>) -> Result<(), SprFault> {
        self.history_cleared = true;
        Ok(())
    }

    fn read_instruction_match(&mut self, index: u16, _: &CpuView<'_>) -> Result<u64, SprFault> {
        self.matches.get(usize::from(index)).copied().ok_or(SprFault::Unclaimed)
    }

    fn write_instruction_match(&mut self, index: u16, value: u64, _: &CpuView<'_>) -> Result<(), SprFault> {
        *self.matches.get_mut(usize::from(index)).ok_or(SprFault::Unclaimed)? = value;
        Ok(())
    }

    fn context(&mut self, cpu: &CpuView<'_>) {
        let old = self.contexts.last().map_or(0, |context| context.1);
        self.contexts.push((cpu.msr(), cpu.bescr()));
        // Software takes the event back in BESCR.
        if self.control & BRANCHES != 0 && old & bescr::PMEO != 0 && cpu.bescr() & bescr::PMEO == 0 {
            self.control &= !HAPPENED;
        }
    }

    fn retire(&mut self, _: &Step, _: &CpuView<'_>) -> Alerts {
        self.count(1);
        Alerts { cycles: self.cycles, ..Alerts::NONE }
    }

    fn notice(&mut self, notice: &Notice, _: &CpuView<'_>) -> Alerts {
        self.notices.push(*notice);
        Alerts::NONE
    }

    fn pending(&mut self) -> Pending {
        let happened = self.control & HAPPENED != 0;
        if self.control & BRANCHES == 0 {
            Pending { interrupt: happened, event_based: None }
        } else {
            Pending { interrupt: false, event_based: Some(EventBased { enabled: self.control & ENABLE != 0, occurred: happened }) }
        }
    }

    fn waited(&mut self, cycles: u64) {
        self.waited += cycles;
        self.count(cycles);
    }

    fn wait_deadline(&self) -> Option<u64> {
        (self.control & ENABLE != 0).then_some(self.left)
    }
}

fn monitored(build: impl FnOnce(&mut Assembler)) -> Machine<Monitor> {
    run_with(true, Monitor::default(), build)
}

fn monitor(machine: &Machine<Monitor>) -> &Monitor {
    machine.observer(0).expect("a CPU")
}

fn taken(machine: &Machine<Monitor>) -> Vec<Taken> {
    monitor(machine).notices.iter().map(|notice| notice.taken).collect()
}

/// Starts the counter so that the event occurs at the `n`th instruction after.
fn start(a: &mut Assembler, n: u64, control: u64) {
    a.load(R4, n + 1);
    a.mtspr(771, R4);
    a.load(R4, control | ENABLE);
    // The write itself is the first to be counted.
    a.mtspr(779, R4);
}

#[test]
fn an_observers_registers_are_its_own_and_others_the_engines() {
    let machine = monitored(|a| {
        a.load(R4, 1234);
        a.mtspr(771, R4);
        a.mfspr(R3, 771);
        a.mtspr(spr::SPRG1, R4);
        a.mfspr(R5, spr::SPRG1);
    });
    assert_eq!((gpr(&machine, 3), gpr(&machine, 5)), (1234, 1234));
    assert_eq!(monitor(&machine).left, 1234);
}

#[test]
fn refusals_are_the_interrupts_they_name() {
    let vector = |number: u16| taken(&monitored(|a| a.mfspr(R3, number)));
    assert_eq!(vector(772), [Taken::Interrupt(0xF60)]);
    assert_eq!(vector(773), [Taken::Interrupt(0xF80)]);
    assert_eq!(vector(774), [Taken::Interrupt(0xE40)]);
    assert!(vector(775).is_empty());
    let machine = monitored(|a| {
        let user = a.label();
        go(a, user, 0, msr::PR);
        a.mfspr(R3, 787);
    });
    assert_eq!(taken(&machine), [Taken::Interrupt(0x700)]);
    let machine = monitored(|a| a.mfspr(R3, 772));
    assert_eq!(special(&machine, spr::FSCR) >> 56, 3);
}

#[test]
fn the_branch_history_is_the_observers() {
    let machine = monitored(|a| {
        a.mfbhrbe(R3, 1);
        a.clrbhrb();
        a.mfbhrbe(R4, 2);
    });
    assert_eq!(gpr(&machine, 3), 101);
    assert!(monitor(&machine).history_cleared);
    assert_eq!(taken(&machine), [Taken::Interrupt(0xF60)]);
    assert_eq!(special(&machine, spr::FSCR) >> 56, 4);
}

#[test]
fn the_instruction_matching_facility_is_the_observers() {
    let machine = monitored(|a| {
        a.load(R4, 99);
        a.mtimc(2, R4);
        a.mfimc(R3, 2);
        a.mfimc(R3, 4);
    });
    assert_eq!((gpr(&machine, 3), monitor(&machine).matches), (99, [0, 0, 99, 0]));
    assert_eq!(taken(&machine), [Taken::Interrupt(0xE40)]);
}

#[test]
fn the_interrupt_is_precise_when_enabled() {
    let machine = monitored(|a| {
        a.load(R5, msr::EE);
        a.mtmsrd(R5, true);
        start(a, 3, 0);
        for _ in 0..8 {
            a.addi(R20, R20, 1);
        }
    });
    assert_eq!(taken(&machine), [Taken::Interrupt(0xF00)]);
    assert_eq!(gpr(&machine, 20), 3);
    let notice = monitor(&machine).notices[0];
    assert_eq!(special(&machine, spr::SRR0), notice.address);
    assert_eq!(special(&machine, spr::SRR1) & (msr::EE | 0x783F_0000), msr::EE);
    assert_eq!(notice.target, 0xF00);
}

#[test]
fn the_interrupt_waits_for_ee() {
    let machine = monitored(|a| {
        start(a, 1, 0);
        for _ in 0..5 {
            a.addi(R20, R20, 1);
        }
        a.load(R5, msr::EE);
        a.mtmsrd(R5, true);
        a.addi(R20, R20, 1);
    });
    assert_eq!(taken(&machine), [Taken::Interrupt(0xF00)]);
    assert_eq!(gpr(&machine, 20), 5);
}

/// The way to problem state with event-based branches to `handler`.
fn to_event_based_branches(a: &mut Assembler, handler: Label) {
    a.load(R4, facility::EBB | facility::TAR);
    a.mtspr(spr::FSCR, R4);
    a.load_address(R4, handler);
    a.mtspr(spr::EBBHR, R4);
    a.load(R4, bescr::GE);
    a.mtspr(spr::BESCR, R4);
    let user = a.label();
    go(a, user, 0, msr::PR);
}

#[test]
fn an_event_based_branch_goes_to_its_handler_and_returns() {
    let machine = monitored(|a| {
        let (handler, done) = (a.label(), a.label());
        to_event_based_branches(a, handler);
        start(a, 2, BRANCHES);
        for _ in 0..6 {
            a.addi(R20, R20, 1);
        }
        a.mfspr(R25, spr::BESCR);
        a.b(done);
        a.here(handler);
        a.mfspr(R21, spr::BESCR);
        a.mr(R22, R20);
        a.mfspr(R23, spr::EBBRR);
        // Takes the event back, and enables branches again on return.
        a.load(R4, bescr::PMEO);
        a.mtspr(spr::BESCRR, R4);
        a.rfebb(true);
        a.here(done);
    });
    // No interrupt was taken: BESCR in problem state is the program's own.
    assert_eq!(taken(&machine), [Taken::EventBasedBranch]);
    assert_eq!((gpr(&machine, 20), gpr(&machine, 22)), (6, 2));
    // In the handler the event is there and GE off; after it GE on and nothing else.
    assert_eq!(gpr(&machine, 21), bescr::PMEO);
    assert_eq!(gpr(&machine, 25), bescr::GE);
    assert_eq!(gpr(&machine, 23), monitor(&machine).notices[0].address);
}

#[test]
fn an_event_based_branch_waits_for_its_conditions() {
    // Without GE, without FSCR, and in privileged state there is no branch although the event is there.
    for (enabled, fscr, problem, branches) in
        [(true, true, true, 1), (false, true, true, 0), (true, false, true, 0), (true, true, false, 0)]
    {
        let machine = monitored(|a| {
            let handler = a.label();
            a.load(R4, if fscr { facility::EBB } else { 0 });
            a.mtspr(spr::FSCR, R4);
            a.load_address(R4, handler);
            a.mtspr(spr::EBBHR, R4);
            a.load(R4, if enabled { bescr::GE } else { 0 });
            a.mtspr(spr::BESCR, R4);
            let there = a.label();
            go(a, there, 0, if problem { msr::PR } else { 0 });
            start(a, 1, BRANCHES);
            for _ in 0..4 {
                a.nop();
            }
            a.here(handler);
        });
        assert_eq!(taken(&machine).len(), branches, "{enabled} {fscr} {problem}");
    }
}

#[test]
fn bescr_that_software_writes_reaches_the_observer_before_the_next_instruction() {
    let machine = monitored(|a| {
        // Control with the event in it, then BESCR clears it, then control is read: nothing is in between.
        a.load(R4, BRANCHES | HAPPENED);
        a.mtspr(779, R4);
        a.nop();
        a.mfspr(R20, spr::BESCR);
        a.load(R4, bescr::PME | bescr::PMEO);
        a.mtspr(spr::BESCR, R4);
        a.load(R4, bescr::PMEO);
        a.mtspr(spr::BESCRR, R4);
        a.mfspr(R21, 779);
        a.mfspr(R22, spr::BESCR);
    });
    assert_eq!(gpr(&machine, 20), bescr::PMEO);
    assert_eq!(gpr(&machine, 21), BRANCHES);
    // PME was written by software; the monitor is disabled, and the bit is the monitor's.
    assert_eq!(gpr(&machine, 22), 0);
}

#[test]
fn a_waiting_cpu_lets_cycles_go_by_until_the_interrupt() {
    let machine = monitored(|a| {
        a.load(R5, msr::EE);
        a.mtmsrd(R5, true);
        start(a, 1000, 0);
        a.stop();
        a.load(R20, 1);
    });
    assert_eq!(taken(&machine), [Taken::Interrupt(0xF00)]);
    // The STOP was counted too.
    assert_eq!(monitor(&machine).waited, 999);
    assert_eq!(gpr(&machine, 20), 0);
}

#[test]
fn a_cpu_that_nothing_can_wake_ends_the_run() {
    let image = image(true, |a| a.wait());
    let mut machine = Machine::new(&Config::default(), &image, |_| Unobserved).expect("a machine");
    assert_eq!(machine.run(Limits::NONE), Exit::Waiting);
}

#[test]
fn the_observer_says_how_many_cycles_a_step_takes() {
    let machine = run_with(true, Monitor { cycles: Some(5), ..Monitor::default() }, |a| a.nop());
    let steps = machine.cpu(0).expect("a CPU").cycles() / 5;
    assert_eq!(machine.cpu(0).expect("a CPU").cycles(), 5 * steps);
    // Eight cycles a tick.
    assert_eq!(machine.cpu(0).expect("a CPU").time_base(), 5 * steps / 8);
}

/// A driver: takes three interrupts, each after 50 instructions, then goes to problem state and takes two event-based branches there.
fn driver(little_endian: bool) -> Kernel {
    let mut k = Kernel::new(little_endian);
    let (user, on_event, again) = (k.a.label(), k.a.label(), k.a.label());
    k.main();
    k.a.load(R14, 0);
    k.set_state(msr::EE);
    k.write(771, 50);
    k.write(779, ENABLE);
    let wait = k.a.mark();
    k.a.cmpdi(CR0, R14, 3);
    k.a.blt(wait);
    k.check_is("three interrupts", R14, 3);
    k.clear_state(msr::EE);
    k.write(spr::FSCR, facility::EBB);
    k.a.load_address(R3, on_event);
    k.a.mtspr(spr::EBBHR, R3);
    k.write(spr::BESCR, bescr::GE);
    k.a.load(R15, 0);
    k.enter_user(user, 0);
    k.check_is("two event-based branches", R15, 2);
    k.end_main();

    k.a.here(user);
    k.write(771, 20);
    k.write(779, ENABLE | BRANCHES);
    k.a.here(again);
    k.a.cmpdi(CR0, R15, 2);
    k.a.blt(again);
    k.a.sc();
    // GPR 20 and 21 are its own; CR is kept.
    k.a.here(on_event);
    k.a.mfcr(R21);
    k.a.addi(R15, R15, 1);
    k.a.load(R20, bescr::PMEO);
    k.a.mtspr(spr::BESCRR, R20);
    k.a.load(R20, 20);
    k.a.mtspr(771, R20);
    k.a.cmpdi(CR0, R15, 2);
    k.a.load(R20, BRANCHES | ENABLE);
    let more = k.a.label();
    k.a.blt(more);
    k.a.load(R20, BRANCHES);
    k.a.here(more);
    k.a.mtspr(779, R20);
    k.a.mtcrf(0xFF, R21);
    k.a.rfebb(true);

    k.handler(0xF00);
    k.a.addi(R14, R14, 1);
    k.a.std(R14, own(0), R13);
    // The last one is not followed by another.
    k.a.cmpdi(CR0, R14, 3);
    k.a.load(R3, 50);
    k.a.mtspr(771, R3);
    k.a.load(R3, ENABLE);
    let more = k.a.label();
    k.a.blt(more);
    k.a.load(R3, 0);
    k.a.here(more);
    k.a.mtspr(779, R3);
    k.end_handler();
    k
}

#[test]
fn a_driver_takes_interrupts_and_event_based_branches_in_both_byte_orders() {
    for little_endian in [true, false] {
        let image = driver(little_endian).finish().expect("assembles");
        let config = Config { little_endian, ..Config::default() };
        let mut machine = Machine::new(&config, &image, |_| Monitor::default()).expect("a machine");
        assert_eq!(machine.run(Limits::steps(10_000)), Exit::Status { cpu: 0, status: 0 });
        let call = Taken::Interrupt(0xC00);
        let interrupt = Taken::Interrupt(0xF00);
        let branch = Taken::EventBasedBranch;
        assert_eq!(taken(&machine), [interrupt, interrupt, interrupt, branch, branch, call]);
    }
}
