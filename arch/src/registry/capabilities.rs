//! Which parts have which capability. A PMU of a part that is not named does nothing, and returns a neutral value.
#![cfg_attr(
    not(all(feature = "k8", feature = "knl", feature = "power9", feature = "itanium", feature = "montecito")),
    allow(unused_variables, reason = "a capability that no part of this build has does nothing")
)]

use crate::feed::{Context, Feed, NestedStep, Record, Request, Signal, SignalSet};
use crate::model::{
    Arbitration, InstructionMatching, LazyContexts, Levels, NestedTranslation, Occurrence, PackageScope, Pins, Requests, Shared,
    SharedState, Tagging, UncoreInterrupts,
};
use crate::registry::Pmu;

/// The parts that have a capability.
macro_rules! having {
    (LazyContexts, $($rest:tt)*) => { dispatch!([K8 "k8", Knl "knl", Power9 "power9", Itanium "itanium", Montecito "montecito"], $($rest)*) };
    (Levels, $($rest:tt)*) => { dispatch!([K8 "k8", Knl "knl", Power9 "power9"], $($rest)*) };
    (SharedState, $($rest:tt)*) => { dispatch!([Knl "knl", Power9 "power9", Montecito "montecito"], $($rest)*) };
    (PackageScope, $($rest:tt)*) => { dispatch!([K8 "k8", Knl "knl", Itanium "itanium", Montecito "montecito"], $($rest)*) };
    (Tagging, $($rest:tt)*) => { dispatch!([Montecito "montecito"], $($rest)*) };
    (Requests, $($rest:tt)*) => { dispatch!([Knl "knl"], $($rest)*) };
    (NestedTranslation, $($rest:tt)*) => { dispatch!([Power9 "power9"], $($rest)*) };
    (UncoreInterrupts, $($rest:tt)*) => { dispatch!([Knl "knl"], $($rest)*) };
    (Arbitration, $($rest:tt)*) => { dispatch!([K8 "k8"], $($rest)*) };
    (Pins, $($rest:tt)*) => { dispatch!([K8 "k8", Itanium "itanium", Montecito "montecito"], $($rest)*) };
    (InstructionMatching, $($rest:tt)*) => { dispatch!([Power9 "power9"], $($rest)*) };
}

/// What the model of one of these parts does, or a neutral value.
macro_rules! dispatch {
    ([$($variant:ident $feature:literal),+], $pmu:expr, $model:ident => $body:expr, else $nothing:expr) => {
        match $pmu {
            $( #[cfg(feature = $feature)] Pmu::$variant($model) => $body, )+
            #[allow(unreachable_patterns, reason = "every part of this build may have it")]
            _ => $nothing,
        }
    };
}

impl LazyContexts for Pmu {
    #[inline]
    fn change_quietly(&mut self, context: &Context, observed: bool, feed: &impl Feed) -> bool {
        having!(LazyContexts, self, model => model.change_quietly(context, observed, feed), else false)
    }

    fn sensitivity(&self) -> u64 {
        having!(LazyContexts, self, model => model.sensitivity(), else u64::MAX)
    }

    #[inline]
    fn contexts_add_up(&self) -> bool {
        having!(LazyContexts, self, model => model.contexts_add_up(), else false)
    }
}

impl Levels for Pmu {
    fn supply_levels(&mut self, holds: impl Fn(Signal) -> Option<bool>, feed: &impl Feed) {
        having!(Levels, self, model => model.supply_levels(holds, feed), else ())
    }
}

impl SharedState for Pmu {
    fn shared(&self) -> Shared {
        having!(SharedState, self, model => model.shared(), else Shared::ALONE)
    }

    fn set_shared(&mut self, shared: Shared, feed: &impl Feed) {
        having!(SharedState, self, model => model.set_shared(shared, feed), else ())
    }

    fn follows_siblings(&self) -> bool {
        having!(SharedState, self, model => model.follows_siblings(), else false)
    }
}

impl PackageScope for Pmu {
    fn package_demand(&self) -> SignalSet {
        having!(PackageScope, self, model => model.package_demand(), else SignalSet::EMPTY)
    }

    fn observes_siblings(&self) -> bool {
        having!(PackageScope, self, model => model.observes_siblings(), else false)
    }

    fn inject_from_sibling(&mut self, occurrence: Occurrence, amount: u64, tags: u64, feed: &impl Feed) -> bool {
        having!(PackageScope, self, model => model.inject_from_sibling(occurrence, amount, tags, feed), else false)
    }

    fn injection_tags(&self) -> u64 {
        having!(PackageScope, self, model => model.injection_tags(), else 0)
    }
}

impl Tagging for Pmu {
    fn wants_package_records(&self) -> bool {
        having!(Tagging, self, model => model.wants_package_records(), else false)
    }

    fn tag(&mut self, record: &Record) -> u64 {
        having!(Tagging, self, model => model.tag(record), else 0)
    }

    fn take_effects(&mut self) -> u64 {
        having!(Tagging, self, model => model.take_effects(), else 0)
    }

    fn notify(&mut self, tags: Option<u64>, effects: u64, feed: &impl Feed) {
        having!(Tagging, self, model => model.notify(tags, effects, feed), else ())
    }
}

impl Requests for Pmu {
    fn request(&mut self, request: &Request, from: u8, feed: &impl Feed) {
        having!(Requests, self, model => model.request(request, from, feed), else ())
    }

    fn wants_package_requests(&self) -> bool {
        having!(Requests, self, model => model.wants_package_requests(), else false)
    }

    fn request_room(&self) -> u64 {
        having!(Requests, self, model => model.request_room(), else u64::MAX)
    }
}

impl NestedTranslation for Pmu {
    fn nested(&mut self, step: &NestedStep, feed: &impl Feed) {
        having!(NestedTranslation, self, model => model.nested(step, feed), else ())
    }
}

impl UncoreInterrupts for Pmu {
    fn raise_uncore_interrupt(&mut self, feed: &impl Feed) {
        having!(UncoreInterrupts, self, model => model.raise_uncore_interrupt(feed), else ())
    }
}

impl Arbitration for Pmu {
    fn claims(&self) -> u32 {
        having!(Arbitration, self, model => model.claims(), else 0)
    }

    fn granted(&self) -> u32 {
        having!(Arbitration, self, model => model.granted(), else 0)
    }

    fn set_grants(&mut self, granted: u32, blocked: u32, feed: &impl Feed) {
        having!(Arbitration, self, model => model.set_grants(granted, blocked, feed), else ())
    }
}

impl Pins for Pmu {
    fn watch_pins(&mut self, pins: u32, feed: &impl Feed) {
        having!(Pins, self, model => model.watch_pins(pins, feed), else ())
    }

    fn pin_toggles(&mut self, pin: u32, feed: &impl Feed) -> u64 {
        having!(Pins, self, model => model.pin_toggles(pin, feed), else 0)
    }
}

impl InstructionMatching for Pmu {
    fn instruction_match(&self) -> Option<(u64, u64)> {
        having!(InstructionMatching, self, model => model.instruction_match(), else None)
    }
}
