//! What must hold of POWER9's nest whatever a guest and an embedder do.

use std::cell::{Cell as Slot, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use proptest::prelude::*;
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};
use vm_pmu::memory::{
    Chip, ControlCell, DEFAULT_BANKS, Event, Guest, Memory, Nest, Overflow, Prescaler, REGION, REGION_SIZE, Setting, Totals, Width,
};

/// Cells of 8 bytes that remembers what was asked of them. None is at an address that is no multiple of 8, nor in the hole.
struct Cells {
    home: u64,
    values: RefCell<BTreeMap<u64, u64>>,
    /// From where to where, in bytes from the start of the region, there is no memory.
    hole: RefCell<Range<u64>>,
    /// Accesses outside the region.
    strays: Slot<u32>,
}

impl Cells {
    fn new(home: u64) -> Cells {
        Cells { home, values: RefCell::default(), hole: RefCell::new(0..0), strays: Slot::new(0) }
    }

    fn check(&self, address: u64) -> Result<(), u64> {
        let offset = address.wrapping_sub(self.home.wrapping_add(REGION));
        // All ones is where no memory is: whoever has no address for a cell asks there.
        if offset >= REGION_SIZE && address != u64::MAX {
            self.strays.set(self.strays.get() + 1);
        }
        if address.is_multiple_of(8) && !self.hole.borrow().contains(&offset) { Ok(()) } else { Err(address) }
    }

    /// What the guest finds at an offset from the start of the region.
    fn at(&self, offset: u64) -> u64 {
        self.values.borrow().get(&self.home.wrapping_add(REGION + offset)).copied().unwrap_or(0)
    }

    /// The guest stores there.
    fn set(&self, offset: u64, value: u64) {
        self.values.borrow_mut().insert(self.home.wrapping_add(REGION + offset), value);
    }
}

impl Memory for Cells {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        self.check(address)?;
        Ok(self.values.borrow().get(&address).copied().unwrap_or(0))
    }

    fn store(&self, address: u64, value: u64) -> Result<(), u64> {
        self.check(address)?;
        self.values.borrow_mut().insert(address, value);
        Ok(())
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        let sum = self.load(address)?.wrapping_add(amount);
        self.store(address, sum)
    }
}

/// Something that a guest or an embedder does.
#[derive(Clone, Debug)]
enum Step {
    Happen {
        event: Event,
        amount: u64,
    },
    /// In twentieths of a slot, at most twenty slots.
    Pass {
        twentieths: u64,
    },
    Control {
        cell: ControlCell,
        value: u64,
    },
    Store {
        offset: u64,
        value: u64,
    },
    Program {
        offset: u32,
        setting: Setting,
    },
    PostNow,
    Hole {
        from: u64,
        to: u64,
    },
}

const SLOT: u64 = 1000;

/// What a guest's memory holds before anything is written to it.
static CANARY: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..0x20_0000u32).map(|place| (place.wrapping_mul(2_654_435_761) >> 24) as u8).collect());

fn value() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..5, 1 => 0u64..16, 1 => any::<u64>(), 1 => Just(0xFFFF_8073_FE7F_E000)]
}

fn event() -> impl Strategy<Value = Event> {
    prop::sample::select(Event::all().collect::<Vec<_>>())
}

