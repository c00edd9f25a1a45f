//! The first Itanium's performance monitor, written from the fragment of its reference manual (6.2.4 to 6.2.7), the Itanium Architecture
//! Software Developer's Manual, volume 2, section 7.2, and where they are silent from `docs/notes/itanium.md` and the decisions M43 to M56.
//!
//! It knows the counters, their overflow and freeze, and who may access what. What an address range, an opcode matcher or a capture decides
//! is unknown here, and what follows from it too: `docs/notes/reference-itanium.md` has the list.

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::event::{Drive, Entry, ITANIUM, Internal, Qualifiers, UnitMask};
use vm_pmu_arch::feed::{Context, Record, Signal};
use vm_pmu_arch::model::{Occurrence, Reset};

use crate::Reference;
use crate::ia64::{Amount, Breakpoints, Counters, FREEZE, INSTRUCTION_SET, PRIVILEGED_MONITOR, SECURE, USER_MONITOR, of};

/// PMC0: the overflow bits 7:4 (Table 6-8).
const OVERFLOWS: u64 = 0xF0;

/// Bits of PMC4 to PMC7: levels 3:0, overflow interrupt, privileged monitor.
const INTERRUPTS: u64 = 1 << 5;
const PRIVILEGED: u64 = 1 << 6;

/// An opcode matcher that is open: all types, and every bit masked (Table 6-11).
const OPEN: u64 = 0xF000_0000_3FFF_FFF8;

/// PMC11: all tags pass, whatever the data address (6.2.6).
const PASS_TAGS: u64 = 1 << 28;

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

/// An address with bits 60:51 as copies of bit 50 (M49).
const fn canonical(value: u64) -> u64 {
    const COPIES: u64 = 0x3FF << 51;
    if value >> 50 & 1 == 0 { value & !COPIES } else { value | COPIES }
}

/// One first Itanium, or several that have nothing in common.
pub struct Itanium {
    threads: Vec<Thread>,
    /// Interrupts since they were last taken; `None` where they are not known.
    asked: Option<Vec<(usize, u32)>>,
}

struct Thread {
    context: Context,
    /// PMC1 to PMC13.
    pmc: [u64; 14],
    /// PMC0, and PMD4 to PMD7 with 32 bits each (M43).
    counters: Counters<4>,
    /// The other PMDs of 0 to 17, where they are known.
    pmd: [Option<u64>; 18],
    ibr: Breakpoints,
    dbr: Breakpoints,
    /// A load may be followed, or the target of a branch awaited: their captures may come at any time.
    followed: bool,
    awaited: bool,
}

