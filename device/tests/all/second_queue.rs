//! The queue of Montecito's second level of data, read through PMC and PMD after a stream of bundles that does everything.

use vm_pmu::Context;
use vm_pmu::arch::event::Entry;
use vm_pmu::arch::feed::Signal;
use vm_pmu::arch::montecito::Pmc;
use vm_pmu::arch::registry::Part;
use vm_pmu::companion::{
    Access, AccessKind, Builder, Bundle, Class, Clock, Companion, Follower, Instruction, Operation, Untranslated, parts,
};
use vm_pmu::topology::{self, Machine};

/// PSR.up, bit 2.
const UP: u64 = 1 << 2;
/// Bytes of a line, and the binary logarithm of those of a page.
const LINE: u64 = 128;
const PAGE_BITS: u8 = 14;

/// Templates: two slots of M, and one of F or I; the last bit is a stop at the end.
const MMF: u8 = 0x0E;
const STOP: u8 = 1;
/// What does nothing in a slot of F or I.
const NOP: u64 = 1 << 27;

/// Bits 40:37 and 35:30 of accesses.
const fn access(major: u64, code: u64) -> u64 {
    major << 37 | code << 30
}

/// Bits 32:31 and 30:27 of what orders accesses.
const fn system(group: u64, code: u64) -> u64 {
    group << 31 | code << 27
}

const LD8: u64 = access(4, 0x03);
const LD8_ACQUIRE: u64 = access(4, 0x17);
const ST8: u64 = access(4, 0x33);
const ST8_RELEASE: u64 = access(4, 0x37);
const LDFD: u64 = access(6, 0x03);
const LFETCH: u64 = access(6, 0x2C);
const XCHG8: u64 = access(4, 0x0B) | NOP;
const MF: u64 = system(2, 2);
const MF_A: u64 = system(2, 3);
const SYNC_I: u64 = system(3, 3);
const FC: u64 = 1 << 37 | 0x30 << 27;

/// Lines that are used again, lines that are used once, and what goes around the caches.
const HOT: u64 = 0x100_0000;
const COLD: u64 = 0x4000_0000;
const DEVICE: u64 = 0x8000_0000;

/// Where code is, and how much of it.
const CODE: u64 = 0x10_0000;
const CODE_BYTES: u64 = 1 << 12;

type Quiet = fn(usize, u32);

/// One thread that counts and is followed.
struct System<'a> {
    machine: Machine<Quiet>,
    follower: Follower<'a>,
    address: u64,
    cold: u64,
}

/// An instruction of a slot of M.
#[derive(Clone, Copy)]
struct Slot {
    word: u64,
    class: Class,
    access: Option<Access>,
}

fn slot(word: u64, kind: AccessKind, address: u64, size: u8) -> Slot {
    let class = if kind == AccessKind::Store { Class::Store } else { Class::Load };
    Slot { word, class, access: Some(Access { address, physical: address, size, kind, ..Access::default() }) }
}

fn load(address: u64) -> Slot {
    slot(LDFD, AccessKind::Load, address, 8)
}

fn store(address: u64) -> Slot {
    slot(ST8, AccessKind::Store, address, 8)
}

