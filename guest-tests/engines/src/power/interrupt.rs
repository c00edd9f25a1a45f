//! Interrupts and event-based branches (Power ISA 3.0B, Book III, 6.4 and 6.5; Book II, 6.3).

use super::radix::{NoTranslation, Purpose};
use super::registers::{HID0_HILE, bescr, lpcr, msr, reason, spr, vector};
use super::state::Core;

/// Something that keeps an instruction from completing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exception {
    DataStorage {
        address: u64,
        store: bool,
    },
    InstructionStorage,
    /// An address that no tree translates, or not for this purpose.
    Untranslated {
        address: u64,
        purpose: Purpose,
        why: NoTranslation,
    },
    Alignment {
        address: u64,
    },
    /// With the bit of SRR1 for the reason.
    Program(u64),
    FloatingUnavailable,
    VectorUnavailable,
    VsxUnavailable,
    Facility {
        hypervisor: bool,
        cause: u8,
    },
    EmulationAssistance,
}

/// Why an instruction did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) Exception);

impl Fault {
    pub(crate) fn illegal() -> Self {
        Self(Exception::EmulationAssistance)
    }

    pub(crate) fn privileged() -> Self {
        Self(Exception::Program(reason::PRIVILEGED))
    }

    pub(crate) fn trap() -> Self {
        Self(Exception::Program(reason::TRAP))
    }

    pub(crate) fn bad_thing() -> Self {
        Self(Exception::Program(reason::TM_BAD_THING))
    }

    pub(crate) fn facility(hypervisor: bool, cause: u8) -> Self {
        Self(Exception::Facility { hypervisor, cause })
    }
}

/// An interrupt that is about to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) vector: u16,
    /// What SRR0 or HSRR0 gets.
    pub(crate) address: u64,
    /// What SRR1 or HSRR1 gets in addition to MSR.
    pub(crate) reason: u64,
    /// It goes to the hypervisor: HV becomes 1.
    pub(crate) hypervisor: bool,
    /// HSRR0 and HSRR1 rather than SRR0 and SRR1.
    pub(crate) hypervisor_registers: bool,
}

impl Delivery {
    pub(crate) fn new(vector: u16, address: u64, reason: u64) -> Self {
        Self { vector, address, reason, hypervisor: false, hypervisor_registers: false }
    }

    pub(crate) fn to_hypervisor(vector: u16, address: u64) -> Self {
        Self { vector, address, reason: 0, hypervisor: true, hypervisor_registers: true }
    }
}

/// The bits of SRR1 that are no copies of MSR: 33:36 and 42:47.
const REASONS: u64 = 0x783F_0000;

impl Core {
    /// How `exception` is delivered; sets the registers that describe it further.
    pub(crate) fn delivery(&mut self, exception: Exception, encoding: u32) -> Delivery {
        let at = self.pc;
        let mut set = |number: u16, value: u64| self.spr[usize::from(number)] = value;
        match exception {
            Exception::DataStorage { address, store } => {
                set(spr::DAR, address);
                set(spr::DSISR, reason::NO_MEMORY | if store { reason::STORE } else { 0 });
                Delivery::new(vector::DATA_STORAGE, at, 0)
            }
            Exception::Untranslated { address, purpose: Purpose::Fetch, why } => {
                let reason = if why.protected { reason::NOT_EXECUTABLE } else { reason::NO_MEMORY };
                if !why.hypervisor {
                    return Delivery::new(vector::INSTRUCTION_STORAGE, at, reason);
                }
                set(spr::HDAR, address);
                set(spr::ASDR, why.guest_real);
                Delivery { reason, ..Delivery::to_hypervisor(vector::HYPERVISOR_INSTRUCTION_STORAGE, at) }
            }
            Exception::Untranslated { address, purpose, why } => {
                let reason = if why.protected { reason::PROTECTED } else { reason::NO_MEMORY };
                let reason = reason | if purpose == Purpose::Store { reason::STORE } else { 0 };
                if !why.hypervisor {
                    set(spr::DAR, address);
                    set(spr::DSISR, reason);
                    return Delivery::new(vector::DATA_STORAGE, at, 0);
                }
                set(spr::HDAR, address);
                set(spr::HDSISR, reason);
                set(spr::ASDR, why.guest_real);
                Delivery::to_hypervisor(vector::HYPERVISOR_DATA_STORAGE, at)
            }
            Exception::InstructionStorage => Delivery::new(vector::INSTRUCTION_STORAGE, at, reason::NO_MEMORY),
            Exception::Alignment { address } => {
                set(spr::DAR, address);
                Delivery::new(vector::ALIGNMENT, at, 0)
            }
            Exception::Program(why) => Delivery::new(vector::PROGRAM, at, why),
            Exception::FloatingUnavailable => Delivery::new(vector::FP_UNAVAILABLE, at, 0),
            Exception::VectorUnavailable => Delivery::new(vector::VECTOR_UNAVAILABLE, at, 0),
            Exception::VsxUnavailable => Delivery::new(vector::VSX_UNAVAILABLE, at, 0),
            Exception::EmulationAssistance => {
                set(spr::HEIR, u64::from(encoding));
                Delivery::to_hypervisor(vector::EMULATION_ASSISTANCE, at)
            }
            Exception::Facility { hypervisor, cause } => {
                let register = &mut self.spr[usize::from(if hypervisor { spr::HFSCR } else { spr::FSCR })];
                *register = *register & !(0xFF << 56) | u64::from(cause) << 56;
                self.context_changed = true;
                if hypervisor {
                    Delivery::to_hypervisor(vector::HYPERVISOR_FACILITY_UNAVAILABLE, at)
                } else {
                    Delivery::new(vector::FACILITY_UNAVAILABLE, at, 0)
                }
            }
        }
    }

