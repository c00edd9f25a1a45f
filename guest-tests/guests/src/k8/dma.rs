//! `dma`: a device reads, writes and adds in memory, and the northbridge counts its requests, its probes and DRAM.
//!
//! The device accesses a line of 64 bytes at a time. Each access is an upstream request and probes the core's caches. What the core has
//! modified answers a read in place of DRAM; a line that is written whole needs no data of it, and counts as clean; one that is changed
//! where it is goes to DRAM first.

use iced_x86::code_asm::*;

use super::measure::{Count, Round, Warm, begin, clear, count, read, rounds};
use crate::runtime::{Built, Kernel, Transfer, here};
use vm_pmu_engines::x86::{DmaCommand, DmaRegister, Image};

/// Lines of the buffer, of 64 bytes.
const LINES: u64 = 64;
const LINE: u64 = 64;
/// Memory that nothing else uses.
const REGION: u64 = 8 << 20;

/// What the core has of the buffer before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// Nothing.
    Nothing,
    /// All lines, unchanged.
    Clean,
    /// All lines, modified.
    Modified,
}

/// What is counted of a transfer, in lines.
struct Right {
    reads: u64,
    writes: u64,
    misses: u64,
    clean: u64,
    /// A dirty copy while DRAM is accessed.
    dirty: u64,
    /// A dirty copy in place of DRAM.
    cancelled: u64,
    dram: u64,
}

const NONE: Right = Right { reads: 0, writes: 0, misses: 0, clean: 0, dirty: 0, cancelled: 0, dram: 0 };

impl Right {
    const fn counts(&self, whole: u64) -> [Count; 14] {
        let all = self.reads + self.writes;
        [
            count("PROBE:UPSTREAM_NON_DISPLAY_REFRESH_READS", 0x20EC, self.reads),
            count("PROBE:UPSTREAM_WRITES", 0x40EC, self.writes),
            count("PROBE:MISS", 0x01EC, self.misses),
            count("PROBE:HIT_CLEAN", 0x02EC, self.clean),
            count("PROBE:HIT_DIRTY_NO_MEMORY_CANCEL", 0x04EC, self.dirty),
            count("PROBE:HIT_DIRTY_WITH_MEMORY_CANCEL", 0x08EC, self.cancelled),
            count("DRAM_ACCESSES_PAGE, all", 0x07E0, self.dram),
            count("CPU_IO_REQUESTS_TO_MEMORY_IO, from devices here to memory here", 0xA2E9, all),
            // The store that gives the command.
            count("CPU_IO_REQUESTS_TO_MEMORY_IO, from the core to I/O here", 0xA4E9, 1),
            count("SIZED_COMMANDS:NON_POSTED_WRITE_DWORD", 0x02EB, 1),
            count("SIZED_COMMANDS:POSTED_WRITE_BYTE", 0x04EB, self.writes - whole),
            count("SIZED_COMMANDS:POSTED_WRITE_DWORD", 0x08EB, whole),
            count("SIZED_COMMANDS:READ_DWORD_1_16_DWORDS", 0x20EB, self.reads),
            count("SIZED_BLOCKS:64_BYTE_READS", 0x20E5, self.reads),
        ]
    }
}

const fn transfer(command: DmaCommand, bytes: u64) -> Transfer {
    Transfer { command, source: REGION, destination: REGION, bytes: bytes as u32, value: 1 }
}

const READ: Transfer = transfer(DmaCommand::Read, LINES * LINE);
const FILL: Transfer = transfer(DmaCommand::Fill, LINES * LINE);
const PART: Transfer = transfer(DmaCommand::Fill, 8);

const CASES: [(&str, Transfer, Held, Right); 7] = [
    ("reads", READ, Held::Nothing, Right { reads: LINES, misses: LINES, dram: LINES, ..NONE }),
    ("reads of what the core has", READ, Held::Clean, Right { reads: LINES, clean: LINES, dram: LINES, ..NONE }),
    ("reads of what the core modified", READ, Held::Modified, Right { reads: LINES, cancelled: LINES, ..NONE }),
    ("writes", FILL, Held::Nothing, Right { writes: LINES, misses: LINES, dram: LINES, ..NONE }),
    ("writes over what the core modified", FILL, Held::Modified, Right { writes: LINES, clean: LINES, dram: LINES, ..NONE }),
    ("a write of a part", PART, Held::Nothing, Right { writes: 1, misses: 1, dram: 1, ..NONE }),
    // The line goes to DRAM, and the part after it.
    ("a write of a part of what the core modified", PART, Held::Modified, Right { writes: 1, dirty: 1, dram: 2, ..NONE }),
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    k.main()?;
    begin(&mut k)?;
    for (what, transfer, held, right) in &CASES {
        let before = |k: &mut Kernel| {
            lines(k, None)?;
            if *held != Held::Nothing {
                lines(k, Some(*held))?;
            }
            k.dma_prepare(transfer)
        };
        let window = |k: &mut Kernel| {
            clear(&mut k.a)?;
            k.dma_start()?;
            read(&mut k.a)
        };
        let nothing = |_: &mut Kernel| Ok(());
        rounds(
            &mut k,
            what,
            &right.counts(if transfer.bytes == 8 { 0 } else { right.writes }),
            &Round { warm: Warm::Rounds(2), before: &before, window: &window, after: &nothing },
        )?;
    }
    // The core reads what the device wrote, though it had the line.
    for value in [0x11, 0x22] {
        k.dma_prepare(&Transfer { value, ..PART })?;
        k.dma_start()?;
        k.a.mov(rbx, REGION)?;
        k.a.mov(rax, qword_ptr(rbx))?;
        k.check_is("the bytes that the device wrote", rax, value * 0x0101_0101_0101_0101)?;
    }
    k.dma_prepare(&Transfer { command: DmaCommand::Add, value: 5, ..PART })?;
    k.dma_start()?;
    k.dma_read(DmaRegister::Value)?;
    k.check_is("what was there before the addition", rax, 0x2222_2222)?;
    k.a.mov(rax, qword_ptr(rbx))?;
    k.check_is("the sum", rax, 0x2222_2222_2222_2227)?;
    k.a.ret()?;
    k.finish()
}

/// Has the core hold all lines of the buffer, or drop them. Changes RBX and RCX.
fn lines(k: &mut Kernel, held: Option<Held>) -> Built<()> {
    let mut again = k.a.create_label();
    k.a.mov(rbx, REGION)?;
    k.a.mov(ecx, LINES as u32)?;
    here(&mut k.a, &mut again)?;
    match held {
        Some(Held::Modified) => k.a.mov(qword_ptr(rbx), rcx)?,
        Some(_) => k.a.mov(rax, qword_ptr(rbx))?,
        None => k.a.clflush(byte_ptr(rbx))?,
    }
    k.a.add(rbx, LINE as i32)?;
    k.a.dec(ecx)?;
    k.a.jne(again)
}