fn step() -> impl Strategy<Value = Step> {
    let cells = [
        ControlCell::Status,
        ControlCell::Command,
        ControlCell::Speed,
        ControlCell::Availability,
        ControlCell::Mode,
        ControlCell::ModeInForce,
    ];
    let amount = prop_oneof![0u64..100_000, any::<u64>(), 0u64..1 << 34];
    let offset = prop_oneof![(0u64..0x770 / 8).prop_map(|cell| cell * 8), (0x1_0000u64 / 8..0x1_0770 / 8).prop_map(|cell| cell * 8)];
    let first = prop_oneof![prop::sample::select(DEFAULT_BANKS.map(|bank| bank.offset).to_vec()), any::<u32>(), 0x1_0000u32..0x1_0800];
    let setting = (prop::array::uniform4(0u8..4), any::<bool>()).prop_map(|(codes, freezes)| Setting {
        prescalers: codes.map(Prescaler::of_code),
        overflow: if freezes { Overflow::Freeze } else { Overflow::RunOn },
    });
    prop_oneof![
        4 => (event(), amount).prop_map(|(event, amount)| Step::Happen { event, amount }),
        6 => (0u64..400).prop_map(|twentieths| Step::Pass { twentieths }),
        3 => (prop::sample::select(cells.to_vec()), value()).prop_map(|(cell, value)| Step::Control { cell, value }),
        1 => (offset, any::<u64>()).prop_map(|(offset, value)| Step::Store { offset, value }),
        1 => (first, setting).prop_map(|(offset, setting)| Step::Program { offset, setting }),
        1 => Just(Step::PostNow),
        1 => (0u64..REGION_SIZE, 0u64..REGION_SIZE).prop_map(|(from, to)| Step::Hole { from: from.min(to), to: from.max(to) }),
        1 => Just(Step::Hole { from: 0, to: 0 }),
    ]
}

fn program() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 0..40)
}

fn home() -> impl Strategy<Value = u64> {
    let near_the_end = (0u64..1 << 22).prop_map(|below| u64::MAX - below);
    prop_oneof![3 => (0u64..1 << 32).prop_map(|home| home & !7), 1 => any::<u64>(), 2 => near_the_end]
}

/// A nest with what has happened there.
struct Rig {
    nest: Nest,
    totals: Totals,
    memory: Cells,
}

impl Rig {
    fn new(home: u64) -> Rig {
        Rig { nest: Nest::new(home).with_slot(SLOT), totals: Totals::new(), memory: Cells::new(home) }
    }

    /// Past the slots in which the counters are programmed.
    fn begun(home: u64) -> Rig {
        let mut rig = Rig::new(home);
        rig.pass(4 * SLOT);
        assert!(rig.nest.engine().is_running());
        rig
    }

    fn pass(&mut self, cycles: u64) {
        self.nest.advance(cycles, &self.totals, &self.memory);
    }

    /// Does a step; of cycles, `pass` says how they go by.
    fn apply(&mut self, step: &Step, pass: impl FnOnce(&mut Rig, u64)) {
        match *step {
            Step::Happen { event, amount } => self.totals.add(event, amount),
            Step::Pass { twentieths } => pass(self, twentieths * SLOT / 20),
            Step::Control { cell, value } => self.memory.set(cell.offset(), value),
            Step::Store { offset, value } => self.memory.set(offset, value),
            Step::Program { offset, setting } => {
                self.nest.program_at(offset, setting, &self.totals);
            }
            Step::PostNow => {
                self.nest.post_now(&self.totals, &self.memory);
            }
            Step::Hole { from, to } => *self.memory.hole.borrow_mut() = from..to,
        }
    }

