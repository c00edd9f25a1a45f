//! Counters that write themselves into the guest's memory: POWER9's in-memory collection.
//!
//! A [`Chip`] is the nest of one chip: it counts its events, and posts the counts to the region of its home base as time advances. A
//! [`Platform`] has the chips of a machine and answers the calls by which an operating system starts and stops collection. Both access
//! memory through [`Guest`], over any [`GuestMemory`] of `vm-memory`, while CPUs run.
//!
//! With the feature `companion`, a `Traffic` reports to the chips what moves between caches and memory. What devices do
//! is told to the [`HostBridge`] or [`NvLink`] that they are behind, and to [`Translations`]. The embedder adds what else it knows itself.
//!
//! An address that memory does not have is reported to the embedder ([`Passed::error`]). The amount for it is kept until memory takes it.
//!
//! ```
//! use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};
//! use vm_pmu::memory::{Chip, Event, Guest, Nest, REGION};
//!
//! const HOME: u64 = 0x40_0000;
//! let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x80_0000)]).unwrap();
//! let chip = Chip::new(0, Nest::new(HOME));
//! let slot = chip.slot_cycles();
//! // Four slots program the counters; then every second slot posts the first group.
//! chip.advance(4 * slot, &Guest(&memory)).ok().unwrap();
//! let reads = Event::named("PM_MCS23_64B_RD_DISP_PORT01").unwrap();
//! chip.add(reads, 10_000);
//! chip.advance(2 * slot, &Guest(&memory)).ok().unwrap();
//! let posted: [u8; 8] = memory.read_obj(GuestAddress(HOME + REGION + 0x50)).unwrap();
//! assert_eq!(u64::from_be_bytes(posted), 10_000 >> 8);
//! ```

mod bridge;
mod chip;
#[cfg(feature = "companion")]
mod fabric;
mod guest;
mod nvlink;
mod opal;
#[cfg(all(test, feature = "companion"))]
mod rig;
#[cfg(feature = "companion")]
mod traffic;
mod translations;

pub use bridge::HostBridge;
pub use chip::{Chip, ChipState};
pub use guest::{Guest, MemoryError};
pub use nvlink::NvLink;
pub use opal::{Cores, Platform, PlatformError};
#[cfg(feature = "companion")]
pub use traffic::Traffic;
pub use translations::{Translations, TranslationsState};
pub use vm_memory::GuestMemory;
pub use vm_pmu_arch::memory::Memory;
pub use vm_pmu_arch::power9::nest::{
    Availability, Bank, Call, CallType, ClockDomain, Clocks, Command, ControlCell, DEFAULT_BANKS, Engine, Event, FLEXIBLE, FLEXIBLE_BANKS,
    Frequencies, Grouping, Kind, Mode, Nest, Outcome, Overflow, Passed, Prescaler, REGION, REGION_SIZE, Request, SPEEDS, Setting, State,
    Status, Totals, Unit, Width,
};
