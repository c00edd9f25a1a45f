//! Addresses of registers, and what refuses an access.

use core::fmt;

/// A register's address, in the address space that the guest names it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Address {
    /// A model-specific register, by the ECX of RDMSR and WRMSR.
    Msr(u32),
    /// A performance counter, by the ECX of RDPMC.
    Rdpmc(u32),
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Msr(number) => write!(formatter, "MSR {:04X}_{:04X}h", number >> 16, number & 0xffff),
            Address::Rdpmc(index) => write!(formatter, "RDPMC index {index:X}h"),
        }
    }
}

/// Why an access has no value: the exception that the embedder must deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// No register of this PMU has the address. Who else the address may belong to, the embedder knows.
    Unclaimed,
    /// x86: a general-protection exception with error code 0, `#GP(0)`.
    GeneralProtection,
}

impl Fault {
    /// The fault's word in litmus files and messages.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Fault::Unclaimed => "unclaimed",
            Fault::GeneralProtection => "#GP",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Fault::Unclaimed => "no register of this PMU has that address",
            Fault::GeneralProtection => "general-protection exception, #GP(0)",
        })
    }
}

impl core::error::Error for Fault {}
