//! Why a machine could not be built, or did not take what was saved.

use core::fmt;

use vm_pmu_arch::feed::Signal;
use vm_pmu_arch::registry::Part;

/// The most packages of a machine, and the most threads of a package.
pub(super) const MOST: usize = u16::MAX as usize;

/// The part does not have what the builder was asked for.
///
/// ```
/// use vm_pmu::topology::{BuildError, Builder};
///
/// let builder = Builder::new("power9").unwrap().threads(5);
/// let refused = builder.build(|_thread, _counter| {}).map(drop).unwrap_err();
/// assert!(matches!(refused, BuildError::Threads { threads: 5, .. }));
/// assert_eq!(refused.to_string(), "a package of power9 has 1, 2 or 4 threads, not 5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BuildError {
    /// No package of the part has that many threads: see [`Shape::package_threads`](vm_pmu_arch::model::Shape::package_threads).
    Threads {
        /// The part.
        part: Part,
        /// How many threads a package was to have.
        threads: usize,
    },
    /// No machine of the part has that many packages: see [`Shape::most_packages`](vm_pmu_arch::model::Shape::most_packages).
    Packages {
        /// The part.
        part: Part,
        /// How many packages the machine was to have.
        packages: usize,
    },
    /// [`Builder::share_counters`](super::Builder::share_counters) for a part whose threads share no counters.
    SharedCounters(Part),
    /// `Builder::buses` for a part without boxes.
    Buses(Part),
    /// `Builder::frequencies` for a part without boxes.
    Frequencies(Part),
    /// `Builder::die` for a part without tiles.
    Die(Part),
    /// The part does not have the signal of the [pace](super::Builder::pace), so no thread would ever reach its horizon.
    Pace {
        /// The part.
        part: Part,
        /// The signal.
        signal: Signal,
    },
    /// The interrupt line is for fewer threads than the machine has, so requests of the others would be lost: see
    /// [`InterruptLine::threads`](crate::irq::InterruptLine::threads).
    Lines {
        /// How many threads the machine was to have, in all its packages.
        threads: usize,
        /// How many threads the line takes requests of.
        lines: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BuildError::Threads { part, threads } => {
                write!(formatter, "a package of {} has ", part.name())?;
                match part.shape().package_threads {
                    Some([rest @ .., last]) if !rest.is_empty() => {
                        list(formatter, rest, ", ")?;
                        write!(formatter, " or {last} threads")
                    }
                    Some(_) => write!(formatter, "1 thread"),
                    None => write!(formatter, "1 to {MOST} threads"),
                }?;
                write!(formatter, ", not {threads}")
            }
            BuildError::Packages { part, packages } => {
                let most = part.shape().most_packages.unwrap_or(MOST);
                write!(formatter, "a machine of {} has 1 to {most} packages, not {packages}", part.name())
            }
            BuildError::SharedCounters(part) => {
                write!(formatter, "{} has no counters that its threads share: leave the option for shared counters out", part.name())
            }
            BuildError::Buses(part) => write!(formatter, "{} has no boxes behind buses: leave the buses out", part.name()),
            BuildError::Die(part) => write!(formatter, "{} has no tiles: leave the die out", part.name()),
            BuildError::Frequencies(part) => {
                write!(formatter, "{} has no boxes with clocks of their own: leave the frequencies out", part.name())
            }
            BuildError::Pace { part, signal } => {
                write!(formatter, "{} has no signal {}: take cycles for the pace, or another that it has", part.name(), signal.name())
            }
            BuildError::Lines { threads, lines } => {
                write!(formatter, "the interrupt line is for {lines} of {threads} threads: give it one line for each thread")
            }
        }
    }
}

impl core::error::Error for BuildError {}

fn list<T: fmt::Display>(formatter: &mut fmt::Formatter<'_>, items: &[T], between: &str) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        write!(formatter, "{}{item}", if number == 0 { "" } else { between })?;
    }
    Ok(())
}

/// Why saved states were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// There are not as many states as threads.
    Threads {
        /// How many states there are.
        saved: usize,
        /// How many threads the machine has.
        machine: usize,
    },
    /// A state was saved from another part, or another revision of the part.
    Part {
        /// The part that it was saved from.
        saved: Part,
        /// The part that the machine is built of.
        machine: Part,
    },
}

impl core::fmt::Display for RestoreError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RestoreError::Threads { saved, machine } => {
                write!(formatter, "{saved} threads were saved and the machine has {machine}: build one with as many")
            }
            RestoreError::Part { saved, machine } => {
                write!(formatter, "the state is of {saved} and the machine is {machine}: build one of the same part")
            }
        }
    }
}

impl core::error::Error for RestoreError {}
