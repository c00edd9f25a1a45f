//! Montecito's catalogue against counts made by hand from the manual.

extern crate std;
use std::collections::BTreeSet;
use std::vec::Vec;

use super::*;

fn masks() -> impl Iterator<Item = &'static Entry> {
    MONTECITO.entries.iter().filter(|entry| entry.umask.is_some())
}

fn named(name: &str) -> &'static Entry {
    MONTECITO.entries.iter().find(|entry| entry.name == name).expect("the manual has it")
}

/// The events of which `is` holds.
fn count(is: impl Fn(&Entry) -> bool) -> usize {
    MONTECITO.events().filter(|event| is(event)).count()
}

/// The names of the unit masks that a counter with this selection counts.
fn chosen(select: u32, umask: u32) -> Vec<&'static str> {
    let (event, masks) = MONTECITO.select(select).expect("the manual has it");
    masks.iter().filter(|mask| mask.is_chosen_by(umask, event.shape)).filter_map(Entry::mask_name).collect()
}

fn signals(name: &str) -> Vec<Signal> {
    let mut signals = named(name).signals.to_vec();
    signals.sort_unstable();
    signals
}

#[test]
fn it_has_the_rows_of_table_4_42() {
    assert_eq!(MONTECITO.events().count(), 171);
    let codes: BTreeSet<u32> = MONTECITO.events().map(|event| event.select).collect();
    assert_eq!(codes.len(), 170, "two rows have code 0x08");
    assert_eq!(MONTECITO.encodings.rows.len(), 171, "and one has two codes");
}

#[test]
fn it_has_every_unit_mask_that_counts_something() {
    assert_eq!(masks().count(), 510);
    let tables = ["L2I_READS", "L2I_UC_READS", "L2I_RECIRCULATES", "L2I_L3_REJECTS", "L2I_HIT_CONFLICTS"];
    let without_letter = masks().filter(|mask| tables.contains(&mask.event_name())).count();
    assert_eq!(without_letter, 45);
    assert_eq!(masks().count() - without_letter + 2, 467, "with the two that mean nothing");
}

#[test]
fn a_code_that_two_events_share_finds_the_one_with_every_channel() {
    assert_eq!(MONTECITO.select(0x08).map(|(event, _)| event.name), Some("IA64_TAGGED_INST_RETIRED"));
    let plain = MONTECITO.event_named("IA64_INST_RETIRED").expect("the manual has it");
    assert_eq!(plain.select, 0x08);
    assert!(MONTECITO.masks(plain).iter().map(|mask| mask.name).eq(["IA64_INST_RETIRED.THIS"]));
}

#[test]
fn an_event_with_two_codes_is_found_by_both() {
    for code in [0xE1, 0xE3] {
        assert_eq!(MONTECITO.select(code).map(|(event, _)| event.name), Some("L2D_OZQ_FULL"));
        assert_eq!(MONTECITO.first_select(code), 0xE1);
    }
}

#[test]
fn codes_that_the_table_leaves_out_are_no_events() {
    for code in [0x07, 0x0A, 0x14, 0x85, 0xE7, 0xFF] {
        assert!(MONTECITO.select(code).is_none(), "{code:#x}");
    }
}

#[test]
fn bits_that_do_not_matter_are_ignored() {
    for umask in [0b0001, 0b0101, 0b1001, 0b1101] {
        assert_eq!(chosen(0x58, umask), ["INT"]);
    }
    assert_eq!(chosen(0xEA, 0b0010), ["RECIRC"]);
    assert_eq!(chosen(0xEA, 0b0100), ["TAG_NOTOK"]);
    assert_eq!(chosen(0xF2, 0b1110), ["P"]);
    assert_eq!(chosen(0xAF, 0b1111), ["ALL.SELF"]);
}

#[test]
fn unit_masks_that_count_nothing_choose_nothing() {
    assert!(chosen(0x58, 0b1100).is_empty());
    assert!(chosen(0x78, 0b0100).is_empty(), "HIT.NONE");
    assert!(chosen(0x72, 0b0101).is_empty(), "IBFULL of BE_LOST_BW_DUE_TO_FE");
    assert_eq!(chosen(0x70, 0b0101), ["IBFULL"]);
}

