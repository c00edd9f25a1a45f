//! Interrupt requests through the `Trigger` of `vm-superio`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use vm_pmu::irq::{InterruptLine, TriggerLine};
use vm_pmu::topology::{BuildError, Builder, Thread};
use vm_pmu::{Lines, Signal};
use vm_superio::Trigger;

/// Counts what it is asked for, and fails while it is broken.
#[derive(Default)]
struct Bell {
    rung: AtomicU64,
    broken: AtomicBool,
}

#[derive(Debug)]
struct Broken;

impl Trigger for Bell {
    type E = Broken;

    fn trigger(&self) -> Result<(), Broken> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(Broken);
        }
        self.rung.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Bell {
    fn rung(&self) -> u64 {
        self.rung.load(Ordering::Relaxed)
    }
}

fn bells(count: usize) -> TriggerLine<Bell> {
    TriggerLine::new((0..count).map(|_| Bell::default()))
}

/// Counter 0 of a K8 overflows once.
fn overflow<L: InterruptLine>(cpu: Thread<'_, L>) {
    cpu.x86().wrmsr(0xC001_0004, u64::MAX).unwrap();
    cpu.x86().wrmsr(0xC001_0000, 0x0052_00C0).unwrap();
    cpu.totals().add(Signal::InstructionsRetired, 1);
    cpu.check();
}

#[test]
fn a_request_rings_the_bell_of_its_thread_once() {
    let machine = Builder::new("k8").unwrap().threads(2).build(bells(2)).unwrap();
    overflow(machine.thread(1).unwrap());
    assert_eq!([0, 1].map(|thread| machine.line().trigger(thread).unwrap().rung()), [0, 1]);
    overflow(machine.thread(1).unwrap());
    assert_eq!([0, 1].map(|thread| machine.line().trigger(thread).unwrap().rung()), [0, 2]);
    assert_eq!([0, 1].map(|thread| machine.line().failures(thread)), [0, 0]);
}

#[test]
fn a_bell_that_fails_is_counted_and_the_counter_goes_on() {
    let machine = Builder::new("k8").unwrap().build(bells(1)).unwrap();
    let cpu = machine.thread(0).unwrap();
    let bell = machine.line().trigger(0).unwrap();
    bell.broken.store(true, Ordering::Relaxed);
    overflow(cpu);
    assert_eq!((bell.rung(), machine.line().failures(0)), (0, 1));
    assert_eq!(cpu.x86().rdpmc(0), Ok(0), "it wrapped");
    bell.broken.store(false, Ordering::Relaxed);
    overflow(cpu);
    assert_eq!((bell.rung(), machine.line().failures(0)), (1, 1));
}

#[test]
fn a_machine_with_more_threads_than_bells_is_refused() {
    let refused = Builder::new("k8").unwrap().threads(2).build(bells(1)).map(drop);
    assert_eq!(refused, Err(BuildError::Lines { threads: 2, lines: 1 }));
}

#[test]
fn a_line_that_stays_raised_rings_when_it_rises() {
    let line = bells(2);
    let (raised, lowered) = (Lines { interrupt: true, ..Lines::default() }, Lines::default());
    let rung = || line.trigger(0).unwrap().rung();
    line.lines(0, raised);
    line.lines(0, raised);
    line.lines(0, Lines { event_based_branch: true, ..raised });
    assert_eq!(rung(), 1, "the same level told again");
    line.lines(0, lowered);
    line.lines(0, Lines { event_based_branch: true, ..lowered });
    assert_eq!(rung(), 1, "an event-based branch is no interrupt");
    line.lines(0, raised);
    assert_eq!(rung(), 2);
    assert_eq!(line.trigger(1).unwrap().rung(), 0);
}

#[test]
fn a_rise_that_failed_is_tried_again_when_it_is_told_again() {
    let line = bells(1);
    let bell = line.trigger(0).unwrap();
    let raised = Lines { interrupt: true, ..Lines::default() };
    bell.broken.store(true, Ordering::Relaxed);
    line.lines(0, raised);
    assert_eq!((bell.rung(), line.failures(0)), (0, 1));
    bell.broken.store(false, Ordering::Relaxed);
    line.lines(0, raised);
    line.lines(0, raised);
    assert_eq!((bell.rung(), line.failures(0)), (1, 1));
}

#[test]
fn threads_of_the_host_raise_at_once_and_none_is_lost() {
    let machine = Builder::new("k8").unwrap().threads(4).build(bells(4)).unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let machine = &machine;
            scope.spawn(move || (0..500).for_each(|_| overflow(machine.thread(number).unwrap())));
        }
    });
    assert_eq!([0, 1, 2, 3].map(|thread| machine.line().trigger(thread).unwrap().rung()), [500; 4]);
}
