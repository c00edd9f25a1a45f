//! Device tree nodes by which an operating system finds its performance monitors.
//!
//! The embedder writes its tree with a [`vm_fdt::FdtWriter`], opens the node in which something belongs, and calls the function that
//! writes it. The crate that this is done with is exported, so that both use the same one.

pub mod power9;

pub use vm_fdt;
