//! Whatever of an embedder's is called, it may call the machine: no lock is held meanwhile.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, Weak, mpsc};
use std::time::Duration;

use vm_pmu::arch::memory::Memory;
use vm_pmu::arch::montecito::Pmc;
use vm_pmu::arch::power9::nest::Nest;
use vm_pmu::arch::power9::spr;
use vm_pmu::companion::{self, Access, AccessKind, Clock, Instruction, PageTables, Walk};
use vm_pmu::irq::InterruptLine;
use vm_pmu::memory::{Chip, Translations};
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::untile::Domain;
use vm_pmu::{Address, Context, Countdown, Lines, Signal};

/// A line that calls its machine whenever it is called, and how often each of its methods was.
#[derive(Default)]
struct Caller {
    machine: OnceLock<Weak<Machine<Caller>>>,
    raised: AtomicU32,
    levels: AtomicU32,
    pins: AtomicU32,
    late: AtomicU32,
}

impl Caller {
    fn call(&self, count: &AtomicU32) {
        count.fetch_add(1, Relaxed);
        if let Some(machine) = self.machine.get().and_then(Weak::upgrade) {
            call(&machine);
        }
    }
}

impl InterruptLine for Caller {
    fn raise(&self, _thread: usize, _counter: u32) {
        self.call(&self.raised);
    }

    fn lines(&self, _thread: usize, _lines: Lines) {
        self.call(&self.levels);
    }

    fn pins(&self, _thread: usize, _pins: u32) {
        self.call(&self.pins);
    }

    fn late(&self, _thread: usize, _events: u64) {
        self.call(&self.late);
    }
}

thread_local! {
    /// What is called from within is not called again from there.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Reads, writes, services and saves every thread of the machine, and whatever else takes a lock.
fn call(machine: &Machine<Caller>) {
    if WITHIN.replace(true) {
        return;
    }
    for thread in (0..machine.threads()).filter_map(|number| machine.thread(number)) {
        let written: Vec<_> = thread.registers().iter().map(|register| register.address).collect();
        for address in written {
            let _ = thread.read(address).map(|value| thread.write(address, value));
        }
        thread.set_context(thread.context());
        thread.service();
        thread.check();
        let _ = (thread.demand(), thread.unsupplied(), thread.state(), thread.pin_toggles(4));
    }
    for package in 0..machine.packages() {
        machine.service_devices(package);
        machine.check_devices(package);
        if let Some(core) = machine.collection(package) {
            core.set_interval(core.interval());
            let _ = (core.inject(0, 0x20, 1), core.until_posting());
        }
    }
    if let Some(untile) = machine.untile() {
        untile.tick_all(1);
    }
    let states = machine.states();
    machine.restore(&states).unwrap();
    WITHIN.set(false);
}

fn build(part: &str, threads: usize) -> Arc<Machine<Caller>> {
    let machine = Arc::new(Builder::new(part).unwrap().threads(threads).build(Caller::default()).unwrap());
    assert!(machine.line().machine.set(Arc::downgrade(&machine)).is_ok());
    machine
}

/// Runs `work` elsewhere: a deadlock fails the test instead of stopping it.
fn ends(work: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    ended.recv_timeout(Duration::from_secs(60)).expect("it ends");
}

/// Memory of the guest that calls a machine whenever it is accessed.
struct Calling {
    machine: Arc<Machine<Caller>>,
    accesses: Cell<u32>,
}

impl Calling {
    fn access<T>(&self, value: T) -> Result<T, ()> {
        self.accesses.set(self.accesses.get() + 1);
        call(&self.machine);
        Ok(value)
    }
}

impl Memory for Calling {
    type Error = ();

    fn load(&self, _address: u64) -> Result<u64, ()> {
        self.access(0)
    }

    fn store(&self, _address: u64, _value: u64) -> Result<(), ()> {
        self.access(())
    }

    fn add(&self, _address: u64, _amount: u64) -> Result<(), ()> {
        self.access(())
    }
}

#[test]
fn an_interrupt_request_and_notice_that_it_was_late_may_call_the_machine() {
    ends(|| {
        let machine = build("k8", 2);
        let cpu = machine.thread(0).unwrap();
        cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(3)).unwrap();
        cpu.x86().wrmsr(0xC001_0000, 0x0052_0076).unwrap();
        cpu.totals().add(Signal::Cycles, 10);
        cpu.service();
        assert_eq!((machine.line().raised.load(Relaxed), machine.line().late.load(Relaxed)), (1, 1));
    });
}

#[test]
fn a_level_may_call_the_machine() {
    ends(|| {
        let machine = build("power9", 4);
        let cpu = machine.thread(0).unwrap();
        // PMAO: the line is raised by the write alone.
        cpu.power().mtspr(spr::MMCR0, 1 << 7).unwrap();
        assert!(machine.line().levels.load(Relaxed) != 0);
    });
}

#[test]
fn a_pin_may_call_the_machine() {
    ends(|| {
        let machine = build("montecito", 2);
        let cpu = machine.thread(0).unwrap();
        cpu.set_context(Context::ia64(0b0100, 0));
        let mut pmc = Pmc::default();
        pmc.set_plm(0b1111);
        pmc.set_es(0x08);
        pmc.set_ism(0b10);
        pmc.set_ev(true);
        cpu.ia64().mov_to_pmd(4, (1 << 47) - 1).unwrap();
        cpu.ia64().mov_to_pmc(4, pmc.bits()).unwrap();
        cpu.totals().add(Signal::InstructionsRetired, 1);
        cpu.service();
        assert_eq!(machine.line().pins.load(Relaxed), 1);
    });
}

