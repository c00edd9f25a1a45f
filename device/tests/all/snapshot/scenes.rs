//! A machine of every part, a chip and a companion, stopped in the middle of counting.

use std::cell::RefCell;
use std::collections::BTreeMap;

use vm_pmu::arch::itanium;
use vm_pmu::arch::memory::Memory;
use vm_pmu::arch::montecito;
use vm_pmu::arch::power9::nest::{Event, Nest};
use vm_pmu::arch::power9::spr;
use vm_pmu::companion::{
    Access, BufferGeometry, CacheGeometry, Caches, Companion, Direction, Follower, Instruction, PredictorGeometry, Profile, SecondLevel,
    Translation, Untranslated, parts,
};
use vm_pmu::memory::Chip;
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::untile::{Domain, Kind, UnitId};
use vm_pmu::{Context, Signal};

/// A line that nothing is attached to.
pub(crate) type Silent = fn(usize, u32);

/// A machine, what happens to it before it is saved, and what is seen when it has gone on from there.
pub(crate) struct Scene {
    /// The part's name.
    pub(crate) name: &'static str,
    /// Its threads, all of one package.
    pub(crate) threads: usize,
    /// Programs it, and lets something happen.
    pub(crate) begin: fn(&Machine<Silent>),
    /// Lets the rest happen. Returns what registers and cells then hold.
    pub(crate) end: fn(&Machine<Silent>) -> Vec<u64>,
    /// What they must hold.
    pub(crate) expected: &'static [u64],
}

impl Scene {
    /// The machine as power-on leaves it.
    pub(crate) fn build(&self) -> Machine<Silent> {
        Builder::new(self.name).unwrap().threads(self.threads).build(silent()).unwrap()
    }

    /// The machine in the middle of counting.
    pub(crate) fn stopped(&self) -> Machine<Silent> {
        let machine = self.build();
        (self.begin)(&machine);
        machine
    }
}

/// Hears nothing.
pub(crate) fn silent() -> Silent {
    |_thread, _counter| {}
}

/// Every part's.
pub(crate) const SCENES: [Scene; 5] = [
    Scene { name: "k8", threads: 2, begin: begin_k8, end: end_k8, expected: &[6, 108, 0] },
    Scene { name: "knl", threads: 2, begin: begin_knl, end: end_knl, expected: &[9, 9, 0x4300C0, 5, 12] },
    Scene { name: "power9", threads: 2, begin: begin_power9, end: end_power9, expected: &[7, 1 << 3, 2, 2] },
    Scene { name: "itanium", threads: 1, begin: begin_itanium, end: end_itanium, expected: &[7, 107, 0x4000] },
    Scene { name: "montecito", threads: 2, begin: begin_montecito, end: end_montecito, expected: &[15, 77] },
];

fn thread(machine: &Machine<Silent>, number: usize) -> Thread<'_, Silent> {
    machine.thread(number).unwrap()
}

fn happen(machine: &Machine<Silent>, number: usize, signal: Signal, amount: u64) {
    thread(machine, number).totals().add(signal, amount);
}

/// Thread 0 holds counter 0 for the northbridge; counter 1 of thread 1 counts its instructions.
fn begin_k8(machine: &Machine<Silent>) {
    thread(machine, 0).x86().wrmsr(0xC001_0000, 0x0042_01E0).unwrap();
    thread(machine, 1).x86().wrmsr(0xC001_0001, 0x0042_00C0).unwrap();
    thread(machine, 1).x86().wrmsr(0xC001_0005, 100).unwrap();
    happen(machine, 0, Signal::DramPageHits, 3);
    happen(machine, 1, Signal::DramPageHits, 2);
    happen(machine, 1, Signal::InstructionsRetired, 7);
}

fn end_k8(machine: &Machine<Silent>) -> Vec<u64> {
    happen(machine, 1, Signal::DramPageHits, 1);
    happen(machine, 1, Signal::InstructionsRetired, 1);
    [(0, 0xC001_0004), (1, 0xC001_0005), (1, 0xC001_0000)].map(|(number, msr)| thread(machine, number).x86().rdmsr(msr).unwrap()).to_vec()
}

