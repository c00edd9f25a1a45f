use crate::feed::{Feed, NestedStep};
use crate::model::Model;

/// A part whose counters follow what table walkers do for a guest whose tables lie in memory that the tables of its host translate.
pub trait NestedTranslation: Model {
    /// The thread made a step of a nested translation. Counters that follow such steps count it.
    fn nested(&mut self, step: &NestedStep, feed: &impl Feed);
}
