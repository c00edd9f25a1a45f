//! Counts the companion's traffic between caches and memory in the nests of a machine's chips.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::feed::Signal;

use super::{Chip, fabric};
use crate::companion::{Companion, Interconnect, Place};

/// The ports of a chip's two memory controllers: MC01 has the first four, MC23 the others. Each has a memory buffer (MBA).
const PORTS: usize = 8;
/// The bytes of a block, as controllers and ports count them (tables 6-3 and 6-5).
const BLOCK: u64 = 64;
/// The bytes of one transfer of data on the interconnect: sixteen times 32 (table 6-2).
const TRANSFER: u64 = 512;

/// The places at which the counters of two ports of a controller are posted: blocks read or written, blocks read, blocks written.
const CONTROLLERS: [[u32; 3]; PORTS / 2] = [[0xC8, 0xD0, 0xD8], [0xE8, 0xF0, 0xF8], [0x48, 0x50, 0x58], [0x68, 0x70, 0x78]];
/// The places of transfers within the chip, of those to or from others, and of both, which the flexible mode counts.
const TRANSFERS: [u32; 3] = [0xA8, 0xB0, 0x1_00B8];

/// The places of a port's own counters: reads and writes of the default mode, reads and writes of the flexible one.
const fn port(port: u32) -> [u32; 4] {
    let (group, number) = if port < 4 { (0x448, port) } else { (0x558, port - 4) };
    let (default, flexible) = (group + 0x18 * number, 0x1_0000 + group + 0x20 * number);
    [default, default + 0x08, flexible + 0x10, flexible + 0x18]
}

/// Counts the companion's traffic between caches and memory in the nests of a machine's chips.
///
/// Each package of the companion is a chip, in the order of the chips. What is counted, and how:
///
/// - A line that memory reads or writes counts as blocks of 64 bytes: two on POWER9. They count at the controller and at the port that have
///   the line: `PM_MCSnn_64B_RD_DISP_PORTnn`, `..._WR_DISP_...`, `..._RD_OR_WR_DISP_...` for both, `PM_MBAn_READ_BYTES` and
///   `PM_MBAn_WRITE_BYTES`; in the flexible mode `PM_MBAn_CAS_READ` and `PM_MBAn_CAS_WRITE`. Consecutive lines alternate between MC01 and
///   MC23, and within each go to its ports 0, 1, 2, 3: line n is port n / 2 modulo 4 of controller n modulo 2. MBA 0 to 3 are the ports of
///   MC01, MBA 4 to 7 those of MC23. With [buffered](crate::companion::Builder::buffered) memory the controllers' counts are of what they ask
///   the buffers for, the ports' of what the buffers read from DRAM and write there.
/// - A request that leaves the caches of a pair of cores, or that a device makes, is a pump of the chip where it begins: to read a line, to
///   have it alone, to write it, to have it flushed. It is of local-node scope (`PM_PB_EVENT_LNS_PUMP`) if it stays within the chip, of group
///   scope (`PM_PB_EVENT_GROUP_PUMP`) if it goes to the chips of the group ([`packages_per_group`]), else of vector-group scope
///   (`PM_PB_EVENT_VG_PUMP`). Requests of caches go as far as their predictor says, and again if that was too near, as the cores' own events
///   count them; what is written out and what devices ask for goes as far as it has to. Consecutive lines take the ports 0 to 3 in turn; those
///   at 0 or 1 count as `..._PUMP_P01` too. Devices belong to the chip that has the memory. No pump is retried for another reason.
/// - X links join the chips of a group, as [`Link`] says: link 0 counts what it receives, links 1 and 2 what they send. A pump beyond the chip
///   is a reflected command to each chip that it comes to, and an answer of each (`ANY_RCMD`, `CMD_UTIL`). A line is eight blocks of 16 bytes
///   (`DATA_COUNT`), and takes nine slots with its header (`DHDR_DATA_UTIL`); commands and answers take one each (`TOTAL_UTIL`). Even lines
///   go by the even half.
/// - Of what a controller is asked for at ports 0 and 1, it counts reads to own, prefetches of the cores' prefetchers, partial writes of
///   devices and atomic operations. A port counts the rows that it opens: each has 16 banks, which keep theirs open.
/// - 512 bytes of lines moved within a chip count as one `PM_PB_INT_DATA_XFER`; between two chips, as one `PM_PB_EXT_DATA_XFER` of both.
///   `PM_PB_EVENT_DATA_XFER`, of the flexible mode, has both.
///
/// After [`sync`](Traffic::sync) the companion counts this while any engine posts. While none does, followers that nothing else needs are
/// inactive, [`flush`](Traffic::flush) costs two loads, and traffic is not counted.
///
/// ```
/// use vm_memory::{GuestAddress, GuestMemoryMmap};
/// use vm_pmu::companion;
/// use vm_pmu::memory::{Chip, Event, Guest, Nest, Traffic};
/// use vm_pmu::{Demand, arch::feed::Totals};
///
/// let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x80_0000)]).unwrap();
/// let chips = [Chip::new(0, Nest::new(0x40_0000))];
/// let companion = companion::Builder::new("power9").unwrap().threads(8).build();
/// let traffic = Traffic::new(&companion, chips.len());
/// chips[0].advance(4 * chips[0].slot_cycles(), &Guest(&memory)).ok().unwrap();
/// traffic.sync(&companion, &chips);
///
/// // A device reads 4 KiB: 32 lines, 4 at each port.
/// companion.device_access(0x1_0000, 4096, false, &Totals::new(), &Demand::default());
/// traffic.flush(&companion, &chips);
/// let read = Event::at(0x448).unwrap();
/// assert_eq!(chips[0].totals().get(read), 8, "PM_MBA0_READ_BYTES, in blocks of 64 bytes");
/// ```
///
/// [`packages_per_group`]: crate::companion::Builder::packages_per_group
/// [`Link`]: crate::companion::Link
#[derive(Debug)]
pub struct Traffic {
    /// The bytes of a line.
    line: u64,
    controllers: u64,
    per_controller: u64,
    /// Ports have buffers with a cache, which answer a part of what the controllers ask for.
    buffered: bool,
    /// The bytes that each chip has moved, within it and to or from others.
    moved: Box<[[AtomicU64; 2]]>,
}

