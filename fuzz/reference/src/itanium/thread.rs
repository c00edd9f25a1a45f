//! One processor: its registers, and which event each counter has.

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::event::{Entry, ITANIUM, UnitMask};
use vm_pmu_arch::feed::{Context, Record};

use super::addresses::Addresses;
use super::bits::{OPEN, PASS_TAGS, canonical};
use super::tags::{Filter, Last, Tags};
use super::trace::Trace;
use crate::ia64::{Amount, Breakpoints, Counters, FREEZE, INSTRUCTION_SET, PRIVILEGED_MONITOR, SECURE, USER_MONITOR};

/// PMC0: the overflow bits 7:4 (Table 6-8).
const OVERFLOWS: u64 = 0xF0;

/// Bits of PMC4 to PMC7: levels 3:0, overflow interrupt, privileged monitor.
const INTERRUPTS: u64 = 1 << 5;
const PRIVILEGED: u64 = 1 << 6;

/// The bits that a PMC keeps; the others read as zero (tables 6-8 to 6-12; docs/notes/itanium.md 1.1).
const fn kept(pmc: usize) -> u64 {
    match pmc {
        4 | 5 => 0x037F_7F7F,
        6 | 7 => 0x033F_7F7F,
        8 | 9 => 0xFFFF_FFFE_3FFF_FFF8,
        10 => 0x030F_00CF,
        11 => 0x130F_00CF,
        12 => 0xFFCF,
        13 => 1,
        _ => 0,
    }
}

/// The bits that a PMD other than a counter keeps.
const fn held(pmd: usize) -> u64 {
    match pmd {
        0 => !0x1C,
        1 => 0xFFF,
        3 => 0b11 << 62 | 0xFFF,
        16 => 0xF,
        17 => !0b10,
        _ => u64::MAX,
    }
}

/// How often a thread's captures captured something.
#[derive(Clone, Copy)]
pub(super) struct Captures {
    pub(super) data: Amount,
    pub(super) instruction: Amount,
    /// Branches, and not entries.
    pub(super) branches: Amount,
}

pub(super) struct Thread {
    pub(super) context: Context,
    /// PMC1 to PMC13.
    pub(super) pmc: [u64; 14],
    /// PMC0, and PMD4 to PMD7 with 32 bits each (M43).
    pub(super) counters: Counters<4>,
    addresses: Addresses,
    trace: Trace,
    ibr: Breakpoints,
    dbr: Breakpoints,
    /// The instruction that injections belong to.
    pub(super) last: Last,
    /// Cycles that were told.
    cycles: u128,
    /// What each counter with a threshold has seen of the cycle that is open.
    open: [Amount; 4],
}

impl Thread {
    pub(super) fn new() -> Thread {
        let mut pmc = [0; 14];
        (pmc[8], pmc[9], pmc[11], pmc[13]) = (OPEN, OPEN, PASS_TAGS, 1);
        Thread {
            context: Context::RESET,
            pmc,
            counters: Counters::new(32),
            addresses: Addresses::new(),
            trace: Trace::new(),
            ibr: Breakpoints::of_instructions(),
            dbr: Breakpoints::of_data(),
            last: Last::Nobody,
            cycles: 0,
            open: [Some(0); 4],
        }
    }

