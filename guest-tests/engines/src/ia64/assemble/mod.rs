//! A small assembler for IA-64: bundles from Rust, with labels.
//!
//! ```
//! use vm_pmu_engines::ia64::assemble::{Ar, Assembler, P7, R3, R4, Template, adds, br_cloop, mov_to_ar_i, nop};
//!
//! let mut a = Assembler::new(0x10_0000);
//! a.load(R4, 9);
//! a.put(mov_to_ar_i(Ar::LC, R4));
//! let again = a.mark();
//! a.bundle(Template::MIB_S, [adds(R3, 2, R3).when(P7), nop(0), br_cloop(again)]);
//! assert_eq!(a.finish().unwrap().len(), 3 * 16);
//! ```
//!
//! Each function is an instruction and has its mnemonic, with `_` for the dots. `_imm` ends the name where the source is a number and there
//! is a form with a register too. It returns an [`Op`], whose methods add what an instruction may have in addition to its operands: a
//! qualifying predicate by [`when`](Op::when), an increment of the address by [`post`](Op::post), hints. Operands are in the order of the
//! manuals: what is written first. What cannot be encoded is noticed at once and reported by [`Assembler::finish`].
//!
//! # From instructions to bundles
//!
//! Counts of guests depend on every no-operation, so nothing is packed that was not asked for:
//!
//! * [`Assembler::bundle`] takes a template and the instructions of its slots: exact code.
//! * [`Assembler::put`] gives an instruction its own bundle, with a stop at its end. Memory and integer (`M`, `A`) instructions are in slot
//!   0 of an MII bundle, `I` in slot 1 of one; `F` in slot 1 of MFI, `B` in slot 2 of MIB, `movl` and `brl` after the first slot of MLX.
//!   No-operations fill the rest, so that a bundle is three instructions, or two if it is MLX. The few `M` that must be the last of their
//!   group (`itc`, `ptc.g`, `ptc.ga`) have a stop after them, in M;;MI.
//! * [`Assembler::group`] packs the instructions of one group in their order. The next bundle is always the one that takes most of what is
//!   left; between equals, the template of the lowest number. The last bundle has the stop.
//!
//! Encodings: Itanium Architecture Software Developer's Manual, volume 3, chapter 4, whose names of formats (A1, M16, ...) are at the
//! functions.

mod branches;
mod bundle;
mod code;
mod compare;
mod floating;
mod integer;
mod memory;
mod moves;
mod multimedia;
mod op;
mod registers;
mod shifts;
mod system;

pub use branches::*;
pub use bundle::Template;
pub use code::{AssembleError, Assembler};
pub use compare::*;
pub use floating::*;
pub use integer::*;
pub use memory::*;
pub use moves::*;
pub use multimedia::*;
pub use op::Label;
pub use op::{Locality, Op, Whether};
pub use registers::*;
pub use shifts::*;
pub use system::*;
