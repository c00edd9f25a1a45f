//! One emulated processor at one privilege level, and its registers.
//!
//! Unicorn's interface cannot change the privilege level in 64-bit mode, only instructions can. So each level has its own emulator: that of
//! level 3 gets there with an IRETQ before it sees the machine's memory.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use unicorn_engine::{Arch, HookType, Mode, Prot, RegisterX86 as Register, Unicorn, X86CpuModel, uc_error};

use super::super::ram::Emulator;
use super::tap::{Seen, Tap};
use crate::memory::{Memory, PAGE};
use crate::x86::executor::inside::{Core, RFLAGS_FIXED, RFLAGS_STATUS_AND_DIRECTION};

/// The general-purpose registers by their encoding.
const GENERAL: [Register; 16] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RSP,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// What is read back: the general-purpose registers, RFLAGS and RIP.
const READ: usize = 18;

const CR0_PE: u64 = 1;
const CR4_PAE: u64 = 1 << 5;
const MSR_EFER: u32 = 0xC000_0080;

/// How instructions reach Unicorn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// One at a time, each with its accesses.
    Stepwise,
    /// Whole blocks at one go.
    Blocks,
}

/// The registers that are not general, as they were last given to Unicorn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct System {
    cr0: u64,
    cr3: u64,
    cr4: u64,
    efer: u64,
    bases: [u64; 2],
}

/// One emulator.
#[derive(Debug)]
pub(super) struct Processor {
    emulator: Emulator<Tap>,
    /// What Unicorn holds.
    general: [u64; 16],
    flags: u64,
    vectors: [u128; 16],
    system: System,
    /// The count of changes of the interpreter's translations when Unicorn's were last dropped.
    translations: u32,
    /// How often the code of each page in RAM had been written when something of it was last translated.
    generations: HashMap<u64, u64>,
    /// Instructions before which blocks stop.
    stops: HashSet<u64>,
}

fn vector(number: usize) -> i32 {
    Register::XMM0 as i32 + number as i32
}

