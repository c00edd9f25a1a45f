//! IBR0 to 7 and DBR0 to 7, which the monitors take for ranges (SDM volume 2, 7.1.1).

use vm_pmu_arch::access::Fault;

/// Two registers: an address, and what of it is compared.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) address: u64,
    pub(crate) control: u64,
}

impl Pair {
    /// Whether bits 63 to `lowest` of an address are those of the pair. Those of the mask, 55:0, leave out where it is 0; 63:56 are always
    /// compared.
    pub(crate) const fn matches_from(self, lowest: u32, address: u64) -> bool {
        const MASK: u64 = (1 << 56) - 1;
        let compared = (self.control | !MASK) >> lowest << lowest;
        (address ^ self.address) & compared == 0
    }

    /// Whether the mask of levels, 59:56, has this one.
    pub(crate) const fn has_level(self, level: u8) -> bool {
        self.control >> (56 + (level & 3)) & 1 != 0
    }

    /// The x bit: the pair is a debugger's.
    pub(crate) const fn is_debuggers(self) -> bool {
        self.control >> 63 != 0
    }
}

/// One of the two files.
pub(crate) struct Breakpoints {
    registers: [u64; 8],
    /// The bits that odd ones do not have.
    reserved: u64,
}

impl Breakpoints {
    /// IBRs: 62:60 of odd ones are reserved.
    pub(crate) const fn of_instructions() -> Breakpoints {
        Breakpoints { registers: [0; 8], reserved: 0b111 << 60 }
    }

    /// DBRs: 61:60 of odd ones are reserved.
    pub(crate) const fn of_data() -> Breakpoints {
        Breakpoints { registers: [0; 8], reserved: 0b11 << 60 }
    }

    pub(crate) const fn pair(&self, number: usize) -> Pair {
        Pair { address: self.registers[2 * number], control: self.registers[2 * number + 1] }
    }

    pub(crate) fn read(&self, number: u8) -> Result<u64, Fault> {
        self.registers.get(usize::from(number)).copied().ok_or(Fault::ReservedRegisterField)
    }

    pub(crate) fn write(&mut self, number: u8, value: u64) -> Result<(), Fault> {
        let register = self.registers.get_mut(usize::from(number)).ok_or(Fault::ReservedRegisterField)?;
        *register = if number.is_multiple_of(2) { value } else { value & !self.reserved };
        Ok(())
    }
}
