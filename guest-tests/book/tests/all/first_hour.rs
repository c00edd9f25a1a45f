//! The page of the first hour shows what its commands do.

use std::fs;
use std::path::{Path, PathBuf};

use vm_pmu::litmus::Litmus;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/src/first-hour.md")).expect("the page is there")
}

/// The blocks of output that the page shows.
fn blocks(page: &str) -> Vec<&str> {
    page.split("```text\n").skip(1).filter_map(|behind| behind.split("```").next()).collect()
}

#[test]
fn its_litmus_file_fails_and_then_comes_true() {
    let page = page();
    let text = blocks(&page).into_iter().find(|block| block.starts_with("title:")).expect("a litmus file");
    let litmus: Litmus = text.parse().expect("a litmus file");
    let failure = litmus.run().expect_err("the mistake is in it").to_string();
    // A long line is folded.
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("FAILED target/hour/period.litmus: {failure} ")), "{failure}");
    let litmus: Litmus = text.replace("write PerfCtr0 3", "write PerfCtr0 -3").parse().expect("a litmus file");
    litmus.run().expect("it comes true");
}

/// Builds the driver and runs it as the page says. `None` where there is no GCC.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn run(source: &str, name: &str) -> Option<(u8, String)> {
    use std::process::{Command, Stdio};
    use vm_pmu_lab::engines::Engines;
    use vm_pmu_lab::output::Output;

    let page = page();
    let line = page.lines().find(|line| line.starts_with("gcc ")).expect("a command that builds it");
    let flags: Vec<&str> = line.split(' ').skip(1).take_while(|word| *word != "-o").collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (program, file) = (folder.join(name), folder.join(format!("{name}.c")));
    fs::write(&file, source).expect("a file can be written");
    Command::new("gcc").arg("--version").stdout(Stdio::null()).status().ok()?;
    let status = Command::new("gcc")
        .args(flags)
        .args(["-Wall", "-Wextra", "-Werror"])
        .arg("-o")
        .arg(&program)
        .arg(&file)
        .status()
        .expect("GCC runs");
    assert!(status.success(), "{line}");
    let (mut shown, mut errors) = (Vec::new(), Vec::new());
    let arguments = ["pmulab".into(), "run".into(), "--guest".into(), program.into_os_string()];
    let status = vm_pmu_lab::commands::main(arguments, &Engines, &mut Output::new(&mut shown), &mut errors);
    Some((status, String::from_utf8_lossy(&shown).into_owned()))
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn its_driver_fails_and_passes_when_one_line_is_changed() {
    let page = page();
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("    wrmsr(PERF_CTR0, ") && line.ends_with("period */")).collect();
    let [.., wrong, right] = lines[..] else { panic!("the page shows the line twice: {lines:?}") };
    let source = fs::read_to_string(root().join("docs/first-hour/driver.c")).expect("the driver is there");
    assert!(source.contains(wrong));
    for (source, name, status, end) in [(source.clone(), "wrong", 1, "FAIL\n"), (source.replace(wrong, right), "right", 0, "PASS\n")] {
        let Some((ended, shown)) = run(&source, name) else { return };
        assert_eq!(ended, status, "{shown}");
        let block =
            blocks(&page).into_iter().find(|block| block.contains("Interrupts at overflow") && block.ends_with(end)).expect("its output");
        for line in block.lines().filter(|line| *line != "...") {
            assert!(shown.lines().any(|other| other == line), "`{line}` is not in\n{shown}");
        }
    }
}
