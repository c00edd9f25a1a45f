//! How a machine is built.

use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

use vm_pmu_arch::atomic::AtomicU64;
#[cfg(feature = "knl")]
use vm_pmu_arch::die::Die;
use vm_pmu_arch::feed::{Demand, Pace, Records, Signal, SignalSet, Supply, Vocabulary};
use vm_pmu_arch::lock::Mutex;
use vm_pmu_arch::registry::Part;

use super::arbiter::Arbiter;
use super::common::Common;
use super::extension::Extension;
use super::interest::Interest;
use super::refusal::MOST;
use super::{BuildError, Core, Machine, Members, Package, Source, UnknownPart};
use crate::irq::InterruptLine;
#[cfg(feature = "knl")]
use crate::untile::{Buses, Frequencies};

/// How a [`Machine`] is built.
///
/// ```
/// use vm_pmu::topology::Builder;
///
/// let machine = Builder::new("k8")?.packages(2).threads(2).build(|_thread, _counter| {})?;
/// assert_eq!(machine.threads(), 4);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    part: Part,
    packages: usize,
    threads: usize,
    lenient: bool,
    pace: Pace,
    supply: Supply,
    every_signal: bool,
    options: Options,
}

impl Builder {
    /// A machine of one package with one thread of the part of this name, in its usual revision.
    ///
    /// # Errors
    /// [`UnknownPart`] when no part of this build has the name.
    pub fn new(name: &str) -> Result<Builder, UnknownPart> {
        Part::named(name).map(Builder::of).ok_or_else(|| UnknownPart::new(name))
    }

    /// A machine of one package with one thread of this part.
    #[must_use]
    pub fn of(part: Part) -> Builder {
        Builder {
            part,
            packages: 1,
            threads: 1,
            lenient: false,
            pace: Pace::default(),
            supply: Supply::ALL,
            every_signal: false,
            options: Options::default(),
        }
    }

    /// The part that the machine will be built of.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// How many packages: 1 to 65,535, and on Knights Landing, where a package is a tile, to 38.
    #[must_use]
    pub fn packages(self, packages: usize) -> Builder {
        Builder { packages, ..self }
    }

    /// How many threads a package has: 1 to 65,535 on the K8. On POWER9 a package is a core, and cores have 1, 2 or 4. On Montecito it is a
    /// core of 1 or 2, and the first Itanium has one. On Knights Landing it is a tile, of up to 8, and its threads 0 to 3 are those of its
    /// first core.
    #[must_use]
    pub fn threads(self, threads: usize) -> Builder {
        Builder { threads, ..self }
    }

    /// A counter that one thread uses for a unit of the package stays usable to the others for their own events. The K8 manual says that it
    /// does not; a driver that assumes it does loses counts unless this is set. No other part has such counters.
    #[must_use]
    pub fn share_counters(self) -> Builder {
        Builder { lenient: true, ..self }
    }

    /// What the emulator guarantees of its pace, if it compares with the horizon once per block ([`Thread::due`](super::Thread::due)).
    #[must_use]
    pub fn pace(self, pace: Pace) -> Builder {
        Builder { pace, ..self }
    }

    /// The signals that the emulator, with its companion, ever adds to; all of them by default. Cycles and the signal of the
    /// [pace](Builder::pace) are always among them.
    ///
    /// For any other signal no deadline is set, no demand names it, and [`Thread::unsupplied`](super::Thread::unsupplied) lists it while a
    /// counter counts it in vain. An emulator with a companion names what either supplies.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::{Signal, SignalSet};
    ///
    /// let own = SignalSet::from_iter([Signal::Cycles, Signal::InstructionsRetired]);
    /// let machine = Builder::new("k8").unwrap().supplies(own).build(|_, _| {}).unwrap();
    /// let cpu = machine.thread(0).unwrap();
    /// cpu.x86().wrmsr(0xC001_0000, 0x0052_0041).unwrap(); // PerfEvtSel0: data cache misses, OS, INT, EN
    /// assert!(!cpu.demand().wants(Signal::DataCacheMisses));
    /// assert_eq!(cpu.unsupplied(), SignalSet::only(Signal::DataCacheMisses));
    /// ```
    #[must_use]
    pub fn supplies(self, signals: SignalSet) -> Builder {
        Builder { supply: Supply { signals, ..self.supply }, ..self }
    }

    /// Gives the threads and the devices totals of every signal, not only of those that the part [has](Part::vocabulary). For a host that
    /// reads what no counter of the part counts, such as what the companion of another part reports.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::Signal;
    ///
    /// let total = |builder: Builder| {
    ///     let machine = builder.build(|_, _| {}).unwrap();
    ///     machine.thread(0).unwrap().totals().add(Signal::StallDecimalCycles, 3) // POWER9's
    /// };
    /// let k8 = Builder::new("k8").unwrap();
    /// assert_eq!((total(k8), total(k8.every_signal())), (0, 3));
    /// ```
    #[must_use]
    pub fn every_signal(self) -> Builder {
        Builder { every_signal: true, ..self }
    }

    /// The signals that a thread has totals of.
    fn vocabulary(&self) -> Vocabulary {
        if self.every_signal { Vocabulary::Every } else { self.part.vocabulary() }
    }

    /// The kinds of records that the emulator, with its companion, ever reports; all of them by default. The model neither expects nor
    /// demands any other.
    #[must_use]
    pub fn supplies_records(self, records: Records) -> Builder {
        Builder { supply: Supply { records, ..self.supply }, ..self }
    }

