//! What stands on the register files, a module a subject. `parts` is a program of its own, as it is built with each part alone.

mod cycles;
#[cfg(feature = "power9")]
mod nest_memory;
mod reasons;
mod toy;
