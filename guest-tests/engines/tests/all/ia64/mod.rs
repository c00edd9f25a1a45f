//! The IA-64 interpreter against results worked out from the architecture's manual.

mod branches;
mod firmware;
mod floating;
mod integer;
mod interruptions;
mod observed;
mod random;
mod saved;
mod storage;
mod support;
mod system;
mod threads;
