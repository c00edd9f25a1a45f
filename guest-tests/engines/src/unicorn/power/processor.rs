//! One Unicorn as the part of a CPU that computes.

use std::sync::Arc;

use unicorn_engine::{Arch, MemType, Mode, Prot, RegisterPPC, TlbEntry, TlbType, Unicorn, uc_error};

use crate::memory::Memory;
use crate::power::registers::msr;
use crate::power::state::Core;
use crate::unicorn::ram::Emulator;

/// A page beyond RAM, and within reach of 32-bit mode, with what moves XER: Unicorn's interface leaves its arithmetic bits out.
pub(super) const MOVES: u64 = 0xFFFF_F000;
/// `mfxer` and `mtxer` of GPR 0, which are there in both byte orders.
const MOVES_OF_XER: [u32; 2] = [0x7C01_02A6, 0x7C01_03A6];
/// The address bits that count: the engine translates nothing.
const REAL: u64 = (1 << 60) - 1;
/// The bits of MSR that Unicorn gets. All others are the engine's, and instructions that depend on them do not come here.
const GIVEN: u64 = msr::SF | msr::LE | msr::FP;

/// What Unicorn's hooks have noticed.
#[derive(Debug, Default)]
pub(super) struct Noticed {
    /// An instruction raised an exception, and Unicorn is after it.
    exception: bool,
}

/// The registers that instructions without privilege use.
#[derive(Clone, Debug)]
struct Registers {
    gpr: [u64; 32],
    fpr: [u64; 32],
    cr: u32,
    lr: u64,
    ctr: u64,
    xer: u64,
    msr: u64,
}

/// Unicorn's registers, and which side has the newer values.
#[derive(Debug)]
pub(super) struct Processor {
    emulator: Emulator<Noticed>,
    /// What Unicorn has, as far as the engine knows.
    known: Registers,
    /// Unicorn has run since the engine took its registers.
    ahead: bool,
    /// Something that ran may have changed XER.
    xer_ahead: bool,
    /// Something that ran may have changed floating-point registers.
    fpr_ahead: bool,
}

fn numbered(first: RegisterPPC, number: usize) -> i32 {
    first as i32 + number as i32
}

/// Every address is mapped to itself, within RAM; the page of moves can only be executed.
fn translate(address: u64, kind: MemType, ram: u64) -> Option<TlbEntry> {
    let paddr = address & REAL;
    let moves = address == MOVES && kind == MemType::FETCH;
    (paddr < ram || moves).then_some(TlbEntry { paddr, perms: if moves { Prot::EXEC } else { Prot::ALL } })
}

fn prepare(unicorn: &mut Unicorn<'static, Noticed>, ram: u64) -> Result<(), uc_error> {
    unicorn.ctl_set_tlb_type(TlbType::VIRTUAL)?;
    unicorn.add_tlb_hook(1, 0, move |_, address, kind| translate(address, kind, ram))?;
    unicorn.add_intr_hook(|unicorn, _| {
        unicorn.get_data_mut().exception = true;
        // A refusal cannot be handled here: the run ends by its count.
        let _ = unicorn.emu_stop();
    })?;
    unicorn.mem_map(MOVES, 0x1000, Prot::ALL)?;
    for (place, word) in (0..).zip(MOVES_OF_XER) {
        unicorn.mem_write(MOVES + 4 * place, &word.to_be_bytes())?;
        unicorn.mem_write(MOVES + 8 + 4 * place, &word.to_le_bytes())?;
    }
    unicorn.reg_write(RegisterPPC::MSR, msr::SF)
}

impl Processor {
    /// A Unicorn on `memory`, all of whose registers are 0.
    ///
    /// # Errors
    /// The error of Unicorn.
    pub(super) fn new(memory: &Arc<Memory>) -> Result<Processor, uc_error> {
        let ram = memory.size();
        // Unicorn's newest processor, which has all of what POWER9 has: asked for a POWER9 by its number, release 2.1.5 takes the number
        // for that of a 32-bit processor.
        let emulator =
            Emulator::new((Arch::PPC, Mode::PPC64 | Mode::BIG_ENDIAN), Noticed::default(), memory, |unicorn| prepare(unicorn, ram))?;
        let known = Registers { gpr: [0; 32], fpr: [0; 32], cr: 0, lr: 0, ctr: 0, xer: 0, msr: msr::SF };
        Ok(Processor { emulator, known, ahead: false, xer_ahead: false, fpr_ahead: false })
    }

