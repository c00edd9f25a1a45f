//! The book as a browser shows it: the folder that mdbook has written.

mod carry;
mod links;
mod search;

pub use carry::carry;
pub use links::broken;
pub use search::trim;

/// The most bytes that the search index may have: a browser loads all of it for the first search.
pub const LARGEST_INDEX: u64 = 2_000_000;