/// IA32_PMC0 and fixed counter 0 count instructions; a channel counts CAS reads and is in the third clock of five; CHA 0 counts clocks.
fn begin_knl(machine: &Machine<Silent>) {
    let cpu = thread(machine, 0);
    cpu.x86().wrmsr(0x186, 0x0043_00C0).unwrap();
    cpu.x86().wrmsr(0x38D, 0b11).unwrap();
    cpu.x86().wrmsr(0x38F, 1 << 32 | 1).unwrap();
    cpu.x86().wrmsr(0xE00 + 1, 0x0040_0000).unwrap();
    happen(machine, 0, Signal::InstructionsRetired, 7);
    let untile = machine.untile().unwrap();
    untile.pci_write(0xFF, 8, 2, 0xB20, 4, 0x0040_0103);
    untile.inject(UnitId::new(Kind::McDclk, 0).unwrap(), 0x03, 0x01, 1, 5);
    untile.tick(Domain::Dclk, 3);
    untile.tick(Domain::Uclk, 10);
}

fn end_knl(machine: &Machine<Silent>) -> Vec<u64> {
    happen(machine, 0, Signal::InstructionsRetired, 2);
    let untile = machine.untile().unwrap();
    untile.tick(Domain::Dclk, 10);
    untile.tick(Domain::Uclk, 2);
    let [counter, fixed, select, clocks] = [0xC1, 0x309, 0x186, 0xE00 + 8].map(|msr| thread(machine, 0).x86().rdmsr(msr).unwrap());
    vec![counter, fixed, select, u64::from(untile.pci_read(0xFF, 8, 2, 0xB00, 4)), clocks]
}

/// MSR[HV], bit 3, and MSR[PR], bit 49.
const HV: u64 = 1 << 60;
const PR: u64 = 1 << 14;
/// Where a core posts, and where a thread does.
const CORE: u64 = 0x10_0000;
const THREAD: u64 = 0x20_0000;
/// CPM_CS_INST_USER.
const USER: u64 = 0x1020;

/// PMC5 of thread 0 counts run instructions; thread 1 posts what it counts in problem state, in units of 256.
fn begin_power9(machine: &Machine<Silent>) {
    let cpu = thread(machine, 0);
    cpu.set_context(Context::power(HV, 1));
    cpu.power().mtspr(spr::MMCR0, 0).unwrap();
    thread(machine, 1).power().mtspr(spr::MMCRC, 1 << 3).unwrap();
    thread(machine, 1).power().mtspr(spr::MMCRC, 0).unwrap();
    let core = machine.collection(0).unwrap();
    core.init(CORE);
    core.start();
    thread(machine, 1).power().mtspr(spr::LDBAR, 1 << 63 | THREAD).unwrap();
    thread(machine, 1).set_context(Context::power(PR, 0));
    happen(machine, 0, Signal::InstructionsRetired, 5);
    happen(machine, 1, Signal::InstructionsRetired, 700);
}

fn end_power9(machine: &Machine<Silent>) -> Vec<u64> {
    happen(machine, 0, Signal::InstructionsRetired, 2);
    happen(machine, 1, Signal::InstructionsRetired, 324);
    let memory = Cells::default();
    machine.collection(0).unwrap().post(&memory).ok().unwrap();
    let counter = thread(machine, 0).power().mfspr(791).unwrap();
    thread(machine, 0).power().mtspr(spr::MMCRC, 1 << 3).unwrap();
    thread(machine, 1).set_context(Context::power(HV, 0));
    let shared = thread(machine, 1).power().mfspr(spr::MMCRC).unwrap();
    vec![counter, shared, memory.at(THREAD + USER), memory.at(CORE + USER)]
}

/// PSR.up, bit 2.
const UP: u64 = 1 << 2;

/// PMD4 and PMD5 count retired instructions, the second from 100 on.
fn begin_itanium(machine: &Machine<Silent>) {
    let cpu = thread(machine, 0);
    cpu.set_context(Context::ia64(UP, 0));
    let mut pmc = itanium::Pmc::default();
    pmc.set_plm(1);
    pmc.set_es(0x08);
    cpu.ia64().mov_to_pmc(4, pmc.bits()).unwrap();
    cpu.ia64().mov_to_pmc(5, pmc.bits()).unwrap();
    cpu.ia64().mov_to_pmd(5, 100).unwrap();
    cpu.ia64().mov_to_ibr(0, 0x4000).unwrap();
    happen(machine, 0, Signal::InstructionsRetired, 3);
}

fn end_itanium(machine: &Machine<Silent>) -> Vec<u64> {
    happen(machine, 0, Signal::InstructionsRetired, 4);
    let cpu = thread(machine, 0);
    vec![cpu.ia64().mov_from_pmd(4).unwrap(), cpu.ia64().mov_from_pmd(5).unwrap(), cpu.ia64().mov_from_ibr(0).unwrap()]
}

