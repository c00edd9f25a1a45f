use vm_pmu::arch::event::{MONTECITO_METRICS, POWER9, POWER9_METRICS};
use vm_pmu::arch::power9::encode::{Options, RUN_CYCLES, RUN_INSTRUCTIONS};

use super::*;
use crate::dialect::codes_of;

fn metric(name: &'static str, formula: &'static str) -> Metric {
    Metric { name, categories: &[], table: "", unit: "ratio", formula, missing: &[], replaced: &[], given: &[], summary: "" }
}

fn power9(name: &str) -> &'static Metric {
    POWER9_METRICS.iter().find(|metric| metric.name == name).expect("the guide has it")
}

fn of(name: &str, counts: &[(&str, u64)]) -> Result<f64, NoValue> {
    let known = |name: &str| counts.iter().find(|(known, _)| *known == name).map(|(_, count)| *count as f64);
    evaluate(power9(name), POWER9_METRICS, &known)
}

fn shown_table(computed: &[Computed], width: usize) -> String {
    let mut bytes = Vec::new();
    let mut output = Output::new(&mut bytes);
    output.width = width;
    table(computed, &mut output).expect("memory takes it");
    String::from_utf8(bytes).expect("it is text")
}

#[test]
fn a_formula_is_computed_from_left_to_right_by_rank() {
    let known = |name: &str| match name {
        "PM_A" => Some(7.0),
        "PM_B" => Some(2.0),
        "PM_C" => Some(4.0),
        _ => None,
    };
    // 7 - 2 - 4, 7 - 8, 7 * 2 / 4, 7 / 2 * 4, (7 - 2) * 4, 100 * (7 + 2) / 4.
    for (formula, expected) in [
        ("PM_A - PM_B - PM_C", 1.0),
        ("PM_A - PM_B * PM_C", -1.0),
        ("PM_A * PM_B / PM_C", 3.5),
        ("PM_A / PM_B * PM_C", 14.0),
        ("(PM_A - PM_B) * PM_C", 20.0),
        ("100 * (PM_A + PM_B) / PM_C", 225.0),
        ("PM_A - PM_B + PM_C", 9.0),
    ] {
        assert_eq!(evaluate(&metric("M", formula), &[], &known), Ok(expected), "{formula}");
    }
}

#[test]
fn every_formula_of_the_guide_can_be_computed() {
    for metric in POWER9_METRICS {
        assert!(formula::is_formula(metric.formula), "{}: {}", metric.name, metric.formula);
    }
}

#[test]
fn every_formula_of_montecito_can_be_computed() {
    for metric in MONTECITO_METRICS {
        assert!(formula::is_formula(metric.formula), "{}: {}", metric.name, metric.formula);
    }
}

#[test]
fn a_formula_may_name_unit_masks() {
    let known = |name: &str| match name {
        "L3_READS.DATA_READ.MISS" => Some(3.0),
        "L3_WRITES.DATA_WRITE.MISS" => Some(2.0),
        "L3_READS.DATA_READ.ALL" => Some(12.0),
        "L3_WRITES.DATA_WRITE.ALL" => Some(8.0),
        _ => None,
    };
    let metric = MONTECITO_METRICS.iter().find(|metric| metric.name == "L3_DATA_MISS_RATIO").expect("the manual has it");
    assert_eq!(evaluate(metric, MONTECITO_METRICS, &known), Ok(0.25));
}

#[test]
fn names_that_begin_like_functions_and_constants_are_names() {
    for name in ["E", "E_E", "PI", "sin_", "max1", "L3_Pref_BW_est"] {
        let known = |asked: &str| (asked == name).then_some(3.0);
        assert_eq!(formula::value(&format!("{name} * 2"), |asked| known(asked).unwrap_or(0.0)), 6.0, "{name}");
    }
}

#[test]
fn a_metric_may_need_other_metrics() {
    // The stall of 300 cycles is 1.5 of 200 instructions, and 30 % of the 5 cycles that each takes.
    let counts = [("PM_CMPLU_STALL_DCACHE_MISS", 300), ("PM_RUN_CYC", 1000), ("PM_RUN_INST_CMPL", 200)];
    assert_eq!(of("DCACHE_MISS_STALL_CPI", &counts), Ok(1.5));
    assert_eq!(of("dcache_miss_cpi", &counts), Ok(30.0));
}

