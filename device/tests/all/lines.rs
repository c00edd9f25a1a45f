//! An interrupt line may call the machine again.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use vm_pmu::Signal;
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::{Builder, Machine};

type Work = fn(&Machine<Reentrant>, u32);

struct Reentrant {
    machine: OnceLock<std::sync::Weak<Machine<Reentrant>>>,
    raised: AtomicU32,
    work: Work,
}

impl InterruptLine for Reentrant {
    fn raise(&self, _thread: usize, _counter: u32) {
        let raised = self.raised.fetch_add(1, Relaxed) + 1;
        if let Some(machine) = self.machine.get().and_then(std::sync::Weak::upgrade) {
            (self.work)(&machine, raised);
        }
    }
}

fn build(threads: usize, work: Work) -> Arc<Machine<Reentrant>> {
    let line = Reentrant { machine: OnceLock::new(), raised: AtomicU32::new(0), work };
    let machine = Arc::new(Builder::new("k8").expect("known").threads(threads).build(line).unwrap());
    let _ = machine.line().machine.set(Arc::downgrade(&machine));
    machine
}

/// Runs `work` elsewhere: a deadlock fails the test instead of stopping it.
fn within_seconds(work: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::channel();
    std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    finished.recv_timeout(Duration::from_secs(20)).expect("it ends");
}

#[test]
fn a_line_may_reload_the_counter_that_asked() {
    within_seconds(|| {
        let machine = build(1, |machine, _| {
            let cpu = machine.thread(0).expect("one thread");
            cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(3)).expect("level 0");
        });
        let cpu = machine.thread(0).expect("one thread");
        cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(3)).expect("level 0");
        cpu.x86().wrmsr(0xC001_0000, 0x0052_0076).expect("level 0");
        for _ in 0..9 {
            cpu.totals().add(Signal::Cycles, 1);
            if cpu.due() {
                cpu.check();
            }
        }
        assert_eq!(machine.line().raised.load(Relaxed), 3);
    });
}

#[test]
fn a_line_that_lets_go_of_a_shared_counter_lets_go() {
    within_seconds(|| {
        let machine = build(2, |machine, _| {
            let cpu = machine.thread(0).expect("two threads");
            cpu.x86().wrmsr(0xC001_0000, 0).expect("level 0");
        });
        let cpu = machine.thread(0).expect("two threads");
        cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(1)).expect("level 0");
        cpu.x86().wrmsr(0xC001_0000, 0x0052_0076).expect("level 0");
        // The clock that is not yet looked at overflows the counter within the write that claims it for the northbridge.
        cpu.totals().add(Signal::Cycles, 1);
        cpu.x86().wrmsr(0xC001_0000, 0x0052_01E0).expect("level 0");
        assert_eq!(cpu.x86().rdmsr(0xC001_0000), Ok(0));
        let other = machine.thread(1).expect("two threads");
        other.x86().wrmsr(0xC001_0000, 0x0042_00C0).expect("level 0");
        other.totals().add(Signal::InstructionsRetired, 5);
        assert_eq!(other.x86().rdpmc(0), Ok(5));
    });
}
