//! `access`: every number of the registers under every PMCC, from problem state and from privileged state without the hypervisor's
//! permission, and the effect of each access; the branch history, the match array and MMCRC.

use vm_pmu::arch::power9::{Mmcr0, Mmcr2, spr};

use super::FC;
use super::fields::{mmcr0, mmcra, pmc, problem, select};
use crate::power::{FRAME_ADDRESS, Kernel, own};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, Label, R1, R3, R4, R13, R14, R15};
use vm_pmu_engines::power::registers::{facility, spr as cpu, vector};

/// The interrupt of the last access: its vector, and 65536 times the cause that FSCR or HFSCR has; 0 if there was none.
const CAME: i64 = own(0);

/// What the target register of a read holds before, and still holds if the read does nothing.
const UNTOUCHED: u64 = 0x5EED;
/// What is written. The bits of MMCR0 that problem state may write are 0 in it.
const WRITTEN: u64 = 0x1234_5678_0000_1234;

const PRIVILEGED: u64 = vector::PROGRAM as u64;
const ASSISTANCE: u64 = vector::EMULATION_ASSISTANCE as u64;

const fn unavailable(cause: u8) -> u64 {
    vector::FACILITY_UNAVAILABLE as u64 | (cause as u64) << 16
}

const fn withheld(cause: u8) -> u64 {
    vector::HYPERVISOR_FACILITY_UNAVAILABLE as u64 | (cause as u64) << 16
}

/// FC, PMAE and PMAO: the part of MMCR0 that problem state can access.
const SHARED_MMCR0: u64 = 0x8400_0080;
/// FC1P to FC6P: the part of MMCR2 that problem state can access.
const SHARED_MMCR2: u64 = 0x4020_1008_0402_0000;
/// Bits 41 to 63: the part of SIER that problem state can read.
const SHARED_SIER: u64 = 0x7F_FFFF;
/// SIER has no bits 7, 33 to 36 and 40.
const WHOLE_SIER: u64 = !(1 << 56 | 0xF << 27 | 1 << 23);

const SIAR: u64 = 0x0011_2233_4455_6678;
const SDAR: u64 = 0x8899_AABB_CCDD_EEFF;

/// MMCR0 that neither counts nor alerts: event-based branches keep PMAO from being an interrupt, and GE is 0.
fn control(pmcc: u8) -> u64 {
    mmcr0(|m| {
        *m = Mmcr0::written(0xFFFF_FFFF);
        m.set_tbee(false);
        m.set_fcece(false);
        m.set_pmc1ce(false);
        m.set_pmcjce(false);
        m.set_trigger(false);
        m.set_pmcc(pmcc);
    })
}

fn sampling() -> u64 {
    mmcra(|m| {
        m.set_thresh_cmp_exp(2);
        m.set_thresh_cmp_mantissa(0x62);
        m.set_sdar_mode(0b10);
        m.set_fd(true);
        m.set_thresh_ctr_exp(3);
        m.set_thresh_ctr_mantissa(0x55);
        m.set_thresh_start(1);
        m.set_thresh_end(5);
        m.set_rand_samp_elig(7);
    })
}

fn selection() -> u64 {
    select(&[0x2_0002, 0x3_001E])
}

/// What the register of this privileged number holds before an access; `None` if there is none.
fn held(number: u16, pmcc: u8) -> Option<u64> {
    Some(match number {
        spr::SIER => WHOLE_SIER,
        spr::MMCR2 => Mmcr2::written(u64::MAX).bits(),
        spr::MMCRA => sampling(),
        spr::PMC1..=spr::PMC6 => 0x0111_1111 * u64::from(number - spr::PMC1 + 1),
        spr::MMCR0 => control(pmcc),
        spr::SIAR => SIAR,
        spr::SDAR => SDAR,
        spr::MMCR1 => selection(),
        _ => return None,
    })
}

const fn without_mtspr(number: u16) -> bool {
    matches!(number, spr::SIER | spr::SIAR | spr::SDAR | spr::MMCR1)
}

