//! Names that other tools have for events, against the encodings that these give them: the lists of `names`.

use std::collections::BTreeMap;

use vm_pmu::arch::power9::encode::EventCode;
use vm_pmu::arch::registry::Part;
use vm_pmu_lab::commands::encode;
use vm_pmu_lab::dialect::{Programming, Write};
use vm_pmu_lab::error::Error;

/// A line of a list.
struct Row {
    name: String,
    /// What the lists program, or what the manual has instead, which is programmed here.
    taken: String,
}

/// The lines of a list.
fn rows(text: &str) -> Vec<Row> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let (name, taken) = match cells.as_slice() {
            [name, encoding, _] => (name, encoding),
            [name, encoding, _, taken, reason] if taken != encoding && !reason.is_empty() => (name, taken),
            _ => panic!("{line} is no name, encoding, lists, and maybe what is taken instead and why"),
        };
        Row { name: (*name).to_owned(), taken: (*taken).to_owned() }
    };
    lines.map(row).collect()
}

fn part(name: &str) -> Part {
    Part::named(name).expect("it is a part")
}

/// What is written to the registers that a program writes, the last write of each.
fn written(program: &[Programming]) -> BTreeMap<&'static str, u64> {
    program.iter().flat_map(|one| &one.writes).map(|write| (write.register.name, write.value)).collect()
}

/// Every name of the list, in capitals and small letters, whose encoding is not that of the list.
fn failures(part: Part, text: &str, said: impl Fn(&[Programming]) -> String) -> Vec<String> {
    let mut failures = Vec::new();
    for row in rows(text) {
        for name in [row.name.clone(), row.name.to_ascii_lowercase()] {
            let said = match encode::program(part, &[&name]) {
                Ok(program) => said(&program),
                Err(Error::Usage(why)) => why,
                Err(error) => format!("{error:?}"),
            };
            if said != row.taken {
                failures.push(format!("{name}: {said}, and the list has {}", row.taken));
            }
        }
    }
    failures
}

fn none(failures: Vec<String>) {
    assert!(failures.is_empty(), "{} of them:\n{}", failures.len(), failures.join("\n"));
}

/// `select/umask` of a register of an x86 part, then what else it says.
fn select_and_mask(value: u64) -> String {
    let mut text = format!("{:02x}/{:02x}", value & 0xff | value >> 32 << 8, value >> 8 & 0xff);
    for (bit, word) in [(18, " edge"), (21, " any"), (23, " inv")] {
        text.push_str(if value >> bit & 1 == 1 { word } else { "" });
    }
    if value >> 24 & 0xff != 0 {
        text.push_str(&format!(" c={}", value >> 24 & 0xff));
    }
    text
}

#[test]
fn names_of_the_k8_have_the_encodings_of_their_lists() {
    let said = |program: &[Programming]| select_and_mask(written(program)["PerfEvtSel0"]);
    none(failures(part("k8"), include_str!("names/k8.tsv"), said));
}

#[test]
fn names_of_knights_landing_have_the_encodings_of_their_lists() {
    let said = |program: &[Programming]| {
        let written = written(program);
        let fixed = written["IA32_PERF_GLOBAL_CTRL"] >> 32;
        if fixed != 0 {
            return format!("fixed{}", fixed.trailing_zeros());
        }
        let select = written.get("IA32_PERFEVTSEL0").or(written.get("IA32_PERFEVTSEL1")).expect("a counter counts");
        let response = written.get("MSR_OFFCORE_RESP0").or(written.get("MSR_OFFCORE_RESP1"));
        format!("{}{}", select_and_mask(*select), response.map_or_else(String::new, |bits| format!(" rsp={bits:#x}")))
    };
    none(failures(part("knl"), include_str!("names/knl.tsv"), said));
}

#[test]
fn names_of_the_untile_have_the_encodings_of_their_lists() {
    let said = |program: &[Programming]| {
        let event = program[0].event.as_deref().unwrap_or_default();
        let unit = event.split("::").next().unwrap_or_default().trim_end_matches('0');
        let enabled = |write: &&Write| !write.register.name.starts_with("PERF_UNIT") && write.value >> 22 & 1 == 1;
        let control = program[0].writes.iter().find(enabled).expect("a counter counts");
        format!("{unit} {}", select_and_mask(control.value))
    };
    none(failures(part("knl"), include_str!("names/knl-boxes.tsv"), said));
}

