//! The known answers B17 to B20 of `docs/notes/pipelines-x86.md`, part two, section 3, and other tests of threads that share a core.

use alloc::vec::Vec;

use super::{Bench, instruction};
use crate::instruction::{Class, Instruction, Operation, Register};
use crate::pipeline::sharing::{Sharing, Threads};
use crate::profile::Microarchitecture;

/// Runs steps 0 to `count` on each thread of a core; the thread that lags most always goes next.
fn compete(threads: usize, count: u16, step: impl Fn(&mut Bench, u16)) -> Vec<Bench> {
    let mut benches: Vec<_> = (0..threads as u64).map(|thread| (Bench { address: thread << 20, ..Bench::new() }, 0)).collect();
    let mut sharing = Sharing::new(Microarchitecture::Knl);
    // All begin in cycle 0.
    for thread in 0..threads {
        Threads::new(&mut sharing, thread, (1 << threads) - 1, 0, &mut 0);
    }
    let mut sharing = Some(sharing);
    let behind = |benches: &[(Bench, u16)]| {
        let open = (0..threads).filter(|thread| benches[*thread].1 < count);
        open.min_by_key(|thread| benches[*thread].0.core.now() + benches[*thread].0.offset)
    };
    while let Some(thread) = behind(&benches) {
        let (bench, done) = &mut benches[thread];
        bench.sharing = sharing.take().map(|sharing| (sharing, (1 << threads) - 1, thread));
        step(bench, *done);
        *done += 1;
        sharing = bench.sharing.take().map(|(sharing, ..)| sharing);
    }
    benches.into_iter().map(|(bench, _)| bench).collect()
}

#[test]
fn b17_chains_of_two_threads_do_not_meet() {
    let cycles: Vec<_> = compete(2, 20, |bench, _| bench.add(1, 1)).iter_mut().map(Bench::cycles).collect();
    assert_eq!(cycles, [23, 24]);
}

#[test]
fn b18_four_threads_take_turns_and_lost_cycles_are_no_stalls() {
    let mut benches = compete(4, 72, |bench, number| bench.add(10 + number % 80, 10 + number % 80));
    assert_eq!(benches.iter_mut().map(Bench::cycles).collect::<Vec<_>>(), [143, 144, 145, 146]);
    // Turns of other threads are not a reason either.
    benches.iter_mut().for_each(|bench| assert_eq!(bench.states_until(144), []));
}

/// Runs a load from MCDRAM first, then additions that do not need it.
fn load_first(bench: &mut Bench, number: u16) {
    if number == 0 { bench.load(1, true) } else { bench.add(10 + number % 80, 10 + number % 80) }
}

#[test]
fn b19_two_threads_have_half_of_the_window_each() {
    let mut benches = compete(2, 101, load_first);
    assert_eq!(benches.iter_mut().map(Bench::cycles).collect::<Vec<_>>(), [319, 320]);
    let states: Vec<_> = benches.iter_mut().map(|bench| bench.states_until(284)).collect();
    assert_eq!(states, [[("ROB_FULL", 183)], [("ROB_FULL", 184)]]);
}

#[test]
fn b20_four_threads_have_a_quarter_of_the_window_each() {
    let mut benches = compete(4, 41, load_first);
    assert_eq!(benches.iter_mut().map(Bench::cycles).collect::<Vec<_>>(), [299, 300, 301, 302]);
    let states: Vec<_> = benches.iter_mut().map(|bench| bench.states_until(264)).collect();
    assert_eq!(states, [183, 184, 185, 186].map(|cycles| [("ROB_FULL", cycles)]));
}

#[test]
fn a_thread_has_the_turns_of_one_that_waits_for_memory() {
    // Thread 1 waits for its load with a full window of 36 from 37 on, while the additions of thread 0 continue.
    let mut benches = compete(2, 150, |bench, number| {
        let waits = bench.sharing.as_ref().is_some_and(|(_, _, thread)| *thread == 1);
        if waits { load_first(bench, number) } else { bench.add(10 + number % 80, 10 + number % 80) }
    });
    // 38 additions in the even cycles up to 36, the other 112 in 37 to 92; the last two complete at 94.
    assert_eq!(benches[0].cycles(), 95);
}

#[test]
fn threads_that_load_a_line_on_its_way_get_it_together() {
    let mut benches = compete(2, 1, |bench, _| {
        bench.address = 0x4000;
        bench.load(1, true);
    });
    // Thread 1 requests one cycle later; its data arrive with those of thread 0, in cycle 217, in which it has the turn to complete.
    assert_eq!(benches.iter_mut().map(Bench::cycles).collect::<Vec<_>>(), [219, 218]);
}

#[test]
fn threads_share_the_divider() {
    let mut benches = compete(2, 1, |bench, _| {
        let operation = Operation { width: 4, reads: &[Register(210)], writes: &[Register(200)], ..Operation::default() };
        bench.run(&Instruction { floating_point: true, ..instruction(Class::FloatDivide, operation) });
    });
    // 1 and 18, with a latency of 27.
    assert_eq!(benches.iter_mut().map(Bench::cycles).collect::<Vec<_>>(), [29, 46]);
}
