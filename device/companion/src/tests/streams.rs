//! Streams of instructions, page tables, and demands, for the tests of the crate and for those of register files.

use super::*;

/// Returns a demand for every signal.
pub(crate) fn everything() -> Demand {
    let mut demand = Demand::default();
    demand.replace(SignalSet::ALL, false, Records::NONE);
    demand
}

/// Four-level tables, far away from everything else; pages of 4 KiB, and of 2 MiB from 1 GiB up.
pub(crate) struct Tables;

impl PageTables for Tables {
    fn walk(&mut self, address: u64) -> Walk {
        let large = address >> 30 & 1 == 1;
        let entry = |level: u32| 0x7000_0000 + u64::from(level) * 0x100_0000 + (address >> (12 + 9 * level)) * 8 % 0x10_0000;
        let entries = [entry(3), entry(2), entry(1), entry(0), 0];
        Walk { entries, levels: if large { 3 } else { 4 }, page_bits: if large { 21 } else { 12 }, global: address >> 29 & 1 == 1 }
    }
}

pub(crate) fn follow(companion: &Companion, number: usize) -> Follower<'_> {
    let mut follower = companion.follower(number).unwrap();
    follower.sync(&everything());
    follower
}

pub(crate) fn load(address: u64) -> Access {
    Access { address, physical: address, size: 8, ..Access::default() }
}

pub(crate) fn store(address: u64) -> Access {
    Access { kind: AccessKind::Store, ..load(address) }
}