    /// Everything that a guest or an embedder can see.
    fn seen(&self) -> (Vec<(u64, u64)>, vm_pmu::memory::State, Vec<Option<u64>>) {
        let values = self.memory.values.borrow().iter().map(|(address, value)| (*address, *value)).collect();
        let registers = DEFAULT_BANKS.iter().map(|bank| self.nest.register(bank.offset, &self.totals)).collect();
        (values, self.nest.state(), registers)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_outside_the_region_is_reached(home in home(), program in program(), late in any::<u64>()) {
        let mut rig = Rig::new(home);
        program.iter().for_each(|step| rig.apply(step, Rig::pass));
        // Far more slots than the engine can have: the rest is late.
        rig.pass(late);
        prop_assert_eq!(rig.memory.strays.get(), 0);
    }

    #[test]
    fn a_guests_memory_outside_the_region_stays_as_it_is(
        home in prop_oneof![0u64..0x40_0000, (0u64..0x20_0000 / 8).prop_map(|home| home * 8), any::<u64>()],
        program in program(),
    ) {
        // Two mebibytes, a hole of one, and one more behind it.
        let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x20_0000), (GuestAddress(0x30_0000), 0x10_0000)]).unwrap();
        let canary = &*CANARY;
        let ranges = [(0, 0x20_0000usize), (0x30_0000, 0x10_0000)];
        ranges.iter().for_each(|(start, size)| memory.write_slice(&canary[..*size], GuestAddress(*start)).unwrap());
        let (guest, totals) = (Guest(&memory), Totals::new());
        let mut nest = Nest::new(home).with_slot(SLOT);
        for step in &program {
            match *step {
                Step::Happen { event, amount } => totals.add(event, amount),
                Step::Pass { twentieths } => {
                nest.advance(twentieths * SLOT / 20, &totals, &guest);
            }
                Step::PostNow => {
                nest.post_now(&totals, &guest);
            }
                Step::Program { offset, setting } => {
                nest.program_at(offset, setting, &totals);
            }
                // What the guest itself stores lies in the region too, where there is memory.
                Step::Control { cell, value } => {
                let _ = guest.store(cell.address(home), value);
            }
                Step::Store { offset, value } => {
                let _ = guest.store(home.wrapping_add(REGION + offset), value);
            }
                Step::Hole { .. } => {}
            }
        }
        for (start, size) in ranges {
            let mut now = vec![0; size];
            memory.read_slice(&mut now, GuestAddress(start)).unwrap();
            // What of the region lies here may be anything.
            let (first, behind) = (home.saturating_add(REGION), home.saturating_add(REGION + REGION_SIZE));
            let [first, behind] = [first, behind].map(|end| (end.saturating_sub(start) as usize).min(size));
            now[first..behind].copy_from_slice(&canary[first..behind]);
            prop_assert!(now == canary[..size], "from {:#x}", start);
        }
    }

    #[test]
    fn however_cycles_are_divided_the_same_is_posted(
        home in home(),
        program in program(),
        divided in prop::collection::vec(1u64..2 * SLOT, 1..8),
    ) {
        let (mut at_once, mut in_parts) = (Rig::new(home), Rig::new(home));
        let mut parts = divided.iter().copied().cycle();
        for step in &program {
            at_once.apply(step, Rig::pass);
            in_parts.apply(step, |rig, mut cycles| {
                while cycles != 0 {
                    let part = parts.next().unwrap_or(1).min(cycles);
                    rig.pass(part);
                    cycles -= part;
                }
            });
        }
        prop_assert_eq!(at_once.seen(), in_parts.seen());
    }

    #[test]
    fn a_nest_restored_between_any_two_steps_goes_on_as_if_nothing_had_been(home in home(), program in program()) {
        let (mut unbroken, mut restored) = (Rig::new(home), Rig::new(home));
        for step in &program {
            unbroken.apply(step, Rig::pass);
            restored.apply(step, Rig::pass);
            let (state, saved) = (restored.nest.state(), restored.totals.snapshot());
            restored.nest = Nest::from_state(&state);
            restored.totals = Totals::new();
            restored.totals.restore(&saved);
        }
        prop_assert_eq!(unbroken.seen(), restored.seen());
    }

    #[test]
    fn what_happens_is_posted_or_still_in_the_counter(
        happened in prop::collection::vec((event(), 0u64..1 << 18, 0u64..30, prop::option::of((0u64..0x780, 0u64..0x780).prop_map(|(one, other)| (one.min(other), one.max(other))))), 1..60),
    ) {
        // No more than 60 times 2^18 between two readings of a counter, which is less than 2^16 steps of 2^8.
        let mut rig = Rig::begun(0x1000);
        let mut expected = BTreeMap::<u32, u64>::new();
        // What the counters that run on read first is not posted: all are read once.
        rig.pass(24 * SLOT);
        for (event, amount, twentieths, hole) in &happened {
            rig.totals.add(*event, *amount);
            *expected.entry(event.offset()).or_default() += amount;
            let (from, to) = hole.unwrap_or_default();
            *rig.memory.hole.borrow_mut() = from..to;
            rig.pass(twentieths * SLOT / 20);
        }
        // Memory takes everything again, and every group is posted.
        *rig.memory.hole.borrow_mut() = 0..0;
        rig.nest.post_now(&rig.totals, &rig.memory);
        for bank in &DEFAULT_BANKS {
            let shift = if bank.width == Width::Prescaled { 8 } else { 0 };
            for counter in 0..bank.counters() {
                let offset = bank.offset_of(counter);
                let is_posted = bank.group == 1 || vm_pmu::memory::Availability::GUIDE.has(bank.unit);
                if Event::at(offset).is_none() || !is_posted {
                    continue;
                }
                // A link's events come sixteen to a pulse.
                let shift = shift + bank.pulse_bits(counter);
                let total = expected.get(&offset).copied().unwrap_or(0);
                prop_assert_eq!(rig.memory.at(u64::from(offset)), total >> shift, "at {:#x}", offset);
            }
        }
    }
}

