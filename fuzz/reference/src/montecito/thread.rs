//! One thread: its registers, and what its captures make of an instruction.

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::feed::{Context, Record};

use super::addresses::Addresses;
use super::buffer::Buffer;
use super::pointers::Pointers;
use super::registers::{EXTERNAL, MONITOR, Registers, SELECTION};
use super::tags::{Filter, Told};
use super::trace::Trace;
use crate::ia64::{Added, Amount, Breakpoints, Counters, FREEZE, SECURE};

/// How often a thread's captures captured something.
#[derive(Clone, Copy)]
pub(super) struct Captures {
    pub(super) data: Amount,
    pub(super) instruction: Amount,
    pub(super) trace: Amount,
}

impl Captures {
    pub(super) const NONE: Captures = Captures { data: Some(0), instruction: Some(0), trace: Some(0) };
}

pub(super) struct Thread {
    pub(super) context: Context,
    pub(super) registers: Registers,
    /// PMC0 and PMD4 to PMD15, of 47 bits (M12).
    pub(super) counters: Counters<12>,
    pub(super) instructions: Breakpoints,
    pub(super) data: Breakpoints,
    pub(super) addresses: Addresses,
    buffer: Buffer,
    trace: Trace,
    pointers: Pointers,
    /// What each counter with a threshold has seen of the cycle that is open.
    pub(super) open: [Amount; 12],
    /// The instruction that injections belong to, if nothing has changed since.
    pub(super) last: Option<Told>,
    /// Cycles that were told.
    cycles: u128,
    watched: u32,
    /// How often the pin of each counter has toggled.
    toggles: [Option<u64>; 12],
}

impl Thread {
    pub(super) fn new() -> Thread {
        Thread {
            context: Context::RESET,
            registers: Registers::new(),
            counters: Counters::new(47),
            instructions: Breakpoints::of_instructions(),
            data: Breakpoints::of_data(),
            addresses: Addresses::new(),
            buffer: Buffer::new(),
            trace: Trace::new(),
            pointers: Pointers::new(),
            open: [Some(0); 12],
            last: None,
            cycles: 0,
            watched: 0,
            toggles: [Some(0); 12],
        }
    }

    /// Everything that the guest sees is as after power-on (3.3.12).
    pub(super) fn reset(&mut self) {
        *self = Thread { cycles: self.cycles, watched: self.watched, ..Thread::new() };
    }

