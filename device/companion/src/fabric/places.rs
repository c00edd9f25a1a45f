//! The places of memory: controllers, channels and homes of lines, and the counts of each.

use alloc::boxed::Box;
use alloc::vec;

use vm_pmu_arch::feed::Signal;

use crate::bytes::{Damaged, Reader, Writer};
use crate::fabric::interconnect::{Asked, CHANNELS, Interconnect};
use crate::profile::MemoryGeometry;
use vm_pmu_arch::die::Spread;
#[cfg(feature = "knl")]
use vm_pmu_arch::knl::untile::{Kind, UnitId};

/// A place of memory that is counted separately. Numbers begin with 0 and continue through all packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A controller of near memory: on Knights Landing an EDC. If DRAM channels have [buffers](crate::Builder::buffered), the buffer of a
    /// channel, numbered through the controllers.
    NearMemory(u16),
    /// A channel of DRAM.
    Channel {
        /// Its controller.
        controller: u16,
        /// Its number within the controller.
        channel: u8,
    },
}

#[cfg(feature = "knl")]
impl Place {
    /// Returns the box of Knights Landing's untile that counts `signal` of this place, with the select and the unit mask of its event
    /// (tables 3-1 to 3-3 and 4-1 of the manual). `None` if no box counts it.
    ///
    /// ```
    /// use vm_pmu::Signal;
    /// use vm_pmu::companion::Place;
    /// use vm_pmu::untile::UnitId;
    ///
    /// // CAS reads of the last channel: controller 1, channel 2.
    /// let channel = Place::Channel { controller: 1, channel: 2 };
    /// assert_eq!(channel.event(Signal::MemoryReads), Some((UnitId::named("mc-dclk5").unwrap(), 0x03, 0x01)));
    /// assert_eq!(channel.event(Signal::NearMemoryReads), None);
    /// ```
    #[must_use]
    pub fn event(self, signal: Signal) -> Option<(UnitId, u8, u8)> {
        let (kind, select, umask) = match (self, signal) {
            (Place::NearMemory(_), Signal::NearMemoryReads) => (Kind::EdcEclk, 0x01, 0x01),
            (Place::NearMemory(_), Signal::NearMemoryWrites) => (Kind::EdcEclk, 0x02, 0x01),
            (Place::NearMemory(_), Signal::MemorySideCacheHitsClean) => (Kind::EdcUclk, 0x02, 0x01),
            (Place::NearMemory(_), Signal::MemorySideCacheHitsModified) => (Kind::EdcUclk, 0x02, 0x02),
            (Place::NearMemory(_), Signal::MemorySideCacheMissesClean) => (Kind::EdcUclk, 0x02, 0x04),
            (Place::NearMemory(_), Signal::MemorySideCacheMissesModified) => (Kind::EdcUclk, 0x02, 0x08),
            (Place::NearMemory(_), Signal::MemorySideCacheMissesInvalid) => (Kind::EdcUclk, 0x02, 0x10),
            (Place::Channel { .. }, Signal::MemoryReads) => (Kind::McDclk, 0x03, 0x01),
            (Place::Channel { .. }, Signal::MemoryWrites) => (Kind::McDclk, 0x03, 0x02),
            _ => return None,
        };
        let number = match self {
            Place::NearMemory(controller) => controller,
            Place::Channel { controller, channel } => controller.checked_mul(CHANNELS_OF_CONTROLLER)?.checked_add(u16::from(channel))?,
        };
        Some((UnitId::new(kind, u8::try_from(number).ok()?)?, select, umask))
    }
}

/// DDR channels per controller on Knights Landing.
#[cfg(feature = "knl")]
const CHANNELS_OF_CONTROLLER: u16 = 3;

/// Signals of a near-memory controller, counted in accesses.
const OF_NEAR_MEMORY: [Signal; 7] = [
    Signal::NearMemoryReads,
    Signal::NearMemoryWrites,
    Signal::MemorySideCacheHitsClean,
    Signal::MemorySideCacheHitsModified,
    Signal::MemorySideCacheMissesClean,
    Signal::MemorySideCacheMissesModified,
    Signal::MemorySideCacheMissesInvalid,
];

