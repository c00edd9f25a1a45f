//! Programs in C and C++, compiled against the installed libraries and run.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use support::{is_there, libraries, root, succeed};

/// What a program of the static library needs in addition, as in `vm_pmu.pc`.
const STATIC_NEEDS: [&str; 7] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

/// Ends a program at its first wrong access or undefined behaviour. The library's memory is watched too: it comes from the same allocator.
const SANITIZED: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Installs everything once, as a user would, and returns where.
fn installed() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
        let script = root().join("install.sh");
        succeed(Command::new("sh").arg(script).arg("--from").arg(libraries()).arg("--prefix").arg(&prefix).env_remove("DESTDIR"));
        prefix
    })
}

/// Compiles a program of `tests/c` with `options` and the installed header.
fn compile(compiler: &str, source: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g", "-pthread"]);
    command.arg("-I").arg(installed().join("include")).arg(root().join("tests/c").join(source)).arg("-o").arg(&program);
    succeed(command.args(options));
    program
}

fn run(program: &Path) {
    run_with(program, &[]);
}

fn run_with(program: &Path, arguments: &[PathBuf]) {
    let output = succeed(Command::new(program).args(arguments).env("LD_LIBRARY_PATH", installed().join("lib")));
    assert!(String::from_utf8_lossy(&output.stdout).contains("all is well"));
}

/// The static library, by its file: the shared one is in the same folder.
fn statically() -> Vec<String> {
    let library = installed().join("lib/libvm_pmu.a").display().to_string();
    std::iter::once(library).chain(STATIC_NEEDS.map(str::to_owned)).collect()
}

fn shared() -> Vec<String> {
    vec![format!("-L{}", installed().join("lib").display()), "-lvm_pmu".to_owned()]
}

fn compile_and_run(compiler: &str, source: &str, name: &str, standard: &str, library: &[String]) {
    let options: Vec<&str> = std::iter::once(standard).chain(library.iter().map(String::as_str)).collect();
    run(&compile(compiler, source, name, &options));
}

/// Builds the example in a folder of its own with its Makefile, and runs it. What it prints is what is left of ten after an overflow at seven.
fn make_emulator(name: &str, make: impl FnOnce(&mut Command) -> &mut Command) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for file in ["main.c", "Makefile"] {
        std::fs::copy(root().join("examples/emulator").join(file), folder.join(file)).expect("the example can be copied");
    }
    let mut command = Command::new("make");
    let output = succeed(make(command.args(["--silent", "--always-make", "run"]).current_dir(&folder)));
    assert_eq!(str::from_utf8(&output.stdout), Ok("3\n"));
}

#[test]
fn the_example_is_made_with_what_is_installed_under_a_prefix() {
    let test = "the_example_is_made_with_what_is_installed_under_a_prefix";
    if is_there("cc", test) && is_there("make", test) {
        make_emulator("emulator-prefix", |make| make.arg(format!("VM_PMU={}", installed().display())));
    }
}

#[test]
fn the_example_is_made_with_what_pkg_config_finds() {
    let test = "the_example_is_made_with_what_pkg_config_finds";
    if is_there("cc", test) && is_there("make", test) && is_there("pkg-config", test) {
        let libraries = installed().join("lib");
        let folder = libraries.join("pkgconfig");
        make_emulator("emulator-pkg-config", |make| make.env("PKG_CONFIG_PATH", folder).env("LD_LIBRARY_PATH", libraries));
    }
}

