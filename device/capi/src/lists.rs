//! Lists that are reported without a lock held.

use vm_pmu::Signal;
use vm_pmu::companion::{Interconnect, Place};

use crate::lock::Mutex;

/// A list that is filled with a lock held and reported without one. It is kept to save the next allocation.
pub(crate) struct Spare<T>(Mutex<Vec<T>>);

impl<T> Default for Spare<T> {
    fn default() -> Spare<T> {
        Spare(Mutex::new(Vec::new()))
    }
}

impl<T> Spare<T> {
    /// Passes what `fill` has put into the list to `tell`. A concurrent caller gets another list.
    pub(crate) fn through(&self, fill: impl FnOnce(&mut Vec<T>), tell: impl FnMut(T)) {
        let mut list = std::mem::take(&mut *self.0.lock());
        fill(&mut list);
        list.drain(..).for_each(tell);
        *self.0.lock() = list;
    }
}

/// The lists through which a companion reports what was taken.
#[derive(Default)]
pub(crate) struct Lists {
    pub(crate) places: Spare<(Place, Signal, u64)>,
    pub(crate) interconnects: Spare<(usize, Interconnect)>,
}
