//! Traffic to memory with a known amount, and the sums of what boxes saw of it.
//!
//! What is measured is between a release of all boxes and a freeze of all boxes, in one piece of code, which has run before. So only the
//! accesses themselves go beyond the tile's caches.

use iced_x86::code_asm::*;

use super::boxes::{At, CHA_STRIDE, CHAS, FREEZE_ALL, GLOBAL_CONTROL, UNFREEZE_ALL, Unit};
use crate::runtime::{Built, Kernel, here};

/// Bytes of a line.
pub(super) const LINE: u64 = 64;
/// A distance of accesses at which each line is in its own page, so that nothing is fetched ahead, and in its own sets.
pub(super) const FAR: u64 = 4096 + LINE;
/// Memory that nothing else uses.
pub(super) const REGION: u64 = 8 << 20;
/// Bytes of MCDRAM: addresses at this distance share a line of it as a cache.
pub(super) const NEAR_MEMORY: u64 = 64 << 20;

/// What is done to each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// It is loaded.
    Load,
    /// Eight bytes of it are stored.
    Store,
    /// It is flushed from all caches of the tile.
    Flush,
    /// All of it is written by streaming stores.
    Stream,
}

impl Access {
    const ALL: [Access; 4] = [Access::Load, Access::Store, Access::Flush, Access::Stream];

    /// Instructions for each line.
    pub(super) const fn instructions(self) -> u64 {
        if matches!(self, Access::Stream) { 8 + 3 } else { 1 + 3 }
    }
}

/// Code that guests with traffic share.
#[derive(Clone, Copy)]
pub(super) struct Traffic {
    accesses: [CodeLabel; 4],
    window: CodeLabel,
    sum: CodeLabel,
    fill: CodeLabel,
    sum_chas: CodeLabel,
    fill_chas: CodeLabel,
}

/// Instructions of a window in addition to those of its lines: the WRMSR that releases, CALL and RET, and the three before the WRMSR that
/// freezes.
pub(super) const AROUND: u64 = 1 + 2 + 3;

impl Traffic {
    /// Emits the code. It is called by what follows.
    pub(super) fn new(k: &mut Kernel) -> Built<Traffic> {
        let [window, sum, fill, sum_chas, fill_chas] = [(); 5].map(|()| k.a.create_label());
        let accesses = [(); 4].map(|()| k.a.create_label());
        let mut traffic = Traffic { accesses, window, sum, fill, sum_chas, fill_chas };
        for (access, label) in Access::ALL.into_iter().zip(&mut traffic.accesses) {
            lines(k, access, label)?;
        }
        // window: RBP what to call.
        k.routine("window");
        here(&mut k.a, &mut traffic.window)?;
        k.wrmsr(GLOBAL_CONTROL, UNFREEZE_ALL)?;
        k.a.call(rbp)?;
        k.wrmsr(GLOBAL_CONTROL, FREEZE_ALL)?;
        k.a.ret()?;
        // sum: R9 a list of addresses, R10 how many; RAX the sum of the dwords there.
        let [mut again, mut fill_again, mut sum_again, mut cha_again] = [(); 4].map(|()| k.a.create_label());
        k.routine("sum");
        let a = &mut k.a;
        here(a, &mut traffic.sum)?;
        a.xor(eax, eax)?;
        here(a, &mut again)?;
        a.mov(rdx, qword_ptr(r9))?;
        a.mov(edx, dword_ptr(rdx))?;
        a.add(rax, rdx)?;
        a.add(r9, 8)?;
        a.dec(r10)?;
        a.jne(again)?;
        a.ret()?;
        // fill: R9 a list of addresses, R10 how many, EAX what to write there.
        k.routine("fill");
        let a = &mut k.a;
        here(a, &mut traffic.fill)?;
        here(a, &mut fill_again)?;
        a.mov(rdx, qword_ptr(r9))?;
        a.mov(dword_ptr(rdx), eax)?;
        a.add(r9, 8)?;
        a.dec(r10)?;
        a.jne(fill_again)?;
        a.ret()?;
        // sum_chas: ECX a register of CHA 0; RAX the sum of that of all.
        k.routine("sum_chas");
        let a = &mut k.a;
        here(a, &mut traffic.sum_chas)?;
        a.xor(r9d, r9d)?;
        a.mov(r10d, CHAS)?;
        here(a, &mut sum_again)?;
        a.rdmsr()?;
        a.shl(rdx, 32)?;
        a.or(rax, rdx)?;
        a.add(r9, rax)?;
        a.add(ecx, CHA_STRIDE as i32)?;
        a.dec(r10d)?;
        a.jne(sum_again)?;
        a.mov(rax, r9)?;
        a.ret()?;
        // fill_chas: ECX a register of CHA 0, EAX what to write into that of all.
        k.routine("fill_chas");
        let a = &mut k.a;
        here(a, &mut traffic.fill_chas)?;
        a.xor(edx, edx)?;
        a.mov(r10d, CHAS)?;
        here(a, &mut cha_again)?;
        a.wrmsr()?;
        a.add(ecx, CHA_STRIDE as i32)?;
        a.dec(r10d)?;
        a.jne(cha_again)?;
        a.ret()?;
        Ok(traffic)
    }

