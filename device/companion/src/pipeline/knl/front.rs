//! Fetch, decoding, and the instruction queue before allocation.

use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::Instruction;
use crate::pipeline::Findings;
use crate::pipeline::resources::queue::{Ring, Runs};
use crate::pipeline::resources::saving::{small, time};

/// Number of bytes that the fetcher reads per cycle, as address bits (PL1).
const PIECE_BITS: u32 = 4;
/// Instructions decoded per cycle, and the length beyond which one is decoded alone (PL2).
const WIDTH: u8 = 2;
const LONG: u8 = 8;
/// Number of prefixes that cost nothing. With more, each group of as many, full or not, takes as many cycles (PL3).
const PREFIXES: u8 = 3;
/// Cycles that a target found by the decoder costs (PL7).
const RESTEER: u64 = 6;
/// Cycles from the fetch of a piece to the allocation of the micro-operations decoded from it.
const DEPTH: u64 = 2;

/// The front end of a thread.
#[derive(Clone, Debug)]
pub(super) struct KnlFrontEnd {
    /// The cycle in which the last piece was fetched, and that piece.
    fetched: u64,
    piece: Option<u64>,
    /// The last cycle of decoding, and how many more instructions can be decoded in it.
    decoded: u64,
    places: u8,
    /// The cycles in which the queue entries become free (PL5).
    queue: Ring<16>,
    pub(super) fills: Runs,
    pub(super) walks: Runs,
}

impl KnlFrontEnd {
    pub(super) const fn new() -> KnlFrontEnd {
        KnlFrontEnd { fetched: 0, piece: None, decoded: 0, places: 0, queue: Ring::new(), fills: Runs::new(), walks: Runs::new() }
    }

    /// Returns the first cycle in which the front end can deliver the instruction for allocation. `found` says how late its code arrives;
    /// `None` if it is present. `walker` is the cycle in which the thread's walker is free.
    #[inline]
    pub(super) fn deliver(&mut self, instruction: &Instruction<'_>, found: Option<&Findings>, walker: &mut u64) -> u64 {
        if instruction.length == 0 {
            return 0;
        }
        self.read(instruction);
        if let Some(found) = found.filter(|found| found.delay() != 0) {
            self.wait(found, walker);
        }
        self.decode(instruction)
    }

    /// Fetches the pieces that the instruction lies in.
    #[inline]
    fn read(&mut self, instruction: &Instruction<'_>) {
        let first = instruction.address >> PIECE_BITS;
        let last = instruction.address.wrapping_add(u64::from(instruction.length) - 1) >> PIECE_BITS;
        if self.piece.is_some_and(|piece| (piece ^ first) | (piece ^ last) == 0) {
            return;
        }
        for piece in [first, last] {
            if self.piece != Some(piece) {
                // At most two pieces are ahead of the decoder.
                self.fetched = (self.fetched + 1).max(self.decoded.saturating_sub(1));
                self.piece = Some(piece);
            }
        }
    }

    /// Decodes the instruction, and returns the first cycle in which it can be allocated.
    #[inline]
    fn decode(&mut self, instruction: &Instruction<'_>) -> u64 {
        let earliest = (self.fetched + 1).max(self.queue.room_for_one());
        let prefixes = instruction.operation.as_ref().map_or(0, |operation| operation.prefixes);
        if prefixes > PREFIXES {
            // Nothing is decoded beside it.
            let cycles = u64::from(prefixes.div_ceil(PREFIXES) * PREFIXES);
            self.decoded = earliest.max(self.decoded + 1) + cycles - 1;
            self.places = 0;
            return self.decoded + 1;
        }
        let long = instruction.length > LONG;
        if self.places != 0 && !long && earliest <= self.decoded {
            self.places -= 1;
        } else {
            self.decoded = earliest.max(self.decoded + 1);
            self.places = if long { 0 } else { WIDTH - 1 };
        }
        self.decoded + 1
    }

    /// Makes the fetcher wait for translations and lines.
    fn wait(&mut self, found: &Findings, walker: &mut u64) {
        if found.walk != 0 {
            let begin = self.fetched.max(*walker);
            *walker = begin + u64::from(found.walk);
            self.walks.add(begin, *walker);
            self.fetched = *walker;
        }
        self.fetched += u64::from(found.translation.saturating_sub(found.walk));
        let line = u64::from(found.line);
        self.fills.add(self.fetched, self.fetched + line);
        self.fetched += line;
    }

    /// Removes the instruction from the queue in cycle `at`.
    #[inline]
    pub(super) fn allocated(&mut self, at: u64) {
        self.queue.take(at);
    }

    /// PL6: continues fetch at the target of a branch.
    pub(super) fn turn(&mut self) {
        self.piece = None;
        self.places = 0;
    }

    /// PL7: continues fetch at a target that the decoder found.
    pub(super) fn resteer(&mut self) {
        self.turn();
        self.fetched = self.fetched.max(self.decoded.saturating_sub(1)) + RESTEER;
    }

    /// Restarts fetch so that the first instruction can be allocated in cycle `at`.
    pub(super) fn restart(&mut self, at: u64) {
        self.turn();
        self.fetched = at.saturating_sub(DEPTH + 1);
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.fetched, u64::from(self.piece.is_some()), self.piece.unwrap_or(0), self.decoded, u64::from(self.places)]);
        self.queue.save(writer);
        self.fills.save(writer);
        self.walks.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.fetched = time(reader, now)?;
        let (there, piece) = (reader.word()?, reader.word()?);
        self.piece = (there & 1 == 1).then_some(piece);
        self.decoded = time(reader, now)?;
        self.places = small(reader, usize::from(WIDTH))?;
        self.queue.load(reader, now)?;
        self.fills.load(reader, now)?;
        self.walks.load(reader, now)
    }
}
