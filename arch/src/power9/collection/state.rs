//! What a core's collection remembers.

use super::lane::Lane;
use super::{ADDRESS, CORE_EVENTS, Collection, THREAD_EVENTS, THREADS, ThreadState, TotalsOf};

/// What a core's collection remembers, in the middle of anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// PDBAR, once it has been written.
    pub memory: Option<u64>,
    /// The engine runs.
    pub running: bool,
    /// The cycles of the core from posting to posting.
    pub interval: u64,
    /// The cycles to the next posting.
    pub until: u64,
    /// The threads.
    pub lanes: [LaneState; THREADS],
    /// What is not yet in the core's memory, in single events and the order of their offsets.
    #[cfg_attr(feature = "serde", serde(with = "crate::long_array"))]
    pub owed: [u64; CORE_EVENTS],
}

/// What it remembers of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LaneState {
    /// The state that the thread is in; nothing while it is not followed.
    pub state: Option<ThreadState>,
    /// The memory of its LDBAR, in bytes.
    pub memory: u64,
    /// What is not yet there, in single events and the order of their offsets.
    #[cfg_attr(feature = "serde", serde(with = "crate::long_array"))]
    pub owed: [u64; THREAD_EVENTS],
}

impl Collection {
    /// What it remembers, with everything counted up to now.
    #[must_use]
    pub fn state(&mut self, totals: TotalsOf<'_, '_>) -> State {
        self.fold(totals);
        State {
            memory: self.memory,
            running: self.running,
            interval: self.interval,
            until: self.until,
            lanes: self.lanes.each_ref().map(|lane| LaneState { state: lane.state, memory: lane.memory, owed: lane.owed }),
            owed: self.owed,
        }
    }

    /// The collection that remembers `state`: it counts what happens from now on. What none could remember is brought into range.
    #[must_use]
    pub fn from_state(state: &State, totals: TotalsOf<'_, '_>) -> Collection {
        let interval = state.interval.max(1);
        let mut lanes = [const { Lane::new() }; THREADS];
        for (number, (lane, saved)) in lanes.iter_mut().zip(&state.lanes).enumerate() {
            (lane.state, lane.memory, lane.owed) = (saved.state.filter(|_| state.running), saved.memory & ADDRESS, saved.owed);
            if let Some(totals) = totals(number) {
                lane.skip(totals);
            }
        }
        Collection {
            memory: state.memory.map(|address| address & ADDRESS),
            running: state.running,
            interval,
            until: state.until.clamp(1, interval),
            lanes,
            owed: state.owed,
        }
    }
}