impl Processor {
    /// A processor at `level`, 0 or 3.
    ///
    /// # Errors
    /// The error of Unicorn.
    pub(super) fn new(memory: &Arc<Memory>, level: u8, pace: Pace) -> Result<Processor, uc_error> {
        let prepare = |unicorn: &mut Unicorn<'static, Tap>| {
            unicorn.ctl_set_cpu_model(X86CpuModel::HASWELL.into())?;
            if level == 3 {
                descend(unicorn)?;
            }
            hooks(unicorn, pace)
        };
        let emulator = Emulator::new((Arch::X86, Mode::MODE_64), Tap::new(memory), memory, prepare)?;
        let mut processor = Processor {
            emulator,
            general: [0; 16],
            flags: 0,
            vectors: [0; 16],
            system: System::default(),
            translations: u32::MAX,
            generations: HashMap::new(),
            stops: HashSet::new(),
        };
        for register in GENERAL {
            processor.emulator.unicorn().reg_write(register, 0)?;
        }
        for number in 0..processor.vectors.len() {
            processor.emulator.unicorn().reg_write_long(vector(number), &[0; 16])?;
        }
        Ok(processor)
    }

    pub(super) fn tap(&mut self) -> &mut Tap {
        self.emulator.unicorn().get_data_mut()
    }

    /// Gives Unicorn what has changed since it had the registers last.
    pub(super) fn take_over(&mut self, core: &Core) -> Result<(), uc_error> {
        self.take_over_system(core)?;
        let unicorn = self.emulator.unicorn();
        for ((register, held), value) in GENERAL.iter().zip(&mut self.general).zip(&core.gpr) {
            if held != value {
                unicorn.reg_write(*register, *value)?;
                *held = *value;
            }
        }
        let flags = core.rflags & RFLAGS_STATUS_AND_DIRECTION | RFLAGS_FIXED;
        if self.flags != flags {
            unicorn.reg_write(Register::RFLAGS, flags)?;
            self.flags = flags;
        }
        for (number, (held, value)) in self.vectors.iter_mut().zip(&core.xmm).enumerate() {
            if held != value {
                unicorn.reg_write_long(vector(number), &value.to_le_bytes())?;
                *held = *value;
            }
        }
        Ok(())
    }

    #[inline]
    fn take_over_system(&mut self, core: &Core) -> Result<(), uc_error> {
        let [_, fs, gs] = core.bases;
        let system = System { cr0: core.cr0, cr3: core.cr3, cr4: core.cr4, efer: core.msrs.efer, bases: [fs, gs] };
        if self.system != system {
            self.write_system(&system)?;
        }
        let translations = core.tlb.epoch();
        if self.translations != translations {
            self.emulator.unicorn().ctl_flush_tlb()?;
            self.tap().forget();
            self.translations = translations;
        }
        Ok(())
    }

    fn write_system(&mut self, system: &System) -> Result<(), uc_error> {
        let unicorn = self.emulator.unicorn();
        let mut efer = [0; 16];
        efer[..4].copy_from_slice(&MSR_EFER.to_le_bytes());
        efer[8..].copy_from_slice(&system.efer.to_le_bytes());
        unicorn.reg_write_long(Register::MSR, &efer)?;
        unicorn.reg_write(Register::CR4, system.cr4)?;
        unicorn.reg_write(Register::CR3, system.cr3)?;
        unicorn.reg_write(Register::CR0, system.cr0)?;
        let [fs, gs] = system.bases;
        unicorn.reg_write(Register::FS_BASE, fs)?;
        unicorn.reg_write(Register::GS_BASE, gs)?;
        self.system = *system;
        Ok(())
    }

    /// Executes from `address` on: one instruction, or with `None` until a hook stops it. Returns where execution is then, or `None` if an
    /// exception or something other than RAM ended it.
    pub(super) fn run(&mut self, address: u64, count: Option<usize>) -> Result<(u64, bool), uc_error> {
        let ended = self.emulator.unicorn().emu_start(address, 0, 0, count.unwrap_or(0));
        let mut registers = [Register::RIP; READ];
        registers[..16].copy_from_slice(&GENERAL);
        registers[16] = Register::RFLAGS;
        let values = self.emulator.unicorn().reg_read_batch(&mut registers, READ as i32)?;
        for (held, value) in self.general.iter_mut().zip(&values) {
            *held = *value;
        }
        self.flags = values.get(16).copied().unwrap_or(0);
        let stopped = ended.is_err() || self.tap().raised;
        Ok((values.get(17).copied().unwrap_or(0), stopped))
    }

    /// Gives the general-purpose registers and flags back.
    pub(super) fn give_back(&mut self, core: &mut Core) {
        for (slot, value) in core.gpr.iter_mut().zip(&self.general) {
            *slot = *value;
        }
        core.rflags = core.rflags & !RFLAGS_STATUS_AND_DIRECTION | self.flags & RFLAGS_STATUS_AND_DIRECTION;
    }

    /// Gives the vector registers back.
    pub(super) fn give_vectors_back(&mut self, core: &mut Core) -> Result<(), uc_error> {
        for (number, (held, slot)) in self.vectors.iter_mut().zip(&mut core.xmm).enumerate() {
            let bytes = self.emulator.unicorn().reg_read_long(vector(number))?;
            *held = bytes.iter().take(16).rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
            *slot = *held;
        }
        Ok(())
    }

    /// Drops what was translated of the page of `address`, `physical` in RAM, if its code has been written since the last call.
    pub(super) fn refresh(&mut self, address: u64, physical: u64, memory: &Memory) -> Result<(), uc_error> {
        let generation = memory.generation(physical);
        match self.generations.insert(physical / PAGE, generation) {
            Some(before) if before != generation => {
                let page = address - address % PAGE;
                self.emulator.unicorn().ctl_remove_cache(page, page + PAGE)
            }
            _ => Ok(()),
        }
    }

    /// Stops blocks before the instruction at `address`, and drops the `block` that was translated beyond.
    pub(super) fn stop_at(&mut self, address: u64, block: (u64, u32)) -> Result<(), uc_error> {
        let (start, size) = block;
        self.emulator.unicorn().ctl_remove_cache(start, start + u64::from(size))?;
        if !self.stops.insert(address) {
            return Ok(());
        }
        let stop = |unicorn: &mut Unicorn<'_, Tap>, address: u64, _| {
            unicorn.get_data_mut().leave(address);
            // It cannot fail for an emulator that runs.
            let _ = unicorn.emu_stop();
        };
        self.emulator.unicorn().add_code_hook(address, address, stop).map(|_| ())
    }
}

