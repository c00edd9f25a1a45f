//! The examples do what they say they do.

#[allow(dead_code, reason = "an example has a main function, which nobody calls here")]
#[path = "../examples/toy_cpu.rs"]
mod toy_cpu;

#[cfg(all(feature = "vm-device", feature = "eventfd", any(target_os = "linux", target_os = "android")))]
#[allow(dead_code, reason = "an example has a main function, which nobody calls here")]
#[path = "../examples/vmm_loop.rs"]
mod vmm_loop;

#[cfg(feature = "snapshot")]
#[allow(dead_code, reason = "an example has a main function, which nobody calls here")]
#[path = "../examples/snapshot.rs"]
mod snapshot;

#[test]
fn the_toy_cpu_is_interrupted_every_hundred_instructions() {
    // A turn of the loop is an addition and a jump. The first hundred has the WRMSR that enables, 50 additions and 49 jumps; each later one
    // has the WRMSR that writes the counter, the return and 49 turns.
    let expected = "\
interrupt after 50 additions, counter 0 reads 0
interrupt after 99 additions, counter 0 reads 0
interrupt after 148 additions, counter 0 reads 0
";
    assert_eq!(toy_cpu::run().unwrap(), expected);
}

#[test]
fn a_cpu_with_its_pmu_takes_less_than_forty_lines() {
    let text = include_str!("../examples/toy_cpu.rs");
    let marked =
        text.split_once("// The CPU and its PMU begin here.\n").and_then(|(_, rest)| rest.split_once("// The CPU and its PMU end here."));
    let (cpu, _) = marked.expect("both marks are there");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = cpu.lines().filter(is_code).count();
    assert!((20..40).contains(&lines), "{lines} lines of code between the marks");
}

#[cfg(all(feature = "vm-device", feature = "eventfd", any(target_os = "linux", target_os = "android")))]
#[test]
fn the_monitor_routes_what_its_guests_do() {
    let expected = "\
vCPU 0: RDMSR C0000080h is the monitor's own
vCPU 0: port CFCh reads 0x78438086
vCPU 0: port CFCh reads 0xFFFFFFFF
vCPU 0: memory at 0xEFF42B00 reads 500
vCPU 1: RDMSR 38Eh reads 0x0
vCPU 1: interrupted, IA32_PERF_GLOBAL_STATUS is 0x1
vCPU 1: RDMSR 38Eh reads 0x0
vCPU 1: RDMSR C1h reads 0x0
vCPU 1: #GP for WRMSR 186h
";
    assert_eq!(vmm_loop::run().unwrap(), expected);
}

#[cfg(feature = "snapshot")]
#[test]
fn a_machine_that_was_saved_in_its_middle_goes_on_in_another_and_a_file_that_was_cut_is_refused() {
    let expected = "\
saved after 63 additions and 1 interrupt
interrupt after 99 additions, counter 0 reads 0
interrupt after 148 additions, counter 0 reads 0
interrupt after 197 additions, counter 0 reads 0
ended after 200 additions
interrupt after 99 additions, counter 0 reads 0
interrupt after 148 additions, counter 0 reads 0
interrupt after 197 additions, counter 0 reads 0
ended after 200 additions
both agree
cut at its end: the snapshot is 381 bytes long and 380 were given: pass all that `save` returned and no more
cut in the PMU's part: 10 bytes were given, which end before they say what they are: pass all that `save` returned
cut in the CPU's part: a saved CPU takes 32 bytes and the file has 31
nothing has changed
";
    assert_eq!(snapshot::run().unwrap(), expected);
}
