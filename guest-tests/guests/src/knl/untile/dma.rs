//! `dma`: a device reads, writes and adds in memory, and the boxes on its way count it line by line.
//!
//! Each line is a request to the CHA that has it and comes there by PRQ; what the tile has modified is a hit. The IRP counts its
//! transactions and coherent operations (tables 8-2 and 8-3), M2PCIe what goes to the mesh, by ring: AD for the request, BL for what is
//! written. Back come BL for what is read, and AK.

use iced_x86::code_asm::*;

use super::boxes::{CHA, Kind, Unit};
use super::traffic::{Access, LINE, REGION, Traffic};
use super::{EN, INIT, RESET_COUNTERS};
use crate::runtime::{Built, Kernel, Transfer};
use vm_pmu_engines::x86::{DMA_MOST, DmaCommand, DmaRegister, Image};

/// Lines of the buffer.
const LINES: u64 = 64;
const BYTES: u32 = (LINES * LINE) as u32;
/// Where a copy goes.
const COPY: u64 = REGION + 2 * BYTES as u64;
/// What a buffer is filled with.
const BYTE: u64 = 0x5A;
/// What is added.
const ADDEND: u64 = 3;

/// Events of the IRP: the number and unit mask, as a control has them.
const IRP: [(&str, u32); 9] = [
    ("IRP: reads", 0x0116),
    ("IRP: writes", 0x0216),
    ("IRP: atomics", 0x1016),
    ("IRP: PCIRdCur", 0x0113),
    ("IRP: RFO", 0x0813),
    ("IRP: I2M", 0x1013),
    ("IRP: WbMtoI", 0x4013),
    ("IRP: data from memory", 0x0001),
    ("IRP: acknowledges", 0x000A),
];
/// What M2PCIe sends on AD and on BL, by both of its ports.
const PORT: [(&str, u32); 2] = [("M2PCIe: sent by AD", 0x1124), ("M2PCIe: sent by BL", 0x4424)];
/// Requests by PRQ into the tables of the CHAs: misses and hits. Those of the tiles that miss.
const TABLES: [(&str, u32); 2] = [("CHAs: requests of devices that miss", 0x2435), ("CHAs: that hit", 0x1435)];
const OF_TILES: u32 = 0x2135;

/// A transfer, and how many lines of each kind are in it.
struct Lines {
    name: &'static str,
    command: DmaCommand,
    source: u64,
    destination: u64,
    bytes: u32,
    /// Lines that the tile has modified before.
    modified: u64,
    reads: u64,
    whole: u64,
    parts: u64,
    atomics: u64,
}

impl Lines {
    const NONE: Lines = Lines {
        name: "",
        command: DmaCommand::Read,
        source: REGION,
        destination: REGION,
        bytes: BYTES,
        modified: 0,
        reads: 0,
        whole: 0,
        parts: 0,
        atomics: 0,
    };

    /// What the device is told.
    const fn registers(&self) -> Transfer {
        let value = if matches!(self.command, DmaCommand::Add) { ADDEND } else { BYTE };
        Transfer { command: self.command, source: self.source, destination: self.destination, bytes: self.bytes, value }
    }

    /// What the counters of [`IRP`] count.
    const fn irp(&self) -> [u64; 9] {
        let owned = self.parts + self.atomics;
        let written = self.whole + self.parts;
        let all = self.reads + written + self.atomics;
        // What is changed in part is read first.
        [self.reads, written, self.atomics, self.reads, owned, self.whole, owned + self.whole, self.reads + owned, all]
    }

    /// What those of [`PORT`] count.
    const fn port(&self) -> [u64; 2] {
        let changed = self.whole + self.parts + self.atomics;
        [self.reads + changed, changed]
    }

    /// What those of [`TABLES`] count.
    const fn tables(&self) -> [u64; 2] {
        [self.port()[0] - self.modified, self.modified]
    }
}

const TRANSFERS: [Lines; 7] = [
    Lines { name: "reads", reads: LINES, ..Lines::NONE },
    Lines { name: "writes of whole lines", command: DmaCommand::Fill, whole: LINES, ..Lines::NONE },
    // Four bytes at the end of a line, four at the beginning of the next.
    Lines {
        name: "a write across two lines",
        command: DmaCommand::Fill,
        destination: REGION + LINE - 4,
        bytes: 8,
        parts: 2,
        ..Lines::NONE
    },
    Lines { name: "an addition", command: DmaCommand::Add, atomics: 1, ..Lines::NONE },
    Lines { name: "a copy", command: DmaCommand::Copy, destination: COPY, reads: LINES, whole: LINES, ..Lines::NONE },
    Lines { name: "reads of what the tile modified", modified: LINES, reads: LINES, ..Lines::NONE },
    Lines { name: "writes over what the tile modified", command: DmaCommand::Fill, modified: LINES, whole: LINES, ..Lines::NONE },
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    let command = k.dma_command()?;
    k.main()?;
    k.dma_read(DmaRegister::Identity)?;
    k.check_is("the device is there", rax, 0xD3A0_1234)?;
    traffic.fill_chas(&mut k, CHA, INIT)?;
    traffic.warm(&mut k, REGION, LINES, LINE)?;
    for transfer in &TRANSFERS {
        boxes(&mut k, &traffic, command, transfer)?;
    }
    contents(&mut k, command)?;
    caches(&mut k, &traffic, command)?;
    refused(&mut k, command)?;
    k.a.ret()?;
    k.finish()
}

