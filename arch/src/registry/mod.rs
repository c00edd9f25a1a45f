//! The parts: one line each, which is compiled if the feature of the part's name is on. What a part has in addition to [`Model`] is
//! listed in `capabilities.rs`.

mod capabilities;
#[cfg(feature = "alloc")]
mod unknown;

#[cfg(feature = "alloc")]
pub use unknown::UnknownPart;

use crate::access::{Address, Fault};
use crate::alert::Alerts;
use crate::event::Catalogue;
use crate::feed::{Context, Demand, Feed, Record, SignalSet, Vocabulary};
use crate::model::{CpuidIdentity, Model, Occurrence, RegisterDescription, Reset, Shape};

macro_rules! parts {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $name:literal, $catalogue:ident, $model:ty, $state:ty, $revision:ty; )+) => {
        /// The PMU of one hardware thread, of whichever part.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant, reason = "nothing is allocated here, and a machine's PMUs are of one part")]
        pub enum Pmu {
            $( $(#[doc = $doc])+ #[cfg(feature = $name)] $variant($model), )+
        }

        /// The version of [`State`]: it changes whenever a field of any part's state does, or what a field means.
        pub const STATE_VERSION: u32 = 5;

        /// What a PMU remembers, of whichever part.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant, reason = "nothing is allocated here, and a machine's PMUs are of one part")]
        pub enum State {
            $( $(#[doc = $doc])+ #[cfg(feature = $name)] $variant($state), )+
        }

        /// A part to build: its name and its revision. Code that must handle every part does not compile until it handles a new one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Part {
            $( $(#[doc = $doc])+ #[cfg(feature = $name)] $variant($revision), )+
        }

        /// The names of the parts.
        pub const NAMES: &[&str] = &[$( #[cfg(feature = $name)] $name ),+];

        /// The feature of the part of this name, if this build leaves the part out: a feature and its part have one name.
        #[must_use]
        pub fn left_out(name: &str) -> Option<&'static str> {
            let known = [$( ($name, cfg!(feature = $name)) ),+];
            known.into_iter().find(|(known, there)| *known == name && !there).map(|(known, _)| known)
        }

        impl Part {
            /// The part of this name, in its usual revision.
            ///
            /// ```
            /// use vm_pmu_arch::registry::Part;
            ///
            /// assert_eq!(Part::named("k8").unwrap().name(), "k8");
            /// assert!(Part::named("z80").is_none());
            /// ```
            #[must_use]
            pub fn named(name: &str) -> Option<Part> {
                match name {
                    $( #[cfg(feature = $name)] $name => Some(Part::$variant(<$revision>::default())), )+
                    _ => None,
                }
            }

            /// The same part in the revision of this letter, if there is one.
            #[must_use]
            pub fn revision(self, letter: &str) -> Option<Part> {
                match self {
                    $( #[cfg(feature = $name)] Part::$variant(_) => <$revision>::from_letter(letter).map(Part::$variant), )+
                }
            }

            /// The part's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $( #[cfg(feature = $name)] Part::$variant(_) => $name, )+
                }
            }

            /// The letter of the part's revision.
            #[must_use]
            pub const fn revision_letter(self) -> &'static str {
                match self {
                    $( #[cfg(feature = $name)] Part::$variant(revision) => revision.letter(), )+
                }
            }

            /// The letters of the part's revisions, the oldest first.
            ///
            /// ```
            /// use vm_pmu_arch::registry::Part;
            ///
            /// assert!(Part::named("k8").unwrap().revision_letters().eq(["C", "D", "E"]));
            /// ```
            pub fn revision_letters(self) -> impl Iterator<Item = &'static str> + Clone {
                (0..).map_while(move |index| match self {
                    $( #[cfg(feature = $name)] Part::$variant(_) => <$revision>::ALL.get(index).map(|revision| revision.letter()), )+
                })
            }

            /// What CPUID shows of the part, if it is an x86.
            #[must_use]
            pub const fn cpuid(self) -> Option<CpuidIdentity> {
                match self {
                    $( #[cfg(feature = $name)] Part::$variant(revision) => revision.cpuid(), )+
                }
            }

            /// What the part can count.
            #[must_use]
            pub fn catalogue(self) -> &'static Catalogue {
                match self {
                    $( #[cfg(feature = $name)] Part::$variant(_) => &crate::event::$catalogue, )+
                }
            }

            /// The signals that the part has.
            ///
            /// ```
            /// use vm_pmu_arch::feed::Signal;
            /// use vm_pmu_arch::registry::Part;
            ///
            /// let signals = Part::named("k8").unwrap().vocabulary();
            /// assert!(signals.has(Signal::DramPageHits) && !signals.has(Signal::StallDecimalCycles));
            /// ```
            #[must_use]
            pub const fn vocabulary(self) -> Vocabulary {
                match self {
                    $( #[cfg(feature = $name)] Part::$variant(_) => Vocabulary::$variant, )+
                }
            }

            /// What a machine of the part may look like.
            ///
            /// ```
            /// use vm_pmu_arch::registry::Part;
            ///
            /// assert_eq!(Part::named("power9").unwrap().shape().package_threads, Some(&[1, 2, 4][..]));
            /// assert_eq!(Part::named("k8").unwrap().shape().package_threads, None);
            /// ```
            #[must_use]
            pub const fn shape(self) -> Shape {
                match self {
                    $( #[cfg(feature = $name)] Part::$variant(_) => <$model>::SHAPE, )+
                }
            }

            /// The PMU of one of the part's threads, as power-on leaves it.
            #[must_use]
            pub fn build(self) -> Pmu {
                match self {
                    $( #[cfg(feature = $name)] Part::$variant(revision) => Pmu::$variant(<$model>::new(revision)), )+
                }
            }
        }

        impl core::fmt::Display for Part {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(formatter, "{} revision {}", self.name(), self.revision_letter())
            }
        }

        impl State {
            /// The part that the state is of.
            #[must_use]
            pub const fn part(&self) -> Part {
                match self {
                    $( #[cfg(feature = $name)] State::$variant(state) => Part::$variant(state.revision), )+
                }
            }

            /// The context that the thread is in, to be changed in the state: a PMU made of it counts nothing for the change, and captures
            /// nothing.
            pub const fn context_mut(&mut self) -> &mut Context {
                match self {
                    $( #[cfg(feature = $name)] State::$variant(state) => &mut state.context, )+
                }
            }
        }

        impl Pmu {
            /// What the PMU remembers, with everything counted up to now.
            pub fn state(&mut self, feed: &impl Feed) -> State {
                match self {
                    $( #[cfg(feature = $name)] Pmu::$variant(model) => State::$variant(model.state(feed)), )+
                }
            }

            /// The PMU that remembers `state`, attached to `feed`.
            #[must_use]
            pub fn from_state(state: &State, feed: &impl Feed) -> Pmu {
                match state {
                    $( #[cfg(feature = $name)] State::$variant(state) => Pmu::$variant(<$model>::from_state(state, feed)), )+
                }
            }
        }

        macro_rules! each {
            ($pmu:expr, $bound:ident => $body:expr) => {
                match $pmu {
                    $( #[cfg(feature = $name)] Pmu::$variant($bound) => $body, )+
                }
            };
        }
    };
}

parts! {
    /// AMD Athlon 64 and Opteron.
    K8 = "k8", K8, crate::k8::K8, crate::k8::State, crate::k8::Revision;
    /// Intel Xeon Phi x200 ("Knights Landing"), a thread of a tile.
    Knl = "knl", KNL, crate::knl::Knl, crate::knl::State, crate::knl::Revision;
    /// IBM POWER9, a thread of a core.
    Power9 = "power9", POWER9, crate::power9::Power9, crate::power9::State, crate::power9::Revision;
    /// Intel Itanium, the first ("Merced").
    Itanium = "itanium", ITANIUM, crate::itanium::Itanium, crate::itanium::State, crate::itanium::Revision;
    /// Intel Itanium 2 9000 series ("Montecito"), a thread of a core.
    Montecito = "montecito", MONTECITO, crate::montecito::Montecito, crate::montecito::State, crate::montecito::Revision;
}

impl Part {
    /// The context in which every register of the part can be accessed, otherwise like `context`: level 0, POWER's hypervisor state.
    ///
    /// ```
    /// use vm_pmu_arch::feed::Context;
    /// use vm_pmu_arch::registry::Part;
    ///
    /// let problem_state = Context::power(1 << (63 - 49), 0); // MSR[PR]
    /// let privileged = Part::named("power9").unwrap().privileged(problem_state);
    /// assert_eq!((privileged.privilege, privileged.machine_state), (0, 1 << (63 - 3))); // MSR[HV]
    /// ```
    #[must_use]
    pub fn privileged(self, context: Context) -> Context {
        let machine_state = match self {
            #[cfg(feature = "power9")]
            Part::Power9(_) => {
                let mut msr = crate::power9::Msr::of(context.machine_state);
                msr.set_pr(false);
                msr.set_hv(true);
                msr.bits()
            }
            #[cfg(feature = "itanium")]
            Part::Itanium(_) => at_level_0(context.machine_state),
            #[cfg(feature = "montecito")]
            Part::Montecito(_) => at_level_0(context.machine_state),
            #[allow(unreachable_patterns, reason = "this build may have no other part")]
            _ => context.machine_state,
        };
        Context { privilege: 0, machine_state, ..context }
    }
}

/// PSR with cpl 0.
#[cfg(any(feature = "itanium", feature = "montecito"))]
fn at_level_0(psr: u64) -> u64 {
    let mut psr = crate::ia64::Psr::of(psr);
    psr.set_cpl(0);
    psr.bits()
}

impl Model for Pmu {
    #[inline]
    fn read(&mut self, address: Address, feed: &impl Feed) -> Result<u64, Fault> {
        each!(self, model => model.read(address, feed))
    }

    #[inline]
    fn write(&mut self, address: Address, value: u64, feed: &impl Feed) -> Result<(), Fault> {
        each!(self, model => model.write(address, value, feed))
    }

    #[inline]
    fn service(&mut self, feed: &impl Feed) {
        each!(self, model => model.service(feed));
    }

    #[inline]
    fn set_context(&mut self, context: Context, feed: &impl Feed) {
        each!(self, model => model.set_context(context, feed));
    }

    fn context(&self) -> &Context {
        each!(self, model => model.context())
    }

    fn inject(&mut self, occurrence: Occurrence, amount: u64, feed: &impl Feed) -> bool {
        each!(self, model => model.inject(occurrence, amount, feed))
    }

    fn record(&mut self, record: &Record, feed: &impl Feed) {
        each!(self, model => model.record(record, feed));
    }

    fn demand(&self) -> &Demand {
        each!(self, model => model.demand())
    }

    fn followed(&self) -> SignalSet {
        each!(self, model => model.followed())
    }

    fn succeed_demand(&mut self, before: &Demand) {
        each!(self, model => model.succeed_demand(before));
    }

    fn take_alerts(&mut self) -> Alerts {
        each!(self, model => model.take_alerts())
    }

    fn reset(&mut self, reset: Reset, feed: &impl Feed) {
        each!(self, model => model.reset(reset, feed));
    }

    fn catalogue(&self) -> &'static Catalogue {
        each!(self, model => model.catalogue())
    }

    fn registers(&self) -> &'static [RegisterDescription] {
        each!(self, model => model.registers())
    }
}
