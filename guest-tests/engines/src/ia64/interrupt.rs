//! Interruptions: what leads to them and what they do (SDM volume 2, chapters 5 and 8).

use super::registers::{DCR_BE, DCR_PP, cr, isr, psr, vector};
use super::state::Core;

/// Something that keeps an instruction from completing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    IllegalOperation,
    PrivilegedOperation,
    PrivilegedRegister,
    ReservedRegisterField,
    DisabledTransition,
    /// With the code: 1 for f2 to f31, 2 for f32 to f127.
    DisabledFloating(u64),
    /// With the bits of ISR that name the access.
    RegisterNat(u64),
    /// No memory there, with the bits of ISR that name the access.
    NoMemory {
        address: u64,
        access: u64,
    },
    NoInstructionMemory,
    Unaligned {
        address: u64,
        access: u64,
    },
    DataDebug {
        address: u64,
        access: u64,
    },
    InstructionDebug,
    Break(u64),
    /// The architecture has it, the engine does not.
    Unimplemented,
}

/// An interruption that is about to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) vector: u16,
    /// What ISR gets in addition to the slot.
    pub(crate) isr: u64,
    /// The slot that ISR gets.
    pub(crate) slot: u8,
    /// What IFA gets, if it is written.
    pub(crate) ifa: Option<u64>,
    /// What IIM gets, if it is written.
    pub(crate) iim: Option<u64>,
}

impl Core {
    /// What `fault` leads to; `None` if the engine stops instead.
    pub(crate) fn delivery(&self, fault: Fault) -> Option<Delivery> {
        let general = |code: u64| Delivery { vector: vector::GENERAL_EXCEPTION, isr: code, ..Delivery::default() };
        let at = |vector: u16, isr: u64, address: u64| Delivery { vector, isr, ifa: Some(address), ..Delivery::default() };
        let delivery = match fault {
            Fault::IllegalOperation => general(isr::ILLEGAL_OPERATION),
            Fault::PrivilegedOperation => general(isr::PRIVILEGED_OPERATION),
            Fault::PrivilegedRegister => general(isr::PRIVILEGED_REGISTER),
            Fault::ReservedRegisterField => general(isr::RESERVED_REGISTER_FIELD),
            Fault::DisabledTransition => general(isr::DISABLED_TRANSITION),
            Fault::DisabledFloating(code) => Delivery { vector: vector::DISABLED_FP, isr: code, ..Delivery::default() },
            Fault::RegisterNat(access) => {
                Delivery { vector: vector::NAT_CONSUMPTION, isr: isr::REGISTER_NAT | access, ..Delivery::default() }
            }
            Fault::NoMemory { address, access } if self.psr & psr::IC == 0 => at(vector::DATA_NESTED_TLB, access, address),
            Fault::NoMemory { address, access } => at(vector::ALTERNATE_DATA_TLB, access, address),
            Fault::NoInstructionMemory => at(vector::ALTERNATE_INSTRUCTION_TLB, isr::X, self.ip),
            Fault::Unaligned { address, access } => at(vector::UNALIGNED, access, address),
            Fault::DataDebug { address, access } => at(vector::DEBUG, access, address),
            Fault::InstructionDebug => at(vector::DEBUG, isr::X, self.ip),
            Fault::Break(immediate) => Delivery { vector: vector::BREAK, iim: Some(immediate), ..Delivery::default() },
            Fault::Unimplemented => return None,
        };
        Some(Delivery { slot: self.ri, ..delivery })
    }

    /// Where an interruption goes.
    pub(crate) fn entry(&self, vector: u16) -> u64 {
        (self.cr[cr::IVA] & !0x7FFF).wrapping_add(u64::from(vector))
    }

    /// Takes an interruption.
    pub(crate) fn interrupt(&mut self, delivery: &Delivery) {
        let collecting = self.psr & psr::IC != 0;
        if collecting {
            self.cr[cr::IPSR] = self.psr_now();
            self.cr[cr::IIP] = self.ip;
            self.cr[cr::IIPA] = self.previous;
            self.cr[cr::IFS] &= !(1 << 63);
            if let Some(address) = delivery.ifa {
                self.cr[cr::IFA] = address;
                self.cr[cr::ITIR] = self.rr[(address >> 61) as usize] & 0xFC;
            }
        }
        if let Some(immediate) = delivery.iim {
            self.cr[cr::IIM] = immediate;
        }
        // A nested miss leaves the registers of the first one alone.
        if delivery.vector != vector::DATA_NESTED_TLB {
            let nested = if collecting { 0 } else { isr::NI };
            self.cr[cr::ISR] = delivery.isr | nested | u64::from(delivery.slot) << isr::EI_SHIFT;
        }
        let mut new = self.psr & (psr::UP | psr::MFL | psr::MFH | psr::PK | psr::DT | psr::RT | psr::MC | psr::IT);
        if self.cr[cr::DCR] & DCR_PP != 0 {
            new |= psr::PP;
        }
        if self.cr[cr::DCR] & DCR_BE != 0 {
            new |= psr::BE;
        }
        self.set_psr(new);
        self.ip = self.entry(delivery.vector);
        self.ri = 0;
        self.arrived = true;
    }
}