/// Signals of a DRAM channel, counted in accesses.
const OF_CHANNEL: [Signal; 2] = [Signal::MemoryReads, Signal::MemoryWrites];

/// Banks of a channel: DDR4 has four groups of four (JESD79-4).
const BANKS: usize = 16;

/// The counts of a package's places since they were last taken.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    near: Box<[[u64; OF_NEAR_MEMORY.len()]]>,
    /// Channels of the first controller first.
    channels: Box<[[u64; OF_CHANNEL.len()]]>,
    controllers: u8,
    per_controller: u8,
    in_turn: bool,
    /// The distribution of lines that do not go to places in turn.
    pub(super) spread: Spread,
    /// Lines per DRAM row, as a power of two.
    row_bits: u32,
    /// The open row of each bank of each channel, plus one; 0 if none is open. Empty if lines do not go to channels in turn.
    rows: Box<[u64]>,
    pub(super) interconnect: Interconnect,
}

impl Places {
    pub(super) fn new(geometry: &MemoryGeometry, line_bits: u8, spread: Spread) -> Places {
        let (controllers, per_controller) = (geometry.controllers.max(1), geometry.channels.max(1));
        let near = if geometry.near_bytes == 0 { 0 } else { usize::from(geometry.near_controllers.max(1)) };
        let channels = usize::from(controllers) * usize::from(per_controller);
        Places {
            near: vec![[0; OF_NEAR_MEMORY.len()]; near].into_boxed_slice(),
            channels: vec![[0; OF_CHANNEL.len()]; channels].into_boxed_slice(),
            controllers,
            per_controller,
            in_turn: geometry.in_turn,
            spread,
            row_bits: u32::from(geometry.page_bits.saturating_sub(line_bits)).min(63),
            rows: vec![0; if geometry.in_turn { channels * BANKS } else { 0 }].into_boxed_slice(),
            interconnect: Interconnect::default(),
        }
    }

    /// Returns the controller and the channel that `line` belongs to.
    fn channel_of(&self, line: u64) -> (u64, u64) {
        let (controllers, per_controller) = (u64::from(self.controllers.max(1)), u64::from(self.per_controller.max(1)));
        if self.in_turn {
            (line % controllers, line / controllers % per_controller)
        } else {
            (self.spread.memory(line, controllers), self.spread.channel(line, per_controller))
        }
    }

    /// Counts `signal` for the near-memory controller that has `line`.
    pub(super) fn near_memory(&mut self, line: u64, signal: Signal) {
        // The buffers belong to the channels.
        let place = if self.in_turn && self.near.len() == self.channels.len() {
            let (controller, channel) = self.channel_of(line);
            (controller * u64::from(self.per_controller) + channel) as usize
        } else {
            self.spread.memory(line, self.near.len() as u64) as usize
        };
        if let (Some(counts), Some(of)) = (self.near.get_mut(place), OF_NEAR_MEMORY.iter().position(|of| *of == signal))
            && let Some(count) = counts.get_mut(of)
        {
            *count = count.wrapping_add(1);
        }
    }

    pub(super) fn channel(&mut self, line: u64, signal: Signal) {
        let (controller, channel) = self.channel_of(line);
        let place = controller * u64::from(self.per_controller) + channel;
        if let (Some(counts), Some(of)) = (self.channels.get_mut(place as usize), OF_CHANNEL.iter().position(|of| *of == signal))
            && let Some(count) = counts.get_mut(of)
        {
            *count = count.wrapping_add(1);
        }
        self.open(line, place as usize);
    }

    /// Opens the row of `line` in its bank of channel `place`, if it is not open. The lines of a channel fill row after row. Consecutive
    /// rows are in the banks in turn.
    fn open(&mut self, line: u64, place: usize) {
        let row = (line / (self.channels.len() as u64).max(1)) >> self.row_bits;
        let Some(open) = self.rows.get_mut(place * BANKS + row as usize % BANKS) else { return };
        if core::mem::replace(open, row.wrapping_add(1)) != row.wrapping_add(1)
            && let Some(asked) = self.interconnect.channels.get_mut(place.min(CHANNELS - 1))
        {
            asked.activations = asked.activations.wrapping_add(1);
        }
    }

