//! The interpreter against results worked out from the AMD64 and Intel manuals.

mod breakpoints;
mod exceptions;
mod instructions;
mod machines;
mod observed;
mod pci;
mod properties;
mod saved;
mod support;
