//! The queues of M2PCIe and the IRP, between the mesh and devices (chapters 7 and 8 of the manual).
//!
//! Entries of a queue leave one after the other. How long each takes is chosen: M2PCIe passes a message in a clock for each of its transfers,
//! a device takes a line in four clocks, a request without data in one, and answers a request for data after 400 clocks.

use alloc::vec::Vec;

use vm_pmu_arch::knl::untile::{Kind, UnitId};

use super::mesh::{AHEAD, Class, Message, Ring, Stop};
use super::report::Report;

/// Entries of M2PCIe's queues, chosen. The IRP has as many credits to fill those to the mesh.
const ENTRIES: usize = 8;
/// Entries of the IRP's queues: Max Inc of what counts them.
const RESPONSES: usize = 16;
const REQUESTS: usize = 10;
const OUTBOUND: usize = 8;
/// The most entries of a queue.
const MOST: usize = 16;
/// Clocks in which a device takes a line, and until it answers; chosen.
const LINE: u64 = 4;
const ANSWER: u64 = 400;

/// Selects of M2PCIe.
const INGRESS_NOT_EMPTY: u8 = 0x10;
const EGRESS_NOT_EMPTY: u8 = 0x23;
const EGRESS_INSERTS: u8 = 0x24;
const EGRESS_FULL: u8 = 0x25;
/// Its bit for a credit that goes back by AK (table 7-3), and for all of the ingress (table 7-1).
const CREDIT_BACK: u8 = 0x08;
const ALL: u8 = 0x80;
/// Selects of the IRP.
const OUTBOUND_OCCUPANCY: u8 = 0x0D;
const STALL_AD: u8 = 0x18;
const STALL_BL: u8 = 0x19;

/// Queues: M2PCIe's to the mesh by port and ring, and from it by class; the IRP's by class, and its requests to devices.
const EGRESS: usize = 0;
const INGRESS: usize = EGRESS + 6;
const IRP: usize = INGRESS + 3;
const REQUESTED: usize = IRP + 3;
const QUEUES: usize = REQUESTED + 1;

/// When the entries of a queue leave, the first first, and up to when its full cycles have been counted.
#[derive(Clone, Copy, Debug)]
struct Queue {
    leaves: [u64; MOST],
    counted: u64,
}

/// What an entry adds to what a queue counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stay {
    enters: u64,
    leaves: u64,
    not_empty: u64,
    full: u64,
}

impl Queue {
    const EMPTY: Queue = Queue { leaves: [0; MOST], counted: 0 };

    /// An entry comes at `time` to a queue of `entries`. It is there for `clocks`, after those before it if they are taken `in_turn`.
    fn stay(&mut self, entries: usize, time: u64, clocks: u64, in_turn: bool) -> Stay {
        let end = time.saturating_add(AHEAD);
        let Some(own) = self.leaves.get_mut(MOST - entries.min(MOST)..) else {
            return Stay { enters: time, leaves: time, not_empty: 0, full: 0 };
        };
        // A full queue takes it when the first leaves.
        let enters = own.first().copied().unwrap_or(0).min(end).max(time);
        let last = own.iter().copied().max().unwrap_or(0);
        let begins = if in_turn { last.min(end).max(enters) } else { enters };
        let leaves = begins.saturating_add(clocks);
        let full_until = own.get(1).copied().unwrap_or(0);
        let full = full_until.saturating_sub(enters.max(self.counted));
        self.counted = full_until.max(self.counted);
        own.first_mut().into_iter().for_each(|first| *first = leaves);
        own.sort_unstable();
        Stay { enters, leaves, not_empty: leaves.saturating_sub(enters.max(last)), full }
    }
}

/// Both boxes.
#[derive(Clone, Debug)]
pub(super) struct Port {
    queues: [Queue; QUEUES],
    /// Up to when the cycles have been counted in which any queue from the mesh is not empty.
    any: u64,
}

/// The port to the stop that messages from and to `other` take: one for each half of the die, which is chosen.
fn port(other: Stop) -> u8 {
    u8::from(other.is_in_right_half())
}

impl Port {
    pub(super) fn new() -> Port {
        Port { queues: [Queue::EMPTY; QUEUES], any: 0 }
    }

    fn stay(&mut self, queue: usize, entries: usize, time: u64, clocks: u64, in_turn: bool) -> Stay {
        let none = Stay { enters: time, leaves: time, not_empty: 0, full: 0 };
        self.queues.get_mut(queue).map_or(none, |queue| queue.stay(entries, time, clocks, in_turn))
    }

