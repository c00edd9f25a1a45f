//! The examples do what they say they do.

#[allow(dead_code, reason = "an example has a main function, which nobody calls here")]
#[path = "../../examples/toy_cpu.rs"]
mod toy_cpu;

#[allow(dead_code, reason = "an example has a main function, which nobody calls here")]
#[path = "../../examples/translator.rs"]
mod translator;

#[cfg(all(feature = "vm-device", feature = "eventfd", any(target_os = "linux", target_os = "android")))]
#[allow(dead_code, reason = "an example has a main function, which nobody calls here")]
#[path = "../../examples/vmm_loop.rs"]
mod vmm_loop;

#[cfg(feature = "snapshot")]
#[allow(dead_code, reason = "an example has a main function, which nobody calls here")]
#[path = "../../examples/snapshot.rs"]
mod snapshot;

#[test]
fn the_toy_cpu_is_interrupted_every_hundred_events_of_its_program() {
    // A turn of the loop is three instructions. After 100, 200, 300 and 400 of the program's instructions there have been 33, 67, 100 and
    // 133 additions; the interrupt then counts as well, at the level that it interrupts. The loop has 450, so 50 are left for the last
    // period, and the fault of RDPMC is one more: 100 - 51 are missing.
    let expected = "\
after 33 additions counter 0 reads 1
after 67 additions counter 0 reads 1
after 100 additions counter 0 reads 1
after 133 additions counter 0 reads 1
after 150 additions counter 0 reads -49
";
    assert_eq!(toy_cpu::run().unwrap(), expected);
}

#[test]
fn a_pmu_takes_less_than_forty_lines_of_the_toy_cpu() {
    // Every line that names something of the library, or one of the lists of signals.
    let words = ["vm_pmu", "Builder", "Flags", "Context", "Fault", "Signal", "machine", "pmu.", "ANY", "LOAD", "TAKEN", "FAR"];
    let code = include_str!("../../examples/toy_cpu.rs").lines().filter(|line| !line.trim_start().starts_with("//"));
    let lines = code.filter(|line| words.iter().any(|word| line.contains(word))).count();
    assert!((20..40).contains(&lines), "{lines} lines of the toy CPU have to do with its PMU");
}

#[test]
fn the_translator_is_interrupted_every_hundred_events_within_its_blocks() {
    // The WRMSR that enables the counter is its first event, so 99 instructions of the loop follow: 24 turns of four, and three of the next, with
    // 50 additions. The interrupt counts as well. Behind the handler's WRMSR, which is counted, and its return 98 events are left: one that ends
    // the turn, 24 turns, and an addition: 99. Then three that end the turn, 23 turns, and three: 100, 146, 148. Of the 98 that are left then one ends
    // the turn, four are the last one, and an addition and the fault make seven. Each of the 75 turns has a branch,
    // and the event of branches counts three interrupts and the fault too.
    let expected = "\
after 50 additions counter 0 reads 1
after 99 additions counter 0 reads 1
after 148 additions counter 0 reads 1
after 151 additions counter 0 reads -91
after 151 additions counter 1 reads 79
";
    assert_eq!(translator::run().unwrap(), expected);
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
cut at its end: the snapshot is 436 bytes long and 435 were given: pass all that `save` returned and no more
cut in the PMU's part: 10 bytes were given, which end before they say what they are: pass all that `save` returned
cut in the CPU's part: a saved CPU takes 32 bytes and the file has 31
nothing has changed
";
    assert_eq!(snapshot::run().unwrap(), expected);
}
