//! The known answers PM-K1 to PM-K22, PM-K26 and PM-K27 of `docs/notes/pipelines-ia64.md`, section M3: each is worked out there by hand.

use super::*;

#[test]
fn k1_a_chain_of_additions() {
    let run = |count| {
        let mut bench = Bench::new();
        bench.additions(count);
        bench.finish()
    };
    let answer = run(100);
    answer.expect(100, 100);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.slots()), (300, [300, 0, 0, 0]));
    // A hundred clocks more.
    let (first, second) = (run(200), run(300));
    assert_eq!(second.state(MontecitoState::IdleFull) - first.state(MontecitoState::IdleFull), 50);
    assert_eq!(second.event(Signal::FetchLostFullBundles) - first.event(Signal::FetchLostFullBundles), 100);
}

#[test]
fn k2_six_additions_a_clock() {
    let mut bench = Bench::new();
    bench.pairs(MMI, [plain(ADD); 3], [plain(ADD); 3]);
    let answer = bench.finish();
    answer.expect(100, 100);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.slots()), (600, [0; 4]));
}

#[test]
fn k3_more_loads_than_ports() {
    let mut bench = Bench::new();
    let each = load(&[], &[], touch(0x1000, AccessKind::Load));
    bench.pairs(MMI, [each, each, plain(NOP)], [each, each, plain(NOP)]);
    let answer = bench.finish();
    answer.expect(200, 200);
    assert_eq!((answer.slots(), answer.event(Signal::SlotsOvercounted)), ([300, 300, 0, 0], 0));
}

#[test]
fn k4_a_stop_inside_a_bundle() {
    let mut bench = Bench::new();
    for _ in 0..10 {
        bench.bundle(M_MI, [plain(ADD); 3]);
        bench.bundle(MFI | STOP, [plain(NOP); 3]);
    }
    let answer = bench.finish();
    answer.expect(20, 20);
    assert_eq!(answer.event(Signal::InstructionsDispersed), 60);
    assert_eq!((answer.slots(), answer.event(Signal::SlotsOvercountedStop)), ([60, 0, 0, 10], 10));
}

#[test]
fn k5_long_instructions() {
    let mut bench = Bench::new();
    for _ in 0..10 {
        bench.bundle(MLX, [plain(NOP), plain(MOVL), plain(0)]);
        bench.bundle(MMI | STOP, [plain(NOP); 3]);
    }
    let answer = bench.finish();
    answer.expect(10, 10);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.slots()), (50, [0, 0, 0, 10]));
}

#[test]
fn k6_a_branch_that_is_not_taken_splits() {
    let mut bench = Bench::new();
    for _ in 0..100 {
        bench.branch(MIB, BRANCH, Continuation::Sequential);
        bench.w(1);
    }
    let answer = bench.finish();
    answer.expect(200, 200);
    assert_eq!((answer.event(Signal::InstructionsDispersed), answer.slots()), (600, [300, 300, 0, 0]));
}

#[test]
fn k7_k8_a_chain_of_loads() {
    for (touch, cycles) in [(touch(0x1000, AccessKind::Load), 199), (missed(0x1000, 5, Source::Second), 595)] {
        let mut bench = Bench::new();
        bench.chain_of_loads(touch);
        let answer = bench.finish();
        answer.expect(cycles, 100);
        assert_eq!(answer.state(MontecitoState::Execution), cycles - 100);
        assert_eq!(answer.state(MontecitoState::General), cycles - 100);
        assert_eq!((answer.state(MontecitoState::GeneralNoLoad), answer.state(MontecitoState::DispersalStall)), (0, cycles - 100));
    }
}

#[test]
fn k9_groups_complete_under_a_miss() {
    let mut bench = Bench::new();
    bench.late_use(MEMORY);
    let answer = bench.finish();
    answer.expect(201, 12);
    assert_eq!(answer.state(MontecitoState::General), 189);
}

#[test]
fn k10_a_chain_of_multiplications() {
    let mut bench = Bench::new();
    bench.multiplications();
    let answer = bench.finish();
    answer.expect(397, 100);
    assert_eq!((answer.state(MontecitoState::Floating), answer.state(MontecitoState::General)), (297, 0));
}

#[test]
fn k11_a_division() {
    let mut bench = Bench::new();
    bench.division();
    let answer = bench.finish();
    answer.expect(30, 16);
    assert_eq!(answer.state(MontecitoState::Floating), 14);
}

#[test]
fn k12_a_mispredicted_branch() {
    let mut bench = Bench::new();
    bench.misprediction();
    let answer = bench.finish();
    answer.expect(27, 21);
    assert_eq!((answer.state(MontecitoState::FlushBranch), answer.state(MontecitoState::DispersalStall)), (6, 6));
    assert_eq!((answer.state(MontecitoState::IdleFlush), answer.event(Signal::FetchLostFlushBundles)), (1, 2));
    assert_eq!(answer.event(Signal::SupplyLostFlushBundles), 4);
    assert_eq!(answer.state(MontecitoState::Starved), 0);
}

#[test]
fn k13_a_mispredicted_branch_on_a_load() {
    let mut bench = Bench::new();
    bench.misprediction_on_a_load(5);
    let answer = bench.finish();
    answer.expect(32, 22);
    assert_eq!(
        (answer.state(MontecitoState::General), answer.state(MontecitoState::Predicates), answer.state(MontecitoState::FlushBranch)),
        (4, 0, 6)
    );
}

