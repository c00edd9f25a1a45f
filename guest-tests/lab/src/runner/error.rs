//! Why a guest could not be run.

use std::fmt;

use vm_pmu::arch::registry::{NAMES, Part};
use vm_pmu_engines::x86::{ImageError, MachineError};
use vm_pmu_guests as guests;

use super::{DebugError, Engine, MigrateError};
use crate::dialect::select;
use crate::number::grouped;

/// Why a guest could not be run. A guest that runs and fails is no error: its report says so.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// There is no PMU of this name.
    UnknownPmu {
        /// The name.
        name: String,
    },
    /// The PMU has no such revision.
    UnknownRevision {
        /// The PMU's name.
        pmu: String,
        /// The letter.
        revision: String,
    },
    /// There is no guest of this name, and no file either.
    UnknownGuest {
        /// The name.
        name: String,
        /// The PMU's name.
        pmu: String,
    },
    /// The file could not be read.
    Unreadable {
        /// Its path.
        path: String,
        /// What the host said.
        error: std::io::Error,
    },
    /// The file is no guest.
    BadImage {
        /// Its path.
        path: String,
        /// Why.
        error: ImageError,
    },
    /// A guest of the project could not be assembled.
    Assembler {
        /// Its name.
        guest: String,
        /// Why.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The guest counts what only the companion makes, and there is none.
    NeedsCompanion {
        /// Its name.
        guest: String,
    },
    /// The part has no such PMUs.
    Pmus(vm_pmu::topology::BuildError),
    /// The engine refused the guest.
    Machine(MachineError),
    /// The CPUs cannot be divided among so many nodes.
    Nodes {
        /// How many CPUs.
        cpus: usize,
        /// How many nodes.
        nodes: usize,
        /// The PMU's name.
        pmu: String,
    },
    /// The part has no MCDRAM that could be memory.
    MemoryMode {
        /// The PMU's name.
        pmu: String,
    },
    /// The machine has no such thread to be traced.
    NoThread {
        /// Its number.
        thread: usize,
        /// How many there are.
        threads: usize,
    },
    /// The engine of POWER refused the guest.
    PowerMachine(vm_pmu_engines::power::MachineError),
    /// The host firmware of POWER cannot be set up.
    Firmware {
        /// Why, in one line.
        reason: String,
    },
    /// The engine of IA-64 refused the guest.
    Ia64Machine(vm_pmu_engines::ia64::MachineError),
    /// The engine does not run here, or not this guest.
    Engine {
        /// The engine.
        engine: Engine,
        /// Why, in one line.
        reason: String,
    },
    /// The guest ended before it was to be saved.
    EndedEarly {
        /// After how many steps it was to be.
        steps: u64,
        /// How it ended, in one line.
        ending: String,
    },
    /// The run was to be saved when it had been given up already.
    SavedTooLate {
        /// After how many steps it was to be saved.
        steps: u64,
        /// After how many it is given up.
        limit: u64,
    },
    /// The run could not be saved, or did not go on.
    Migrate(MigrateError),
    /// The option is not for runs with cycles of the time-stamp counter, or those are not for this engine.
    NotWithTsc {
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// It cannot be run step by step.
    NotStepped {
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// A debugger cannot run it.
    NotWithGdb {
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// No debugger could be waited for.
    Debug(DebugError),
    /// The option is not for this PMU's engine.
    NotForEngine {
        /// The option.
        option: &'static str,
        /// The PMU's name.
        pmu: String,
    },
}

impl RunError {
    /// # Errors
    /// [`RunError::Engine`] if this build does not have the engine, or it does not execute guests of `pmu`.
    pub(super) fn check(engine: Engine, pmu: &str) -> Result<(), RunError> {
        engine.refusal(pmu).map_or(Ok(()), |reason| Err(RunError::Engine { engine, reason }))
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPmu { name } => write!(f, "there is no PMU `{name}`: the PMUs are {}", NAMES.join(", ")),
            Self::UnknownRevision { pmu, revision } => match Part::named(pmu) {
                Some(part) => f.write_str(&select::no_revision(part, revision)),
                None => write!(f, "{pmu} has no revision `{revision}`"),
            },
            Self::UnknownGuest { name, pmu } => {
                write!(f, "`{name}` is neither a guest for {pmu} nor a file: the guests are ")?;
                let names: Vec<&str> = guests::of(pmu).map(|guest| guest.name).collect();
                f.write_str(&names.join(", "))
            }
            Self::Unreadable { path, error } => write!(f, "{path} cannot be read: {error}"),
            Self::BadImage { path, error } => write!(f, "{path} is not a guest: {}", refused(error)),
            Self::Assembler { guest, error } => write!(f, "the guest {guest} does not assemble: {error}"),
            Self::NeedsCompanion { guest } => {
                write!(f, "the guest {guest} counts events that only the companion supplies: leave out `--companion off`")
            }
            Self::Pmus(error) => write!(f, "the PMUs cannot be built: {error}"),
            Self::Machine(error) => write!(f, "the engine refuses the guest: {error}"),
            Self::Nodes { cpus, nodes, pmu } if pmu == "k8" => {
                write!(f, "{cpus} CPUs cannot be divided among {nodes} nodes: the number of CPUs must be a multiple of that of nodes")
            }
            Self::Nodes { nodes, pmu, .. } => write!(f, "a machine of {pmu} has one chip, not {nodes}: leave out `--chips`"),
            Self::MemoryMode { pmu } => write!(f, "{pmu} has no MCDRAM: leave out `--memory-mode`"),
            Self::NoThread { thread, threads: 1 } => write!(f, "there is no thread {thread} to trace: the machine has thread 0 alone"),
            Self::NoThread { thread, threads } => {
                write!(f, "there is no thread {thread} to trace: the machine has threads 0 to {}", threads - 1)
            }
            Self::PowerMachine(error) => write!(f, "the engine refuses the guest: {error}"),
            Self::Firmware { reason } => write!(f, "the firmware cannot be set up: {reason}"),
            Self::Ia64Machine(error) => write!(f, "the engine refuses the guest: {error}"),
            Self::Engine { engine, reason } => write!(f, "the engine {engine} cannot run it: {reason}"),
            Self::EndedEarly { steps, ending } => {
                write!(f, "the guest ended before it had taken {} steps, so it was not saved: {ending}", grouped(*steps))
            }
            Self::SavedTooLate { steps, limit } => {
                write!(
                    f,
                    "it cannot be saved after {} steps, because the run stops after {}: save it earlier",
                    grouped(*steps),
                    grouped(*limit)
                )
            }
            Self::Migrate(error) => write!(f, "the run cannot be moved: {error}"),
            Self::NotWithTsc { reason } => write!(f, "cycles of the time-stamp counter: {reason}"),
            Self::NotStepped { reason } | Self::NotWithGdb { reason } => f.write_str(reason),
            Self::Debug(error) => error.fmt(f),
            Self::NotForEngine { option, pmu } => write!(f, "`{option}` is not for guests of {pmu}: leave it out"),
        }
    }
}

/// The parts whose guests are ELF files of this `e_machine`.
pub(crate) const fn parts_of(machine: u16) -> &'static [&'static str] {
    match machine {
        62 => &["k8", "knl"],
        21 => &["power9"],
        50 => &["itanium", "montecito"],
        _ => &[],
    }
}

/// Why a file is no guest of a part, and of which parts it is one.
pub(crate) fn refused(error: &ImageError) -> String {
    let parts = match error {
        ImageError::WrongMachine { machine, .. } => parts_of(*machine),
        _ => &[],
    };
    let parts: Vec<String> = parts.iter().map(|part| format!("`--pmu {part}`")).collect();
    if parts.is_empty() { error.to_string() } else { format!("{error}; for it, choose {}", parts.join(" or ")) }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { error, .. } => Some(error),
            Self::BadImage { error, .. } => Some(error),
            Self::Assembler { error, .. } => Some(&**error),
            Self::Pmus(error) => Some(error),
            Self::Machine(error) => Some(error),
            Self::PowerMachine(error) => Some(error),
            Self::Ia64Machine(error) => Some(error),
            Self::Migrate(error) => Some(error),
            Self::Debug(error) => Some(error),
            _ => None,
        }
    }
}