    /// Returns the counts of requests to the channel that has `line`.
    pub(super) fn asked(&mut self, line: u64) -> Option<&mut Asked> {
        let (controller, channel) = self.channel_of(line);
        let place = controller * u64::from(self.per_controller) + channel;
        self.interconnect.channels.get_mut((place as usize).min(CHANNELS - 1))
    }

    /// Takes the counts of the next place that has some, from the `from`th on: near memory first. `package` is the number of this package.
    pub(super) fn take_next(&mut self, package: usize, from: usize) -> Option<PlaceCounts> {
        let number = |place: usize, of: usize| u16::try_from(package.saturating_mul(of).saturating_add(place)).unwrap_or(u16::MAX);
        let near = self.near.len();
        let mut taken = PlaceCounts { place: Place::NearMemory(0), signals: &OF_NEAR_MEMORY, counts: [0; OF_NEAR_MEMORY.len()], next: 0 };
        for (place, counts) in self.near.iter_mut().enumerate().skip(from) {
            if counts.iter().any(|count| *count != 0) {
                return Some(PlaceCounts {
                    place: Place::NearMemory(number(place, near)),
                    counts: core::mem::take(counts),
                    next: place + 1,
                    ..taken
                });
            }
        }
        let (controllers, per_controller) = (usize::from(self.controllers), usize::from(self.per_controller));
        for (place, counts) in self.channels.iter_mut().enumerate().skip(from.saturating_sub(near)) {
            if counts.iter().any(|count| *count != 0) {
                taken.counts.iter_mut().zip(core::mem::take(counts)).for_each(|(taken, count)| *taken = count);
                let (controller, channel) = (place / per_controller.max(1), (place % per_controller.max(1)) as u8);
                let at = Place::Channel { controller: number(controller, controllers), channel };
                return Some(PlaceCounts { place: at, signals: &OF_CHANNEL, next: near + place + 1, ..taken });
            }
        }
        None
    }

    pub(super) fn forget(&mut self) {
        self.near.iter_mut().for_each(|counts| counts.fill(0));
        self.channels.iter_mut().for_each(|counts| counts.fill(0));
        self.interconnect = Interconnect::default();
        self.rows.fill(0);
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.near.iter().for_each(|counts| writer.words(counts));
        self.channels.iter().for_each(|counts| writer.words(counts));
        self.interconnect.save(writer);
        writer.words(&self.rows);
    }

    /// Loads the counts. Returns whether places, and the interconnect, have any.
    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<[bool; 2], Damaged> {
        for counts in &mut self.near {
            reader.words(counts)?;
        }
        for counts in &mut self.channels {
            reader.words(counts)?;
        }
        self.interconnect.load(reader)?;
        reader.words(&mut self.rows)?;
        let near = self.near.iter().flatten();
        Ok([near.chain(self.channels.iter().flatten()).any(|count| *count != 0), self.interconnect.is_busy()])
    }
}

/// The counts of one place, taken from its package.
pub(crate) struct PlaceCounts {
    place: Place,
    signals: &'static [Signal],
    counts: [u64; OF_NEAR_MEMORY.len()],
    pub(super) next: usize,
}

impl PlaceCounts {
    /// Reports the counts, in the order of the place's signals.
    pub(super) fn report(&self, report: &mut impl FnMut(Place, Signal, u64)) {
        for (signal, count) in self.signals.iter().zip(&self.counts).filter(|(_, count)| **count != 0) {
            report(self.place, *signal, *count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm_pmu_arch::die::ClusterMode;

    #[test]
    fn lines_go_to_the_controllers_and_ports_of_power9_in_turn() {
        let places = Places::new(&crate::parts::POWER9.memory, 7, Spread::new(ClusterMode::Quadrant, 0, 0));
        let each = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 0)];
        assert_eq!(core::array::from_fn(|line| places.channel_of(line as u64)), each);
    }
}
