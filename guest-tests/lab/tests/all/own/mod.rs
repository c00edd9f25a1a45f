//! Guests of one's own: files of every machine, built with the commands of the chapter where their compilers are, run by `pmulab`.

mod begun;
mod chains;
mod interrupts;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, str};

use crate::elf::elf;
use serde_json::Value;
use tempfile::TempDir;
use vm_pmu::companion::Clock;
use vm_pmu_engines::image::Image;
use vm_pmu_lab::runner::{Options, run_image};
use vm_pmu_lab::symbols::Symbols;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// A folder where the repository's guests are where the chapter's commands look for them.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(root().join("guest-tests"), folder.path().join("guest-tests")).expect("a link");
    folder
}

/// Whether there are all of these programs; if not, prints that the test is skipped.
fn are_there(programs: &[&str], test: &str) -> bool {
    let missing =
        programs.iter().find(|program| !Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success()));
    if let Some(missing) = missing {
        eprintln!("skipped: {test}, as there is no {missing}");
    }
    missing.is_none()
}

/// Runs a script in a folder, with `pmulab` in the path, and returns what it printed.
fn script(folder: &Path, text: &str) -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_pmulab"));
    let path = format!("{}:{}", program.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-e", "-c", text]).current_dir(folder).env("PATH", path).output().expect("a shell");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{text}\n{}{}", said(&output.stdout), said(&output.stderr));
    assert_eq!(said(&output.stderr), "", "{text}");
    said(&output.stdout)
}

/// The commands that the chapter's section gives under a heading.
fn commands(heading: &str) -> String {
    let chapter = fs::read_to_string(root().join("docs/src/guests.md")).expect("the chapter is there");
    let section = chapter.split_once(heading).expect("the chapter has the section").1;
    let (_, rest) = section.split_once("```sh\n").expect("the section has commands");
    rest.split_once("```").expect("they end").0.to_owned()
}

/// What `pmulab` reports of a guest.
fn report(folder: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_pmulab"))
        .args(["run", "--format", "json"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Compares every symbol of code in a file, and its line, with what `nm` and `addr2line` say of it.
fn compare_with_binutils(file: &Path, prefix: &str) {
    let symbols = Symbols::load(file).expect("an ELF file");
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(format!("{prefix}{program}")).args(arguments).arg(file).output().expect("it is there");
        String::from_utf8(output.stdout).expect("text")
    };
    let listed = said("nm", &[]);
    let code: Vec<(u64, &str)> = listed
        .lines()
        .filter_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            // Those of the linker begin with a dot.
            [address, "T" | "t", name] if !name.starts_with('.') => Some((u64::from_str_radix(address, 16).expect("an address"), name)),
            _ => None,
        })
        .collect();
    assert!(code.len() > 3, "{listed}");
    for (address, name) in code {
        let place = symbols.at(address).unwrap_or_else(|| panic!("nothing at {name}"));
        assert_eq!((place.symbol.as_deref(), place.offset), (Some(name), 0));
        let line =
            Command::new(format!("{prefix}addr2line")).arg("-e").arg(file).arg(format!("{address:#x}")).output().expect("it is there");
        let line = String::from_utf8(line.stdout).expect("text");
        let (_, number) = line.trim_end().rsplit_once(':').expect("a file and a line");
        // Numbers of lines have a note behind them where several sequences meet.
        let number = number.split(' ').next().expect("a number").parse().ok();
        assert_eq!(place.line, number, "{name}: {line}");
    }
}

#[test]
fn the_chapters_guests_of_x86_pass() {
    if !are_there(&["gcc"], "the_chapters_guests_of_x86_pass") {
        return;
    }
    let printed = script(folder().path(), &commands("### x86-64"));
    assert_eq!(printed.lines().filter(|line| *line == "PASS").count(), 2, "{printed}");
}

#[test]
fn the_chapters_guest_of_power9_passes() {
    if !are_there(&["powerpc64le-linux-gnu-gcc"], "the_chapters_guest_of_power9_passes") {
        return;
    }
    let printed = script(folder().path(), &commands("### POWER9\n"));
    assert_eq!(printed.lines().filter(|line| *line == "PASS").count(), 1, "{printed}");
}

#[test]
fn the_chapters_guest_of_ia_64_passes_on_both_itaniums() {
    if !are_there(&["ia64-linux-gnu-as", "ia64-linux-gnu-ld"], "the_chapters_guest_of_ia_64_passes_on_both_itaniums") {
        return;
    }
    let printed = script(folder().path(), &commands("### IA-64\n"));
    assert_eq!(printed.lines().filter(|line| *line == "PASS").count(), 2, "{printed}");
}

#[test]
fn a_big_endian_guest_of_powers_first_abi_passes() {
    if !are_there(&["powerpc64le-linux-gnu-gcc"], "a_big_endian_guest_of_powers_first_abi_passes") {
        return;
    }
    let printed = script(
        folder().path(),
        "own=guest-tests/own
        powerpc64le-linux-gnu-gcc -mbig-endian -mabi=elfv1 @$own/power9/options -T $own/power9/guest.ld -o big.elf \
            $own/report.c $own/power9/start.S $own/power9/runtime.c $own/power9/count.c
        pmulab run --pmu power9 --guest big.elf",
    );
    assert!(printed.ends_with("PASS\n"), "{printed}");
}

