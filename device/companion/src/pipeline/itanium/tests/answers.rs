//! The known answers PI-K1 to PI-K16 of `docs/notes/pipelines-ia64.md`, section I3: each is worked out there by hand. The predictions of
//! PI-K16's branches are in `device/src/companion/tests/bundles.rs`.

use super::*;

#[test]
fn k1_a_chain_of_additions() {
    let mut bench = Bench::new();
    bench.additions(100);
    let answer = bench.finish();
    answer.expect(100, [100, 0, 0, 0]);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.stops()), (300, [100, 100]));
}

#[test]
fn k2_more_additions_than_ports_of_memory() {
    let mut bench = Bench::new();
    bench.pairs(MMI, [plain(ADD); 3], [plain(ADD); 3]);
    let answer = bench.finish();
    answer.expect(200, [100, 100, 0, 0]);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.stops()), (600, [100, 200]));
    assert_eq!(answer.state(ItaniumState::Execution), 0);
}

#[test]
fn k3_six_instructions_a_clock() {
    let mut bench = Bench::new();
    bench.pairs(MFI, [plain(NOP); 3], [plain(NOP); 3]);
    let answer = bench.finish();
    answer.expect(100, [100, 0, 0, 0]);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.stops()), (600, [100, 100]));
}

#[test]
fn k4_a_chain_of_loads() {
    let mut bench = Bench::new();
    bench.chain_of_loads(touch(0x1000, AccessKind::Load));
    let answer = bench.finish();
    // An address is used three clocks later: two are lost, 99 times.
    answer.expect(298, [100, 0, 198, 0]);
    assert_eq!(answer.state(ItaniumState::Memory), 198);
}

#[test]
fn k5_groups_complete_under_a_miss() {
    let mut bench = Bench::new();
    bench.late_use(180);
    let answer = bench.finish();
    // The use is eleven groups later: 180 - 11.
    answer.expect(181, [12, 0, 169, 0]);
    assert_eq!(answer.state(ItaniumState::Memory), 169);
}

#[test]
fn k6_a_chain_of_multiplications() {
    let mut bench = Bench::new();
    bench.multiplications();
    let answer = bench.finish();
    answer.expect(496, [100, 396, 0, 0]);
    assert_eq!(answer.state(ItaniumState::Execution), 396);
}

#[test]
fn k7_a_division() {
    let mut bench = Bench::new();
    bench.division();
    let answer = bench.finish();
    // Sixteen groups; between two of the chain five clocks, two of them groups.
    answer.expect(37, [16, 21, 0, 0]);
    assert_eq!(answer.state(ItaniumState::Execution), 21);
}

#[test]
fn k8_a_mispredicted_branch() {
    let mut bench = Bench::new();
    bench.misprediction();
    let answer = bench.finish();
    answer.expect(30, [21, 0, 0, 9]);
    assert_eq!((answer.flushes(), answer.state(ItaniumState::FlushBranch)), (9, 9));
    assert_eq!((answer.event(Signal::FlushesOther), answer.event(Signal::FlushesBypass)), (1, 0));
}

#[test]
fn k9_a_mispredicted_branch_on_a_load() {
    let mut bench = Bench::new();
    bench.misprediction_on_a_load(6);
    let answer = bench.finish();
    // The compare waits 6 - 1 clocks; the branch takes its predicate in the same clock.
    answer.expect(36, [22, 0, 5, 9]);
    assert_eq!((answer.state(ItaniumState::Memory), answer.flushes()), (5, 9));
}

#[test]
fn k10_a_translation_that_misses() {
    let mut bench = Bench::new();
    bench.translation(10, false);
    let answer = bench.finish();
    answer.expect(31, [21, 0, 10, 0]);
    assert_eq!(answer.state(ItaniumState::Memory), 10);
}

#[test]
fn k11_a_parallel_result_that_another_unit_asks_for_too_soon() {
    let mut bench = Bench::new();
    bench.first(Slot { writes: R4, ..plain(PADD) });
    bench.w(1);
    bench.first(add(R5, R4));
    let answer = bench.finish();
    // Ten clocks between them instead of two.
    answer.expect(11, [3, 0, 0, 8]);
    assert_eq!((answer.flushes(), answer.event(Signal::FlushesBypass), answer.event(Signal::FlushesOther)), (8, 1, 0));
}

#[test]
fn k12_spills_of_an_alloc() {
    let mut bench = Bench::new();
    bench.spills();
    let answer = bench.finish();
    answer.expect(26, [21, 0, 5, 0]);
    assert_eq!((answer.state(ItaniumState::RegisterStack), answer.state(ItaniumState::Memory)), (5, 0));
}

/// Runs fifty iterations of a pair of bundles with a branch that continues as given, and a group after them.
fn loops(first: u8, continuation: Continuation) -> Answer {
    let mut bench = Bench::new();
    for _ in 0..50 {
        bench.address = 0x4000;
        bench.bundle(first, [plain(NOP); 3]);
        bench.branch(MIB | STOP, BRANCH, continuation);
    }
    bench.address = 0x4000;
    bench.w(1);
    bench.finish()
}

#[test]
fn k13_the_bubble_of_a_taken_branch() {
    loops(MFI, Continuation::Resteered(1)).expect(101, [51, 0, 0, 50]);
    let answer = loops(MFI, Continuation::Resteered(1));
    assert_eq!((answer.state(ItaniumState::EmptyBubble), answer.flushes()), (50, 0));
    // From a target address register.
    loops(MFI, Continuation::Taken).expect(51, [51, 0, 0, 0]);
}

#[test]
fn k14_two_groups_hide_the_bubble() {
    loops(MFI | STOP, Continuation::Resteered(1)).expect(101, [101, 0, 0, 0]);
}

#[test]
fn k15_four_operations_in_a_clock() {
    let (f8, f9) = (&[Register(FLOATING + 8)], &[Register(FLOATING + 9)]);
    // fma f8=f2,f3,f4 and fma f9=f2,f3,f4: two operations each.
    let word = FMA | 2 << 13 | 3 << 20 | 4 << 27;
    let mut bench = Bench::new();
    bench.bundle(MFI, [plain(NOP), Slot { writes: f8, ..plain(word) }, plain(NOP)]);
    bench.bundle(MFI | STOP, [plain(NOP), Slot { writes: f9, ..plain(word) }, plain(NOP)]);
    let answer = bench.finish();
    answer.expect(1, [1, 0, 0, 0]);
    let [low, high] = [Signal::FloatingPointOperationsLow, Signal::FloatingPointOperationsHigh].map(|signal| answer.event(signal));
    assert_eq!((low, high), (0, 1));
}

#[test]
fn k16_a_bundle_of_branches_is_one_group() {
    let mut bench = Bench::new();
    let taken = Slot { continuation: Continuation::Taken, ..plain(BRANCH) };
    bench.part(BBB, [plain(BRANCH), taken, plain(NOP_B)], 2);
    let answer = bench.finish();
    answer.expect(1, [1, 0, 0, 0]);
    // A taken branch is not a stop.
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.stops()), (2, [0, 0]));
}
