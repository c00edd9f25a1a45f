//! Streams with a known answer, and what must hold of every stream.

use alloc::vec::Vec;

use vm_pmu_arch::feed::{BranchKind, Demand, Records, Signal, SignalSet};

use super::{Access, AccessKind, Builder, Clock, Companion, Follower, Instruction, Transfer, Untranslated};
use crate::topology::{self, Machine};

/// A machine whose totals take what followers make, everything being counted.
struct Rig {
    machine: Machine<fn(usize, u32)>,
}

fn everything() -> Demand {
    let mut signals = SignalSet::EMPTY;
    Signal::all().for_each(|signal| signals.insert(signal));
    let mut demand = Demand::default();
    demand.replace(signals, false, Records::None);
    demand
}

impl Rig {
    fn new(threads: usize) -> Rig {
        let line: fn(usize, u32) = |_, _| {};
        Rig { machine: topology::Builder::new("k8").unwrap().threads(threads).build(line) }
    }

    fn run(&self, follower: &mut Follower<'_>, instruction: &Instruction<'_>) {
        follower.execute(instruction, &mut Untranslated(12));
        follower.deliver(&self.machine.thread(follower.number()).unwrap(), &[], || {});
    }

    fn get(&self, thread: usize, signal: Signal) -> u64 {
        self.machine.thread(thread).unwrap().totals().get(signal)
    }
}

fn follow(companion: &Companion, number: usize) -> Follower<'_> {
    let mut follower = companion.follower(number).unwrap();
    follower.renew(&everything());
    follower
}

fn load(address: u64) -> Access {
    Access { address, physical: address, size: 8, ..Access::default() }
}

fn accessing(accesses: &[Access]) -> Instruction<'_> {
    Instruction { address: 0x40_0000, physical: 0x40_0000, length: 4, accesses, ..Instruction::default() }
}

#[test]
fn a_chase_misses_where_it_outgrows_a_level() {
    let companion = Builder::new("k8").unwrap().build();
    for (bytes, level1, level2) in [(48 << 10, 0, 0), (512 << 10, 8192, 0), (4 << 20, 65536, 65536u64)] {
        let rig = Rig::new(1);
        let mut follower = follow(&companion, 0);
        // Lines in an order without neighbours: by 17, which shares no divisor with their number.
        let lines = bytes / 64;
        for pass in 0..2 {
            let before = (rig.get(0, Signal::DataCacheMisses), rig.get(0, Signal::L2MissesData));
            for step in 0..lines {
                rig.run(&mut follower, &accessing(&[load(0x100_0000 + step * 17 % lines * 64)]));
            }
            let after = (rig.get(0, Signal::DataCacheMisses), rig.get(0, Signal::L2MissesData));
            if pass == 1 {
                assert_eq!((after.0 - before.0, after.1 - before.1), (level1, level2), "{bytes} bytes");
            }
        }
    }
}

#[test]
fn bench() {
    extern crate std;
    for (name, clock) in [("events", Clock::Embedder), ("time", Clock::Companion)] {
        let companion = Builder::new("k8").unwrap().clock(clock).build();
        let rig = Rig::new(1);
        let thread = rig.machine.thread(0).unwrap();
        let mut follower = follow(&companion, 0);
        let mut demand = Demand::default();
        let mut s = SignalSet::EMPTY;
        s.insert(Signal::DataCacheMisses);
        s.insert(Signal::BranchesMispredicted);
        demand.replace(s, false, Records::None);
        follower.renew(&demand);
        for bytes in [2048u64, 48 << 10, 512 << 10, 8 << 20] {
            let lines = bytes / 64;
            let t = std::time::Instant::now();
            let n = 2_000_000u64;
            for step in 0..n {
                let a = [load(0x100_0000 + step * 17 % lines * 64)];
                follower.execute(&accessing(&a), &mut Untranslated(12));
                follower.deliver(&thread, &[], || {});
            }
            std::println!("{name} {bytes}: {:.1} ns", t.elapsed().as_nanos() as f64 / n as f64);
        }
        let t = std::time::Instant::now();
        let n = 5_000_000u64;
        for step in 0..n {
            let i = Instruction {
                address: 0x40_0000,
                physical: 0x40_0000,
                length: 4,
                transfer: Some(Transfer { kind: BranchKind::Conditional, taken: step % 3 == 0, target: 0x40_0000 }),
                ..Instruction::default()
            };
            follower.execute(&i, &mut Untranslated(12));
            if step % 8 == 0 {
                follower.deliver(&thread, &[], || {});
            }
        }
        std::println!("{name} branch: {:.1} ns", t.elapsed().as_nanos() as f64 / n as f64);
        let t = std::time::Instant::now();
        for step in 0..n {
            let i = Instruction { address: 0x40_0000 + step % 2, physical: 0x40_0000, length: 4, ..Instruction::default() };
            follower.execute(&i, &mut Untranslated(12));
            if step % 8 == 0 {
                follower.deliver(&thread, &[], || {});
            }
        }
        std::println!("{name} none: {:.1} ns", t.elapsed().as_nanos() as f64 / n as f64);
    }
}