impl Thread {
    fn new() -> Thread {
        let mut pmc = [0; 14];
        (pmc[8], pmc[9], pmc[11], pmc[13]) = (OPEN, OPEN, PASS_TAGS, 1);
        Thread {
            context: Context::RESET,
            pmc,
            counters: Counters::new(32),
            pmd: [Some(0); 18],
            ibr: Breakpoints::of_instructions(),
            dbr: Breakpoints::of_data(),
            followed: false,
            awaited: false,
        }
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
    fn chosen(&self, number: usize) -> Option<(&'static Entry, Vec<&'static Entry>)> {
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

    /// Whether ranges or matchers may constrain an event (6.2.4 to 6.2.6).
    fn constrains(&self, qualifiers: Qualifiers, drive: Drive) -> bool {
        let tagged_by_second = matches!(drive, Drive::Internal(Internal::TaggedInstructions(1)));
        let data = qualifiers.contains(Qualifiers::DATA_ADDRESS);
        let opcode = data || qualifiers.contains(Qualifiers::OPCODE);
        let matcher = if tagged_by_second { self.pmc[9] } else { self.pmc[8] };
        let is_open = matcher & OPEN == OPEN;
        !qualifiers.is_empty() && (self.pmc[13] & 1 == 0 || opcode && !is_open || data && self.pmc[11] & PASS_TAGS == 0)
    }

    /// The threshold of counter `number` lets nothing through, everything, or what only single cycles show.
    fn threshold(&self, number: usize, event: &Entry, told: Amount) -> Amount {
        let width = if number < 6 { 7 } else { 3 };
        match self.pmc[number] >> 20 & width {
            0 => told,
            // More than the threshold never come in a cycle.
            least if least >= u64::from(event.max_per_cycle) => Some(0),
            _ if told == Some(0) => Some(0),
            _ => None,
        }
    }

    /// What counter `number` adds in a step with these signals, where nothing stops it.
    fn amount(&self, number: usize, signals: &[(Signal, u64)]) -> Amount {
        let Some((event, entries)) = self.chosen(number) else { return Some(0) };
        let mut sum: Amount = Some(0);
        for entry in entries {
            let own = match entry.drive {
                // The clock stands still; what else is told is counted (docs/notes/montecito.md, R11).
                Drive::Signals if self.context.halted && entry.signals.contains(&Signal::Cycles) => Some(0),
                Drive::Signals => Some(entry.signals.iter().map(|signal| u128::from(of(signals, *signal))).sum()),
                Drive::Internal(Internal::TaggedInstructions(_)) => Some(u128::from(of(signals, Signal::InstructionsRetired))),
                Drive::Internal(Internal::PrivilegeChange(_)) => Some(0),
                Drive::Internal(Internal::DataAddressCapture) if self.pmc[11] & 0xF == 0 => Some(0),
                Drive::Internal(Internal::InstructionAddressCapture) if self.pmc[10] & 0xF == 0 => Some(0),
                Drive::Internal(Internal::TraceEntry) if self.pmc[12] & 0xF == 0 => Some(0),
                _ => None,
            };
            let own = if own == Some(0) || !self.constrains(event.qualifiers, entry.drive) { own } else { None };
            sum = sum.zip(own).map(|(sum, own)| sum + own);
        }
        self.threshold(number, event, sum)
    }

    /// The counters grow by these amounts together. Returns the counter of the interrupt, if one is asked for; `Err` where that is not known.
    fn add(&mut self, amounts: [Amount; 4]) -> Result<Option<u32>, ()> {
        let admitted = |number: usize| self.admits(self.pmc[number], true);
        let amounts = [0, 1, 2, 3].map(|index| if admitted(index + 4) { amounts[index] } else { Some(0) });
        let asks = (4..8).filter(|number| self.pmc[*number] & INTERRUPTS != 0).fold(0, |bits, number| bits | 1 << number);
        self.counters.add(&amounts, asks).interrupt
    }

    /// What captures may have done at an instruction.
    fn capture(&mut self, record: &Record) {
        if self.counters.frozen() == Some(true) {
            return;
        }
        let fetches = record.fetch.is_some() && self.admits(self.pmc[10], true);
        self.followed |= record.memory.is_some() && self.admits(self.pmc[11], true);
        self.awaited |= record.branch.is_some() && self.admits(self.pmc[12], false);
        let lost = [(fetches, 0..=1), (self.followed, 2..=3), (self.followed, 17..=17), (self.awaited, 8..=16)];
        for pmd in lost.into_iter().filter(|(lost, _)| *lost).flat_map(|(_, range)| range) {
            self.pmd[pmd] = None;
        }
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

    fn read(&self, address: Address) -> Option<Result<u64, Fault>> {
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
                match self.pmd.get(number) {
                    None => Some(0),
                    Some(_) if hidden => Some(0),
                    Some(_) if (4..=7).contains(&number) => self.counters.read(number),
                    Some(value) => *value,
                }
            }
            _ => return Some(Err(Fault::Unclaimed)),
        };
        value.map(Ok)
    }

    /// Writes a register and returns the counter of the interrupt that this raises.
    fn write(&mut self, address: Address, value: u64) -> Result<Option<u32>, Fault> {
        let above = self.context.privilege != 0;
        match address {
            Address::Pmc(_) | Address::Pmd(_) | Address::Ibr(_) | Address::Dbr(_) if above => return Err(Fault::PrivilegedOperation),
            Address::Ibr(number) => self.ibr.write(number, value)?,
            Address::Dbr(number) => self.dbr.write(number, value)?,
            Address::Pmc(0) => {
                let status = self.counters.set_status(value);
                // A freeze with an overflow raises one pulse (M44).
                let overflows = status & OVERFLOWS;
                return Ok((status & FREEZE != 0 && overflows != 0).then_some(overflows.trailing_zeros()));
            }
            Address::Pmc(number) => {
                let number = usize::from(number);
                if let Some(register) = self.pmc.get_mut(number) {
                    *register = value & kept(number);
                }
            }
            Address::Pmd(number @ 4..=7) => self.counters.write(number.into(), value),
            Address::Pmd(number) => {
                let number = usize::from(number);
                if let Some(register) = self.pmd.get_mut(number) {
                    *register = Some(match number {
                        0 | 2 | 8..=15 | 17 => canonical(value) & held(number),
                        _ => value & held(number),
                    });
                }
            }
            _ => return Err(Fault::Unclaimed),
        }
        Ok(None)
    }
}

impl Itanium {
    /// So many processors, as after power-on.
    #[must_use]
    pub fn new(threads: usize) -> Itanium {
        Itanium { threads: (0..threads).map(|_| Thread::new()).collect(), asked: Some(Vec::new()) }
    }

