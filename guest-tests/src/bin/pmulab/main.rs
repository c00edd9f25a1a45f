//! The laboratory program.
fn main() {}
