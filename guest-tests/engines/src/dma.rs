//! A device that accesses RAM by itself: it copies, reads, fills and adds without a CPU.
//!
//! A driver writes addresses, a length and then a command; the transfer is complete when the write of the command is. The machine of x86
//! has it as a PCI function, which reports each line of 64 bytes ([`MachineBus::dma`](crate::x86::MachineBus::dma)). That of POWER has its
//! registers in memory, and it reports what a page of 4 KiB has of a transfer ([`Observer::device`](crate::power::Observer::device)).

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::memory::Memory;

/// The most bytes of one transfer; a longer one is refused.
pub const DMA_MOST: u32 = 64 << 10;

/// Its registers, by their offset. They are little-endian dwords; those of 64 bits are two, the lower half first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum DmaRegister {
    /// Vendor 1234h, which is nobody's, and device D3A0h. Read only.
    Identity = 0x00,
    /// The class: a DMA controller (PCI Code and ID Assignment 1.5, section 1.9), revision 0. Read only.
    Class = 0x08,
    /// 64 bits: the physical address that is read.
    Source = 0x40,
    /// 64 bits: the physical address that is written.
    Destination = 0x48,
    /// How many bytes.
    Bytes = 0x50,
    /// A [`DmaCommand`] when it is written. When it is read, 0 if the last command was done, 1 if it was refused.
    Command = 0x54,
    /// 64 bits: what a command takes or leaves.
    Value = 0x58,
}

impl DmaRegister {
    /// Its offset.
    #[must_use]
    pub const fn offset(self) -> u8 {
        self as u8
    }
}

/// What it does. A command with another number, with bytes outside RAM, or with more than [`DMA_MOST`] is refused and does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum DmaCommand {
    /// Copies bytes from source to destination, a line of the destination at a time.
    Copy = 1,
    /// Reads bytes from the source, and leaves their sum as the value.
    Read = 2,
    /// Fills the destination with the lowest byte of the value.
    Fill = 3,
    /// Adds the value to the eight bytes at the destination, which is aligned, at once, and leaves what was there before.
    Add = 4,
    /// Fills as [`Fill`](DmaCommand::Fill) does, and offers what it writes to the caches.
    Inject = 5,
}

impl DmaCommand {
    const ALL: [DmaCommand; 5] = [DmaCommand::Copy, DmaCommand::Read, DmaCommand::Fill, DmaCommand::Add, DmaCommand::Inject];

    /// The number that is written.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

/// How a device accesses bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmaKind {
    /// It reads them.
    Read,
    /// It writes them.
    Write,
    /// It reads and writes them at once.
    Atomic,
    /// It writes them, and offers them to the caches.
    Inject,
}

/// One access of the device, which crosses no multiple of the machine's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaAccess {
    /// What it does.
    pub kind: DmaKind,
    /// The physical address of the first byte.
    pub physical: u64,
    /// How many bytes: at most the unit.
    pub bytes: u64,
}

/// What the device remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DmaState {
    /// The physical address that is read.
    pub source: u64,
    /// The physical address that is written.
    pub destination: u64,
    /// How many bytes.
    pub bytes: u32,
    /// The last command was refused.
    pub refused: bool,
    /// What a command takes or leaves.
    pub value: u64,
}

impl DmaState {
    fn read(&self, offset: u16) -> u32 {
        let halves = |first: DmaRegister, value: u64| {
            let at = offset.checked_sub(first as u16).filter(|at| *at < 8)?;
            Some((value >> (8 * at)) as u32)
        };
        let is = |register: DmaRegister| offset == register as u16;
        match () {
            () if is(DmaRegister::Identity) => 0xD3A0_1234,
            () if is(DmaRegister::Class) => 0x0801_0000,
            () if is(DmaRegister::Bytes) => self.bytes,
            () if is(DmaRegister::Command) => self.refused.into(),
            () => halves(DmaRegister::Source, self.source)
                .or_else(|| halves(DmaRegister::Destination, self.destination))
                .or_else(|| halves(DmaRegister::Value, self.value))
                .unwrap_or(0),
        }
    }