    /// Gives Unicorn the registers of `core`, unless it has newer ones.
    pub(super) fn load_registers(&mut self, core: &Core) -> Result<(), uc_error> {
        let unicorn = self.emulator.unicorn();
        let given = core.msr & GIVEN;
        if self.known.msr != given {
            unicorn.reg_write(RegisterPPC::MSR, given)?;
            self.known.msr = given;
        }
        if self.ahead {
            return Ok(());
        }
        for (number, (known, now)) in self.known.gpr.iter_mut().zip(&core.gpr).enumerate() {
            if known != now {
                unicorn.reg_write(numbered(RegisterPPC::R0, number), *now)?;
                *known = *now;
            }
        }
        for (number, (known, now)) in self.known.fpr.iter_mut().zip(&core.fpr).enumerate() {
            if known != now {
                unicorn.reg_write(numbered(RegisterPPC::FPR0, number), *now)?;
                *known = *now;
            }
        }
        if self.known.cr != core.cr {
            unicorn.reg_write(RegisterPPC::CR, core.cr.into())?;
            self.known.cr = core.cr;
        }
        for (register, known, now) in [(RegisterPPC::LR, &mut self.known.lr, core.lr), (RegisterPPC::CTR, &mut self.known.ctr, core.ctr)] {
            if *known != now {
                unicorn.reg_write(register, now)?;
                *known = now;
            }
        }
        if self.known.xer != core.xer {
            unicorn.reg_write(RegisterPPC::R0, core.xer)?;
            self.move_xer(1)?;
            self.emulator.unicorn().reg_write(RegisterPPC::R0, core.gpr[0])?;
            self.known.xer = core.xer;
        }
        Ok(())
    }

    /// Has Unicorn execute the move of XER of this number.
    fn move_xer(&mut self, number: u64) -> Result<(), uc_error> {
        let order = if self.known.msr & msr::LE != 0 { 8 } else { 0 };
        self.emulator.unicorn().emu_start(MOVES + order + 4 * number, 0, 0, 1)
    }

    /// Takes Unicorn's registers, if it has run.
    pub(super) fn take_back(&mut self, core: &mut Core) -> Result<(), uc_error> {
        if !std::mem::take(&mut self.ahead) {
            return Ok(());
        }
        let unicorn = self.emulator.unicorn();
        for (number, gpr) in core.gpr.iter_mut().enumerate() {
            *gpr = unicorn.reg_read(numbered(RegisterPPC::R0, number))?;
        }
        if std::mem::take(&mut self.fpr_ahead) {
            for (number, fpr) in core.fpr.iter_mut().enumerate() {
                *fpr = unicorn.reg_read(numbered(RegisterPPC::FPR0, number))?;
            }
        }
        core.cr = unicorn.reg_read(RegisterPPC::CR)? as u32;
        core.lr = unicorn.reg_read(RegisterPPC::LR)?;
        core.ctr = unicorn.reg_read(RegisterPPC::CTR)?;
        if std::mem::take(&mut self.xer_ahead) {
            self.move_xer(0)?;
            let unicorn = self.emulator.unicorn();
            core.xer = unicorn.reg_read(RegisterPPC::R0)?;
            unicorn.reg_write(RegisterPPC::R0, core.gpr[0])?;
        }
        self.known = Registers { gpr: core.gpr, fpr: core.fpr, cr: core.cr, lr: core.lr, ctr: core.ctr, xer: core.xer, ..self.known };
        Ok(())
    }

    /// Executes `count` instructions at `address`, none but the last of which is a branch. Returns how many completed, and where Unicorn is
    /// then.
    pub(super) fn run(&mut self, address: u64, count: usize, (changes_xer, floating): (bool, bool)) -> Result<(usize, u64), uc_error> {
        self.ahead = true;
        self.xer_ahead |= changes_xer;
        self.fpr_ahead |= floating;
        let unicorn = self.emulator.unicorn();
        // No address to stop at: Unicorn would forget what it has translated there each time.
        let ended = unicorn.emu_start(address, 0, 0, count);
        let at = unicorn.reg_read(RegisterPPC::PC)?;
        if std::mem::take(&mut unicorn.get_data_mut().exception) {
            return Ok(((at.wrapping_sub(address) / 4) as usize - 1, at.wrapping_sub(4)));
        }
        match ended {
            Ok(()) => Ok((count, at)),
            // An access outside memory.
            Err(uc_error::EXCEPTION) => Ok(((at.wrapping_sub(address) / 4) as usize, at)),
            Err(error) => Err(error),
        }
    }

    /// A register as Unicorn has it.
    pub(super) fn gpr(&mut self, number: usize) -> Result<u64, uc_error> {
        self.emulator.unicorn().reg_read(numbered(RegisterPPC::R0, number))
    }

    /// CR, LR and CTR as Unicorn has them.
    pub(super) fn branch_registers(&mut self) -> Result<(u32, u64, u64), uc_error> {
        let unicorn = self.emulator.unicorn();
        Ok((unicorn.reg_read(RegisterPPC::CR)? as u32, unicorn.reg_read(RegisterPPC::LR)?, unicorn.reg_read(RegisterPPC::CTR)?))
    }

    /// Forgets what has been translated from `first` to `end`.
    pub(super) fn forget(&mut self, first: u64, end: u64) -> Result<(), uc_error> {
        self.emulator.unicorn().ctl_remove_cache(first, end)
    }
}