    pub(super) fn filter(&self) -> Filter<'_> {
        Filter { pmc: &self.pmc, instructions: &self.ibr, data: &self.dbr }
    }

    /// Whether a configuration admits this state of the thread: level, monitor and, where it has such bits, instruction set
    /// (docs/notes/itanium.md 2.1). The freeze is left out.
    fn admits(&self, configuration: u64, has_sets: bool) -> bool {
        let psr = self.context.machine_state;
        let monitor = if configuration & PRIVILEGED != 0 { PRIVILEGED_MONITOR } else { USER_MONITOR };
        // Bit 24 shuts IA-64 out, bit 25 IA-32.
        let shut = if psr & INSTRUCTION_SET == 0 { 1 << 24 } else { 1 << 25 };
        let level = 1 << (self.context.privilege & 3);
        configuration & level != 0 && psr & monitor != 0 && (!has_sets || configuration & shut == 0)
    }

    /// The event of counter `number`, if it can count there, and the entries that its unit mask chooses.
    pub(super) fn chosen(&self, number: usize) -> Option<(&'static Entry, Vec<&'static Entry>)> {
        let configuration = self.pmc[number];
        let (select, umask) = ((configuration >> 8 & 0x7F) as u32, (configuration >> 16 & 0xF) as u32);
        let (event, masks) = ITANIUM.select(select)?;
        if event.counters >> number & 1 == 0 {
            return None;
        }
        let entries: Vec<&Entry> = match event.shape {
            UnitMask::None => vec![event],
            // Each bit adds its sub-event; a name of several bits is a sum of them.
            UnitMask::Set => {
                masks.iter().filter(|mask| mask.umask.is_some_and(|own| own.count_ones() == 1 && umask & own == own)).collect()
            }
            shape => masks.iter().filter(|mask| mask.is_chosen_by(umask, shape)).collect(),
        };
        Some((event, entries))
    }

    /// What counter `number` adds where an event brings `told` of it in a step, with so many cycles. `is_blurred` says that single cycles
    /// of the step cannot be told apart.
    pub(super) fn counted(&mut self, number: usize, event: &Entry, told: Amount, is_blurred: bool, cycles: u64) -> Amount {
        let width = if number < 6 { 7 } else { 3 };
        let threshold = self.pmc[number] >> 20 & width;
        let frozen = self.counters.frozen();
        let is_stopped = frozen == Some(true) || !self.admits(self.pmc[number], true);
        let open = &mut self.open[number - 4];
        if is_stopped {
            *open = open.filter(|open| *open == 0);
            return Some(0);
        }
        if threshold == 0 {
            return told;
        }
        if threshold >= u64::from(event.max_per_cycle) {
            // More than the threshold never come in a cycle.
            return Some(0);
        }
        let told = if is_blurred { None } else { told };
        *open = open.zip(told).filter(|_| frozen.is_some()).map(|(open, told)| open + told);
        if cycles == 0 {
            return Some(0);
        }
        if self.context.halted {
            // Whether the cycle of a processor that stands still ends is not said.
            *open = open.filter(|open| *open == 0);
            return *open;
        }
        // What a step brings is its first cycle's.
        open.replace(0).map(|value| u128::from(value > u128::from(threshold)))
    }

    /// What the open cycle has is not what one state of the thread let through.
    pub(super) fn lose_open_cycle(&mut self) {
        self.open = self.open.map(|open| open.filter(|open| *open == 0));
    }

    /// The counters grow by these amounts together. Returns the counter of the interrupt, if one is asked for; `Err` where that is not known.
    pub(super) fn add(&mut self, amounts: [Amount; 4]) -> Result<Option<u32>, ()> {
        let asks = (4..8).filter(|number| self.pmc[*number] & INTERRUPTS != 0).fold(0, |bits, number| bits | 1 << number);
        let before = self.counters.frozen();
        let interrupt = self.counters.add(&amounts, asks).interrupt;
        match self.counters.frozen() {
            Some(true) if before != Some(true) => self.freeze(),
            None => self.lose_sight(),
            _ => {}
        }
        interrupt
    }

    /// Everything freezes: what was followed is not any more.
    const fn freeze(&mut self) {
        self.trace.interrupt();
        self.addresses.stop();
    }

    /// Whether everything is frozen is not known.
    const fn lose_sight(&mut self) {
        self.addresses.forget();
        self.trace.forget();
    }

    /// What the captures make of an instruction that took so many cycles.
    pub(super) fn capture(&mut self, record: &Record, tags: &Tags, cycles: u64) -> Captures {
        self.cycles += u128::from(cycles);
        let mut captures = Captures { data: Some(0), instruction: Some(0), branches: Some(0) };
        let Some(frozen) = self.counters.frozen() else {
            self.lose_sight();
            return Captures { data: None, instruction: None, branches: None };
        };
        if frozen {
            return captures;
        }
        if self.admits(self.pmc[10], true) && tags.range {
            captures.instruction = Some(self.addresses.fetch(self.pmc[10], record));
        }
        if self.admits(self.pmc[11], true) && tags.data {
            captures.data = self.addresses.data(self.pmc[11], record, self.cycles);
        }
        if let Some(branch) = &record.branch {
            let is_native = self.context.machine_state & INSTRUCTION_SET == 0;
            let tagged = tags.opcodes[0] && is_native && self.admits(self.pmc[12], false);
            captures.branches = Some(self.trace.branch(self.pmc[12], record, branch, tagged));
        }
        captures
    }

    /// The configuration whose pm hides a PMD from levels above 0 (SDM volume 2, 7.2.1).
    fn governing(&self, pmd: usize) -> u64 {
        match pmd {
            4..=7 => self.pmc[pmd],
            0 | 1 => self.pmc[10],
            2 | 3 | 17 => self.pmc[11],
            _ => self.pmc[12],
        }
    }

    pub(super) fn read(&self, address: Address) -> Option<Result<u64, Fault>> {
        let above = self.context.privilege != 0;
        let value = match address {
            Address::Pmc(_) | Address::Ibr(_) | Address::Dbr(_) if above => return Some(Err(Fault::PrivilegedOperation)),
            Address::Ibr(number) => return Some(self.ibr.read(number)),
            Address::Dbr(number) => return Some(self.dbr.read(number)),
            Address::Pmc(0) => self.counters.status(),
            Address::Pmc(number) => Some(self.pmc.get(usize::from(number)).copied().unwrap_or(0)),
            Address::Pmd(number) => {
                let number = usize::from(number);
                let hidden = above && (self.context.machine_state & SECURE != 0 || self.governing(number) & PRIVILEGED != 0);
                match number {
                    0..=17 if hidden => Some(0),
                    0 | 1 => self.addresses.fetch[number],
                    2 | 3 => self.addresses.data[number - 2],
                    4..=7 => self.counters.read(number),
                    8..=16 => self.trace.read(number),
                    17 => self.addresses.data[2],
                    _ => Some(0),
                }
            }
            _ => return Some(Err(Fault::Unclaimed)),
        };
        value.map(Ok)
    }

    /// Writes a register and returns the counter of the interrupt that this raises.
    pub(super) fn write(&mut self, address: Address, value: u64) -> Result<Option<u32>, Fault> {
        let above = self.context.privilege != 0;
        match address {
            Address::Pmc(_) | Address::Pmd(_) | Address::Ibr(_) | Address::Dbr(_) if above => return Err(Fault::PrivilegedOperation),
            Address::Ibr(number) => {
                self.ibr.write(number, value)?;
                self.lose_open_cycle();
            }
            Address::Dbr(number) => {
                self.dbr.write(number, value)?;
                self.lose_open_cycle();
            }
            Address::Pmc(0) => {
                let before = self.counters.frozen();
                let status = self.counters.set_status(value);
                if before != Some(status & FREEZE != 0) {
                    self.lose_open_cycle();
                }
                if status & FREEZE != 0 && before != Some(true) {
                    self.freeze();
                }
                // A freeze with an overflow raises one pulse (M44).
                let overflows = status & OVERFLOWS;
                return Ok((status & FREEZE != 0 && overflows != 0).then_some(overflows.trailing_zeros()));
            }
            Address::Pmc(number) => self.configure(number.into(), value),
            Address::Pmd(number) => {
                let number = usize::from(number);
                let value = value & held(number);
                match number {
                    0 => self.addresses.fetch[0] = Some(canonical(value)),
                    1 => self.addresses.fetch[1] = Some(value),
                    2 => self.addresses.data[0] = Some(canonical(value)),
                    3 => self.addresses.data[1] = Some(value),
                    4..=7 => self.counters.write(number, value),
                    8..=16 => self.trace.write(number, value),
                    17 => self.addresses.data[2] = Some(canonical(value)),
                    _ => {}
                }
            }
            _ => return Err(Fault::Unclaimed),
        }
        Ok(None)
    }

    fn configure(&mut self, number: usize, value: u64) {
        let Some(register) = self.pmc.get_mut(number) else { return };
        *register = value & kept(number);
        match number {
            4..=9 | 13 => self.lose_open_cycle(),
            // A monitor of no load follows none (D207): without a level or instruction set, of translations, with an empty unit mask.
            11 => {
                let register = *register;
                self.lose_open_cycle();
                if register & 0xF == 0 || register >> 24 & 3 == 3 || register >> 7 & 1 != 0 || register >> 16 & 0xF > 10 {
                    self.addresses.stop();
                }
            }
            // M55.
            12 => self.trace.interrupt(),
            _ => {}
        }
    }
}