#[test]
fn an_interrupt_of_the_untile_may_call_the_machine() {
    ends(|| {
        let machine = build("knl", 8);
        let cpu = machine.thread(0).unwrap();
        // Tile 0; CHA 3's clock in counter 2, with ov_en, one before its wrap.
        cpu.x86().wrmsr(0x700, 0b1).unwrap();
        cpu.x86().wrmsr(0xE00 + 36 + 10, (1 << 48) - 1).unwrap();
        cpu.x86().wrmsr(0xE00 + 36 + 3, 0x0050_0000).unwrap();
        machine.untile().unwrap().tick(Domain::Uclk, 1);
        assert_eq!(machine.line().raised.load(Relaxed), 8);
    });
}

#[test]
fn memory_that_a_core_posts_to_may_call_the_machine() {
    ends(|| {
        let memory = Calling { machine: build("power9", 4), accesses: Cell::new(0) };
        let core = memory.machine.collection(0).unwrap();
        core.init(0x10_0000);
        core.start();
        memory.machine.thread(0).unwrap().totals().add(Signal::InstructionsRetired, 512);
        core.post(&memory).ok().unwrap();
        assert!(memory.accesses.get() != 0);
    });
}

#[test]
fn memory_that_the_nest_posts_to_may_call_the_machine() {
    ends(|| {
        let memory = Calling { machine: build("power9", 4), accesses: Cell::new(0) };
        let chip = Chip::new(0, Nest::new(0x10_0000));
        chip.advance(4 * chip.slot_cycles(), &memory).ok().unwrap();
        assert!(memory.accesses.get() != 0);
    });
}

#[test]
fn what_reads_a_translation_may_call_the_machine_and_the_translations() {
    ends(|| {
        let (machine, chip, translations) = (build("power9", 1), Chip::new(0, Nest::new(0)), Translations::new());
        let look = || {
            call(&machine);
            translations.forget_entry(1, None);
            Some((chip.is_running().into(), translations.state()).0)
        };
        assert_eq!(translations.by_entry(&chip, 0, 1, look), Some(0));
        assert_eq!(translations.check_out(&chip, 0, 1, look), Some(0));
    });
}

#[test]
fn what_tells_levels_may_call_the_machine() {
    ends(|| {
        let machine = build("k8", 1);
        let cpu = machine.thread(0).unwrap();
        // Edges of event D0h, an empty decoder: E, OS, EN.
        cpu.x86().wrmsr(0xC001_0000, 0x0046_00D0).unwrap();
        let asked = Cell::new(0);
        cpu.supply_levels(|_state| {
            asked.set(asked.get() + 1);
            let _ = (cpu.read(Address::Msr(0xC001_0000)), cpu.demand(), cpu.state());
            cpu.service();
            Some(true)
        });
        assert_eq!((asked.get(), cpu.demand().asks_levels()), (1, false));
    });
}

#[test]
fn work_between_blocks_may_call_the_machine() {
    ends(|| {
        let machine = build("k8", 2);
        let called = Countdown::new().ask(machine.thread(0).unwrap(), 0, |_thread| {
            call(&machine);
            true
        });
        assert!(called);
    });
}

/// Page tables that call the machine and the companion.
struct Tables<'a>(&'a Machine<Caller>, &'a companion::Companion, u32);

impl PageTables for Tables<'_> {
    fn walk(&mut self, _address: u64) -> Walk {
        self.2 += 1;
        call(self.0);
        self.1.watch_places(true);
        Walk { entries: [0x2000, 0, 0, 0, 0], levels: 1, ..Walk::direct(12) }
    }
}

#[test]
fn page_tables_and_what_follows_an_instruction_may_call_the_machine_and_the_companion() {
    ends(|| {
        let machine = build("knl", 8);
        let companion = companion::Builder::new("knl").unwrap().threads(8).clock(Clock::Companion).build();
        companion.watch_places(true);
        let mut followers = [0, 1].map(|thread| companion.follower(thread).unwrap());
        let mut walks = 0;
        for (number, follower) in followers.iter_mut().enumerate() {
            follower.sync(&machine.thread(number).unwrap().demand());
            let accesses = [Access { address: 0x8000, physical: 0x8000, size: 8, kind: AccessKind::Store, ..Access::default() }];
            let mut tables = Tables(&machine, &companion, 0);
            follower.execute(
                &Instruction { address: 0x1000, physical: 0x1000, length: 4, accesses: &accesses, ..Instruction::default() },
                &mut tables,
            );
            walks += tables.2;
            follower.deliver(&machine.thread(number).unwrap(), &[], |_outcome| {
                call(&machine);
                companion.watch_places(true);
            });
        }
        assert!(walks != 0);
        let (mut places, mut interconnects) = (0, 0);
        companion.take_places(|_place, _signal, _amount| {
            places += 1;
            call(&machine);
            companion.take_places(|_, _, _| {});
            companion.take_interconnects(|_, _| interconnects += 1);
        });
        assert!(places != 0);
    });
}

#[test]
fn what_is_told_of_interconnects_may_call_the_companion() {
    ends(|| {
        let companion = companion::Builder::new("knl").unwrap().threads(8).build();
        companion.watch_places(true);
        companion.device_access(0x8000, 64, false, &vm_pmu::Totals::new(), &vm_pmu::Demand::default());
        let mut told = 0;
        companion.take_interconnects(|_package, _did| {
            told += 1;
            companion.take_interconnects(|_, _| {});
            companion.take_places(|_, _, _| {});
        });
        assert_eq!(told, 1);
    });
}