impl Traffic {
    /// For so many chips, with nothing moved.
    #[must_use]
    pub fn new(companion: &Companion, chips: usize) -> Traffic {
        let profile = companion.profile();
        Traffic {
            line: 1 << profile.caches.outer_line_bits.min(63),
            controllers: u64::from(profile.memory.controllers.max(1)),
            per_controller: u64::from(profile.memory.channels.max(1)),
            buffered: profile.memory.is_buffered(),
            moved: (0..chips).map(|_| [const { AtomicU64::new(0) }; 2]).collect(),
        }
    }

    /// Has the companion watch its places while any chip's engine posts, and only then. Call it when an engine may have been started or
    /// stopped: after a call of the guest, after a slot. Renew a follower that this makes stale ([`Follower::is_stale`]). Returns whether
    /// it watches.
    ///
    /// [`Follower::is_stale`]: crate::companion::Follower::is_stale
    pub fn sync(&self, companion: &Companion, chips: &[Chip]) -> bool {
        let listens = chips.iter().any(Chip::is_running);
        companion.watch_places(listens);
        listens
    }

    /// Reports to the chips what has moved since the last call. Call it after each access, or after a block of them, and before the nest
    /// advances. Any host thread may call it; nothing is reported twice.
    #[inline]
    pub fn flush(&self, companion: &Companion, chips: &[Chip]) {
        if companion.has_places() {
            companion.take_places(|place, signal, lines| self.place(chips, place, signal, lines));
        }
        if companion.has_interconnects() {
            companion.take_interconnects(|package, did| self.interconnect(chips, package, did));
        }
    }

    /// The bytes that each chip has moved, within it and to or from others. Save them to keep transfers that are not complete yet.
    #[must_use]
    pub fn moved(&self) -> Vec<[u64; 2]> {
        self.moved.iter().map(|bytes| bytes.each_ref().map(|bytes| bytes.load(Relaxed))).collect()
    }

