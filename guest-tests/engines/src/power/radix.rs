//! Radix translation (Power ISA 3.0B, Book III, 5.7.10 to 5.7.12): a guest's own tree, and the tree of its partition.
//!
//! It is on while LPCR has HR and UPRT. An address is first translated by the tree of its process, if MSR.IR or DR is on, then by that of
//! its partition, unless that is partition 0, the hypervisor's own. Trees have 52 bits, and four levels at most.

use super::registers::{lpcr, msr, spr};
use super::state::Core;

/// Bits of an effective address that a tree translates.
const ADDRESS_BITS: u32 = 52;
/// The quadrant of an effective address, bits 0 and 1.
const QUADRANT: u32 = 62;
/// The most levels of a tree.
const LEVELS: usize = 4;

/// An entry is valid.
const VALID: u64 = 1 << 63;
/// It is that of a page, not of a directory.
const LEAF: u64 = 1 << 62;
/// The real page number of a page.
const PAGE_NUMBER: u64 = 0x01FF_FFFF_FFFF_F000;
/// The next level's table, and its size: 2 to that power entries.
const NEXT_TABLE: u64 = 0x0FFF_FFFF_FFFF_FF00;
const NEXT_SIZE: u64 = 0x1F;
/// The page was used, and was changed.
const REFERENCED: u64 = 1 << 8;
const CHANGED: u64 = 1 << 7;
/// Who may do what: privileged states alone, read, write, execute.
const PRIVILEGED: u64 = 8;
const READ: u64 = 4;
const WRITE: u64 = 2;
const EXECUTE: u64 = 1;
/// The base of a table of partitions or of processes, and its size: 2 to the power of 12 and that many bytes.
const TABLE: u64 = 0x0FFF_FFFF_FFFF_F000;
const TABLE_SIZE: u64 = 0x1F;
/// Bytes of an entry of either.
const ENTRY: u64 = 16;

/// What is done at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Load,
    Store,
    Fetch,
}

/// A walk of one tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeWalk {
    /// The addresses of the entries that were read, root first.
    pub entries: [u64; LEVELS],
    /// How many there are.
    pub levels: u8,
    /// Bits of an address within the page.
    pub page_bits: u8,
    /// What the address is translated to.
    pub real: u64,
    /// The last entry.
    leaf: u64,
}

/// How an effective address is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadixWalk {
    /// Whether the tree of a partition translates guest real addresses; those of the process's tree are real addresses otherwise.
    pub guest: bool,
    /// The address of the entry of the process table, if the process's tree was used.
    pub process_entry: Option<u64>,
    /// The walk of the process's tree; without one an address is its own, and the page has all 52 bits.
    pub walk: TreeWalk,
}

/// Why an address has no translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoTranslation {
    /// The tree of the partition has none, so that the fault is the hypervisor's.
    pub(crate) hypervisor: bool,
    /// The page is there, and may not be used so.
    pub(crate) protected: bool,
    /// The guest real address that the partition's tree does not translate.
    pub(crate) guest_real: u64,
}

/// A tree: the address and the size of its root.
#[derive(Clone, Copy)]
struct Tree {
    table: u64,
    bits: u32,
}

impl Tree {
    /// The tree that the first doubleword of an entry of the partition or process table describes, if its addresses have 52 bits.
    fn of(word: u64) -> Option<Tree> {
        let size = (word >> 58 & 0x18 | word >> 5 & 7) + 31;
        (size == u64::from(ADDRESS_BITS)).then_some(Tree { table: word & NEXT_TABLE, bits: (word & NEXT_SIZE) as u32 })
    }
}

/// Walks a tree whose tables `read` reads.
fn walk<E>(tree: Tree, address: u64, nothing: E, mut read: impl FnMut(u64) -> Result<u64, E>) -> Result<TreeWalk, E> {
    let Tree { mut table, mut bits } = tree;
    let mut left = ADDRESS_BITS;
    let mut walk = TreeWalk::default();
    for place in &mut walk.entries {
        left = match left.checked_sub(bits) {
            Some(left) if (1..=16).contains(&bits) && left >= 12 => left,
            _ => return Err(nothing),
        };
        *place = table + (address >> left & ((1 << bits) - 1)) * 8;
        walk.levels += 1;
        let entry = read(*place)?;
        if entry & VALID == 0 {
            return Err(nothing);
        }
        if entry & LEAF != 0 {
            let within = (1u64 << left) - 1;
            (walk.page_bits, walk.real, walk.leaf) = (left as u8, entry & PAGE_NUMBER & !within | address & within, entry);
            return Ok(walk);
        }
        (table, bits) = (entry & NEXT_TABLE, (entry & NEXT_SIZE) as u32);
    }
    Err(nothing)
}

impl Core {
    /// Whether the trees translate anything. Without them an effective address is the real one.
    #[inline]
    pub(crate) fn radix(&self) -> bool {
        const BOTH: u64 = lpcr::HR | lpcr::UPRT;
        self.spr[usize::from(spr::LPCR)] & BOTH == BOTH
    }

    /// A doubleword of memory, in big-endian order.
    fn table_entry(&self, real: u64) -> Option<u64> {
        let end = real.checked_add(8)?;
        (end <= self.shared.memory.size()).then(|| self.shared.memory.read(real, 8).swap_bytes())
    }

    /// The entry of partition `number`.
    fn partition(&self, number: u64) -> Option<[u64; 2]> {
        let ptcr = self.spr[usize::from(spr::PTCR)];
        let entry = number * ENTRY;
        if entry >> (12 + (ptcr & TABLE_SIZE).min(24)) != 0 {
            return None;
        }
        let base = (ptcr & TABLE) + entry;
        Some([self.table_entry(base)?, self.table_entry(base + 8)?])
    }

