//! Moves to and from special purpose registers (Power ISA 3.0B, Book III, 4.4.4), and what else goes to the performance monitor.

use vm_pmu::decode::power::{Op, Word};

use super::fixed::{CA, CA32, OV, OV32, SO};
use crate::power::interrupt::{Exception, Fault};
use crate::power::observer::{CpuView, Observer, SprFault};
use crate::power::registers::{facility, lpcr, msr, spr};
use crate::power::state::Core;

/// Who may.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Problem,
    Privileged,
    Hypervisor,
    Nobody,
}

/// Who may read and write a register of the engine's.
fn rule(number: u16) -> (Level, Level) {
    use Level::{Hypervisor, Nobody, Privileged, Problem};
    match number {
        // XER, DSCR, LR, CTR, AMR, the transaction's, VRSAVE, BESCR and its like, those without effect, TAR, PPR, PPR32.
        1 | 3 | 8 | 9 | 13 | 128..=131 | 256 | 800..=806 | 808..=811 | 815 | 896 | 898 => (Problem, Problem),
        spr::CTRL_READ | spr::SPRG3_USER | spr::TB | spr::TBU => (Problem, Nobody),
        spr::CTRL => (Nobody, Privileged),
        // DSCR, DSISR, DAR, DEC, SRR0, SRR1, CFAR, AMR, PIDR, IAMR, TIDR, FSCR, UAMOR, PSPB, SPRG0-3, PSSCR.
        17..=19 | 22 | 26..=29 | 48 | 61 | 144 | 153 | 157 | 159 | 272..=275 | 823 => (Privileged, Privileged),
        spr::PVR | spr::PIR => (Privileged, Nobody),
        spr::TBL_WRITE..=spr::TBU40 => (Nobody, Hypervisor),
        // SPURR, PURR, IC, VTB.
        308 | 309 | 848 | 849 => (Privileged, Hypervisor),
        // DPDES, DAWR, RPR, CIABR, DAWRX, HFSCR, HSPRG0, HSPRG1, HDISR, HDAR, HDEC, HRMOR, HSRR0, HSRR1, LPCR, LPIDR, HMER, HMEER,
        // PCR, HEIR, AMOR, PTCR, ASDR, LDBAR, PSSCR, HID0.
        176 | 180 | 186..=188 | 190 | 304..=307 | 310 | 313..=315 | 318 | 319 | 336..=339 | 349 | 464 | 816 | 850 | 855 | 1008 => {
            (Hypervisor, Hypervisor)
        }
        _ => (Nobody, Nobody),
    }
}

/// Whether the engine has a register of this number.
pub(crate) fn has(number: u16) -> bool {
    rule(number) != (Level::Nobody, Level::Nobody)
}

impl Core {
    /// `attn`: the observer provides the result, or the instruction is illegal.
    pub(super) fn attention<O: Observer>(&mut self, observer: &mut O) -> Result<(), Fault> {
        if !self.hypervisor() {
            return Err(Fault::illegal());
        }
        self.gpr[3] = observer.attention(&CpuView::new(self)).ok_or(Fault::illegal())?;
        Ok(())
    }

    /// Whether this state may access a register of this `level`: `Ok(false)` if the access does nothing.
    fn allowed(&self, number: u16, level: Level) -> Result<bool, Fault> {
        match level {
            Level::Problem => return Ok(true),
            Level::Privileged if !self.problem() => return Ok(true),
            Level::Hypervisor if self.hypervisor() => return Ok(true),
            _ => {}
        }
        if self.problem() {
            return Err(if number & 0x10 != 0 { Fault::privileged() } else { Fault::illegal() });
        }
        let assisted = !self.hypervisor() && self.spr[usize::from(spr::LPCR)] & lpcr::EVIRT != 0;
        if number == 0 || assisted { Err(Fault::illegal()) } else { Ok(false) }
    }

    /// Whether the facility that a register belongs to is available.
    fn available(&self, number: u16) -> Result<(), Fault> {
        match number {
            spr::DSCR_USER => self.facility(facility::DSCR, facility::CAUSE_DSCR),
            spr::DSCR => self.hypervisor_facility(facility::DSCR, facility::CAUSE_DSCR),
            spr::BESCRS..=spr::BESCR => self.facility(facility::EBB, facility::CAUSE_EBB),
            spr::TAR => self.facility(facility::TAR, facility::CAUSE_TAR),
            spr::TFHAR..=spr::TEXASRU => self.transactions_available(),
            _ => Ok(()),
        }
    }

    pub(super) fn transactions_available(&self) -> Result<(), Fault> {
        self.hypervisor_facility(facility::TM, facility::CAUSE_TM)?;
        if self.msr & msr::TM == 0 { Err(Fault::facility(false, facility::CAUSE_TM)) } else { Ok(()) }
    }

