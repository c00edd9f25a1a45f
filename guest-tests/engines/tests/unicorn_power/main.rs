//! POWER on Unicorn, step by step as on the interpreter.
#![cfg(feature = "unicorn")]

mod machine;
mod random;
mod support;
