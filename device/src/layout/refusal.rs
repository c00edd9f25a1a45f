//! Why there is no such machine.

use core::fmt;

use vm_pmu_arch::registry::Part;

use crate::topology::BuildError;

/// The part does not have what the layout asks for.
///
/// ```
/// use vm_pmu::layout::Layout;
///
/// let refused = Layout::new("knl").unwrap().cores(3).check().unwrap_err();
/// assert_eq!(refused.to_string(), "cores of knl come by 2, so there cannot be 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// There is no package, or no core.
    Empty {
        /// The part.
        part: Part,
    },
    /// No core of the part has so many threads.
    Threads {
        /// The part.
        part: Part,
        /// How many were asked for.
        threads: usize,
    },
    /// Its PMUs cannot be built.
    Pmus(BuildError),
    /// Cores of the part come in tiles.
    Cores {
        /// The part.
        part: Part,
        /// How many were asked for.
        cores: usize,
    },
    /// Tiles, a mode or MCDRAM for a part without tiles.
    Die {
        /// The part.
        part: Part,
    },
    /// The die has more or fewer tiles than the cores need.
    Tiles {
        /// How many there are.
        tiles: usize,
        /// How many cores were asked for.
        cores: usize,
    },
    /// A cluster mode of several nodes, without a size of memory.
    Nodes,
    /// MCDRAM that is memory, without a size of the memory below it.
    Mcdram,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Empty { part } => write!(formatter, "a machine of {} has a package and a core at least", part.name()),
            LayoutError::Threads { part, threads } => {
                let shape = part.shape();
                let all = shape.package_cores.is_some_and(|cores| cores > 1) || shape.core_threads == 1;
                let (name, most) = (part.name(), shape.core_threads);
                let from = if all { "" } else { "1 to " };
                let plural = if most == 1 { "" } else { "s" };
                write!(formatter, "a core of {name} has {from}{most} thread{plural}, not {threads}")
            }
            LayoutError::Pmus(error) => error.fmt(formatter),
            LayoutError::Die { part } => write!(formatter, "{} has no tiles", part.name()),
            LayoutError::Tiles { tiles, cores } => write!(formatter, "{tiles} tiles are chosen for {cores} cores of two each"),
            LayoutError::Nodes => write!(formatter, "nodes divide the memory of the package, whose size is missing"),
            LayoutError::Mcdram => write!(formatter, "MCDRAM begins above the memory of the package, whose size is missing"),
            LayoutError::Cores { part, cores } => {
                let together = part.shape().package_cores.unwrap_or(1);
                write!(formatter, "cores of {} come by {together}, so there cannot be {cores}", part.name())
            }
        }
    }
}

impl core::error::Error for LayoutError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        if let LayoutError::Pmus(error) = self { Some(error) } else { None }
    }
}