#[test]
fn symbols_of_x86_are_those_of_binutils() {
    if !are_there(&["gcc", "nm", "addr2line"], "symbols_of_x86_are_those_of_binutils") {
        return;
    }
    let folder = folder();
    script(folder.path(), &commands("### x86-64"));
    compare_with_binutils(&folder.path().join("k8.elf"), "");
}

#[test]
fn symbols_of_power_are_those_of_binutils() {
    if !are_there(&["powerpc64le-linux-gnu-gcc", "powerpc64le-linux-gnu-nm"], "symbols_of_power_are_those_of_binutils") {
        return;
    }
    let folder = folder();
    script(folder.path(), &commands("### POWER9\n"));
    compare_with_binutils(&folder.path().join("power9.elf"), "powerpc64le-linux-gnu-");
}

#[test]
fn symbols_of_ia_64_are_those_of_binutils() {
    if !are_there(&["ia64-linux-gnu-as", "ia64-linux-gnu-nm"], "symbols_of_ia_64_are_those_of_binutils") {
        return;
    }
    let folder = folder();
    script(folder.path(), &commands("### IA-64\n"));
    compare_with_binutils(&folder.path().join("ia64.elf"), "ia64-linux-gnu-");
}

/// A guest without runtime: it writes a counter on line 3, and stores to where nothing is mapped on line 4.
const FAULTY: &str = r#"static void clear(void)
{
    __asm__ volatile("wrmsr" : : "c"(0xC0010004), "a"(0), "d"(0));
    *(volatile int *)0x100000000000 = 1;
}

void _start(void)
{
    clear();
    for (;;)
        ;
}
"#;

/// A folder with [`FAULTY`], built at the linker's default addresses.
fn faulty() -> TempDir {
    let folder = folder();
    fs::write(folder.path().join("faulty.c"), FAULTY).expect("it can be written");
    script(folder.path(), "gcc @guest-tests/own/x86/options -fno-inline -o faulty faulty.c");
    folder
}