    /// Continues from where `moved` was saved. Chips beyond those that were saved start from zero.
    pub fn restore(&self, moved: &[[u64; 2]]) {
        let saved = moved.iter().copied().chain(core::iter::repeat([0; 2]));
        for (bytes, saved) in self.moved.iter().zip(saved) {
            bytes.iter().zip(saved).for_each(|(bytes, saved)| bytes.store(saved, Relaxed));
        }
    }

    /// Lines were read or written at a place.
    fn place(&self, chips: &[Chip], place: Place, signal: Signal, lines: u64) {
        let channel = match place {
            Place::Channel { controller, channel } => u64::from(controller) * self.per_controller + u64::from(channel),
            Place::NearMemory(buffer) if self.buffered => u64::from(buffer),
            Place::NearMemory(_) => return,
        };
        let channels = self.controllers * self.per_controller;
        let Some(chip) = chips.get((channel / channels) as usize) else { return };
        // A companion with other controllers spreads its channels over the eight ports.
        let number = (channel % channels).wrapping_mul(PORTS as u64) / channels;
        let Some([either, read, written]) = CONTROLLERS.get(number as usize / 2).copied() else { return };
        let [reads, writes, reads_flexible, writes_flexible] = port(number as u32);
        let offsets: &[u32] = match (signal, self.buffered) {
            (Signal::MemoryReads, false) => &[either, read, reads, reads_flexible],
            (Signal::MemoryWrites, false) => &[either, written, writes, writes_flexible],
            // A controller asks the buffer, which asks DRAM.
            (Signal::NearMemoryReads, true) => &[either, read],
            (Signal::NearMemoryWrites, true) => &[either, written],
            (Signal::MemoryReads, true) => &[reads, reads_flexible],
            (Signal::MemoryWrites, true) => &[writes, writes_flexible],
            _ => return,
        };
        let blocks = lines.wrapping_mul(self.line.div_ceil(BLOCK));
        offsets.iter().for_each(|offset| chip.add_at(*offset, blocks));
    }

    fn interconnect(&self, chips: &[Chip], package: usize, did: &Interconnect) {
        let (Some(chip), Some([within, beyond])) = (chips.get(package), self.moved.get(package)) else { return };
        fabric::count(chip, did, self.line, self.controllers * self.per_controller);
        let [inside, outside, both] = TRANSFERS;
        let (inner, outer) = (did.lines_within.wrapping_mul(self.line), did.lines_beyond.wrapping_mul(self.line));
        let before = [within.fetch_add(inner, Relaxed), beyond.fetch_add(outer, Relaxed)];
        let [inner, outer] = [transfers(before[0], inner), transfers(before[1], outer)];
        chip.add_at(inside, inner);
        chip.add_at(outside, outer);
        chip.add_at(both, inner.wrapping_add(outer));
    }
}

