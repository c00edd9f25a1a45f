//! Rules that the known answers of the notes do not cover, and properties of every stream.

use super::*;

#[test]
fn mmf_stands_alone() {
    // PI10: before and after it. The four groups are MFI, MMF, MMF and MFI; only the last ends with a stop.
    let mut bench = Bench::new();
    bench.bundle(MFI, [plain(NOP); 3]);
    bench.bundle(MMF, [plain(NOP); 3]);
    bench.bundle(MMF, [plain(NOP); 3]);
    bench.bundle(MFI | STOP, [plain(NOP); 3]);
    let answer = bench.finish();
    answer.expect(4, [1, 3, 0, 0]);
    assert_eq!(answer.stops(), [1, 4]);
}

#[test]
fn bundles_of_branches_come_behind_no_mib() {
    // PI10: a BBB after an MIB is split from it, even if the MIB has a nop in its B slot; after an MFI it is not.
    for (first, last, clocks) in [(MIB, NOP_B, 2), (MFI, NOP, 1)] {
        let mut bench = Bench::new();
        bench.bundle(first, [plain(NOP), plain(NOP), plain(last)]);
        bench.bundle(BBB | STOP, [plain(NOP_B); 3]);
        bench.finish().expect(clocks, [1, clocks - 1, 0, 0]);
    }
}

#[test]
fn some_instructions_have_one_port() {
    // PI11: an extraction goes to I0, and the last slot of the second bundle is I1. A move of AR in an M slot goes to M0.
    for (first, second, clocks) in [
        ([plain(NOP), plain(NOP), plain(NOP)], [plain(NOP), plain(NOP), plain(EXTRACT)], 2),
        ([plain(NOP), plain(NOP), plain(EXTRACT)], [plain(NOP), plain(NOP), plain(NOP)], 1),
        ([plain(NOP), plain(NOP), plain(NOP)], [plain(MOVE_CCV), plain(NOP), plain(NOP)], 2),
        ([plain(MOVE_CCV), plain(NOP), plain(NOP)], [plain(NOP), plain(NOP), plain(NOP)], 1),
        // fcmp goes to F0, which belongs to the first bundle.
        ([plain(NOP), plain(NOP), plain(NOP)], [plain(NOP), plain(FCMP), plain(NOP)], 2),
        ([plain(NOP), plain(FCMP), plain(NOP)], [plain(NOP), plain(NOP), plain(NOP)], 1),
    ] {
        let mut bench = Bench::new();
        bench.bundle(MFI, first);
        bench.bundle(MFI | STOP, second);
        let answer = bench.finish();
        answer.expect(clocks, [1, clocks - 1, 0, 0]);
    }
}

#[test]
fn the_end_of_the_window_is_no_want_of_units() {
    // PI12: three bundles without a stop between them are two groups, and none was delayed.
    let mut bench = Bench::new();
    bench.bundle(MFI, [plain(NOP); 3]);
    bench.bundle(MFI, [plain(NOP); 3]);
    bench.bundle(MFI | STOP, [plain(NOP); 3]);
    let answer = bench.finish();
    answer.expect(2, [2, 0, 0, 0]);
    assert_eq!(answer.stops(), [1, 1]);
}

#[test]
fn an_address_from_an_integer_slot_is_a_clock_later() {
    // I1: the next group can use the result of an M slot; the result of an I slot, or of logic anywhere, only the one after that.
    for (template, slots, lost) in [
        (MMI, [add(R4, &[]), plain(NOP), plain(NOP)], 0),
        (MMI, [plain(NOP), plain(NOP), add(R4, &[])], 1),
        (MMI, [Slot { writes: R4, ..plain(ADD | 3 << 29) }, plain(NOP), plain(NOP)], 1),
    ] {
        let mut bench = Bench::new();
        bench.bundle(template | STOP, slots);
        bench.first(load(R5, R4, touch(0x1000, AccessKind::Load)));
        bench.finish().expect(2 + lost, [2, lost, 0, 0]);
    }
}

#[test]
fn a_multiplication_is_later_for_what_does_not_multiply() {
    // I1: five clocks to another multiplication, seven to a compare.
    let f8 = &[Register(FLOATING + 8)];
    for (word, lost) in [(FMA, 4), (FCMP, 6)] {
        let mut bench = Bench::new();
        bench.bundle(MFI | STOP, [plain(NOP), Slot { writes: f8, ..plain(FMA) }, plain(NOP)]);
        bench.bundle(MFI | STOP, [plain(NOP), Slot { reads: f8, ..plain(word) }, plain(NOP)]);
        bench.finish().expect(2 + lost, [2, lost, 0, 0]);
    }
}