    fn write(&mut self, offset: u16, value: u32) {
        if offset == DmaRegister::Bytes as u16 {
            self.bytes = value;
            return;
        }
        for (first, register) in [
            (DmaRegister::Source, &mut self.source),
            (DmaRegister::Destination, &mut self.destination),
            (DmaRegister::Value, &mut self.value),
        ] {
            match offset.checked_sub(first as u16) {
                Some(0) => *register = *register & !0xffff_ffff | u64::from(value),
                Some(4) => *register = *register & 0xffff_ffff | u64::from(value) << 32,
                _ => {}
            }
        }
    }

    /// Does command `number`, and reports every access, in pieces that cross no multiple of `unit`.
    fn execute(&mut self, number: u32, unit: u64, memory: &Memory, report: impl FnMut(DmaAccess)) {
        let command = DmaCommand::ALL.into_iter().find(|command| command.number() == number);
        self.refused = command.and_then(|command| self.transfer(command, unit, memory, report)).is_none();
    }

    /// `None` if nothing was done.
    fn transfer(&mut self, command: DmaCommand, unit: u64, memory: &Memory, mut report: impl FnMut(DmaAccess)) -> Option<()> {
        let bytes = if command == DmaCommand::Add { 8 } else { u64::from(self.bytes) };
        let inside = |address: u64| address.checked_add(bytes).is_some_and(|end| end <= memory.size());
        let (reads, writes) = (matches!(command, DmaCommand::Copy | DmaCommand::Read), command != DmaCommand::Read);
        if bytes > DMA_MOST.into() || reads && !inside(self.source) || writes && !inside(self.destination) {
            return None;
        }
        if command == DmaCommand::Add {
            if !self.destination.is_multiple_of(8) {
                return None;
            }
            let added = self.value;
            report(DmaAccess { kind: DmaKind::Atomic, physical: self.destination, bytes });
            (self.value, _) = memory.update(self.destination, 8, |old| (old.wrapping_add(added), old));
            return Some(());
        }
        let mut buffer = vec![self.value as u8; bytes as usize];
        if reads {
            pieces(self.source, bytes, unit).for_each(|(physical, bytes)| report(DmaAccess { kind: DmaKind::Read, physical, bytes }));
            memory.read_bytes(self.source, &mut buffer).ok()?;
        }
        if writes {
            let kind = if command == DmaCommand::Inject { DmaKind::Inject } else { DmaKind::Write };
            pieces(self.destination, bytes, unit).for_each(|(physical, bytes)| report(DmaAccess { kind, physical, bytes }));
            memory.write_bytes(self.destination, &buffer).ok()?;
        } else {
            self.value = buffer.iter().map(|byte| u64::from(*byte)).sum();
        }
        Some(())
    }
}

/// The parts of `bytes` bytes at `start` between multiples of `unit`: where, and how many.
fn pieces(start: u64, bytes: u64, unit: u64) -> impl Iterator<Item = (u64, u64)> {
    let (mut at, end) = (start, start + bytes);
    std::iter::from_fn(move || {
        let part = (unit - at % unit).min(end - at);
        let found = (at, part);
        at += part;
        (part != 0).then_some(found)
    })
}

/// The device, which all CPUs can access.
#[derive(Debug)]
pub(crate) struct Dma {
    /// The bytes of whose multiples no reported access crosses one.
    unit: u64,
    state: Mutex<DmaState>,
}

