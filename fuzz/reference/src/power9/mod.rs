//! A POWER9 core's performance monitor, written from the POWER9 PMU User's Guide 1.2 and the Power ISA 3.0B, Book III, chapter 9.
//!
//! Where the manuals are silent, the decisions P1 to P40 of `docs/src/decisions` and the litmus files stand for them.
//! `docs/notes/reference-power9.md` lists what the reference does not know.

mod access;
mod bits;
mod edges;
mod freezing;
mod history;
mod selection;
mod thread;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Context, NestedStep, Record, Signal};
use vm_pmu_arch::model::{Occurrence, Reset};

use crate::Reference;
use access::{Level, Place, place};
use bits::{LDBAR_KEPT, MMCRC_KEPT, bescr, mmcr0, mmcr2, mmcra, sier, spr};
use thread::{Surroundings, Thread};

/// One core: its threads, and the register that they share.
struct Core {
    mmcrc: u64,
    threads: Vec<Thread>,
}

impl Core {
    /// What thread `number` sees of the core.
    fn around(&self, number: usize) -> Surroundings {
        // GLOB_FRZ_PMC_0 is bit 60, that of thread 3 bit 63.
        let frozen = self.mmcrc >> (3 - number.min(3)) & 1 != 0;
        Surroundings { frozen, threads: self.threads.len(), running: self.threads.iter().filter(|thread| thread.runs()).count() }
    }

    /// Looks at the conditions of thread `number` after an access or a change of its state.
    fn settle(&mut self, number: usize) {
        let around = self.around(number);
        self.threads[number].settle_access(&around);
    }
}

/// The performance monitors of some cores.
pub struct Power9 {
    cores: Vec<Core>,
    /// How many threads a core has.
    width: usize,
}

impl Power9 {
    /// `cores` cores of `threads` threads each, as after power-on.
    #[must_use]
    pub fn new(cores: usize, threads: usize) -> Power9 {
        let core = || Core { mmcrc: 0, threads: (0..threads).map(|_| Thread::new()).collect() };
        Power9 { cores: (0..cores).map(|_| core()).collect(), width: threads }
    }

    fn core(&mut self, thread: usize) -> (&mut Core, usize) {
        (&mut self.cores[thread / self.width], thread % self.width)
    }

    fn place(&mut self, thread: usize, address: Address, writes: bool) -> Result<Place, Fault> {
        let (core, number) = self.core(thread);
        let thread = &mut core.threads[number];
        let place = place(address, writes, Level::of(thread.context.privilege), thread.context.control, thread.mmcr0);
        if place.is_ok() {
            // The cycle after a write of MMCR1 is over by the next access (P17).
            thread.resume();
        }
        place
    }
}

impl Reference for Power9 {
    fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault> {
        let place = self.place(thread, address, true)?;
        let (core, number) = self.core(thread);
        core.threads.iter_mut().for_each(Thread::doubt_falls);
        let thread = &mut core.threads[number];
        match place {
            Place::Register(register, problem) => thread.write(register, problem, value),
            Place::Bescr(register) => thread.write_bescr(register, value),
            Place::Hypervisor(spr::MMCRC) => {
                core.mmcrc = value & MMCRC_KEPT;
                for number in 0..core.threads.len() {
                    core.settle(number);
                }
                return Ok(());
            }
            Place::Hypervisor(_) => thread.ldbar = value & LDBAR_KEPT,
            Place::History(_) => thread.history.clear(),
            Place::Match => thread.imc = value,
        }
        core.settle(number);
        if place == Place::Register(spr::MMCR1, false) {
            let around = core.around(number);
            core.threads[number].suspend(&around);
        }
        Ok(())
    }

    fn read(&mut self, thread: usize, address: Address) -> Option<Result<u64, Fault>> {
        let place = match self.place(thread, address, false) {
            Ok(place) => place,
            Err(fault) => return Some(Err(fault)),
        };
        let (core, number) = self.core(thread);
        core.settle(number);
        let thread = &core.threads[number];
        let value = match place {
            Place::Register(register, problem) => thread.read(register, problem),
            Place::Bescr(_) => thread.bescr,
            Place::Hypervisor(spr::MMCRC) => Some(core.mmcrc),
            Place::Hypervisor(_) => Some(thread.ldbar),
            Place::History(_) if !thread.lost && thread.mmcr0 & mmcr0::PMAE != 0 => Some(0),
            // Whether PMAE is set may not be known.
            Place::History(entry) => thread.history.read(entry).filter(|value| !thread.lost || *value == 0),
            Place::Match => Some(thread.imc),
        };
        value.map(Ok)
    }

    fn instruction(&mut self, thread: usize, signals: &[(Signal, u64)], record: &Record) {
        let (core, number) = self.core(thread);
        let around = core.around(number);
        core.threads[number].step(signals, Some(record), &around);
    }