#[test]
fn both_cases_that_the_manual_prints_twice_count() {
    assert_eq!(chosen(0x0F, 0b1010), ["GTE_4096"]);
    assert_eq!(chosen(0x73, 0b1101), ["BUBBLE"]);
}

#[test]
fn causes_of_syllables_not_dispersed_are_a_set() {
    assert_eq!(named("SYLL_NOT_DISPERSED").shape, UnitMask::Set);
    assert_eq!(chosen(0x4E, 0b0101), ["EXPL", "FE"]);
    assert_eq!(chosen(0x4E, 0b1111), ["EXPL", "IMPL", "FE", "MLX", "ALL"]);
}

#[test]
fn a_change_of_level_counts_once_for_both_its_levels() {
    let shape = named("CPU_CPL_CHANGES").shape;
    assert_eq!(shape, UnitMask::Union);
    assert!(shape.admits(0b0001, 0b1001), "from 3 to 0, seen at 0");
    assert!(!shape.admits(0b0010, 0b1001));
    assert_eq!(named("CPU_CPL_CHANGES.LVL2").drive, Drive::Internal(Internal::PrivilegeChange(0b0100)));
}

#[test]
fn types_are_those_of_the_pages() {
    let of = |kind| count(|event| event.attribution == kind);
    assert_eq!(of(Attribution::Active), 76);
    assert_eq!(of(Attribution::Causal), 33);
    assert_eq!(of(Attribution::Floating), 41 + 2, "with the two that have no page");
    assert_eq!(of(Attribution::SelfFloating), 19);
}

#[test]
fn what_the_own_core_began_floats() {
    assert_eq!(named("BUS_IO.SELF").attribution, Attribution::Floating);
    assert_eq!(named("BUS_IO.EITHER").attribution, Attribution::Causal);
    assert_eq!(named("SI_RQ_LIVE_REQ_HI.SELF").attribution, Attribution::Causal);
    let initiators =
        ["BUS_MEMORY.ALL.SELF", "BUS_MEMORY.ALL.EITHER", "BUS_MEMORY.ALL.IO", "BUS_MEMORY.ALL.ANY"].map(|name| named(name).initiator);
    assert_eq!(initiators, [Initiator::Own, Initiator::Either, Initiator::Other, Initiator::Any]);
}

#[test]
fn qualifiers_are_those_of_the_pages() {
    let of = |bits: u8| count(|event| event.qualifiers.bits() == bits);
    assert_eq!(of(0b000), 89 + 1);
    assert_eq!(of(0b111), 39 + 1);
    assert_eq!(of(0b001), 28);
    assert_eq!(of(0b101), 12);
    assert_eq!(of(0b011), 1);
}

#[test]
fn all_cycles_are_constrained_by_nothing() {
    assert_eq!(named("CPU_OP_CYCLES.ALL").qualifiers.bits(), 0b000);
    assert_eq!(named("CPU_OP_CYCLES.QUAL").qualifiers.bits(), 0b101);
}

#[test]
fn prefetches_are_constrained_by_the_second_range() {
    assert_eq!(count(|event| event.channel == Channel::Prefetch), 10);
    assert_eq!(count(|event| event.channel == Channel::Request), 4);
    assert_eq!(named("L2I_SNOOP_HITS").channel, Channel::Demand);
}

#[test]
fn increments_in_a_cycle_are_those_of_the_pages() {
    assert_eq!(count(|event| event.max_per_cycle == 1), 99 + 2);
    assert_eq!(MONTECITO.entries.iter().map(|entry| entry.max_per_cycle).max(), Some(7));
    for (name, most) in [("IA64_INST_RETIRED", 6), ("SI_IOQ_LIVE_REQ_LO", 3), ("L2D_BYPASS", 4), ("CPU_OP_CYCLES_HALTED", 1)] {
        assert_eq!(named(name).max_per_cycle, most, "{name}");
    }
}

