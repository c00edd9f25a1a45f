//! Register numbers for the pipelines of the Itaniums.
//!
//! The manuals of these parts count waits by the kind of a register. An instruction can be moved, renamed and rotated, so its encoding
//! alone does not tell which registers it works on. An embedder that reports an [`Operation`](crate::Operation) to a pipeline of an Itanium
//! gives each register its number from here. The numbers are those of registers that hold a value, after renaming and rotation.

/// r0 to r31, with r16 to r31 of bank 1, and the 96 physical stacked registers.
pub const GENERAL: u16 = 0;
/// r16 to r31 of bank 0.
pub const BANK_0: u16 = 128;
/// f0 to f127, by their position after rotation.
pub const FLOATING: u16 = 144;
/// p0 to p63, by their position after rotation.
pub const PREDICATES: u16 = 272;
/// b0 to b7.
pub const BRANCH: u16 = 336;
/// AR0 to AR66.
pub const APPLICATION: u16 = 344;
/// CR0 to CR81.
pub const CONTROL: u16 = 411;
/// PSR, as accessed by moves, `ssm` and the like.
pub const STATUS: u16 = 493;
