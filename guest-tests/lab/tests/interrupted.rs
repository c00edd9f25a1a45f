//! A run that somebody ends. It has a program of its own: a signal is for the whole process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::low_level::raise;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::companion::Clock;
use vm_pmu_board::trace::{Listener, Sample, Sink};
use vm_pmu_engines::image::Image;
use vm_pmu_guests::power;
use vm_pmu_lab::interrupt;
use vm_pmu_lab::report::Trace;
use vm_pmu_lab::runner::{Options, run_image};

/// Presses Ctrl-C once, when the guest has written a register.
#[derive(Debug, Default)]
struct Impatient(AtomicBool);

impl Sink for Impatient {
    fn begin(&self, _thread: usize, _registers: &[&'static RegisterDescription]) {}

    fn tell(&self, _entry: &Trace) {
        if !self.0.swap(true, Ordering::Relaxed) {
            raise(SIGINT).expect("a signal");
        }
    }

    fn sample(&self, _sample: &Sample<'_>) {}

    fn every(&self) -> u64 {
        u64::MAX
    }
}

/// A guest that writes 7 to PMC1 and does not end.
fn endless() -> Image {
    let mut k = power::Kernel::new(true);
    k.main();
    k.write(787, 7);
    let forever = k.a.label();
    k.a.here(forever);
    k.a.b(forever);
    k.end_main();
    k.finish().unwrap()
}

#[test]
fn ctrl_c_ends_a_guest_with_its_report() {
    interrupt::listen().expect("signals are handled");
    let listener = Some(Listener(Arc::new(Impatient::default())));
    let options = Options { listener, ..Options::default() };
    let report = run_image("power9", "endless", &endless(), 1, Clock::Embedder, &options).unwrap();
    // The end of the first stretch of 2^19 steps.
    assert_eq!((report.passed, report.ending.as_str()), (false, "interrupted after 524,288 steps"));
    let pmc1 = report.registers.iter().find(|register| register.name == "PMC1").expect("PMC1");
    assert_eq!(pmc1.value, 7);
    assert_eq!(report.positions.len(), 1);
}