    /// The translation of a guest real address of partition `number`.
    pub(crate) fn partition_walk(&self, number: u64, real: u64) -> Option<TreeWalk> {
        let [tree, _] = self.partition(number)?;
        if tree & VALID == 0 || real >> ADDRESS_BITS != 0 {
            return None;
        }
        walk(Tree::of(tree)?, real, (), |entry| self.table_entry(entry).ok_or(())).ok()
    }

    /// The real address of `real`, which is a guest's if `partition` is not 0, and the entry that allows its use.
    fn host(&self, partition: u64, real: u64) -> Result<(u64, Option<TreeWalk>), NoTranslation> {
        if partition == 0 {
            return Ok((real, None));
        }
        let none = NoTranslation { hypervisor: true, protected: false, guest_real: real };
        let walk = self.partition_walk(partition, real).ok_or(none)?;
        Ok((walk.real, Some(walk)))
    }

    /// How the address is translated in the state `state` (MSR), if it is translated at all.
    fn process_walk(&self, address: u64, state: u64, translates: bool) -> Result<Option<(u64, RadixWalk)>, NoTranslation> {
        let hypervisor = state & msr::HV != 0;
        let lpid = self.spr[usize::from(spr::LPIDR)];
        let pid = self.spr[usize::from(spr::PIDR)] & 0xF_FFFF;
        if !translates {
            if hypervisor || lpid == 0 {
                return Ok(None);
            }
            let real = Self::real(address);
            let walk = TreeWalk { page_bits: ADDRESS_BITS as u8, real, leaf: READ | WRITE | EXECUTE, ..TreeWalk::default() };
            return Ok(Some((lpid, RadixWalk { guest: true, process_entry: None, walk })));
        }
        let none = NoTranslation { hypervisor: false, protected: false, guest_real: 0 };
        let (lpid, pid) = match (hypervisor, address >> QUADRANT) {
            (true, 0) => (0, pid),
            (true, 3) => (0, 0),
            (true, 1) | (false, 0) => (lpid, pid),
            (true, _) | (false, 3) => (lpid, 0),
            (false, _) => return Err(none),
        };
        if address << 2 >> (ADDRESS_BITS + 2) != 0 {
            return Err(none);
        }
        let address = address & ((1 << ADDRESS_BITS) - 1);
        let [_, table] = self.partition(lpid).ok_or(none)?;
        if (pid * ENTRY) >> (12 + (table & TABLE_SIZE).min(24)) != 0 {
            return Err(none);
        }
        let process_entry = (table & TABLE) + pid * ENTRY;
        let read = |real: u64| self.table_entry(self.host(lpid, real)?.0).ok_or(none);
        let tree = Tree::of(read(process_entry)?).ok_or(none)?;
        let walk = walk(tree, address, none, read)?;
        Ok(Some((lpid, RadixWalk { guest: lpid != 0, process_entry: Some(process_entry), walk })))
    }

    /// How `address` is translated in the state `state`, for one who only looks: nothing is marked as used.
    pub(crate) fn look_up(&self, address: u64, state: u64) -> Option<RadixWalk> {
        if !self.radix() {
            return None;
        }
        self.process_walk(address, state, state & msr::DR != 0).ok().flatten().map(|(_, walk)| walk)
    }

    /// The real address of an effective one.
    #[inline]
    pub(crate) fn translate(&self, address: u64, purpose: Purpose) -> Result<u64, NoTranslation> {
        if !self.radix() {
            return Ok(Self::real(address));
        }
        self.translate_by_trees(address, purpose)
    }

    fn translate_by_trees(&self, address: u64, purpose: Purpose) -> Result<u64, NoTranslation> {
        let on = if purpose == Purpose::Fetch { msr::IR } else { msr::DR };
        let Some((lpid, of_process)) = self.process_walk(address, self.msr, self.msr & on != 0)? else {
            return Ok(Self::real(address));
        };
        let walk = of_process.walk;
        let wanted = match purpose {
            Purpose::Load => READ | WRITE,
            Purpose::Store => WRITE,
            Purpose::Fetch => EXECUTE,
        };
        let kept_away = walk.levels != 0 && self.problem() && walk.leaf & PRIVILEGED != 0;
        if walk.leaf & wanted == 0 || kept_away {
            return Err(NoTranslation { hypervisor: false, protected: true, guest_real: 0 });
        }
        let (real, of_host) = self.host(lpid, walk.real)?;
        if of_host.is_some_and(|host| host.leaf & wanted == 0) {
            return Err(NoTranslation { hypervisor: true, protected: true, guest_real: walk.real });
        }
        self.mark(&walk, lpid, purpose);
        if let Some(host) = of_host {
            self.mark(&host, 0, purpose);
        }
        Ok(real)
    }

    /// Marks a page as used, and as changed by a store.
    fn mark(&self, walk: &TreeWalk, lpid: u64, purpose: Purpose) {
        let Some(last) = usize::from(walk.levels).checked_sub(1).and_then(|last| walk.entries.get(last)) else { return };
        let marks = if purpose == Purpose::Store { REFERENCED | CHANGED } else { REFERENCED };
        if walk.leaf & marks != marks
            && let Ok((real, _)) = self.host(lpid, *last)
        {
            self.shared.memory.write(real, 8, (walk.leaf | marks).swap_bytes());
        }
    }
}
