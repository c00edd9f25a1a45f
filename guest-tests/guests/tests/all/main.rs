//! The assembled guests and their kernels, a module a subject.

mod ia64_kernel;
mod power;
mod routines;
