//! Guests for Knights Landing.

pub mod untile;