    /// Does `access` to `count` lines from `base` on, `stride` bytes apart. Changes RAX, RDI, RSI and R8.
    pub(super) fn touch(&self, k: &mut Kernel, access: Access, base: u64, count: u64, stride: u64) -> Built<()> {
        let label = self.prepare(k, access, base, count, stride)?;
        k.a.call(label)
    }

    /// The same between a release and a freeze of all boxes. Changes RAX, RCX, RDX, RBP, RDI, RSI and R8.
    pub(super) fn measure(&self, k: &mut Kernel, access: Access, base: u64, count: u64, stride: u64) -> Built<()> {
        let label = self.prepare(k, access, base, count, stride)?;
        self.window(k, label)
    }

    /// Calls `label` between a release and a freeze of all boxes.
    pub(super) fn window(&self, k: &mut Kernel, label: CodeLabel) -> Built<()> {
        k.a.lea(rbp, ptr(label))?;
        k.a.call(self.window)
    }

    fn prepare(&self, k: &mut Kernel, access: Access, base: u64, count: u64, stride: u64) -> Built<CodeLabel> {
        k.a.mov(rdi, base)?;
        k.a.mov(esi, count as u32)?;
        k.a.mov(r8d, stride as u32)?;
        let [load, store, flush, stream] = self.accesses;
        Ok(match access {
            Access::Load => load,
            Access::Store => store,
            Access::Flush => flush,
            Access::Stream => stream,
        })
    }

    /// Runs everything here once, so that its code is in the caches: `lines` lines of a separate place, every access in turn.
    pub(super) fn warm(&self, k: &mut Kernel, base: u64, lines: u64, stride: u64) -> Built<()> {
        for access in [Access::Load, Access::Flush, Access::Store, Access::Flush, Access::Stream] {
            self.measure(k, access, base, lines, stride)?;
        }
        Ok(())
    }

    /// Adds up what `list` has, into RAX. Changes RDX, R9 and R10.
    pub(super) fn sum(&self, k: &mut Kernel, list: List) -> Built<()> {
        k.a.mov(r9, list.address)?;
        k.a.mov(r10d, list.count as u32)?;
        k.a.call(self.sum)
    }

    /// Writes `value` to everything in `list`. Changes RAX, RDX, R9 and R10.
    pub(super) fn fill(&self, k: &mut Kernel, list: List, value: u32) -> Built<()> {
        k.a.mov(r9, list.address)?;
        k.a.mov(r10d, list.count as u32)?;
        k.a.mov(eax, value)?;
        k.a.call(self.fill)
    }

    /// Adds up a register of all CHAs, of which `register` is CHA 0's, into RAX. Changes RCX, RDX, R9 and R10.
    pub(super) fn sum_chas(&self, k: &mut Kernel, register: u32) -> Built<()> {
        k.a.mov(ecx, register)?;
        k.a.call(self.sum_chas)
    }

    /// Writes `value` to a register of all CHAs, of which `register` is CHA 0's. Changes RAX, RCX, RDX and R10.
    pub(super) fn fill_chas(&self, k: &mut Kernel, register: u32, value: u32) -> Built<()> {
        k.a.mov(ecx, register)?;
        k.a.mov(eax, value)?;
        k.a.call(self.fill_chas)
    }
}

/// Emits a loop over lines: RDI where they begin, ESI how many, R8 how far apart.
fn lines(k: &mut Kernel, access: Access, label: &mut CodeLabel) -> Built<()> {
    k.routine(match access {
        Access::Load => "load_lines",
        Access::Store => "store_lines",
        Access::Flush => "flush_lines",
        Access::Stream => "stream_lines",
    });
    let a = &mut k.a;
    here(a, label)?;
    let mut again = a.create_label();
    here(a, &mut again)?;
    match access {
        Access::Load => a.mov(rax, qword_ptr(rdi))?,
        Access::Store => a.mov(qword_ptr(rdi), rsi)?,
        Access::Flush => a.clflush(byte_ptr(rdi))?,
        Access::Stream => {
            for piece in (0..LINE as u32).step_by(8) {
                a.movnti(qword_ptr(rdi + piece), rsi)?;
            }
        }
    }
    a.add(rdi, r8)?;
    a.dec(esi)?;
    a.jne(again)?;
    a.ret()
}

/// Addresses of registers in the window of configuration space, in the guest's memory.
#[derive(Clone, Copy)]
pub(super) struct List {
    address: u64,
    count: usize,
}

/// Lists the registers at `places`; those that are not behind PCI are left out.
pub(super) fn list(k: &mut Kernel, places: impl Iterator<Item = At>) -> List {
    let addresses: Vec<u64> = places
        .filter_map(|place| match place {
            At::Pci(at, offset) => Some(at.window_address(offset)),
            At::Msr(_) => None,
        })
        .collect();
    let bytes: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
    List { address: k.place(&bytes), count: addresses.len() }
}

/// Lists counter `n` of `units`.
pub(super) fn counters(k: &mut Kernel, units: impl Iterator<Item = Unit>, n: u16) -> List {
    list(k, units.map(|unit| unit.counter(n)))
}
