//! Device tree nodes by which an operating system finds its performance monitors.
//!
//! The embedder writes its tree with a [`vm_fdt::FdtWriter`], opens the parent node, and calls the function that writes into it. The crate
//! `vm_fdt` is exported, so that both use the same version.

pub mod power9;

pub use vm_fdt;
