//! The driver of the machine's device that accesses memory by itself.

use iced_x86::code_asm::*;

use super::{Built, Kernel, here};
use vm_pmu_engines::x86::{DMA_FUNCTION, DmaCommand, DmaRegister};

/// A command with everything that it takes.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// What is done.
    pub command: DmaCommand,
    /// What is read, by physical address.
    pub source: u64,
    /// What is written, by physical address.
    pub destination: u64,
    /// How many bytes.
    pub bytes: u32,
    /// What a fill or an addition takes.
    pub value: u64,
}

impl Kernel {
    /// Emits the code that gives the device a command: two instructions and RET. It takes the number of the command in ESI. Changes RAX.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn dma_command(&mut self) -> Built<CodeLabel> {
        let mut command = self.a.create_label();
        self.routine("dma_command");
        here(&mut self.a, &mut command)?;
        self.dma_start()?;
        self.a.ret()?;
        Ok(command)
    }

    /// Gives the device the command of which ESI has the number: two instructions. Changes RAX.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn dma_start(&mut self) -> Built<()> {
        self.a.mov(rax, DMA_FUNCTION.window_address(DmaRegister::Command.offset().into()))?;
        self.a.mov(dword_ptr(rax), esi)
    }

    /// Writes what the device needs to know, and leaves the number of the command in ESI. Changes RAX and RDX.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn dma_prepare(&mut self, transfer: &Transfer) -> Built<()> {
        for (register, value) in
            [(DmaRegister::Source, transfer.source), (DmaRegister::Destination, transfer.destination), (DmaRegister::Value, transfer.value)]
        {
            self.pci_write(DMA_FUNCTION, register.offset(), value as u32)?;
            self.pci_write(DMA_FUNCTION, register.offset() + 4, (value >> 32) as u32)?;
        }
        self.pci_write(DMA_FUNCTION, DmaRegister::Bytes.offset(), transfer.bytes)?;
        self.a.mov(esi, transfer.command.number())
    }

    /// Reads the lower half of a register of the device into RAX. Changes RDX.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn dma_read(&mut self, register: DmaRegister) -> Built<()> {
        self.pci_read(DMA_FUNCTION, register.offset())
    }
}
