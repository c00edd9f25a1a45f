//! Who may access which register, and how an access is refused.
//!
//! POWER9 PMU User's Guide, Table 1-1 and MMCR0\[PMCC] in appendix A.3. What the guide leaves to Power ISA 3.0 Book III, and where
//! the two differ, is in decisions P1 to P11 of `docs/src/decisions`.

use super::registers::{COUNTERS, Mmcr0, Msr, ThreadControl, spr};
use crate::access::{Address, Facility, Fault, masked};
use crate::feed::Context;

/// A register of the PMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// The counter of this index, 0 for PMC1.
    Pmc(usize),
    /// MMCR0.
    Mmcr0,
    /// MMCR1.
    Mmcr1,
    /// MMCR2.
    Mmcr2,
    /// MMCRA.
    Mmcra,
    /// MMCRC.
    Mmcrc,
    /// LDBAR.
    Ldbar,
    /// SIER.
    Sier,
    /// SIAR.
    Siar,
    /// SDAR.
    Sdar,
    /// BESCR, by one of its five numbers.
    Bescr(Bits),
    /// The entry of the branch history rolling buffer with this number.
    Bhrb(u16),
    /// The instruction match array.
    Imc,
}

/// Which bits of BESCR a write affects, and what it does to them (Power ISA 3.0 Book II, section 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bits {
    /// BESCR: all of them take the value.
    All,
    /// BESCRS: those that are 1 in the value become 1.
    Set,
    /// BESCRSU: those of the upper half whose place in the lower half of the value is 1 become 1.
    SetUpper,
    /// BESCRR: those that are 1 in the value become 0.
    Reset,
    /// BESCRRU: as `SetUpper`, to 0.
    ResetUpper,
}

/// What an access may see and change of its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) register: Register,
    /// The bits that a read shows; the others read as zero.
    pub(super) visible: u64,
    /// The bits that a write changes.
    pub(super) writable: u64,
}

/// What problem state sees of MMCR0: FC, PMAE, PMAO.
const PROBLEM_MMCR0: u64 = 0x8400_0080;
/// What problem state sees of MMCR2: FC1P to FC6P.
const PROBLEM_MMCR2: u64 = 0x4020_1008_0402_0000;
/// What problem state sees of MMCRA: the threshold counter. It writes nothing.
const PROBLEM_MMCRA: u64 = 0x3BF8_0000;
/// What problem state sees of SIER: bits 41:63.
const PROBLEM_SIER: u64 = 0x7F_FFFF;

/// The state that an access is made in.
struct Accessor {
    problem: bool,
    hypervisor: bool,
    control: ThreadControl,
    mmcr0: Mmcr0,
}

/// Finds the register behind `address` and what may be done with it.
///
/// The number decides first, then HFSCR, then PMCC or BHRBA.
#[inline(always)]
pub(super) fn grant(address: Address, write: bool, context: &Context, mmcr0: Mmcr0) -> Result<Grant, Fault> {
    let msr = Msr::of(context.machine_state);
    let accessor = Accessor { problem: msr.pr(), hypervisor: msr.hv() && !msr.pr(), control: ThreadControl::of(context.control), mmcr0 };
    match address {
        Address::Spr(number @ 768..=783) => accessor.user(number, write),
        Address::Spr(number @ 784..=799) => accessor.privileged(number),
        Address::Spr(spr::MMCRC) => accessor.of_hypervisor(Register::Mmcrc),
        Address::Spr(spr::LDBAR) => accessor.of_hypervisor(Register::Ldbar),
        Address::Spr(number @ (800..=803 | spr::BESCR)) => accessor.branch_events(number),
        Address::Bhrb(index) => accessor.history(index),
        Address::Imc if write && accessor.problem => Err(Fault::PrivilegedInstruction),
        Address::Imc => Ok(whole(Register::Imc)),
        _ => Err(Fault::Unclaimed),
    }
}

/// The index of the counter that privileged software names by `address`, where nothing withholds it: by far the most common access.
#[inline(always)]
pub(super) fn counter_of_privileged(address: Address, context: &Context) -> Option<usize> {
    let Address::Spr(number @ spr::PMC1..=spr::PMC6) = address else { return None };
    let (msr, control) = (Msr::of(context.machine_state), ThreadControl::of(context.control));
    (!msr.pr() && (msr.hv() || !control.hfscr_no_pm())).then(|| masked(usize::from(number - spr::PMC1), COUNTERS))
}

