//! What the companion's interconnects did, as events of the fabric, of X links and of memory controllers.

use super::Chip;
use crate::companion::{Asked, CHANNELS, Carried, Interconnect, LINKS, Link, PORTS};

/// The places of the pumps that stay within the chip, and of those by ports 0 and 1.
const LOCAL: [u32; 2] = [0x10, 0x90];
/// The places of the pumps to the other chips of the group.
const GROUP: [u32; 2] = [0x18, 0x98];
/// The places of the pumps to chips of other groups: vector-group scope.
const VECTOR_GROUP: [u32; 2] = [0x08, 0x88];

/// The bytes of a block of data on a link (table 6-7), which takes one slot.
const BLOCK: u64 = 16;

/// The places of half of a link: the default mode's reflected commands and data, its utilisation, which is of both modes, and the flexible
/// mode's utilisation by commands and by data.
const HALVES: [[[u32; 5]; 2]; LINKS] = [
    [[0x160, 0x168, 0x170, 0x1_0160, 0x1_0168], [0x180, 0x188, 0x190, 0x1_0180, 0x1_0188]],
    [[0x120, 0x128, 0x130, 0x1_0120, 0x1_0128], [0x140, 0x148, 0x150, 0x1_0140, 0x1_0148]],
    [[0x1A0, 0x1A8, 0x1B0, 0x1_01A0, 0x1_01A8], [0x1C0, 0x1C8, 0x1D0, 0x1_01C0, 0x1_01C8]],
];

/// The places of MC01 and MC23: atomic operations in the default mode; reads to own, partial writes and prefetches in the flexible one. They
/// have them for ports 0 and 1 only.
const CONTROLLERS: [[u32; 4]; 2] = [[0xE0, 0x1_00C8, 0x1_00D8, 0x1_00E0], [0x60, 0x1_0048, 0x1_0058, 0x1_0060]];

/// The place of a port's activations.
const fn activations(port: u32) -> u32 {
    let (group, number) = if port < 4 { (0x448, port) } else { (0x558, port - 4) };
    0x1_0000 + group + 0x20 * number + 0x08
}

/// Adds what the interconnect of a chip did, whose lines have this many bytes and whose memory has this many channels.
pub(super) fn count(chip: &Chip, did: &Interconnect, line: u64, channels: u64) {
    for ([all, by_two], requests) in [(LOCAL, &did.requests_within), (GROUP, &did.requests_to_group), (VECTOR_GROUP, &did.requests_beyond)]
    {
        let sum = |ports: usize| requests.iter().take(ports).fold(0u64, |sum, requests| sum.wrapping_add(*requests));
        chip.add_at(all, sum(PORTS));
        chip.add_at(by_two, sum(2));
    }
    for (number, (Link { sent, received }, halves)) in did.links.iter().zip(HALVES).enumerate() {
        // Link 0 counts what it receives, the others what they send (table 6-10).
        let carried = if number == 0 { received } else { sent };
        carried.iter().zip(halves).for_each(|(carried, places)| link(chip, carried, places, line));
    }
    for (channel, asked) in (0..CHANNELS as u64).zip(&did.channels) {
        controller(chip, asked, channel.wrapping_mul(CHANNELS as u64) / channels.max(1));
    }
}

/// Half of a link: a command, an answer and the header of data take a slot each.
fn link(chip: &Chip, carried: &Carried, [commands, data, total, by_commands, by_data]: [u32; 5], line: u64) {
    let blocks = carried.lines.wrapping_mul(line.div_ceil(BLOCK));
    let with_headers = blocks.wrapping_add(carried.lines);
    chip.add_at(commands, carried.commands);
    chip.add_at(data, blocks);
    chip.add_at(total, carried.commands.wrapping_add(carried.answers).wrapping_add(with_headers));
    chip.add_at(by_commands, carried.commands);
    chip.add_at(by_data, with_headers);
}

