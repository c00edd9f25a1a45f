//! Rules that the known answers of the notes do not cover, and properties of every stream.

use super::*;
use crate::pipeline::montecito::front::IDLE_STATES;
use crate::pipeline::montecito::memory::DetDemand;
use crate::pipeline::montecito::signals::{FETCH_LOST, SUPPLY_LOST};

#[test]
fn a_write_of_a_register_that_a_load_has_not_brought_waits() {
    // PM14: as for a read.
    let mut bench = Bench::new();
    bench.first(load(R4, &[], missed(0x1000, 14, Source::Third)));
    bench.first(add(R4, &[]));
    let answer = bench.finish();
    answer.expect(2 + 13, 2);
    assert_eq!(answer.state(MontecitoState::General), 13);
}

#[test]
fn a_parallel_result_as_an_address_empties_the_pipeline() {
    // PM12: eight clocks between them, six of which are the flush.
    let mut bench = Bench::new();
    bench.first(Slot { writes: R4, ..plain(PADD) });
    bench.first(load(R5, R4, touch(0x1000, AccessKind::Load)));
    let answer = bench.finish();
    answer.expect(9, 2);
    assert_eq!((answer.state(MontecitoState::FlushException), answer.state(MontecitoState::GeneralNoLoad)), (6, 1));
}

#[test]
fn an_access_behind_an_acquiring_load_waits_for_its_data() {
    // PM19: the data arrive 14 clocks after execution; the store is in DET two clocks after it.
    let mut bench = Bench::new();
    bench.first(Slot { word: LD8_ACQUIRE, ..load(R4, &[], missed(0x1000, 14, Source::Third)) });
    bench.first(store(0x2000));
    let answer = bench.finish();
    answer.expect(2 + 12, 2);
    assert_eq!(answer.state(MontecitoState::Ordering), 12);
}

#[test]
fn a_fill_waits_for_the_spill_of_its_bit() {
    // PM20: the next group would be in DET a clock later; five are between them.
    let mut bench = Bench::new();
    bench.first(Slot { word: ST8_SPILL, ..store(0x1000) });
    bench.first(Slot { word: LD8_FILL, ..load(R4, &[], touch(0x1000, AccessKind::Load)) });
    let answer = bench.finish();
    answer.expect(2 + 4, 2);
    assert_eq!(answer.state(MontecitoState::CollectedNat), 4);
}

#[test]
fn a_serialization_of_data_waits_for_the_registers_before_it() {
    // PM21: it is in DET two clocks after the move executed, so ten are left of twelve.
    let mut bench = Bench::new();
    bench.first(Slot { class: Class::System, writes: &[Register(APPLICATION + 32)], ..plain(MOVE_CCV) });
    bench.first(Slot { class: Class::Fence, ..plain(SRLZ_D) });
    let answer = bench.finish();
    answer.expect(2 + 10, 2);
    assert_eq!(answer.state(MontecitoState::Serialization), 10);
}

#[test]
fn an_alloc_waits_for_a_write_of_the_stack_configuration() {
    // PM26: the move executes three clocks after dispersal, `alloc` is in REN two after it: thirteen are left.
    let mut bench = Bench::new();
    bench.first(Slot { class: Class::System, writes: &[Register(APPLICATION + 16)], ..plain(MOVE_RSC) });
    bench.first(Slot { class: Class::System, writes: &[Register(40)], ..plain(ALLOC) });
    let answer = bench.finish();
    answer.expect(2 + 13, 2);
    assert_eq!(answer.state(MontecitoState::StackRegister), 13);
}

#[test]
fn a_switch_of_banks_takes_six_clocks() {
    // PM27
    let mut bench = Bench::new();
    bench.branch(MIB | STOP, BSW, Continuation::Sequential);
    bench.w(5);
    let answer = bench.finish();
    answer.expect(6 + 5, 6);
    assert_eq!(answer.state(MontecitoState::Bank), 5);
}

#[test]
fn an_instruction_elsewhere_without_a_branch_empties_the_pipeline() {
    let mut bench = Bench::new();
    bench.w(3);
    bench.address = 0x9000;
    bench.w(1);
    let answer = bench.finish();
    answer.expect(4 + 15, 4);
    assert_eq!(answer.state(MontecitoState::FlushException), 15);
}

#[test]
fn every_clock_has_one_reason_and_every_slot_one_place() {
    for seed in 0..20 {
        let mut bench = Bench::new();
        random(&mut bench, &mut { seed }, 2_000);
        let answer = bench.finish();
        answer.expect(answer.cycles(), answer.state(MontecitoState::Completion));
        let stalls = [MontecitoState::Memory, MontecitoState::Execution, MontecitoState::RegisterStack]
            .map(|state| answer.state(state))
            .iter()
            .sum::<u64>();
        let flushes = answer.state(MontecitoState::FlushBranch) + answer.state(MontecitoState::FlushException);
        assert_eq!(answer.state(MontecitoState::DispersalStall), stalls + flushes);
        assert!(
            answer.state(MontecitoState::General) <= answer.state(MontecitoState::Execution) && answer.state(MontecitoState::General) > 0
        );
        assert_eq!(answer.state(MontecitoState::DataCache), answer.state(MontecitoState::Memory));
    }
}