#[test]
fn dividing_by_zero_gives_no_value_wherever_it_happens() {
    assert_eq!(of("CPI", &[("PM_CYC", 5), ("PM_INST_CMPL", 0)]), Err(NoValue::DividesByZero));
    // One over what one formula divides by zero would be zero, if that were infinite.
    let table = [metric("INNER", "PM_A / PM_B"), metric("OUTER", "1 / INNER")];
    let known = |name: &str| Some(if name == "PM_B" { 0.0 } else { 1.0 });
    assert_eq!(evaluate(&table[1], &table, &known), Err(NoValue::DividesByZero));
}

#[test]
fn a_value_may_be_zero_or_less() {
    assert_eq!(of("CPI", &[("PM_CYC", 0), ("PM_INST_CMPL", 4)]), Ok(0.0));
    let counts = [("PM_CMPLU_STALL_FXU", 10), ("PM_CMPLU_STALL_FXLONG", 30), ("PM_RUN_INST_CMPL", 10)];
    assert_eq!(of("FXU_OTHER_STALL_CPI", &counts), Ok(-2.0));
}

#[test]
fn what_was_not_counted_is_named() {
    assert_eq!(of("CPI", &[("PM_CYC", 5)]), Err(NoValue::NotKnown(vec!["PM_INST_CMPL"])));
    assert_eq!(of("dcache_miss_cpi", &[("PM_RUN_CYC", 5)]), Err(NoValue::NotKnown(vec!["PM_CMPLU_STALL_DCACHE_MISS", "PM_RUN_INST_CMPL"])));
}

#[test]
fn events_that_the_part_lacks_are_named_even_where_another_metric_needs_them() {
    assert_eq!(of("RC_LD_Busy", &[]), Err(NoValue::NoSuchEvents(vec!["PM_L2_RCLD_BUSY_RC_FULL"])));
    let outer = metric("OUTER", "2 * INNER");
    let table = [Metric { missing: &["PM_NONE"], ..metric("INNER", "PM_NONE / PM_CYC") }, outer];
    assert_eq!(evaluate(&outer, &table, &|_| None), Err(NoValue::NoSuchEvents(vec!["PM_NONE"])));
}

#[test]
fn a_name_of_an_earlier_part_is_read_as_its_successor() {
    assert_eq!(of("IERAT_Miss_Rate", &[("PM_IERAT_RELOAD", 3), ("PM_RUN_INST_CMPL", 200)]), Ok(1.5));
    // 30 of 30 + 60 + 10.
    assert_eq!(of("L2_LD_Disp", &[("PM_L2_LD", 30), ("PM_L2_ST", 60), ("PM_L2_INST", 10)]), Ok(30.0));
    // The load/store unit finishes 200 operations, all of them its own: 12 rejects are 6 %.
    let rejects = [("PM_LSU_REJECT_ERAT_MISS", 2), ("PM_LSU_REJECT_LMQ_FULL", 4), ("PM_LSU_REJECT_LHS", 6), ("PM_LSU_FIN", 200)];
    assert_eq!(of("LSU_Reject_Ratio", &rejects), Ok(6.0));
    // 700 cycles of exposed misses, of which there were 7.
    let exposed = [("PM_MRK_LD_MISS_EXPOSED_CYC", 700), ("PM_MRK_LD_MISS_EXPOSED_CYC.EDGES", 7)];
    assert_eq!(of("Exposed_dL1Miss_Latency", &exposed), Ok(100.0));
    // What a successor needs is asked for by its own name.
    assert_eq!(of("IERAT_Miss_Rate", &[("PM_RUN_INST_CMPL", 200)]), Err(NoValue::NotKnown(vec!["PM_IERAT_RELOAD"])));
}

#[test]
fn a_metric_that_is_left_out_needs_nothing() {
    let leaves = Leaves::of(power9("OTHER_STALL_CPI"), POWER9_METRICS);
    assert!(leaves.missing.is_empty() && !leaves.events.contains("PM_CMPLU_STALL_EXCEPTION"), "{leaves:?}");
    assert!(leaves.replaced.keys().copied().eq(["EXCEPTION_STALL_CPI", "ISYNC_STALL_CPI"]), "{leaves:?}");
}

#[test]
fn edges_are_counted_by_the_lowest_bit_of_the_code() {
    let plan = planned(&["Exposed_dL1Miss_Latency"]);
    let codes: Vec<(Option<&str>, u64)> =
        plan.runs.iter().flat_map(|run| &run.counted).map(|counted| (counted.event, counted.code.bits())).collect();
    assert!(codes.contains(&(Some("PM_MRK_LD_MISS_EXPOSED_CYC.EDGES"), 0x1_013F)), "{codes:x?}");
    assert!(codes.contains(&(Some("PM_MRK_LD_MISS_EXPOSED_CYC"), 0x1_013E)), "{codes:x?}");
}

