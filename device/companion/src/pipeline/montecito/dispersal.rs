//! Formation of groups: ports, implicit stops, and the slots of a clock (PM9 to PM11a, PM41 to PM44).

use vm_pmu_arch::feed::Signal;

use crate::bundle::{Template, Unit};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::ia64::branches;
use crate::pipeline::ia64::rows::BundlePort;
use crate::pipeline::resources::saving::small;
use crate::tally::Tally;

/// The cause that ends a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MontecitoGroupEnd {
    /// A stop of the program.
    Stop,
    /// No port is left, a branch rule applies, or execution continues elsewhere.
    Implicit,
    /// The window has no more instructions, or none yet.
    Window,
}

/// The ports taken by a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct DispersalPorts {
    /// Number of load ports and of store ports taken, and whether M0 and M2 are taken by instructions that can use no other.
    loads: u8,
    stores: u8,
    memory0: bool,
    memory2: bool,
    /// Number of M ports taken.
    memory: u8,
    /// Taken I ports and B ports, one bit each.
    integer: u8,
    branches: u8,
}

impl DispersalPorts {
    /// Takes the port of another instruction, if one is free. Instructions that can use every M port take one that is left over.
    #[inline]
    fn take(&mut self, port: BundlePort, unit: Unit, template: Template, slot: u8) -> bool {
        match port {
            BundlePort::Any if unit == Unit::I && self.integer != 3 => self.take_integer(),
            BundlePort::Any | BundlePort::Memory => self.take_memory(0, 0),
            BundlePort::Load => self.take_memory(1, 0),
            BundlePort::Store => self.take_memory(0, 1),
            BundlePort::Memory0 => {
                let free = !self.memory0 && self.take_memory(1, 0);
                self.memory0 |= free;
                free
            }
            BundlePort::Memory2 => {
                let free = !self.memory2 && self.take_memory(0, 1);
                self.memory2 |= free;
                free
            }
            BundlePort::Integer0 => {
                let free = self.integer & 1 == 0;
                self.integer |= 1;
                free
            }
            BundlePort::Integer | BundlePort::Long => self.integer != 3 && self.take_integer(),
            BundlePort::Floating => true,
            BundlePort::Branch | BundlePort::BranchNop => {
                match branches::with_branch(self.branches, port == BundlePort::Branch, template, slot) {
                    Some(branches) => {
                        self.branches = branches;
                        true
                    }
                    None => false,
                }
            }
        }
    }

    /// Takes the lowest free I port.
    #[inline]
    fn take_integer(&mut self) -> bool {
        self.integer |= if self.integer & 1 == 0 { 1 } else { 2 };
        true
    }

    /// Takes an M port, for loads, for stores, or any.
    #[inline]
    fn take_memory(&mut self, loads: u8, stores: u8) -> bool {
        let free = self.memory < 4 && self.loads + loads <= 2 && self.stores + stores <= 2;
        if free {
            (self.memory, self.loads, self.stores) = (self.memory + 1, self.loads + loads, self.stores + stores);
        }
        free
    }
}

/// The group being formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct MontecitoWindow {
    ports: DispersalPorts,
    /// The slot of its first bundle at which it begins.
    start: u8,
    /// The bundle of its last instruction, 0 or 1, and the slot after that instruction.
    bundle: u8,
    next: u8,
    /// Number of instructions, and of long ones.
    instructions: u8,
    long: u8,
    /// Whether a bundle with a branch is among them.
    branched: bool,
}

impl MontecitoWindow {
    /// Returns a group that begins at this slot.
    pub(super) fn at(start: u8) -> MontecitoWindow {
        MontecitoWindow { start: start.min(2), next: start.min(2), ..MontecitoWindow::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.instructions == 0
    }

    /// Whether its second bundle may still arrive.
    pub(super) fn has_room(&self) -> bool {
        self.bundle == 0
    }

    /// Adds an instruction of its bundle, or of the next one if it `enters` that. Returns whether there was room.
    #[inline]
    pub(super) fn take(&mut self, port: BundlePort, unit: Unit, template: Template, slot: u8, enters: bool) -> bool {
        if enters && template == Template::Bbb && self.branched {
            return false;
        }
        if !self.ports.take(port, unit, template, slot) {
            return false;
        }
        self.bundle += u8::from(enters);
        self.instructions += 1;
        self.long += u8::from(port == BundlePort::Long);
        self.next = if port == BundlePort::Long { 3 } else { slot.min(2) + 1 };
        self.branched |= port == BundlePort::Branch;
        true
    }

    /// Counts the slots of the clock of its dispersal, which ended with `end`.
    pub(super) fn count(&self, end: MontecitoGroupEnd, tally: &mut Tally) {
        let inside = self.next < 3;
        let before = u64::from(self.next);
        let lost = match (self.bundle, inside) {
            (0, true) => 6,
            (0, false) | (_, true) => 3,
            (_, false) => 0,
        };
        let over = if inside { before } else { 0 };
        let [mut stop, mut implicit, mut front, mut over_stop, mut over_implicit] = [0; 5];
        match end {
            MontecitoGroupEnd::Stop => (stop, over_stop) = (lost, over),
            MontecitoGroupEnd::Implicit => (implicit, over_implicit) = (lost, over),
            // The second place is empty.
            MontecitoGroupEnd::Window => front = if self.bundle == 0 { 3 } else { 0 },
        }
        let long = u64::from(self.long) + u64::from(self.start);
        tally.add(Signal::InstructionsDispersed, u64::from(self.instructions));
        tally.add(Signal::SlotsNotDispersedStop, stop);
        tally.add(Signal::SlotsNotDispersedImplicit, implicit);
        tally.add(Signal::SlotsNotDispersedFrontEnd, front);
        tally.add(Signal::SlotsNotDispersedLong, long);
        tally.add(Signal::SlotsNotDispersed, stop + implicit + front + long);
        tally.add(Signal::SlotsOvercountedStop, over_stop);
        tally.add(Signal::SlotsOvercountedImplicit, over_implicit);
        tally.add(Signal::SlotsOvercounted, over_stop + over_implicit);
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        let ports = &self.ports;
        let of_ports =
            [ports.loads, ports.stores, u8::from(ports.memory0), u8::from(ports.memory2), ports.memory, ports.integer, ports.branches];
        of_ports.iter().for_each(|each| writer.word(u64::from(*each)));
        let own = [self.start, self.bundle, self.next, self.instructions, self.long, u8::from(self.branched)];
        own.iter().for_each(|each| writer.word(u64::from(*each)));
    }

    pub(super) fn load(reader: &mut Reader<'_>) -> Result<MontecitoWindow, Damaged> {
        let ports = DispersalPorts {
            loads: small(reader, 2)?,
            stores: small(reader, 2)?,
            memory0: small(reader, 1)? == 1,
            memory2: small(reader, 1)? == 1,
            memory: small(reader, 4)?,
            integer: small(reader, 3)?,
            branches: small(reader, 7)?,
        };
        Ok(MontecitoWindow {
            ports,
            start: small(reader, 2)?,
            bundle: small(reader, 1)?,
            next: small(reader, 3)?,
            instructions: small(reader, 6)?,
            long: small(reader, 2)?,
            branched: small(reader, 1)? == 1,
        })
    }
}
