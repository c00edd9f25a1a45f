use crate::feed::Feed;
use crate::model::Model;

/// What the threads of a package know of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shared {
    /// A register that the package has once.
    pub register: u64,
    /// The thread's number within the package.
    pub thread: u8,
    /// How many threads the package has.
    pub threads: u8,
    /// The threads that run, one bit each: on POWER those with their run latch set.
    pub running: u32,
    /// One more fact that others must know of a thread, one bit each: on x86 that it is at a privilege level above 0, on Montecito that
    /// its ranges or opcodes constrain something.
    pub user: u32,
}

impl Shared {
    /// A thread alone in its package.
    pub const ALONE: Shared = Shared { register: 0, thread: 0, threads: 1, running: 0, user: 0 };
}

impl Default for Shared {
    fn default() -> Self {
        Shared::ALONE
    }
}

/// A part whose threads share a register, or count by what other threads of the package are doing.
pub trait SharedState: Model {
    /// What the thread knows of its package. Its own part of it is up to date.
    fn shared(&self) -> Shared;

    /// Another thread of the package has changed what they share.
    fn set_shared(&mut self, shared: Shared, feed: &impl Feed);

    /// Whether the thread must be notified at once when another thread of the package changes what they [share](SharedState::shared). A
    /// thread that says no is notified when it starts to say yes.
    fn follows_siblings(&self) -> bool {
        true
    }
}