/// What problem state reads by its number for the register of this privileged number: a value, or an interrupt.
fn problem_reads(number: u16, pmcc: u8) -> u64 {
    let Some(value) = held(number, pmcc) else { return ASSISTANCE };
    match (pmcc, number) {
        (0b01, _) | (0b10 | 0b11, spr::MMCR1) => unavailable(facility::CAUSE_PM),
        (0b11, number) if number == pmc(5) || number == pmc(6) => unavailable(facility::CAUSE_PM),
        (_, spr::MMCR0) => SHARED_MMCR0,
        (_, spr::MMCR2) => SHARED_MMCR2,
        // Exponent and mantissa of the threshold counter.
        (_, spr::MMCRA) => 3 << 27 | 0x55 << 19,
        (_, spr::SIER) => SHARED_SIER,
        _ => value,
    }
}

/// What the register holds after problem state has written to it, or the interrupt.
fn problem_writes(number: u16, pmcc: u8) -> u64 {
    let kept = |value: u64, shared: u64| value & !shared | WRITTEN & shared;
    let Some(value) = held(number, pmcc) else { return ASSISTANCE };
    match (pmcc, number) {
        _ if without_mtspr(number) => ASSISTANCE,
        (0b00, _) => ASSISTANCE,
        (0b01, _) => unavailable(facility::CAUSE_PM),
        (0b11, number) if number == pmc(5) || number == pmc(6) => unavailable(facility::CAUSE_PM),
        (_, spr::MMCR0) => kept(value, SHARED_MMCR0),
        (_, spr::MMCR2) => kept(value, SHARED_MMCR2),
        (_, spr::MMCRA) => kept(value, 0),
        _ => WRITTEN & 0xFFFF_FFFF,
    }
}

/// The state that makes an access.
#[derive(Clone, Copy)]
enum From {
    Problem,
    Supervisor,
}

/// An access in problem state, and the same in privileged state.
#[derive(Clone, Copy)]
struct Code {
    problem: Label,
    supervisor: Label,
}

fn code(k: &mut Kernel, name: &str, access: impl Fn(&mut Kernel)) -> Code {
    k.a.routine(&format!("{name}_problem"));
    let problem = k.a.mark();
    access(k);
    k.a.sc();
    k.a.routine(&format!("{name}_supervisor"));
    let supervisor = k.a.mark();
    access(k);
    k.a.hypercall();
    Code { problem, supervisor }
}

/// The result of the access is in GPR 15: its interrupt, or else what `after` finds.
fn attempt(k: &mut Kernel, from: From, code: Code, value: u64, after: impl Fn(&mut Kernel)) {
    let interrupted = k.a.label();
    k.a.load(R14, 0);
    k.a.std(R14, CAME, R13);
    k.a.load(R14, value);
    match from {
        From::Problem => k.enter_user(code.problem, 0),
        From::Supervisor => k.enter_supervisor(code.supervisor),
    }
    let clean = k.a.label();
    k.a.ld(R15, CAME, R13);
    k.a.branch_if_zero(R15, clean);
    k.a.b(interrupted);
    k.a.here(clean);
    after(k);
    k.a.here(interrupted);
}

/// Handlers that record the interrupt and skip the instruction.
fn handlers(k: &mut Kernel) {
    for number in [vector::PROGRAM, vector::EMULATION_ASSISTANCE, vector::FACILITY_UNAVAILABLE, vector::HYPERVISOR_FACILITY_UNAVAILABLE] {
        k.handler(number);
        k.a.load(R3, u64::from(number));
        let status = match number {
            vector::FACILITY_UNAVAILABLE => Some(cpu::FSCR),
            vector::HYPERVISOR_FACILITY_UNAVAILABLE => Some(cpu::HFSCR),
            _ => None,
        };
        if let Some(status) = status {
            k.a.mfspr(R4, status);
            k.a.srdi(R4, R4, 56);
            k.a.sldi(R4, R4, 16);
            k.a.or(R3, R3, R4);
        }
        k.a.std(R3, CAME, R13);
        k.a.ld(R3, FRAME_ADDRESS, R1);
        k.a.addi(R3, R3, 4);
        k.a.std(R3, FRAME_ADDRESS, R1);
        k.end_handler();
    }
}