/// PMD4 of the thread in the foreground counts retired instructions from 10 on.
fn begin_montecito(machine: &Machine<Silent>) {
    for number in 0..2 {
        thread(machine, number).set_context(Context::ia64(UP, 0).with_foreground(number == 0));
    }
    let mut pmc = montecito::Pmc::default();
    pmc.set_plm(0b1111);
    pmc.set_es(0x08);
    pmc.set_ism(0b10);
    thread(machine, 0).ia64().mov_to_pmc(4, pmc.bits()).unwrap();
    thread(machine, 0).ia64().mov_to_pmd(4, 10).unwrap();
    thread(machine, 1).ia64().mov_to_pmd(5, 77).unwrap();
    happen(machine, 0, Signal::InstructionsRetired, 3);
}

fn end_montecito(machine: &Machine<Silent>) -> Vec<u64> {
    happen(machine, 0, Signal::InstructionsRetired, 2);
    vec![thread(machine, 0).ia64().mov_from_pmd(4).unwrap(), thread(machine, 1).ia64().mov_from_pmd(5).unwrap()]
}

/// Memory everywhere.
#[derive(Default)]
pub(crate) struct Cells(RefCell<BTreeMap<u64, u64>>);

impl Cells {
    fn at(&self, address: u64) -> u64 {
        self.0.borrow().get(&address).copied().unwrap_or(0)
    }
}

impl Memory for Cells {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        Ok(self.at(address))
    }

    fn store(&self, address: u64, value: u64) -> Result<(), u64> {
        self.0.borrow_mut().insert(address, value);
        Ok(())
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        self.store(address, self.at(address).wrapping_add(amount))
    }
}

/// What is at offset 08h when [`end_chip`] is done: 4 steps of 256 pumps in the upper 16 bits.
pub(crate) const CHIP: u64 = 4 << 48;

/// Chip 8 as power-on leaves it.
pub(crate) fn chip() -> Chip {
    Chip::new(8, Nest::new(0x1000_0000).with_slot(25_600))
}

/// A chip whose engine runs. Of the fourth step of 256 pumps 200 have been.
pub(crate) fn stopped_chip() -> Chip {
    let chip = chip();
    chip.advance(4 * 25_600 + 100, &Cells::default()).ok().unwrap();
    chip.add(Event::named("PM_PB_EVENT_VG_PUMP").unwrap(), 3 * 256 + 200);
    chip
}

/// The rest of them.
pub(crate) fn end_chip(chip: &Chip) -> u64 {
    chip.add(Event::named("PM_PB_EVENT_VG_PUMP").unwrap(), 56);
    chip.register(0x08).unwrap()
}

const BUFFERS: &[BufferGeometry] = &[BufferGeometry { entries: 4, ways: 4, page_bits: &[12], pieces: false }];

/// A K8 with very little of everything, that has executed nothing.
pub(crate) fn companion() -> Companion {
    let k8 = *parts::named("k8").unwrap();
    let first = CacheGeometry::lru(1 << 10, 2);
    let caches = Caches { instruction: first, data: first, second: SecondLevel::Unified(CacheGeometry::lru(4 << 10, 4)), ..k8.caches };
    let profile = Profile {
        caches,
        translation: Translation { instruction: [BUFFERS, BUFFERS], data: [BUFFERS, BUFFERS], walk_entries: 4, ..k8.translation },
        predictor: PredictorGeometry {
            direction: Direction::Global { history: 2, index: 4 },
            target_bits: 2,
            return_stack: 2,
            decoded_returns: false,
            ..k8.predictor
        },
        ..k8
    };
    vm_pmu::companion::Builder::of(&profile).always().build()
}

/// How many of these loads miss in the first-level data cache, of a follower that may have executed others before.
pub(crate) fn misses(follower: &mut Follower<'_>, addresses: &[u64]) -> u64 {
    let machine = Builder::new("k8").unwrap().build(silent()).unwrap();
    let cpu = thread(&machine, 0);
    cpu.x86().wrmsr(0xC001_0000, 0x0042_0041).unwrap();
    follower.sync(&cpu.demand());
    for address in addresses {
        let accesses = [Access { address: *address, physical: *address, size: 8, ..Access::default() }];
        let load = Instruction { address: 0x1000, physical: 0x1000, length: 4, accesses: &accesses, ..Instruction::default() };
        follower.execute(&load, &mut Untranslated(12));
        follower.deliver(&cpu, &[], |_| {});
    }
    cpu.x86().rdpmc(0).unwrap()
}

/// What the companion's follower has loaded when it is stopped.
pub(crate) const LOADED: [u64; 2] = [0x8000, 0x9040];

/// What it loads afterwards: the first two hit.
pub(crate) const TO_LOAD: [u64; 4] = [0x8008, 0x9048, 0xA000, 0xB000];
