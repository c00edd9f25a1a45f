//! Save and restore of the pipeline.

use super::K8Pipeline;
use super::line::{MacroOperation, Operands};
use super::rows::{DecodePath, K8Row, K8Unit};
use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::Class;
use crate::pipeline::part::GENERAL;
use crate::pipeline::resources::redirect::Redirect;
use crate::pipeline::resources::registers::ANY;
use crate::pipeline::resources::saving::{number, pick, small, time};
use crate::pipeline::resources::sequence::Sequence;
use crate::pipeline::{Continuation, Touch};

const UNITS: [K8Unit; 8] =
    [K8Unit::None, K8Unit::Integer, K8Unit::Address, K8Unit::Multiplier, K8Unit::Add, K8Unit::Multiply, K8Unit::Store, K8Unit::Either];

const CONTINUATIONS: [Continuation; 5] =
    [Continuation::Sequential, Continuation::Taken, Continuation::Mispredicted, Continuation::Restarted, Continuation::Far];

const PATHS: [DecodePath; 3] = [DecodePath::Direct, DecodePath::Double, DecodePath::Chained];

impl K8Row {
    fn save(&self, writer: &mut Writer) {
        match self.path {
            DecodePath::Vector(lines) => writer.words(&[PATHS.len() as u64, u64::from(lines)]),
            path => writer.words(&[number(&PATHS, &path), 0]),
        }
        writer.words(&[number(&UNITS, &self.unit), u64::from(self.latency), u64::from(self.every)]);
    }

    fn load(reader: &mut Reader<'_>) -> Result<K8Row, Damaged> {
        let (path, lines) = (reader.word()?, small(reader, 255)?);
        let path = match PATHS.get(usize::try_from(path).map_err(|_| Damaged)?) {
            Some(path) => *path,
            None if path == PATHS.len() as u64 => DecodePath::Vector(lines),
            None => return Err(Damaged),
        };
        Ok(K8Row { path, unit: pick(&UNITS, reader)?, latency: small(reader, 255)?, every: small(reader, 255)? })
    }
}

impl Operands {
    fn save(&self, writer: &mut Writer) {
        writer.words(&[u64::from(self.address_count), u64::from(self.read_count), u64::from(self.write_count)]);
        // Elements beyond the counts are not read, and may belong to an earlier instruction.
        for (there, places) in
            [(self.addresses(), self.addresses.len()), (self.reads(), self.reads.len()), (self.writes(), self.writes.len())]
        {
            let behind = core::iter::repeat_n(&0, places - there.len());
            there.iter().chain(behind).for_each(|register| writer.word(u64::from(*register)));
        }
    }

    fn load(reader: &mut Reader<'_>) -> Result<Operands, Damaged> {
        let mut operands = Operands::NONE;
        operands.address_count = small(reader, operands.addresses.len())?;
        operands.read_count = small(reader, operands.reads.len())?;
        operands.write_count = small(reader, operands.writes.len())?;
        for register in operands.addresses.iter_mut().chain(&mut operands.reads).chain(&mut operands.writes) {
            *register = u16::try_from(reader.word()?).ok().filter(|register| *register <= ANY).ok_or(Damaged)?;
        }
        Ok(operands)
    }
}

impl MacroOperation {
    fn save(&self, operands: &Operands, writer: &mut Writer) {
        self.row.save(writer);
        operands.save(writer);
        let flags = u64::from(self.second) | u64::from(self.loads) << 1;
        writer.words(&[self.class as u64, u64::from(self.touches.0), u64::from(self.touches.1), flags, u64::from(self.segment_loads)]);
        writer.word(match self.continuation {
            Continuation::Sequential => 0,
            // Both have already ended their line, and the fetcher's time is already set.
            Continuation::Taken | Continuation::Resteered(_) => 1,
            Continuation::Mispredicted => 2,
            Continuation::Restarted => 3,
            Continuation::Far => 4,
        });
    }