#[test]
fn what_is_given_is_asked_for_like_a_count() {
    assert_eq!(of("elapsed_cycles", &[("proc_freq", 3)]), Err(NoValue::NotKnown(vec!["total_time"])));
    assert_eq!(of("Run_Latch_Cyc", &[("proc_freq", 4), ("total_time", 5), ("PM_RUN_CYC", 10)]), Ok(50.0));
}

#[test]
fn metrics_are_chosen_by_name_and_by_category() {
    let names =
        |word: &str| -> Vec<&str> { chosen(word, POWER9_METRICS).expect("there is something").iter().map(|metric| metric.name).collect() };
    assert_eq!(names("run_cpi"), ["RUN_CPI"]);
    assert_eq!(names("Run_Cycles(%)"), ["Run_Cycles"]);
    assert_eq!(names("memory").len(), 9, "table 5-20");
    let all = names("all");
    assert!(all.contains(&"CPI") && all.contains(&"LSU_OTHER_STALL_CPI") && !all.contains(&"RC_LD_Busy"));
}

#[test]
fn a_name_that_is_none_gets_the_nearest() {
    let Err(Error::Usage(message)) = chosen("RUN_CPL", POWER9_METRICS) else { panic!("there is no such metric") };
    assert!(message.starts_with("no metric and no category of metrics is called `RUN_CPL`: did you mean RUN_CPI"), "{message}");
}

#[test]
fn the_table_says_what_a_value_is_or_why_there_is_none() {
    let known = |name: &str| match name {
        "PM_CYC" => Some(12_345_000.0),
        "PM_INST_CMPL" => Some(10_000.0),
        _ => None,
    };
    let metrics = [power9("CPI"), power9("RUN_CPI"), power9("RC_LD_Busy"), power9("GCT_Empty")];
    let computed = compute(&metrics, POWER9_METRICS, &known);
    assert_eq!(
        shown_table(&computed, 120),
        "
       value  unit                    metric      what it says
   1,234.500  cycles per instruction  CPI         Cycles that an instruction takes, run latch set or not.
           -  cycles per instruction  RUN_CPI     not counted: PM_RUN_CYC, PM_RUN_INST_CMPL
           -  percent                 RC_LD_Busy  the part has no PM_L2_RCLD_BUSY_RC_FULL
           -  percent                 GCT_Empty   not counted: PM_ICT_NOSLOT_CYC, PM_RUN_CYC (PM_GCT_NOSLOT_CYC read as
                                                  PM_ICT_NOSLOT_CYC)
"
    );
    assert!(shown_table(&computed, 72).lines().all(|line| line.len() <= 72));
    assert_eq!(shown_table(&[], 72), "");
}

#[test]
fn values_are_shown_in_groups_of_digits() {
    assert_eq!(shown(0.0), "0.000");
    assert_eq!(shown(-1234.5678), "-1,234.568");
}

fn planned(names: &[&str]) -> Plan {
    let metrics: Vec<&Metric> = names.iter().flat_map(|name| chosen(name, POWER9_METRICS).expect("there is something")).collect();
    plan(&metrics, POWER9_METRICS, &|name| codes_of(&POWER9, name))
}

#[test]
fn run_instructions_and_run_cycles_take_no_programmable_counter() {
    let plan = planned(&["RUN_CPI"]);
    assert_eq!(plan.runs.iter().map(Run::codes).collect::<Vec<_>>(), [[RUN_INSTRUCTIONS, RUN_CYCLES]]);
}

#[test]
fn events_of_one_counter_need_a_run_each() {
    // PM_DATA_FROM_L2 is of PMC1, PM_DATA_FROM_L31_SHR too, PM_DATA_FROM_L3 of PMC4.
    let plan = planned(&["dL1_Reload_FROM_L2_Rate", "dL1_Reload_FROM_L31_SHR_Rate", "dL1_Reload_FROM_L3_Rate"]);
    assert_eq!(plan.runs.len(), 2);
    assert!(plan.runs.iter().all(|run| run.codes().contains(&RUN_INSTRUCTIONS)));
}

