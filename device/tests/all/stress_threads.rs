//! Eight threads of the host, a vCPU each, on one machine of every part: whatever they do at once comes to an end, nothing is counted twice or
//! lost, and a machine that is saved while they stand still goes on in another.
//!
//! What the threads wait for each other by is made of atomics alone, so that ThreadSanitizer sees it with a standard library that it was not
//! told of: `.ci/release` runs these tests under it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use vm_pmu::arch::feed::{Branch, BranchKind, DataSource, Fetch, Prediction, Request, RequestKind, SignalSet, Translation};
use vm_pmu::arch::memory::Memory;
use vm_pmu::arch::montecito;
use vm_pmu::arch::power9::nest::{Event, Nest};
use vm_pmu::arch::power9::spr;
use vm_pmu::companion::{self, Access, AccessKind, Clock, Follower, Instruction, Invalidation, Transfer, Untranslated};
use vm_pmu::irq::InterruptLine;
use vm_pmu::memory::{Chip, REGION};
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::untile::{Domain, Kind, Stage, Transaction, UnitId};
use vm_pmu::{Context, Demand, Lines, Occasion, Occurrence, Record, Records, Reset, Signal};

const VCPUS: usize = 8;

/// How often all of them stand still in one test, and how much each does in between.
const STOPS: usize = 6;
const STEPS: usize = 3000;

/// Where the vCPUs wait for each other.
#[derive(Default)]
struct Gate {
    arrived: AtomicUsize,
    opened: AtomicUsize,
    /// Somebody has failed and will not come.
    abandoned: AtomicBool,
}

impl Gate {
    fn meet(&self) {
        let opened = self.opened.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == VCPUS {
            self.arrived.store(0, Ordering::Relaxed);
            self.opened.store(opened + 1, Ordering::Release);
        }
        while self.opened.load(Ordering::Acquire) == opened {
            assert!(!self.abandoned.load(Ordering::Acquire), "another vCPU has failed");
            thread::yield_now();
        }
    }
}

/// Opens the gate's waiters' eyes when its thread fails.
struct Coming<'a>(&'a Gate);

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.abandoned.store(true, Ordering::Release);
        }
    }
}

/// Runs the vCPUs, each on its own thread of the host, to their ends.
fn at_once(work: impl Fn(usize, &Gate) + Sync) {
    let gate = Gate::default();
    thread::scope(|scope| {
        let vcpus: Vec<_> = (0..VCPUS)
            .map(|number| {
                let (gate, work) = (&gate, &work);
                scope.spawn(move || {
                    let _coming = Coming(gate);
                    work(number, gate);
                })
            })
            .collect();
        // What joins threads is seen; what a scope waits by at its end is not.
        let ended: Vec<_> = vcpus.into_iter().map(|vcpu| vcpu.join()).collect();
        assert!(ended.iter().all(Result::is_ok), "a vCPU has failed");
    });
}

/// Numbers without end, the same ones for the same seed.
struct Random(u64);