/// A stream of every kind of instruction, deterministic by seed.
#[derive(Clone)]
pub(crate) struct Noise {
    state: u64,
    address: u64,
    calls: Vec<u64>,
    /// Pending divisions, each of which needs the previous one.
    divisions: u64,
    /// Pending stores, each of which misses.
    stores: u64,
}

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise { state: seed, address: 0x40_0000, calls: Vec::new(), divisions: 0, stores: 0 }
    }

    pub(crate) fn draw(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    /// Draws the address of hot data, data that thrash a set of every cache, data of the size of a cache level, or unbounded data.
    pub(crate) fn data(&mut self) -> u64 {
        match self.draw(8) {
            0..=3 => 0x100_0000 + self.draw(256) * 8,
            4 => 0x200_0000 + self.draw(64) * 0x10_0000,
            5 => 0x300_0000 + self.draw(1 << 16) * 8,
            6 => 0x4000_0000 + self.draw(1 << 22) * 64,
            _ if self.draw(4) == 0 => {
                let (first, apart) = if self.draw(2) == 0 { (0x200_0000, 0x10_0000) } else { (0x40_0000, 0x2_0000) };
                Tables.walk(first + self.draw(64) * apart).entries[3]
            }
            _ => self.address & !7,
        }
    }

    pub(crate) fn access(&mut self) -> Access {
        let address = self.data() + if self.draw(8) == 0 { self.draw(64) } else { 0 };
        let size = 1 << self.draw(5);
        let kind = match self.draw(40) {
            0..=19 => AccessKind::Load,
            20..=31 => AccessKind::Store,
            32 => AccessKind::StreamingStore,
            33 => AccessKind::PrefetchLoad,
            34 => AccessKind::PrefetchStore,
            35 => AccessKind::PrefetchOnce,
            36 => AccessKind::Flush,
            37 => AccessKind::RegisterStackLoad,
            38 => AccessKind::RegisterStackStore,
            _ => AccessKind::Load,
        };
        let plain = matches!(kind, AccessKind::Load | AccessKind::Store);
        let size = if kind == AccessKind::StreamingStore && size == 16 { 32 } else { size };
        let access =
            Access { address, physical: address, size, kind, locked: plain && self.draw(16) == 0, uncached: plain && self.draw(64) == 0 };
        // Some uncacheable accesses are to the I/O ports of an Itanium.
        let port = access.uncached && address & 8 != 0;
        Access { physical: if port { 0x0FFF_FC00_0000 | address & 0xFFFF } else { address }, ..access }
    }

    /// Draws the next instruction and passes it to `report`.
    pub(crate) fn next(&mut self, report: impl FnOnce(&Instruction<'_>)) {
        let count = self.draw(3) as usize;
        let mut accesses: Vec<Access> = (0..count).map(|_| self.access()).collect();
        if self.draw(512) == 0 {
            // More missing stores than can wait.
            let first = 0x5000_0000 + self.draw(1 << 10) * 0x1_0000;
            accesses = (0..80).map(|number| store(first + number * 256)).collect();
        }
        self.stores = if self.draw(256) == 0 { 64 } else { self.stores.saturating_sub(1) };
        if self.stores != 0 {
            accesses = [store(0x6000_0000 + self.draw(1 << 16) * 256)].into();
        }
        let length = 1 + self.draw(8) as u8;
        let next = self.address + u64::from(length);
        // Hot code, code that thrashes a set of every cache, and code on more pages than the first-level TLB has entries.
        let code = match self.draw(16) {
            0 => 0x40_0000 + self.draw(64) * 0x2_0000 + self.draw(4) * 8,
            1 => 0xD0_0000 + self.draw(40) * 0x1000,
            _ => 0x40_0000 + self.draw(512) * 4,
        };
        let (kind, taken, target) = match self.draw(24) {
            0..=5 => (BranchKind::Conditional, self.draw(3) == 0, code),
            6 => (BranchKind::DirectJump, true, code),
            7 => (BranchKind::IndirectJump, true, 0x40_0000 + self.draw(2) * 64),
            8 | 9 => (BranchKind::DirectCall, true, code),
            10 => (BranchKind::IndirectCall, true, 0x40_0100 + self.draw(2) * 64),
            11 | 12 => (BranchKind::Return, true, self.calls.pop().unwrap_or(0x40_0000)),
            13 => (BranchKind::Far, true, 0x40_0000),
            _ => (BranchKind::Conditional, false, 0),
        };
        let branches = target != 0 && self.divisions == 0 && self.stores == 0;
        if matches!(kind, BranchKind::DirectCall | BranchKind::IndirectCall) && self.calls.len() < 40 {
            self.calls.push(next);
        }
        let class = match self.draw(64) {
            0 => Class::Divide,
            1 => Class::Fence,
            2 => Class::Serializing,
            3 => Class::Exception,
            4..=19 => Class::ALL.get(self.draw(Class::ALL.len() as u64) as usize).copied().unwrap_or_default(),
            _ => Class::Simple,
        };
        self.divisions = if self.draw(256) == 0 { 48 } else { self.divisions.saturating_sub(1) };
        let class = match (self.stores, self.divisions) {
            (1.., _) => Class::Store,
            (0, 1..) => Class::FloatDivide,
            _ => class,
        };
        let registers: Vec<Register> = (0..4).map(|_| Register(self.draw(24) as u16)).collect();
        let (first, second, third, fourth) = (&registers[..1], &registers[1..2], &registers[2..3], &registers[3..]);
        let elements = Elements::ALL[self.draw(4) as usize];
        let (width, packed, upper) = (1 << self.draw(5), self.draw(2) == 0, self.draw(8) == 0);
        let prefixes = self.draw(4) as u8 * 4;
        let may_trap = upper && prefixes == 0;
        let operation = Operation { width, packed, elements, upper, may_trap, prefixes, addresses: first, reads: second, writes: third };
        let operation = match self.draw(8) {
            0 => None,
            _ if self.divisions != 0 => Some(Operation { width: 8, reads: &[Register(1)], writes: &[Register(1)], ..Operation::default() }),
            1 => Some(Operation { reads: fourth, ..Operation::default() }),
            _ => Some(operation),
        };
        let instruction = Instruction {
            address: self.address,
            physical: self.address,
            length: if class == Class::Exception { 0 } else { length },
            next_page: None,
            micro_ops: 1 + u8::from(self.draw(8) == 0) * self.draw(9) as u8,
            class,
            operation,
            floating_point: self.draw(8) == 0,
            segment_loads: u8::from(self.draw(32) == 0) * 2,
            accesses: &accesses,
            transfer: branches.then_some(Transfer { kind, taken, target }),
            ..Instruction::default()
        };
        report(&instruction);
        self.address = if branches && taken { target } else { next };
        if self.address > 0x100_0000 {
            self.address = 0x40_0000;
        }
    }
}
