//! The state guests start in.

use std::ops::Range;

use super::exec::control::{flat_code, flat_data};
use super::state::{CS, Core, RDI, RDX, RSI, RSP, SS, Segment, Table};
use crate::image::ImageError;
use crate::memory::{Memory, PAGE};

/// Selectors of the descriptor table guests start with.
///
/// The layout suits SYSCALL and SYSRET with STAR\[47:32\] = 8 and STAR\[63:48\] = 10h.
pub mod selector {
    /// 64-bit code for CPL 0.
    pub const CODE: u16 = 0x08;
    /// Data for CPL 0.
    pub const DATA: u16 = 0x10;
    /// Data for CPL 3.
    pub const USER_DATA: u16 = 0x18 | 3;
    /// 64-bit code for CPL 3.
    pub const USER_CODE: u16 = 0x20 | 3;
    /// The task-state segment of CPU 0; that of CPU n is 16 n further.
    pub const TASK: u16 = 0x28;
}

/// Bytes of each of a CPU's three stacks: the one it starts on, that of interrupts from CPL 3
/// (RSP0) and that of interrupt-stack-table entry 1.
pub const STACK_SIZE: u64 = 16 * 1024;

const LARGE: u64 = 2 << 20;
const GIB: u64 = 1 << 30;
const TABLE: u64 = 0x7;
const ENTRY: u64 = 0x83;
const USER: u64 = 4;
const TASK_SIZE: u64 = 0x68;

/// Where the engine put its tables and stacks, which take the top of RAM.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Where RAM a guest may use ends.
    pub(crate) usable: u64,
    tables: u64,
    gib: u64,
    gdt: u64,
    tasks: u64,
    stacks: u64,
    cpus: u64,
}

fn round_up(n: u64, to: u64) -> u64 {
    n.div_ceil(to) * to
}

impl Layout {
    pub(crate) fn new(ram: u64, cpus: usize) -> Option<Self> {
        let cpus = cpus as u64;
        // Everything up to 4 GiB, so that the local APIC and devices are mapped.
        let gib = ram.div_ceil(GIB).max(4);
        let gdt_size = round_up(0x28 + 16 * cpus, PAGE);
        let tasks_size = round_up(cpus * 128, PAGE);
        let need = (2 + gib) * PAGE + gdt_size + tasks_size + 3 * STACK_SIZE * cpus;
        let usable = ram.checked_sub(need)?;
        let gdt = usable + (2 + gib) * PAGE;
        let tasks = gdt + gdt_size;
        let stacks = tasks + tasks_size;
        (usable > 0).then_some(Self { usable, tables: usable, gib, gdt, tasks, stacks, cpus })
    }

    fn stack_top(&self, cpu: u64, which: u64) -> u64 {
        self.stacks + (3 * cpu + which + 1) * STACK_SIZE
    }

    /// Writes page tables, descriptor table and task-state segments.
    pub(crate) fn write(&self, memory: &Memory, user: &[Range<u64>]) -> Result<(), ImageError> {
        let put = |at: u64, value: u64| memory.write_bytes(at, &value.to_le_bytes());
        let directory_pointers = self.tables + PAGE;
        put(self.tables, directory_pointers | TABLE)?;
        for g in 0..self.gib {
            let directory = directory_pointers + PAGE * (g + 1);
            put(directory_pointers + 8 * g, directory | TABLE)?;
            for n in 0..512 {
                let start = g * GIB + n * LARGE;
                let open = user.iter().any(|r| r.start < start + LARGE && r.end > start);
                put(directory + 8 * n, start | ENTRY | if open { USER } else { 0 })?;
            }
        }
        let flat = [0, 0x00af_9b00_0000_ffff, 0x00cf_9300_0000_ffff, 0x00cf_f300_0000_ffff, 0x00af_fb00_0000_ffff];
        for (n, descriptor) in (0u64..).zip(flat) {
            put(self.gdt + 8 * n, descriptor)?;
        }
        for cpu in 0..self.cpus {
            let base = self.task(cpu);
            let low = (TASK_SIZE - 1) | (base & 0xff_ffff) << 16 | 0x8b << 40 | (base >> 24 & 0xff) << 56;
            let at = self.gdt + u64::from(selector::TASK) + 16 * cpu;
            put(at, low)?;
            put(at + 8, base >> 32)?;
            put(base + 4, self.stack_top(cpu, 1))?;
            put(base + 0x24, self.stack_top(cpu, 2))?;
            // No I/O permission bit map.
            put(base + 0x60, TASK_SIZE << 48)?;
        }
        Ok(())
    }

    fn task(&self, cpu: u64) -> u64 {
        self.tasks + 128 * cpu
    }

    /// Puts a CPU into its first state.
    pub(crate) fn start(&self, core: &mut Core, entry: u64) {
        let cpu = core.index as u64;
        core.rip = entry;
        core.cr3 = self.tables;
        core.gpr[RDI] = cpu;
        core.gpr[RSI] = self.cpus;
        core.gpr[RDX] = self.usable;
        core.gpr[RSP] = self.stack_top(cpu, 0);
        let limit = selector::TASK + 16 * self.cpus as u16 - 1;
        core.gdtr = Table { base: self.gdt, limit };
        core.seg = [flat_data(selector::DATA, 0); 6];
        core.seg[CS] = flat_code(selector::CODE, 0);
        core.seg[SS] = flat_data(selector::DATA, 0);
        core.refresh_bases();
        core.tr = Segment { selector: selector::TASK + 16 * cpu as u16, base: self.task(cpu), limit: TASK_SIZE as u32 - 1, access: 0x8b };
    }
}