#[test]
fn threads_that_add_while_one_posts_and_one_reads_lose_nothing() {
    const HOME: u64 = 0x1_0000;
    const TIMES: u64 = 100_000;
    // Carries run through all the bytes of a cell, so that half of an addition would be seen.
    const BEGIN: u64 = 0x0000_FFFF_FFFF_FF00;
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), 0x20_0000)]).unwrap();
    let guest = Guest(&memory);
    let chip = Chip::new(0, Nest::new(HOME).with_slot(SLOT));
    chip.advance(4 * SLOT, &guest).ok().unwrap();
    // Read and write blocks at a memory controller, flits of a link, reads of a port, requests at a queue: prescaled but for the port.
    let events: Vec<(Event, u32)> =
        [(0x50, 8), (0x58, 8), (0x230, 8), (0x448, 0), (0x668, 8)].map(|(offset, bits)| (Event::at(offset).unwrap(), bits)).to_vec();
    let address = |event: Event| HOME + REGION + u64::from(event.offset());
    // Every port has been read once.
    chip.advance(8 * SLOT, &guest).ok().unwrap();
    events.iter().for_each(|(event, _)| guest.store(address(*event), BEGIN).unwrap());
    let adding = AtomicU64::new(4);
    thread::scope(|scope| {
        for worker in 0..4u64 {
            let (chip, events, adding) = (&chip, &events, &adding);
            scope.spawn(move || {
                for time in 0..TIMES {
                    let (event, _) = events[((time + worker) % 5) as usize];
                    chip.add(event, 1 + (time + worker) % 64);
                }
                adding.fetch_sub(1, Ordering::Release);
            });
        }
        scope.spawn(|| {
            while adding.load(Ordering::Acquire) != 0 {
                chip.advance(SLOT / 3, &guest).ok().unwrap();
            }
        });
        scope.spawn(|| {
            let mut before = vec![BEGIN; events.len()];
            while adding.load(Ordering::Acquire) != 0 {
                for ((event, _), before) in events.iter().zip(&mut before) {
                    let now = u64::from_be_bytes(memory.read_obj(GuestAddress(address(*event))).unwrap());
                    assert!((*before..=BEGIN + 64 * 4 * TIMES).contains(&now), "{now:#x} after {before:#x}");
                    *before = now;
                }
            }
        });
    });
    chip.post_now(&guest).ok().unwrap();
    for (event, bits) in events {
        let total = chip.totals().get(event);
        assert_eq!(guest.load(address(event)).unwrap(), BEGIN + (total >> bits), "at {:#x}", event.offset());
    }
    // Each thread adds 1 to 64 again and again, 100,000 times: 1562 rounds of 2080, and 32 more of them.
    let sum = |first: u64| (0..32).map(|time| 1 + (first + time) % 64).sum::<u64>();
    let all: u64 = (0..4).map(|worker| 1562 * 2080 + sum(worker)).sum();
    let told: u64 = [0x50, 0x58, 0x230, 0x448, 0x668].iter().map(|offset| chip.totals().get(Event::at(*offset).unwrap())).sum();
    assert_eq!(told, all);
}
