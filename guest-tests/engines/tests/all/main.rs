//! The interpreters, assemblers and images, a module a subject.

mod ia64;
mod ia64_assembler;
mod images;
mod power;
mod x86;
