//! Where a driver finds the boxes, and how it reaches their registers.

use iced_x86::code_asm::*;

use crate::runtime::{Built, Kernel};
use vm_pmu_engines::x86::PciFunction;

/// The bus of the IRP.
pub(super) const IRP_BUS: u8 = 0;
/// The bus of all other boxes behind PCI.
pub(super) const BUS: u8 = 0xFF;

/// U_MSR_PMON_GLOBAL_CTL.
pub(super) const GLOBAL_CONTROL: u32 = 0x700;
/// U_MSR_PMON_GLOBAL_STATUS.
pub(super) const GLOBAL_STATUS: u32 = 0x701;
/// In the global control: every box is stopped.
pub(super) const FREEZE_ALL: u64 = 1 << 63;
/// In the global control: every box continues.
pub(super) const UNFREEZE_ALL: u64 = 1 << 61;
/// The first CHA's control; every CHA has twelve numbers.
pub(super) const CHA: u32 = 0xE00;
/// Numbers of a CHA.
pub(super) const CHA_STRIDE: u32 = 12;
/// How many CHAs there are.
pub(super) const CHAS: u32 = 38;

/// Where a register of a box is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// A model-specific register.
    Msr(u32),
    /// A dword of configuration space, or two.
    Pci(PciFunction, u16),
}

impl At {
    /// Reads 32 bits, or all of a model-specific register, into RAX. Changes RCX and RDX.
    pub(super) fn read(self, k: &mut Kernel) -> Built<()> {
        match self {
            At::Msr(number) => k.rdmsr(number),
            At::Pci(at, offset) => match u8::try_from(offset) {
                Ok(offset) => k.pci_read(at, offset),
                Err(_) => k.window_read(at, offset),
            },
        }
    }

    /// Writes 32 bits: the last instruction is the one that does it. Changes RAX, RCX and RDX.
    pub(super) fn write(self, k: &mut Kernel, value: u32) -> Built<()> {
        match self {
            At::Msr(number) => k.wrmsr(number, u64::from(value)),
            At::Pci(at, offset) => match u8::try_from(offset) {
                Ok(offset) => k.pci_write(at, offset, value),
                Err(_) => k.window_write(at, offset, value),
            },
        }
    }

    /// How many instructions [`read`](At::read) has before the one that reads.
    pub(super) fn before_read(self) -> u64 {
        match self {
            At::Msr(_) => 1,
            At::Pci(_, 0..0x100) => 4,
            At::Pci(..) => 1,
        }
    }

    /// The dword after it.
    fn upper(self) -> At {
        match self {
            At::Msr(_) => self,
            At::Pci(at, offset) => At::Pci(at, offset + 4),
        }
    }

    /// Reads a counter into RAX, all 48 bits; behind PCI the lower half first. Changes RCX, RDX and R11.
    pub(super) fn read_counter(self, k: &mut Kernel) -> Built<()> {
        self.read(k)?;
        if let At::Pci(..) = self {
            k.a.mov(r11, rax)?;
            self.upper().read(k)?;
            k.a.shl(rax, 32)?;
            k.a.or(rax, r11)?;
        }
        Ok(())
    }

    /// Writes a counter; behind PCI the upper half first. Changes RAX, RCX and RDX.
    pub(super) fn write_counter(self, k: &mut Kernel, value: u64) -> Built<()> {
        match self {
            At::Msr(number) => k.wrmsr(number, value),
            At::Pci(..) => {
                self.upper().write(k, (value >> 32) as u32)?;
                self.write(k, value as u32)
            }
        }
    }
}

/// A kind of box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pcu,
    Cha,
    McUclk,
    McDclk,
    EdcUclk,
    EdcEclk,
    M2pcie,
    Irp,
}

/// A box that has a control; the UBox has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) kind: Kind,
    pub(super) number: u8,
}

impl Unit {
    /// Every box that has a control.
    pub(super) fn all() -> impl Iterator<Item = Unit> {
        let of = |kind, count| (0..count).map(move |number| Unit { kind, number });
        of(Kind::Pcu, 1).chain(of(Kind::Cha, CHAS as u8)).chain(Unit::behind_pci())
    }

    /// Every box behind PCI.
    pub(super) fn behind_pci() -> impl Iterator<Item = Unit> {
        let kinds = [(Kind::McUclk, 2), (Kind::McDclk, 6), (Kind::EdcUclk, 8), (Kind::EdcEclk, 8), (Kind::M2pcie, 1), (Kind::Irp, 1)];
        kinds.into_iter().flat_map(|(kind, count)| (0..count).map(move |number| Unit { kind, number }))
    }

