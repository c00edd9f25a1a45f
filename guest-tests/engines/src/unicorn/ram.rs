//! Unicorn on memory that others share with it: the one file of the engine with unsafe code.
#![allow(unsafe_code)]

use std::fmt;
use std::sync::Arc;

use unicorn_engine::{Arch, Mode, Prot, Unicorn, uc_error};

use crate::memory::Memory;

/// A Unicorn whose RAM, from physical address 0, is a machine's.
pub(super) struct Emulator<D: Send + 'static> {
    // In this order: what uses the memory is dropped before it.
    unicorn: Unicorn<'static, D>,
    memory: Arc<Memory>,
}

impl<D: Send + 'static> fmt::Debug for Emulator<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emulator").field("memory", &self.memory).finish_non_exhaustive()
    }
}

// SAFETY: the handle belongs to no thread: Unicorn keeps all that it has of an emulator in it, and asks only that one thread at a time
// calls. The counted references in it, from each hook to the emulator, are all inside: nothing here clones or hands one out, so they go to
// another thread together or not at all. The data that the hooks use are Send.
// go to another thread together or not at all. The data that the hooks use are Send.
unsafe impl<D: Send + 'static> Send for Emulator<D> {}

impl<D: Send + 'static> Emulator<D> {
    /// An emulator with `data` for its hooks. `prepare` gets it before it has the memory.
    ///
    /// # Errors
    /// The error of Unicorn.
    pub(super) fn new(
        (arch, mode): (Arch, Mode),
        data: D,
        memory: &Arc<Memory>,
        prepare: impl FnOnce(&mut Unicorn<'static, D>) -> Result<(), uc_error>,
    ) -> Result<Self, uc_error> {
        let mut unicorn = Unicorn::new_with_data(arch, mode, data)?;
        prepare(&mut unicorn)?;
        let mut emulator = Emulator { unicorn, memory: Arc::clone(memory) };
        let start = emulator.memory.host().cast();
        // SAFETY: the memory is mapped readable and writable for as long as `Memory` lives, which the emulator holds and drops after
        // Unicorn. No Rust reference to its bytes exists other than as atomics, and virtual CPUs of one machine that run through Unicorn
        // take turns on one thread.
        unsafe { emulator.unicorn.mem_map_ptr(0, emulator.memory.size(), Prot::ALL, start)? };
        Ok(emulator)
    }

    /// Unicorn itself.
    pub(super) fn unicorn(&mut self) -> &mut Unicorn<'static, D> {
        &mut self.unicorn
    }
}