#[test]
fn an_event_of_the_caches_brings_what_steers_their_bus() {
    // PM_L2_LD is 16080h and PM_L2_LD_MISS is 26080h: PMC4 has to have the selector 80h too.
    let plan = planned(&["L2_LD_Miss_Ratio"]);
    let [run] = plan.runs.as_slice() else { panic!("one run is enough") };
    let steering: Vec<u64> = run.counted.iter().filter(|counted| counted.event.is_none()).map(|counted| counted.code.bits()).collect();
    assert_eq!(steering, [0x4_6080]);
}

#[test]
fn whatever_is_planned_can_be_counted_and_is_all_that_the_metrics_need() {
    let plan = planned(&["all"]);
    for run in &plan.runs {
        assert!(run.encoding(Options::default()).is_ok(), "{run:?}");
    }
    let known = |name: &str| {
        let is_counted = plan.runs.iter().flat_map(|run| &run.counted).any(|counted| counted.event == Some(name));
        (is_counted || ["proc_freq", "total_time", "PB_Freq", "MBA_Freq", "PHB_Freq"].contains(&name)).then_some(1.0)
    };
    for metric in chosen("all", POWER9_METRICS).expect("there are some") {
        let value = evaluate(metric, POWER9_METRICS, &known);
        assert!(
            !matches!(value, Err(NoValue::NotKnown(ref names)) if names.iter().any(|name| !plan.uncounted.contains(name))),
            "{value:?}"
        );
    }
    // PMC2 has 67 of the events to itself, so no plan has fewer runs. Four more separate events of the caches that steer their bus otherwise.
    assert!((67..=71).contains(&plan.runs.len()), "{}", plan.runs.len());
    assert!(plan.uncounted.iter().all(|name| POWER9.event_named(name).is_some_and(|event| event.offset.is_some())), "{plan:?}");
}

#[test]
fn metrics_of_the_nest_are_computed_by_hand() {
    // 3000 blocks of 64 bytes by four ports in 1000 cycles of 2 GHz: 192 bytes a cycle.
    let reads =
        [("PM_MCS01_64B_RD_DISP_PORT01", 1000), ("PM_MCS01_64B_RD_DISP_PORT23", 2000), ("PM_PB_CYC", 1000), ("PB_Freq", 2_000_000_000)];
    assert_eq!(of("total_mcs01_read_bw", &reads), Ok(384e9));
    // 100 blocks of 64 bytes in 800 cycles of 800 MHz.
    assert_eq!(of("mba3_write_BW", &[("PM_MBA3_WRITE_BYTES", 100), ("PM_MBA3_DRAM_CLK_CYC", 800), ("MBA_Freq", 800_000_000)]), Ok(6.4e9));
    // A quarter of the slots.
    assert_eq!(of("xlink0_odd_total_utilization", &[("PM_XLINK0_IN_ODD_TOTAL_UTIL", 256), ("PM_XLINK0_IN_ODD_CYC", 1024)]), Ok(25.0));
    assert_eq!(of("phb2_mmio_load_rate", &[("PM_PHB2_LD_RESP_FROM_PCIE", 5), ("PM_PHB2_CYC", 1000), ("PHB_Freq", 2_000_000_000)]), Ok(1e7));
    // 16 times 32 bytes in two cycles of 2 GHz.
    assert_eq!(of("total_int_pb_bw", &[("PM_PB_INT_DATA_XFER", 1), ("PM_PB_CYC", 2), ("PB_Freq", 2_000_000_000)]), Ok(512e9));
}

#[test]
fn what_is_posted_needs_no_run() {
    let plan = planned(&["total_mcs01_read_bw"]);
    assert!(plan.runs.is_empty());
    assert_eq!(plan.uncounted, ["PM_MCS01_64B_RD_DISP_PORT01", "PM_MCS01_64B_RD_DISP_PORT23", "PM_PB_CYC"]);
}

#[test]
fn an_event_without_a_code_is_named() {
    let metrics = [power9("CPI")];
    let plan = plan(&metrics, POWER9_METRICS, &|_| Vec::new());
    assert_eq!(plan, Plan { runs: Vec::new(), uncounted: vec!["PM_CYC", "PM_INST_CMPL"] });
}

proptest::proptest! {
    #[test]
    fn an_arbitrary_formula_has_a_value_or_is_not_a_number(text in "([-+*/() .0-9A-Ze_{}]|\\PC){0,60}") {
        let value = formula::value(&text, |_name| 1.0);
        proptest::prop_assert!(formula::is_formula(&text) || value.is_nan());
    }
}
