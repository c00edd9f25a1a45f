use crate::feed::{Feed, Signal};
use crate::model::Model;

/// A part that counts edges of states, and must know the level of a state when a counter starts.
pub trait Levels: Model {
    /// The levels of the states that [`Demand::levels`](crate::feed::Demand::levels) asks for. `holds` returns whether a state holds
    /// right now, or `None` if that is not known. It is called before anything else happens. A state that is reported later, or not at
    /// all, is assumed to be at rest.
    fn supply_levels(&mut self, holds: impl Fn(Signal) -> Option<bool>, feed: &impl Feed);
}
