//! Engines and guests.
pub mod engine;