    fn load(reader: &mut Reader<'_>) -> Result<(MacroOperation, Operands), Damaged> {
        let (row, operands) = (K8Row::load(reader)?, Operands::load(reader)?);
        let class = usize::try_from(reader.word()?).ok().and_then(|number| Class::ALL.get(number)).copied().ok_or(Damaged)?;
        let touches = (small(reader, super::MOST)?, small(reader, super::MOST)?);
        let flags = reader.word()?;
        let segment_loads = small(reader, 255)?;
        let continuation = pick(&CONTINUATIONS, reader)?;
        let (second, loads) = (flags & 1 == 1, flags >> 1 & 1 == 1);
        Ok((MacroOperation { row, class, touches, second, loads, continuation, segment_loads, kind: GENERAL }, operands))
    }
}

impl K8Pipeline {
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.word(self.next);
        self.account.save(writer);
        let line = &self.line;
        writer.words(&[line.count as u64, line.touch_count as u64, line.ready, line.piece]);
        for (position, (operation, operands)) in line.operations.iter().zip(&line.operands).enumerate() {
            // The other places have macro-operations of lines that were already dispatched.
            let there = position < line.count;
            let (operation, operands) = if there { (operation, operands) } else { (&MacroOperation::NONE, &Operands::NONE) };
            operation.save(operands, writer);
        }
        line.touches.iter().for_each(|touch| touch.save(writer));
        writer.words(&[self.fetched, u64::from(self.piece.is_some()), self.piece.unwrap_or(0), self.window]);
        Redirect::save(self.redirect, writer);
        writer.words(&[self.half.0, self.half.1, self.half.2]);
        self.registers.save(writer);
        self.types.save(writer);
        self.ports.save(writer);
        self.reorder.save(writer);
        self.schedulers.iter().for_each(|entries| entries.save(writer));
        self.floating.save(writer);
        self.first_queue.save(writer);
        self.second_queue.save(writer);
        self.second_full.save(writer);
        self.floating_completions.save(writer);
        self.stores.save(writer);
        self.misses.save(writer);
        self.ahead.save(writer);
        writer.words(&[self.walker, self.segment, self.locked]);
        [self.access, self.completed, self.written].iter().for_each(|sequence| sequence.save(writer));
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let now = reader.word()?;
        if now > 1 << 62 {
            return Err(Damaged);
        }
        self.next = now;
        self.account.load(reader)?;
        self.line.count = usize::from(small(reader, self.line.operations.len() - 1)?);
        self.line.touch_count = usize::from(small(reader, super::MOST)?);
        self.line.ready = time(reader, now)?;
        self.line.piece = reader.word()?;
        for (operation, operands) in self.line.operations.iter_mut().zip(&mut self.line.operands) {
            (*operation, *operands) = MacroOperation::load(reader)?;
        }
        self.line.kind = GENERAL;
        for touch in &mut self.line.touches {
            *touch = Touch::load(reader)?;
        }
        self.fetched = time(reader, now)?;
        let (there, piece) = (reader.word()?, reader.word()?);
        self.piece = (there & 1 == 1).then_some(piece);
        self.window = time(reader, now)?;
        self.redirect = Redirect::load(reader, now)?;
        self.half = (time(reader, now)?, time(reader, now)?, time(reader, now)?);
        self.registers.load(reader, now)?;
        self.types.load(reader)?;
        self.ports.load(reader, now)?;
        self.reorder.load(reader, now)?;
        for entries in &mut self.schedulers {
            entries.load(reader, now)?;
        }
        self.floating.load(reader, now)?;
        self.first_queue.load(reader, now)?;
        self.second_queue.load(reader, now)?;
        self.second_full.load(reader, now)?;
        self.floating_completions.load(reader, now)?;
        self.stores.load(reader, now)?;
        self.misses.load(reader, now)?;
        self.ahead.load(reader, now)?;
        self.walker = time(reader, now)?;
        self.segment = time(reader, now)?;
        self.locked = time(reader, now)?;
        self.access = Sequence::load(reader, now)?;
        self.completed = Sequence::load(reader, now)?;
        self.written = Sequence::load(reader, now)?;
        Ok(())
    }
}
