//! What the cores of a machine post into memory, as threads of the host share it.

use alloc::boxed::Box;
#[cfg(feature = "recording")]
use alloc::vec::Vec;
#[cfg(feature = "recording")]
use core::cell::RefCell;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Release};

use vm_pmu_arch::feed::{SignalSet, Totals};
use vm_pmu_arch::lock::Mutex;
use vm_pmu_arch::memory::Memory;
pub(crate) use vm_pmu_arch::power9::collection::State;
use vm_pmu_arch::power9::collection::{Collection, Posting};
use vm_pmu_arch::power9::nest::Passed;
use vm_pmu_arch::registry::Pmu;

use super::extension::{Extension, as_type};
#[cfg(feature = "recording")]
use super::witness::{Call, CollectionCall, Shown};
use super::{Core, Machine, Package};
use crate::irq::InterruptLine;

/// The collection of one package's threads.
#[derive(Debug, Default)]
pub(super) struct Collector {
    collection: Mutex<Box<Collection>>,
}

impl Extension for Collector {
    fn footprint(&self) -> usize {
        size_of::<Self>() + size_of::<Collection>()
    }

    fn demand(&self) -> SignalSet {
        Collection::signals()
    }

    fn follow(&self, thread: usize, pmu: &Pmu, totals: &Totals) {
        #[allow(irrefutable_let_patterns, reason = "this may be the one part that there is")]
        if let Pmu::Power9(own) = pmu {
            self.collection.lock().follow(thread, own.thread_state(), totals);
        }
    }
}

impl Collector {
    /// Does `work` with the collection, and sets `running` to whether its engine then runs. Returns what `work` returned, and whether the
    /// engine was started or stopped.
    fn with<T>(&self, running: &AtomicBool, work: impl FnOnce(&mut Collection) -> T) -> (T, bool) {
        let mut collection = self.collection.lock();
        let value = work(&mut collection);
        // Set while the collection is locked, so that the last caller sets the valid value.
        let before = running.swap(collection.is_running(), Release);
        (value, before != collection.is_running())
    }
}

/// What the threads of one core post into memory, and what starts and stops it: [`Machine::collection`].
///
/// The embedder advances the core by its cycles ([`advance`](CoreCollection::advance)) or posts when it likes
/// ([`post`](CoreCollection::post)). Counts before and after a change of a thread's state are separated automatically. While the engine
/// runs, every thread of the core is asked to report the signals that its events follow.
///
/// Memory is accessed with no lock held: it may call the machine again.
///
/// When a thread's LDBAR is written with another address, the counts for the old address that are not posted yet are dropped. An embedder
/// that wants to keep them posts before it passes on the write.
///
/// ```
/// # use core::cell::RefCell;
/// # use vm_pmu::arch::memory::Memory;
/// # struct Ram(RefCell<Vec<u64>>);
/// # impl Memory for Ram {
/// #     type Error = u64;
/// #     fn load(&self, address: u64) -> Result<u64, u64> {
/// #         self.0.borrow().get(address as usize / 8).copied().ok_or(address)
/// #     }
/// #     fn store(&self, address: u64, value: u64) -> Result<(), u64> {
/// #         *self.0.borrow_mut().get_mut(address as usize / 8).ok_or(address)? = value;
/// #         Ok(())
/// #     }
/// #     fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
/// #         self.store(address, self.load(address)?.wrapping_add(amount))
/// #     }
/// # }
/// use vm_pmu::Signal;
/// use vm_pmu::topology::Builder;
///
/// // `Ram` is 64 KiB of cells from address 0 on.
/// let memory = Ram(RefCell::new(vec![0; 0x2000]));
/// let machine = Builder::new("power9").unwrap().threads(4).build(|_thread, _counter| {}).unwrap();
/// let core = machine.collection(0).unwrap();
/// core.init(0x4000);
/// core.start();
/// for number in 0..4 {
///     machine.thread(number).unwrap().totals().add(Signal::InstructionsRetired, 512);
/// }
/// core.post(&memory).ok().unwrap();
/// // CPM_INST of the four threads.
/// assert_eq!(memory.load(0x4000 + 0x20), Ok(4));
/// ```
pub struct CoreCollection<'a, L> {
    machine: &'a Machine<L>,
    package: &'a Package,
    collector: &'a Collector,
    number: usize,
}

