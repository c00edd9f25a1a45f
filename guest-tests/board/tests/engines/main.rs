//! PMUs attached to the engine around Unicorn.
#![cfg(feature = "unicorn")]

mod unicorn_blocks;
mod unicorn_power;
