//! Formation of groups: ports and implicit stops (PI9 to PI11, PI28).

use vm_pmu_arch::feed::Signal;

use super::rows::ItaniumPort;
use crate::bundle::{Template, Unit};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::ia64::branches;
use crate::pipeline::resources::saving::small;
use crate::tally::Tally;

/// The cause that ends a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItaniumGroupEnd {
    /// A stop of the program.
    Stop,
    /// No port is left, or a rule of bundles applies (PI10, PI11).
    Implicit,
    /// The window has no more instructions, or none yet, or execution continues elsewhere: no stop.
    Window,
}

/// The group being formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct ItaniumWindow {
    /// Taken ports: the number of M ports, and one bit each for I and B. F ports belong to one bundle each.
    memory: u8,
    integer: u8,
    branches: u8,
    /// The bundle of its last instruction, 0 or 1.
    bundle: u8,
    instructions: u8,
    /// Whether its first bundle is an MIB.
    begins_with_mib: bool,
    /// Whether one of its bundles is an MMF, which stands alone.
    alone: bool,
}

impl ItaniumWindow {
    pub(super) fn is_empty(&self) -> bool {
        self.instructions == 0
    }

    /// Whether its second bundle may still arrive.
    pub(super) fn has_room(&self) -> bool {
        self.bundle == 0
    }

    /// Adds an instruction of its bundle, or of the next one if it `enters` that. Returns whether there was room.
    pub(super) fn take(&mut self, port: ItaniumPort, unit: Unit, template: Template, slot: u8, enters: bool) -> bool {
        if enters && (self.alone || template == Template::Mmf || template == Template::Bbb && self.begins_with_mib) {
            return false;
        }
        let mut with = *self;
        with.bundle += u8::from(enters);
        with.instructions += 1;
        if self.is_empty() {
            with.begins_with_mib = template == Template::Mib;
        }
        with.alone |= template == Template::Mmf;
        if !with.takes(port, unit, template, slot) {
            return false;
        }
        *self = with;
        true
    }

    /// Takes the lowest free port.
    fn takes(&mut self, port: ItaniumPort, unit: Unit, template: Template, slot: u8) -> bool {
        match port {
            ItaniumPort::Memory => {
                self.memory += 1;
                self.memory <= 2
            }
            ItaniumPort::Memory0 => {
                self.memory += 1;
                self.memory == 1
            }
            ItaniumPort::Integer | ItaniumPort::Integer0 | ItaniumPort::Long => {
                // The last slot of the second bundle always goes to I1.
                let last = unit == Unit::I && slot == 2 && self.bundle == 1;
                let bit = if last || self.integer & 1 == 1 { 2 } else { 1 };
                let taken = self.integer & bit != 0;
                self.integer |= bit;
                !taken && (port != ItaniumPort::Integer0 || bit == 1)
            }
            ItaniumPort::Floating => true,
            ItaniumPort::Floating0 => self.bundle == 0,
            ItaniumPort::Branch | ItaniumPort::BranchNop => {
                match branches::with_branch(self.branches, port == ItaniumPort::Branch, template, slot) {
                    Some(taken) => {
                        self.branches = taken;
                        true
                    }
                    None => false,
                }
            }
        }
    }

    /// PI10: whether the dispersed bundle, whose last instruction went to `port`, ends the group.
    pub(super) fn ends_behind(template: Template, port: ItaniumPort) -> bool {
        template == Template::Mmf || branches::ends_behind(template, port == ItaniumPort::Branch)
    }

    /// Counts the clock of its dispersal, which ended with `end`.
    pub(super) fn count(&self, end: ItaniumGroupEnd, tally: &mut Tally) {
        tally.add(Signal::InstructionsDispersed, u64::from(self.instructions));
        tally.add(Signal::StopsDispersed, u64::from(end == ItaniumGroupEnd::Stop));
        tally.add(Signal::ImplicitStopsDispersed, u64::from(end == ItaniumGroupEnd::Implicit));
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        let own = [self.memory, self.integer, self.branches, self.bundle, self.instructions];
        own.iter().for_each(|each| writer.word(u64::from(*each)));
        writer.words(&[u64::from(self.begins_with_mib), u64::from(self.alone)]);
    }

    pub(super) fn load(reader: &mut Reader<'_>) -> Result<ItaniumWindow, Damaged> {
        Ok(ItaniumWindow {
            memory: small(reader, 2)?,
            integer: small(reader, 3)?,
            branches: small(reader, 7)?,
            bundle: small(reader, 1)?,
            instructions: small(reader, 6)?,
            begins_with_mib: small(reader, 1)? == 1,
            alone: small(reader, 1)? == 1,
        })
    }
}