/// Fills the registers.
fn fill(k: &mut Kernel, pmcc: u8) {
    k.write(spr::MMCR0, FC);
    for number in [spr::SIER, spr::MMCR2, spr::MMCRA, spr::SIAR, spr::SDAR, spr::MMCR1].into_iter().chain(spr::PMC1..=spr::PMC6) {
        k.write(number, held(number, pmcc).unwrap_or(0));
    }
    k.write(spr::MMCR0, control(pmcc));
}

/// Clears a bit of HFSCR, or sets it.
fn facility(k: &mut Kernel, bit: u64, available: bool) {
    k.a.mfspr(R3, cpu::HFSCR);
    k.a.load(R4, bit);
    if available {
        k.a.or(R3, R3, R4)
    } else {
        k.a.andc(R3, R3, R4)
    }
    k.a.mtspr(cpu::HFSCR, R3);
}

/// All numbers of problem state, as privileged numbers; those without a register too.
const NUMBERS: std::ops::RangeInclusive<u16> = spr::SIER..=799;

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    handlers(&mut k);
    let reads: Vec<Code> = (768..=799).map(|number| code(&mut k, &format!("mfspr_{number}"), |k| k.a.mfspr(R14, number))).collect();
    let writes: Vec<Code> = (768..=799).map(|number| code(&mut k, &format!("mtspr_{number}"), |k| k.a.mtspr(number, R14))).collect();
    let read = |number: u16| reads[usize::from(number - 768)];
    let write = |number: u16| writes[usize::from(number - 768)];
    let others = Others {
        read_core: code(&mut k, "mfspr_mmcrc", |k| k.a.mfspr(R14, spr::MMCRC)),
        write_core: code(&mut k, "mtspr_mmcrc", |k| k.a.mtspr(spr::MMCRC, R14)),
        history: code(&mut k, "mfbhrbe", |k| k.a.mfbhrbe(R14, 3)),
        clear: code(&mut k, "clrbhrb", |k| k.a.clrbhrb()),
        read_match: code(&mut k, "mfimc", |k| k.a.mfimc(R14, 0)),
        write_match: code(&mut k, "mtimc", |k| k.a.mtimc(0, R14)),
    };
    k.main();
    k.write(cpu::BESCR, 0);
    for pmcc in 0..4 {
        for number in NUMBERS {
            let user = problem(number);
            fill(&mut k, pmcc);
            attempt(&mut k, From::Problem, read(user), UNTOUCHED, |k| k.a.mr(R15, R14));
            k.check_is(&format!("PMCC {pmcc:02b}: problem state reads {user}"), R15, problem_reads(number, pmcc));
            attempt(&mut k, From::Problem, write(user), WRITTEN, |k| k.a.mfspr(R15, number));
            k.check_is(&format!("PMCC {pmcc:02b}: problem state writes {user}"), R15, problem_writes(number, pmcc));
        }
    }
    fill(&mut k, 0b10);
    for number in NUMBERS {
        attempt(&mut k, From::Problem, read(number), UNTOUCHED, |k| k.a.mr(R15, R14));
        k.check_is(&format!("problem state reads {number}"), R15, PRIVILEGED);
        attempt(&mut k, From::Problem, write(number), WRITTEN, |k| k.a.mfspr(R15, number));
        k.check_is(&format!("problem state writes {number}"), R15, PRIVILEGED);
    }
    facility(&mut k, facility::PM, false);
    for number in NUMBERS {
        without_leave(&mut k, number, read(number), write(number), false);
        without_leave(&mut k, number, read(problem(number)), write(problem(number)), true);
    }
    attempt(&mut k, From::Problem, read(problem(pmc(1))), UNTOUCHED, |k| k.a.mr(R15, R14));
    k.check_is("problem state reads PMC1 without the hypervisor's leave", R15, withheld(facility::CAUSE_PM));
    facility(&mut k, facility::PM, true);
    // PMCC 01 denies nothing to privileged state.
    fill(&mut k, 0b01);
    for number in NUMBERS {
        let right = held(number, 0b01).unwrap_or(UNTOUCHED);
        attempt(&mut k, From::Supervisor, read(number), UNTOUCHED, |k| k.a.mr(R15, R14));
        k.check_is(&format!("privileged state reads {number}"), R15, right);
        attempt(&mut k, From::Supervisor, read(problem(number)), UNTOUCHED, |k| k.a.mr(R15, R14));
        k.check_is(&format!("privileged state reads {}", problem(number)), R15, right);
    }
    k.write(spr::MMCR0, FC);
    rest(&mut k, &others);
    k.end_main();
    k.finish()
}

