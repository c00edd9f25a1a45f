//! `nest-linux`: what Linux's driver does with the nests of two chips (`arch/powerpc/perf/imc-pmu.c`).
//!
//! The first CPU of each chip that comes online is the one that counts for the chip, and stops its nest. The first event that is opened on
//! a chip starts it, the last that is closed stops it. An event's count is what its cell grows by.

use super::firmware::{INIT, NEST, PARAMETER, START, STOP, SUCCESS};
use super::posted::load_double;
use super::{NEST_UNIT, Nest, PAUSED, RUNNING, STATUS};
use crate::power::{CPU, Kernel, own};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, Gpr, R3, R4, R5, R6, R13, R14, R15, R16, R17, R18};
use vm_pmu_engines::power::registers::spr;

const CPUS: u32 = 4;
const THREADS: u64 = 2;
/// The CPUs that count for their chips.
const COUNTING: [u64; 2] = [0, THREADS];
/// In a CPU's own area: the cells of its events and what they held when they were opened.
const CELLS: i64 = own(0);
const BEFORE: i64 = own(4);

/// The events of a chip: their unit's prefix, their name, their scale.
const EVENTS: [(&str, &str, u64); 3] =
    [("PM_PB_", "PM_PB_CYC", 256), ("PM_XLINK2_", "PM_XLINK2_OUT_ODD_CYC", 4096), ("PM_PHB5_", "PM_PHB5_CYC", 1)];

struct Guest {
    k: Kernel,
    nest: Nest,
}

impl Guest {
    /// All four meet.
    fn meet(&mut self) {
        let counter = self.k.reserve(8);
        self.k.barrier(counter, CPUS);
    }

    /// Runs `body` on the CPU of this number alone.
    fn on(&mut self, cpu: u64, body: impl FnOnce(&mut Guest)) {
        let others = self.k.a.label();
        self.k.a.ld(R17, CPU, R13);
        self.k.a.cmpdi(CR0, R17, cpu as i64);
        self.k.a.bne(others);
        body(self);
        self.k.a.here(others);
    }

    fn check_status(&mut self, label: &str, right: u64) {
        self.k.a.addi(R3, R14, STATUS);
        self.nest.waiting.value(&mut self.k, right);
        self.k.check_is(label, R3, right);
    }

    /// What the driver reads when it starts: where the events of the chips are, for the CPUs that will count for them.
    fn probe(&mut self, cpu: u64) {
        let chip = cpu / THREADS;
        self.on(cpu, |guest| {
            guest.nest.open(&mut guest.k, chip);
            guest.chip_of_index(chip);
            for (index, (prefix, event, scale)) in (0..).zip(EVENTS) {
                guest.nest.tree.unit(&mut guest.k, NEST_UNIT, prefix);
                guest.nest.tree.event(&mut guest.k, event, chip);
                guest.k.a.std(R3, CELLS + 8 * index, R13);
                guest.k.check_is(&format!("the scale of {event} for CPU {cpu}"), R4, scale);
            }
        });
    }

    /// A CPU comes online: the first of its chip stops the nest.
    fn online(&mut self, cpu: u64) {
        let chip = cpu / THREADS;
        self.on(cpu, |guest| {
            guest.k.a.mfspr(R3, spr::PIR);
            // Chips 0 and 8; one core each.
            guest.k.check_is(&format!("PIR of CPU {cpu}"), R3, (chip << 11) + cpu % THREADS);
            if cpu.is_multiple_of(THREADS) {
                guest.nest.firmware.nest(&mut guest.k, STOP, &format!("CPU {cpu} stops the nest of its chip"));
                guest.check_status(&format!("the nest of chip {chip} is paused"), PAUSED);
            }
        });
        // One after the other.
        self.meet();
    }

    /// `chip-id` has the chip's number at the index at which `base-addr` has its home memory.
    fn chip_of_index(&mut self, chip: u64) {
        let Guest { k, nest } = self;
        nest.tree.unit(k, NEST_UNIT, "PM_PB_");
        k.a.mr(R3, vm_pmu_engines::power::assemble::R23);
        nest.tree.property(k, "chip-id");
        super::posted::load_word(k, R16, 4 * chip as i64, R3);
        k.a.mfspr(R4, spr::PIR);
        k.a.srdi(R17, R4, 8);
        k.check_same(&format!("chip-id of chip {chip}"), R16, R17);
    }

