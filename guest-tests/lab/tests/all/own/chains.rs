//! Callers of samples on IA-64, by the unwind tables of an example with nested calls.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use vm_pmu_lab::symbols::Symbols;

use super::{are_there, folder, script};

/// Whether what builds the example is there; if not, prints that the test is skipped.
fn can_build(test: &str) -> bool {
    are_there(&["ia64-linux-gnu-as", "ia64-linux-gnu-ld"], test)
}

/// A folder with the example, `calls.elf`, linked by `linker_script`.
fn built_with(linker_script: &str) -> TempDir {
    built(&fs::read_to_string(super::root().join("guest-tests/own/ia64/calls.s")).expect("it is there"), linker_script)
}

/// A folder with the runtime and `source` as `calls.elf`, linked by `linker_script`.
fn built(source: &str, linker_script: &str) -> TempDir {
    let folder = folder();
    fs::write(folder.path().join("guest.ld"), linker_script).expect("it can be written");
    fs::write(folder.path().join("calls.s"), source).expect("it can be written");
    script(
        folder.path(),
        "ia64-linux-gnu-as -g -x -o start.o guest-tests/own/ia64/start.s
        ia64-linux-gnu-as -g -x -o calls.o calls.s
        ia64-linux-gnu-ld -static -T guest.ld -o calls.elf start.o calls.o",
    );
    folder
}

fn linker_script() -> String {
    fs::read_to_string(super::root().join("guest-tests/own/ia64/guest.ld")).expect("it is there")
}

/// The samples of each instruction of the example, in order.
fn samples(folder: &Path, pmu: &str) -> Vec<(u64, Vec<u64>)> {
    script(folder, &format!("pmulab record -e instructions -c 1 --pmu {pmu} -o samples calls.elf"));
    let profile: Value = serde_json::from_str(&fs::read_to_string(folder.join("samples")).expect("it is there")).expect("JSON");
    let all = profile["samples"].as_array().expect("samples").iter();
    let callers = |sample: &Value| sample["callers"].as_array().into_iter().flatten().map(|caller| caller.as_u64().unwrap()).collect();
    all.map(|sample| (sample["address"].as_u64().expect("an address"), callers(sample))).collect()
}

/// Holds the callers of each instruction against the calls and returns before it. The guest jumps to no entry, which `procedures` have, and
/// to no return address, so whoever comes there was called or has returned. A call returns to the bundle behind its own.
fn compare_with_calls(folder: &Path, procedures: &[&str]) {
    let symbols = Symbols::load(&folder.join("calls.elf")).expect("an ELF file");
    let entries: HashSet<u64> = procedures.iter().map(|name| symbols.address_of(name).unwrap()).collect();
    for pmu in ["itanium", "montecito"] {
        let samples = samples(folder, pmu);
        let mut stack: Vec<u64> = Vec::new();
        let mut called = HashSet::new();
        let mut before = 0;
        for (address, callers) in &samples {
            if entries.contains(address) {
                called.insert(*address);
                stack.insert(0, (before & !0xF) + 16);
            } else if stack.first() == Some(address) {
                stack.remove(0);
            }
            assert_eq!(*callers, stack, "{pmu}: {address:#x} after {before:#x}");
            before = *address;
        }
        assert_eq!(called, entries, "{pmu}");
        // `_start`, which nobody called, has gone to `end` at last.
        assert_eq!((samples[0].1.len(), stack.len()), (0, 1), "{pmu}");
    }
}

#[test]
fn every_instruction_has_the_callers_that_have_not_returned() {
    if can_build("every_instruction_has_the_callers_that_have_not_returned") {
        let folder = built_with(&linker_script());
        compare_with_calls(folder.path(), &["main", "outer", "middle", "leaf", "branched", "descend", "end"]);
    }
}

/// What the example does not have: a frame of variable size whose procedure keeps the caller's stack pointer in a register, and the return
/// address below that pointer; values that are spilled instruction by instruction; a return address that arrives in b6.
const RARE: &str = "
        .text
        .global main#
        .proc   main#
main:   .prologue
        .save   ar.pfs, r32
        alloc   loc0 = ar.pfs, 0, 2, 0, 0
        .save   rp, loc1
        mov     loc1 = b0 ;;
        .body
        br.call.sptk.many b0 = variable# ;;
        mov     r8 = 0
        mov     ar.pfs = loc0
        mov     b0 = loc1 ;;
        br.ret.sptk.many b0 ;;
        .endp   main#

        .proc   variable#
variable:
        .prologue
        .save   ar.pfs, r32
        alloc   loc0 = ar.pfs, 0, 3, 0, 0
        mov     r14 = b0
        adds    loc2 = -16, sp
        .vframe loc1
        mov     loc1 = sp ;;
        adds    sp = -64, sp
        .savepsp rp, 16
        st8     [loc2] = r14
        .body
        .label_state 40
        br.call.sptk.many b0 = spilled# ;;
        adds    sp = -64, sp ;;
        br.call.sptk.many b0 = spilled# ;;
        ld8     r14 = [loc2]
        mov     ar.pfs = loc0 ;;
        mov     b0 = r14
        .restore sp
        mov     sp = loc1 ;;
        br.ret.sptk.many b0 ;;
        .body
        .copy_state 40
        nop     0
        .endp   variable#

        .proc   spilled#