#[inline(always)]
fn whole(register: Register) -> Grant {
    Grant { register, visible: u64::MAX, writable: u64::MAX }
}

/// The register with this privileged number.
#[inline(always)]
fn by_number(number: u16) -> Option<Register> {
    Some(match number {
        spr::SIER => Register::Sier,
        spr::MMCR2 => Register::Mmcr2,
        spr::MMCRA => Register::Mmcra,
        spr::PMC1..=spr::PMC6 => Register::Pmc(masked(usize::from(number - spr::PMC1), COUNTERS)),
        spr::MMCR0 => Register::Mmcr0,
        spr::SIAR => Register::Siar,
        spr::SDAR => Register::Sdar,
        spr::MMCR1 => Register::Mmcr1,
        _ => return None,
    })
}

impl Accessor {
    /// HFSCR withholds a facility from every state below the hypervisor.
    #[inline(always)]
    fn hypervisor_allows(&self, withheld: bool, facility: Facility) -> Result<(), Fault> {
        if withheld && !self.hypervisor { Err(Fault::HypervisorFacilityUnavailable(facility)) } else { Ok(()) }
    }

    #[inline(always)]
    fn privileged(&self, number: u16) -> Result<Grant, Fault> {
        if self.problem {
            return Err(Fault::PrivilegedInstruction);
        }
        let register = by_number(number).ok_or(Fault::NoOperation)?;
        self.hypervisor_allows(self.control.hfscr_no_pm(), Facility::PerformanceMonitor)?;
        Ok(whole(register))
    }

    fn user(&self, number: u16, write: bool) -> Result<Grant, Fault> {
        let undefined = if self.problem { Fault::EmulationAssistance } else { Fault::NoOperation };
        let register = by_number(number.wrapping_add(spr::PRIVILEGED)).ok_or(undefined)?;
        let group_b = matches!(register, Register::Sier | Register::Siar | Register::Sdar | Register::Mmcr1);
        // These four have no mtspr form.
        if write && group_b {
            return Err(undefined);
        }
        self.hypervisor_allows(self.control.hfscr_no_pm(), Facility::PerformanceMonitor)?;
        if !self.problem {
            return Ok(whole(register));
        }
        let unavailable = Err(Fault::FacilityUnavailable(Facility::PerformanceMonitor));
        match (self.mmcr0.pmcc(), register) {
            (0b00, _) if write => Err(Fault::EmulationAssistance),
            (0b01, _) | (0b10 | 0b11, Register::Mmcr1) | (0b11, Register::Pmc(4..)) => unavailable,
            _ => Ok(for_problem_state(register)),
        }
    }

    fn of_hypervisor(&self, register: Register) -> Result<Grant, Fault> {
        match (self.problem, self.hypervisor) {
            (true, _) => Err(Fault::PrivilegedInstruction),
            (false, false) => Err(Fault::NoOperation),
            (false, true) => Ok(whole(register)),
        }
    }

    fn branch_events(&self, number: u16) -> Result<Grant, Fault> {
        self.hypervisor_allows(self.control.hfscr_no_ebb(), Facility::EventBasedBranch)?;
        if self.problem && self.control.fscr_no_ebb() {
            return Err(Fault::FacilityUnavailable(Facility::EventBasedBranch));
        }
        Ok(whole(Register::Bescr(match number {
            spr::BESCRS => Bits::Set,
            spr::BESCRSU => Bits::SetUpper,
            spr::BESCRR => Bits::Reset,
            spr::BESCRRU => Bits::ResetUpper,
            _ => Bits::All,
        })))
    }

    fn history(&self, index: u16) -> Result<Grant, Fault> {
        self.hypervisor_allows(self.control.hfscr_no_bhrb(), Facility::BranchHistory)?;
        if self.problem && !self.mmcr0.bhrba() {
            return Err(Fault::FacilityUnavailable(Facility::BranchHistory));
        }
        Ok(whole(Register::Bhrb(index)))
    }
}

/// The masks of decision P7 in `docs/src/decisions`.
fn for_problem_state(register: Register) -> Grant {
    let (visible, writable) = match register {
        Register::Mmcr0 => (PROBLEM_MMCR0, PROBLEM_MMCR0),
        Register::Mmcr2 => (PROBLEM_MMCR2, PROBLEM_MMCR2),
        Register::Mmcra => (PROBLEM_MMCRA, 0),
        Register::Sier => (PROBLEM_SIER, 0),
        _ => (u64::MAX, u64::MAX),
    };
    Grant { register, visible, writable }
}
