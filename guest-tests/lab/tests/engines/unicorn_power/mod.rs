//! POWER on Unicorn: what guests show must be what they show on the interpreter.

mod guests;
mod migration;