impl<L> core::fmt::Debug for CoreCollection<'_, L> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("CoreCollection").field("machine", self.machine).field("number", &self.number).finish_non_exhaustive()
    }
}

impl<L> Clone for CoreCollection<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for CoreCollection<'_, L> {}

/// Memory that notes what is added to it.
#[cfg(feature = "recording")]
struct Noted<'m, M> {
    memory: &'m M,
    added: RefCell<Vec<(u64, u64)>>,
    refused: RefCell<Vec<u64>>,
}

#[cfg(feature = "recording")]
impl<M: Memory> Memory for Noted<'_, M> {
    type Error = M::Error;

    fn load(&self, address: u64) -> Result<u64, M::Error> {
        self.memory.load(address)
    }

    fn store(&self, address: u64, value: u64) -> Result<(), M::Error> {
        self.memory.store(address, value)
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), M::Error> {
        let added = self.memory.add(address, amount);
        match added {
            Ok(()) => self.added.borrow_mut().push((address, amount)),
            Err(_) => self.refused.borrow_mut().push(address),
        }
        added
    }
}

impl<L: InterruptLine> Machine<L> {
    /// What package `number` posts into memory, on parts that do: a core of POWER9.
    #[must_use]
    pub fn collection(&self, number: usize) -> Option<CoreCollection<'_, L>> {
        let package = self.packages.get(number)?;
        let collector = as_type(package.extension.as_deref())?;
        Some(CoreCollection { machine: self, package, collector, number })
    }

    /// What the package posts for thread `thread` of the machine.
    #[must_use]
    pub fn collection_of(&self, thread: usize) -> Option<CoreCollection<'_, L>> {
        self.collection(thread / self.per_package.max(1))
    }
}