#[test]
fn events_of_queues_and_buses_are_for_the_first_six_counters() {
    for event in MONTECITO.events() {
        let expected = match event.select {
            0x18 => 1 << 10,
            // L2D_MISSES, of the second-level data cache as the codes Ex and Fx are (section 4.8.4).
            0xCB => 0x03F0,
            code if [0x8, 0x9, 0xA, 0xB, 0xE, 0xF].contains(&(code >> 4)) => 0x03F0,
            _ => 0xFFF0,
        };
        assert_eq!(event.counters, expected, "{}", event.name);
        assert!(MONTECITO.masks(event).iter().all(|mask| mask.counters == expected));
    }
}

#[test]
fn sets_are_those_of_sections_4_8_2_and_4_8_4() {
    let l1d = [0, 1, 2, 3, 4, 5, 6].map(|set| count(|event| event.set == CounterSet::L1Data(set)));
    assert_eq!(l1d, [4, 3, 1, 3, 3, 0, 2]);
    let l2d = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|set| count(|event| event.set == CounterSet::L2Data(set)));
    assert_eq!(l2d, [3, 2, 1, 2, 2, 2, 1, 2, 2]);
    for free in ["L2D_MISSES", "L2D_INSERT_HITS", "L2D_INSERT_MISSES", "DATA_EAR_EVENTS"] {
        assert_eq!(named(free).set, CounterSet::None, "{free}");
    }
}

#[test]
fn some_events_count_for_both_threads_always_and_some_never() {
    let of = |all| MONTECITO.entries.iter().filter(move |entry| entry.all_threads == all);
    assert_eq!(of(AllThreads::Always).count(), 8);
    assert!(of(AllThreads::Always).all(|entry| entry.name.starts_with("ER_")));
    assert_eq!(count(|event| event.all_threads == AllThreads::Never), 5);
    let forced = MONTECITO.masks(named("L2D_FORCE_RECIRC")).iter().filter(|mask| mask.all_threads == AllThreads::Never);
    assert!(forced.filter_map(|mask| mask.umask).eq([0b0100, 0b0101, 0b0110, 0b0111]));
    assert_eq!(named("L2D_BYPASS.L2_DATA2").all_threads, AllThreads::Never);
    assert_eq!(named("L2D_BYPASS.L3_DATA1").all_threads, AllThreads::Chosen);
}

#[test]
fn four_events_of_the_third_level_look_at_line_states() {
    assert!(MONTECITO.events().filter(|event| event.by_line_state).map(|event| event.select).eq([0xDA, 0xDD, 0xDE, 0xDF]));
}

/// That the unit mask `WHOLE` of `event` is driven by what drives its `parts`.
fn assert_sum(event: &str, whole: &str, parts: &[&str]) {
    let mut sum: Vec<Signal> = parts.iter().flat_map(|part| signals(&std::format!("{event}.{part}"))).collect();
    sum.sort_unstable();
    assert_eq!(signals(&std::format!("{event}.{whole}")), sum, "{event}.{whole}");
}

#[test]
fn hits_and_misses_are_all_accesses() {
    for (event, groups) in
        [("L3_READS", ["DINST_FETCH", "INST_FETCH", "DATA_READ", "ALL"].as_slice()), ("L3_WRITES", &["DATA_WRITE", "L2_WB", "ALL"])]
    {
        for group in groups {
            let [all, hits, misses] = ["ALL", "HIT", "MISS"].map(|kind| std::format!("{group}.{kind}"));
            assert_sum(event, &all, &[&hits, &misses]);
        }
    }
    assert_sum("L2I_READS", "ALL.ALL", &["HIT.ALL", "MISS.ALL"]);
}

#[test]
fn demand_and_prefetch_are_all_fetches() {
    for group in ["HIT", "MISS", "ALL"] {
        let [all, demand, prefetch] = ["ALL", "DMND", "PFTCH"].map(|kind| std::format!("{group}.{kind}"));
        assert_sum("L2I_READS", &all, &[&demand, &prefetch]);
    }
}

