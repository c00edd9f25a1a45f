//! Guests that run freely on the host's processor, and whose cycles are those of its time-stamp counter.
//!
//! With cycles by steps, every instruction of the guest is known. Here what it executes is unknown, and it is as fast as the host. Of a
//! PMU's signals only cycles are left: the ticks of the time-stamp counter between an entry to the vCPU and its exit, without those during
//! which the host gave the processor to others.
//!
//! # What comes to the engine
//!
//! - Registers of the PMU, and those that KVM does not know, by exits of its filter; ports, the local APIC and other devices; HLT.
//! - RDPMC, for which KVM has no exit: before the guest starts, its executable segments are disassembled, and an INT3 replaces the first
//!   byte of each RDPMC. The same is done with INS, OUTS and IRET, and with what this host's KVM executes differently from a processor
//!   (`trial`). Code that a guest makes for itself has no such marks, and code that reads itself sees them. The handler of a fault may do
//!   that: the mark at the instruction that faulted is removed until the next IRET.
//! - Instructions that KVM would have to emulate and cannot, and all of level 3 where KVM does not stop at breakpoints there.
//! - A signal at the next deadline of the PMU or the local APIC's timer, and at least every millisecond. So an interrupt comes late, by as
//!   long as the host needs to bring a vCPU out. The counters are exact at that moment, as the model is synchronised at each deadline
//!   between entry and exit.
//!
//! What the engine does in between takes no time: a guest that compares its counter with RDTSC finds fewer cycles than ticks. A halted
//! CPU's cycles are the ticks that it slept for.
//!
//! # What cannot be counted
//!
//! Everything else, and cycles at one level of privilege only: a change of the level is not reported. A guest that asks for such a count is
//! stopped when it does, rather than given a wrong number.

mod breakpoints;
mod processor;
mod registers;
mod trial;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use vm_pmu::Part;

use super::host::Host;
use crate::image::Image;
use crate::x86::{Alerts, CpuView, Exit, Machine, Observer};
use breakpoints::Breakpoints;
use processor::Processor;

/// An observer to which cycles are enough.
pub trait Timed: Observer {
    /// The CPU executed for `cycles` cycles; which instructions is unknown.
    fn elapse(&mut self, cycles: u64, cpu: &CpuView<'_>) -> Alerts;

    /// How many cycles the CPU may execute for before they must be reported; none if that does not matter.
    fn room(&self) -> Option<u64>;

    /// What is counted that needs more than cycles, in a few words, if anything is.
    fn beyond_cycles(&mut self) -> Option<String>;
}

/// Whether guests can run so on this host's KVM.
pub(super) fn ready() -> Result<(), String> {
    trial::share().map(|_| ())
}

/// Runs a machine with the PMU of `part` that has loaded `image` and not run, each CPU on its own host thread, for at most `longest`.
///
/// # Errors
/// In one line, why KVM cannot run it.
pub fn run<O: Timed>(machine: &mut Machine<O>, image: &Image, part: Part, longest: Duration) -> Result<Exit, String> {
    let share = trial::share()?;
    let memory = Arc::clone(machine.memory());
    let host = Arc::new(Host::with_pmu_of(part, &memory)?);
    let breakpoints = Arc::new(Breakpoints::place(&memory, image, &share.marked)?);
    let (cpus, shared, _) = machine.parts_mut();
    let mut processors = Vec::new();
    for (number, cpu) in cpus.iter_mut().enumerate() {
        processors.push(Processor::new(&host, host.vcpu_of(number, part)?, &cpu.core, &breakpoints, share.user)?);
        cpu.begin();
    }
    let interrupter = &shared.interrupter;
    interrupter.set_stopping(false);
    let late = Instant::now() + longest;
    let result: Mutex<Option<Exit>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for (processor, cpu) in processors.iter_mut().zip(cpus) {
            let result = &result;
            scope.spawn(move || {
                if let Some(exit) = processor.run(cpu, late) {
                    result.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exit);
                    interrupter.set_stopping(true);
                }
            });
        }
    });
    breakpoints.remove(&memory);
    Ok(result.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or(Exit::Limit))
}
