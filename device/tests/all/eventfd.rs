//! Interrupt requests through event file descriptors.

use vm_pmu::arch::power9::{ThreadControl, spr};
use vm_pmu::irq::{EventFdLine, InterruptLine};
use vm_pmu::topology::{BuildError, Builder, Thread};
use vm_pmu::untile::Domain;
use vm_pmu::{Context, Lines, Signal};
use vmm_sys_util::eventfd::{EFD_NONBLOCK, EFD_SEMAPHORE, EventFd};

/// Counter 0 of a K8 overflows once.
fn overflow<L: InterruptLine>(cpu: Thread<'_, L>) {
    cpu.x86().wrmsr(0xC001_0004, u64::MAX).unwrap();
    cpu.x86().wrmsr(0xC001_0000, 0x0052_00C0).unwrap();
    cpu.totals().add(Signal::InstructionsRetired, 1);
    cpu.check();
}

#[test]
fn a_request_is_read_from_the_descriptor_of_its_thread() {
    let machine = Builder::new("k8").unwrap().threads(2).build(EventFdLine::create(2).unwrap()).unwrap();
    let [first, second] = [0, 1].map(|thread| machine.line().eventfd(thread).unwrap());
    overflow(machine.thread(1).unwrap());
    assert_eq!(second.read().unwrap(), 1);
    assert!(first.read().is_err() && second.read().is_err(), "nothing more is pending");
    overflow(machine.thread(0).unwrap());
    overflow(machine.thread(0).unwrap());
    assert_eq!(first.read().unwrap(), 2, "those that nobody read become one");
}

#[test]
fn descriptors_of_the_monitor_are_used_as_they_are() {
    let own = EventFd::new(EFD_NONBLOCK | EFD_SEMAPHORE).unwrap();
    let kept = own.try_clone().unwrap();
    let machine = Builder::new("k8").unwrap().build(EventFdLine::new([own])).unwrap();
    overflow(machine.thread(0).unwrap());
    assert_eq!(kept.read().unwrap(), 1);
}

#[test]
fn a_descriptor_that_is_full_has_a_request_pending_already() {
    let line = EventFdLine::create(1).unwrap();
    let eventfd = line.eventfd(0).unwrap();
    eventfd.write(u64::MAX - 1).unwrap();
    line.raise(0, 0);
    assert_eq!(line.failures(0), 0);
    assert_eq!(eventfd.read().unwrap(), u64::MAX - 1);
}

#[test]
fn a_machine_with_more_threads_than_descriptors_is_refused() {
    let refused = Builder::new("k8").unwrap().threads(2).build(EventFdLine::create(1).unwrap()).map(drop);
    assert_eq!(refused, Err(BuildError::Lines { threads: 2, lines: 1 }));
}

#[test]
fn a_line_that_stays_raised_is_written_when_it_rises() {
    let line = EventFdLine::create(1).unwrap();
    let eventfd = line.eventfd(0).unwrap();
    for interrupt in [true, true, false, true] {
        line.lines(0, Lines { interrupt, event_based_branch: true });
    }
    assert_eq!(eventfd.read().unwrap(), 2);
}

#[test]
fn a_power9_thread_writes_once_for_each_alert() {
    let core = Builder::new("power9").unwrap().threads(4).build(EventFdLine::create(4).unwrap()).unwrap();
    let (thread, eventfd) = (core.thread(2).unwrap(), core.line().eventfd(2).unwrap());
    let mut control = ThreadControl::default();
    control.set_run(true);
    thread.set_context(Context::power(1 << 60 | 1 << 15, control.bits()));
    // PMC1 counts completed instructions, and is negative after three.
    thread.power().mtspr(spr::MMCR1, 0x0200_0000).unwrap();
    for _ in 0..2 {
        thread.power().mtspr(spr::PMC1, 0x8000_0000 - 3).unwrap();
        thread.power().mtspr(spr::MMCR0, 0x0600_8000).unwrap(); // PMAE, FCECE, PMC1CE; an alert of before is taken away
        assert!(!thread.lines().interrupt);
        for instruction in 1..=5 {
            thread.totals().add(Signal::InstructionsRetired, 1);
            thread.totals().add(Signal::Cycles, 1);
            thread.check();
            assert_eq!(eventfd.read().ok(), (instruction == 3).then_some(1), "instruction {instruction}");
        }
        assert!(thread.lines().interrupt, "it stays until the guest acts");
    }
    assert_eq!(core.line().failures(2), 0);
}

#[test]
fn an_overflow_of_a_box_is_written_for_every_thread_of_the_chosen_tile() {
    let machine = Builder::new("knl").unwrap().packages(2).threads(8).build(EventFdLine::create(16).unwrap()).unwrap();
    let cpu = machine.thread(0).unwrap();
    cpu.x86().wrmsr(0x700, 0b10).unwrap(); // tile 1
    cpu.x86().wrmsr(0xE00 + 8, (1 << 48) - 1000).unwrap(); // CHA 0, counter 0: its clock, with ov_en
    cpu.x86().wrmsr(0xE00 + 1, 0x0050_0000).unwrap();
    machine.untile().unwrap().tick(Domain::Uclk, 2000);
    let written = (0..16).filter(|thread| machine.line().eventfd(*thread).unwrap().read().is_ok()).collect::<Vec<_>>();
    assert_eq!(written, (8..16).collect::<Vec<_>>());
}

#[test]
fn a_host_thread_that_waits_is_woken_by_the_one_that_counts() {
    // Without EFD_NONBLOCK, reading waits.
    let machine = Builder::new("k8").unwrap().threads(2).build(EventFdLine::new((0..2).map(|_| EventFd::new(0).unwrap()))).unwrap();
    std::thread::scope(|scope| {
        let waiting = [0, 1].map(|thread| {
            let eventfd = machine.line().eventfd(thread).unwrap();
            scope.spawn(move || eventfd.read().unwrap())
        });
        for number in 0..2 {
            let machine = &machine;
            scope.spawn(move || overflow(machine.thread(number).unwrap()));
        }
        assert_eq!(waiting.map(|waiting| waiting.join().unwrap()), [1, 1]);
    });
}