#[test]
fn integer_and_floating_point_are_all_checks() {
    for event in ["INST_CHKA_LDC_ALAT", "INST_FAILED_CHKA_LDC_ALAT", "INST_FAILED_CHKS_RETIRED"] {
        assert_sum(event, "ALL", &["INT", "FP"]);
    }
}

#[test]
fn kinds_of_transactions_are_all_of_memory() {
    for who in ["EITHER", "IO", "SELF", "ANY"] {
        let [all, full, part] = ["ALL", "EQ_128BYTE", "LT_128BYTE"].map(|kind| std::format!("{kind}.{who}"));
        assert_sum("BUS_MEMORY", &all, &[&full, &part]);
        let [all, invalidate, read, own] = ["ALL", "BIL", "BRL", "BRIL"].map(|kind| std::format!("{kind}.{who}"));
        assert_sum("BUS_MEM_READ", &all, &[&invalidate, &read, &own]);
    }
}

#[test]
fn every_bubble_of_the_back_end_has_one_cause() {
    let causes = ["BACK_END_BUBBLE.FE", "BE_RSE_BUBBLE.ALL", "BE_EXE_BUBBLE.ALL", "BE_L1D_FPU_BUBBLE.ALL", "BE_FLUSH_BUBBLE.ALL"];
    let mut sum: Vec<Signal> = causes.into_iter().flat_map(signals).collect();
    sum.sort_unstable();
    assert_eq!(signals("BACK_END_BUBBLE.ALL"), sum);
}

#[test]
fn branches_of_all_types_are_the_sum_of_the_types() {
    for (event, outcomes) in [
        ("BR_PATH_PRED", ["MISPRED_NOTTAKEN", "MISPRED_TAKEN", "OKPRED_NOTTAKEN", "OKPRED_TAKEN"].as_slice()),
        ("BR_MISPRED_DETAIL", &["CORRECT_PRED", "WRONG_PATH", "WRONG_TARGET"]),
    ] {
        for outcome in outcomes {
            let [all, relative, back, indirect] = ["ALL", "IPREL", "RETURN", "NRETIND"].map(|kind| std::format!("{kind}.{outcome}"));
            assert_sum(event, &all, &[&relative, &back, &indirect]);
        }
    }
}

#[test]
fn branches_of_a_type_are_the_sum_of_what_came_of_them() {
    for kind in ["IPREL", "RETURN", "NRETIND"] {
        let [all, correct, path, target] =
            ["ALL_PRED", "CORRECT_PRED", "WRONG_PATH", "WRONG_TARGET"].map(|outcome| std::format!("{kind}.{outcome}"));
        assert_sum("BR_MISPRED_DETAIL", &all, &[&correct, &path, &target]);
    }
}

#[test]
fn the_model_makes_what_it_captures_and_is_told() {
    for (name, internal) in [
        ("DATA_EAR_EVENTS", Internal::DataAddressCapture),
        ("L1I_EAR_EVENTS", Internal::InstructionAddressCapture),
        ("ETB_EVENT", Internal::TraceEntry),
        ("IA64_TAGGED_INST_RETIRED.IBRP3_PMC34_35", Internal::TaggedInstructions(3)),
        ("CPU_OP_CYCLES.QUAL", Internal::QualifiedCycles),
    ] {
        assert_eq!(named(name).drive, Drive::Internal(internal), "{name}");
    }
    assert_eq!(named("THREAD_SWITCH_EVENTS.MISSED").fidelity, Fidelity::Injected);
}

#[test]
fn names_of_the_tables_find_what_the_pages_call_otherwise() {
    for (table, page) in
        [("BRANCH_EVENT", "ETB_EVENT"), ("BUS_RD_INVAL_ALL_HITM", "BUS_RD_INVALID_BST_HITM"), ("CYCLES_HALTED", "CPU_OP_CYCLES_HALTED")]
    {
        assert_eq!(MONTECITO.event_named(table).map(|event| event.name), Some(page));
    }
}