    /// Where an interrupt goes, and MSR there.
    pub(crate) fn entry(&self, delivery: &Delivery) -> (u64, u64) {
        let old = self.msr;
        let hypervisor = delivery.hypervisor || old & msr::HV != 0;
        let little =
            if hypervisor { self.spr[usize::from(spr::HID0)] & HID0_HILE != 0 } else { self.spr[usize::from(spr::LPCR)] & lpcr::ILE != 0 };
        let mut new = old & (msr::HV | msr::ME | msr::TS | msr::TA) | msr::SF;
        if old & msr::TS == msr::TS_TRANSACTIONAL {
            new = new & !msr::TS | msr::TS_SUSPENDED;
        }
        if delivery.hypervisor_registers {
            new |= old & msr::RI;
        }
        if hypervisor {
            new |= msr::HV;
        }
        if little {
            new |= msr::LE;
        }
        let mut target = u64::from(delivery.vector);
        // The alternate location, which a change to the hypervisor does not use.
        let translated = old & (msr::IR | msr::DR) == msr::IR | msr::DR;
        if translated && (old & msr::HV != 0 || !hypervisor) {
            let offset = match (self.spr[usize::from(spr::LPCR)] & lpcr::AIL) >> 23 {
                2 => 0x1_8000,
                3 => 0xC000_0000_0000_4000,
                _ => 0,
            };
            if offset != 0 {
                target += offset;
                new |= msr::IR | msr::DR;
            }
        }
        (target, new)
    }

    /// Takes an interrupt.
    pub(crate) fn interrupt(&mut self, delivery: &Delivery) {
        let (target, new) = self.entry(delivery);
        let (srr0, srr1) = if delivery.hypervisor_registers { (spr::HSRR0, spr::HSRR1) } else { (spr::SRR0, spr::SRR1) };
        self.spr[usize::from(srr0)] = delivery.address;
        self.spr[usize::from(srr1)] = self.msr & !REASONS | delivery.reason;
        self.set_msr(new);
        self.pc = target;
        self.waiting = false;
    }

    /// Whether an event-based branch is due: an event occurred, branches are on, and the state allows them.
    #[inline]
    pub(crate) fn event_based_branch_due(&self) -> bool {
        let value = self.bescr();
        value & (bescr::GE | bescr::PMEO) == bescr::GE | bescr::PMEO && self.problem() && self.event_based_branches_available()
    }

    fn event_based_branches_available(&self) -> bool {
        use super::registers::facility;
        self.facility(facility::EBB, facility::CAUSE_EBB).is_ok()
    }

    /// Takes an event-based branch.
    pub(crate) fn event_based_branch(&mut self) {
        let state = self.msr >> 33 & 3;
        self.spr[usize::from(spr::EBBRR)] = self.pc & !3;
        self.set_bescr(self.bescr() & !(bescr::GE | bescr::TS) | state << 30);
        if self.msr & msr::TS == msr::TS_TRANSACTIONAL {
            self.set_msr(self.msr & !msr::TS | msr::TS_SUSPENDED);
        }
        self.pc = self.effective(self.spr[usize::from(spr::EBBHR)] & !3);
        self.waiting = false;
    }
}
