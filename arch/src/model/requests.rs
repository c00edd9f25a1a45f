use crate::feed::{Feed, Request};
use crate::model::Model;

/// A part whose counters follow requests that leave the caches of a core.
pub trait Requests: Model {
    /// Thread `from` of the package, which may be this one, made a request that left its core's caches. Counters that follow requests
    /// count it.
    fn request(&mut self, request: &Request, from: u8, feed: &impl Feed);

    /// Whether counters of this thread follow requests of the package's other threads, so that all of them must report theirs.
    fn wants_package_requests(&self) -> bool;

    /// How many requests of a companion may be made, at least, before a counter wraps by one of them; `u64::MAX` if none counts requests.
    fn request_room(&self) -> u64;
}
