//! The engine and what is attached to it as one: both are compiled together here, optimised, and not wherever a machine is run.

use vm_pmu_engines::power::{Exit, Limits, Machine};

use super::Cpu;

/// Runs a machine whose CPUs have PMUs attached, as [`Machine::run`] does.
pub fn run(machine: &mut Machine<Cpu<'_>>, limits: Limits) -> Exit {
    machine.run(limits)
}

/// The same on Unicorn.
///
/// # Errors
/// In one line, why Unicorn cannot.
#[cfg(feature = "unicorn")]
pub fn run_on_unicorn(machine: &mut Machine<Cpu<'_>>, limits: Limits) -> Result<Exit, String> {
    use vm_pmu_engines::unicorn::power::Emulation;
    Emulation::new(machine).and_then(|mut emulation| emulation.run(machine, limits)).map_err(|refusal| refusal.to_string())
}