/// `es/umask` of an IA-64 part, then what was written to the event address registers: their kind and unit mask.
fn code_and_capture(program: &[Programming], fetches: &str, accesses: &str, counters: std::ops::RangeInclusive<u32>) -> String {
    let written = written(program);
    let counter = counters.into_iter().find_map(|number| written.get(format!("PMC{number}").as_str())).expect("a counter counts");
    let mut text = format!("{:02x}/{:x}", counter >> 8 & 0xff, counter >> 16 & 15);
    let is_old = fetches == "PMC10";
    if let Some(pmc) = written.get(fetches) {
        let (kind, umask) = match (is_old, pmc >> 13 & 1, pmc >> 7 & 1) {
            (true, _, 0) | (false, 1, _) => ("cache", if is_old { pmc >> 16 & 15 } else { pmc >> 5 & 0xff }),
            _ => ("tlb", if is_old { pmc >> 16 & 15 } else { pmc >> 5 & 0x7f }),
        };
        text.push_str(&format!(" iear-{kind}={umask:x}"));
    }
    if let Some(pmc) = written.get(accesses) {
        let kind = ["cache", "tlb", "alat"][(pmc >> 7 & if is_old { 1 } else { 3 }) as usize];
        text.push_str(&format!(" dear-{kind}={:x}", pmc >> 16 & 15));
    }
    text
}

#[test]
fn names_of_the_itanium_have_the_encodings_of_their_lists() {
    let said = |program: &[Programming]| code_and_capture(program, "PMC10", "PMC11", 4..=7);
    none(failures(part("itanium"), include_str!("names/itanium.tsv"), said));
}

#[test]
fn names_of_montecito_have_the_encodings_of_their_lists() {
    let said = |program: &[Programming]| code_and_capture(program, "PMC37", "PMC40", 4..=15);
    none(failures(part("montecito"), include_str!("names/montecito.tsv"), said));
}

/// The result for a code, and for an event by its name on the counter of that code: the registers, or why it cannot be counted alone.
fn outcome(text: &str) -> Result<BTreeMap<&'static str, u64>, String> {
    match encode::program(part("power9"), &[text]) {
        Ok(program) => Ok(written(&program)),
        Err(Error::Usage(why)) => Err(why),
        Err(error) => Err(format!("{error:?}")),
    }
}

#[test]
fn names_of_power9_have_the_codes_of_their_lists() {
    let mut failures = Vec::new();
    for row in rows(include_str!("names/power9.tsv")) {
        let code = u64::from_str_radix(row.taken.trim_start_matches("0x"), 16).expect("a code");
        // An event that several counters count has a code for each, and maybe one for any.
        let place = match EventCode::from_bits(code).pmc() {
            0 => ":pmc=2".to_owned(),
            pmc => format!(":pmc={pmc}"),
        };
        let wanted = outcome(&format!("{}{place}", row.taken));
        for name in [row.name.clone(), row.name.to_ascii_lowercase()] {
            let said = outcome(&format!("{name}{place}"));
            let alone = outcome(&name).err().filter(|why| why.contains("has no event"));
            if said != wanted || alone.is_some() {
                failures.push(format!("{name}: {said:?} {alone:?}, and the list has {}", row.taken));
            }
        }
    }
    none(failures);
}

/// The events with everything spelt out, and the warnings.
fn said(pmu: &str, events: &[&str]) -> (Vec<String>, Vec<String>) {
    let program = encode::program(part(pmu), events).unwrap_or_else(|error| panic!("{events:?}: {error:?}"));
    let words = program.iter().map(|one| one.event.clone().unwrap_or_default()).collect();
    (words, program.into_iter().flat_map(|one| one.warnings).collect())
}

/// The line about a mistake.
fn mistake(pmu: &str, event: &str) -> String {
    match encode::program(part(pmu), &[event]) {
        Err(Error::Usage(why)) => why,
        other => panic!("{event}: {other:?}"),
    }
}

