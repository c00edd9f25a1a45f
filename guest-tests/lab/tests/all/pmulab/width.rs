//! What is printed fits a terminal of 80 columns.

use std::fs;

use assert_cmd::Command;
use vm_pmu::Part;
use vm_pmu::arch::registry::NAMES;
use vm_pmu_lab::dialect::select;
use vm_pmu_lab::output::DEFAULT_WIDTH;
use vm_pmu_lab::text::columns;

/// The lines of a command that are wider than a terminal, although they have blanks where they could have been broken.
fn too_wide(folder: &std::path::Path, arguments: &[&str]) -> Vec<String> {
    let output = Command::cargo_bin("pmulab").unwrap().args(arguments).current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let is_too_wide = |line: &&str| columns(line) > DEFAULT_WIDTH && line.split_whitespace().count() > 1;
    text.lines().filter(is_too_wide).map(|line| format!("{}: {line}", arguments.join(" "))).collect()
}

fn all_fit<'a>(commands: impl IntoIterator<Item = &'a str>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counts.csv"), "PM_RUN_CYC,1500\nPM_RUN_INST_CMPL,1000\n").unwrap();
    let wide: Vec<String> =
        commands.into_iter().flat_map(|line| too_wide(folder.path(), &line.split_whitespace().collect::<Vec<_>>())).collect();
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn what_is_known_of_the_parts_fits() {
    all_fit([
        "guests",
        "list --all --long",
        "list --search no-such-text",
        "conformance --long",
        "litmus --pmu k8",
        "explain cycles --long",
        "explain PerfEvtSel0 MMCR0 MMCRA SIER PMC4 PMC38 FC56 FC4H UMASK loads RUN_CPI PM_CYC 0x530076 --long",
        "explain IA32_PERFEVTSEL0 MSR_OFFCORE_RESP0 cha0::TOR_INSERTS.IRQ L3_READS.ALL.ALL --long",
        "metrics",
        "metrics --counts counts.csv",
        "metrics --pmu montecito",
        "metrics --pmu itanium",
    ]);
}

#[test]
fn events_that_are_programmed_fit() {
    all_fit([
        "encode --pmu k8 CPU_CLK_UNHALTED:k:int DATA_CACHE_REFILLS PROBE:MISS:k",
        "encode --pmu knl BR_INST_RETIRED.CALL:u INST_RETIRED.ANY OFFCORE_RESPONSE_0:rsp=DEMAND_DATA_RD+ANY_RESPONSE",
        "encode --pmu power9 PM_INST_CMPL:u:int:period=1000 PM_RUN_CYC 0x34340401e0 nest::PM_PB_CYC",
        "encode --pmu power9 --groups 0x10002 0x1001e",
        "encode --pmu montecito LOADS_RETIRED:u:code=0x4000000000001000+0x1000 L3_READS.ALL.ALL",
        "encode --pmu itanium IA64_INST_RETIRED.PMC8:u:opcode=0x8000000/0x1fff7ffffff/m",
    ]);
}

#[test]
fn every_register_with_all_bits_or_none_fits() {
    for name in NAMES {
        let registers = select::registers(Part::named(name).unwrap()).iter().map(|register| register.name);
        let values = registers.flat_map(|register| [format!("{register}=0xffffffffffffffff"), format!("{register}=0x8000000000000000")]);
        all_fit([format!("decode --pmu {name} {}", values.collect::<Vec<_>>().join(" ")).as_str()]);
    }
}

#[test]
fn runs_fit() {
    all_fit([
        "",
        "run --pmu k8 all",
        "run --pmu k8 profile --trace 40",
        "run --pmu knl linux-uncore --trace 12",
        "run --pmu power9 overflow --trace 40 --timeline run.json",
        "run --pmu itanium branches --trace 12",
        "run --pmu montecito two-threads --trace 12 --report run.html",
        "run --pmu power9 count -M RUN_CPI",
        "run --pmu knl count -o a-recording-with-a-name-that-is-rather-long-for-a-file-of-this-kind.litmus",
        "replay a-recording-with-a-name-that-is-rather-long-for-a-file-of-this-kind.litmus --trace 20",
        "run --pmu knl freeze -o b.litmus",
        "diff a-recording-with-a-name-that-is-rather-long-for-a-file-of-this-kind.litmus b.litmus --all",
        "stat --pmu power9 latency",
        "stat --pmu montecito profile -M all --repeat 2",
        "record --pmu k8 profile",
        "report pmulab.data",
        "annotate pmulab.data alpha",
        "record --pmu montecito profile -o montecito.data",
        "report montecito.data",
        "top --pmu k8 profile --frames 2",
    ]);
}

#[test]
fn help_fits() {
    let commands = "run stat record report annotate top guests list explain decode encode conformance litmus metrics replay diff boot man";
    let lines: Vec<String> = commands.split(' ').map(|command| format!("{command} --help")).collect();
    all_fit(lines.iter().map(String::as_str).chain(["--help"]));
}
