//! The unwind tables of a file: what they say of callers.
//!
//! Frames of IA-64 have no links in memory. A procedure keeps the return address, and AR.PFS with the frame marker of its caller, where it
//! likes, and its descriptors say where that is, slot by slot (Software Conventions and Runtime Architecture Guide, chapter 11). A
//! procedure without any is by convention a leaf, which has both in their registers.
//!
//! Files are not trusted: what descriptors cannot mean ends a chain, and a sample takes a bounded number of steps.

mod records;
mod state;
mod walk;

pub(crate) use walk::{Frame, Values, callers};

use std::ops::Range;

use state::State;

/// The most bytes of descriptors that are read of a procedure. Those of large functions have a few hundred.
pub const MOST_DESCRIPTORS: usize = 2048;

/// The slots of a bundle.
const SLOTS: u64 = 3;

/// The bytes of a bundle.
pub(crate) const BUNDLE: u64 = 16;

/// A procedure of a file's unwind table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// The address of its first bundle.
    pub start: u64,
    /// The first address behind it.
    pub end: u64,
    /// Where its descriptors are in the file; an empty range if it has none, as a leaf, and nothing if they cannot be read.
    pub descriptors: Option<Range<usize>>,
}

/// The procedures of a file that has unwind tables.
#[derive(Clone, Debug, Default)]
pub struct Procedures {
    file: Vec<u8>,
    sorted: Vec<Procedure>,
}

impl Procedures {
    /// Those of `file`, in any order.
    #[must_use]
    pub fn new(file: Vec<u8>, mut procedures: Vec<Procedure>) -> Procedures {
        procedures.sort_by_key(|procedure| procedure.start);
        Procedures { file, sorted: procedures }
    }

    /// Whether a table has the procedure that `bundle` belongs to.
    pub(crate) fn has(&self, bundle: u64) -> bool {
        self.find(bundle).is_some()
    }

    fn find(&self, bundle: u64) -> Option<&Procedure> {
        let above = self.sorted.partition_point(|procedure| procedure.start <= bundle);
        self.sorted.get(above.checked_sub(1)?).filter(|procedure| bundle < procedure.end)
    }

    /// What holds after the instruction in `slot` of `bundle`, which `procedure` has.
    fn state(&self, procedure: &Procedure, bundle: u64, slot: u8) -> Option<State> {
        let descriptors = self.file.get(procedure.descriptors.clone()?).filter(|bytes| bytes.len() <= MOST_DESCRIPTORS)?;
        State::after(bundle.checked_sub(procedure.start)? / BUNDLE * SLOTS + u64::from(slot), descriptors)
    }
}
