//! What is counted in vain is logged once a machine.

use std::sync::Mutex;

use log::{LevelFilter, Log, Metadata, Record};
use vm_pmu::topology::Builder;
use vm_pmu::{Signal, SignalSet};

struct Lines(Mutex<Vec<String>>);

static LINES: Lines = Lines(Mutex::new(Vec::new()));

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        self.0.lock().unwrap().push(record.args().to_string());
    }

    fn flush(&self) {}
}

#[test]
fn each_signal_that_is_counted_in_vain_is_logged_once_a_machine() {
    log::set_logger(&LINES).unwrap();
    log::set_max_level(LevelFilter::Debug);
    let machine = Builder::new("k8").unwrap().threads(2).supplies(SignalSet::only(Signal::InstructionsRetired)).build(|_, _| {}).unwrap();
    for (thread, select) in [(0, 0x0042_00C0), (0, 0x0042_0041), (0, 0x0042_00CF), (1, 0x0042_0041), (1, 0x0042_00C1)] {
        machine.thread(thread).unwrap().wrmsr(0xC001_0000, select).unwrap();
    }
    assert_eq!(
        *LINES.0.lock().unwrap(),
        [
            // Retired instructions add up exceptions and interrupts.
            "thread 0 counts interrupts_taken, which is not supplied",
            "thread 0 counts exceptions_taken, which is not supplied",
            "thread 0 counts data_cache_misses, which is not supplied",
            "thread 1 counts micro_ops_retired, which is not supplied",
        ]
    );
}
