//! What functions have beside the registers of boxes (N20, T15).

use std::collections::BTreeMap;

use super::places::{Device, Function};

const VENDOR: u32 = 0x8086;
/// Class 0880h, revision 0.
const CLASS: u32 = 0x0880_0000;
/// A device of several functions, in the third byte of its dword.
const HEADER: u32 = 0x0080_0000;
/// What of the command register is stored.
const COMMAND: u32 = 0b111;

/// The command register of each function.
#[derive(Debug, Default)]
pub(super) struct Configuration(BTreeMap<Function, u32>);

impl Configuration {
    pub(super) fn read(&self, place: Function, device: Device, offset: u16) -> u32 {
        match offset {
            0 => device.device << 16 | VENDOR,
            4 => self.0.get(&place).copied().unwrap_or(0),
            8 => CLASS,
            0xC => HEADER,
            _ => 0,
        }
    }

    pub(super) fn write(&mut self, place: Function, offset: u16, value: u32, mask: u32) {
        if offset == 4 {
            let command = self.0.entry(place).or_default();
            *command = (*command & !mask | value & mask) & COMMAND;
        }
    }
}