/// The transfers that `bytes` more complete.
const fn transfers(before: u64, bytes: u64) -> u64 {
    (before % TRANSFER + bytes) / TRANSFER
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use vm_memory::{GuestAddress, GuestMemoryMmap};
    use vm_pmu_arch::feed::Totals;
    use vm_pmu_arch::power9::nest::Event;

    use super::*;
    use crate::companion::{AccessKind, Builder};
    use crate::memory::Guest;
    use crate::memory::rig::{NOBODY, Rig};

    #[test]
    fn a_load_from_memory_is_two_blocks_at_its_port_and_a_local_pump() {
        let rig = Rig::new(1, 8);
        let mut follower = rig.follower(0);
        // Line 0x80: controller MC01, port 0, which is MBA 0; a line is a quarter of a transfer.
        rig.access(&mut follower, AccessKind::Load, 0x4000);
        let expected = [(0x10, 1), (0x90, 1), (0xC8, 2), (0xD0, 2), (0x448, 2), (0x1_0450, 1), (0x1_0458, 2)];
        assert_eq!(rig.happened(0), expected);
        // It is in the caches now.
        rig.access(&mut follower, AccessKind::Load, 0x4040);
        assert_eq!(rig.happened(0), expected);
    }

    #[test]
    fn what_a_buffer_has_is_read_by_the_controller_and_not_from_dram() {
        let rig = Rig::of(Builder::new("power9").unwrap().buffered(), 1, 8);
        let read = || {
            rig.companion.device_access(0x4000, 128, false, &Totals::new(), &NOBODY());
            rig.traffic.flush(&rig.companion, &rig.chips);
        };
        // Line 0x80, from MBA 0 of MC01: two blocks twice, of which DRAM reads the first two.
        read();
        read();
        assert_eq!(rig.happened(0), [(0x10, 2), (0x90, 2), (0xC8, 4), (0xD0, 4), (0x448, 2), (0x1_0450, 1), (0x1_0458, 2)]);
    }

    #[test]
    fn lines_go_to_controllers_and_ports_in_turn() {
        let rig = Rig::new(1, 8);
        // 16 lines from line 0 on, two at each port: four blocks.
        rig.companion.device_access(0, 2048, false, &Totals::new(), &NOBODY());
        rig.traffic.flush(&rig.companion, &rig.chips);
        let ports = [0x448, 0x460, 0x478, 0x490, 0x558, 0x570, 0x588, 0x5A0].map(|offset| (offset, 4));
        let happened = rig.happened(0);
        let default: Vec<_> = happened.iter().copied().filter(|(offset, _)| (0x440..0x1_0000).contains(offset)).collect();
        assert_eq!(default, ports);
        // Two ports of a controller have eight blocks. There are sixteen requests, eight of them by ports 0 and 1, and four transfers.
        let others: Vec<_> = happened.iter().copied().filter(|(offset, _)| *offset < 0x440).collect();
        let pairs = [(0x48, 8), (0x50, 8), (0x68, 8), (0x70, 8)];
        let rest = [(0x90, 8), (0xA8, 4), (0xC8, 8), (0xD0, 8), (0xE8, 8), (0xF0, 8)];
        assert_eq!(others, [&[(0x10, 16)], &pairs[..], &rest[..]].concat());
        assert_eq!(happened.last(), Some(&(0x1_05C8, 4)), "CAS for a read at MBA 7");
    }

    #[test]
    fn what_is_written_counts_as_written() {
        let rig = Rig::new(1, 8);
        let mut follower = rig.follower(0);
        // Line 5: MC23, port 2, MBA 6. It is read for the store, and flushed: three requests by port 1, and two lines moved.
        rig.access(&mut follower, AccessKind::Store, 5 << 7);
        rig.access(&mut follower, AccessKind::Flush, 5 << 7);
        let pumps = [(0x10, 3), (0x68, 4), (0x70, 2), (0x78, 2), (0x90, 3)];
        // The row that the read opened is still open for the write.
        let port = [(0x588, 2), (0x590, 2), (0x1_05A0, 1), (0x1_05A8, 2), (0x1_05B0, 2)];
        assert_eq!(rig.happened(0), [&pumps[..], &port].concat());
        assert_eq!(rig.traffic.moved(), vec![[2 * 128, 0]]);
    }

    #[test]
    fn memory_of_another_chip_is_asked_by_group_pumps() {
        let rig = Rig::new(2, 8);
        let mut follower = rig.follower(0);
        // Four lines of the second chip, at port 0 of MC01: lines 8 apart are at the same one.
        (0..4).for_each(|line| rig.access(&mut follower, AccessKind::Load, 0x10_0000 + line * 1024));
        // The first load is expected within the chip, and its request repeated. The even half of link 0 brings four answers and four lines of
        // eight blocks and a header.
        let link = [(0x168, 32), (0x170, 40)];
        let pumps = [(0x10, 1), (0x18, 4), (0x90, 1), (0x98, 4), (0xB0, 1)];
        assert_eq!(rig.happened(0), [&pumps[..], &link, &[(0x1_00B8, 1), (0x1_0168, 36)]].concat());
        // Its controllers have the blocks, of one row, and both have the transfer; the commands come by its link.
        let controllers = [(0xB0, 1), (0xC8, 8), (0xD0, 8), (0x160, 4), (0x170, 4), (0x448, 8)];
        let flexible = [(0x1_00B8, 1), (0x1_0160, 4), (0x1_0450, 1), (0x1_0458, 8)];
        assert_eq!(rig.happened(1), [&controllers[..], &flexible].concat());
    }

    #[test]
    fn a_line_that_another_chips_cache_has_is_asked_by_a_group_pump_after_a_local_one() {
        let rig = Rig::new(2, 8);
        let (mut here, mut there) = (rig.follower(0), rig.follower(8));
        // Memory of the first chip, written on the second: the request of the store goes to the first chip.
        rig.access(&mut there, AccessKind::Store, 0x2000);
        let pumps = [(0x10, 1), (0x18, 1), (0x90, 1), (0x98, 1)];
        let of = |chip: usize| rig.happened(chip).into_iter().filter(|(offset, _)| *offset < 0xC8).collect::<Vec<_>>();
        assert_eq!(of(1), pumps);
        // Read on the first: the second one supplies it, and memory gets it too. Two lines come over.
        rig.access(&mut here, AccessKind::Load, 0x2000);
        assert_eq!(of(0), pumps);
        assert_eq!(rig.traffic.moved(), vec![[0, 3 * 128]; 2]);
    }

    #[test]
    fn leave_to_write_is_a_pump_and_moves_nothing() {
        let rig = Rig::new(1, 16);
        // Two pairs of cores read the line: memory supplies it to both. Then one of them writes it.
        let (mut first, mut second) = (rig.follower(0), rig.follower(8));
        rig.access(&mut first, AccessKind::Load, 0x2000);
        rig.access(&mut second, AccessKind::Load, 0x2000);
        let moved = rig.traffic.moved();
        rig.access(&mut second, AccessKind::Store, 0x2000);
        assert_eq!(rig.happened(0).first(), Some(&(0x10, 3)));
        assert_eq!(rig.traffic.moved(), moved);
    }

    #[test]
    fn nothing_is_followed_while_no_engine_posts() {
        let rig = Rig::new(1, 8);
        let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x1C_0000)]).unwrap();
        assert!(!rig.traffic.sync(&rig.companion, &rig.chips));
        let mut follower = rig.follower(0);
        assert!(!follower.is_active());
        rig.access(&mut follower, AccessKind::Load, 0x2000);
        assert!(rig.happened(0).is_empty());
        rig.chips[0].advance(4 * rig.chips[0].slot_cycles(), &Guest(&memory)).ok().unwrap();
        assert!(rig.traffic.sync(&rig.companion, &rig.chips));
        assert!(follower.is_stale());
        follower.sync(&NOBODY());
        assert!(follower.is_active());
    }

    #[test]
    fn what_fills_no_transfer_is_saved() {
        let (rig, other) = (Rig::new(1, 8), Rig::new(1, 8));
        // Three lines, and the fourth after the restore.
        rig.companion.device_access(0, 3 * 128, false, &Totals::new(), &NOBODY());
        rig.traffic.flush(&rig.companion, &rig.chips);
        assert_eq!(rig.chips[0].totals().get(Event::at(0xA8).unwrap()), 0);
        other.traffic.restore(&rig.traffic.moved());
        other.companion.device_access(0, 128, false, &Totals::new(), &NOBODY());
        other.traffic.flush(&other.companion, &other.chips);
        assert_eq!(other.chips[0].totals().get(Event::at(0xA8).unwrap()), 1);
    }

    #[test]
    fn the_traffic_of_chips_that_nobody_has_is_nobodys() {
        let rig = Rig::new(2, 8);
        rig.companion.device_access(0x10_0000, 4096, true, &Totals::new(), &NOBODY());
        rig.traffic.flush(&rig.companion, &rig.chips[..1]);
        assert!(rig.happened(0).is_empty() && rig.happened(1).is_empty());
    }
}
