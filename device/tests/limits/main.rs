//! What the library takes of its host: memory and stack. A program of its own, as counting allocations replaces the allocator.

mod allocation;
#[path = "../suite/files.rs"]
mod files;
mod mixed;
mod stack;
