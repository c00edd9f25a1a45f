//! Several vCPU threads on one machine: nothing is lost, nothing deadlocks, northbridge counters have one holder.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use vm_pmu::Signal;
use vm_pmu::topology::Builder;

const THREADS: usize = 8;
const ROUNDS: u64 = 20_000;

/// PerfEvtSel: retired instructions, OS, INT, EN.
const INSTRUCTIONS: u64 = 0x0052_00C0;
/// PerfEvtSel: DRAM page hits, OS, INT, EN.
const PAGE_HITS: u64 = 0x0052_01E0;

#[test]
fn every_thread_is_interrupted_at_each_of_its_own_overflows() {
    let interrupts: Vec<AtomicU64> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
    let machine = Builder::new("k8")
        .expect("known")
        .packages(4)
        .threads(2)
        .build(|thread: usize, counter: u32| {
            if counter == 0 {
                interrupts[thread].fetch_add(1, Relaxed);
            }
        })
        .unwrap();
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let machine = &machine;
            scope.spawn(move || {
                let cpu = machine.thread(number).expect("there are eight");
                cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(100)).expect("level 0");
                cpu.x86().wrmsr(0xC001_0000, INSTRUCTIONS).expect("level 0");
                for round in 1..=ROUNDS {
                    cpu.totals().add(Signal::InstructionsRetired, 1);
                    cpu.totals().add(Signal::DramPageHits, 1);
                    cpu.totals().add(Signal::Cycles, 1);
                    if cpu.due() {
                        cpu.check();
                    }
                    if round % 100 == 0 {
                        cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(100)).expect("level 0");
                    }
                    // The second counter is fought over by the cores of the package.
                    if round % 7 == 0 {
                        cpu.x86().wrmsr(0xC001_0001, if round % 14 == 0 { PAGE_HITS } else { 0 }).expect("level 0");
                        cpu.x86().wrmsr(0xC001_0005, 0u64.wrapping_sub(50)).expect("level 0");
                    }
                }
            });
        }
    });
    for (thread, interrupts) in interrupts.iter().enumerate() {
        assert_eq!(interrupts.load(Relaxed), ROUNDS / 100, "thread {thread}");
    }
}

#[test]
fn a_northbridge_counter_counts_what_every_thread_of_its_package_does() {
    let machine = Builder::new("k8").expect("known").packages(1).threads(2).build(|_, _| {}).unwrap();
    let owner = machine.thread(0).expect("there are two");
    owner.x86().wrmsr(0xC001_0000, PAGE_HITS).expect("level 0");
    std::thread::scope(|scope| {
        for number in 0..2 {
            let machine = &machine;
            scope.spawn(move || {
                let cpu = machine.thread(number).expect("there are two");
                for _ in 0..ROUNDS {
                    cpu.totals().add(Signal::DramPageHits, 1);
                    cpu.totals().add(Signal::Cycles, 1);
                    if cpu.due() {
                        cpu.check();
                    }
                }
            });
        }
        let devices = machine.devices(0).expect("one package");
        for _ in 0..ROUNDS {
            devices.totals.add(Signal::DramPageHits, 1);
        }
    });
    assert_eq!(owner.x86().rdpmc(0), Ok(3 * ROUNDS));
}

#[test]
fn restoring_beside_running_threads_ends() {
    let machine = Builder::new("k8").expect("known").threads(2).build(|_, _| {}).unwrap();
    let states = machine.states();
    std::thread::scope(|scope| {
        for number in 0..2 {
            let machine = &machine;
            scope.spawn(move || {
                let cpu = machine.thread(number).expect("there are two");
                for round in 0..ROUNDS {
                    cpu.x86().wrmsr(0xC001_0000, if round % 2 == 0 { PAGE_HITS } else { 0 }).expect("level 0");
                }
            });
        }
        for _ in 0..ROUNDS / 4 {
            machine.restore(&states).expect("its own states");
        }
    });
}