    pub(super) fn filter(&self) -> Filter<'_> {
        Filter { registers: &self.registers, instructions: &self.instructions, data: &self.data }
    }

    /// Whether a monitor is enabled, the freeze left out.
    pub(super) fn admits(&self, pmc: usize) -> bool {
        self.registers.admits(pmc, &self.context)
    }

    /// Whether the trace is enabled, the freeze left out.
    fn traces(&self) -> bool {
        self.registers.trace_mode() == 0 && self.admits(39)
    }

    /// Whether the IP-EAR is, which a switch of threads ends.
    fn points(&self) -> bool {
        self.registers.trace_mode() == 4 && self.admits(42) && self.context.foreground
    }

    /// What the captures make of an instruction that took so many cycles.
    pub(super) fn capture(&mut self, record: &Record, told: &Told, cycles: u64) -> Captures {
        self.cycles += u128::from(cycles);
        let mut captures = Captures::NONE;
        let Some(frozen) = self.counters.frozen() else {
            self.lose_sight();
            return Captures { data: None, instruction: None, trace: None };
        };
        if !frozen {
            if self.admits(37) && told.is_in_range() {
                captures.instruction = self.addresses.fetch(self.registers.get(37), record);
            }
            if self.admits(40) {
                captures.data = self.addresses.data(self.registers.get(40), record, told.has_data_tag(), self.cycles);
            }
            if self.traces() {
                let native = self.context.machine_state & crate::ia64::INSTRUCTION_SET == 0;
                let entries = self.trace.instruction(self.registers.get(39), record, told.is_tagged(), native, &mut self.buffer);
                captures.trace = Some(entries.into());
            } else if record.branch.is_some() {
                self.trace.interrupt();
            }
        }
        let entries = self.pointers.instruction(record, cycles, &mut self.buffer);
        // Whether ETB_EVENT counts what comes within the delay of a freeze, for a counter of both threads, is not said.
        captures.trace = captures.trace.filter(|_| !frozen || entries == Some(0)).zip(entries).map(|(known, entries)| known + entries);
        captures
    }

    /// Everything freezes. Returns whether that makes an entry of the buffer, or may.
    pub(super) fn freeze(&mut self) -> bool {
        self.trace.interrupt();
        self.addresses.stop();
        self.pointers.freeze(self.registers.delay(), &mut self.buffer)
    }

    /// Whether everything is frozen is not known.
    pub(super) fn lose_sight(&mut self) {
        self.addresses.forget();
        self.buffer.forget();
        if !self.pointers.is_off() {
            self.pointers.forget();
        }
    }

    /// Begins the IP-EAR, if it may run, does not, and nothing is frozen.
    fn begin_pointers(&mut self) {
        match self.counters.frozen() {
            _ if !self.points() => self.pointers.begin(false),
            frozen if self.pointers.is_off() => match frozen {
                Some(frozen) => self.pointers.begin(!frozen),
                None => self.pointers.forget(),
            },
            _ => {}
        }
    }

    /// What the open cycle has is not what one state of the thread let through.
    pub(super) fn lose_open_cycle(&mut self) {
        self.open = self.open.map(|open| open.filter(|open| *open == 0));
    }

    /// The state of the thread changes. Returns whether that makes an entry of the buffer, or may.
    pub(super) fn change(&mut self, context: Context) -> bool {
        if self.context == context {
            return false;
        }
        self.context = context;
        self.lose_open_cycle();
        if !self.points() {
            return self.pointers.disable(self.registers.delay(), &mut self.buffer);
        }
        self.begin_pointers();
        false
    }

    /// Pins toggle.
    pub(super) fn toggle(&mut self, added: &Added) {
        for (index, toggles) in self.toggles.iter_mut().enumerate() {
            let number = index + 4;
            if self.registers.get(number) & EXTERNAL == 0 {
                continue;
            }
            let is_watched = self.watched >> number & 1 != 0;
            if added.unsure >> number & 1 != 0 || added.wrapped >> number & 1 != 0 && !is_watched {
                *toggles = None;
            } else if added.wrapped >> number & 1 != 0 {
                *toggles = toggles.map(|toggles| toggles + 1);
            }
        }
    }

    pub(super) fn watch(&mut self, pins: u32) {
        self.watched = pins;
    }

    pub(super) fn toggles(&self, pin: u32) -> Option<u64> {
        match pin {
            4..=15 => self.toggles[pin as usize - 4],
            _ => Some(0),
        }
    }

    /// The register whose pm hides a PMD from levels above 0 (M2).
    fn governing(&self, pmd: usize) -> usize {
        match pmd {
            4..=15 => pmd,
            32 | 33 | 36 => 40,
            34 | 35 => 37,
            _ if self.registers.trace_mode() != 0 => 42,
            _ => 39,
        }
    }

    pub(super) fn read(&self, address: Address) -> Option<Result<u64, Fault>> {
        let above = self.context.privilege != 0;
        let value = match address {
            Address::Pmc(_) | Address::Ibr(_) | Address::Dbr(_) if above => return Some(Err(Fault::PrivilegedOperation)),
            Address::Ibr(number) => return Some(self.instructions.read(number)),
            Address::Dbr(number) => return Some(self.data.read(number)),
            Address::Pmc(0) => self.counters.status(),
            Address::Pmc(number) => Some(self.registers.get(number.into())),
            Address::Pmd(number) => {
                let number = usize::from(number);
                let hidden = above && (self.context.machine_state & SECURE != 0 || self.registers.privileged(self.governing(number)));
                match number {
                    4..=15 | 32..=36 | 38..=39 | 48..=63 if hidden => Some(0),
                    4..=15 => self.counters.read(number),
                    32..=36 => self.addresses.pmd[number - 32],
                    38..=39 | 48..=63 => self.buffer.read(number),
                    _ => Some(0),
                }
            }
            _ => return Some(Err(Fault::Unclaimed)),
        };
        value.map(Ok)
    }

    /// Writes a register. Returns whether that makes an entry of the buffer, or may.
    pub(super) fn write(&mut self, address: Address, value: u64) -> Result<bool, Fault> {
        if self.context.privilege != 0 && matches!(address, Address::Pmc(_) | Address::Pmd(_) | Address::Ibr(_) | Address::Dbr(_)) {
            return Err(Fault::PrivilegedOperation);
        }
        match address {
            Address::Ibr(number) => self.instructions.write(number, value)?,
            Address::Dbr(number) => self.data.write(number, value)?,
            Address::Pmc(0) => return Ok(self.write_status(value)),
            Address::Pmc(number) => self.configure(number.into(), value),
            Address::Pmd(number) => {
                let number = usize::from(number);
                match number {
                    4..=15 => self.counters.write(number, value),
                    32..=36 => self.addresses.pmd[number - 32] = Some(value & Addresses::kept(number)),
                    38..=39 | 48..=63 => {
                        self.trace.interrupt();
                        self.buffer.write(number, value);
                    }
                    _ => {}
                }
            }
            _ => return Err(Fault::Unclaimed),
        }
        Ok(false)
    }

    /// PMC0: software freezes, or lets everything go on.
    fn write_status(&mut self, value: u64) -> bool {
        let before = self.counters.frozen();
        let frozen = self.counters.set_status(value) & FREEZE != 0;
        if before == Some(frozen) {
            return false;
        }
        self.lose_open_cycle();
        if frozen {
            return self.freeze();
        }
        self.pointers.unfreeze(self.points());
        false
    }

    fn configure(&mut self, number: usize, value: u64) {
        let before = self.registers.get(number);
        self.registers.set(number, value);
        match number {
            // A counter that selects what it selected goes on with its open cycle; at which level that came is not known.
            4..=15 => {
                let changed = self.registers.get(number) ^ before;
                let open = &mut self.open[number - 4];
                match (changed & SELECTION != 0, changed & MONITOR != 0) {
                    (true, _) => *open = Some(0),
                    (false, true) => *open = open.filter(|open| *open == 0),
                    (false, false) => {}
                }
            }
            39 => self.trace.interrupt(),
            // A monitor that is off follows nothing (D190).
            40 if !self.registers.measures(40) => self.addresses.stop(),
            42 => {
                self.trace.interrupt();
                // No early freeze: neither PSR nor a switch of threads disables it (Table 3-33, D189).
                self.begin_pointers();
            }
            _ => {}
        }
    }
}
