//! The engine and what is attached to it as one: both are compiled together here, optimised, and not wherever a machine is run.

use vm_pmu_engines::ia64::{Exit, Limits, Machine};

use super::Cpu;

/// Runs a machine whose threads have PMUs attached, as [`Machine::run`] does.
pub fn run(machine: &mut Machine<Cpu<'_>>, limits: Limits) -> Exit {
    machine.run(limits)
}
