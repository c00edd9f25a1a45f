//! The vector-scalar registers beyond the floating-point registers (Power ISA 3.0B, Book I, 7.2.1).

use serde::{Deserialize, Serialize};

/// What the 64 vector-scalar registers have in addition to the floating-point registers, which are the upper doublewords of the first 32.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vectors {
    /// The lower doublewords of registers 0 to 31.
    pub lower: [u64; 32],
    /// Registers 32 to 63, the upper doubleword first.
    pub high: [[u64; 2]; 32],
}

impl Vectors {
    /// Whether all of them are zero.
    #[must_use]
    pub fn are_clear(&self) -> bool {
        *self == Vectors::default()
    }
}
