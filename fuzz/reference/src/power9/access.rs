//! Who may access which number, and what it leads to (POWER9 PMU User's Guide, Table 1-1 and A.3, PMCC; decisions P1 to P8).

use vm_pmu_arch::access::{Address, Facility, Fault};

use super::bits::{mmcr0, spr, state};

/// What an address leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A register by its privileged number, and whether problem state accesses it.
    Register(u16, bool),
    /// BESCR by one of its five numbers.
    Bescr(u16),
    /// A register that only the hypervisor has.
    Hypervisor(u16),
    /// An entry of the branch history, or all of it where it is written.
    History(u16),
    /// The instruction match array.
    Match,
}

/// The state in which a thread accesses something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Hypervisor,
    Privileged,
    Problem,
}

impl Level {
    /// `privilege` is that of a context.
    pub(super) fn of(privilege: u8) -> Level {
        match privilege {
            0 => Level::Hypervisor,
            3 => Level::Problem,
            _ => Level::Privileged,
        }
    }
}

/// What `address` leads to in `level`, with this control word and this MMCR0.
pub(super) fn place(address: Address, writes: bool, level: Level, control: u64, mmcr0: u64) -> Result<Place, Fault> {
    match address {
        Address::Spr(number @ 768..=799) => monitor(number, writes, level, control, mmcr0),
        Address::Spr(number @ (spr::BESCRS..=spr::BESCRRU | spr::BESCR)) => {
            if level != Level::Hypervisor && control & state::NO_EBB != 0 {
                return Err(Fault::HypervisorFacilityUnavailable(Facility::EventBasedBranch));
            }
            if level == Level::Problem && control & state::FSCR_NO_EBB != 0 {
                return Err(Fault::FacilityUnavailable(Facility::EventBasedBranch));
            }
            Ok(Place::Bescr(number))
        }
        Address::Spr(number @ (spr::LDBAR | spr::MMCRC)) => match level {
            Level::Hypervisor => Ok(Place::Hypervisor(number)),
            Level::Privileged => Err(Fault::NoOperation),
            Level::Problem => Err(Fault::PrivilegedInstruction),
        },
        Address::Bhrb(entry) => {
            if level != Level::Hypervisor && control & state::NO_BHRB != 0 {
                return Err(Fault::HypervisorFacilityUnavailable(Facility::BranchHistory));
            }
            if level == Level::Problem && mmcr0 & mmcr0::BHRBA == 0 {
                return Err(Fault::FacilityUnavailable(Facility::BranchHistory));
            }
            Ok(Place::History(entry))
        }
        Address::Imc if writes && level == Level::Problem => Err(Fault::PrivilegedInstruction),
        Address::Imc => Ok(Place::Match),
        _ => Err(Fault::Unclaimed),
    }
}

/// The numbers 768 to 799: the number decides first, then HFSCR, then PMCC (P2).
fn monitor(number: u16, writes: bool, level: Level, control: u64, mmcr0: u64) -> Result<Place, Fault> {
    let problem = level == Level::Problem;
    let privileged = number & 16 != 0;
    if privileged && problem {
        return Err(Fault::PrivilegedInstruction);
    }
    let undefined = if problem { Fault::EmulationAssistance } else { Fault::NoOperation };
    let register = number | 16;
    if matches!(register, 793 | 794 | 799) {
        return Err(undefined);
    }
    // There is no mtspr for these by the numbers of problem state (P6).
    let read_only = matches!(register, spr::SIER | spr::SIAR | spr::SDAR | spr::MMCR1);
    if writes && read_only && !privileged {
        return Err(undefined);
    }
    if level != Level::Hypervisor && control & state::NO_PM != 0 {
        return Err(Fault::HypervisorFacilityUnavailable(Facility::PerformanceMonitor));
    }
    if problem {
        let unavailable = Err(Fault::FacilityUnavailable(Facility::PerformanceMonitor));
        let outside = matches!(register, spr::PMC5 | spr::PMC6);
        match mmcr0::pmcc(mmcr0) {
            0 if writes => return Err(Fault::EmulationAssistance),
            1 => return unavailable,
            2 | 3 if register == spr::MMCR1 => return unavailable,
            3 if outside => return unavailable,
            _ => {}
        }
    }
    Ok(Place::Register(register, problem))
}
