//! A value change dump: a module for each hardware thread, with its registers, the freeze, the interrupt, the privilege level and more, and
//! one for the registers of boxes that threads share, with what these last read or wrote there. A cycle is written as a nanosecond.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value};
use vm_pmu::arch::model::RegisterDescription;

use super::{Writer, width};
use crate::report::{Action, Trace};
use vm_pmu_board::trace::Sample;

/// The most changes that wait for other threads to come as far. Beyond, the earliest are written, and what comes before them is late.
const MOST_WAITING: usize = 1 << 16;

/// Variables of a thread in addition to its registers: names and widths.
const SIGNALS: [(&str, u32); 6] = [("frozen", 1), ("interrupt", 1), ("privilege", 2), ("halted", 1), ("foreground", 1), ("process", 64)];
const FROZEN: usize = 0;
const INTERRUPT: usize = 1;
const PRIVILEGE: usize = 2;
const HALTED: usize = 3;
const FOREGROUND: usize = 4;
const PROCESS: usize = 5;

/// In place of a thread: the registers of boxes.
const AROUND: usize = usize::MAX;

/// A change of a variable: time, order, thread, variable, value.
type Change = (u64, u64, usize, usize, u64);

/// What is known of a thread.
#[derive(Default)]
struct Module {
    registers: Vec<&'static RegisterDescription>,
    variables: Vec<(IdCode, u32)>,
    /// What the variables were last changed to, signals first.
    last: Vec<Option<u64>>,
    now: u64,
    /// When an interrupt was asked for.
    asked: u64,
}

pub(super) struct Dump<W: Write> {
    writer: vcd::Writer<W>,
    modules: Vec<Module>,
    /// The registers of boxes, of which it has what threads read and wrote.
    around: Module,
    headed: bool,
    waiting: BinaryHeap<Reverse<Change>>,
    order: u64,
    /// The time that was last written.
    time: Option<u64>,
    late: u64,
}

impl<W: Write> Dump<W> {
    pub(super) fn new(output: W) -> Dump<W> {
        Dump {
            writer: vcd::Writer::new(output),
            modules: Vec::new(),
            around: Module::default(),
            headed: false,
            waiting: BinaryHeap::new(),
            order: 0,
            time: None,
            late: 0,
        }
    }

    /// Writes what variables there are. All but the interrupt are unknown until their first change.
    fn head(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.headed, true) {
            return Ok(());
        }
        self.writer.version("pmulab")?;
        self.writer.comment("A nanosecond is a cycle of the thread.")?;
        self.writer.timescale(1, TimescaleUnit::NS)?;
        for (number, module) in self.modules.iter_mut().enumerate() {
            self.writer.add_module(&format!("cpu{number}"))?;
            let registers = module.registers.iter().map(|register| (register.name, width(register)));
            for (name, width) in SIGNALS.into_iter().chain(registers) {
                module.variables.push((self.writer.add_wire(width, name)?, width));
            }
            module.last = vec![None; module.variables.len()];
            module.last[INTERRUPT] = Some(0);
            self.writer.upscope()?;
        }
        if !self.around.registers.is_empty() {
            self.writer.add_module("untile")?;
            for register in &self.around.registers {
                let width = width(register);
                self.around.variables.push((self.writer.add_wire(width, register.name)?, width));
            }
            self.around.last = vec![None; self.around.variables.len()];
            self.writer.upscope()?;
        }
        self.writer.enddefinitions()?;
        self.writer.begin(SimulationCommand::Dumpvars)?;
        for module in self.modules.iter().chain([&self.around]) {
            for ((id, width), known) in module.variables.iter().zip(&module.last) {
                match (width, known) {
                    (1, Some(_)) => self.writer.change_scalar(*id, Value::V0)?,
                    (1, None) => self.writer.change_scalar(*id, Value::X)?,
                    _ => self.writer.change_vector(*id, [Value::X])?,
                }
            }
        }
        self.writer.end()
    }

    /// A thread read or wrote a register of a box.
    fn access(&mut self, thread: usize, name: &str, value: u64) {
        let Some(variable) = self.around.registers.iter().position(|register| register.name == name) else { return };
        let now = self.modules.get(thread).map_or(0, |module| module.now);
        if let Some(last) = self.around.last.get_mut(variable)
            && last.replace(value) != Some(value)
        {
            self.order += 1;
            self.waiting.push(Reverse((now, self.order, AROUND, variable, value)));
        }
    }

    fn change(&mut self, thread: usize, variable: usize, value: u64) {
        self.change_at_least(thread, variable, value, 0);
    }

    /// A change now, or at the time `least` if that is later.
    fn change_at_least(&mut self, thread: usize, variable: usize, value: u64, least: u64) {
        let Some(module) = self.modules.get_mut(thread) else { return };
        let Some(last) = module.last.get_mut(variable) else { return };
        if last.replace(value) != Some(value) {
            self.order += 1;
            self.waiting.push(Reverse((module.now.max(least), self.order, thread, variable, value)));
        }
    }

    fn move_to(&mut self, thread: usize, cycle: u64) {
        if let Some(module) = self.modules.get_mut(thread) {
            module.now = module.now.max(cycle);
        }
    }

    /// Writes the changes that no thread can be before any more.
    fn write(&mut self, all: bool) -> io::Result<()> {
        let reached = self.modules.iter().map(|module| module.now).min().unwrap_or(0);
        while let Some(Reverse((time, _, thread, variable, value))) = self.waiting.peek().copied() {
            if !all && time >= reached && self.waiting.len() <= MOST_WAITING {
                break;
            }
            self.waiting.pop();
            self.late += u64::from(self.time.is_some_and(|written| written > time));
            let time = time.max(self.time.unwrap_or(0));
            if self.time != Some(time) {
                self.writer.timestamp(time)?;
                self.time = Some(time);
            }
            let module = if thread == AROUND { Some(&self.around) } else { self.modules.get(thread) };
            let Some((id, width)) = module.and_then(|module| module.variables.get(variable)) else { continue };
            let bit = |number: u32| if value >> number & 1 == 1 { Value::V1 } else { Value::V0 };
            if *width == 1 {
                self.writer.change_scalar(*id, bit(0))?;
            } else {
                self.writer.change_vector(*id, (0..*width).rev().map(bit))?;
            }
        }
        Ok(())
    }
}

