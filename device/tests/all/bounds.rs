//! What each call does at worst: the page `docs/src/worst-cases.md` says what bounds it, and names these tests.
//!
//! A test either counts steps that can be seen from outside, or drives a call where one step for each event, cycle or thread would not
//! end while somebody waits.

use std::sync::atomic::{AtomicU64, Ordering};

use vm_pmu::arch::access::{Address, PciAddress};
use vm_pmu::arch::feed::{Deadlines, Request, RequestKind};
use vm_pmu::arch::memory::Memory;
use vm_pmu::arch::power9::spr;
use vm_pmu::irq::InterruptLine;
use vm_pmu::memory::{Chip, Nest, REGION, REGION_SIZE};
use vm_pmu::pci::{Function, Location, Window};
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::{Context, Signal};

/// Counts what it is asked for.
#[derive(Debug, Default)]
struct Asked(AtomicU64);

impl Asked {
    fn times(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl InterruptLine for Asked {
    fn raise(&self, _thread: usize, _counter: u32) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn machine(part: &str, threads: usize) -> Machine<Asked> {
    Builder::new(part).unwrap().threads(threads).build(Asked::default()).unwrap()
}

/// A thread of each part, with its counters enabled for events of every gate, as far as the part has them.
fn programmed(run: impl Fn(&Machine<Asked>, Thread<'_, Asked>)) {
    for part in ["k8", "knl", "power9", "itanium", "montecito"] {
        let machine = machine(part, 1);
        let thread = machine.thread(0).unwrap();
        match part {
            // Retired instructions, clocks, edges of an empty decoder, and clocks below a mask: OS, INT, EN.
            "k8" => {
                for (number, select) in (0..).zip([0x0052_00C0, 0x0052_0076, 0x0056_00D0, 0x02D2_00D0]) {
                    thread.x86().wrmsr(0xC001_0004 + number, 0u64.wrapping_sub(100)).unwrap();
                    thread.x86().wrmsr(0xC001_0000 + number, select).unwrap();
                }
            }
            "knl" => {
                for (number, select) in [(0, 0x0053_00C0), (1, 0x0257_003C)] {
                    thread.x86().wrmsr(0x4C1 + number, (1 << 40) - 100).unwrap();
                    thread.x86().wrmsr(0x186 + number, select).unwrap();
                }
                thread.x86().wrmsr(0x38D, 0xBBB).unwrap();
                thread.x86().wrmsr(0x38F, 0x7_0000_0003).unwrap();
            }
            "power9" => {
                thread.set_context(Context::power(0, 1));
                chain(&thread);
            }
            _ => {
                thread.set_context(Context::ia64(1 << 2, 0));
                // Retired instructions and clocks, level 0, oi; ism 10 for the later part. Every further counter has a threshold.
                let ism = if part == "itanium" { 0 } else { 1 << 25 };
                for (number, event) in [(4, 0x0800), (5, 0x1200), (6, 0x10_0800), (7, 0x10_1200)] {
                    thread.write(Address::Pmd(number), u64::MAX - 100).unwrap();
                    thread.write(Address::Pmc(number), event | ism | 0x21).unwrap();
                }
            }
        }
        run(&machine, thread);
    }
}

/// PMC1 counts clocks, and each later one the overflows of the one before; all are about to overflow, and alert.
fn chain(thread: &Thread<'_, Asked>) {
    for pmc in 0..4 {
        thread.power().mtspr(spr::PMC1 + pmc, 0xFFFF_FFFF).unwrap();
    }
    // PMxSEL: 1Eh and 10h three times.
    thread.power().mtspr(spr::MMCR1, 0x1E10_1010).unwrap();
    thread.power().mtspr(spr::MMCR0, 0x0400_C000).unwrap();
}

/// All that a guest reads of a thread's counters.
fn read_all(machine: &Machine<Asked>, thread: &Thread<'_, Asked>) {
    for number in 0..6 {
        match machine.part().name() {
            "k8" => drop(thread.x86().rdmsr(0xC001_0004 + number)),
            "knl" => drop(thread.x86().rdpmc(number & 1 | (number & 4) << 28)),
            "power9" => drop(thread.power().mfspr(spr::PMC1 + number as u16)),
            _ => drop(thread.read(Address::Pmd(4 + number as u8))),
        }
    }
}

fn counters(thread: &Thread<'_, Asked>) -> [u64; 4] {
    [0, 1, 2, 3].map(|pmc| thread.power().mfspr(spr::PMC1 + pmc).unwrap())
}

#[test]
fn a_chain_of_counters_overflows_to_its_end_in_one_step() {
    let machine = machine("power9", 1);
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::power(0, 1));
    chain(&thread);
    thread.advance(1, &[Signal::Cycles]);
    assert_eq!(counters(&thread), [0; 4]);
    // 2^62 clocks are 2^30 overflows of PMC1, and PMC2 does not overflow once.
    thread.totals().add(Signal::Cycles, 1 << 62);
    assert_eq!(counters(&thread), [0, 1 << 30, 0, 0]);
}

#[test]
fn a_ring_of_counters_moves_nothing_by_itself() {
    let machine = machine("power9", 1);
    let thread = machine.thread(0).unwrap();
    thread.set_context(Context::power(0, 1));
    chain(&thread);
    // PMC1 counts the overflows of PMC4, and so on: 10h in all of them.
    thread.power().mtspr(spr::MMCR1, 0x1010_1010).unwrap();
    thread.advance(1 << 40, &[Signal::Cycles]);
    assert_eq!(counters(&thread), [0xFFFF_FFFF; 4]);
}

#[test]
fn the_most_that_a_signal_can_grow_is_one_step() {
    programmed(|machine, thread| {
        for _ in 0..8 {
            for signal in Signal::all() {
                thread.totals().add(signal, u64::MAX);
            }
            thread.check();
            thread.service();
            read_all(machine, &thread);
        }
    });
}

#[test]
fn totals_pass_the_end_of_their_range() {
    programmed(|machine, thread| {
        for signal in Signal::all() {
            thread.totals().add(signal, u64::MAX - 50);
        }
        thread.service();
        // A deadline beyond the end is at the end.
        for _ in 0..100 {
            thread.retire(&[Signal::InstructionsRetired], 3);
        }
        thread.advance(1000, &[Signal::Cycles]);
        read_all(machine, &thread);
    });
}

#[test]
fn as_many_cycles_as_there_are_make_one_call() {
    programmed(|machine, thread| {
        thread.advance(1 << 40, &[Signal::Cycles, Signal::DecoderEmptyCycles]);
        read_all(machine, &thread);
    });
}

#[test]
fn a_deadline_far_in_the_past_is_served_once() {
    programmed(|machine, thread| {
        let mut services = 0;
        thread.totals().add(Signal::InstructionsRetired, 1 << 36);
        thread.totals().add(Signal::Cycles, 1 << 36);
        while thread.due() {
            thread.check();
            services += 1;
            assert!(services < 4, "it is due again and again");
        }
        // However many periods have gone by, a counter asks once.
        assert!(machine.line().times() <= 8);
    });
}

#[test]
fn register_writes_leave_nothing_behind_that_grows() {
    let machine = machine("k8", 2);
    let thread = machine.thread(0).unwrap();
    let write = |round: u64| {
        thread.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(1000)).unwrap();
        // INT and E, and the event: one of two of the core, or one of the northbridge.
        let event = [0xC0, 0x76, 0xE0][(round % 3) as usize];
        thread.x86().wrmsr(0xC001_0000, 0x0042_0000 | (round & 5) << 18 | event).unwrap();
    };
    let after = |rounds: u64| {
        (0..rounds).for_each(write);
        let deadlines = Signal::all().filter(|signal| thread.deadlines().get(*signal) != Deadlines::NEVER).count();
        (machine.footprint(), deadlines)
    };
    // The same remainders at the end.
    let early = after(12);
    assert_eq!(after(12_000), early);
}

#[test]
fn a_shared_counter_passes_from_thread_to_thread_of_a_large_package() {
    let machine = machine("k8", 500);
    let northbridge = 0x0042_00E0;
    let write = |number: usize, value: u64| machine.thread(number).unwrap().x86().wrmsr(0xC001_0000, value).unwrap();
    (0..500).for_each(|number| write(number, northbridge));
    // Each release makes the next thread its holder.
    for number in 0..500 {
        machine.devices(0).unwrap().totals.add(Signal::DramPageHits, 1);
        write(number, 0);
    }
    let states = machine.states();
    assert_eq!(states.len(), 500);
}

#[test]
fn a_flood_of_requests_is_counted_one_by_one() {
    let machine = machine("knl", 8);
    let thread = machine.thread(0).unwrap();
    // MSR_OFFCORE_RESP0: any request, any response; IA32_PERFEVTSEL0: OFFCORE_RESPONSE, OS, USR, EN.
    thread.x86().wrmsr(0x1A6, 0x1_8000).unwrap();
    thread.x86().wrmsr(0x186, 0x0043_01B7).unwrap();
    thread.x86().wrmsr(0x38F, 1).unwrap();
    let other = machine.thread(7).unwrap();
    for _ in 0..20_000 {
        other.request(&Request { latency: u32::MAX, physical: u64::MAX, ..Request::of(RequestKind::DataRead) });
    }
    assert_eq!(thread.x86().rdpmc(0), Ok(20_000));
}

#[test]
fn configuration_space_is_accessed_anywhere_in_every_width() {
    let machine = machine("knl", 1);
    let window = Window::new(&machine);
    for at in machine.untile().unwrap().functions().take(4).chain([Location { bus: 7, device: 3, function: 1 }]) {
        let function = Function::new(&machine, at);
        let base = window.offset(at);
        for offset in (0..0x1008).step_by(7) {
            for width in [1, 2, 3, 4, 8, 16] {
                let mut data = [0; 16];
                function.read(offset, &mut data[..width]);
                function.write(offset, &data[..width]);
                if let Some(base) = base {
                    window.read(base + offset, &mut data[..width]);
                }
            }
        }
    }
    for offset in [0, 3, 0xFFC, 0xFFF, 0x1000, u16::MAX] {
        let address = Address::Pci(PciAddress { bus: 0xFF, device: 31, function: 7, offset });
        let _ = machine.untile().unwrap().read(address);
    }
}

/// Memory that is nowhere, or everywhere but in a hole, and counts how often it is accessed.
struct Hole {
    from: u64,
    to: u64,
    accesses: AtomicU64,
}

impl Hole {
    fn new(from: u64, to: u64) -> Hole {
        Hole { from, to, accesses: AtomicU64::new(0) }
    }

    fn access(&self, address: u64) -> Result<(), u64> {
        self.accesses.fetch_add(1, Ordering::Relaxed);
        if address.is_multiple_of(8) && !(self.from..self.to).contains(&address) { Ok(()) } else { Err(address) }
    }

    /// How often it was accessed since the last call.
    fn take(&self) -> u64 {
        self.accesses.swap(0, Ordering::Relaxed)
    }
}

impl Memory for Hole {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        self.access(address).map(|()| 0)
    }

    fn store(&self, address: u64, _value: u64) -> Result<(), u64> {
        self.access(address)
    }

    fn add(&self, address: u64, _amount: u64) -> Result<(), u64> {
        self.access(address)
    }
}

#[test]
fn a_core_posts_once_however_many_postings_are_due_and_whatever_memory_there_is() {
    let machine = machine("power9", 4);
    let core = machine.collection(0).unwrap();
    for (from, to) in [(0, 0), (0, u64::MAX), (0x10_0000, 0x10_0008)] {
        // A region in the middle, one at the end of the address space, and one that goes on at its beginning.
        for home in [0x10_0000, u64::MAX - 0x1FFF, !7] {
            let memory = Hole::new(from, to);
            core.init(home);
            core.start();
            for thread in 0..4 {
                machine.thread(thread).unwrap().set_context(Context::power(0, 1));
                machine.thread(thread).unwrap().totals().add(Signal::InstructionsRetired, u64::MAX / 4);
                machine.thread(thread).unwrap().totals().add(Signal::Cycles, u64::MAX / 4);
            }
            let passed = core.advance(u64::MAX, &memory);
            // 8 KiB of cells is all that a core can post to.
            assert!(passed.slots == 1 && memory.take() <= 1024);
            core.stop();
        }
    }
}

#[test]
fn a_chip_runs_24_slots_in_one_call_at_most() {
    const CELLS: u64 = REGION_SIZE / 8;
    for home in [0, 0x1000_0000, !7, 0u64.wrapping_sub(REGION), 3] {
        for (from, to) in [(0, 0), (0, u64::MAX)] {
            let (chip, memory) = (Chip::new(0, Nest::new(home)), Hole::new(from, to));
            for _ in 0..3 {
                let passed = chip.advance(u64::MAX, &memory);
                assert!(passed.slots <= 24 && passed.late != 0);
                // A slot accesses no cell of the region twice.
                assert!(memory.take() <= 25 * CELLS);
            }
        }
    }
}
