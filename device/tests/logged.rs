//! What is logged: who did what to which register, what is counted in vain, and of warnings no more than a host can bear. A program of its own,
//! as a logger is for the whole process.

use std::cell::RefCell;
use std::sync::{Once, OnceLock};

use log::{Level, LevelFilter, Log, Metadata, Record};
use vm_pmu::arch::montecito::Pmc;
use vm_pmu::arch::power9::spr;
use vm_pmu::irq::{TriggerLine, Unconnected};
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::{Context, Signal, SignalSet};
use vm_superio::Trigger;

thread_local! {
    /// What the test on this thread has logged.
    static LINES: RefCell<Vec<(Level, String)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps what is logged, and reads a register of a machine for each line of its first thread.
struct Lines(OnceLock<Machine<Unconnected>>);

static LOGGER: Lines = Lines(OnceLock::new());

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let line = record.args().to_string();
        let is_call = line.starts_with("thread 7 ");
        LINES.with_borrow_mut(|lines| lines.push((record.level(), line)));
        if let Some(machine) = self.0.get().filter(|_| is_call) {
            machine.thread(6).unwrap().write(vm_pmu::Address::Msr(0xC001_0004), 5).unwrap();
            let _ = (machine.thread(7).unwrap().context(), machine.states());
        }
    }

    fn flush(&self) {}
}

/// What `work` logs.
fn logged(work: impl FnOnce()) -> Vec<(Level, String)> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&LOGGER).unwrap();
        log::set_max_level(LevelFilter::Trace);
    });
    LINES.take();
    work();
    LINES.take()
}

/// The same, as whether some line is exactly this.
fn says(lines: &[(Level, String)], level: Level, text: &str) -> bool {
    lines.iter().any(|(at, line)| (*at, line.as_str()) == (level, text))
}

#[test]
fn an_access_is_traced_with_the_thread_and_the_name_of_the_register() {
    let machine = Builder::new("k8").unwrap().threads(2).build(Unconnected).unwrap();
    let cpu = machine.thread(1).unwrap();
    let lines = logged(|| {
        cpu.x86().wrmsr(0xC001_0004, 0x1F).unwrap();
        cpu.x86().rdmsr(0xC001_0004).unwrap();
    });
    let expected = ["thread 1 writes 1Fh to PerfCtr0", "thread 1 reads 1Fh from PerfCtr0"].map(|line| (Level::Trace, line.to_owned()));
    assert_eq!(lines, expected);
}

#[test]
fn a_register_without_a_name_is_traced_by_its_address() {
    let machine = Builder::new("k8").unwrap().build(Unconnected).unwrap();
    let lines = logged(|| assert!(machine.thread(0).unwrap().x86().rdmsr(0x10).is_err()));
    assert_eq!(lines, [(Level::Trace, "thread 0 is refused to read MSR 0000_0010h: no register of this PMU has that address".to_owned())]);
}

#[test]
fn a_refused_write_is_told_for_debugging_with_its_fault() {
    let machine = Builder::new("k8").unwrap().build(Unconnected).unwrap();
    let cpu = machine.thread(0).unwrap();
    cpu.set_context(Context::x86(3, 0x202, 0));
    let lines = logged(|| assert!(cpu.x86().wrmsr(0xC001_0000, 0x42_00C0).is_err()));
    let expected = "thread 0 is refused to write 4200C0h to PerfEvtSel0: general-protection exception, #GP(0)";
    assert_eq!(lines, [(Level::Debug, expected.to_owned())]);
}

/// Adds an instruction to a thread whose counters are one before their overflow.
fn overflow<L: vm_pmu::irq::InterruptLine>(machine: &Machine<L>) -> Vec<(Level, String)> {
    let cpu = machine.thread(0).unwrap();
    logged(|| {
        cpu.totals().add(Signal::InstructionsRetired, 1);
        cpu.service();
    })
}

#[test]
fn an_overflow_is_traced_with_the_name_of_the_counter() {
    let k8 = Builder::new("k8").unwrap().build(Unconnected).unwrap();
    k8.thread(0).unwrap().x86().wrmsr(0xC001_0007, 0xFFFF_FFFF_FFFF).unwrap();
    k8.thread(0).unwrap().x86().wrmsr(0xC001_0003, 0x0053_00C0).unwrap();
    assert!(says(&overflow(&k8), Level::Trace, "thread 0: PerfCtr3 overflowed"));

    let knl = Builder::new("knl").unwrap().build(Unconnected).unwrap();
    for (msr, value) in [(0xC2, 0xFF_FFFF_FFFF), (0x187, 0x0053_00C0), (0x309, 0xFF_FFFF_FFFF), (0x38D, 0b1011), (0x38F, 1 << 32 | 0b10)] {
        knl.thread(0).unwrap().x86().wrmsr(msr, value).unwrap();
    }
    let lines = overflow(&knl);
    assert!(says(&lines, Level::Trace, "thread 0: IA32_PMC1 overflowed"), "{lines:?}");
    assert!(says(&lines, Level::Trace, "thread 0: IA32_FIXED_CTR0 overflowed"), "{lines:?}");

    let montecito = Builder::new("montecito").unwrap().build(Unconnected).unwrap();
    let cpu = montecito.thread(0).unwrap();
    cpu.set_context(Context::ia64(0b0100, 0));
    let mut pmc = Pmc::default();
    pmc.set_plm(0b1111);
    pmc.set_es(0x08);
    pmc.set_ism(0b10);
    pmc.set_oi(true);
    cpu.ia64().mov_to_pmd(4, (1 << 47) - 1).unwrap();
    cpu.ia64().mov_to_pmc(4, pmc.bits()).unwrap();
    assert!(says(&overflow(&montecito), Level::Trace, "thread 0: PMD4 overflowed"));
}