    /// No event of a core counts what devices do.
    /// Those of all: a read would end the cycle after a write of MMCR1 (P17).
    fn knows_faults_of(&mut self, _thread: usize, _address: Address) -> bool {
        true
    }

    /// What such steps count is not known.
    fn nested(&mut self, _thread: usize, _step: &NestedStep) -> bool {
        true
    }

    fn devices(&mut self, _: &[(Signal, u64)]) {}

    fn inject(&mut self, thread: usize, occurrence: Occurrence, amount: u64) {
        let (core, number) = self.core(thread);
        let around = core.around(number);
        core.threads[number].inject(occurrence, amount, &around);
    }

    fn set_context(&mut self, thread: usize, context: Context) {
        let (core, number) = self.core(thread);
        core.threads[number].context = context;
        core.threads[number].doubt_falls();
        core.settle(number);
    }

    fn reset(&mut self, thread: usize, _: Reset) {
        let (core, number) = self.core(thread);
        core.threads[number].reset();
        core.mmcrc = 0;
    }

    /// The interrupt is a level: [`lines`](Reference::lines).
    fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>> {
        Some(Vec::new())
    }

    fn lines(&mut self, thread: usize) -> Option<Lines> {
        let (core, number) = self.core(thread);
        core.threads[number].lines()
    }
}

impl Thread {
    /// Writes a register by its privileged number.
    fn write(&mut self, register: u16, problem: bool, value: u64) {
        let part = |old: u64, mask: u64| old & !mask | value & mask;
        match register {
            spr::MMCR0 => {
                let old = self.mmcr0;
                self.mmcr0 = part(old, if problem { mmcr0::PROBLEM } else { u64::MAX }) & mmcr0::KEPT;
                self.lost &= problem;
                if (old ^ self.mmcr0) & mmcr0::PMAE != 0 {
                    self.doubt_data();
                }
            }
            spr::MMCR1 => self.select(value),
            spr::MMCR2 => self.mmcr2 = part(self.mmcr2, if problem { mmcr2::PROBLEM } else { mmcr2::KEPT }),
            // Problem state writes nothing of it (P7).
            spr::MMCRA if problem => {}
            spr::MMCRA => {
                if (self.mmcra ^ value) & mmcra::SDAR_MODE != 0 {
                    self.doubt_data();
                }
                self.mmcra = value & mmcra::KEPT;
                self.threshold.write();
            }
            spr::SIER => self.sier = Some(value & sier::KEPT),
            spr::SIAR => self.siar = Some(value),
            spr::SDAR => {
                self.sdar = Some(value);
                self.forget_data();
            }
            spr::PMC1..=spr::PMC6 => self.counters[usize::from(register - spr::PMC1)] = Some(value as u32),
            _ => {}
        }
    }

    /// Reads a register by its privileged number.
    fn read(&self, register: u16, problem: bool) -> Option<u64> {
        let seen = |value: u64, mask: u64| if problem { value & mask } else { value };
        match register {
            spr::MMCR0 => (!self.lost).then(|| seen(self.mmcr0, mmcr0::PROBLEM)),
            spr::MMCR1 => Some(self.mmcr1),
            spr::MMCR2 => Some(seen(self.mmcr2, mmcr2::PROBLEM)),
            spr::MMCRA if !self.threshold.shown => None,
            spr::MMCRA => Some(seen(self.mmcra, mmcra::THRESH_CTR)),
            spr::SIER => self.sier.map(|value| seen(value, sier::PROBLEM)),
            spr::SIAR => self.siar,
            spr::SDAR => self.sdar,
            spr::PMC1..=spr::PMC6 => self.counters[usize::from(register - spr::PMC1)].map(u64::from),
            _ => None,
        }
    }

    /// A write of BESCR by one of its numbers; with EBE it reaches MMCR0 (P26).
    fn write_bescr(&mut self, register: u16, value: u64) {
        let (set, cleared) = match register {
            spr::BESCR => (value, !value),
            spr::BESCRS => (value, 0),
            spr::BESCRSU => (value << 32, 0),
            spr::BESCRR => (0, value),
            _ => (0, value << 32),
        };
        self.bescr = match self.bescr {
            Some(old) => Some(old & !cleared | set),
            None => (register == spr::BESCR).then_some(value),
        };
        if self.mmcr0 & mmcr0::EBE == 0 {
            return;
        }
        let before = self.mmcr0;
        for (of_bescr, of_mmcr0) in [(bescr::PME, mmcr0::PMAE), (bescr::PMEO, mmcr0::PMAO)] {
            if set & of_bescr != 0 {
                self.mmcr0 |= of_mmcr0;
            } else if cleared & of_bescr != 0 {
                self.mmcr0 &= !of_mmcr0;
            }
        }
        if (before ^ self.mmcr0) & mmcr0::PMAE != 0 {
            self.doubt_data();
        }
    }
}