/// Counts a transfer at every box, two events of the IRP at a time.
fn boxes(k: &mut Kernel, traffic: &Traffic, command: CodeLabel, transfer: &Lines) -> Built<()> {
    let [irp, port] = [Kind::Irp, Kind::M2pcie].map(|kind| Unit { kind, number: 0 });
    for (pair, rights) in IRP.chunks(2).zip(transfer.irp().chunks(2)) {
        for base in [REGION, COPY] {
            traffic.touch(k, Access::Flush, base, LINES, LINE)?;
        }
        if transfer.modified != 0 {
            traffic.touch(k, Access::Store, REGION, transfer.modified, LINE)?;
        }
        for unit in [irp, port] {
            unit.control().write(k, INIT)?;
        }
        for (n, (_, event)) in (0..).zip(pair) {
            irp.counter_control(n).write(k, event | EN)?;
        }
        for (n, (_, event)) in (0..).zip(PORT) {
            port.counter_control(n).write(k, event | EN)?;
        }
        for (n, (_, event)) in (1..).zip(TABLES) {
            traffic.fill_chas(k, CHA + n, event | EN)?;
        }
        traffic.fill_chas(k, CHA, RESET_COUNTERS)?;
        k.dma_prepare(&transfer.registers())?;
        traffic.window(k, command)?;
        for (n, ((what, _), right)) in (0..).zip(pair.iter().zip(rights)) {
            irp.counter(n).read_counter(k)?;
            k.check_is(&format!("{}: {what}", transfer.name), rax, *right)?;
        }
        for (n, ((what, _), right)) in (0..).zip(PORT.iter().zip(transfer.port())) {
            port.counter(n).read_counter(k)?;
            k.check_is(&format!("{}: {what}", transfer.name), rax, right)?;
        }
        for (n, ((what, _), right)) in (8..).zip(TABLES.iter().zip(transfer.tables())) {
            traffic.sum_chas(k, CHA + n)?;
            k.check_is(&format!("{}: {what}", transfer.name), rax, right)?;
        }
    }
    Ok(())
}

/// Does a transfer while no box counts.
fn unmeasured(k: &mut Kernel, command: CodeLabel, transfer: &Lines) -> Built<()> {
    k.dma_prepare(&transfer.registers())?;
    k.a.call(command)
}

/// The bytes get where they should.
fn contents(k: &mut Kernel, command: CodeLabel) -> Built<()> {
    let [read, fill, _, add, copy, ..] = &TRANSFERS;
    for transfer in [fill, copy, add] {
        unmeasured(k, command, transfer)?;
    }
    k.dma_read(DmaRegister::Value)?;
    k.check_is("what was there before the addition", rax, BYTE * 0x0101_0101)?;
    k.a.mov(rbx, COPY + u64::from(BYTES) - 8)?;
    k.a.mov(rax, qword_ptr(rbx))?;
    k.check_is("the last eight bytes of the copy", rax, BYTE * 0x0101_0101_0101_0101)?;
    k.a.mov(rbx, REGION)?;
    k.a.mov(rax, qword_ptr(rbx))?;
    k.check_is("the sum", rax, BYTE * 0x0101_0101_0101_0101 + ADDEND)?;
    unmeasured(k, command, read)?;
    k.dma_read(DmaRegister::Value)?;
    // Only the lowest byte was changed by the addition: 5Ah + 3 has no carry.
    k.check_is("the sum of all bytes", rax, BYTE * u64::from(BYTES) + ADDEND)
}

/// The tile fetches again what a device has written, and keeps what a device has read.
fn caches(k: &mut Kernel, traffic: &Traffic, command: CodeLabel) -> Built<()> {
    let [read, fill, ..] = &TRANSFERS;
    traffic.fill_chas(k, CHA + 2, OF_TILES | EN)?;
    for (what, transfer, right) in [("read", read, 0), ("written", fill, LINES)] {
        traffic.touch(k, Access::Load, REGION, LINES, LINE)?;
        unmeasured(k, command, transfer)?;
        traffic.fill_chas(k, CHA, RESET_COUNTERS)?;
        traffic.measure(k, Access::Load, REGION, LINES, LINE)?;
        traffic.sum_chas(k, CHA + 9)?;
        k.check_is(&format!("requests of the tile for what a device has {what}"), rax, right)?;
    }
    Ok(())
}

/// A command that cannot be done does nothing.
fn refused(k: &mut Kernel, command: CodeLabel) -> Built<()> {
    let [_, fill, ..] = TRANSFERS;
    unmeasured(k, command, &Lines { bytes: DMA_MOST + 1, ..fill })?;
    k.dma_read(DmaRegister::Command)?;
    k.check_is("a transfer that is too long is refused", rax, 1)
}
