//! `hostile`: every register gets arbitrary values from every level, in any order, while counters run. Then it counts as if nothing had
//! been written.

use super::handler::VECTOR;
use super::part::{Facts, Monitor};
use super::{EXPECT, Kernel, own};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{psr, vector};
use vm_pmu_engines::image::Image;

/// How many interrupts there were.
const INTERRUPTS: i64 = own(0);
/// Values in addition to the plain ones.
const ARBITRARY: usize = 16;
/// Instructions counted at the end, in bundles of three.
const COUNTED: u64 = 300;
/// How many breakpoint registers there are of either kind.
const BREAKPOINTS: u8 = 8;

fn values() -> Vec<u64> {
    let plain = [u64::MAX, 0, 0xAAAA_AAAA_AAAA_AAAA, 0x5555_5555_5555_5555, 0xFFFF_FFFF, 0x0200_0869, 0x7FFF_FFFF_FFFF];
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    plain.into_iter().chain((0..ARBITRARY).map(|_| next())).collect()
}

/// For each value, r18, and each index, r16: `body`.
fn for_all(k: &mut Kernel, table: u64, values: u64, body: impl FnOnce(&mut Kernel)) {
    k.a.load(R19, table);
    let value = k.a.mark();
    k.a.put(ld8(R18, R19).post(8));
    k.a.put(mov(R16, R0));
    let index = k.a.mark();
    body(k);
    k.a.put(adds(R16, 1, R16));
    k.a.load(R17, 256);
    k.a.put(cmp_ltu(P6, P7, R16, R17));
    k.a.put(br_cond(index).when(P6));
    k.a.load(R17, table + 8 * values);
    k.a.put(cmp_ltu(P6, P7, R19, R17));
    k.a.put(br_cond(value).when(P6));
}

/// Gives every register what it has after reset, the configuration first.
fn restore(k: &mut Kernel, part: &Facts) {
    for register in part.pmcs {
        for number in register.first..=register.last {
            k.write_pmc(number, register.reset);
        }
    }
    for register in part.pmds {
        for number in register.first..=register.last {
            k.write_pmd(number, 0);
        }
    }
    for number in 0..BREAKPOINTS {
        k.write_ibr(number, 0);
        k.write_dbr(number, 0);
    }
    // It may have been frozen by what was written last.
    k.write_pmc(0, 0);
}

/// Assembles it.
pub(crate) fn build(part: &Facts) -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let values = values();
    let count = values.len() as u64;
    let table = k.place(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());

    k.handler(vector::EXTERNAL_INTERRUPT);
    k.accept_interrupt(R18);
    k.count_own(INTERRUPTS);
    // Frozen counters continue.
    k.write_pmc(0, 0);
    k.a.put(srlz_d());
    k.end_interrupt();
    k.end_handler();
    // All of a user's accesses but the last fault.
    k.a.routine("user");
    let user = k.a.mark();
    for_all(&mut k, table, 2, |k| {
        k.a.put(sum(psr::UP));
        k.a.put(mov_to_pmc(R16, R18));
        k.a.put(mov_to_pmd(R16, R18));
        k.a.put(mov_from_pmc(R20, R16));
        k.a.put(mov_from_pmd(R20, R16));
        k.a.put(rum(psr::UP));
    });
    k.system_call();

    k.main();
    k.monitor_vector(VECTOR);
    k.interrupts_on();
    for_all(&mut k, table, count, |k| {
        k.a.put(mov_to_pmc(R16, R18));
        k.a.put(mov_from_pmc(R20, R16));
        k.a.put(ssm(psr::PP | psr::UP));
        k.a.put(mov_to_pmd(R16, R18));
        k.a.put(mov_from_pmd(R20, R16));
        k.a.put(rsm(psr::PP));
        k.a.put(rum(psr::UP));
    });
    // Breakpoint registers, with everything that they may constrain set already; PSR.db is 0, so nothing stops at them.
    for (number, value) in (0..BREAKPOINTS).zip(values.iter().rev()) {
        k.write_ibr(number, *value);
        k.write_dbr(number, !*value);
    }
    k.set_state(psr::PP | psr::UP);
    k.nops(100);
    k.clear_state(psr::PP | psr::UP);
    k.expect_faults();
    k.enter_user(user, 0);
    k.store_own(EXPECT, R0);
    k.interrupts_off();

    restore(&mut k, part);
    k.a.put(mov_to_cr(Cr::EOI, R0));
    let events = [(part.last, part.cycles), (6, part.level_changes), (5, part.nops), (4, part.instructions)];
    for (number, event) in events {
        k.write_pmc(number, part.pmc(Monitor::of(event)));
    }
    k.user_monitors(true);
    k.nops(COUNTED as usize / 3);
    k.user_monitors(false);
    // 2 after sum, and rum, which is no no-operation; a cycle for each bundle.
    let rights = [COUNTED / 3 + 1, 0, COUNTED + 2, COUNTED + 3];
    for ((number, event), right) in events.into_iter().zip(rights) {
        k.read_pmd(R4, number);
        k.check_is(&format!("afterwards: {event}"), R4, right);
    }
    k.read_pmc(R4, 0);
    k.check_is("afterwards: PMC0", R4, 0);
    k.end_main();
    k.finish()
}
