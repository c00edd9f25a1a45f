//! What all CPUs share outside RAM, and how PCI functions are named.

use super::cpuid::CpuidResult;
use crate::dma::DmaAccess;

/// The port of the configuration address.
pub const CONFIGURATION_ADDRESS: u16 = 0xcf8;
/// The first of four ports of configuration data.
pub const CONFIGURATION_DATA: u16 = 0xcfc;
/// The physical address of the window, which has 256 MiB.
pub const CONFIGURATION_WINDOW: u64 = 0xe000_0000;

/// Where the device that accesses RAM by itself is in configuration space.
pub const DMA_FUNCTION: PciFunction = PciFunction { bus: 0, device: 3, function: 0 };
/// Bit 31 of the configuration address.
pub(super) const ENABLE: u32 = 1 << 31;

/// A PCI function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PciFunction {
    /// The bus, 0 to 255.
    pub bus: u8,
    /// The device on the bus, 0 to 31.
    pub device: u8,
    /// The function of the device, 0 to 7.
    pub function: u8,
}

impl PciFunction {
    /// What to write to port CF8h for the four bytes that `offset` is among. Only the first 256 bytes of a function can be named.
    ///
    /// ```
    /// use vm_pmu_engines::x86::PciFunction;
    ///
    /// assert_eq!(PciFunction { bus: 0xFF, device: 8, function: 2 }.port_word(0xDA), 0x80FF_42D8);
    /// ```
    #[must_use]
    pub const fn port_word(self, offset: u8) -> u32 {
        ENABLE | self.number() << 8 | (offset as u32 & 0xfc)
    }

    /// The physical address of byte `offset` (0 to FFFh).
    ///
    /// ```
    /// use vm_pmu_engines::x86::PciFunction;
    ///
    /// assert_eq!(PciFunction { bus: 0xFF, device: 8, function: 2 }.window_address(0xB30), 0xEFF4_2B30);
    /// ```
    #[must_use]
    pub const fn window_address(self, offset: u16) -> u64 {
        CONFIGURATION_WINDOW | (self.number() as u64) << 12 | (offset as u64 & 0xfff)
    }

    const fn number(self) -> u32 {
        (self.bus as u32) << 8 | (self.device as u32 & 31) << 3 | self.function as u32 & 7
    }

    pub(super) fn of(number: u32) -> Self {
        Self { bus: (number >> 8) as u8, device: (number >> 3) as u8 & 31, function: number as u8 & 7 }
    }
}

/// What all CPUs share outside RAM: ports, device memory, and registers that belong to no CPU.
///
/// Ports E9h (console) and F4h (exit status) are the engine's and never get here. Every access to PCI configuration space comes to
/// [`MachineBus::pci_read`] and [`MachineBus::pci_write`].
pub trait MachineBus: Send + Sync {
    /// IN of `size` (1, 2 or 4) bytes. Absent ports read as ones.
    fn port_in(&self, cpu: usize, port: u16, size: u8) -> u32 {
        let _ = (cpu, port, size);
        u32::MAX
    }

    /// OUT of `size` (1, 2 or 4) bytes.
    fn port_out(&self, cpu: usize, port: u16, size: u8, value: u32) {
        let _ = (cpu, port, size, value);
    }

    /// A load of `size` (1, 2, 4 or 8) bytes outside RAM and the local APIC.
    fn mmio_read(&self, cpu: usize, address: u64, size: u8) -> u64 {
        let _ = (cpu, address, size);
        u64::MAX
    }

    /// A store of `size` (1, 2, 4 or 8) bytes outside RAM and the local APIC.
    fn mmio_write(&self, cpu: usize, address: u64, size: u8, value: u64) {
        let _ = (cpu, address, size, value);
    }

    /// A read of `size` (1, 2 or 4) bytes of PCI configuration space, by ports CF8h and CFCh or through
    /// [`CONFIGURATION_WINDOW`](super::CONFIGURATION_WINDOW). Absent functions read as ones.
    fn pci_read(&self, cpu: usize, at: PciFunction, offset: u16, size: u8) -> u32 {
        let _ = (cpu, at, offset, size);
        u32::MAX
    }

    /// A write of `size` (1, 2 or 4) bytes of PCI configuration space.
    fn pci_write(&self, cpu: usize, at: PciFunction, offset: u16, size: u8, value: u32) {
        let _ = (cpu, at, offset, size, value);
    }

    /// A device accesses RAM by itself, by a command that CPU `cpu` gave it. It is called before the bytes change, with the accesses in order.
    fn dma(&self, cpu: usize, access: &DmaAccess) {
        let _ = (cpu, access);
    }

    /// RDMSR of a register neither the observer nor the engine knows; `None` raises #GP(0).
    fn rdmsr(&self, cpu: usize, msr: u32) -> Option<u64> {
        let _ = (cpu, msr);
        None
    }

    /// WRMSR of a register neither the observer nor the engine knows; `None` raises #GP(0).
    fn wrmsr(&self, cpu: usize, msr: u32, value: u64) -> Option<()> {
        let _ = (cpu, msr, value);
        None
    }

    /// CPUID: what the guest sees, given the engine's own result.
    fn cpuid(&self, cpu: usize, leaf: u32, subleaf: u32, answer: CpuidResult) -> CpuidResult {
        let _ = (cpu, leaf, subleaf);
        answer
    }
}

/// The bus with nothing on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyBus;

impl MachineBus for EmptyBus {}
