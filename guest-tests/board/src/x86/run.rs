//! The engine and what is attached to it as one: both are compiled together here, optimised, and not wherever a machine is run.

use vm_pmu_engines::x86::{Exit, Limits, Machine};

use super::Cpu;

/// Runs a machine whose CPUs have PMUs attached, as [`Machine::run`] does.
pub fn run(machine: &mut Machine<Cpu<'_>>, limits: Limits) -> Exit {
    machine.run(limits)
}

/// Has KVM execute the instructions of a machine that has not run.
///
/// # Errors
/// In one line, why KVM cannot.
#[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
pub fn execute_with_kvm(machine: &mut Machine<Cpu<'_>>) -> Result<(), String> {
    vm_pmu_engines::kvm::execute_with_kvm(machine)
}

/// Has Unicorn execute the instructions of a machine that has not run.
///
/// # Errors
/// In one line, why Unicorn cannot.
#[cfg(feature = "unicorn")]
pub fn execute_with_unicorn(machine: &mut Machine<Cpu<'_>>) -> Result<(), String> {
    vm_pmu_engines::unicorn::x86::execute_with_unicorn(machine).map(|_| ()).map_err(|error| error.to_string())
}