spilled:
        .prologue
        .spillreg ar.pfs, r33
        alloc   r33 = ar.pfs, 0, 3, 0, 0
        .spillreg rp, r34
        mov     r34 = b0
        .fframe 32
        adds    sp = -32, sp ;;
        .body
        adds    r14 = 16, sp ;;
        .spillsp rp, 16
        st8     [r14] = r34 ;;
        mov     r34 = 0 ;;
        br.call.sptk.many b6 = linked# ;;
        adds    r14 = 16, sp ;;
        ld8     r14 = [r14]
        mov     ar.pfs = r33 ;;
        .restorereg rp
        mov     b0 = r14
        .restore sp
        adds    sp = 32, sp ;;
        br.ret.sptk.many b0 ;;
        .endp   spilled#

        .proc   linked#
linked: .prologue
        .altrp  b6
        .body
        nop     0
        br.ret.sptk.many b6 ;;
        .endp   linked#
";

#[test]
fn values_are_found_wherever_the_directives_of_the_assembler_say() {
    if can_build("values_are_found_wherever_the_directives_of_the_assembler_say") {
        let folder = built(RARE, &linker_script());
        compare_with_calls(folder.path(), &["main", "variable", "spilled", "linked", "end"]);
    }
}

#[test]
fn folded_stacks_name_the_callers_from_the_outermost_on() {
    if !can_build("folded_stacks_name_the_callers_from_the_outermost_on") {
        return;
    }
    let folder = built_with(&linker_script());
    let printed = script(
        folder.path(),
        "pmulab record -e instructions -c 1 --pmu montecito -o samples calls.elf >record
        pmulab report --folded samples",
    );
    let mut expected = BTreeSet::from([
        "calls.elf;_start".to_owned(),
        "calls.elf;_start;end".to_owned(),
        "calls.elf;_start;main".to_owned(),
        "calls.elf;_start;main;outer".to_owned(),
        "calls.elf;_start;main;outer;middle".to_owned(),
        "calls.elf;_start;main;outer;middle;leaf".to_owned(),
        "calls.elf;_start;main;outer;middle;branched".to_owned(),
        "calls.elf;_start;main;outer;middle;branched;middle".to_owned(),
    ]);
    // It calls itself from depth 40 down to 0.
    expected.extend((1..=41).map(|times| format!("calls.elf;_start;main{}", ";descend".repeat(times))));
    let stacks: BTreeSet<String> = printed.lines().map(|line| line.rsplit_once(' ').expect("a weight").0.to_owned()).collect();
    assert_eq!(stacks, expected);
}

#[test]
fn the_chapters_stacks_are_those_of_its_commands() {
    if !can_build("the_chapters_stacks_are_those_of_its_commands") {
        return;
    }
    let chapter = fs::read_to_string(super::root().join("docs/src/guests.md")).expect("the chapter is there");
    let section = chapter.split_once("### IA-64\n").expect("the chapter has the section").1;
    let mut blocks = section.split("```").skip(1).step_by(2);
    let mut next = |kind: &str| blocks.next().and_then(|block| block.strip_prefix(kind)).expect("a block of that kind");
    let printed = script(folder().path(), &format!("{}{}", next("sh\n"), next("sh\n")));
    let shown = next("text\n...\n");
    assert!(printed.ends_with(shown), "{printed}");
}

#[test]
fn a_script_for_other_tools_has_a_line_for_each_frame() {
    if !can_build("a_script_for_other_tools_has_a_line_for_each_frame") {
        return;
    }
    let folder = built_with(&linker_script());
    let printed = script(
        folder.path(),
        "pmulab record -e instructions -c 1 --pmu itanium -o samples calls.elf >record
        pmulab report --script samples",
    );
    let symbol = |frame: &str| frame.split_whitespace().nth(1).expect("a symbol").split('+').next().expect("a name").to_owned();
    let in_leaf = printed
        .split_terminator("\n\n")
        .map(|block| block.lines().skip(1).map(symbol).collect::<Vec<_>>())
        .find(|frames| frames[0] == "leaf")
        .expect("a sample of the leaf");
    assert_eq!(in_leaf, ["leaf", "middle", "outer", "main", "_start"]);
}

#[test]
fn firefox_profiler_gets_stacks_as_deep_as_the_calls() {
    if !can_build("firefox_profiler_gets_stacks_as_deep_as_the_calls") {
        return;
    }
    let folder = built_with(&linker_script());
    let printed = script(
        folder.path(),
        "pmulab record -e instructions -c 1 --pmu itanium -o samples calls.elf >record
        pmulab report --firefox samples",
    );
    let profile: Value = serde_json::from_str(&printed).expect("JSON");
    let prefixes = profile["threads"][0]["stackTable"]["prefix"].as_array().expect("a table of stacks");
    let depth = |mut stack: usize| {
        let mut depth = 1;
        while let Some(prefix) = prefixes[stack].as_u64() {
            (stack, depth) = (usize::try_from(prefix).unwrap(), depth + 1);
        }
        depth
    };
    // `_start`, `main` and 41 times `descend`.
    assert_eq!((0..prefixes.len()).map(depth).max(), Some(43));
}

#[test]
fn a_file_without_tables_has_no_callers() {
    if !can_build("a_file_without_tables_has_no_callers") {
        return;
    }
    let without: String =
        linker_script().lines().filter(|line| !line.contains("*(.IA_64.unwind")).map(|line| format!("{line}\n")).collect();
    let folder = built_with(&without.replace("*(.note.*", "*(.IA_64.unwind* .note.*"));
    assert!(samples(folder.path(), "montecito").iter().all(|(_, callers)| callers.is_empty()));
}