#[test]
fn a_name_of_two_meanings_is_taken_with_a_warning() {
    for (event, taken, other) in [
        ("INST_RETIRED:ANY", "INST_RETIRED.ANY:uk", "INST_RETIRED:ANY_P"),
        ("LLC-misses", "L2_REQUESTS:MISS:uk", "LLC-load-misses"),
        ("unc_h_u_clockticks", "cha0::CLOCKTICKS", "cha37::"),
    ] {
        let (events, warnings) = said("knl", &[event]);
        assert!(events[0].starts_with(taken), "{event}: {events:?}");
        let [warning] = warnings.as_slice() else { panic!("{event}: {warnings:?}") };
        assert!(warning.contains(other), "{event}: {warning}");
    }
}

#[test]
fn one_name_of_requests_has_a_set_in_each_of_two_lists() {
    let (of_intel, warnings) = said("knl", &["OFFCORE_RESPONSE.ANY_READ.ANY_RESPONSE"]);
    assert!(of_intel[0].contains(":rsp=0x132f7") && warnings[0].contains("OFFCORE_RESPONSE_0:ANY_READ"), "{of_intel:?} {warnings:?}");
    let (of_libpfm, warnings) = said("knl", &["OFFCORE_RESPONSE_0:ANY_READ:ANY_RESPONSE"]);
    assert!(!of_libpfm[0].contains("0x10") && warnings[0].contains("OFFCORE_RESPONSE.ANY_READ"), "{of_libpfm:?} {warnings:?}");
}

#[test]
fn requests_without_a_register_take_one_each() {
    let (events, _) = said("knl", &["offcore_response.demand_rfo.any_response", "offcore_response.demand_data_rd.ddr"]);
    assert!(events[0].contains("OFFCORE_RESP_0") && events[1].contains("OFFCORE_RESP_1"), "{events:?}");
}

#[test]
fn a_catalogue_name_is_taken_without_a_warning() {
    for (pmu, event) in [("k8", "CPU_CLK_UNHALTED"), ("knl", "INST_RETIRED.ANY"), ("power9", "PM_CYC"), ("montecito", "L2I_READS.ALL.DMND")]
    {
        assert_eq!(said(pmu, &[event]).1, [""; 0], "{event}");
    }
}

#[test]
fn the_pmus_of_other_tools_say_where() {
    for (pmu, event, place) in [
        ("knl", "knl_unc_cha3::UNC_H_U_CLOCKTICKS", "cha3::"),
        ("knl", "uncore_edc_eclk_2/unc_e_rpq_inserts/", "edc-eclk2::"),
        ("knl", "uncore_imc_1/unc_m_cas_count.rd/", "mc-dclk1::"),
        ("knl", "cpu/branch-misses/u", "BR_MISP_RETIRED"),
        ("k8", "amd64_k8_revg::CPU_CLK_UNHALTED:u=1:k=0:e=0", "CPU_CLK_UNHALTED:u"),
        ("power9", "nest_mcs01_imc/PM_MCS01_64B_RD_DISP_PORT01/", "nest_mcs01_imc/event="),
        ("montecito", "montecito::CPU_OP_CYCLES_ALL:k", "CPU_OP_CYCLES.ALL:k"),
    ] {
        let (events, warnings) = said(pmu, &[event]);
        assert!(events[0].starts_with(place), "{event}: {events:?}");
        assert_eq!(warnings, [""; 0], "{event}");
    }
}

#[test]
fn cycles_with_a_counter_mask_are_counted_by_a_general_counter() {
    assert!(said("knl", &["cycles:u"]).0[0].starts_with("CPU_CLK_UNHALTED.THREAD:u"));
    assert!(said("knl", &["cycles:u:c=1:e"]).0[0].starts_with("CPU_CLK_UNHALTED:THREAD_P:u"));
}

#[test]
fn what_no_list_has_is_one_line_with_a_suggestion() {
    assert!(mistake("k8", "bus-cycles").starts_with("k8 has no event for bus-cycles; there are cycles, "));
    assert!(mistake("knl", "L2_REQUEST.MISS").contains("did you mean L2_REQUESTS"));
    assert!(mistake("montecito", "DATA_EAR_CACHE_LAT5").contains("did you mean CACHE_LAT4"));
    assert!(mistake("power9", "PM_CYCLE").contains("did you mean PM_CYC"));
}
