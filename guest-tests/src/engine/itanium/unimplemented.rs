//! Instructions that the architecture has and the engine does not.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_ia64::InstDecoder;

use super::bundle::Unit;

/// An instruction that stopped the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unimplemented {
    /// Address of its bundle.
    pub ip: u64,
    /// Its slot.
    pub slot: u8,
    /// The slot's unit.
    pub unit: Unit,
    /// The 41 bits.
    pub encoding: u64,
}

impl Unimplemented {
    /// What a disassembler calls it, if one knows it.
    #[must_use]
    pub fn disassembly(&self) -> Option<String> {
        // In a bundle of its own, beside no-operations: its neighbours do not matter.
        const NOP: u128 = 1 << 27;
        let place = |template: u128, slots: [u128; 3]| template | slots[0] << 5 | slots[1] << 46 | slots[2] << 87;
        let encoding = u128::from(self.encoding);
        let (bundle, slot) = match self.unit {
            Unit::M => (place(0, [encoding, NOP, NOP]), 0),
            Unit::I => (place(0, [NOP, encoding, NOP]), 1),
            Unit::F => (place(0x0C, [NOP, encoding, NOP]), 1),
            Unit::B => (place(0x10, [NOP, NOP, encoding]), 2),
            Unit::X => return None,
        };
        // The disassembler gives up on some reserved fields with a panic.
        catch_unwind(AssertUnwindSafe(|| {
            let decoded = InstDecoder::default().decode(&mut U8Reader::new(&bundle.to_le_bytes())).ok()?;
            decoded.instructions().get(slot).map(ToString::to_string)
        }))
        .ok()
        .flatten()
    }
}

impl fmt::Display for Unimplemented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ip, slot, unit, encoding } = self;
        write!(f, "an instruction that the engine does not have, {encoding:011x} in {unit:?} slot {slot} of the bundle at {ip:#x}")?;
        match self.disassembly() {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Unimplemented {}