    /// All boxes of a kind.
    pub(super) fn of(kind: Kind) -> impl Iterator<Item = Unit> {
        Unit::all().filter(move |unit| unit.kind == kind)
    }

    /// Its name in checks.
    pub(super) fn name(self) -> String {
        let name = match self.kind {
            Kind::Pcu => return "PCU".to_owned(),
            Kind::M2pcie => return "M2PCIe".to_owned(),
            Kind::Irp => return "IRP".to_owned(),
            Kind::Cha => "CHA",
            Kind::McUclk => "MC UCLK",
            Kind::McDclk => "MC DCLK",
            Kind::EdcUclk => "EDC UCLK",
            Kind::EdcEclk => "EDC ECLK",
        };
        format!("{name} {}", self.number)
    }

    /// Its function of configuration space and device number, if it is behind PCI.
    pub(super) fn function(self) -> Option<(PciFunction, u16)> {
        let n = self.number;
        let on = |bus, device, function, id| Some((PciFunction { bus, device, function }, id));
        match self.kind {
            Kind::Pcu | Kind::Cha => None,
            Kind::McUclk => on(BUS, 10 + n, 0, 0x7841),
            Kind::McDclk => on(BUS, 8 + n / 3, 2 + n % 3, 0x7843),
            Kind::EdcUclk => on(BUS, 15 + n, 0, 0x7833),
            Kind::EdcEclk => on(BUS, 24 + n, 2, 0x7835),
            Kind::M2pcie => on(BUS, 12, 1, 0x7817),
            Kind::Irp => on(IRP_BUS, 5, 6, 0x7814),
        }
    }

    fn place(self, msr: u32, [mc_uclk, mc_dclk, edc_uclk, edc_eclk, m2pcie, irp]: [u16; 6]) -> At {
        let offset = match self.kind {
            Kind::Pcu | Kind::Cha => 0,
            Kind::McUclk => mc_uclk,
            Kind::McDclk => mc_dclk,
            Kind::EdcUclk => edc_uclk,
            Kind::EdcEclk => edc_eclk,
            Kind::M2pcie => m2pcie,
            Kind::Irp => irp,
        };
        self.function().map_or(At::Msr(msr), |(at, _)| At::Pci(at, offset))
    }

    /// The first number of a CHA.
    fn base(self) -> u32 {
        CHA + CHA_STRIDE * u32::from(self.number)
    }

    /// How many general counters it has.
    pub(super) fn counters(self) -> u16 {
        if self.kind == Kind::Irp { 2 } else { 4 }
    }

    /// Its control.
    pub(super) fn control(self) -> At {
        let msr = if self.kind == Kind::Pcu { 0x710 } else { self.base() };
        self.place(msr, [0x430, 0xB30, 0x430, 0xA30, 0xF4, 0xF0])
    }

    /// Its status.
    pub(super) fn status(self) -> At {
        let msr = if self.kind == Kind::Pcu { 0x716 } else { self.base() + 7 };
        self.place(msr, [0x434, 0xB34, 0x434, 0xA34, 0xF8, 0xF4])
    }

    /// The control of a general counter.
    pub(super) fn counter_control(self, n: u16) -> At {
        let first = if self.kind == Kind::Pcu { 0x711 } else { self.base() + 1 };
        self.place(first + u32::from(n), [0x420, 0xB20, 0x420, 0xA20, 0xD8, 0xD8].map(|first| first + 4 * n))
    }

    /// A general counter.
    pub(super) fn counter(self, n: u16) -> At {
        let first = if self.kind == Kind::Pcu { 0x717 } else { self.base() + 8 };
        self.place(first + u32::from(n), [0x400, 0xB00, 0x400, 0xA00, 0xA0, 0xA0].map(|first| first + 8 * n))
    }

    /// The fixed counter and its control, if it has one.
    pub(super) fn fixed(self) -> Option<(At, At)> {
        let (counter, control) = match self.kind {
            Kind::McUclk | Kind::EdcUclk => (0x44C, 0x454),
            Kind::McDclk => (0xB3C, 0xB44),
            Kind::EdcEclk => (0xA3C, 0xA44),
            _ => return None,
        };
        self.function().map(|(at, _)| (At::Pci(at, counter), At::Pci(at, control)))
    }

    /// Its event that counts its clock: event 0 where it has one, else the mesh stop's clock, C0h (tables of chapters 3 to 8). The manual
    /// names no event of the power control unit.
    pub(super) fn clock(self) -> Option<u32> {
        match self.kind {
            Kind::Pcu => None,
            Kind::M2pcie => Some(0xC0),
            _ => Some(0),
        }
    }
}