#[test]
fn k14_k16_a_translation_that_misses() {
    for (translation, walked, cycles, state) in [(4, false, 25, MontecitoState::Transfer), (25, true, 46, MontecitoState::Walk)] {
        let mut bench = Bench::new();
        bench.translation(translation, walked);
        let answer = bench.finish();
        answer.expect(cycles, 21);
        assert_eq!(
            [state, MontecitoState::DataCache, MontecitoState::Memory].map(|state| answer.state(state)),
            [u64::from(translation); 3]
        );
    }
}

#[test]
fn k15_a_late_stage_hides_an_earlier_one() {
    let mut bench = Bench::new();
    bench.w(10);
    bench.first(load(R4, &[], missed(0x1000, 5, Source::Second)));
    bench.first(load(&[Register(7)], &[], translated(4, false)));
    bench.first(add(R5, R4));
    bench.w(10);
    let answer = bench.finish();
    answer.expect(27, 23);
    assert_eq!(
        (answer.state(MontecitoState::Execution), answer.state(MontecitoState::General), answer.state(MontecitoState::Transfer)),
        (0, 0, 4)
    );
}

#[test]
fn k17_spills_of_an_alloc() {
    let mut bench = Bench::new();
    bench.spills();
    let answer = bench.finish();
    answer.expect(26, 21);
    assert_eq!((answer.state(MontecitoState::Spill), answer.state(MontecitoState::RegisterStack)), (5, 5));
}

#[test]
fn k18_a_counted_loop_of_one_pair() {
    let mut bench = Bench::new();
    for number in 0..50 {
        bench.address = 0x4000;
        bench.bundle(MFI, [plain(NOP); 3]);
        bench.branch(MIB, CLOOP, if number == 49 { Continuation::Sequential } else { Continuation::Taken });
    }
    bench.w(1);
    let answer = bench.finish();
    answer.expect(53, 51);
    assert_eq!((answer.state(MontecitoState::IdleLoop), answer.state(MontecitoState::Starved)), (2, 2));
    assert_eq!(answer.event(Signal::FetchLostLoopBundles), 4);
    // Three more for the last group, which ends with a stop.
    assert_eq!(answer.slots(), [3, 0, 12, 0]);
}

#[test]
fn k19_a_counted_loop_of_one_bundle() {
    let mut bench = Bench::new();
    for number in 0..50 {
        bench.address = 0x4000;
        bench.branch(MIB, CLOOP, if number == 49 { Continuation::Sequential } else { Continuation::Taken });
    }
    // The last is taken for a bundle without a successor: the next pair.
    bench.address = 0x4020;
    bench.core.course.leave();
    bench.bundle(MFI, [plain(NOP); 3]);
    bench.bundle(MFI | STOP, [plain(NOP); 3]);
    let answer = bench.finish();
    answer.expect(53, 51);
    assert_eq!(answer.event(Signal::FetchLostUnreachedBundles), 50);
    assert_eq!(answer.event(Signal::SupplyLostUnreachedBundles), 50);
    assert_eq!(answer.slots(), [0, 0, 150 + 12, 0]);
}

#[test]
fn k20_a_line_from_the_second_level() {
    let mut bench = Bench::new();
    for number in 0..60 {
        if number == 30 {
            (bench.found.line, bench.found.code) = (4, Some(Source::Second));
        }
        bench.bundle(MFI, [plain(NOP); 3]);
        bench.bundle(MFI, [plain(NOP); 3]);
    }
    let answer = bench.finish();
    answer.expect(68, 60);
    assert_eq!([MontecitoState::Starved, MontecitoState::IdleMiss, MontecitoState::IdleFill].map(|state| answer.state(state)), [8, 7, 1]);
    assert_eq!((answer.event(Signal::SupplyLostMissBundles), answer.event(Signal::SupplyLostFillBundles)), (14, 2));
    assert_eq!(answer.slots(), [0, 0, 48, 0]);
}

#[test]
fn k21_a_line_from_the_second_level_behind_a_full_buffer() {
    let mut bench = Bench::new();
    bench.w(30);
    (bench.found.line, bench.found.code) = (4, Some(Source::Second));
    bench.w(30);
    let answer = bench.finish();
    answer.expect(62, 60);
    assert_eq!([MontecitoState::Starved, MontecitoState::IdleMiss, MontecitoState::IdleFill].map(|state| answer.state(state)), [2, 7, 1]);
    assert_eq!(answer.slots(), [180, 0, 12, 0]);
}

#[test]
fn k22_a_load_of_what_is_being_stored() {
    let mut bench = Bench::new();
    bench.forwarding();
    bench.w(5);
    let answer = bench.finish();
    answer.expect(12, 8);
    assert_eq!(answer.state(MontecitoState::General), 4);
}

#[test]
fn k26_more_misses_than_places() {
    let mut bench = Bench::new();
    for number in 0..9 {
        bench.first(load(&[Register(10 + number)], &[], missed(0x1000 + 256 * u64::from(number), MEMORY, Source::Memory)));
    }
    let answer = bench.finish();
    answer.expect(200, 9);
    assert_eq!(answer.state(MontecitoState::FillBuffer), 191);
}

#[test]
fn k27_more_stores_than_places() {
    let mut bench = Bench::new();
    bench.stores();
    let answer = bench.finish();
    answer.expect(188, 100);
    assert_eq!(answer.state(MontecitoState::StoreBuffer), 88);
}
