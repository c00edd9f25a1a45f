//! What guests of POWER are built from, on the interpreter.

mod kernel;
mod monitor;
#[path = "../../../../engines/tests/all/power/support.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of the engine use all of it")]
mod support;
