//! A system of Itaniums whose first thread counts one event.

use vm_pmu::Context;
use vm_pmu::arch::montecito::Pmc;
use vm_pmu::companion::{
    Access, AccessKind, Builder, CacheGeometry, Caches, Class, Clock, Companion, Fill, Follower, Instruction, Operation, Profile,
    Untranslated,
};
use vm_pmu::topology::{self, Machine};

/// PSR.up, bit 2.
const UP: u64 = 1 << 2;

pub(crate) type Quiet = fn(usize, u32);

/// Packages whose threads are followed. Thread 0 counts.
pub(crate) struct System<'a> {
    pub(crate) machine: Machine<Quiet>,
    pub(crate) followers: Vec<Follower<'a>>,
    companion: &'a Companion,
    /// Where the next instruction of each thread is.
    next: u64,
}

/// A companion of two packages with one core each, whose third level has so many bytes.
pub(crate) fn companion(part: &Profile, third: u64) -> Companion {
    let caches = Caches { third: Some((CacheGeometry::lru(third, 4), Fill::Inclusive)), ..part.caches };
    let threads = threads(part);
    Builder::of(&Profile { caches, ..*part }).packages(2).threads(threads).clock(Clock::Companion).always().build()
}

/// The threads of a core.
pub(crate) fn threads(part: &Profile) -> usize {
    usize::from(part.threads)
}

impl<'a> System<'a> {
    /// One of this part. Counter 4 of its first thread counts event `select` with `umask`.
    pub(crate) fn new(companion: &'a Companion, select: u32, umask: u32) -> System<'a> {
        let part = companion.profile();
        let quiet: Quiet = |_, _| {};
        let (cores, threads) = (companion.threads() / threads(part), threads(part));
        // A package of the machine has one core, whatever the companion's has.
        let machine = topology::Builder::new(part.name).unwrap().packages(cores).threads(threads).build(quiet).unwrap();
        for number in 0..machine.threads() {
            machine.thread(number).unwrap().set_context(Context::ia64(UP, 0));
        }
        let mut pmc = Pmc::default();
        pmc.set_plm(0b1111);
        pmc.set_es(u8::try_from(select).unwrap());
        pmc.set_umask(u8::try_from(umask).unwrap());
        pmc.set_ism(0b10);
        let thread = machine.thread(0).unwrap();
        thread.ia64().mov_to_pmc(4, pmc.bits()).unwrap();
        let mut followers: Vec<_> = (0..machine.threads()).map(|number| companion.follower(number).unwrap()).collect();
        for follower in &mut followers {
            follower.sync(&machine.thread(follower.number()).unwrap().demand());
        }
        System { machine, followers, companion, next: 0x10_0000 }
    }

    pub(crate) fn run(&mut self, number: usize, class: Class, accesses: &[Access]) {
        self.next += 16;
        let address = self.next - 16 + ((number as u64) << 32);
        self.execute(number, &Instruction { address, physical: address, length: 16, class, accesses, ..Instruction::default() });
    }

    fn execute(&mut self, number: usize, instruction: &Instruction<'_>) {
        let Some(follower) = self.followers.get_mut(number) else { return };
        follower.execute(instruction, &mut Untranslated(14));
        follower.deliver(&self.machine.thread(number).unwrap(), &[], |_| {});
    }

    /// The first thread runs an instruction of code that it has run before. It waits for nothing but its predecessors' places, unless it
    /// `waits` for all registers.
    pub(crate) fn again(&mut self, waits: bool, accesses: &[Access]) {
        self.again_by(0, waits, accesses);
    }

    /// The same of another thread.
    pub(crate) fn again_by(&mut self, number: usize, waits: bool, accesses: &[Access]) {
        let operation = (!waits).then(Operation::default);
        let (address, length) = (0x10_0000 + ((number as u64) << 32), 16);
        self.execute(number, &Instruction { address, physical: address, length, accesses, operation, ..Instruction::default() });
    }

    /// So many clocks pass in which nothing is asked for.
    pub(crate) fn rest(&mut self, clocks: usize) {
        (0..clocks).for_each(|_| self.again(true, &[]));
    }

    /// A thread makes an access, and does nothing else.
    pub(crate) fn access_alone(&mut self, number: usize, kind: AccessKind, address: u64) {
        self.again_by(number, true, &[Access { address, physical: address, size: 8, kind, ..Access::default() }]);
    }

    /// The first thread prefetches so many lines of the bus from `address` on, one in a clock.
    pub(crate) fn prefetch(&mut self, address: u64, lines: u64, bytes: u64) {
        self.prefetch_by(0, address, lines, bytes);
    }

    /// The same of another thread.
    pub(crate) fn prefetch_by(&mut self, number: usize, address: u64, lines: u64, bytes: u64) {
        for address in (0..lines).map(|line| address + line * bytes) {
            self.again_by(
                number,
                false,
                &[Access { address, physical: address, size: 8, kind: AccessKind::PrefetchLoad, ..Access::default() }],
            );
        }
    }

    /// What counter 4 of the first thread reads.
    pub(crate) fn peek(&self) -> u64 {
        self.machine.thread(0).unwrap().ia64().mov_from_pmd(4).unwrap()
    }

    pub(crate) fn access(&mut self, number: usize, kind: AccessKind, address: u64, size: u8) {
        self.run(number, Class::Simple, &[Access { address, physical: address, size, kind, ..Access::default() }]);
    }

    pub(crate) fn load(&mut self, number: usize, address: u64) {
        self.access(number, AccessKind::Load, address, 8);
    }

    pub(crate) fn store(&mut self, number: usize, address: u64) {
        self.access(number, AccessKind::Store, address, 8);
    }

    pub(crate) fn uncacheable(&mut self, kind: AccessKind, physical: u64) {
        self.run(0, Class::Simple, &[Access { address: physical, physical, size: 8, kind, uncached: true, ..Access::default() }]);
    }

    pub(crate) fn device(&mut self, physical: u64, size: u64, writes: bool) {
        let (totals, demand) = (&self.machine.devices(0).unwrap().totals, self.machine.device_demand(0).unwrap());
        self.companion.device_access(physical, size, writes, totals, &demand);
    }

    pub(crate) fn count(&mut self) -> u64 {
        // A snoop is seen by the next request of the second level.
        for number in 0..self.followers.len() {
            self.load(number, 0x7000_0000 + number as u64 * 0x1_0000);
        }
        self.peek()
    }
}
