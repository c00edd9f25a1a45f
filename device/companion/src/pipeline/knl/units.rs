//! Resources that the threads of a core share first come, first served (PL28): ports, the divider and the miss buffers.

use super::{KnlPort, KnlRow};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::memory::Misses;
use crate::pipeline::resources::ports::Ports;

/// The units of a core. Callers pass and receive cycles of their own.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Units {
    /// Integer ports, and vector ports.
    ports: [Ports<2>; 2],
    divider: Ports<1>,
    misses: Misses<12>,
    /// Cycles of the units minus cycles of the thread that uses them.
    pub(super) offset: u64,
}

impl Units {
    pub(in crate::pipeline) fn new() -> Units {
        Units { ports: [Ports::new(), Ports::new()], divider: Ports::new(), misses: Misses::new(), offset: 0 }
    }

    /// Returns the cycle, `earliest` or later, in which `row` issues to `port`.
    #[inline(always)]
    pub(super) fn send(&mut self, row: &KnlRow, port: KnlPort, earliest: u64) -> u64 {
        let (every, divides) = (u64::from(row.every), u64::from(row.divider));
        let Some(ports) = self.ports.get_mut(usize::from(port.vector)) else { return earliest };
        let mut at = earliest + self.offset;
        if divides != 0 {
            // The loop ends, since all cycles beyond the kept ones are free.
            loop {
                let free = ports.free(port.number, at, every);
                at = self.divider.free(0, free, divides);
                if at == free {
                    break;
                }
            }
            self.divider.take(0, at, divides);
        }
        ports.take(port.number, at, every).saturating_sub(self.offset)
    }

    /// Returns when `line` arrives, if it is in flight at `now`.
    #[inline]
    pub(super) fn pending(&self, line: u64, now: u64) -> Option<u64> {
        self.misses.pending(line, now + self.offset).map(|until| until.saturating_sub(self.offset))
    }

    /// Returns the first cycle in which a miss buffer is free.
    #[inline]
    pub(super) fn room(&self) -> u64 {
        self.misses.room().saturating_sub(self.offset)
    }

    /// Requests `line` at `now`, or when a buffer is free. Returns when it arrives.
    pub(super) fn request(&mut self, line: u64, now: u64, latency: u64) -> u64 {
        self.misses.request(line, now + self.offset, latency).saturating_sub(self.offset)
    }

    /// Forgets the cycles of the core before `now`, for which no thread asks any more.
    #[inline]
    pub(super) fn forget(&mut self, now: u64) {
        self.ports.iter_mut().for_each(|ports| ports.forget(now));
        self.divider.forget(now);
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        self.ports.iter().for_each(|ports| ports.save(writer));
        self.divider.save(writer);
        self.misses.save(writer);
        writer.word(self.offset);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for ports in &mut self.ports {
            ports.load(reader, now)?;
        }
        self.divider.load(reader, now)?;
        self.misses.load(reader, now)?;
        self.offset = reader.word()?;
        if self.offset > 1 << 62 { Err(Damaged) } else { Ok(()) }
    }
}