#[test]
fn a_floating_point_load_passes_the_first_level_by() {
    // I1: nine clocks, one of which is the next group's own.
    let f8 = &[Register(FLOATING + 8)];
    let mut bench = Bench::new();
    bench.first(Slot { word: LDFD, ..load(f8, &[], touch(0x1000, AccessKind::Load)) });
    bench.bundle(MFI | STOP, [plain(NOP), Slot { reads: f8, ..plain(FMA) }, plain(NOP)]);
    bench.finish().expect(2 + 8, [2, 0, 8, 0]);
}

#[test]
fn a_load_of_what_is_being_stored_comes_from_the_second_level() {
    // PI17: six clocks, five of which the next group waits.
    let mut bench = Bench::new();
    bench.forwarding();
    bench.finish().expect(3 + 5, [3, 0, 5, 0]);
}

#[test]
fn a_store_waits_for_a_place_in_the_buffer() {
    // PI17: two stores arrive per clock and one leaves, the first six clocks after it executed. Store n leaves at 6 + n. The last two of
    // 100 groups are in DET in clock 100 and need stores 190 and 191 to be gone: at 197. The first of a pair finds its entry a clock
    // earlier.
    let mut bench = Bench::new();
    bench.stores();
    bench.finish().expect(197, [100, 0, 97, 0]);
}

#[test]
fn a_wait_for_a_load_hides_another() {
    // PI13: the sum waits 5 clocks for the load of the second level and 4 for the multiplication's integer; all of them count for the load.
    let f8 = &[Register(FLOATING + 8)];
    let mut bench = Bench::new();
    bench.bundle(MFI | STOP, [load(R4, &[], missed(0x1000, 6, Source::Second)), Slot { writes: f8, ..plain(FMA) }, plain(NOP)]);
    bench.bundle(MFI | STOP, [add(R5, R4), Slot { reads: f8, ..plain(FMA) }, plain(NOP)]);
    bench.finish().expect(2 + 5, [2, 0, 5, 0]);
    // Of the seven clocks that a compare waits, five count for the load.
    let mut bench = Bench::new();
    bench.bundle(MFI | STOP, [load(R4, &[], missed(0x1000, 6, Source::Second)), Slot { writes: f8, ..plain(FMA) }, plain(NOP)]);
    bench.bundle(MFI | STOP, [add(R5, R4), Slot { reads: f8, ..plain(FCMP) }, plain(NOP)]);
    bench.finish().expect(2 + 6, [2, 1, 5, 0]);
}

#[test]
fn code_that_is_not_there_is_waited_for() {
    // PI26: waits for each cache level, for memory, and for a translation, with nothing buffered.
    for (line, code, translation, state, clocks) in [
        (4, Some(Source::Second), 0, ItaniumState::EmptySecond, 6),
        (19, Some(Source::Third), 0, ItaniumState::EmptyThird, 21),
        (178, Some(Source::Memory), 0, ItaniumState::EmptyMemory, 180),
        (0, None, 29, ItaniumState::EmptyTranslation, 29),
    ] {
        let mut bench = Bench::new();
        for number in 0..20 {
            if number == 10 {
                (bench.found.line, bench.found.code, bench.found.translation) = (line, code, translation);
            }
            bench.bundle(MFI, [plain(NOP); 3]);
            bench.bundle(MFI | STOP, [plain(NOP); 3]);
        }
        let answer = bench.finish();
        answer.expect(20 + clocks, [20 + clocks, 0, 0, 0]);
        assert_eq!(answer.state(state), clocks);
    }
}

#[test]
fn what_is_buffered_is_dispersed_while_code_is_waited_for() {
    // In the steady state seven bundles are buffered when the look-up misses. Its pair can be dispersed 22 clocks later; seven of these
    // clocks have groups.
    let mut bench = Bench::new();
    bench.w(30);
    (bench.found.line, bench.found.code) = (19, Some(Source::Third));
    bench.w(30);
    let answer = bench.finish();
    answer.expect(60 + 15, [60 + 15, 0, 0, 0]);
    assert_eq!(answer.state(ItaniumState::EmptyThird), 15);
}