impl<L: InterruptLine> CoreCollection<'_, L> {
    /// PDBAR is written, as OPAL_IMC_COUNTERS_INIT does: [`Collection::init`].
    pub fn init(&self, address: u64) {
        #[cfg(feature = "recording")]
        self.watched(0, CollectionCall::Init(address));
        let ((), changed) = self.collector.with(&self.package.extension_running, |collection| collection.init(address, &self.totals()));
        self.follow_up(changed);
    }

    /// Where the core's memory begins, in bytes; `None` before [`init`](CoreCollection::init).
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        self.collector.collection.lock().memory()
    }

    /// The engine starts: events from now on are counted.
    pub fn start(&self) {
        #[cfg(feature = "recording")]
        self.watched(0, CollectionCall::Start);
        let ((), changed) = self.collector.with(&self.package.extension_running, Collection::start);
        self.follow_up(changed);
    }

    /// The engine stops: [`Collection::stop`]. To have all counts in memory, [post](CoreCollection::post) them first.
    pub fn stop(&self) {
        #[cfg(feature = "recording")]
        self.watched(0, CollectionCall::Stop);
        let ((), changed) = self.collector.with(&self.package.extension_running, |collection| collection.stop(&self.totals()));
        self.follow_up(changed);
    }

    /// Whether the engine runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.package.extension_running.load(Acquire)
    }

    /// The cycles of the core from one posting to the next.
    #[must_use]
    pub fn interval(&self) -> u64 {
        self.collector.collection.lock().interval()
    }

    /// Posts every so many cycles of the core from now on, at least one.
    pub fn set_interval(&self, cycles: u64) {
        #[cfg(feature = "recording")]
        self.watched(0, CollectionCall::SetInterval(cycles));
        self.collector.collection.lock().set_interval(cycles);
    }

    /// The cycles of the core to the next posting.
    #[must_use]
    pub fn until_posting(&self) -> u64 {
        self.collector.collection.lock().until_posting()
    }

    /// Advances the core by `cycles`, and posts if that comes due: [`Collection::advance`].
    pub fn advance<M: Memory>(&self, cycles: u64, memory: &M) -> Passed<M::Error> {
        #[cfg(feature = "recording")]
        let place = self.watched(0, CollectionCall::Advance(cycles));
        let drawn = self.collector.collection.lock().draw_due(cycles, &self.totals());
        #[cfg(feature = "recording")]
        if place.is_some() {
            return self.write_watched(place, drawn, memory);
        }
        self.write(drawn, memory)
    }

    /// Posts everything that was counted up to now, if the engine runs.
    pub fn post<M: Memory>(&self, memory: &M) -> Passed<M::Error> {
        #[cfg(feature = "recording")]
        let place = self.watched(0, CollectionCall::Post);
        let drawn = self.collector.collection.lock().draw(&self.totals());
        #[cfg(feature = "recording")]
        if place.is_some() {
            return self.write_watched(place, drawn, memory);
        }
        self.write(drawn, memory)
    }

    /// Writes with nothing locked: memory may call the machine.
    fn write<M: Memory>(&self, drawn: Option<Posting>, memory: &M) -> Passed<M::Error> {
        let Some(mut posting) = drawn else { return Passed { slots: 0, late: 0, refused: 0, error: None } };
        let passed = posting.write(memory);
        if passed.refused != 0 {
            self.collector.collection.lock().put_back(&posting);
        }
        passed
    }

    /// A call about thread `thread` of the core begins.
    #[cfg(feature = "recording")]
    fn watched(&self, thread: usize, call: CollectionCall) -> Option<usize> {
        // A thread that the core lacks has no statements.
        let call = if thread < self.machine.per_package { Call::Collection(call) } else { Call::Other };
        self.machine.watched(self.number * self.machine.per_package + thread.min(self.machine.per_package - 1), call)
    }

    /// Writes, and tells who watches what memory took and refused.
    #[cfg(feature = "recording")]
    fn write_watched<M: Memory>(&self, place: Option<usize>, drawn: Option<Posting>, memory: &M) -> Passed<M::Error> {
        let noted = Noted { memory, added: RefCell::default(), refused: RefCell::default() };
        let passed = self.write(drawn, &noted);
        let (added, refused) = (noted.added.take(), noted.refused.take());
        self.machine.showed(place, || Shown::Posted(&added, &refused));
        passed
    }

    /// An event without a signal happened in thread `thread` of the core: [`Collection::inject`].
    pub fn inject(&self, thread: usize, offset: u32, amount: u64) -> bool {
        #[cfg(feature = "recording")]
        self.watched(thread, CollectionCall::Inject(offset, amount));
        self.is_running() && self.collector.collection.lock().inject(thread, offset, amount)
    }

    /// What it remembers, with everything counted up to now.
    #[must_use]
    pub fn state(&self) -> Box<State> {
        Box::new(self.collector.collection.lock().state(&self.totals()))
    }

    /// Makes it remember `state` instead. What has been added to the totals so far is not counted. The threads are in the states that their
    /// PMUs know.
    pub fn restore(&self, state: &State) {
        #[cfg(feature = "recording")]
        self.machine.is_restored();
        self.collector.with(&self.package.extension_running, |collection| *collection = Collection::from_state(state, &self.totals()));
        self.follow_up(true);
    }

    fn members(&self) -> &[Core] {
        self.machine.members(self.number)
    }

    /// The totals of the core's threads.
    fn totals<'t>(&'t self) -> impl Fn(usize) -> Option<&'t Totals> {
        |thread| self.members().get(thread).map(|core| &*core.source.totals)
    }

    /// The engine has been started or stopped: updates the demand of the threads, and which of their states it follows.
    fn follow_up(&self, changed: bool) {
        if !changed {
            return;
        }
        self.machine.update_package_demand(self.number, self.package);
        let first = self.number * self.machine.per_package;
        for thread in (first..first + self.machine.per_package).filter_map(|number| self.machine.thread(number)) {
            thread.with(|_pmu, _view| ());
        }
    }
}
