//! PCI configuration space, by ports and through the window.
//!
//! A function is named by its bus, device and function. By ports only the first 256 bytes of a function can be reached.

use iced_x86::code_asm::*;

use super::{Built, Kernel};
use vm_pmu_engines::x86::{CONFIGURATION_ADDRESS, CONFIGURATION_DATA, PciFunction};

impl Kernel {
    /// Names the four bytes at `offset` to the configuration port: four instructions. Changes RAX; DX is the first data port then.
    fn select_configuration(&mut self, at: PciFunction, offset: u8) -> Built<()> {
        self.a.mov(eax, at.port_word(offset))?;
        self.a.mov(edx, u32::from(CONFIGURATION_ADDRESS))?;
        self.a.out(dx, eax)?;
        self.a.mov(edx, u32::from(CONFIGURATION_DATA))
    }

    /// Reads the dword that `offset` is in by ports, into RAX: five instructions. Changes RDX.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn pci_read(&mut self, at: PciFunction, offset: u8) -> Built<()> {
        self.select_configuration(at, offset)?;
        self.a.in_(eax, dx)
    }

    /// Writes the dword that `offset` is in by ports: six instructions. Changes RAX and RDX.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn pci_write(&mut self, at: PciFunction, offset: u8, value: u32) -> Built<()> {
        self.select_configuration(at, offset)?;
        self.a.mov(eax, value)?;
        self.a.out(dx, eax)
    }

    /// Reads the dword at `offset`, 0 to FFCh, through the window, into RAX: two instructions.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn window_read(&mut self, at: PciFunction, offset: u16) -> Built<()> {
        self.a.mov(rax, at.window_address(offset))?;
        self.a.mov(eax, dword_ptr(rax))
    }

    /// Writes the dword at `offset`, 0 to FFCh, through the window: two instructions. Changes RAX.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn window_write(&mut self, at: PciFunction, offset: u16, value: u32) -> Built<()> {
        self.a.mov(rax, at.window_address(offset))?;
        self.a.mov(dword_ptr(rax), value)
    }
}
