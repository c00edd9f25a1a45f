//! No host thread keeps another from its registers, however often it writes to its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use vm_pmu::irq::Unconnected;
use vm_pmu::topology::Builder;

/// How often each of three threads toggles its select at most, and how often the fourth reads its own meanwhile: one read for 100 toggles.
const TOGGLES: usize = 200_000;
const READS: usize = 2_000;

/// PerfEvtSel0.
const SELECT: u32 = 0xC001_0000;
/// EN, OS, USR and event E0h of the northbridge, which its package counts: every toggle locks the PMU of each of its threads.
const NORTHBRIDGE: u64 = 0x0043_01E0;

#[test]
fn a_thread_reads_its_register_while_three_of_its_package_toggle_northbridge_selects() {
    let machine = Builder::new("k8").unwrap().threads(4).build(Unconnected).unwrap();
    let (toggling, ended, has_read) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let toggle = &|number| {
        let cpu = machine.thread(number).unwrap();
        toggling.fetch_add(1, Ordering::AcqRel);
        for toggle in 0..TOGGLES {
            if has_read.load(Ordering::Acquire) {
                return;
            }
            cpu.x86().wrmsr(SELECT, if toggle % 2 == 0 { NORTHBRIDGE } else { 0 }).unwrap();
        }
        ended.fetch_add(1, Ordering::AcqRel);
    };
    thread::scope(|scope| {
        (0..3).for_each(|number| drop(scope.spawn(move || toggle(number))));
        let cpu = machine.thread(3).unwrap();
        while toggling.load(Ordering::Acquire) != 3 {
            thread::yield_now();
        }
        for _ in 0..READS {
            assert_eq!(cpu.x86().rdmsr(SELECT), Ok(0));
        }
        has_read.store(true, Ordering::Release);
    });
    assert!(ended.load(Ordering::Acquire) < 3, "the three had toggled {TOGGLES} times each before the fourth had read {READS} times");
}
