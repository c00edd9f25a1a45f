//! POWER9's nest with any home base, any memory, and whatever a guest and an embedder do: nothing outside the region is accessed, cycles
//! may be divided and the nest be restored anywhere, memory of `vm-memory` behaves as a list of cells does, and nothing that is counted is
//! lost.
#![no_main]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};
use vm_pmu::memory::{
    Availability, Command, ControlCell, DEFAULT_BANKS, Event, FLEXIBLE_BANKS, Frequencies, Guest, Memory, MemoryError, Nest, Overflow,
    Passed, Platform, Prescaler, REGION, REGION_SIZE, Setting, State, Totals, Width,
};

/// What the guest's memory holds before anything is written to it.
const CANARY: u64 = 0xA5A5_A5A5_A5A5_A5A5;

/// Cells of 8 bytes: those of these ranges of addresses, except for a hole in them.
struct Cells {
    home: u64,
    ranges: Vec<Range<u64>>,
    values: RefCell<BTreeMap<u64, u64>>,
    hole: RefCell<Range<u64>>,
}

impl Cells {
    fn new(home: u64, ranges: Vec<Range<u64>>) -> Cells {
        Cells { home, ranges, values: RefCell::default(), hole: RefCell::new(0..0) }
    }

    fn offset(&self, address: u64) -> u64 {
        address.wrapping_sub(self.home.wrapping_add(REGION))
    }

    fn check(&self, address: u64) -> core::result::Result<(), MemoryError> {
        // All ones is the address where there is no memory.
        assert!(self.offset(address) < REGION_SIZE || address == u64::MAX, "{address:#x} is reached with the home base {:#x}", self.home);
        let refused = if !address.is_multiple_of(8) {
            Some(MemoryError::Misaligned { address })
        } else if self.hole.borrow().contains(&self.offset(address)) {
            Some(MemoryError::Outside { address })
        } else {
            let whole = |range: &&Range<u64>| range.contains(&address) && range.end - address >= 8;
            match self.ranges.iter().find(whole) {
                None => Some(MemoryError::Outside { address }),
                Some(range) if !(address - range.start).is_multiple_of(8) => Some(MemoryError::Misaligned { address }),
                Some(_) => None,
            }
        };
        refused.map_or(Ok(()), Err)
    }
}

impl Memory for Cells {
    type Error = MemoryError;

    fn load(&self, address: u64) -> core::result::Result<u64, MemoryError> {
        self.check(address)?;
        Ok(self.values.borrow().get(&address).copied().unwrap_or(CANARY))
    }

    fn store(&self, address: u64, value: u64) -> core::result::Result<(), MemoryError> {
        self.check(address)?;
        self.values.borrow_mut().insert(address, value);
        Ok(())
    }

