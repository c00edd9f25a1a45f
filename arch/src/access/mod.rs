//! Addresses of registers, and the reasons to refuse an access.

mod index;

use core::fmt;

pub use index::{chosen, chosen_mut, masked};

/// A register's address, in the address space that the guest names it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum Address {
    /// A model-specific register, by the ECX of RDMSR and WRMSR.
    Msr(u32),
    /// A performance counter, by the ECX of RDPMC.
    Rdpmc(u32),
    /// POWER: a special-purpose register, by the number in mtspr and mfspr.
    Spr(u16),
    /// POWER: an entry of the branch history rolling buffer, by the number in mfbhrbe. A write of any value to any entry is clrbhrb.
    Bhrb(u16),
    /// POWER: the instruction match array, as mtimc and mfimc reach it.
    Imc,
    /// IA-64: a performance monitor configuration register, by bits 7:0 of the index in `mov pmc[]`.
    Pmc(u8),
    /// IA-64: a performance monitor data register, by bits 7:0 of the index in `mov pmd[]`.
    Pmd(u8),
    /// IA-64: an instruction breakpoint register, by bits 7:0 of the index in `mov ibr[]`. The performance monitor matches addresses
    /// with it.
    Ibr(u8),
    /// IA-64: a data breakpoint register, by bits 7:0 of the index in `mov dbr[]`.
    Dbr(u8),
    /// A dword of PCI configuration space.
    Pci(PciAddress),
}

/// Where a dword of PCI configuration space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PciAddress {
    /// Bus.
    pub bus: u8,
    /// Device, 0 to 31.
    pub device: u8,
    /// Function, 0 to 7.
    pub function: u8,
    /// Offset in bytes, below 4,096 and a multiple of four.
    pub offset: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Msr(number) => write!(formatter, "MSR {:04X}_{:04X}h", number >> 16, number & 0xffff),
            Address::Rdpmc(index) => write!(formatter, "RDPMC index {index:X}h"),
            Address::Spr(number) => write!(formatter, "SPR {number}"),
            Address::Bhrb(index) => write!(formatter, "BHRB entry {index}"),
            Address::Imc => formatter.write_str("the instruction match array"),
            Address::Pmc(index) => write!(formatter, "PMC{index}"),
            Address::Pmd(index) => write!(formatter, "PMD{index}"),
            Address::Ibr(index) => write!(formatter, "IBR{index}"),
            Address::Dbr(index) => write!(formatter, "DBR{index}"),
            Address::Pci(PciAddress { bus, device, function, offset }) => {
                write!(formatter, "PCI {bus:02X}:{device:02X}.{function} offset {offset:X}h")
            }
        }
    }
}

/// A facility of a POWER processor that privileged software can withhold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Facility {
    /// The registers of the performance monitor.
    PerformanceMonitor,
    /// The branch history rolling buffer.
    BranchHistory,
    /// Event-based branches.
    EventBasedBranch,
}

impl Facility {
    /// What FSCR and HFSCR show in their bits 0:7 when the facility was missing (Power ISA 3.0 Book III, section 7.5.32).
    #[must_use]
    pub const fn interruption_cause(self) -> u8 {
        match self {
            Facility::PerformanceMonitor => 3,
            Facility::BranchHistory => 4,
            Facility::EventBasedBranch => 7,
        }
    }
}

/// Why an access has no value: the exception that the embedder must deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum Fault {
    /// No register of this PMU has the address. The embedder knows what else may have it.
    Unclaimed,
    /// x86: a general-protection exception with error code 0, `#GP(0)`.
    GeneralProtection,
    /// POWER: a facility unavailable interrupt, vector F60h; FSCR shows the cause.
    FacilityUnavailable(Facility),
    /// POWER: a hypervisor facility unavailable interrupt, vector F80h; HFSCR shows the cause.
    HypervisorFacilityUnavailable(Facility),
    /// POWER: a hypervisor emulation assistance interrupt, vector E40h; HEIR holds the instruction.
    EmulationAssistance,
    /// POWER: a program interrupt of the privileged-instruction type, vector 700h.
    PrivilegedInstruction,
    /// IA-64: a privileged operation fault, a general exception at vector 5400h with ISR.code 10h.
    PrivilegedOperation,
    /// IA-64: a reserved register/field fault, a general exception at vector 5400h with ISR.code 30h.
    ReservedRegisterField,
    /// POWER: no interrupt; the instruction does nothing, and mfspr leaves its target register as it was.
    NoOperation,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Fault; 13] = [
        Fault::Unclaimed,
        Fault::GeneralProtection,
        Fault::FacilityUnavailable(Facility::PerformanceMonitor),
        Fault::FacilityUnavailable(Facility::BranchHistory),
        Fault::FacilityUnavailable(Facility::EventBasedBranch),
        Fault::HypervisorFacilityUnavailable(Facility::PerformanceMonitor),
        Fault::HypervisorFacilityUnavailable(Facility::BranchHistory),
        Fault::HypervisorFacilityUnavailable(Facility::EventBasedBranch),
        Fault::EmulationAssistance,
        Fault::PrivilegedInstruction,
        Fault::NoOperation,
        Fault::PrivilegedOperation,
        Fault::ReservedRegisterField,
    ];

    /// The fault's word in litmus files and messages.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Fault::Unclaimed => "unclaimed",
            Fault::GeneralProtection => "#GP",
            Fault::FacilityUnavailable(Facility::PerformanceMonitor) => "facility-unavailable:performance-monitor",
            Fault::FacilityUnavailable(Facility::BranchHistory) => "facility-unavailable:branch-history",
            Fault::FacilityUnavailable(Facility::EventBasedBranch) => "facility-unavailable:event-based-branch",
            Fault::HypervisorFacilityUnavailable(Facility::PerformanceMonitor) => "hypervisor-facility-unavailable:performance-monitor",
            Fault::HypervisorFacilityUnavailable(Facility::BranchHistory) => "hypervisor-facility-unavailable:branch-history",
            Fault::HypervisorFacilityUnavailable(Facility::EventBasedBranch) => "hypervisor-facility-unavailable:event-based-branch",
            Fault::EmulationAssistance => "emulation-assistance",
            Fault::PrivilegedInstruction => "privileged-instruction",
            Fault::NoOperation => "no-operation",
            Fault::PrivilegedOperation => "privileged-operation",
            Fault::ReservedRegisterField => "reserved-register-field",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Fault::Unclaimed => "no register of this PMU has that address",
            Fault::GeneralProtection => "general-protection exception, #GP(0)",
            Fault::FacilityUnavailable(_) => "facility unavailable interrupt",
            Fault::HypervisorFacilityUnavailable(_) => "hypervisor facility unavailable interrupt",
            Fault::EmulationAssistance => "hypervisor emulation assistance interrupt",
            Fault::PrivilegedInstruction => "program interrupt, privileged instruction",
            Fault::NoOperation => "no operation",
            Fault::PrivilegedOperation => "privileged operation fault",
            Fault::ReservedRegisterField => "reserved register/field fault",
        })
    }
}

impl core::error::Error for Fault {}