    /// `message` leaves the IRP at `time`. Returns when it sets out in the mesh.
    pub(super) fn send(&mut self, message: &Message, time: u64, report: &mut impl Report) -> u64 {
        let (Some(m2pcie), Some(irp)) = (UnitId::new(Kind::M2pcie, 0), UnitId::new(Kind::Irp, 0)) else { return time };
        let (ring, port) = match message.ring {
            Ring::Ad => (0, port(message.to)),
            Ring::Ak => (1, port(message.to)),
            Ring::Bl => (2, port(message.to)),
            Ring::Iv => return time,
        };
        let stay = self.stay(EGRESS + usize::from(3 * port + ring), ENTRIES, time, message.ring.slots(), true);
        let stalled = u64::from(stay.enters > time);
        match message.ring {
            Ring::Ad => report.count(irp, STALL_AD, 0, stalled),
            Ring::Bl => report.count(irp, STALL_BL, 0, stalled),
            Ring::Ak | Ring::Iv => {}
        }
        let bit = 1 << (3 * port + ring);
        report.count(m2pcie, EGRESS_INSERTS, 1 << (4 * port + ring), 1);
        report.count(m2pcie, EGRESS_NOT_EMPTY, bit, stay.not_empty);
        report.count(m2pcie, EGRESS_FULL, bit, stay.full);
        stay.leaves
    }

    /// `message` comes from the mesh at `time`; its data are of `class`.
    pub(super) fn receive(&mut self, message: &Message, class: Class, time: u64, report: &mut impl Report) {
        let (Some(m2pcie), Some(irp)) = (UnitId::new(Kind::M2pcie, 0), UnitId::new(Kind::Irp, 0)) else { return };
        let (queue, bit) = match (message.ring, class) {
            (Ring::Bl, Class::Bypass) => (1, 0x02),
            (Ring::Bl, Class::Standard) => (2, 0x04),
            _ => (0, 0x01),
        };
        let stay = self.stay(INGRESS + queue, ENTRIES, time, message.ring.slots(), true);
        report.count(m2pcie, INGRESS_NOT_EMPTY, bit, stay.not_empty);
        report.count(m2pcie, INGRESS_NOT_EMPTY, ALL, stay.leaves.saturating_sub(stay.enters.max(self.any)));
        self.any = self.any.max(stay.leaves);
        if message.ring != Ring::Bl {
            return;
        }
        if class != Class::Responses {
            // Who sent it gets its credit back.
            report.count(m2pcie, EGRESS_INSERTS, CREDIT_BACK << (4 * port(message.from)), 1);
        }
        let (entries, clocks) = match class {
            Class::Responses => (RESPONSES, LINE),
            Class::Bypass => (REQUESTS, LINE),
            Class::Standard => (REQUESTS, 1),
        };
        let inside = self.stay(IRP + queue, entries, stay.leaves, clocks, true);
        // Selects of the IRP are by class: responses, NCB and NCS.
        let select = match class {
            Class::Responses => 0,
            Class::Bypass => 1,
            Class::Standard => 2,
        };
        report.count(irp, 0x04 + select, 0, inside.full);
        report.count(irp, 0x07 + select, 0, inside.leaves - inside.enters);
        if class != Class::Responses {
            let answers = if class == Class::Standard { ANSWER } else { LINE };
            let asked = self.stay(REQUESTED, OUTBOUND, inside.leaves, answers, false);
            report.count(irp, OUTBOUND_OCCUPANCY, 0, asked.leaves - asked.enters);
        }
    }

    /// What is not free yet at `now`: where, and how long.
    pub(super) fn save(&self, now: u64) -> Vec<(u32, u64)> {
        let times = self.queues.iter().flat_map(|queue| queue.leaves.iter().chain([&queue.counted])).chain([&self.any]);
        let busy = times.enumerate().filter(|(_, time)| **time > now);
        busy.filter_map(|(place, time)| Some((u32::try_from(place).ok()?, time - now))).collect()
    }

    pub(super) fn load(&mut self, saved: &[(u32, u64)], now: u64) {
        *self = Port::new();
        for (place, ahead) in saved {
            let (queue, place) = (*place as usize / (MOST + 1), *place as usize % (MOST + 1));
            let time = match self.queues.get_mut(queue) {
                Some(queue) => queue.leaves.get_mut(place).unwrap_or(&mut queue.counted),
                None => &mut self.any,
            };
            *time = now.saturating_add(*ahead);
        }
    }
}