    /// The counters of a thread grow.
    fn add(&mut self, thread: usize, amounts: [Amount; 4]) {
        match self.threads[thread].add(amounts) {
            Ok(None) => {}
            Ok(Some(counter)) => self.ask(thread, counter),
            Err(()) => self.asked = None,
        }
    }

    fn ask(&mut self, thread: usize, counter: u32) {
        if let Some(asked) = &mut self.asked {
            asked.push((thread, counter));
        }
    }
}

impl Reference for Itanium {
    fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault> {
        if let Some(counter) = self.threads[thread].write(address, value)? {
            self.ask(thread, counter);
        }
        Ok(())
    }

    fn read(&mut self, thread: usize, address: Address) -> Option<Result<u64, Fault>> {
        self.threads[thread].read(address)
    }

    fn instruction(&mut self, thread: usize, signals: &[(Signal, u64)], record: &Record) {
        let own = &mut self.threads[thread];
        own.capture(record);
        let amounts = [4, 5, 6, 7].map(|number| own.amount(number, signals));
        self.add(thread, amounts);
    }

    /// A processor is alone in its package; no event of the part counts what devices do.
    fn devices(&mut self, _: &[(Signal, u64)]) {}

    fn inject(&mut self, thread: usize, occurrence: Occurrence, amount: u64) {
        let own = &self.threads[thread];
        let amounts = [4, 5, 6, 7].map(|number| {
            let configuration = own.pmc[number];
            if u64::from(occurrence.select) != configuration >> 8 & 0x7F || amount == 0 {
                return Some(0);
            }
            let Some((event, entries)) = own.chosen(number) else { return Some(0) };
            // The clock stands still, whoever says that it ticks.
            if own.context.halted && entries.iter().any(|entry| entry.signals.contains(&Signal::Cycles)) {
                return Some(0);
            }
            let programmed = (configuration >> 16 & 0xF) as u32;
            let told = match event.shape {
                UnitMask::None => Some(u128::from(amount)),
                _ if entries.is_empty() => Some(0),
                UnitMask::Ordinal if occurrence.umask != programmed => Some(0),
                UnitMask::Ordinal => Some(u128::from(amount)),
                _ => None,
            };
            let is_internal = entries.iter().any(|entry| matches!(entry.drive, Drive::Internal(_)));
            let constrained = is_internal || own.constrains(event.qualifiers, event.drive);
            own.threshold(number, event, if constrained && told != Some(0) { None } else { told })
        });
        self.add(thread, amounts);
    }

    fn set_context(&mut self, thread: usize, context: Context) {
        let own = &self.threads[thread];
        if own.context.privilege != context.privilege {
            // A change is counted in the state that it leaves (docs/notes/itanium.md 2.1).
            let amounts = [4, 5, 6, 7].map(|number| {
                let changes = |entry: &&Entry| matches!(entry.drive, Drive::Internal(Internal::PrivilegeChange(_)));
                let chosen = own.chosen(number).filter(|(_, entries)| entries.iter().any(changes));
                chosen.map_or(Some(0), |(event, _)| own.threshold(number, event, Some(1)))
            });
            self.add(thread, amounts);
        }
        self.threads[thread].context = context;
    }

    fn reset(&mut self, thread: usize, _: Reset) {
        self.threads[thread] = Thread::new();
    }

    fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>> {
        let unsure = self.threads.iter().any(|thread| thread.counters.frozen().is_none());
        let asked = self.asked.take();
        self.asked = (!unsure).then(Vec::new);
        asked.map(|mut asked| {
            asked.sort_unstable();
            asked
        })
    }
}