#[test]
fn the_parts_of_each_wait_make_up_the_whole() {
    // Section 4.6: within a family several reasons may hold in a clock, and none lasts longer than the family.
    for seed in 0..20 {
        let mut bench = Bench::new();
        random(&mut bench, &mut { seed }, 2_000);
        let answer = bench.finish();
        let of = |states: &[MontecitoState]| states.iter().map(|state| answer.state(*state)).sum::<u64>();
        let execution = answer.state(MontecitoState::Execution);
        let registers = [MontecitoState::General, MontecitoState::Floating, MontecitoState::SpecialOrPredicates];
        assert!(registers.iter().all(|state| answer.state(*state) <= execution) && of(&registers) >= execution);
        assert!(of(&[MontecitoState::GeneralNoLoad]) <= of(&[MontecitoState::General]));
        let either = of(&[MontecitoState::SpecialOrPredicates]);
        assert!(
            of(&[MontecitoState::Special]).max(of(&[MontecitoState::Predicates])) <= either
                && either <= of(&[MontecitoState::Special, MontecitoState::Predicates])
        );
        let cache = DetDemand::REASONS.map(|reason| answer.state(reason));
        let memory = answer.state(MontecitoState::Memory);
        assert!(cache.iter().all(|clocks| *clocks <= memory) && cache.iter().sum::<u64>() >= memory && memory > 0);
        let stack = [MontecitoState::StackRegister, MontecitoState::Spill, MontecitoState::Fill, MontecitoState::StackLoad];
        assert!(
            of(&stack) <= of(&[MontecitoState::RegisterStack])
                && of(&[MontecitoState::RegisterStack]) <= of(&stack) + of(&[MontecitoState::Bank])
        );
    }
}

#[test]
fn a_clock_without_a_bundle_loses_two() {
    // PM37 and PM38 for each cause; PM39: a lack in clocks without a stall is at most the lack in all clocks.
    for seed in 0..20 {
        let mut bench = Bench::new();
        random(&mut bench, &mut { seed }, 2_000);
        let answer = bench.finish();
        for (state, signal) in IDLE_STATES.into_iter().zip(FETCH_LOST) {
            assert_eq!(answer.event(signal), 2 * answer.state(state), "{}", signal.name());
        }
        let idle = IDLE_STATES.iter().map(|state| answer.state(*state)).sum::<u64>();
        assert!(0 < idle && idle < answer.cycles());
        let [without, ideal] = SUPPLY_LOST;
        for (without, ideal) in without.into_iter().flatten().zip(ideal.into_iter().flatten()) {
            assert!(answer.event(without) <= answer.event(ideal), "{}", ideal.name());
        }
    }
}

#[test]
fn restored_it_goes_on_as_if_nothing_had_been() {
    let run = |restore: bool| {
        let (mut bench, mut state) = (Bench::new(), 7);
        random(&mut bench, &mut state, 500);
        bench.core.track.clear();
        if restore {
            let mut writer = Writer::default();
            bench.core.save(&mut writer);
            let mut core = MontecitoPipeline::new();
            core.load(&mut Reader(&writer.0)).unwrap();
            bench.core = core;
        }
        random(&mut bench, &mut state, 500);
        let answer = bench.finish();
        (answer.states, answer.events)
    };
    assert!(run(false) == run(true));
}

#[test]
fn an_operation_that_may_trap_is_waited_for_two_clocks_in_det() {
    let mut bench = Bench::new();
    bench.w(10);
    bench.bundle(MFI | STOP, [plain(NOP), Slot { may_trap: true, ..plain(FMA) }, plain(NOP)]);
    bench.w(10);
    let answer = bench.finish();
    answer.expect(23, 21);
    assert_eq!(
        (answer.state(MontecitoState::Memory), answer.state(MontecitoState::FloatingPoint), answer.state(MontecitoState::DataCache)),
        (2, 2, 0)
    );
}

#[test]
fn waits_for_the_floating_point_unit_and_for_the_cache_hide_each_other() {
    let mut bench = Bench::new();
    bench.w(10);
    bench.bundle(MFI | STOP, [load(R4, &[], translated(4, false)), Slot { may_trap: true, ..plain(FMA) }, plain(NOP)]);
    bench.w(10);
    let answer = bench.finish();
    answer.expect(25, 21);
    assert_eq!(
        (answer.state(MontecitoState::Memory), answer.state(MontecitoState::FloatingPoint), answer.state(MontecitoState::DataCache)),
        (4, 2, 4)
    );
}