impl<'a> System<'a> {
    fn new(companion: &'a Companion, entry: &Entry) -> System<'a> {
        let threads = usize::from(companion.profile().threads);
        let quiet: Quiet = |_, _| {};
        let machine = topology::Builder::new("montecito").unwrap().threads(threads).build(quiet).unwrap();
        let thread = machine.thread(0).unwrap();
        thread.set_context(Context::ia64(UP, 0));
        let mut pmc = Pmc::default();
        pmc.set_plm(0b1111);
        pmc.set_es(u8::try_from(entry.select).unwrap());
        pmc.set_umask(u8::try_from(entry.umask.unwrap_or(0)).unwrap());
        pmc.set_ism(0b10);
        thread.ia64().mov_to_pmc(4, pmc.bits()).unwrap();
        let mut follower = companion.follower(0).unwrap();
        follower.sync(&thread.demand());
        System { machine, follower, address: CODE, cold: COLD }
    }

    /// A bundle with two instructions of M.
    fn bundle(&mut self, template: u8, slots: [Slot; 2]) {
        let words = [slots[0].word, slots[1].word, NOP];
        let none = Slot { word: NOP, class: Class::Simple, access: None };
        for (number, slot) in [slots[0], slots[1], none].into_iter().enumerate() {
            let instruction = Instruction {
                address: self.address,
                physical: self.address,
                length: 16,
                class: slot.class,
                operation: Some(Operation { width: 8, ..Operation::default() }),
                accesses: slot.access.as_slice(),
                bundle: Some(Bundle { slot: number as u8, ..Bundle::new(template, words) }),
                ..Instruction::default()
            };
            self.follower.execute(&instruction, &mut Untranslated(PAGE_BITS));
            self.follower.deliver(&self.machine.thread(0).unwrap(), &[], |_| {});
        }
        // Code that the first level has.
        self.address = CODE + (self.address + 16) % CODE_BYTES;
    }

    /// A group of four instructions of M.
    fn group(&mut self, slots: [Slot; 4]) {
        self.bundle(MMF, [slots[0], slots[1]]);
        self.bundle(MMF | STOP, [slots[2], slots[3]]);
    }

    /// A group of one.
    fn one(&mut self, slot: Slot) {
        self.bundle(MMF | STOP, [slot, Slot { word: NOP, class: Class::Simple, access: None }]);
    }

    fn cold(&mut self) -> u64 {
        self.cold += LINE;
        self.cold
    }

    fn count(&mut self) -> u64 {
        // What is still on its way is done long before these are.
        (0..2_000).for_each(|_| self.one(Slot { word: NOP, class: Class::Simple, access: None }));
        self.machine.thread(0).unwrap().ia64().mov_from_pmd(4).unwrap()
    }
}

/// Groups of four drawn instructions; then more modified lines than the second level has; then many loads of one line that is on its way.
fn everything(system: &mut System<'_>) {
    let mut state = 1u64;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for line in 0..8 {
        system.one(load(HOT + line * LINE));
    }
    let order = |word| Slot { word, class: Class::Fence, access: None };
    let flush = |address| slot(FC, AccessKind::Flush, address, 1);
    for _ in 0..4_000 {
        let slots = [(); 4].map(|()| {
            let hot = HOT + draw(8) * LINE + draw(16) * 8;
            match draw(28) {
                0..6 => load(hot),
                6..8 => load(hot + 4),
                8 => slot(LD8, AccessKind::Load, hot, 8),
                9 => slot(LD8, AccessKind::Load, system.cold(), 8),
                10 => load(system.cold()),
                11 => load(system.cold + 8),
                // The same set as the last cold line.
                12 => load(system.cold + (1 << 15)),
                13..17 => store(hot),
                17 => slot(ST8, AccessKind::Store, hot, 2),
                18 => store(if draw(2) == 0 { system.cold() } else { system.cold + 16 }),
                19 => slot(ST8_RELEASE, AccessKind::Store, hot, 8),
                20 => slot(LD8_ACQUIRE, AccessKind::Load, system.cold(), 8),
                21 => slot(LFETCH, AccessKind::PrefetchLoad, system.cold(), 1),
                22 => {
                    let mut exchange = slot(XCHG8, AccessKind::Store, hot, 8);
                    exchange.access.iter_mut().for_each(|access| access.locked = true);
                    exchange
                }
                23 => {
                    let mut around = load(DEVICE);
                    around.access.iter_mut().for_each(|access| access.uncached = true);
                    around
                }
                24 => order([MF, MF_A, SYNC_I][draw(3) as usize]),
                25 => flush(COLD),
                _ => load(hot),
            }
        });
        system.group(slots);
    }
    (0..5_000).for_each(|_| {
        let line = system.cold();
        system.one(store(line));
    });
    (0..40).for_each(|_| {
        let line = system.cold();
        system.one(load(line));
    });
    let line = system.cold();
    (0..80).for_each(|_| system.one(load(line)));
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    Part::named("montecito").unwrap().catalogue().entries.iter().filter(|entry| entry.unit == "l2d")
}

fn is_of_the_queue(signal: Signal) -> bool {
    ["l2_queue_", "l2_fill_buffer_", "l2_victim_buffer_"].iter().any(|name| signal.name().starts_with(name))
}

fn companion() -> Companion {
    Builder::of(&parts::MONTECITO).threads(usize::from(parts::MONTECITO.threads)).clock(Clock::Companion).build()
}

/// What the event of this name reads after `work`.
fn read(name: &str, work: impl Fn(&mut System<'_>)) -> u64 {
    let entry = entries().find(|entry| entry.name == name).unwrap();
    let companion = companion();
    let mut system = System::new(&companion, entry);
    work(&mut system);
    system.count()
}

#[test]
fn every_driven_event_of_the_queue_counts() {
    // What snoops do is read with two packages, by the tests of the bus.
    let of_snoops = |entry: &Entry| entry.signals.iter().all(|signal| signal.name().contains("snooped"));
    let of_queue =
        |entry: &&Entry| !entry.signals.is_empty() && entry.signals.iter().all(|signal| is_of_the_queue(*signal)) && !of_snoops(entry);
    let (mut dead, mut count) = (Vec::new(), 0);
    for entry in entries().filter(of_queue) {
        count += 1;
        if read(entry.name, everything) == 0 {
            dead.push(entry.name);
        }
    }
    assert_eq!(dead, [""; 0]);
    assert_eq!(count, 49);
}

#[test]
fn the_sums_of_the_manual_hold() {
    let all = |names: &[&str]| names.iter().map(|name| read(name, everything)).sum::<u64>();
    let entered = all(&["L2D_FORCE_RECIRC.RECIRC", "L2D_FORCE_RECIRC.LIMBO"]);
    let causes = ["FILL_HIT", "FRC_RECIRC", "SAME_INDEX", "OZQ_MISS", "L1W", "TAG_NOTOK"].map(|cause| format!("L2D_FORCE_RECIRC.{cause}"));
    assert_eq!(entered, all(&causes.each_ref().map(String::as_str)));
    let secondary = all(&["L2D_FORCE_RECIRC.FILL_HIT", "L2D_FORCE_RECIRC.OZQ_MISS", "L2D_FORCE_RECIRC.L1W"]);
    assert_eq!(secondary, all(&["L2D_FORCE_RECIRC.SECONDARY_ALL"]));
    let causes: Vec<_> = entries().map(|entry| entry.name).filter(|name| name.starts_with("L2D_OZQ_CANCELS0.")).collect();
    assert_eq!(all(&causes), all(&["L2D_OZQ_CANCELS1.ANY"]));
}

#[test]
fn loads_of_two_banks_go_around_the_queue_and_those_of_one_do_not() {
    // Two lines that the second level has; then four loads of one group. All of the first group have banks of their own, each 16 bytes. In
    // the second the last two have the bank of the first two, and go the long way.
    let work = |second: u64| {
        move |system: &mut System<'_>| {
            system.one(load(HOT));
            (0..300).for_each(|_| system.one(Slot { word: NOP, class: Class::Simple, access: None }));
            system.group([load(HOT), load(HOT + 16), load(HOT + 32 - second), load(HOT + 48 - second)]);
        }
    };
    let counts = |second| ["L2D_BYPASS.L2_DATA1", "L2D_BYPASS.L2_DATA2", "L2D_OZQ_CANCELS0.BANK_CONF"].map(|name| read(name, work(second)));
    assert_eq!(counts(0), [4, 0, 0]);
    assert_eq!(counts(24), [2, 2, 2]);
    // The first load missed, on its way around the queue.
    assert_eq!(read("L2D_BYPASS.L3_DATA1", work(0)), 1);
    assert_eq!(read("L2D_OPS_ISSUED.FP_LOAD", work(0)), 5);
}