#[test]
fn a_fault_is_told_with_its_function_and_line() {
    if !are_there(&["gcc"], "a_fault_is_told_with_its_function_and_line") {
        return;
    }
    let folder = faulty();
    let output = Command::new(env!("CARGO_BIN_EXE_pmulab")).args(["run", "--guest", "faulty"]).current_dir(folder.path()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let told = printed.lines().find(|line| line.starts_with("  CPU 0 was at 0x")).unwrap_or_else(|| panic!("{printed}"));
    assert!(told.contains(", clear+0x") && told.ends_with(" (faulty.c:4)"), "{told}");
}

#[test]
fn programs_get_the_place_of_a_fault_beside_its_address() {
    if !are_there(&["gcc"], "programs_get_the_place_of_a_fault_beside_its_address") {
        return;
    }
    let report = report(faulty().path(), &["--guest", "faulty"]);
    let address = &report["positions"][0]["address"];
    let place = report["places"].as_array().unwrap().iter().find(|place| place["address"] == *address).unwrap();
    assert_eq!((&place["symbol"], &place["file"], &place["line"]), (&"clear".into(), &"faulty.c".into(), &4.into()));
}

#[test]
fn an_access_in_a_trace_is_told_with_its_function_and_line() {
    if !are_there(&["gcc"], "an_access_in_a_trace_is_told_with_its_function_and_line") {
        return;
    }
    let folder = faulty();
    let arguments = ["run", "--guest", "faulty", "--trace", "1"];
    let output = Command::new(env!("CARGO_BIN_EXE_pmulab")).args(arguments).current_dir(folder.path()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, told) = words.split_once("PerfCtr0 := 0x0 ").unwrap_or_else(|| panic!("{printed}"));
    assert!(told.starts_with("as it was; at clear+0x") && told.contains(" (faulty.c:3) "), "{printed}");
}

#[test]
fn an_interrupt_that_nothing_handles_is_told_with_its_function_and_line() {
    if !are_there(&["powerpc64le-linux-gnu-gcc"], "an_interrupt_that_nothing_handles_is_told_with_its_function_and_line") {
        return;
    }
    let folder = folder();
    let source = "#include \"guest.h\"\nint main(void)\n{\n    *(volatile int *)0x2000000000 = 1;\n    return 0;\n}\n";
    fs::write(folder.path().join("store.c"), source).expect("it can be written");
    script(
        folder.path(),
        "own=guest-tests/own
        powerpc64le-linux-gnu-gcc @$own/power9/options -I $own -T $own/power9/guest.ld -o store \
            $own/report.c $own/power9/start.S $own/power9/runtime.c store.c",
    );
    let report = report(folder.path(), &["--pmu", "power9", "--guest", "store"]);
    assert_eq!((&report["samples"][0]["label"], &report["places"][0]["line"]), (&"unexpected".into(), &4.into()));
}

#[test]
fn an_interruption_of_ia_64_that_nothing_handles_is_told_with_its_function_and_line() {
    if !are_there(&["ia64-linux-gnu-as"], "an_interruption_of_ia_64_that_nothing_handles_is_told_with_its_function_and_line") {
        return;
    }
    let folder = folder();
    let source = "\t.text\n\t.global main#\n\t.proc main#\nmain:\tnop.m 0\n\tnop.i 0\n\tbreak.i 0 ;;\n\t.endp main#\n";
    fs::write(folder.path().join("break.s"), source).expect("it can be written");
    script(
        folder.path(),
        "own=guest-tests/own
        ia64-linux-gnu-as -g -x -o break.o break.s
        ia64-linux-gnu-as -g -x -o start.o $own/ia64/start.s
        ia64-linux-gnu-ld -static -T $own/ia64/guest.ld -o break.elf start.o break.o",
    );
    let report = report(folder.path(), &["--pmu", "montecito", "--guest", "break.elf"]);
    // The bundle's last slot.
    let place = &report["places"][0];
    assert_eq!((&report["samples"][0]["label"], &place["symbol"], &place["offset"]), (&"unexpected".into(), &"main".into(), &2.into()));
    assert_eq!(place["line"], 6);
}

/// Runs an image for ten steps; where the CPU was then.
fn position_after_ten_steps(pmu: &str, image: &Image) -> u64 {
    let options = Options { limit: 10, ..Options::default() };
    let report = run_image(pmu, "own", image, 1, Clock::Companion, &options).expect("it runs");
    assert_eq!(report.ending, "not done after 10 steps: --steps allows more");
    report.positions[0].address
}

#[test]
fn an_image_at_the_default_address_of_powers_linker_runs() {
    // A branch to itself.
    let image = Image::raw(0x1000_0000, 0x4800_0000u32.to_le_bytes());
    assert_eq!(position_after_ten_steps("power9", &image), 0x1000_0000);
}

#[test]
fn an_image_far_above_what_memory_can_be_is_refused_in_one_line() {
    let image = Image::raw(1 << 40, [0; 4]);
    let error = run_image("power9", "own", &image, 1, Clock::Companion, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("a segment of 0x4 bytes at 0x10000000000 does not fit below 0x1ffc000"), "{error}");
}

#[test]
fn a_run_of_x86_that_is_stopped_tells_where_it_was() {
    // A jump to itself.
    assert_eq!(position_after_ten_steps("k8", &Image::raw(0x40_0000, [0xeb, 0xfe])), 0x40_0000);
}

// Software Developer's Manual of Itanium, volume 2, table 5-7: 2C00h is the vector of `break`, which zeros are, there too.
#[test]
fn a_run_of_ia_64_that_is_stopped_tells_where_it_was() {
    assert_eq!(position_after_ten_steps("montecito", &Image::raw(0x10_0000, [0; 16])), 0x2c00);
}

#[test]
fn a_guest_that_ends_by_itself_has_no_position() {
    // MOV AL, 1; OUT F4h, AL
    let image = Image::raw(0x40_0000, [0xb0, 1, 0xe6, 0xf4]);
    let report = run_image("k8", "own", &image, 1, Clock::Companion, &Options::default()).expect("it runs");
    assert_eq!((report.ending.as_str(), report.positions.len()), ("CPU 0 exited with status 1", 0));
}

#[test]
fn every_part_refuses_files_of_other_machines_by_name() {
    let machines =
        [(62, "x86-64 (machine 62)"), (21, "64-bit POWER (machine 21)"), (50, "IA-64 (machine 50)"), (183, "AArch64 (machine 183)")];
    let parts = [("k8", 62), ("knl", 62), ("power9", 21), ("itanium", 50), ("montecito", 50)];
    let folder = folder();
    for (machine, name) in machines {
        fs::write(folder.path().join("guest.elf"), elf(machine, 0x40_0000, &[])).expect("it can be written");
        for (part, right) in parts.into_iter().filter(|(_, right)| *right != machine) {
            let output = Command::new(env!("CARGO_BIN_EXE_pmulab"))
                .args(["run", "--pmu", part, "--guest", "guest.elf"])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            let right = machines.iter().find(|(number, _)| *number == right).unwrap().1;
            assert!(said.contains(&format!("an ELF file for {name}: guests of this part are for {right}")), "{part}: {said}");
            assert_eq!(output.status.code(), Some(2), "{part}");
        }
    }
}

#[test]
fn a_file_for_another_part_is_refused_with_the_parts_that_have_its_machine() {
    let folder = folder();
    fs::write(folder.path().join("guest.elf"), elf(50, 0x40_0000, &[])).expect("it can be written");
    let output =
        Command::new(env!("CARGO_BIN_EXE_pmulab")).args(["run", "--guest", "guest.elf"]).current_dir(folder.path()).output().unwrap();
    assert!(str::from_utf8(&output.stderr).unwrap().ends_with("; for it, choose `--pmu itanium` or `--pmu montecito`\n"));
}
