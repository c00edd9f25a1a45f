//! `pci-probe`: what a driver finds in configuration space.
//!
//! Linux checks a device's other functions only if function 0 is there and indicates more; it finds the buses by the first function with
//! each of two ids, and takes boxes by id, device and function.

use iced_x86::code_asm::*;

use super::boxes::{BUS, IRP_BUS, Unit};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::{CONFIGURATION_ADDRESS, CONFIGURATION_DATA, Image, PciFunction};

/// What every function of the untile reads at offset 0, except for its id.
const VENDOR: u64 = 0x8086;
/// The functions 0 that only make their device known: 5 on the IRP's bus, 8, 9, 12 and 24 to 31 on the other.
const FIRSTS: u64 = 12;
/// Ids, and how many functions have each.
const COUNTED: [(u64, u64); 6] = [(0x7814, 1), (0x7817, 1), (0x7841, 2), (0x7843, 6), (0x7833, 8), (0x7835, 8)];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    // A list of what was found, 16 bytes each: the word that names the function, its id and vendor.
    let list = k.reserve(16 * 128);
    k.main()?;
    scan(&mut k, list)?;
    by_id(&mut k, list)?;
    headers(&mut k)?;
    absent(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// Reads the dword at `offset` of the function that R12 names, into RAX.
fn read_there(k: &mut Kernel, offset: u32) -> Built<()> {
    k.a.lea(eax, dword_ptr(r12 + offset))?;
    k.a.mov(edx, u32::from(CONFIGURATION_ADDRESS))?;
    k.a.out(dx, eax)?;
    k.a.mov(edx, u32::from(CONFIGURATION_DATA))?;
    k.a.in_(eax, dx)
}

/// Lists every function of every bus. R13 is how many there are.
fn scan(k: &mut Kernel, list: u64) -> Built<()> {
    let [mut device, mut function, mut next, mut single, mut next_device] = [(); 5].map(|()| k.a.create_label());
    k.a.xor(r13d, r13d)?;
    k.a.mov(r12d, 0x8000_0000u32)?;
    here(&mut k.a, &mut device)?;
    // How many functions there are to check.
    k.a.mov(r14d, 8)?;
    here(&mut k.a, &mut function)?;
    read_there(k, 0)?;
    k.a.cmp(eax, -1)?;
    k.a.je(next)?;
    k.a.mov(rbx, r13)?;
    k.a.shl(rbx, 4)?;
    k.a.mov(dword_ptr(rbx + list as i32), r12d)?;
    k.a.mov(dword_ptr(rbx + list as i32 + 8), eax)?;
    k.a.inc(r13d)?;
    // Function 0 indicates whether there are more.
    k.a.test(r12d, 0x700)?;
    k.a.jne(next)?;
    read_there(k, 0xC)?;
    k.a.test(eax, 0x80_0000)?;
    k.a.je(single)?;
    here(&mut k.a, &mut next)?;
    // A device without function 0 is left out.
    k.a.test(r12d, 0x700)?;
    let mut go_on = k.a.create_label();
    k.a.jne(go_on)?;
    k.a.cmp(eax, -1)?;
    k.a.je(single)?;
    here(&mut k.a, &mut go_on)?;
    k.a.add(r12d, 0x100)?;
    k.a.dec(r14d)?;
    k.a.jne(function)?;
    k.a.jmp(next_device)?;
    here(&mut k.a, &mut single)?;
    k.a.add(r12d, 0x800)?;
    here(&mut k.a, &mut next_device)?;
    // After the last device of the last bus the word runs into bit 24.
    k.a.test(r12d, 0x100_0000)?;
    k.a.je(device)?;
    let boxes = Unit::behind_pci().count() as u64;
    // One more is the device that accesses memory.
    k.check_is("functions found in a scan of all buses", r13, boxes + FIRSTS + 1)
}

/// How often each id is there, and on which bus its first is.
fn by_id(k: &mut Kernel, list: u64) -> Built<()> {
    for (id, right) in COUNTED {
        let [mut again, mut other, mut done, mut seen] = [(); 4].map(|()| k.a.create_label());
        k.a.xor(ebx, ebx)?;
        k.a.xor(r14d, r14d)?;
        k.a.mov(ebp, -1)?;
        here(&mut k.a, &mut again)?;
        k.a.cmp(rbx, r13)?;
        k.a.jae(done)?;
        k.a.mov(rax, rbx)?;
        k.a.shl(rax, 4)?;
        k.a.cmp(dword_ptr(rax + list as i32 + 8), (id << 16 | VENDOR) as i32)?;
        k.a.jne(other)?;
        k.a.inc(r14)?;
        k.a.cmp(r14, 1)?;
        k.a.jne(seen)?;
        k.a.mov(ebp, dword_ptr(rax + list as i32))?;
        here(&mut k.a, &mut seen)?;
        here(&mut k.a, &mut other)?;
        k.a.inc(rbx)?;
        k.a.jmp(again)?;
        here(&mut k.a, &mut done)?;
        k.check_is(&format!("functions with id {id:X}h"), r14, right)?;
        k.a.shr(ebp, 16)?;
        k.a.and(ebp, 0xFF)?;
        let bus = if id == 0x7814 { IRP_BUS } else { BUS };
        k.check_is(&format!("bus of the first with id {id:X}h"), rbp, u64::from(bus))?;
    }
    Ok(())
}

/// Each box is at the device and function where the driver expects it, by ports and through the window.
fn headers(k: &mut Kernel) -> Built<()> {
    for unit in Unit::behind_pci() {
        let Some((at, id)) = unit.function() else { continue };
        let right = u64::from(id) << 16 | VENDOR;
        k.pci_read(at, 0)?;
        k.check_is(&format!("{}: id by ports", unit.name()), rax, right)?;
        k.window_read(at, 0)?;
        k.check_is(&format!("{}: id through the window", unit.name()), rax, right)?;
        k.pci_read(at, 8)?;
        k.a.mov(rbx, rax)?;
        k.check_is(&format!("{}: a system peripheral of revision 0", unit.name()), rbx, 0x0880_0000)?;
        k.pci_read(at, 0xC)?;
        k.check_is(&format!("{}: a plain header of a device with several functions", unit.name()), rax, 0x0080_0000)?;
    }
    let Some((at, _)) = Unit::behind_pci().last().and_then(Unit::function) else { return Ok(()) };
    // As a driver sizes what a function decodes: nothing.
    for offset in (0x10..0x28).step_by(4) {
        k.pci_write(at, offset, u32::MAX)?;
        k.pci_read(at, offset)?;
        k.check_is(&format!("IRP: base address {offset:X}h"), rax, 0)?;
    }
    k.pci_read(at, 0x34)?;
    k.check_is("IRP: no list of capabilities", rax, 0)?;
    k.pci_write(at, 4, u32::MAX)?;
    k.pci_read(at, 4)?;
    k.check_is("IRP: memory, I/O and bus master of the command, no status", rax, 7)?;
    k.pci_write(at, 4, 0)?;
    // Halves and bytes of the id, by ports and through the window.
    k.pci_read(at, 0)?;
    k.a.mov(edx, u32::from(CONFIGURATION_DATA) + 2)?;
    k.a.xor(eax, eax)?;
    k.a.in_(ax, dx)?;
    k.check_is("IRP: two bytes by ports", rax, 0x7814)?;
    k.pci_read(at, 0)?;
    k.a.mov(edx, u32::from(CONFIGURATION_DATA) + 1)?;
    k.a.xor(eax, eax)?;
    k.a.in_(al, dx)?;
    k.check_is("IRP: one byte by ports", rax, 0x80)?;
    k.a.mov(rax, at.window_address(2))?;
    k.a.movzx(eax, word_ptr(rax))?;
    k.check_is("IRP: two bytes through the window", rax, 0x7814)?;
    k.a.mov(rax, at.window_address(3))?;
    k.a.movzx(eax, byte_ptr(rax))?;
    k.check_is("IRP: one byte through the window", rax, 0x78)
}

/// Absent functions read as ones, and writes to them are lost.
fn absent(k: &mut Kernel) -> Built<()> {
    let places = [
        ("a device", PciFunction { bus: BUS, device: 1, function: 0 }),
        ("a function", PciFunction { bus: BUS, device: 8, function: 1 }),
        ("a bus", PciFunction { bus: 1, device: 5, function: 6 }),
        ("the IRP on the other bus", PciFunction { bus: BUS, device: 5, function: 6 }),
    ];
    for (what, at) in places {
        k.pci_write(at, 0xF0, 0)?;
        k.pci_read(at, 0xF0)?;
        k.check_is(&format!("{what} that is not there, by ports"), rax, 0xFFFF_FFFF)?;
        k.window_write(at, 0x430, 0)?;
        k.window_read(at, 0x430)?;
        k.check_is(&format!("{what} that is not there, through the window"), rax, 0xFFFF_FFFF)?;
        k.a.mov(rax, at.window_address(0x431))?;
        k.a.movzx(eax, byte_ptr(rax))?;
        k.check_is(&format!("{what} that is not there, one byte"), rax, 0xFF)?;
    }
    Ok(())
}