    /// Builds the machine; requests for interrupts go to `line`. Nothing is allocated afterwards except the list that [`Machine::states`]
    /// returns.
    ///
    /// # Errors
    /// [`BuildError`] when the part does not have what the builder was asked for, or `line` is for fewer threads. No value is silently brought
    /// into range.
    pub fn build<L: InterruptLine>(self, line: L) -> Result<Machine<L>, BuildError> {
        self.check()?;
        let threads = self.packages * self.threads;
        if let Some(lines) = line.threads().filter(|lines| *lines < threads) {
            return Err(BuildError::Lines { threads, lines });
        }
        let vocabulary = self.vocabulary();
        let cores = (0..threads).map(|number| {
            let pmu = self.part.build();
            Core {
                source: Source::new(vocabulary, self.pace),
                interest: Mutex::new(Interest::of(&pmu)),
                pmu: Mutex::new(pmu),
                package: number / self.threads,
                member: number % self.threads,
                epoch: AtomicU32::new(0),
                sensitivity: AtomicU64::new(u64::MAX),
                contexts_add_up: AtomicU32::new(0),
                lines: AtomicU8::new(0),
            }
        });
        let packages = (0..self.packages).map(|_| Package {
            devices: Source::new(vocabulary, self.pace),
            arbiter: Arbiter::new(self.threads),
            common: Common::new(self.threads),
            extension: Options::of_package(self.part),
            extension_running: AtomicBool::new(false),
            wide: Mutex::new(SignalSet::EMPTY),
            demand: Mutex::new(Demand::default()),
            epoch: AtomicU32::new(0),
            records: AtomicBool::new(false),
            requests: Members::default(),
            observers: Members::default(),
            followers: Members::default(),
        });
        let paced = SignalSet::from_iter([Signal::Cycles, self.pace.signal]);
        let machine = Machine {
            part: self.part,
            supply: Supply { signals: self.supply.signals.union(&paced).intersection(&vocabulary.signals()), ..self.supply },
            logged: Mutex::new(SignalSet::EMPTY),
            cores: cores.collect(),
            packages: packages.collect(),
            per_package: self.threads,
            lenient: self.lenient,
            extension: self.options.of_machine(self.part),
            #[cfg(feature = "recording")]
            seat: super::witness::Seat::default(),
            line,
        };
        for thread in 0..machine.threads() {
            machine.apply_grants(thread);
        }
        machine.update_common();
        for (number, package) in machine.packages.iter().enumerate() {
            machine.update_package_demand(number, package);
        }
        Ok(machine)
    }

    /// Whether the part has all that was asked for.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let Builder { part, packages, threads, .. } = *self;
        let possible = part.shape().package_threads.is_none_or(|possible| possible.contains(&threads));
        if !possible || !(1..=MOST).contains(&threads) {
            return Err(BuildError::Threads { part, threads });
        }
        if !(1..=part.shape().most_packages.unwrap_or(MOST)).contains(&packages) {
            return Err(BuildError::Packages { part, packages });
        }
        if self.lenient && !part.shape().shares_counters {
            return Err(BuildError::SharedCounters(part));
        }
        if !self.vocabulary().has(self.pace.signal) {
            return Err(BuildError::Pace { part, signal: self.pace.signal });
        }
        self.options.check(part)
    }
}

#[cfg(feature = "knl")]
impl Builder {
    /// The buses of the PCI functions that contain boxes, on parts with an [`untile`](Machine::untile).
    #[must_use]
    pub fn buses(mut self, buses: Buses) -> Builder {
        self.options.untile.buses = Some(buses);
        self
    }

    /// How fast the clocks of the boxes run in relation to the CPUs', on parts with an [`untile`](Machine::untile), for
    /// [`Untile::advance`](super::Untile::advance).
    #[must_use]
    pub fn frequencies(mut self, frequencies: Frequencies) -> Builder {
        self.options.untile.frequencies = Some(frequencies);
        self
    }

    /// Which tiles the die has and how lines are shared, on parts with an [`untile`](Machine::untile). By default tile n is beside CHA n.
    /// [`Layout`](crate::layout::Layout) chooses it for the companion and CPUID too.
    #[must_use]
    pub fn die(mut self, die: Die) -> Builder {
        self.options.untile.die = Some(die);
        self
    }
}

/// What the extensions of a machine are built with.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    /// Those of Knights Landing's boxes.
    #[cfg(feature = "knl")]
    untile: super::untile::Options,
}

impl Options {
    /// Checks that the part has what was chosen.
    #[cfg_attr(not(feature = "knl"), allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "no part of this build has options"))]
    fn check(&self, _part: Part) -> Result<(), BuildError> {
        #[cfg(feature = "knl")]
        self.untile.check(_part)?;
        Ok(())
    }

    /// The extension of a machine of this part.
    #[cfg_attr(not(feature = "knl"), allow(clippy::unused_self, reason = "no part of this build has options"))]
    fn of_machine(&self, _part: Part) -> Option<Box<dyn Extension>> {
        #[cfg(feature = "knl")]
        if _part.shape().has_untile {
            return Some(Box::new(self.untile.build()));
        }
        None
    }

    /// The extension of a package of this part.
    fn of_package(_part: Part) -> Option<Box<dyn Extension>> {
        #[cfg(feature = "power9")]
        if _part.shape().posts_to_memory {
            return Some(Box::new(super::collection::Collector::default()));
        }
        None
    }
}
