//! Decoded instructions, kept by the physical address of their first byte.

use std::collections::HashMap;

use super::decode::{Outcome, decode, text};
use super::fault::{Fault, Stop};
use super::op::Decoded;
use super::saved::Fetching;
use super::state::Core;
use super::tlb::grant;
use crate::memory::PAGE;

/// Pages of decoded code kept before all are dropped.
const PAGES: usize = 256;
/// The longest instruction.
pub(crate) const LONGEST: usize = 15;
const ABSENT: u16 = u16::MAX;

struct CodePage {
    frame: u64,
    generation: u64,
    /// For each byte of the page, the instruction that starts there.
    starts: Box<[u16; PAGE as usize]>,
    code: Vec<Decoded>,
}

impl CodePage {
    fn clear(&mut self, generation: u64) {
        self.starts.fill(ABSENT);
        self.code.clear();
        self.generation = generation;
    }
}

/// The decoded code of one CPU.
pub(crate) struct CodeCache {
    pages: Vec<CodePage>,
    by_frame: HashMap<u64, usize>,
    /// An instruction that crosses a page, which is decoded each time.
    crossing: Option<Box<Decoded>>,
    // The page that was executed last, and for which linear page, rights and TLB contents.
    current: usize,
    frame: u64,
    linear: u64,
    epoch: u32,
    user: bool,
}

impl CodeCache {
    pub(crate) fn new() -> Self {
        Self { pages: Vec::new(), by_frame: HashMap::new(), crossing: None, current: 0, frame: 0, linear: u64::MAX, epoch: 0, user: false }
    }

    /// Drops everything that was decoded.
    pub(crate) fn flush(&mut self) {
        self.pages.clear();
        self.by_frame.clear();
        self.linear = u64::MAX;
    }

    /// The translation by which instructions are fetched, as long as nothing was forgotten since `epoch`.
    pub(crate) fn fetching(&self, epoch: u32) -> Option<Fetching> {
        let known = self.linear != u64::MAX && self.epoch == epoch;
        known.then_some(Fetching { page: self.linear, frame: self.frame / PAGE, user: self.user })
    }

    /// Fetches by `fetching`, whose page is of `ram` or a device's.
    pub(crate) fn fetch_by(&mut self, fetching: Fetching, ram: bool, epoch: u32) {
        self.frame = fetching.frame * PAGE;
        self.current = if ram { self.page(self.frame) } else { usize::MAX };
        self.linear = fetching.page;
        self.epoch = epoch;
        self.user = fetching.user;
    }

    /// The instruction at RIP.
    #[inline]
    pub(crate) fn fetch(&mut self, core: &mut Core) -> Result<&Decoded, Fault> {
        let rip = core.rip;
        if self.linear != rip >> 12 || self.epoch != core.tlb.epoch() || self.user != (core.cpl == 3) {
            self.enter_page(core)?;
        }
        core.step.physical = self.frame + rip % PAGE;
        let index = self.current;
        let Some(page) = self.pages.get_mut(index) else {
            return self.uncached(core);
        };
        let generation = core.shared.memory.generation(page.frame);
        if page.generation != generation {
            page.clear(generation);
        }
        let start = page.starts[(rip % PAGE) as usize];
        if usize::from(start) >= page.code.len() {
            return self.decode(core);
        }
        Ok(&self.pages[index].code[usize::from(start)])
    }

    #[cold]
    fn enter_page(&mut self, core: &mut Core) -> Result<(), Fault> {
        core.step.physical = 0;
        let at = core.translate(core.rip, grant::EXECUTE)?;
        let frame = at.address & !(PAGE - 1);
        self.frame = frame;
        self.current = if core.is_ram(frame) { self.page(frame) } else { usize::MAX };
        self.linear = core.rip >> 12;
        self.epoch = core.tlb.epoch();
        self.user = core.cpl == 3;
        Ok(())
    }

    fn page(&mut self, frame: u64) -> usize {
        if let Some(&index) = self.by_frame.get(&frame) {
            return index;
        }
        if self.pages.len() >= PAGES {
            self.flush();
        }
        let index = self.pages.len();
        let starts = Box::new([ABSENT; PAGE as usize]);
        // No page has this generation, so the first fetch takes the current one.
        self.pages.push(CodePage { frame, generation: u64::MAX, starts, code: Vec::new() });
        self.by_frame.insert(frame, index);
        index
    }

    #[cold]
    fn decode(&mut self, core: &mut Core) -> Result<&Decoded, Fault> {
        let (rip, index) = (core.rip, self.current);
        let offset = rip % PAGE;
        let here = (PAGE - offset).min(LONGEST as u64) as usize;
        let mut bytes = [0u8; LONGEST];
        let at = self.pages[index].frame + offset;
        core.shared.memory.mark_code(at, here as u64);
        for (i, byte) in (0u64..).zip(bytes[..here].iter_mut()) {
            *byte = core.shared.memory.read(at + i, 1) as u8;
        }
        match decode(&bytes[..here], rip) {
            Outcome::Instruction(decoded) => {
                let page = &mut self.pages[index];
                let start = page.code.len();
                page.code.push(*decoded);
                page.starts[offset as usize] = start as u16;
                Ok(&page.code[start])
            }
            Outcome::Invalid => Err(Fault::UD),
            Outcome::Short if here == LONGEST => Err(Fault::GP0),
            Outcome::Short => self.uncached(core),
        }
    }

    // Code that crosses a page, or is not in RAM.
    fn uncached(&mut self, core: &mut Core) -> Result<&Decoded, Fault> {
        let (bytes, length, fault) = core.code_bytes();
        match decode(&bytes[..length], core.rip) {
            Outcome::Instruction(decoded) => Ok(self.crossing.insert(decoded)),
            Outcome::Invalid => Err(Fault::UD),
            Outcome::Short => match fault {
                Some((fault, cr2)) => {
                    core.cr2 = cr2;
                    Err(fault)
                }
                None => Err(Fault::GP0),
            },
        }
    }
}

impl Core {
    /// Up to 15 bytes from RIP, and the fault that ended them with its address, which is CR2 only
    /// if the bytes turn out to be needed.
    fn code_bytes(&mut self) -> ([u8; LONGEST], usize, Option<(Fault, u64)>) {
        let mut bytes = [0u8; LONGEST];
        let cr2 = self.cr2;
        for (i, byte) in bytes.iter_mut().enumerate() {
            let at = match self.translate(self.rip.wrapping_add(i as u64), grant::EXECUTE) {
                Ok(at) => at,
                Err(fault) => {
                    let address = std::mem::replace(&mut self.cr2, cr2);
                    return (bytes, i, Some((fault, address)));
                }
            };
            *byte = if self.is_ram(at.address) {
                self.shared.memory.read(at.address, 1) as u8
            } else {
                self.shared.bus.mmio_read(self.index, at.address, 1) as u8
            };
        }
        (bytes, LONGEST, None)
    }

    /// Stops the engine at an instruction it does not execute.
    #[cold]
    pub(crate) fn unsupported(&mut self, rip: u64, length: u8) -> Fault {
        let (bytes, available, _) = self.code_bytes();
        let bytes = bytes[..available.min(usize::from(length))].to_vec();
        let text = text(&bytes, rip);
        self.stop(Stop::Unsupported { rip, bytes, text })
    }
}
