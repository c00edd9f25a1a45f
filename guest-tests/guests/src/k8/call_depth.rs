//! `call-depth`: nests of calls, and a return address stack of twelve.

use iced_x86::code_asm::*;

use super::measure::{Count, begin, count, identities, measure};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Return addresses that the stack holds.
const STACK: u64 = 12;

/// What a nest of `depth` calls shows, the stack being empty before: a call beyond its room pushes the oldest address off, and the return
/// that would need that finds nothing. So the stack is empty afterwards, too.
const fn counts(depth: u64) -> [Count; 4] {
    let hits = if depth < STACK { depth } else { STACK };
    [
        count("RETURN_STACK_HITS", 0x88, hits),
        count("RETURN_STACK_OVERFLOWS", 0x89, depth - hits),
        count("RETIRED_NEAR_RETURNS", 0xC8, depth),
        count("RETIRED_NEAR_RETURNS_MISPREDICTED", 0xC9, depth - hits),
    ]
}

/// A function that drops the address it would return to, and returns to that of its caller: the stack has the one dropped on top. A
/// second return, to an address that was pushed, takes the next one from it. Both get an address, and the wrong one.
const DROPPED: [Count; 4] = [
    count("RETURN_STACK_HITS", 0x88, 2),
    count("RETURN_STACK_OVERFLOWS", 0x89, 0),
    count("RETIRED_NEAR_RETURNS", 0xC8, 2),
    count("RETIRED_NEAR_RETURNS_MISPREDICTED", 0xC9, 2),
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let (mut nest, mut innermost) = (k.a.create_label(), k.a.create_label());
    // As many calls within each other as ECX holds, this one among them.
    k.routine("nest");
    here(&mut k.a, &mut nest)?;
    k.a.dec(ecx)?;
    k.a.je(innermost)?;
    k.a.call(nest)?;
    here(&mut k.a, &mut innermost)?;
    k.a.ret()?;

    k.main()?;
    begin(&mut k)?;
    // Whatever the stack holds, twelve calls push it off, and twelve returns empty it.
    k.a.mov(ecx, STACK as u32)?;
    k.a.call(nest)?;
    for depth in [1, 8, 12, 13, 20] {
        measure(&mut k, &format!("{depth} calls"), 2, &counts(depth), &|k| {
            k.a.mov(ecx, depth as u32)?;
            k.a.call(nest)
        })?;
    }
    identities(&mut k, "20 calls", &|k| {
        k.a.mov(ecx, 20)?;
        k.a.call(nest)
    })?;
    measure(&mut k, "a return address dropped", 2, &DROPPED, &|k| {
        let a = &mut k.a;
        let (mut outer, mut inner, mut after, mut end) = (a.create_label(), a.create_label(), a.create_label(), a.create_label());
        a.call(outer)?;
        here(a, &mut after)?;
        a.lea(rax, ptr(end))?;
        a.push(rax)?;
        a.ret()?;
        here(a, &mut outer)?;
        a.call(inner)?;
        here(a, &mut inner)?;
        a.pop(rax)?;
        a.ret()?;
        here(a, &mut end)
    })?;
    k.a.ret()?;
    k.finish()
}
