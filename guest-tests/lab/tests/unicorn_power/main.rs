//! POWER on Unicorn: what guests show must be what they show on the interpreter.
#![cfg(feature = "unicorn")]

mod guests;
mod migration;