fn controller(chip: &Chip, asked: &Asked, port: u64) {
    let Some(places) = CONTROLLERS.get(port as usize / 4) else { return };
    if port % 4 < 2 {
        let amounts = [asked.atomics, asked.owned, asked.partly_written, asked.prefetched];
        places.iter().zip(amounts).for_each(|(place, amount)| chip.add_at(*place, amount));
    }
    chip.add_at(activations(port as u32), asked.activations);
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;
    use vm_pmu_arch::feed::Totals;
    use vm_pmu_arch::power9::nest::Event;

    use super::*;
    use crate::companion::{AccessKind, Builder};
    use crate::memory::rig::{NOBODY, Rig};

    /// Four chips of two groups.
    fn groups() -> Rig {
        Rig::of(Builder::new("power9").unwrap().packages_per_group(2), 4, 8)
    }

    fn counts(rig: &Rig, chip: usize, names: &[&str]) -> Vec<u64> {
        names.iter().map(|name| rig.chips[chip].totals().get(Event::named(name).unwrap())).collect()
    }

    const PUMPS: [&str; 3] = ["PM_PB_EVENT_LNS_PUMP", "PM_PB_EVENT_GROUP_PUMP", "PM_PB_EVENT_VG_PUMP"];
    const LINK0: [&str; 3] = ["PM_XLINK0_IN_EVEN_ANY_RCMD", "PM_XLINK0_IN_EVEN_DATA_COUNT", "PM_XLINK0_IN_EVEN_TOTAL_UTIL"];

    #[test]
    fn memory_of_another_group_is_asked_by_vector_group_pumps() {
        let rig = groups();
        let mut follower = rig.follower(0);
        // Two even lines of chip 3. The first request is sent to the chip, to the group and to all; the second at once to all.
        (0..2).for_each(|line| rig.access(&mut follower, AccessKind::Load, 0x30_0000 + line * 1024));
        assert_eq!(counts(&rig, 0, &PUMPS), [1, 1, 2]);
        assert_eq!(counts(&rig, 0, &["PM_PB_VG_PUMP_P01"]), [2]);
        // Chip 1 is shown the command three times, and answers. Chip 2 is in the place of chip 0 in the other group: it shows chip 3 the
        // command twice, and gets two answers and the two lines, of nine slots each, which it passes on to chip 0.
        assert_eq!(counts(&rig, 0, &LINK0), [0, 0, 3]);
        assert_eq!(counts(&rig, 1, &LINK0), [3, 0, 3]);
        assert_eq!(counts(&rig, 2, &LINK0), [0, 16, 20]);
        assert_eq!(counts(&rig, 3, &LINK0), [2, 0, 2]);
    }

    #[test]
    fn each_of_four_chips_has_a_link_to_each_other() {
        let rig = Rig::new(4, 8);
        let mut follower = rig.follower(0);
        // An odd line of chip 3, which is by link 2 of both: chip 3 sends it, after an answer to one of two pumps.
        rig.access(&mut follower, AccessKind::Load, 0x30_0080);
        let sent = ["PM_XLINK2_OUT_ODD_ANY_RCMD", "PM_XLINK2_OUT_ODD_DATA_COUNT", "PM_XLINK2_OUT_ODD_TOTAL_UTIL"];
        assert_eq!(counts(&rig, 3, &sent), [0, 8, 10]);
        assert_eq!(counts(&rig, 0, &sent), [1, 0, 1]);
        let flexible = ["PM_XLINK2_OUT_ODD_CMD_UTIL", "PM_XLINK2_OUT_ODD_DHDR_DATA_UTIL"];
        assert_eq!(counts(&rig, 3, &flexible), [0, 9]);
        assert_eq!(counts(&rig, 0, &flexible), [1, 0]);
        // Chip 2 is by link 1 of chip 0, chip 1 by link 0: both are shown the command.
        assert_eq!(counts(&rig, 0, &["PM_XLINK1_OUT_ODD_ANY_RCMD", "PM_XLINK1_OUT_ODD_CMD_UTIL"]), [1, 1]);
        assert_eq!(counts(&rig, 1, &["PM_XLINK0_IN_ODD_ANY_RCMD"]), [1]);
    }

    #[test]
    fn a_controller_counts_who_asks_for_what_at_its_first_two_ports() {
        let names = |controller: &str| ["RRTO_DISP", "PARTIAL_WR_DISP"].map(|event| alloc::format!("PM_MCS{controller}_{event}_PORT01"));
        for (line, controller) in [(0, "01"), (2, "01"), (1, "23"), (3, "23")] {
            let rig = Rig::new(1, 8);
            let mut follower = rig.follower(0);
            rig.access(&mut follower, AccessKind::Store, line * 128);
            // A device writes part of it, and all of it.
            for (address, size) in [(line * 128 + 8, 8), (line * 128, 128)] {
                rig.companion.device_access(address, size, true, &Totals::new(), &NOBODY());
            }
            rig.companion.device_atomic(line * 128, &Totals::new(), &NOBODY());
            rig.traffic.flush(&rig.companion, &rig.chips);
            let [owned, partly] = names(controller);
            assert_eq!(counts(&rig, 0, &[&owned, &partly]), [1, 1], "line {line}");
            let atomic = if controller == "01" { "PM_MCS01_AMO_OP_DISP_MC23_PORT01" } else { "PM_MCS23_AMO_OP_DISP_PORT01" };
            assert_eq!(counts(&rig, 0, &[atomic]), [1], "line {line}");
        }
    }

    #[test]
    fn prefetches_of_a_stream_are_counted_by_the_controllers() {
        let rig = Rig::new(1, 8);
        let mut follower = rig.follower(0);
        // From the second of 16 lines on, the prefetcher fetches the second line after each: lines 3 to 17. Of these, lines 3, 8, 9, 10, 11, 16 and
        // 17 are at ports 0 and 1; MC01 has the even ones.
        (0..16).for_each(|line| rig.access(&mut follower, AccessKind::Load, line * 128));
        assert_eq!(counts(&rig, 0, &["PM_MCS01_PF_DISP_PORT01", "PM_MCS23_PF_DISP_PORT01"]), [3, 4]);
    }

    #[test]
    fn a_row_stays_open_until_another_of_its_bank_is_needed() {
        let rig = Rig::new(1, 8);
        let read = |address: u64| rig.companion.device_access(address, 128, false, &Totals::new(), &NOBODY());
        // A row of a port has 64 of its lines, one in eight: 64 KiB. Its bank has the 16th row after it, 1 MiB on.
        for address in [0, 0x400, 0x1_0000, 0, 0x10_0000, 0] {
            read(address);
        }
        rig.traffic.flush(&rig.companion, &rig.chips);
        // Row 0, its second line, row 1 of another bank, row 0 again; then row 16, and row 0 once more.
        assert_eq!(counts(&rig, 0, &["PM_MBA0_ACT_ALL", "PM_MBA0_CAS_READ"]), [4, 12]);
    }

    proptest! {
        #[test]
        fn what_links_carry_and_memory_moves_is_what_was_asked_for(
            steps in proptest::collection::vec((0usize..4, 0u64..4, 0u64..4096, 0u8..3), 1..200),
        ) {
            let rig = groups();
            let mut followers: Vec<_> = (0..4).map(|chip| rig.follower(8 * chip)).collect();
            let mut did = [Interconnect::default(); 4];
            for (chip, home, line, kind) in steps {
                let kind = [AccessKind::Load, AccessKind::Store, AccessKind::Flush][usize::from(kind)];
                rig.step(&mut followers[chip], kind, home << 20 | line << 7);
                rig.companion.take_interconnects(|package, what| {
                    let all = &mut did[package];
                    for (sum, port) in all.requests_to_group.iter_mut().zip(&what.requests_to_group) {
                        *sum += port;
                    }
                    for (sum, port) in all.requests_beyond.iter_mut().zip(&what.requests_beyond) {
                        *sum += port;
                    }
                    all.lines_beyond += what.lines_beyond;
                    for (sum, link) in all.links.iter_mut().zip(&what.links) {
                        for (sum, half) in sum.sent.iter_mut().chain(&mut sum.received).zip(link.sent.iter().chain(&link.received)) {
                            sum.commands += half.commands;
                            sum.answers += half.answers;
                            sum.lines += half.lines;
                        }
                    }
                });
            }
            let requests = |chip: usize, beyond: bool| -> u64 {
                if beyond { did[chip].requests_beyond.iter().sum() } else { did[chip].requests_to_group.iter().sum() }
            };
            for (here, there) in [(0usize, 1usize), (2, 3)] {
                let (one, other) = (&did[here].links[0], &did[there].links[0]);
                prop_assert_eq!(one.sent, other.received);
                prop_assert_eq!(one.received, other.sent);
                for half in 0..2 {
                    // Every command is answered.
                    prop_assert_eq!(one.sent[half].commands, one.received[half].answers);
                    prop_assert_eq!(one.received[half].commands, one.sent[half].answers);
                }
                // The own pumps beyond the chip, and those of the chip in the same place of the other group.
                let own = requests(here, false) + requests(here, true) + requests((here + 2) % 4, true);
                prop_assert_eq!(one.sent[0].commands + one.sent[1].commands, own);
            }
            // Each line between chips is counted by both, and goes by an X link unless it is for the chip in the same place.
            let both: u64 = did.iter().map(|did| did.lines_beyond).sum();
            let by_links: u64 = did.iter().map(|did| did.links[0].sent.iter().map(|half| half.lines).sum::<u64>()).sum();
            prop_assert!(both.is_multiple_of(2) && by_links <= both / 2);
        }
    }
}
