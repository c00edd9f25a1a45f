use crate::feed::Feed;
use crate::model::Model;

/// A part with pins that toggle when a counter overflows or increments.
pub trait Pins: Model {
    /// Sets the pins, one bit each, that get a deadline at every toggle. A pin that toggles at every increment of a counter toggles once
    /// in a cycle, whatever the counter grows by, and is followed only while it is watched.
    fn watch_pins(&mut self, pins: u32, feed: &impl Feed);

    /// How often pin `pin` has toggled. The lowest bit is its level.
    fn pin_toggles(&mut self, pin: u32, feed: &impl Feed) -> u64;
}
