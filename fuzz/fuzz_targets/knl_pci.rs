//! Accesses of every size anywhere in configuration space, on a machine with the boxes of Knights Landing. Bytes and words must be those
//! of their dword; a write of some bytes must do what a write of the dword does that leaves the others alone; what does not exist must
//! read as ones.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use vm_pmu::Address;
use vm_pmu::arch::access::PciAddress;
use vm_pmu::topology::Builder;
use vm_pmu::untile::{Domain, Kind, UnitId, UnitRegister, at_offset};

/// Where the functions are: the IRP's bus, and that of all others.
const BUSES: [u8; 2] = [0, 0xFF];

#[derive(Debug)]
struct Access {
    /// A box to access, or none for anywhere.
    unit: Option<u8>,
    bus: u8,
    place: u8,
    offset: u16,
    size: u8,
    value: Option<u32>,
    clocks: u8,
}

impl Access {
    fn read(bytes: &mut Unstructured<'_>) -> Result<Access> {
        Ok(Access {
            unit: bytes.arbitrary()?,
            bus: bytes.arbitrary()?,
            place: bytes.arbitrary()?,
            offset: bytes.arbitrary()?,
            size: bytes.arbitrary()?,
            value: bytes.arbitrary()?,
            clocks: bytes.arbitrary()?,
        })
    }
}

fn unit_at(bus: u8, device: u8, function: u8) -> Option<UnitId> {
    UnitId::all().find(|unit| {
        unit.pci().is_some_and(|place| (BUSES[usize::from(!place.of_irp)], place.device, place.function) == (bus, device, function))
    })
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let builder = Builder::new("knl").expect("the part is known");
    let (by_size, by_dword) = (builder.build(|_thread, _counter| {}).unwrap(), builder.build(|_thread, _counter| {}).unwrap());
    let (by_size, by_dword) = (by_size.untile().expect("boxes"), by_dword.untile().expect("boxes"));
    for _ in 0..64 {
        if bytes.is_empty() {
            break;
        }
        let Ok(access) = Access::read(&mut bytes) else { break };
        let (mut bus, mut device, mut function) = (access.bus, access.place >> 3, access.place & 7);
        let chosen = access.unit.and_then(|number| UnitId::all().filter(|unit| unit.kind() != Kind::Cha).nth(usize::from(number) % 28));
        if let Some(place) = chosen.and_then(UnitId::pci) {
            (bus, device, function) = (BUSES[usize::from(!place.of_irp)], place.device, place.function);
        }
        let (offset, size) = (access.offset & 0x1FFF, [1, 2, 4, access.size][usize::from(access.size & 3)]);
        let is_access = matches!(size, 1 | 2 | 4) && offset.is_multiple_of(u16::from(size));
        let dword = Address::Pci(PciAddress { bus, device, function, offset: offset & !3 });
        let mask = if size >= 4 { u32::MAX } else { (1 << (8 * size)) - 1 };
        let shift = u32::from(offset & 3) * 8;
        match access.value {
            Some(value) => {
                by_size.pci_write(bus, device, function, offset, size, value);
                if is_access {
                    let of_status = unit_at(bus, device, function).and_then(|unit| at_offset(unit.kind(), offset & !3));
                    let clears = matches!(of_status, Some((UnitRegister::Status, _)));
                    let before = if clears { 0 } else { by_dword.read(dword).unwrap_or(0) as u32 };
                    let after = before & !(mask << shift) | (value & mask) << shift;
                    let _ = by_dword.write(dword, u64::from(after));
                }
            }
            None => {
                let seen = by_size.pci_read(bus, device, function, offset, size);
                let whole = by_dword.read(dword);
                let expected = match whole {
                    Ok(whole) if is_access => (whole >> shift) as u32 & mask,
                    // A bus on which nothing responds floats to ones, as wide as the access.
                    Err(_) if is_access => mask,
                    _ => u32::MAX,
                };
                assert_eq!(seen, expected, "{access:?}");
            }
        }
        for domain in Domain::ALL {
            by_size.tick(domain, u64::from(access.clocks));
            by_dword.tick(domain, u64::from(access.clocks));
        }
    }
    assert_eq!(by_size.state(), by_dword.state());
});