    /// The interrupt for an access that the observer refused; `Ok` if the access does nothing.
    fn refused(fault: SprFault) -> Result<(), Fault> {
        Err(match fault {
            SprFault::NoOp => return Ok(()),
            SprFault::FacilityUnavailable { hypervisor, cause } => Fault::facility(hypervisor, cause),
            SprFault::Privileged => Fault::privileged(),
            SprFault::EmulationAssistance | SprFault::Unclaimed => Fault(Exception::EmulationAssistance),
        })
    }

    /// Executes `op`, which is one of these.
    pub(super) fn special<O: Observer>(&mut self, op: Op, w: Word, observer: &mut O) -> Result<(), Fault> {
        match op {
            Op::Mfspr => {
                let number = w.spr();
                match observer.read_spr(number, &CpuView::new(self)) {
                    Ok(value) => self.gpr[w.rt()] = value,
                    Err(SprFault::Unclaimed) => self.read_spr(number, w.rt())?,
                    Err(fault) => Self::refused(fault)?,
                }
                return Ok(());
            }
            Op::Mtspr => {
                let number = w.spr();
                let value = self.gpr[w.rt()];
                match observer.write_spr(number, value, &CpuView::new(self)) {
                    Ok(()) => {}
                    Err(SprFault::Unclaimed) => self.write_spr(number, value)?,
                    Err(fault) => Self::refused(fault)?,
                }
                return Ok(());
            }
            Op::Mftb => match w.spr() {
                number @ (spr::TB | spr::TBU) => self.gpr[w.rt()] = self.peek_spr(number),
                _ => return Err(Fault::illegal()),
            },
            Op::Mfbhrbe => match observer.branch_history(w.ten(), &CpuView::new(self)) {
                Ok(value) => self.gpr[w.rt()] = value,
                Err(fault) => Self::refused(fault)?,
            },
            Op::Clrbhrb => observer.clear_branch_history(&CpuView::new(self)).or_else(Self::refused)?,
            Op::Mfimc => match observer.read_instruction_match(w.ten(), &CpuView::new(self)) {
                Ok(value) => self.gpr[w.rt()] = value,
                Err(fault) => Self::refused(fault)?,
            },
            _ => {
                let value = self.gpr[w.rt()];
                observer.write_instruction_match(w.ten(), value, &CpuView::new(self)).or_else(Self::refused)?;
            }
        }
        Ok(())
    }

    fn read_spr(&mut self, number: u16, register: usize) -> Result<(), Fault> {
        if self.allowed(number, rule(number).0)? {
            self.available(number)?;
            self.gpr[register] = self.peek_spr(number);
        }
        Ok(())
    }

    fn write_spr(&mut self, number: u16, value: u64) -> Result<(), Fault> {
        if !self.allowed(number, rule(number).1)? {
            return Ok(());
        }
        self.available(number)?;
        let upper = value << 32;
        match number {
            spr::XER => self.xer = value & (SO | OV | CA | OV32 | CA32 | 0x7F),
            spr::LR => self.lr = value,
            spr::CTR => self.ctr = value,
            spr::DSCR_USER => self.keep(spr::DSCR, value),
            spr::CTRL => self.keep(number, value & 1),
            spr::TBL_WRITE => self.set_time_base(self.time_base() & !0xFFFF_FFFF | value & 0xFFFF_FFFF),
            spr::TBU_WRITE => self.set_time_base(self.time_base() & 0xFFFF_FFFF | upper),
            spr::TBU40 => self.set_time_base(self.time_base() & 0xFF_FFFF | value & !0xFF_FFFF),
            spr::BESCR => self.set_bescr(value),
            spr::BESCRS => self.set_bescr(self.bescr() | value),
            spr::BESCRSU => self.set_bescr(self.bescr() | upper),
            spr::BESCRR => self.set_bescr(self.bescr() & !value),
            spr::BESCRRU => self.set_bescr(self.bescr() & !upper),
            spr::TEXASRU => {
                let low = self.spr[usize::from(spr::TEXASR)] & 0xFFFF_FFFF;
                self.keep(spr::TEXASR, low | upper);
            }
            spr::PPR => self.ask_priority(value >> 50 & 7),
            spr::PPR32 => self.ask_priority(value >> 18 & 7),
            // Without effect.
            808..=811 => {}
            _ => self.keep(number, value),
        }
        Ok(())
    }

    fn keep(&mut self, number: u16, value: u64) {
        let old = std::mem::replace(&mut self.spr[usize::from(number)], value);
        let told = matches!(number, spr::CTRL | spr::FSCR | spr::HFSCR | spr::LPCR | spr::LPIDR);
        self.context_changed |= told && old != value;
    }

    /// A priority that the state may not have is ignored.
    fn ask_priority(&mut self, priority: u64) {
        let allowed = match priority {
            2..=4 => true,
            1 | 5 | 6 => !self.problem(),
            7 => self.hypervisor(),
            _ => false,
        };
        if allowed {
            self.set_priority(priority);
        }
    }
}