fn hooks(unicorn: &mut Unicorn<'static, Tap>, pace: Pace) -> Result<(), uc_error> {
    unicorn.add_intr_hook(|unicorn, _| {
        unicorn.get_data_mut().raised = true;
        let _ = unicorn.emu_stop();
    })?;
    match pace {
        Pace::Stepwise => unicorn.add_mem_hook(HookType::MEM_READ | HookType::MEM_WRITE, 1, 0, |unicorn, kind, physical, size, _| {
            let is_write = kind == unicorn_engine::MemType::WRITE;
            unicorn.get_data_mut().access(Seen { physical, size: size as u8, is_write });
            true
        })?,
        Pace::Blocks => {
            unicorn.add_mem_hook(HookType::MEM_WRITE, 1, 0, |unicorn, _, physical, size, _| {
                if unicorn.get_data_mut().store(physical, size as u8) {
                    let _ = unicorn.emu_stop();
                }
                true
            })?;
            unicorn.add_block_hook(1, 0, |unicorn, address, size| {
                if !unicorn.get_data_mut().enter(address, size) {
                    let _ = unicorn.emu_stop();
                }
            })?
        }
    };
    Ok(())
}

/// Where the descriptors and the stack are that take an emulator to level 3.
const SCRATCH: u64 = 0x1000;
const SCRATCH_CODE: u64 = SCRATCH + 0x200;
const SCRATCH_STACK: u64 = SCRATCH + 0x100;
const USER_CODE: u64 = 0x08 | 3;
const USER_DATA: u64 = 0x10 | 3;

/// Takes an emulator without its own memory to level 3, and leaves it without again.
fn descend(unicorn: &mut Unicorn<'static, Tap>) -> Result<(), uc_error> {
    unicorn.mem_map(SCRATCH, 0x1000, Prot::ALL)?;
    let put = |unicorn: &mut Unicorn<'static, Tap>, at: u64, words: &[u64]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        unicorn.mem_write(at, &bytes)
    };
    // Nothing, then 64-bit code and data of level 3.
    put(unicorn, SCRATCH, &[0, 0x00af_fb00_0000_ffff, 0x00cf_f300_0000_ffff])?;
    // What IRETQ takes: RIP, CS, RFLAGS, RSP, SS.
    put(unicorn, SCRATCH_STACK, &[SCRATCH_CODE + 0x10, USER_CODE, RFLAGS_FIXED, SCRATCH_STACK, USER_DATA])?;
    // IRETQ, and a NOP at its target.
    unicorn.mem_write(SCRATCH_CODE, &[0x48, 0xcf])?;
    unicorn.mem_write(SCRATCH_CODE + 0x10, &[0x90])?;
    let mut table = [0; 24];
    table[8..16].copy_from_slice(&SCRATCH.to_le_bytes());
    table[16..20].copy_from_slice(&0x17u32.to_le_bytes());
    unicorn.reg_write_long(Register::GDTR, &table)?;
    unicorn.reg_write(Register::CR0, CR0_PE)?;
    unicorn.reg_write(Register::CR4, CR4_PAE)?;
    unicorn.reg_write(Register::RSP, SCRATCH_STACK)?;
    unicorn.emu_start(SCRATCH_CODE, SCRATCH_CODE + 0x10, 0, 0)?;
    if unicorn.reg_read(Register::CS)? & 3 != 3 {
        return Err(uc_error::MODE);
    }
    unicorn.mem_unmap(SCRATCH, 0x1000)?;
    unicorn.ctl_flush_tb()?;
    unicorn.ctl_flush_tlb()
}
