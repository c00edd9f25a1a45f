//! The registers of the K8 PMU: layouts, addresses and who may touch them.
//!
//! AMD BKDG sections 10.1 and 10.2. All eight are model-specific registers, at privilege level 0 only; the counters can be read by
//! RDPMC too, at level 0 always and at others while CR4.PCE is set.

use crate::access::{Address, Fault, masked};
use crate::feed::Context;
use crate::layout::layout;
use crate::model::RegisterDescription;

/// How many counters there are, each with its event select.
pub const COUNTERS: usize = 4;

layout! {
    /// PerfEvtSel0-3, performance event-select registers, C001_0000h to C001_0003h.
    ///
    /// ```
    /// use vm_pmu_arch::k8::PerfEvtSel;
    ///
    /// // CPU clocks not halted, at every level, with an interrupt at overflow: a watchdog's choice.
    /// let select = PerfEvtSel::written(0x0053_0076);
    /// assert_eq!(select.event_select(), 0x76);
    /// assert!(select.usr() && select.os() && select.int() && select.en());
    /// ```
    pub struct PerfEvtSel {
        /// event or duration to count
        "EVENT_SELECT" => event_select / set_event_select: u8 = 7..0;
        /// sub-events of the event
        "UNIT_MASK" => unit_mask / set_unit_mask: u8 = 15..8;
        /// count at privilege levels above 0
        "USR" => usr / set_usr: bool = 16;
        /// count at privilege level 0
        "OS" => os / set_os: bool = 17;
        /// count transitions instead of levels
        "E" => e / set_e: bool = 18;
        /// the pin toggles at overflow (1) or at every increment (0)
        "PC" => pc / set_pc: bool = 19;
        /// overflow asks the local APIC for an interrupt
        "INT" => int / set_int: bool = 20;
        /// the counter counts
        "EN" => en / set_en: bool = 22;
        /// compare for fewer than CNT_MASK events a cycle
        "INV" => inv / set_inv: bool = 23;
        /// least events a cycle; 0 adds them up
        "CNT_MASK" => cnt_mask / set_cnt_mask: u8 = 31..24;
        reserved 21;
        reserved 63..32;
    }
}

layout! {
    /// PerfCtr0-3, performance counters, C001_0004h to C001_0007h.
    pub struct PerfCtr {
        /// the count
        "CTR" => ctr / set_ctr: u64 = 47..0;
        reserved 63..48;
    }
}

/// The number of a counter and its event select, 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u8);

impl Slot {
    /// Every slot.
    pub const ALL: [Slot; COUNTERS] = [Slot(0), Slot(1), Slot(2), Slot(3)];

    /// The slot of this number, if it is below 4.
    #[must_use]
    pub const fn new(number: u32) -> Option<Slot> {
        if number < COUNTERS as u32 { Some(Slot(masked(number as usize, COUNTERS) as u8)) } else { None }
    }

    /// Its number, 0 to 3.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & 3) as usize
    }

    /// Its bit in a mask of counters.
    #[must_use]
    #[inline]
    pub const fn bit(self) -> u32 {
        1 << (self.0 & 3)
    }
}

/// A register of the K8 PMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// An event select.
    PerfEvtSel(Slot),
    /// A counter.
    PerfCtr(Slot),
}

impl Register {
    /// The model-specific register number of PerfEvtSel0.
    pub const PERF_EVT_SEL0: u32 = 0xC001_0000;
    /// The model-specific register number of PerfCtr0.
    pub const PERF_CTR0: u32 = 0xC001_0004;

    /// The register behind a model-specific register number.
    #[must_use]
    pub const fn from_msr(number: u32) -> Option<Register> {
        if let Some(slot) = Slot::new(number.wrapping_sub(Self::PERF_EVT_SEL0)) {
            Some(Register::PerfEvtSel(slot))
        } else if let Some(slot) = Slot::new(number.wrapping_sub(Self::PERF_CTR0)) {
            Some(Register::PerfCtr(slot))
        } else {
            None
        }
    }

    /// The register that `address` names, if the privilege and control bits of `context` allow the access.
    ///
    /// # Errors
    /// [`Fault::Unclaimed`] for any other address; [`Fault::GeneralProtection`] for RDMSR, WRMSR at a level above 0, for RDPMC there
    /// while CR4.PCE is clear, and for an RDPMC index above 3: all 32 bits of ECX are the index.
    pub fn decode(address: Address, context: &Context) -> Result<Register, Fault> {
        match address {
            Address::Msr(number) => {
                let register = Register::from_msr(number).ok_or(Fault::Unclaimed)?;
                if context.privilege == 0 { Ok(register) } else { Err(Fault::GeneralProtection) }
            }
            Address::Rdpmc(index) => {
                if context.privilege != 0 && !context.rdpmc_enabled() {
                    return Err(Fault::GeneralProtection);
                }
                Slot::new(index).map(Register::PerfCtr).ok_or(Fault::GeneralProtection)
            }
            _ => Err(Fault::Unclaimed),
        }
    }
}

macro_rules! describe {
    ($( $name:literal $address:literal $layout:ident ),+ $(,)?) => {
        &[ $( RegisterDescription { name: $name, address: Address::Msr($address), fields: $layout::FIELDS } ),+ ]
    };
}

/// The registers, for listings.
pub(super) static REGISTERS: &[RegisterDescription] = describe![
    "PerfEvtSel0" 0xC001_0000 PerfEvtSel,
    "PerfEvtSel1" 0xC001_0001 PerfEvtSel,
    "PerfEvtSel2" 0xC001_0002 PerfEvtSel,
    "PerfEvtSel3" 0xC001_0003 PerfEvtSel,
    "PerfCtr0" 0xC001_0004 PerfCtr,
    "PerfCtr1" 0xC001_0005 PerfCtr,
    "PerfCtr2" 0xC001_0006 PerfCtr,
    "PerfCtr3" 0xC001_0007 PerfCtr,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_numbers_are_registers_and_their_neighbours_are_not() {
        assert_eq!(Register::from_msr(0xC000_FFFF), None);
        assert_eq!(Register::from_msr(0xC001_0000), Slot::new(0).map(Register::PerfEvtSel));
        assert_eq!(Register::from_msr(0xC001_0003), Slot::new(3).map(Register::PerfEvtSel));
        assert_eq!(Register::from_msr(0xC001_0004), Slot::new(0).map(Register::PerfCtr));
        assert_eq!(Register::from_msr(0xC001_0007), Slot::new(3).map(Register::PerfCtr));
        assert_eq!(Register::from_msr(0xC001_0008), None);
    }

    #[test]
    fn writable_bits_are_those_the_manual_names() {
        assert_eq!(PerfEvtSel::WRITABLE, 0xFFDF_FFFF);
        assert_eq!(PerfCtr::WRITABLE, 0x0000_FFFF_FFFF_FFFF);
    }

    #[test]
    fn the_fields_of_a_register_cover_it_once() {
        for fields in [PerfEvtSel::FIELDS, PerfCtr::FIELDS] {
            assert_eq!(fields.iter().map(|field| field.mask()).sum::<u64>(), u64::MAX);
        }
    }
}
