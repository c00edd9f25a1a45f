//! The register stack engine: it works only when an instruction needs it to.

use super::interrupt::Fault;
use super::registers::ar;
use super::stack::{STACKED, below, collection, slot};
use super::state::Core;
use super::step::StackLevel;

impl Core {
    /// Notes the levels of the register stack before an instruction changes them.
    pub(crate) fn note_stack_level(&mut self) {
        self.step.stack_level = Some(StackLevel { current: self.stack.sof as u8, dirty: self.stack.dirty.min(STACKED) as u8 });
    }

    /// Stores the oldest dirty register, and the collection of NaT bits that it fills.
    fn store_oldest(&mut self) -> Result<(), Fault> {
        let address = self.stack.bspstore;
        if slot(address) == 63 {
            self.stack_store(address, self.stack.rnat)?;
            self.stack.rnat = 0;
            self.stack.bspstore = address.wrapping_add(8);
            return self.store_oldest();
        }
        let (value, nat) = self.stack.get(self.stack.under(self.stack.dirty));
        self.stack_store(address, value)?;
        let bit = 1 << slot(address);
        self.stack.rnat = if nat { self.stack.rnat | bit } else { self.stack.rnat & !bit };
        self.stack.dirty -= 1;
        self.stack.clean += 1;
        self.stack.bspstore = address.wrapping_add(8);
        if slot(self.stack.bspstore) == 63 {
            self.stack_store(self.stack.bspstore, self.stack.rnat)?;
            self.stack.rnat = 0;
            self.stack.bspstore = self.stack.bspstore.wrapping_add(8);
        }
        Ok(())
    }

    /// Makes room in the register file for a frame of `registers`.
    pub(crate) fn make_room(&mut self, registers: usize) -> Result<(), Fault> {
        while self.stack.dirty + self.stack.clean + registers > STACKED {
            if self.stack.clean == 0 {
                self.store_oldest()?;
            }
            self.stack.clean -= 1;
        }
        Ok(())
    }

    /// Stores all dirty registers.
    pub(crate) fn flush_stack(&mut self) -> Result<(), Fault> {
        while self.stack.dirty != 0 {
            self.store_oldest()?;
        }
        Ok(())
    }

    /// Loads registers below the file's until `registers` below the frame are there.
    fn fill(&mut self, registers: usize) -> Result<(), Fault> {
        let mut there = self.stack.dirty + self.stack.clean;
        let mut address = below(self.stack.bspstore, self.stack.clean);
        let mut collected = None;
        while there < registers {
            let from = collection(address);
            address = below(address, 1);
            let at = collection(address);
            if at != from || collected.is_none() && at != collection(self.stack.bspstore) {
                collected = Some(self.stack_load(at)?);
            }
            let nats = if at == collection(self.stack.bspstore) { self.stack.rnat } else { collected.unwrap_or(0) };
            let value = self.stack_load(address)?;
            there += 1;
            let physical = self.stack.under(there);
            self.stack.set(physical, value, nats >> slot(address) & 1 != 0);
            self.stack.clean += 1;
        }
        Ok(())
    }

    /// Moves bspstore down to `address`: the NaT bits collected are those below it.
    fn lower_store_pointer(&mut self, address: u64) -> Result<(), Fault> {
        if collection(address) != collection(self.stack.bspstore) {
            self.stack.rnat = self.stack_load(collection(address))?;
        }
        self.stack.bspstore = address;
        Ok(())
    }

    /// The frame moves down by `registers`, which are loaded if they are no longer in the file. The frame marker is the caller's.
    pub(crate) fn restore_frame(&mut self, registers: usize) -> Result<(), Fault> {
        self.fill(registers)?;
        let bsp = below(self.stack.bsp, registers);
        if registers > self.stack.dirty {
            let clean = self.stack.clean - (registers - self.stack.dirty);
            self.lower_store_pointer(bsp)?;
            self.stack.clean = clean;
            self.stack.dirty = 0;
        } else {
            self.stack.dirty -= registers;
        }
        self.stack.bottom = self.stack.under(registers);
        self.stack.bsp = bsp;
        Ok(())
    }

    /// `loadrs`: just the registers of RSC.loadrs bytes below bsp are in the file, and dirty.
    pub(crate) fn load_stack(&mut self) -> Result<(), Fault> {
        let bytes = self.ar[ar::RSC] >> 16 & 0x3FF8;
        if bytes != 0 && self.stack.sof != 0 {
            return Err(Fault::IllegalOperation);
        }
        let target = self.stack.bsp.wrapping_sub(bytes);
        let mut registers = 0;
        let mut address = self.stack.bsp;
        while address > target {
            address = address.wrapping_sub(8);
            registers += usize::from(slot(address) != 63);
        }
        if registers + self.stack.sof > STACKED {
            return Err(Fault::IllegalOperation);
        }
        self.fill(registers)?;
        if target < self.stack.bspstore {
            self.lower_store_pointer(target)?;
        } else {
            self.stack.bspstore = target;
        }
        self.stack.dirty = registers;
        self.stack.clean = 0;
        Ok(())
    }
}