impl Random {
    fn of(seed: usize) -> Random {
        Random((seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit
    }
}

/// Every thread's interrupts and levels.
#[derive(Default)]
struct Heard {
    raised: [AtomicU64; VCPUS],
    told: [AtomicU64; VCPUS],
}

impl InterruptLine for Heard {
    fn raise(&self, thread: usize, _counter: u32) {
        self.raised[thread].fetch_add(1, Ordering::Relaxed);
    }

    fn lines(&self, thread: usize, _lines: Lines) {
        self.told[thread].fetch_add(1, Ordering::Relaxed);
    }
}

/// Memory of the guest: 2 MiB from 1 MiB on.
struct Ram(Box<[AtomicU64]>);

const RAM: u64 = 0x10_0000;

impl Ram {
    fn new() -> Ram {
        Ram((0..0x4_0000).map(|_| AtomicU64::new(0)).collect())
    }

    fn cell(&self, address: u64) -> Result<&AtomicU64, u64> {
        let place = address.checked_sub(RAM).and_then(|offset| usize::try_from(offset / 8).ok());
        place.and_then(|place| self.0.get(place)).ok_or(address)
    }
}

impl Memory for Ram {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        Ok(self.cell(address)?.load(Ordering::Relaxed))
    }

    fn store(&self, address: u64, value: u64) -> Result<(), u64> {
        self.cell(address)?.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
        self.cell(address)?.fetch_add(amount, Ordering::Relaxed);
        Ok(())
    }
}

fn build(part: &str, packages: usize) -> Machine<Heard> {
    Builder::new(part).unwrap().packages(packages).threads(VCPUS / packages).build(Heard::default()).unwrap()
}

/// What a guest writes: a number as it is, few bits, a counter that is about to overflow, a select of K8 or Knights Landing that counts.
fn value(random: &mut Random) -> u64 {
    let number = random.next();
    match random.below(6) {
        0 => number,
        1 => number & number >> 7 & number >> 13,
        2 => number >> 48,
        3 => 0u64.wrapping_sub(number & 0xFF),
        4 => 0x0053_0000 | number & 0xFFFF,
        _ => 0x7FFF_FF00 | number & 0xFF,
    }
}

fn context(part: &str, random: &mut Random) -> Context {
    let number = random.next();
    let context = match part {
        "power9" => Context::power([1 << 60, 0, 1 << 14][random.below(3)] | number & 0xFF00, number & 1),
        "itanium" | "montecito" => Context::ia64(0b0100 | (number & 3) << 32 | number & 0x20_0000, 0).with_foreground(number & 16 != 0),
        _ => Context::x86([0, 3][random.below(2)], 0x202, number & 0x100),
    };
    context.with_halted(random.below(16) == 0)
}

fn record(random: &mut Random) -> Record {
    let at = 0x4000 + random.next() % 0x1000;
    let branch = Branch { kind: BranchKind::Conditional, taken: at & 8 != 0, target: at ^ 0x100, prediction: Prediction::default() };
    let fetch = Fetch {
        address: at,
        cache_miss: at & 16 != 0,
        pending: false,
        prefetch: false,
        latency: (at & 63) as u32,
        translation: Translation::default(),
    };
    let memory = vm_pmu::arch::feed::Memory {
        address: at << 4,
        size: 8,
        load: true,
        store: false,
        latency: (at & 255) as u32,
        source: DataSource::default(),
        translation: Translation::default(),
    };
    Record {
        branch: Some(branch).filter(|_| at & 1 == 0),
        memory: Some(memory).filter(|_| at & 2 == 0),
        fetch: Some(fetch).filter(|_| at & 4 == 0),
        ..Record::at(at)
    }
}

/// What one vCPU does next: whatever a guest or its emulator could.
fn act(machine: &Machine<Heard>, cpu: Thread<'_, Heard>, ram: &Ram, random: &mut Random) {
    let part = machine.part().name();
    let registers = cpu.registers();
    match random.below(24) {
        0..=7 => execute(cpu, random),
        8 => drop(cpu.read(registers[random.below(registers.len())].address)),
        9..=11 => drop(cpu.write(registers[random.below(registers.len())].address, value(random))),
        12 => cpu.set_context(context(part, random)),
        13 => cpu.record(&record(random)),
        14 => cpu.request(&Request::of(RequestKind::ALL[random.below(RequestKind::ALL.len())])),
        15 => drop(cpu.inject(Occurrence { select: random.next() as u32 & 0xFF, umask: 1 << random.below(8) }, 3)),
        16 => drop(machine.inject_package(cpu.package(), Occurrence { select: random.next() as u32 & 0xFF, umask: 1 }, 3)),
        17 => cpu.advance(random.next() % 100, &[Signal::Cycles, Signal::FrontEndEmptyCycles]),
        18 => look(cpu),
        19 => devices(machine, cpu, random),
        20 | 21 => boxes(machine, cpu, random),
        22 => cores(machine, cpu, ram, random),
        _ if random.below(8) == 0 => cpu.reset([Reset::Cold, Reset::Warm][random.below(2)]),
        _ => cpu.service(),
    }
}

/// Some instructions, by the rules.
fn execute(cpu: Thread<'_, Heard>, random: &mut Random) {
    let demand = cpu.demand();
    for _ in 0..random.below(20) {
        for signal in demand.signals().iter() {
            cpu.totals().add(signal, random.next() % 3);
        }
        cpu.totals().add(Signal::Cycles, 1);
        let reached = cpu.due();
        if demand.records().wants(reached, Occasion::default()) {
            cpu.record(&record(random));
        }
        if reached {
            cpu.check();
        }
        if demand.epoch() != cpu.epoch() {
            break;
        }
    }
}

fn look(cpu: Thread<'_, Heard>) {
    let _ = (cpu.state(), cpu.context(), cpu.lines(), cpu.instruction_match(), cpu.pin_toggles(0), cpu.room());
    cpu.watch_pins(0b11);
}

/// One vCPU of each package adds for its devices; any may service them.
fn devices(machine: &Machine<Heard>, cpu: Thread<'_, Heard>, random: &mut Random) {
    let package = cpu.package();
    let demand = machine.device_demand(package).unwrap();
    if cpu.number().is_multiple_of(machine.threads() / machine.packages()) {
        let devices = machine.devices(package).unwrap();
        for signal in demand.signals().iter() {
            devices.totals.add(signal, random.next() % 50);
        }
        machine.check_devices(package);
    }
    machine.service_devices(package);
}

/// The boxes of Knights Landing, by every way there is.
fn boxes(machine: &Machine<Heard>, cpu: Thread<'_, Heard>, random: &mut Random) {
    let Some(untile) = machine.untile() else { return };
    let cha = random.below(38);
    let base = 0xE00 + 12 * cha as u32;
    let unit = UnitId::new(Kind::Cha, cha as u8).unwrap();
    match random.below(10) {
        0 => drop(cpu.x86().wrmsr(0x700, random.next() & 0x8000_0000_0000_0003 | 0b11)),
        1 => drop(cpu.x86().wrmsr(base + 1 + random.below(4) as u32, 0x0050_0000 | random.next() & 0xFFFF)),
        2 => drop(cpu.x86().wrmsr(base + 8 + random.below(4) as u32, (1 << 48) - 1 - random.next() % 64)),
        3 => drop(cpu.x86().rdmsr(base + random.below(12) as u32)),
        4 => untile.tick(Domain::ALL[random.below(3)], random.next() % 100),
        5 => untile.tick_all(random.next() % 100),
        6 => drop(untile.transact(cha as u8, &Transaction::default(), Stage::Served { clocks: random.next() % 50 })),
        7 => drop(untile.inject(unit, random.next() as u8, 1, 1, random.next() % 9)),
        8 => untile.pci_write(0xFF, 8, 2, 0xB20, 4, 0x0050_0000 | random.next() as u32 & 0xFFFF),
        _ => drop(untile.pci_read(0xFF, 8, 2, 0xB00, 4)),
    }
}

/// What a core of POWER9 posts into memory.
fn cores(machine: &Machine<Heard>, cpu: Thread<'_, Heard>, ram: &Ram, random: &mut Random) {
    let Some(core) = machine.collection(cpu.package()) else { return };
    match random.below(8) {
        0 => core.init(RAM + 0x4000 * cpu.package() as u64),
        1 => core.start(),
        2 => core.stop(),
        3 => core.set_interval(1 + random.next() % 500),
        4 => drop(core.inject(cpu.number() % 4, random.next() as u32 & 0x3FF8, 5)),
        5 => drop(core.post(ram)),
        6 => drop(cpu.power().mtspr(spr::LDBAR, 1 << 63 | RAM | 0x8000)),
        _ => drop(core.advance(random.next() % 1000, ram)),
    }
}

/// Every vCPU does whatever it likes. In between all stand still, and one of them saves the machine and loads it elsewhere.
fn whatever_they_like(part: &str, packages: usize) {
    let (machine, ram) = (build(part, packages), Ram::new());
    at_once(|number, gate| {
        let cpu = machine.thread(number).unwrap();
        let mut random = Random::of(number);
        for stop in 0..STOPS {
            for _ in 0..STEPS {
                act(&machine, cpu, &ram, &mut random);
            }
            gate.meet();
            if stop % VCPUS == number {
                let saved = machine.save().unwrap();
                let other = build(part, packages);
                other.load(&saved).unwrap();
                assert!(other.save().unwrap() == saved, "{part}: another machine does not remember what it loaded");
                machine.load(&saved).unwrap();
                assert!(machine.save().unwrap() == saved, "{part}: the machine does not remember what it loaded");
            }
            gate.meet();
        }
    });
}

#[test]
fn eight_threads_do_whatever_they_like_on_k8() {
    whatever_they_like("k8", 4);
}

#[test]
fn eight_threads_do_whatever_they_like_on_one_k8_package() {
    whatever_they_like("k8", 1);
}

#[test]
fn eight_threads_do_whatever_they_like_on_a_tile_of_knights_landing_and_its_boxes() {
    whatever_they_like("knl", 1);
}

#[test]
fn eight_threads_do_whatever_they_like_on_two_cores_of_power9() {
    whatever_they_like("power9", 2);
}

#[test]
fn eight_threads_do_whatever_they_like_on_four_cores_of_montecito() {
    whatever_they_like("montecito", 4);
}

#[test]
fn eight_threads_do_whatever_they_like_on_eight_itaniums() {
    whatever_they_like("itanium", 8);
}

/// How much each vCPU does where counts are compared.
const EVENTS: u64 = 16_384;

#[test]
fn threads_of_a_knights_landing_core_and_boxes_lose_no_event_to_each_other() {
    let machine = build("knl", 1);
    let channel = UnitId::new(Kind::McDclk, 0).unwrap();
    let untile = machine.untile().unwrap();
    // CAS reads in the channel's counter 0.
    untile.pci_write(0xFF, 8, 2, 0xB20, 4, 0x0040_0103);
    at_once(|number, gate| {
        let cpu = machine.thread(number).unwrap();
        // IA32_PMC0: this thread's instructions; IA32_FIXED_CTR0: those of its core's four (AnyThread).
        for (msr, value) in [(0x186, 0x0043_00C0), (0x38D, 0b111), (0x38F, 1 << 32 | 1)] {
            cpu.x86().wrmsr(msr, value).unwrap();
        }
        gate.meet();
        for event in 0..EVENTS {
            cpu.totals().add(Signal::InstructionsRetired, 1);
            cpu.totals().add(Signal::Cycles, 1);
            if cpu.due() {
                cpu.check();
            }
            if event % 64 == 0 {
                untile.inject(channel, 0x03, 0x01, 1, 1);
                assert!(cpu.x86().rdmsr(0x309).unwrap() >= cpu.x86().rdmsr(0xC1).unwrap().min(event));
            }
        }
        gate.meet();
        assert_eq!((cpu.x86().rdmsr(0xC1), cpu.x86().rdmsr(0x309)), (Ok(EVENTS), Ok(4 * EVENTS)), "thread {number}");
        gate.meet();
    });
    untile.tick(Domain::Dclk, EVENTS);
    assert_eq!(u64::from(untile.pci_read(0xFF, 8, 2, 0xB00, 4)), VCPUS as u64 * EVENTS / 64);
}

#[test]
fn a_power9_core_posts_what_its_four_threads_do_and_they_share_a_register() {
    let (machine, ram) = (build("power9", 2), Ram::new());
    let home = |core: usize| RAM + 0x4000 * core as u64;
    for core in 0..2 {
        machine.collection(core).unwrap().init(home(core));
        machine.collection(core).unwrap().start();
    }
    at_once(|number, gate| {
        let cpu = machine.thread(number).unwrap();
        cpu.set_context(Context::power(1 << 60, 1));
        cpu.power().mtspr(spr::MMCR0, 0).unwrap();
        gate.meet();
        let core = machine.collection_of(number).unwrap();
        for event in 0..EVENTS {
            cpu.totals().add(Signal::InstructionsRetired, 1);
            cpu.totals().add(Signal::Cycles, 1);
            if event % 64 == 0 {
                core.advance(64, &ram).ok().unwrap();
                // Thread 3's counters are frozen, or not.
                cpu.power().mtspr(spr::MMCRC, (event / 64 + number as u64) & 1).unwrap();
            }
        }
        gate.meet();
        if number % 4 != 3 {
            // PMC5 has the thread's run instructions, whatever the others do.
            assert_eq!(cpu.power().mfspr(791), Ok(EVENTS), "thread {number}");
        }
        let first = machine.thread(number / 4 * 4).unwrap();
        assert_eq!(cpu.power().mfspr(spr::MMCRC), first.power().mfspr(spr::MMCRC), "thread {number}");
        gate.meet();
    });
    for core in 0..2 {
        machine.collection(core).unwrap().post(&ram).ok().unwrap();
        // CPM_INST, in units of 512.
        assert_eq!(ram.load(home(core) + 0x20), Ok(4 * EVENTS / 512), "core {core}");
    }
}

#[test]
fn every_thread_of_montecito_is_interrupted_at_each_of_its_own_overflows() {
    let machine = build("montecito", 4);
    at_once(|number, _gate| {
        let cpu = machine.thread(number).unwrap();
        cpu.set_context(Context::ia64(0b0100, 0));
        // PMC4: retired instructions at every level, with an interrupt.
        let mut pmc = montecito::Pmc::default();
        pmc.set_plm(0b1111);
        pmc.set_es(0x08);
        pmc.set_ism(0b10);
        pmc.set_oi(true);
        cpu.ia64().mov_to_pmc(4, pmc.bits()).unwrap();
        for _ in 0..EVENTS / 64 {
            cpu.ia64().mov_to_pmd(4, (1 << 47) - 64).unwrap();
            for _ in 0..64 {
                cpu.totals().add(Signal::InstructionsRetired, 1);
                cpu.totals().add(Signal::Cycles, 1);
                if cpu.due() {
                    cpu.check();
                }
            }
            // Thaw.
            cpu.ia64().mov_to_pmc(0, 0).unwrap();
        }
    });
    assert!(machine.line().raised.iter().all(|raised| raised.load(Ordering::Relaxed) == EVENTS / 64));
}

#[test]
fn a_chip_loses_no_pump_that_a_thread_tells_of_while_another_posts() {
    let (chip, ram) = (Chip::new(8, Nest::new(RAM).with_slot(25_600)), Ram::new());
    // The engine runs.
    chip.advance(4 * 25_600 + 100, &ram).ok().unwrap();
    let pump = Event::named("PM_PB_EVENT_VG_PUMP").unwrap();
    at_once(|_number, _gate| {
        for event in 0..EVENTS {
            chip.add(pump, 1);
            if event % 256 == 0 {
                chip.advance(25_600, &ram).ok().unwrap();
                drop(chip.state());
            }
        }
    });
    chip.post_now(&ram).ok().unwrap();
    assert!(chip.is_running());
    // In steps of 256.
    assert_eq!(ram.load(RAM + REGION + u64::from(pump.offset())), Ok(VCPUS as u64 * EVENTS / 256));
}

/// An access to one of a few lines that all vCPUs want.
fn load_or_store(follower: &mut Follower<'_>, random: &mut Random) {
    let kinds = [AccessKind::Load, AccessKind::Store, AccessKind::PrefetchLoad, AccessKind::StreamingStore, AccessKind::Flush];
    let address = 0x8000 + 0x40 * (random.next() % 512);
    let locked = random.below(8) == 0;
    let accesses = [Access { address, physical: address, size: 8, kind: kinds[random.below(kinds.len())], locked, ..Access::default() }];
    let at = 0x1000 + 0x40 * (random.next() % 64);
    let transfer = Transfer { kind: BranchKind::Conditional, taken: at & 0x40 != 0, target: 0x1000 };
    let transfer = Some(transfer).filter(|_| random.below(4) == 0);
    follower.execute(
        &Instruction { address: at, physical: at, length: 4, accesses: &accesses, transfer, ..Instruction::default() },
        &mut Untranslated(12),
    );
    if random.below(200) == 0 {
        follower.invalidate(Invalidation::All);
    }
}

/// Every vCPU is followed, on lines that all of them write. Afterwards what was followed is saved and loaded elsewhere.
fn followed(part: &str, packages: usize) {
    let machine = build(part, packages);
    let build = || {
        let builder = companion::Builder::new(part).unwrap().packages(packages).threads(VCPUS / packages);
        builder.clock(Clock::Companion).memory_per_package(1 << 14).build()
    };
    let (companion, other) = (build(), build());
    companion.watch_places(true);
    let followers: [Mutex<Follower<'_>>; VCPUS] = std::array::from_fn(|number| Mutex::new(companion.follower(number).unwrap()));
    at_once(|number, gate| {
        let (cpu, mut random) = (machine.thread(number).unwrap(), Random::of(number));
        let mut follower = followers[number].lock().unwrap();
        let mut everything = Demand::default();
        everything.replace(SignalSet::ALL, false, Records::REQUESTS);
        follower.sync(&everything);
        gate.meet();
        for step in 0..STEPS {
            load_or_store(&mut follower, &mut random);
            follower.deliver(&cpu, &[], |_| {});
            if step % 64 == number {
                companion.take_places(|_, _, _| {});
                companion.take_interconnects(|_, _| {});
            }
        }
    });
    let mut followers = followers.map(|follower| follower.into_inner().unwrap());
    let saved = companion.save(&followers.iter().collect::<Vec<_>>()).unwrap();
    let mut others: [Follower<'_>; VCPUS] = std::array::from_fn(|number| other.follower(number).unwrap());
    other.restore(&saved, &mut others.iter_mut().collect::<Vec<_>>()).unwrap();
    assert!(other.save(&others.iter().collect::<Vec<_>>()).unwrap() == saved, "{part}: another companion does not remember what it loaded");
    companion.restore(&saved, &mut followers.iter_mut().collect::<Vec<_>>()).unwrap();
    for cpu in (0..VCPUS).filter_map(|number| machine.thread(number)) {
        let of = |signal| cpu.totals().get(signal);
        let cycles = of(Signal::Cycles);
        assert!(cycles >= STEPS as u64 / 4, "{part}: thread {}", cpu.number());
    }
}

#[test]
fn eight_threads_are_followed_through_the_caches_of_two_k8_packages() {
    followed("k8", 2);
}

#[test]
fn eight_threads_are_followed_through_the_caches_of_a_tile_of_knights_landing() {
    followed("knl", 1);
}

#[test]
fn eight_threads_are_followed_through_the_caches_of_two_power9_cores() {
    followed("power9", 2);
}
