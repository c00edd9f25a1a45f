//! `mesh-events`: every box takes the events of its mesh stop, selects 80h and above. The clock is checked.

use iced_x86::code_asm::*;

use super::boxes::{At, Kind, Unit};
use super::{EN, INIT};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Every sub-event.
const ALL: u32 = 0xFF00;
/// The clock of the mesh stop.
const CLOCKS: u32 = 0xC0;

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    for kind in [Kind::Cha, Kind::McUclk, Kind::McDclk, Kind::EdcUclk, Kind::EdcEclk, Kind::M2pcie, Kind::Irp] {
        for unit in Unit::of(kind).take(1) {
            unit.control().write(&mut k, INIT)?;
            selects(&mut k, &unit.name(), unit.counter_control(1), unit.counter(1))?;
        }
    }
    selects(&mut k, "UBox", At::Msr(0x706), At::Msr(0x70A))?;
    k.a.ret()?;
    k.finish()
}

/// Chooses every event from 80h on, and checks whether it was taken.
fn selects(k: &mut Kernel, name: &str, control: At, counter: At) -> Built<()> {
    let [mut again, mut same] = [(); 2].map(|()| k.a.create_label());
    counter.write_counter(k, 0)?;
    k.a.mov(r12d, 0x80 | ALL | EN)?;
    k.a.xor(ebx, ebx)?;
    here(&mut k.a, &mut again)?;
    write_r12(k, control)?;
    control.read(k)?;
    k.a.cmp(eax, r12d)?;
    k.a.je(same)?;
    k.a.inc(rbx)?;
    here(&mut k.a, &mut same)?;
    k.a.inc(r12d)?;
    // Up to FFh.
    k.a.cmp(r12b, 0)?;
    k.a.jne(again)?;
    control.write(k, 0)?;
    k.check_is(&format!("{name}: selects of the mesh stop that read back otherwise"), rbx, 0)?;
    // Other events count what goes by meanwhile, so the clock is chosen alone.
    counter.write_counter(k, 0)?;
    k.a.mov(r12d, CLOCKS | EN)?;
    write_r12(k, control)?;
    control.read(k)?;
    control.write(k, 0)?;
    counter.read_counter(k)?;
    // The read of the control, and its second write with what comes before that.
    let (write, read) = match control {
        At::Msr(_) => (4, 4),
        At::Pci(_, 0..0x100) => (6, 5),
        At::Pci(..) => (2, 2),
    };
    k.check_is(&format!("{name}: clocks while C0h was chosen"), rax, write + read)
}

/// Writes R12.
fn write_r12(k: &mut Kernel, at: At) -> Built<()> {
    match at {
        At::Msr(number) => {
            k.a.mov(ecx, number)?;
            k.a.mov(eax, r12d)?;
            k.a.xor(edx, edx)?;
            k.a.wrmsr()
        }
        At::Pci(at, offset) if offset < 0x100 => {
            // Selects the register, and writes it: as many instructions as a write of a constant.
            at_port(k, at.port_word(offset as u8))?;
            k.a.mov(eax, r12d)?;
            k.a.out(dx, eax)
        }
        At::Pci(at, offset) => {
            k.a.mov(rax, at.window_address(offset))?;
            k.a.mov(dword_ptr(rax), r12d)
        }
    }
}

fn at_port(k: &mut Kernel, word: u32) -> Built<()> {
    use vm_pmu_engines::x86::{CONFIGURATION_ADDRESS, CONFIGURATION_DATA};
    k.a.mov(eax, word)?;
    k.a.mov(edx, u32::from(CONFIGURATION_ADDRESS))?;
    k.a.out(dx, eax)?;
    k.a.mov(edx, u32::from(CONFIGURATION_DATA))
}