    /// Opens the event of this index: the first starts the nest.
    fn open(&mut self, cpu: u64, index: i64, first: bool) {
        self.on(cpu, |guest| {
            if first {
                guest.nest.firmware.nest(&mut guest.k, START, &format!("CPU {cpu} starts the nest of its chip"));
                guest.check_status(&format!("the nest of CPU {cpu} posts"), RUNNING);
                // What was counted before, and the first reading of counters that run on, is posted by now.
                guest.rounds(3);
            }
            guest.cell(R4, index);
            guest.k.a.std(R4, BEFORE + 8 * index, R13);
        });
    }

    /// Waits until every group has been posted so many times: three rounds of eight slots have every host bridge.
    fn rounds(&mut self, rounds: u64) {
        // Group 7 is posted last of a round.
        self.k.a.addi(R3, R15, 0x660);
        self.nest.waiting.updates(&mut self.k, rounds);
    }

    /// What the event's cell holds.
    fn cell(&mut self, to: Gpr, index: i64) {
        self.k.a.ld(R5, CELLS + 8 * index, R13);
        load_double(&mut self.k, to, 0, R5);
    }

    /// What the event has counted since it was opened.
    fn count(&mut self, to: Gpr, index: i64) {
        self.cell(to, index);
        self.k.a.ld(R6, BEFORE + 8 * index, R13);
        self.k.a.subf(to, R6, to);
    }

    /// Closes the last event: the nest stops, and nothing is posted any more.
    fn close(&mut self, cpu: u64) {
        self.on(cpu, |guest| {
            guest.nest.firmware.nest(&mut guest.k, STOP, &format!("CPU {cpu} stops the nest at the last event"));
            guest.check_status(&format!("the nest of CPU {cpu} pauses"), PAUSED);
            guest.count(R18, 0);
            guest.k.a.load(R3, 8000);
            guest.k.a.mtctr(R3);
            let again = guest.k.a.mark();
            guest.k.a.bdnz(again);
            guest.count(R16, 0);
            guest.k.check_same(&format!("the nest of CPU {cpu} posts nothing"), R16, R18);
        });
    }

    /// Calls that firmware refuses, and those that do nothing.
    fn refusals(&mut self) {
        const NOBODY: u64 = 0x123;
        let calls = [
            ("INIT of a nest does nothing", INIT, NEST, 0, NOBODY, SUCCESS),
            ("START of a CPU that is none", START, NEST, NOBODY, 0, PARAMETER),
            ("STOP of a CPU that is none", STOP, NEST, NOBODY, 0, PARAMETER),
            ("START of counters that are none", START, 9, 0, 0, SUCCESS),
            ("a call that is none", 0x7FFF, 0, 0, 0, PARAMETER),
        ];
        for (label, number, first, second, third, right) in calls {
            for (register, value) in [(R3, first), (R4, second), (R5, third)] {
                self.k.a.load(register, value);
            }
            self.nest.firmware.call(&mut self.k, number);
            self.k.check_is(label, R3, right);
        }
    }

    /// The events of a chip over 12 rounds, which are 96 slots of 500 cycles: 48000 cycles of the nest.
    fn check_counts(&mut self, cpu: u64) {
        self.rounds(12);
        for (index, (_, event, scale)) in (0..).zip(EVENTS) {
            self.count(R16, index);
            in_events(&mut self.k, scale);
            // Each was read somewhere between two of its postings: a host bridge has one in 24 slots, a link one in four.
            self.k.check(&format!("{event} of CPU {cpu}"), R16, 48_000 - 12_000, 48_000 + 13_000);
        }
    }
}

/// GPR 16 in events.
fn in_events(k: &mut Kernel, scale: u64) {
    k.a.load(R5, scale);
    k.a.mulld(R16, R16, R5);
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::with_tree(little_endian, THREADS);
    let nest = Nest::new(&mut k);
    k.main();
    let mut guest = Guest { k, nest };
    for cpu in COUNTING {
        guest.probe(cpu);
    }
    guest.meet();
    for cpu in 0..u64::from(CPUS) {
        guest.online(cpu);
    }
    guest.on(0, Guest::refusals);
    guest.meet();
    // The first events of both chips, on the CPUs that count for them.
    for (cpu, index, first) in [(0, 0, true), (0, 1, false), (2, 0, true), (0, 2, false), (2, 1, false), (2, 2, false)] {
        guest.open(cpu, index, first);
    }
    guest.meet();
    for cpu in COUNTING {
        guest.on(cpu, |guest| guest.check_counts(cpu));
    }
    guest.meet();
    // The nest of one chip stops, that of the other continues.
    guest.close(0);
    guest.meet();
    guest.on(2, |guest| {
        guest.rounds(2);
        guest.k.check("the other nest goes on", R3, 1, 1 << 20);
    });
    guest.meet();
    guest.close(2);
    guest.meet();
    guest.k.end_main();
    guest.k.finish()
}