#[test]
fn an_exception_empties_the_pipeline() {
    // PI20: `srlz.i`, after which its bundle restarts, and an unreported change of flow: twelve bubbles each.
    let mut bench = Bench::new();
    bench.w(3);
    bench.first(Slot { class: Class::Serializing, ..plain(NOP) });
    bench.w(3);
    bench.address = 0x9000;
    bench.w(3);
    let answer = bench.finish();
    answer.expect(11 + 24, [11, 0, 0, 24]);
    assert_eq!((answer.state(ItaniumState::FlushException), answer.event(Signal::FlushesOther)), (24, 2));
}

#[test]
fn a_walk_is_data_access() {
    // PI15: 23 clocks and six for its entry.
    let mut bench = Bench::new();
    bench.w(2);
    bench.first(load(&[Register(7)], &[], translated(29, true)));
    bench.first(add(R5, &[Register(7)]));
    bench.w(2);
    // The sum reaches EXE when the load is in DET, and would wait one more clock for its data: the walk hides it.
    bench.finish().expect(6 + 30, [6, 0, 30, 0]);
}

#[test]
fn a_move_of_bsp_takes_thirteen_clocks_and_of_ccv_six() {
    for (number, lost) in [(17, 12), (32, 5), (36, 5)] {
        let mut bench = Bench::new();
        let special = &[Register(APPLICATION + number)];
        let word = 1 << 37 | 0x22 << 27 | u64::from(number) << 20;
        bench.first(Slot { class: Class::System, reads: special, writes: R4, ..plain(word) });
        bench.first(add(R5, R4));
        bench.finish().expect(2 + lost, [2, lost, 0, 0]);
    }
}

#[test]
fn operations_count_by_what_they_do() {
    // Multiplication and addition, addition alone (f1 is a factor), multiplication alone (f0 is added), a pair, a compare, a conversion,
    // and a move.
    for (word, count) in [
        (FMA | 2 << 13 | 4 << 27, 2),
        (FMA | 2 << 13 | 1 << 27, 1),
        (FMA | 4 << 27, 1),
        (9 << 37 | 1 << 36 | 2 << 13, 4),
        (FCMP, 1),
        (0x18 << 27, 1),
        (0x10 << 27, 0),
    ] {
        let f8 = &[Register(FLOATING + 8)];
        let mut bench = Bench::new();
        bench.bundle(MFI | STOP, [plain(NOP), Slot { reads: f8, ..plain(word) }, plain(NOP)]);
        // Predicated off: it only reads its predicate.
        bench.bundle(MFI | STOP, [plain(NOP), Slot { reads: &[Register(PREDICATES + 6)], ..plain(word | 6) }, plain(NOP)]);
        let answer = bench.finish();
        let [low, high] = [Signal::FloatingPointOperationsLow, Signal::FloatingPointOperationsHigh].map(|signal| answer.event(signal));
        assert_eq!(low + 4 * high, count);
    }
}

#[test]
fn every_clock_has_one_reason_and_the_sums_add_up() {
    for seed in 0..20 {
        let mut bench = Bench::new();
        random(&mut bench, &mut { seed }, 2_000);
        // PI5, PI27: `finish` finds one reason for each clock; groups are inherent or limited.
        let answer = bench.finish();
        assert_eq!(answer.state(ItaniumState::Completion), answer.sum(&[ItaniumState::Inherent, ItaniumState::Limited]));
        let sums = [answer.unstalled(), answer.dependency(), answer.memory(), answer.flushes() + answer.state(ItaniumState::EmptyBubble)];
        assert_eq!(sums.iter().sum::<u64>(), answer.cycles());
        assert!(sums.iter().all(|sum| *sum > 0));
        // A group ends with a stop, or the window ends or execution continues elsewhere after it. Each limited group follows an implicit
        // stop.
        let [_, stops] = answer.stops();
        assert!(stops <= answer.state(ItaniumState::Completion));
        assert!(answer.state(ItaniumState::Limited) <= answer.event(Signal::ImplicitStopsDispersed));
    }
}

#[test]
fn restored_it_goes_on_as_if_nothing_had_been() {
    let run = |restore: bool| {
        let (mut bench, mut state) = (Bench::new(), 7);
        random(&mut bench, &mut state, 500);
        // Only the first runs of unreported clocks are saved.
        bench.core.track.clear();
        if restore {
            let mut writer = Writer::default();
            bench.core.save(&mut writer);
            let mut core = ItaniumPipeline::new();
            core.load(&mut Reader(&writer.0)).unwrap();
            bench.core = core;
        }
        random(&mut bench, &mut state, 500);
        let answer = bench.finish();
        (answer.states, answer.events)
    };
    assert!(run(false) == run(true));
}
