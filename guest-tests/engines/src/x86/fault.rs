//! Exceptions on their way to the guest, and reasons to stop the engine.

use std::fmt;

/// Exception vectors.
pub(crate) mod vector {
    pub(crate) const DE: u8 = 0;
    pub(crate) const DB: u8 = 1;
    pub(crate) const NMI: u8 = 2;
    pub(crate) const BP: u8 = 3;
    pub(crate) const OF: u8 = 4;
    pub(crate) const UD: u8 = 6;
    pub(crate) const NM: u8 = 7;
    pub(crate) const DF: u8 = 8;
    pub(crate) const TS: u8 = 10;
    pub(crate) const NP: u8 = 11;
    pub(crate) const SS: u8 = 12;
    pub(crate) const GP: u8 = 13;
    pub(crate) const PF: u8 = 14;

    /// The name of an exception, for messages.
    pub(crate) fn name(vector: u8) -> String {
        let name = match vector {
            DE => "#DE",
            DB => "#DB",
            NMI => "NMI",
            BP => "#BP",
            OF => "#OF",
            UD => "#UD",
            NM => "#NM",
            DF => "#DF",
            TS => "#TS",
            NP => "#NP",
            SS => "#SS",
            GP => "#GP",
            PF => "#PF",
            _ => return format!("vector {vector}"),
        };
        name.to_owned()
    }
}

/// Why an instruction did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An exception to deliver.
    Exception { vector: u8, code: Option<u16> },
    /// A non-canonical address: #SS(0) for stack accesses, #GP(0) for others.
    NonCanonical,
    /// The engine stops; the reason is in [`Core::stop`](super::state::Core::stop).
    Stop,
}

impl Fault {
    /// #GP(0).
    pub(crate) const GP0: Self = Self::gp(0);
    /// #SS(0).
    pub(crate) const SS0: Self = Self::with(vector::SS, 0);
    /// #UD.
    pub(crate) const UD: Self = Self::without(vector::UD);
    /// #DE.
    pub(crate) const DE: Self = Self::without(vector::DE);

    /// An exception with an error code.
    pub(crate) const fn with(vector: u8, code: u16) -> Self {
        Self::Exception { vector, code: Some(code) }
    }

    /// An exception without an error code.
    pub(crate) const fn without(vector: u8) -> Self {
        Self::Exception { vector, code: None }
    }

    /// #GP with an error code.
    pub(crate) const fn gp(code: u16) -> Self {
        Self::with(vector::GP, code)
    }

    /// The fault of a non-canonical address in a stack access.
    pub(crate) fn on_stack(self) -> Self {
        if self == Self::NonCanonical { Self::SS0 } else { self }
    }
}

/// Why the engine stopped on a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The guest wrote its exit status to port F4h.
    Status(u8),
    /// The observer asked for it.
    Observer,
    /// A valid instruction the engine does not execute.
    Unsupported {
        /// Its address.
        rip: u64,
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its text, in Intel syntax.
        text: String,
    },
    /// A mode of operation the engine does not have.
    UnsupportedMode {
        /// Address of the instruction that would have entered it.
        rip: u64,
        /// What was asked for.
        what: &'static str,
    },
    /// What executes instructions for the engine failed, or did not do what the instruction does.
    Executor {
        /// Address of the instruction.
        rip: u64,
        /// What happened, in one line.
        reason: String,
    },
    /// An exception while delivering #DF.
    TripleFault {
        /// Address of the instruction that started it.
        rip: u64,
        /// The first exception's vector.
        first: u8,
        /// Vector of the exception that could not be delivered as #DF.
        last: u8,
        /// CR2 at the end.
        cr2: u64,
    },
}

impl Stop {
    /// The address of the instruction that caused it, if one did.
    #[must_use]
    pub fn address(&self) -> Option<u64> {
        match self {
            Self::Status(_) | Self::Observer => None,
            Self::Unsupported { rip, .. }
            | Self::UnsupportedMode { rip, .. }
            | Self::Executor { rip, .. }
            | Self::TripleFault { rip, .. } => Some(*rip),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "exit status {status}"),
            Self::Observer => write!(f, "stopped by the observer"),
            Self::Unsupported { rip, bytes, text } => {
                write!(f, "unsupported instruction at {rip:#x}: {text} (")?;
                for (i, byte) in bytes.iter().enumerate() {
                    write!(f, "{}{byte:02x}", if i == 0 { "" } else { " " })?;
                }
                write!(f, ")")
            }
            Self::UnsupportedMode { rip, what } => {
                write!(f, "unsupported mode at {rip:#x}: {what}")
            }
            Self::Executor { rip, reason } => write!(f, "at {rip:#x}: {reason}"),
            Self::TripleFault { rip, first, last, cr2 } => {
                let (first, last) = (vector::name(*first), vector::name(*last));
                write!(f, "triple fault at {rip:#x}: {first}, then {last} while delivering the double fault (CR2 {cr2:#x})")
            }
        }
    }
}

impl std::error::Error for Stop {}
