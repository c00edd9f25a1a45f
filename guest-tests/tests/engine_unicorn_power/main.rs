//! POWER on Unicorn: what guests show must be what they show on the project's own engine.
#![cfg(feature = "unicorn")]

mod attached;
mod guests;
mod machine;
mod migration;
mod random;
mod support;
