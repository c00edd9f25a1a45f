//! Interrupt requests through event file descriptors.

use vm_pmu::irq::{EventFdLine, InterruptLine};
use vm_pmu::topology::{Builder, Thread};
use vm_pmu::{Lines, Signal};
use vmm_sys_util::eventfd::{EFD_NONBLOCK, EFD_SEMAPHORE, EventFd};

/// Counter 0 of a K8 overflows once.
fn overflow<L: InterruptLine>(cpu: Thread<'_, L>) {
    cpu.wrmsr(0xC001_0004, u64::MAX).unwrap();
    cpu.wrmsr(0xC001_0000, 0x0052_00C0).unwrap();
    cpu.totals().add(Signal::InstructionsRetired, 1);
    cpu.check();
}

#[test]
fn a_request_is_read_from_the_descriptor_of_its_thread() {
    let machine = Builder::new("k8").unwrap().threads(2).build(EventFdLine::create(2).unwrap());
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
    let machine = Builder::new("k8").unwrap().build(EventFdLine::new([own]));
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
fn a_thread_without_a_descriptor_is_counted_apart() {
    let line = EventFdLine::create(1).unwrap();
    line.raise(1, 0);
    assert!(line.eventfd(1).is_none());
    assert_eq!((line.astray(), line.failures(0), line.failures(1)), (1, 0, 0));
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
fn a_host_thread_that_waits_is_woken_by_the_one_that_counts() {
    // Without EFD_NONBLOCK, reading waits.
    let machine = Builder::new("k8").unwrap().threads(2).build(EventFdLine::new((0..2).map(|_| EventFd::new(0).unwrap())));
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