/// Privileged state with HFSCR\[PM] 0. A number without a register does nothing, and so does a number without an mtspr.
fn without_leave(k: &mut Kernel, number: u16, read: Code, write: Code, by_problem_number: bool) {
    let name = if by_problem_number { problem(number) } else { number };
    let (reads, writes) = match held(number, 0b10) {
        None => (UNTOUCHED, UNTOUCHED),
        Some(_) if by_problem_number && without_mtspr(number) => (withheld(facility::CAUSE_PM), UNTOUCHED),
        Some(_) => (withheld(facility::CAUSE_PM), withheld(facility::CAUSE_PM)),
    };
    attempt(k, From::Supervisor, read, UNTOUCHED, |k| k.a.mr(R15, R14));
    k.check_is(&format!("without the hypervisor's leave: {name} is read"), R15, reads);
    attempt(k, From::Supervisor, write, WRITTEN, |k| k.a.load(R15, UNTOUCHED));
    k.check_is(&format!("without the hypervisor's leave: {name} is written"), R15, writes);
}

struct Others {
    read_core: Code,
    write_core: Code,
    history: Code,
    clear: Code,
    read_match: Code,
    write_match: Code,
}

fn rest(k: &mut Kernel, others: &Others) {
    // All threads but this one.
    k.write(spr::MMCRC, !0 << 4 | 0b0111);
    k.a.mfspr(R14, spr::MMCRC);
    k.check_is("MMCRC", R14, 0b0111);
    for (from, name, right) in [(From::Problem, "problem", PRIVILEGED), (From::Supervisor, "privileged", UNTOUCHED)] {
        attempt(k, from, others.read_core, UNTOUCHED, |k| k.a.mr(R15, R14));
        k.check_is(&format!("{name} state reads MMCRC"), R15, right);
        attempt(k, from, others.write_core, 0, |k| k.a.load(R15, UNTOUCHED));
        k.check_is(&format!("{name} state writes MMCRC"), R15, right);
    }
    k.a.mfspr(R14, spr::MMCRC);
    k.check_is("MMCRC afterwards", R14, 0b0111);
    k.write(spr::MMCRC, 0);

    let history = |k: &mut Kernel, from, name: &str, right: u64| {
        attempt(k, from, others.history, UNTOUCHED, |k| k.a.mr(R15, R14));
        k.check_is(&format!("mfbhrbe {name}"), R15, right);
        attempt(k, from, others.clear, 0, |k| k.a.load(R15, 0));
        k.check_is(&format!("clrbhrb {name}"), R15, right);
    };
    history(k, From::Problem, "in problem state", unavailable(facility::CAUSE_BHRB));
    history(k, From::Supervisor, "in privileged state", 0);
    k.write(spr::MMCR0, FC | mmcr0(|m| m.set_bhrba(true)));
    history(k, From::Problem, "in problem state with BHRBA", 0);
    facility(k, facility::BHRB, false);
    history(k, From::Problem, "in problem state without the hypervisor's leave", withheld(facility::CAUSE_BHRB));
    history(k, From::Supervisor, "in privileged state without the hypervisor's leave", withheld(facility::CAUSE_BHRB));
    facility(k, facility::BHRB, true);

    k.a.load(R14, WRITTEN);
    k.a.mtimc(0, R14);
    for (from, name, writes) in [(From::Problem, "problem", PRIVILEGED), (From::Supervisor, "privileged", WRITTEN)] {
        attempt(k, from, others.read_match, UNTOUCHED, |k| k.a.mr(R15, R14));
        k.check_is(&format!("{name} state reads the match array"), R15, WRITTEN);
        attempt(k, from, others.write_match, WRITTEN, |k| k.a.mfimc(R15, 0));
        k.check_is(&format!("{name} state writes the match array"), R15, writes);
    }
}