impl Dma {
    /// The device that reports what it accesses between multiples of `unit` bytes.
    pub(crate) fn new(unit: u64) -> Dma {
        Dma { unit: unit.max(1), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, DmaState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it remembers.
    pub(crate) fn state(&self) -> DmaState {
        *self.lock()
    }

    /// Makes it remember `state`.
    pub(crate) fn set_state(&self, state: DmaState) {
        *self.lock() = state;
    }

    /// Reads `size` (1, 2 or 4) bytes of a register.
    pub(crate) fn read(&self, offset: u16, size: u8) -> u32 {
        let dword = self.lock().read(offset & !3);
        (dword >> (8 * (offset & 3))) & (u32::MAX >> (32 - 8 * u32::from(size.clamp(1, 4))))
    }

    /// Writes a register; what is no dword is dropped.
    pub(crate) fn write(&self, offset: u16, size: u8, value: u32, memory: &Memory, report: impl FnMut(DmaAccess)) {
        let mut state = self.lock();
        match (size, offset) {
            (4, offset) if offset == DmaRegister::Command as u16 => state.execute(value, self.unit, memory, report),
            (4, offset) => state.write(offset, value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a command with these registers; what is left, and the accesses.
    fn run(memory: &Memory, state: DmaState, command: DmaCommand) -> (DmaState, Vec<DmaAccess>) {
        let (dma, mut accesses) = (Dma::new(64), Vec::new());
        dma.set_state(state);
        dma.write(DmaRegister::Command as u16, 4, command.number(), memory, |access| accesses.push(access));
        (dma.state(), accesses)
    }

    fn memory() -> Memory {
        Memory::new(16 << 10).expect("small")
    }

    #[test]
    fn a_copy_reads_and_writes_each_line_once() {
        let memory = memory();
        memory.write_bytes(0x1010, &[7; 100]).expect("inside");
        let state = DmaState { source: 0x1010, destination: 0x2000, bytes: 100, ..DmaState::default() };
        let (left, accesses) = run(&memory, state, DmaCommand::Copy);
        assert!(!left.refused);
        // 100 bytes from 1010h on are 48 of a line and 52 of the next; from 2000h on they are 64 and 36.
        let is = |kind, physical, bytes| DmaAccess { kind, physical, bytes };
        let right =
            [is(DmaKind::Read, 0x1010, 48), is(DmaKind::Read, 0x1040, 52), is(DmaKind::Write, 0x2000, 64), is(DmaKind::Write, 0x2040, 36)];
        assert_eq!(accesses, right);
        assert_eq!((memory.read(0x2063, 1), memory.read(0x2064, 1)), (7, 0));
    }

    #[test]
    fn what_is_offered_to_the_caches_is_filled() {
        let memory = memory();
        let state = DmaState { destination: 0x1000, bytes: 64, value: 5, ..DmaState::default() };
        let (_, accesses) = run(&memory, state, DmaCommand::Inject);
        assert_eq!(accesses, [DmaAccess { kind: DmaKind::Inject, physical: 0x1000, bytes: 64 }]);
        assert_eq!(memory.read(0x103F, 1), 5);
    }

    #[test]
    fn a_read_leaves_the_sum_and_writes_nothing() {
        let memory = memory();
        memory.write_bytes(0x1000, &[3; 64]).expect("inside");
        let (left, accesses) = run(&memory, DmaState { source: 0x1000, bytes: 64, ..DmaState::default() }, DmaCommand::Read);
        assert_eq!((left.value, accesses.len()), (192, 1));
    }

    #[test]
    fn an_addition_is_one_access_and_leaves_what_was_there() {
        let memory = memory();
        memory.write(0x1008, 8, 40);
        let (left, accesses) = run(&memory, DmaState { destination: 0x1008, value: 2, ..DmaState::default() }, DmaCommand::Add);
        assert_eq!((left.value, memory.read(0x1008, 8)), (40, 42));
        assert_eq!(accesses, [DmaAccess { kind: DmaKind::Atomic, physical: 0x1008, bytes: 8 }]);
    }

    #[test]
    fn what_reaches_beyond_ram_is_refused_whole() {
        let memory = memory();
        for state in [
            DmaState { destination: (16 << 10) - 4, bytes: 8, value: 9, ..DmaState::default() },
            DmaState { destination: u64::MAX, bytes: 8, value: 9, ..DmaState::default() },
            DmaState { destination: 0, bytes: DMA_MOST + 1, value: 9, ..DmaState::default() },
        ] {
            let (left, accesses) = run(&memory, state, DmaCommand::Fill);
            assert_eq!((left.refused, accesses.len()), (true, 0));
        }
        assert_eq!(memory.read((16 << 10) - 4, 4), 0);
    }

    #[test]
    fn registers_hold_what_is_written_by_halves() {
        let (dma, memory) = (Dma::new(64), memory());
        for (offset, value) in [(0x40, 0x1111_2222), (0x44, 3), (0x48, 4), (0x4C, 5), (0x50, 6), (0x58, 7), (0x5C, 8), (0x00, 9)] {
            dma.write(offset, 4, value, &memory, |_| {});
        }
        let read = [0x00, 0x40, 0x44, 0x48, 0x4C, 0x50, 0x54, 0x58, 0x5C].map(|offset| dma.read(offset, 4));
        assert_eq!(read, [0xD3A0_1234, 0x1111_2222, 3, 4, 5, 6, 0, 7, 8]);
        assert_eq!((dma.read(0x42, 2), dma.read(0x41, 1)), (0x1111, 0x22));
    }
}