impl<W: Write + Send> Writer for Dump<W> {
    fn begin(&mut self, thread: usize, registers: &[&'static RegisterDescription]) -> io::Result<()> {
        if self.headed {
            return Ok(());
        }
        if self.modules.len() <= thread {
            self.modules.resize_with(thread + 1, Module::default);
        }
        self.modules[thread].registers = registers.to_vec();
        Ok(())
    }

    fn around(&mut self, registers: Vec<&'static RegisterDescription>) {
        self.around.registers = registers;
    }

    fn entry(&mut self, entry: &Trace) -> io::Result<()> {
        self.head()?;
        let thread = entry.thread;
        self.move_to(thread, entry.cycle);
        match entry.action {
            Action::Write { ref register, value, .. } | Action::Read { ref register, value } => self.access(thread, register, value),
            Action::Interrupt { .. } => {
                self.change(thread, INTERRUPT, 1);
                if let Some(module) = self.modules.get_mut(thread) {
                    module.asked = module.now;
                }
            }
            // An interrupt that is taken at once is there for a cycle, or nobody would see it.
            Action::Taken => {
                let least = self.modules.get(thread).map_or(0, |module| module.asked + 1);
                self.change_at_least(thread, INTERRUPT, 0, least);
            }
            Action::Freeze { frozen, .. } => self.change(thread, FROZEN, frozen.into()),
            Action::Context { privilege, halted, foreground, process } => {
                self.change(thread, PRIVILEGE, privilege.into());
                self.change(thread, HALTED, halted.into());
                self.change(thread, FOREGROUND, foreground.into());
                if let Some(process) = process {
                    self.change(thread, PROCESS, process);
                }
            }
            Action::Fault { .. } | Action::Check { .. } => {}
        }
        self.write(false)
    }

    fn sample(&mut self, sample: &Sample<'_>) -> io::Result<()> {
        self.head()?;
        self.move_to(sample.thread, sample.cycle);
        for (number, one) in (SIGNALS.len()..).zip(sample.values) {
            self.change(sample.thread, number, one.value);
        }
        self.write(false)
    }

    fn finish(&mut self) -> io::Result<u64> {
        self.head()?;
        self.write(true)?;
        let end = self.modules.iter().map(|module| module.now).max().unwrap_or(0);
        if self.time.is_none_or(|time| time < end) {
            self.writer.timestamp(end)?;
        }
        self.writer.flush()?;
        Ok(self.late)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Bytes that are read while they are written.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn context(thread: usize, cycle: u64, privilege: u8) -> Trace {
        let action = Action::Context { privilege, halted: false, foreground: true, process: None };
        Trace { thread, instruction: 0, cycle, address: 0, action }
    }

    /// The times of a dump of two threads, and how many of its changes are late.
    fn times(entries: impl Iterator<Item = Trace>) -> (Vec<u64>, u64) {
        let shared = Shared::default();
        let mut dump = Dump::new(shared.clone());
        dump.begin(0, &[]).unwrap();
        dump.begin(1, &[]).unwrap();
        entries.for_each(|entry| dump.entry(&entry).unwrap());
        let late = dump.finish().unwrap();
        let text = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
        (text.lines().filter_map(|line| line.strip_prefix('#')?.parse().ok()).collect(), late)
    }

    #[test]
    fn changes_of_a_thread_that_comes_later_are_put_in_order() {
        let entries = [context(0, 10, 3), context(0, 30, 0), context(1, 20, 3), context(1, 40, 0)];
        assert_eq!(times(entries.into_iter()), (vec![10, 20, 30, 40], 0));
    }

    #[test]
    fn changes_of_a_thread_that_stays_too_far_behind_are_late() {
        // The first entry of a thread changes three variables, each other one its privilege alone: 12 changes more than can wait.
        let ahead = (1..=MOST_WAITING as u64 + 10).map(|cycle| context(0, cycle, (cycle % 2) as u8));
        let (times, late) = times(ahead.chain([context(1, 1, 3)]));
        // These 12 are of cycles 1 to 10, so what the other thread changed at cycle 1 is shown at cycle 10.
        assert_eq!(late, 3);
        assert!(times.is_sorted() && times.starts_with(&[1, 2, 3]), "times go back");
    }
}