#[test]
fn an_overflow_of_power_is_traced_with_the_name_of_the_counter() {
    let power9 = Builder::new("power9").unwrap().build(Unconnected).unwrap();
    let cpu = power9.thread(0).unwrap();
    // PMC5 counts the run's instructions; it is one before its negative half.
    cpu.set_context(Context::power(1 << 60, 1));
    cpu.power().mtspr(spr::PMC1 + 4, 0x7FFF_FFFF).unwrap();
    cpu.power().mtspr(spr::MMCR0, 0x0400_4000).unwrap();
    let lines = overflow(&power9);
    assert!(says(&lines, Level::Trace, "thread 0: PMC5 overflowed"), "{lines:?}");
}

#[test]
fn each_signal_that_is_counted_in_vain_is_logged_once_a_machine() {
    let supplied = SignalSet::only(Signal::InstructionsRetired);
    let machine = Builder::new("k8").unwrap().threads(2).supplies(supplied).build(Unconnected).unwrap();
    let lines = logged(|| {
        for (thread, select) in [(0, 0x0042_00C0), (0, 0x0042_0041), (0, 0x0042_00CF), (1, 0x0042_0041), (1, 0x0042_00C1)] {
            machine.thread(thread).unwrap().x86().wrmsr(0xC001_0000, select).unwrap();
        }
    });
    let told: Vec<_> = lines.iter().filter(|(level, _)| *level <= Level::Debug).map(|(_, line)| line.as_str()).collect();
    assert_eq!(
        told,
        [
            // Retired instructions add up exceptions and interrupts.
            "thread 0 counts interrupts_taken, which is not supplied",
            "thread 0 counts exceptions_taken, which is not supplied",
            "thread 0 counts data_cache_misses, which is not supplied",
            "thread 1 counts micro_ops_retired, which is not supplied",
        ]
    );
}

/// Takes nothing.
struct Broken;

impl Trigger for Broken {
    type E = &'static str;

    fn trigger(&self) -> Result<(), &'static str> {
        Err("no wire")
    }
}

/// The warnings when a guest's counter overflows `times` times, on a machine whose trigger takes nothing, and how many requests failed.
fn warnings(times: u64) -> (Vec<String>, u64) {
    let machine = Builder::new("k8").unwrap().build(TriggerLine::new([Broken])).unwrap();
    let cpu = machine.thread(0).unwrap();
    cpu.x86().wrmsr(0xC001_0000, 0x0053_00C0).unwrap();
    let lines = logged(|| {
        for _ in 0..times {
            cpu.x86().wrmsr(0xC001_0004, 0xFFFF_FFFF_FFFF).unwrap();
            cpu.totals().add(Signal::InstructionsRetired, 1);
            cpu.service();
        }
    });
    let warnings = lines.into_iter().filter(|(level, _)| *level == Level::Warn).map(|(_, line)| line);
    (warnings.collect(), machine.line().failures(0))
}

#[test]
fn of_many_warnings_of_a_kind_few_are_logged_with_how_many_were_not() {
    let (failed, count) = warnings(100);
    let text = "thread 0 asks for an interrupt, but what should take it failed: \"no wire\"";
    // The first four, then the 8th, 16th, 32nd and 64th.
    let left_out = ["", "", "", ""].into_iter().map(str::to_owned);
    let left_out = left_out.chain([3, 7, 15, 31].map(|more| format!(" ({more} messages like it were left out)")));
    assert_eq!(failed, left_out.map(|more| format!("{text}{more}")).collect::<Vec<_>>());
    assert_eq!(count, 100);
}

#[test]
fn a_logger_may_call_the_machine() {
    let machine = LOGGER.0.get_or_init(|| Builder::new("k8").unwrap().threads(8).build(Unconnected).unwrap());
    let lines = logged(|| machine.thread(7).unwrap().x86().wrmsr(0xC001_0004, 3).unwrap());
    assert!(says(&lines, Level::Trace, "thread 6 writes 5h to PerfCtr0"));
}