#[test]
fn a_c_program_says_what_it_supplies() {
    if is_there("cc", "a_c_program_says_what_it_supplies") {
        compile_and_run("cc", "supplied.c", "supplied", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_counts_to_an_overflow() {
    if is_there("cc", "a_c_program_counts_to_an_overflow") {
        compile_and_run("cc", "counting.c", "counting-static", "-std=c11", &statically());
        compile_and_run("cc", "counting.c", "counting-shared", "-std=c11", &shared());
    }
}

#[test]
fn cpus_of_a_c_program_interpret_and_translate() {
    if is_there("cc", "cpus_of_a_c_program_interpret_and_translate") {
        compile_and_run("cc", "cpu.c", "cpu", "-std=c11", &statically());
    }
}

#[test]
fn a_c_program_is_told_of_its_misuse() {
    if is_there("cc", "a_c_program_is_told_of_its_misuse") {
        compile_and_run("cc", "misuse.c", "misuse", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_that_is_careless_with_handles_and_callbacks_is_refused_or_served() {
    if is_there("cc", "a_c_program_that_is_careless_with_handles_and_callbacks_is_refused_or_served") {
        compile_and_run("cc", "careless.c", "careless", "-std=c11", &shared());
    }
}

#[test]
fn threads_of_a_c_program_use_one_machine_at_once() {
    if is_there("cc", "threads_of_a_c_program_use_one_machine_at_once") {
        compile_and_run("cc", "threads.c", "threads", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_looks_up_events_and_tells_records_and_requests() {
    if is_there("cc", "a_c_program_looks_up_events_and_tells_records_and_requests") {
        compile_and_run("cc", "events.c", "events", "-std=c11", &shared());
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn fields_and_numbers_are_where_compiled_programs_know_them() {
    if is_there("cc", "fields_and_numbers_are_where_compiled_programs_know_them") {
        compile_and_run("cc", "layout.c", "layout", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_reaches_the_boxes() {
    if is_there("cc", "a_c_program_reaches_the_boxes") {
        compile_and_run("cc", "boxes.c", "boxes", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_saves_and_restores() {
    if is_there("cc", "a_c_program_saves_and_restores") {
        compile_and_run("cc", "snapshot.c", "snapshot", "-std=c11", &shared());
    }
}

/// The sources that the program of the translator is compiled with: the bridge that emulators copy, as they would compile it.
fn bridge() -> Vec<String> {
    let folder = root().join("bridge");
    let names = ["tcg_bridge.c", "tcg_bridge_companion.c", "tcg_bridge_demand.c", "tcg_bridge_machine.c"];
    let sources = names.map(|name| folder.join(name).display().to_string());
    [format!("-I{}", folder.display())].into_iter().chain(sources).collect()
}

#[test]
fn a_translator_on_the_bridge_sees_what_an_interpreter_sees() {
    if is_there("cc", "a_translator_on_the_bridge_sees_what_an_interpreter_sees") {
        let more_sources: Vec<String> = bridge().into_iter().chain(shared()).collect();
        compile_and_run("cc", "translator.c", "translator", "-std=c11", &more_sources);
    }
}

#[test]
fn a_host_without_caches_has_the_companion_follow_it() {
    if is_there("cc", "a_host_without_caches_has_the_companion_follow_it") {
        let more_sources: Vec<String> = bridge().into_iter().chain(shared()).collect();
        compile_and_run("cc", "followed.c", "followed", "-std=c11", &more_sources);
    }
}

#[test]
fn boxes_count_what_a_host_without_caches_is_followed_for() {
    if is_there("cc", "boxes_count_what_a_host_without_caches_is_followed_for") {
        let boxes = root().join("bridge/tcg_bridge_boxes.c").display().to_string();
        let more_sources: Vec<String> = bridge().into_iter().chain([boxes]).chain(shared()).collect();
        compile_and_run("cc", "followed_boxes.c", "followed_boxes", "-std=c11", &more_sources);
    }
}

#[test]
fn a_nest_counts_what_the_companion_of_a_host_moves() {
    if is_there("cc", "a_nest_counts_what_the_companion_of_a_host_moves") {
        let nest = root().join("bridge/tcg_bridge_nest.c").display().to_string();
        let more_sources: Vec<String> = bridge().into_iter().chain([nest]).chain(shared()).collect();
        compile_and_run("cc", "followed_nest.c", "followed_nest", "-std=c11", &more_sources);
    }
}

#[test]
fn a_bridge_records_what_its_cpu_has_executed() {
    if is_there("cc", "a_bridge_records_what_its_cpu_has_executed") {
        let recording = root().join("bridge/tcg_bridge_recording.c").display().to_string();
        let more_sources: Vec<String> = bridge().into_iter().chain([recording]).chain(shared()).collect();
        compile_and_run("cc", "bridge_recording.c", "bridge-recording", "-std=c11", &more_sources);
    }
}

#[test]
fn the_header_of_the_bridge_is_valid_in_cpp() {
    if is_there("c++", "the_header_of_the_bridge_is_valid_in_cpp") {
        let mut command = Command::new("c++");
        command.args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-fsyntax-only",
            "-x",
            "c++",
            "-std=c++11",
            "-include",
            "stddef.h",
            "-I",
        ]);
        let headers = ["companion", "boxes", "nest", "recording"].map(|name| root().join(format!("bridge/tcg_bridge_{name}.h")));
        succeed(command.arg(installed().join("include")).args(headers));
    }
}

#[test]
fn a_c_program_has_cores_and_chips_post_into_its_memory() {
    if is_there("cc", "a_c_program_has_cores_and_chips_post_into_its_memory") {
        compile_and_run("cc", "posting.c", "posting", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_is_followed_by_a_companion() {
    if is_there("cc", "a_c_program_is_followed_by_a_companion") {
        compile_and_run("cc", "companion.c", "companion", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_says_once_what_its_machine_looks_like() {
    if is_there("cc", "a_c_program_says_once_what_its_machine_looks_like") {
        compile_and_run("cc", "machine_layout.c", "machine_layout", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_says_what_devices_do() {
    if is_there("cc", "a_c_program_says_what_devices_do") {
        compile_and_run("cc", "devices.c", "devices", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_says_how_packages_are_joined_and_what_devices_do() {
    if is_there("cc", "a_c_program_says_how_packages_are_joined_and_what_devices_do") {
        compile_and_run("cc", "fabric.c", "fabric", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_has_the_nest_count_what_accelerators_translate() {
    if is_there("cc", "a_c_program_has_the_nest_count_what_accelerators_translate") {
        compile_and_run("cc", "translations.c", "translations", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_changes_the_threads_of_a_core() {
    if is_there("cc", "a_c_program_changes_the_threads_of_a_core") {
        compile_and_run("cc", "turns.c", "turns", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_hears_what_each_place_of_memory_did() {
    if is_there("cc", "a_c_program_hears_what_each_place_of_memory_did") {
        compile_and_run("cc", "places.c", "places", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_has_boxes_count_what_a_tile_asks_for() {
    if is_there("cc", "a_c_program_has_boxes_count_what_a_tile_asks_for") {
        compile_and_run("cc", "requests.c", "requests", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_decodes_what_it_translates() {
    if is_there("cc", "a_c_program_decodes_what_it_translates") {
        compile_and_run("cc", "decode.c", "decode", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_has_the_nest_count_what_a_companion_moves() {
    if is_there("cc", "a_c_program_has_the_nest_count_what_a_companion_moves") {
        compile_and_run("cc", "traffic.c", "traffic", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_writes_the_device_tree() {
    if is_there("cc", "a_c_program_writes_the_device_tree") {
        compile_and_run("cc", "tree.c", "tree", "-std=c11", &shared());
    }
}

#[test]
fn a_c_program_replays_litmus_files() {
    if is_there("cc", "a_c_program_replays_litmus_files") {
        let suite = root().join("../../guest-tests/litmus/k8");
        let files = std::fs::read_dir(suite).expect("the suite is there").filter_map(|entry| Some(entry.ok()?.path()));
        let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|extension| extension == "litmus")).collect();
        let library = shared();
        let options: Vec<&str> = std::iter::once("-std=c11").chain(library.iter().map(String::as_str)).collect();
        run_with(&compile("cc", "replay.c", "replay", &options), &files);
    }
}

#[test]
fn a_c_program_records_what_is_done_with_a_machine() {
    if is_there("cc", "a_c_program_records_what_is_done_with_a_machine") {
        compile_and_run("cc", "recording.c", "recording", "-std=c11", &shared());
    }
}

#[test]
fn a_cpp_program_drives_machines() {
    if is_there("c++", "a_cpp_program_drives_machines") {
        compile_and_run("c++", "machine.cpp", "machine", "-std=c++11", &shared());
    }
}

#[test]
fn the_headers_are_valid_in_every_standard() {
    let headers = std::fs::read_dir(installed().join("include")).expect("they are installed");
    let headers: Vec<PathBuf> = headers.map(|file| file.expect("the folder can be read").path()).collect();
    assert!(headers.len() > 1);
    for (compiler, language, standards) in
        [("cc", "c", ["c99", "c11", "c17"].as_slice()), ("c++", "c++", ["c++11", "c++17", "c++20"].as_slice())]
    {
        if !is_there(compiler, "the_headers_are_valid_in_every_standard") {
            continue;
        }
        for standard in standards {
            for header in &headers {
                let mut command = Command::new(compiler);
                command.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-x", language]).arg(format!("-std={standard}"));
                // Twice, as when two headers of an emulator include it.
                succeed(command.args(["-include", "stddef.h", "-include"]).arg(header).arg(header));
            }
        }
    }
}

#[test]
fn c_programs_are_clean_under_the_sanitizers_of_addresses_and_undefined_behaviour() {
    let test = "c_programs_are_clean_under_the_sanitizers_of_addresses_and_undefined_behaviour";
    if !is_there("cc", test) {
        return;
    }
    let probe = Path::new(env!("CARGO_TARGET_TMPDIR")).join("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }\n").expect("a file for the compiler can be written");
    let compiled = Command::new("cc").args(SANITIZED).arg(&probe).arg("-o").arg(probe.with_extension("run")).output();
    let works = compiled.is_ok_and(|output| output.status.success())
        && Command::new(probe.with_extension("run")).output().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: {test}, as cc has no sanitizers of addresses and undefined behaviour");
        return;
    }
    let sanitized: Vec<String> = statically().into_iter().chain(SANITIZED.map(str::to_owned)).collect();
    compile_and_run("cc", "counting.c", "counting-sanitized", "-std=c11", &sanitized);
    for source in [
        "misuse",
        "careless",
        "cpu",
        "threads",
        "events",
        "boxes",
        "snapshot",
        "posting",
        "companion",
        "machine_layout",
        "devices",
        "translations",
        "fabric",
        "turns",
        "places",
        "requests",
        "traffic",
        "tree",
    ] {
        compile_and_run("cc", &format!("{source}.c"), &format!("{source}-sanitized"), "-std=c11", &sanitized);
    }
    let more_sources: Vec<String> = bridge().into_iter().chain(sanitized).collect();
    compile_and_run("cc", "translator.c", "translator-sanitized", "-std=c11", &more_sources);
}

#[test]
fn the_pkg_config_file_names_what_is_installed() {
    let text = std::fs::read_to_string(installed().join("lib/pkgconfig/vm_pmu.pc")).expect("it is installed");
    assert!(text.contains(&format!("prefix={}\n", installed().display())), "{text}");
    assert!(text.contains(&format!("Version: {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    let needs = text.lines().find_map(|line| line.strip_prefix("Libs.private: ")).expect("it says what the static library needs");
    assert_eq!(needs.split(' ').collect::<Vec<_>>(), STATIC_NEEDS);
}
