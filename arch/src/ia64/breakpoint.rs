//! The breakpoint registers: monitors match addresses with them.
//!
//! Itanium Architecture Software Developer's Manual, volume 2, section 7.1.1. Pairs of registers: the even one holds an address, the odd
//! one the address bits that are compared, privilege levels, and the debug faults to raise.

use crate::access::{Address, Fault, chosen_mut};
use crate::feed::Context;
use crate::layout::layout;

/// How many pairs of each kind there are.
pub const PAIRS: usize = 4;

layout! {
    /// The odd register of a pair of instruction breakpoint registers.
    pub struct InstructionMask {
        /// address bits that are compared
        "mask" => mask / set_mask: u64 = 55..0;
        /// privilege levels, one bit each
        "plm" => plm / set_plm: u8 = 59..56;
        /// the pair raises debug faults
        "x" => x / set_x: bool = 63;
        reserved 62..60;
    }
}

layout! {
    /// The odd register of a pair of data breakpoint registers.
    pub struct DataMask {
        /// address bits that are compared
        "mask" => mask / set_mask: u64 = 55..0;
        /// privilege levels, one bit each; monitors do not look at them
        "plm" => plm / set_plm: u8 = 59..56;
        /// writes raise debug faults; monitors do not look at it
        "w" => w / set_w: bool = 62;
        /// reads raise debug faults; monitors do not look at it
        "r" => r / set_r: bool = 63;
        reserved 61..60;
    }
}

/// The breakpoint registers of a thread: the processor uses them, and its monitors too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Breakpoints {
    /// IBR0-7.
    pub ibr: [u64; 2 * PAIRS],
    /// DBR0-7.
    pub dbr: [u64; 2 * PAIRS],
}

/// A pair of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair<M> {
    pub(crate) address: u64,
    pub(crate) mask: M,
}

impl Breakpoints {
    /// The register of this address, if the address is of one.
    ///
    /// # Errors
    /// At a privilege level above 0 [`Fault::PrivilegedOperation`], whatever the index; beyond the registers that there are
    /// [`Fault::ReservedRegisterField`].
    pub(crate) fn register(&mut self, address: Address, context: &Context) -> Option<Result<&mut u64, Fault>> {
        let (file, index) = match address {
            Address::Ibr(index) => (&mut self.ibr, index),
            Address::Dbr(index) => (&mut self.dbr, index),
            _ => return None,
        };
        if context.privilege != 0 {
            return Some(Err(Fault::PrivilegedOperation));
        }
        Some(chosen_mut(file, usize::from(index)).ok_or(Fault::ReservedRegisterField))
    }

    /// What a write of `value` leaves in the register of this address.
    pub(crate) fn written(address: Address, value: u64) -> u64 {
        match address {
            Address::Ibr(index) if index & 1 == 1 => InstructionMask::written(value).bits(),
            Address::Dbr(index) if index & 1 == 1 => DataMask::written(value).bits(),
            _ => value,
        }
    }

    /// The same registers with the bits that no register keeps dropped.
    pub(crate) fn cleaned(mut self) -> Breakpoints {
        for (index, (ibr, dbr)) in (0u8..).zip(self.ibr.iter_mut().zip(&mut self.dbr)) {
            *ibr = Breakpoints::written(Address::Ibr(index), *ibr);
            *dbr = Breakpoints::written(Address::Dbr(index), *dbr);
        }
        self
    }

    /// Pair `number` of the instruction breakpoint registers.
    pub(crate) fn instruction(&self, number: usize) -> Pair<InstructionMask> {
        let [address, mask] = pair(&self.ibr, number);
        Pair { address, mask: InstructionMask::written(mask) }
    }

    /// Pair `number` of the data breakpoint registers.
    pub(crate) fn data(&self, number: usize) -> Pair<DataMask> {
        let [address, mask] = pair(&self.dbr, number);
        Pair { address, mask: DataMask::written(mask) }
    }
}

fn pair(file: &[u64; 2 * PAIRS], number: usize) -> [u64; 2] {
    [0, 1].map(|half| file.get(2 * number + half).copied().unwrap_or(0))
}