    fn add(&self, address: u64, amount: u64) -> core::result::Result<(), MemoryError> {
        let sum = self.load(address)?.wrapping_add(amount);
        self.values.borrow_mut().insert(address, sum);
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Step {
    Happen(Event, u64),
    /// Cycles that bring no late slot, and into how many parts they are divided.
    Pass(u64, u64),
    Rush(u64),
    Store(u64, u64),
    Program(u32, Setting),
    PostNow,
    /// From where to where there is no memory, from the start of the region.
    Hole(u64, u64),
    Reset,
    Boot,
}

fn event(input: &mut Unstructured<'_>) -> Result<Event> {
    let number = input.int_in_range(0..=Event::all().count() - 1)?;
    Ok(Event::all().nth(number).expect("there are so many"))
}

fn step(input: &mut Unstructured<'_>, slot: u64) -> Result<Step> {
    Ok(match input.int_in_range(0..=15u8)? {
        0..=3 => Step::Happen(event(input)?, if input.arbitrary()? { input.arbitrary::<u16>()?.into() } else { input.arbitrary()? }),
        4..=7 => Step::Pass(slot.saturating_mul(u64::from(input.int_in_range(0..=95u8)?)) / 4, input.int_in_range(1..=9)?),
        8 => Step::Rush(input.arbitrary()?),
        9 | 10 => {
            let cells = [
                ControlCell::Status,
                ControlCell::Command,
                ControlCell::Speed,
                ControlCell::Availability,
                ControlCell::Mode,
                ControlCell::ModeInForce,
            ];
            let value = if input.ratio(7, 8)? { u64::from(input.arbitrary::<u8>()? & 15) } else { input.arbitrary()? };
            Step::Store(input.choose(&cells)?.offset(), value)
        }
        11 => Step::Store(u64::from(input.arbitrary::<u32>()?) % REGION_SIZE & !7, input.arbitrary()?),
        12 => {
            let known = || DEFAULT_BANKS.iter().chain(&FLEXIBLE_BANKS).map(|bank| bank.offset);
            let number = input.int_in_range(0..=known().count())?;
            let offset = known().nth(number).map_or_else(|| input.arbitrary(), Ok)?;
            let prescalers = input.arbitrary::<[u8; 4]>()?.map(Prescaler::of_code);
            let overflow = if input.arbitrary()? { Overflow::Freeze } else { Overflow::RunOn };
            Step::Program(offset, Setting { prescalers, overflow })
        }
        13 => Step::PostNow,
        14 => {
            let ends = [input.arbitrary::<u32>()?, input.arbitrary::<u32>()?].map(|end| u64::from(end) % REGION_SIZE);
            if ends[0] < ends[1] { Step::Hole(ends[0], ends[1]) } else { Step::Hole(0, 0) }
        }
        _ => {
            if input.arbitrary()? {
                Step::Boot
            } else {
                Step::Reset
            }
        }
    })
}

/// A nest and the events in it.
struct Rig {
    nest: Nest,
    totals: Totals,
}

impl Rig {
    fn new(nest: &Nest) -> Rig {
        Rig { nest: nest.clone(), totals: Totals::new() }
    }

    /// Does a step; `pass` determines how its cycles are divided.
    fn apply<M: Memory>(&mut self, step: &Step, memory: &M, pass: impl FnOnce(&mut Rig, u64, u64)) -> Option<Passed<M::Error>> {
        match *step {
            Step::Happen(event, amount) => self.totals.add(event, amount),
            Step::Pass(cycles, parts) => pass(self, cycles, parts),
            Step::Rush(cycles) => return Some(self.nest.advance(cycles, &self.totals, memory)),
            Step::Store(offset, value) => {
                let _ = memory.store(self.nest.home().wrapping_add(REGION + offset), value);
            }
            Step::Program(offset, setting) => {
                self.nest.program_at(offset, setting, &self.totals);
            }
            Step::PostNow => return Some(self.nest.post_now(&self.totals, memory)),
            Step::Hole(..) => {}
            Step::Reset => self.nest.reset(&self.totals),
            Step::Boot => return Some(self.nest.boot(&self.totals, memory)),
        }
        None
    }

    fn restore(&mut self) {
        let (state, saved) = (self.nest.state(), self.totals.snapshot());
        self.nest = Nest::from_state(&state);
        self.totals = Totals::new();
        self.totals.restore(&saved);
    }

    fn seen(&self) -> (State, Vec<Option<u64>>) {
        let banks = DEFAULT_BANKS.iter().chain(&FLEXIBLE_BANKS);
        (self.nest.state(), banks.map(|bank| self.nest.register(bank.offset, &self.totals)).collect())
    }
}

/// Whatever the steps are, in whatever parts cycles elapse, and with a restore after each: the result is the same.
fn in_parts(nest: &Nest, steps: &[Step]) {
    let everywhere = || Cells::new(nest.home(), vec![0..u64::MAX]);
    let (mut plain, mut broken) = (Rig::new(nest), Rig::new(nest));
    let (memory, divided) = (everywhere(), everywhere());
    for step in steps {
        if let Step::Hole(from, to) = *step {
            [&memory, &divided].iter().for_each(|cells| *cells.hole.borrow_mut() = from..to);
        }
        plain.apply(step, &memory, |rig, cycles, _| {
            rig.nest.advance(cycles, &rig.totals, &memory);
        });
        broken.apply(step, &divided, |rig, cycles, parts| {
            for part in 0..parts {
                let cycles = cycles / parts + if part == 0 { cycles % parts } else { 0 };
                rig.nest.advance(cycles, &rig.totals, &divided);
                rig.restore();
            }
        });
        broken.restore();
        assert_eq!(plain.seen(), broken.seen(), "after {step:?}");
    }
    assert_eq!(*memory.values.borrow(), *divided.values.borrow());
}

/// Up to three ranges of memory at the ends of the region.
fn ranges(home: u64, input: &mut Unstructured<'_>) -> Result<Vec<Range<u64>>> {
    let region = home.wrapping_add(REGION);
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for _ in 0..input.int_in_range(1..=3)? {
        let base = if input.ratio(1, 2)? { region } else { region.wrapping_add(REGION_SIZE - 0x1000) };
        let start = base.wrapping_add(u64::from(input.arbitrary::<u16>()?)).wrapping_sub(0x1000);
        let size = u64::from(input.arbitrary::<u16>()?) + 1;
        // Ranges neither touch nor go beyond the last address.
        if start.checked_add(size + 8).is_some() && ranges.iter().all(|range| start > range.end + 8 || start + size + 8 < range.start) {
            ranges.push(start..start + size);
        }
    }
    ranges.sort_by_key(|range| range.start);
    Ok(ranges)
}

/// A guest's memory of some ranges behaves as cells at the same addresses do, and everything around the region stays as it was.
fn in_guest_memory(nest: &Nest, steps: &[Step], ranges: &[Range<u64>]) {
    let places: Vec<_> = ranges.iter().map(|range| (GuestAddress(range.start), (range.end - range.start) as usize)).collect();
    let Ok(memory) = GuestMemoryMmap::<()>::from_ranges(&places) else { return };
    for (start, size) in &places {
        memory.write_slice(&vec![CANARY as u8; *size], *start).expect("it is there");
    }
    let (cells, guest) = (Cells::new(nest.home(), ranges.to_vec()), Guest(&memory));
    let (mut expected, mut rig) = (Rig::new(nest), Rig::new(nest));
    for step in steps {
        let before = expected.apply(step, &cells, |rig, cycles, _| {
            rig.nest.advance(cycles, &rig.totals, &cells);
        });
        let after = rig.apply(step, &guest, |rig, cycles, _| {
            rig.nest.advance(cycles, &rig.totals, &guest);
        });
        assert_eq!(before, after, "{step:?}");
    }
    assert_eq!(expected.seen(), rig.seen());
    for (start, size) in places {
        let mut now = vec![0; size];
        memory.read_slice(&mut now, start).expect("it is there");
        for (address, value) in cells.values.borrow().range(start.0..start.0 + size as u64) {
            let place = (address - start.0) as usize;
            assert_eq!(now.get(place..place + 8), Some(&value.to_be_bytes()[..]), "at {address:#x}");
            now[place..place + 8].fill(CANARY as u8);
        }
        assert!(now.iter().all(|byte| *byte == CANARY as u8), "something else is written from {start:?} on");
    }
}

/// What occurs too seldom for a counter to exceed its width is posted in the end, whatever memory refuses meanwhile.
fn conserved(nest: &Nest, steps: &[Step]) {
    if !nest.home().is_multiple_of(8) || nest.home().checked_add(REGION + REGION_SIZE).is_none() {
        return;
    }
    let memory = Cells::new(nest.home(), vec![0..u64::MAX]);
    let mut rig = Rig::new(nest);
    // An availability that was never set would be the canary.
    for cell in [ControlCell::Speed, ControlCell::Availability, ControlCell::Mode] {
        let _ = memory.store(cell.address(nest.home()), 0);
    }
    for _ in 0..4 {
        rig.nest.advance(nest.slot_cycles(), &rig.totals, &memory);
    }
    assert!(rig.nest.engine().is_running());
    rig.nest.post_now(&rig.totals, &memory);
    let mut happened = BTreeMap::<u32, u64>::new();
    // 96 times less than 2^16 is less than 2^16 steps of 2^8.
    for step in steps {
        match *step {
            Step::Happen(event, amount) => {
                rig.totals.add(event, amount & 0xFFFF);
                *happened.entry(event.offset()).or_default() += amount & 0xFFFF;
            }
            Step::Pass(cycles, _) => {
                rig.nest.advance(cycles, &rig.totals, &memory);
            }
            Step::PostNow => {
                rig.nest.post_now(&rig.totals, &memory);
            }
            // The control block stays readable.
            Step::Hole(from, to) => *memory.hole.borrow_mut() = from..to.min(0x3_0000),
            _ => {}
        }
    }
    *memory.hole.borrow_mut() = 0..0;
    rig.nest.post_now(&rig.totals, &memory);
    let banks = DEFAULT_BANKS.iter().filter(|bank| bank.group == 1 || nest.units().has(bank.unit));
    for (bank, counter) in banks.flat_map(|bank| (0..bank.counters()).map(move |counter| (bank, counter))) {
        let offset = bank.offset_of(counter);
        if Event::at(offset).is_some() {
            let bits = bank.pulse_bits(counter) + if bank.width == Width::Prescaled { 8 } else { 0 };
            // Only the very last address has no cell.
            let Ok(posted) = memory.load(nest.home().wrapping_add(REGION + u64::from(offset))) else { continue };
            assert_eq!(posted, happened.get(&offset).copied().unwrap_or(0) >> bits, "at {offset:#x}");
        }
    }
}

/// Any call with any arguments at any time.
fn calls(nest: &Nest, input: &mut Unstructured<'_>) -> Result<()> {
    let chip = vm_pmu::memory::Chip::new(input.arbitrary::<u8>()?.into(), nest.clone());
    let id = chip.id();
    let Ok(platform) = Platform::new(vec![chip], vec![id << 8, id << 8 | 1, input.arbitrary()?]) else { return Ok(()) };
    let memory = Cells::new(nest.home(), vec![0..u64::MAX]);
    for _ in 0..input.int_in_range(0..=8u8)? {
        let number = if input.ratio(7, 8)? { 149 + u64::from(input.arbitrary::<u8>()? & 3) } else { input.arbitrary()? };
        let pir = if input.arbitrary()? { u64::from(id << 8) } else { input.arbitrary()? };
        let kind = if input.ratio(7, 8)? { u64::from(input.arbitrary::<u8>()? & 3) } else { input.arbitrary()? };
        assert_eq!(platform.call(number, [kind, pir, pir], &memory).is_some(), (149..=151).contains(&number));
        platform.advance(nest.slot_cycles().saturating_mul(input.int_in_range(0..=9)?), &memory);
    }
    assert!(Command::of_value(0).is_none());
    Ok(())
}

fn run(input: &mut Unstructured<'_>) -> Result<()> {
    let home = match input.int_in_range(0..=3u8)? {
        0 => 0,
        1 => u64::from(input.arbitrary::<u32>()?) << 3,
        2 => u64::MAX - u64::from(input.arbitrary::<u32>()?) % 0x40_0000,
        _ => input.arbitrary()?,
    };
    let slot = if input.ratio(7, 8)? { u64::from(input.arbitrary::<u16>()?) } else { input.arbitrary()? };
    let frequencies = if input.ratio(3, 4)? {
        Frequencies::default()
    } else {
        Frequencies { nest: input.arbitrary()?, host_bridge: input.arbitrary()?, memory: input.arbitrary()? }
    };
    let units = if input.ratio(1, 2)? { Availability::GUIDE } else { Availability(input.arbitrary()?) };
    let nest = Nest::new(home).with_frequencies(frequencies).with_units(units).with_slot(slot);
    let which = input.int_in_range(0..=3u8)?;
    if which == 3 {
        return calls(&nest, input);
    }
    let ranges = if which == 1 { ranges(home, input)? } else { Vec::new() };
    let mut steps = Vec::new();
    while !input.is_empty() && steps.len() < 96 {
        match step(input, nest.slot_cycles()) {
            Ok(step) => steps.push(step),
            Err(_) => break,
        }
    }
    match which {
        0 => in_parts(&nest, &steps),
        1 => in_guest_memory(&nest, &steps, &ranges),
        _ => conserved(&nest.with_units(Availability::GUIDE), &steps),
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    // Input that ends early has been run as far as it went.
    let _ = run(&mut Unstructured::new(bytes));
});
