//! Where the registers are: MSRs and configuration space (section 1.3 of `docs/notes/knights-landing.md`; N20 to N22 and N35 of the notes
//! on drivers; T15).

use vm_pmu_arch::access::{Address, PciAddress};
use vm_pmu_arch::knl::untile::Kind;

/// How many CHAs every part has (N3).
pub(super) const CHAS: u8 = 38;
/// The bus of the IRP, and that of all other functions.
const BUSES: [u8; 2] = [0, 0xFF];

/// A register of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    Control,
    Status,
    Filter(usize),
    Select(usize),
    Counter(usize),
    FixedControl,
    Fixed,
}

/// What an MSR is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Msr {
    GlobalControl,
    GlobalStatus,
    /// The number of CHAs.
    Config,
    Of((Kind, u8), Register),
}

/// The MSR of this number.
pub(super) fn msr(number: u32) -> Option<Msr> {
    let ubox = |register| Msr::Of((Kind::Ubox, 0), register);
    let pcu = |register| Msr::Of((Kind::Pcu, 0), register);
    Some(match number {
        0x700 => Msr::GlobalControl,
        0x701 => Msr::GlobalStatus,
        0x702 => Msr::Config,
        0x703 => ubox(Register::FixedControl),
        0x704 => ubox(Register::Fixed),
        0x705 | 0x706 => ubox(Register::Select((number - 0x705) as usize)),
        0x707 => ubox(Register::Filter(0)),
        0x708 => ubox(Register::Status),
        0x709 | 0x70A => ubox(Register::Counter((number - 0x709) as usize)),
        0x710 => pcu(Register::Control),
        0x711..=0x714 => pcu(Register::Select((number - 0x711) as usize)),
        0x715 => pcu(Register::Filter(0)),
        0x716 => pcu(Register::Status),
        0x717..=0x71A => pcu(Register::Counter((number - 0x717) as usize)),
        0xE00..=0xFC7 => {
            let (cha, place) = ((number - 0xE00) / 12, (number - 0xE00) % 12);
            let register = match place {
                0 => Register::Control,
                1..=4 => Register::Select(place as usize - 1),
                5 | 6 => Register::Filter(place as usize - 5),
                7 => Register::Status,
                _ => Register::Counter(place as usize - 8),
            };
            Msr::Of((Kind::Cha, cha as u8), register)
        }
        _ => return None,
    })
}

/// A function of configuration space.
pub(super) type Function = (u8, u8, u8);

/// What a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Device {
    /// Its device number. The vendor is Intel.
    pub(super) device: u32,
    /// The box that it has, if it has one.
    pub(super) of: Option<(Kind, u8)>,
}

/// The function at this place.
pub(super) fn function((bus, device, function): Function) -> Option<Device> {
    let of = |id, kind, number| Some(Device { device: id, of: Some((kind, number)) });
    let bare = |id| Some(Device { device: id, of: None });
    let is_irps = bus == BUSES[0];
    if !is_irps && bus != BUSES[1] {
        return None;
    }
    match (is_irps, device, function) {
        (true, 5, 0) => bare(0x7810),
        (true, 5, 6) => of(0x7814, Kind::Irp, 0),
        (true, ..) => None,
        (false, 8 | 9, 0) => bare(0x7840),
        (false, 8 | 9, 2..=4) => of(0x7843, Kind::McDclk, (device - 8) * 3 + function - 2),
        (false, 10 | 11, 0) => of(0x7841, Kind::McUclk, device - 10),
        (false, 12, 0) => bare(0x7815),
        (false, 12, 1) => of(0x7817, Kind::M2pcie, 0),
        (false, 15..=22, 0) => of(0x7833, Kind::EdcUclk, device - 15),
        (false, 24..=31, 0) => bare(0x7834),
        (false, 24..=31, 2) => of(0x7835, Kind::EdcEclk, device - 24),
        _ => None,
    }
}

/// Every place that a function can have.
fn functions() -> impl Iterator<Item = Function> {
    BUSES.into_iter().flat_map(|bus| (0..32).flat_map(move |device| (0..8).map(move |function| (bus, device, function))))
}

/// How many general counters a box has.
pub(super) fn counters(kind: Kind) -> usize {
    if matches!(kind, Kind::Ubox | Kind::Irp) { 2 } else { 4 }
}

/// Whether it has a fixed counter.
pub(super) fn has_fixed(kind: Kind) -> bool {
    matches!(kind, Kind::Ubox | Kind::EdcUclk | Kind::EdcEclk | Kind::McUclk | Kind::McDclk)
}

/// The register at the dword of this offset in the function of a box, and whether it is the upper half.
pub(super) fn at_offset(kind: Kind, offset: u16) -> Option<(Register, bool)> {
    let (counter, select, control, status, fixed) = match kind {
        Kind::McUclk | Kind::EdcUclk => (0x400, 0x420, 0x430, 0x434, Some((0x44C, 0x454))),
        Kind::McDclk => (0xB00, 0xB20, 0xB30, 0xB34, Some((0xB3C, 0xB44))),
        Kind::EdcEclk => (0xA00, 0xA20, 0xA30, 0xA34, Some((0xA3C, 0xA44))),
        Kind::M2pcie => (0xA0, 0xD8, 0xF4, 0xF8, None),
        Kind::Irp => (0xA0, 0xD8, 0xF0, 0xF4, None),
        Kind::Ubox | Kind::Pcu | Kind::Cha => return None,
    };
    let number = counters(kind) as u16;
    let is_half = |first: u16| offset == first || offset == first + 4;
    Some(match (offset, fixed) {
        (offset, _) if (counter..counter + 8 * number).contains(&offset) => {
            (Register::Counter(usize::from((offset - counter) / 8)), (offset - counter) % 8 == 4)
        }
        (offset, _) if (select..select + 4 * number).contains(&offset) => (Register::Select(usize::from((offset - select) / 4)), false),
        (offset, _) if offset == control => (Register::Control, false),
        (offset, _) if offset == status => (Register::Status, false),
        (_, Some((first, _))) if is_half(first) => (Register::Fixed, offset != first),
        (offset, Some((_, own))) if offset == own => (Register::FixedControl, false),
        _ => return None,
    })
}

/// Every address at which a register is.
pub(super) fn addresses() -> Vec<Address> {
    let msrs = (0x700..=0xFC7).filter(|number| msr(*number).is_some()).map(Address::Msr);
    let dwords = |place: Function| {
        let kind = function(place).and_then(|device| device.of).map(|(kind, _)| kind);
        let (bus, device, function) = place;
        let at = move |offset| Address::Pci(PciAddress { bus, device, function, offset });
        (0..0xC00u16).step_by(4).filter(move |offset| kind.is_some_and(|kind| at_offset(kind, *offset).is_some())).map(at)
    };
    msrs.chain(functions().flat_map(dwords)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_box_has_its_registers() {
        // UBox 11, PCU 11, 38 CHAs of 12; MC and EDC: 24 of 8 halves, 4 selects, control, status, fixed counter and its control; M2PCIe 14,
        // IRP 8.
        assert_eq!(addresses().len(), 11 + 11 + 38 * 12 + 24 * 17 + 14 + 8);
    }
}
