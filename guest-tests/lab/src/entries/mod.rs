//! What the entries of a catalogue need: which signals drive them, where they are counted, and who supplies what they need.

pub mod driven;
pub mod known;
pub mod placing;
