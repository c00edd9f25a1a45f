//! `branch-history`: a known sequence of branches, read back from the branch history under each filter.

use vm_pmu::arch::power9::{Mmcra, spr};

use super::FC;
use super::fields::{before, mmcr0, mmcra, pmc, select};
use crate::power::{Kernel, own};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, Label, R3, R4, R12, R13, R14, R15, R16, R17};
use vm_pmu_engines::power::registers::vector;

/// Entries of the buffer.
const DEPTH: u32 = 32;
/// The T bit: the entry is a target.
const TARGET: i64 = 2;
/// The P bit: the direction or the target of the branch was predicted wrongly.
const WRONG: i64 = 1;
/// How often code is executed for the companion's predictor to know it.
const WARM: usize = 8;
/// How many interrupts there were.
const INTERRUPTS: i64 = own(0);

/// A branch of the sequence, in the words of the filters.
#[derive(Clone, Copy)]
struct Entered {
    at: Label,
    /// Where a branch to a register's content goes.
    to: Option<Label>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Jump,
    Call,
    Return,
    /// B-form, by the condition register.
    Conditional,
    /// B-form, by the count alone: BO has its bit 0 set.
    Counted,
}

/// The sequence: where it begins, and its taken branches in order.
struct Sequence {
    entry: Label,
    branches: Vec<Entered>,
}

fn recording() -> u64 {
    mmcr0(|m| {
        m.set_pmae(true);
        m.set_fch(true);
    })
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::new(little_endian);
    k.handler(vector::PERFORMANCE_MONITOR);
    k.a.ld(R3, INTERRUPTS, R13);
    k.a.addi(R3, R3, 1);
    k.a.std(R3, INTERRUPTS, R13);
    k.a.load(R3, FC);
    k.a.mtspr(spr::MMCR0, R3);
    k.end_handler();
    let sequence = sequence(&mut k);
    let long = long(&mut k);
    let alerting = alerting(&mut k);
    let supervisor = supervisor(&mut k);
    let wrong = wrong(&mut k);
    k.main();
    filters(&mut k, &sequence);
    depth(&mut k, &long);
    alert(&mut k, &alerting);
    kernel(&mut k, &supervisor);
    mispredictions(&mut k, &wrong);
    k.end_main();
    k.finish()
}

fn sequence(k: &mut Kernel) -> Sequence {
    let mut branches = Vec::new();
    let (call, back, far, far_back, there, there_too, on, end) =
        (k.a.label(), k.a.label(), k.a.label(), k.a.label(), k.a.label(), k.a.label(), k.a.label(), k.a.label());
    k.a.routine("sequence");
    let entry = k.a.mark();
    let mut branch = |at, to, kind| branches.push(Entered { at, to, kind });
    branch(k.a.mark(), None, Kind::Jump);
    k.a.b(on);
    let first = k.a.mark();
    k.a.here(call);
    k.a.blr();
    let second = k.a.mark();
    k.a.here(far);
    k.a.blr();
    k.a.here(on);
    branch(k.a.mark(), None, Kind::Call);
    k.a.bl(call);
    k.a.here(back);
    branch(first, Some(back), Kind::Return);
    k.a.load_address(R12, far);
    k.a.mtctr(R12);
    branch(k.a.mark(), Some(far), Kind::Call);
    k.a.bctrl();
    k.a.here(far_back);
    branch(second, Some(far_back), Kind::Return);
    k.a.load(R4, 0);
    k.a.cmpdi(CR0, R4, 0);
    k.a.bne(end);
    branch(k.a.mark(), None, Kind::Conditional);
    k.a.beq(there);
    k.a.nop();
    k.a.here(there);
    k.a.load_address(R12, there_too);
    k.a.mtctr(R12);
    branch(k.a.mark(), Some(there_too), Kind::Jump);
    k.a.bctr();
    k.a.nop();
    k.a.here(there_too);
    k.a.load(R4, 2);
    k.a.mtctr(R4);
    let counted = k.a.mark();
    branch(counted, None, Kind::Counted);
    k.a.bdnz(counted);
    k.a.here(end);
    k.a.sc();
    Sequence { entry, branches }
}

/// A filter: its name, MMCRA, and what it keeps of a branch: its own entry, that of its target.
type Filter = (&'static str, fn(&mut Mmcra), fn(&Entered) -> (bool, bool));

const fn both(kept: bool) -> (bool, bool) {
    (kept, kept)
}

fn conditional(branch: &Entered) -> bool {
    matches!(branch.kind, Kind::Conditional | Kind::Counted)
}

const FILTERS: [Filter; 9] = [
    ("no filter", |_| {}, |_| both(true)),
    ("FD", |m| m.set_fd(true), |branch| both(branch.to.is_some())),
    ("FU", |m| m.set_fu(true), |branch| both(conditional(branch))),
    ("FC", |m| m.set_fc(true), |branch| both(branch.kind != Kind::Call)),
    ("FR", |m| m.set_fr(true), |branch| both(branch.kind != Kind::Return)),
    ("FJ", |m| m.set_fj(true), |branch| both(matches!(branch.kind, Kind::Call | Kind::Return))),
    ("IFM 01", |m| m.set_ifm(0b01), |branch| both(branch.kind == Kind::Call)),
    // Of branches that are always taken, only targets in registers are recorded.
    ("IFM 10", |m| m.set_ifm(0b10), |branch| (conditional(branch), true)),
    // Nor are branches whose hint states the direction.
    ("IFM 11", |m| m.set_ifm(0b11), |branch| (branch.kind == Kind::Conditional, true)),
];

/// Executes `code` while the buffer records, until every branch of it is predicted.
fn warm(k: &mut Kernel, code: Label) {
    k.write(spr::MMCR0, recording());
    for _ in 0..WARM {
        k.enter_user(code, 0);
    }
    k.write(spr::MMCR0, FC);
}

fn filters(k: &mut Kernel, sequence: &Sequence) {
    warm(k, sequence.entry);
    for (name, filter, leaves) in FILTERS {
        k.a.clrbhrb();
        k.write(spr::MMCRA, mmcra(filter));
        k.write(spr::MMCR0, recording());
        k.enter_user(sequence.entry, 0);
        k.write(spr::MMCR0, FC);
        let mut entry = 0;
        for branch in sequence.branches.iter().rev() {
            let (own, target) = leaves(branch);
            let places = [(branch.to.filter(|_| target), TARGET), (Some(branch.at).filter(|_| own), 0)];
            for (label, flags) in places.into_iter().filter_map(|(label, flags)| Some((label?, flags))) {
                check_entry(k, &format!("{name}: entry {entry}"), entry, label, flags);
                entry += 1;
            }
        }
        k.a.mfbhrbe(R14, entry);
        k.check_is(&format!("{name}: entries are {entry}"), R14, 0);
    }
    k.write(spr::MMCRA, 0);
}

fn check_entry(k: &mut Kernel, name: &str, entry: u32, label: Label, flags: i64) {
    k.a.mfbhrbe(R14, entry);
    k.a.load_address(R15, label);
    k.a.addi(R15, R15, flags);
    k.check_same(name, R14, R15);
}

/// A branch, and then more of them than the buffer has room for.
struct Long {
    entry: Label,
    counted: Label,
    last: Label,
}

fn long(k: &mut Kernel) -> Long {
    k.a.routine("long");
    let entry = k.a.mark();
    k.a.load(R4, 40);
    k.a.mtctr(R4);
    let counted = k.a.mark();
    k.a.bdnz(counted);
    let (last, end) = (k.a.mark(), k.a.label());
    k.a.b(end);
    k.a.here(end);
    k.a.sc();
    Long { entry, counted, last }
}

fn depth(k: &mut Kernel, long: &Long) {
    warm(k, long.entry);
    k.write(spr::MMCR0, recording());
    k.enter_user(long.entry, 0);
    k.a.mfbhrbe(R14, 0);
    k.check_is("an entry while the buffer records", R14, 0);
    k.write(spr::MMCR0, FC);
    check_entry(k, "the newest of many", 0, long.last, 0);
    for entry in [1, 16, DEPTH - 1] {
        check_entry(k, &format!("entry {entry} of many"), entry, long.counted, 0);
    }
    for entry in [DEPTH, 1023] {
        k.a.mfbhrbe(R14, entry);
        k.check_is(&format!("entry {entry}, which there is none"), R14, 0);
    }
    k.a.clrbhrb();
    for entry in [0, DEPTH - 1] {
        k.a.mfbhrbe(R14, entry);
        k.check_is(&format!("entry {entry} of a cleared buffer"), R14, 0);
    }
}

/// A branch before an alert and one after it.
struct Alerting {
    entry: Label,
    before: Label,
}

fn alerting(k: &mut Kernel) -> Alerting {
    let (middle, end) = (k.a.label(), k.a.label());
    k.a.routine("alerting");
    let entry = k.a.mark();
    k.a.b(middle);
    k.a.here(middle);
    k.a.nop();
    k.a.b(end);
    k.a.here(end);
    k.a.sc();
    Alerting { entry, before: entry }
}

fn alert(k: &mut Kernel, code: &Alerting) {
    k.write(spr::MMCR1, select(&[0x2_0002]));
    // Instructions of problem state: the branch, and the one after it.
    k.write(pmc(2), before(2));
    let control = mmcr0(|m| {
        m.set_pmae(true);
        m.set_fch(true);
        m.set_fcece(true);
        m.set_pmcjce(true);
    });
    k.write(spr::MMCR0, control);
    k.enter_user(code.entry, 0);
    k.a.ld(R14, INTERRUPTS, R13);
    k.check_is("interrupts", R14, 1);
    check_entry(k, "the branch before the alert", 0, code.before, 0);
    k.a.mfbhrbe(R14, 1);
    k.check_is("the entries before it", R14, 0);
}

/// A branch in privileged state.
struct Supervisor {
    entry: Label,
}

fn supervisor(k: &mut Kernel) -> Supervisor {
    let end = k.a.label();
    k.a.routine("supervisor");
    let entry = k.a.mark();
    k.a.b(end);
    k.a.here(end);
    k.a.hypercall();
    Supervisor { entry }
}

fn kernel(k: &mut Kernel, code: &Supervisor) {
    for frozen in [false, true] {
        let control = mmcr0(|m| {
            m.set_pmae(true);
            m.set_fch(frozen);
        });
        k.a.clrbhrb();
        k.write(spr::MMCR0, control);
        let (at, end) = (k.a.mark(), k.a.label());
        k.a.b(end);
        k.a.here(end);
        k.write(spr::MMCR0, FC);
        if frozen {
            k.a.mfbhrbe(R14, 0);
            k.check_is("the hypervisor's branches with FCH", R14, 0);
        } else {
            check_entry(k, "the hypervisor's branch without FCH", 0, at, 0);
        }
    }
    for frozen in [false, true] {
        let control = mmcr0(|m| {
            m.set_pmae(true);
            m.set_fch(true);
            m.set_fcs(frozen);
        });
        k.a.clrbhrb();
        k.write(spr::MMCR0, control);
        k.enter_supervisor(code.entry);
        k.write(spr::MMCR0, FC);
        if frozen {
            k.a.mfbhrbe(R14, 0);
            k.check_is("the supervisor's branches with FCS", R14, 0);
        } else {
            check_entry(k, "the supervisor's branch without FCS", 0, code.entry, 0);
        }
        k.a.mfbhrbe(R14, 1);
        k.check_is("the hypervisor's beside it", R14, 0);
    }
}

/// A jump to the address in GPR 16, and a branch that is taken if GPR 17 is 0.
struct Wrong {
    entry: Label,
    jump: Label,
    usual: Label,
    other: Label,
    branch: Label,
}

fn wrong(k: &mut Kernel) -> Wrong {
    let (usual, other, end) = (k.a.label(), k.a.label(), k.a.label());
    k.a.routine("mispredicted");
    let entry = k.a.mark();
    k.a.mtctr(R16);
    k.a.cmpdi(CR0, R17, 0);
    let jump = k.a.mark();
    k.a.bctr();
    k.a.here(usual);
    k.a.nop();
    k.a.here(other);
    k.a.nop();
    let branch = k.a.mark();
    k.a.beq(end);
    k.a.nop();
    k.a.here(end);
    k.a.sc();
    Wrong { entry, jump, usual, other, branch }
}

/// Branches that went one way so far go the other way.
fn mispredictions(k: &mut Kernel, code: &Wrong) {
    k.a.load_address(R16, code.usual);
    k.a.load(R17, 1);
    warm(k, code.entry);
    k.a.load_address(R16, code.other);
    k.a.load(R17, 0);
    k.a.clrbhrb();
    k.write(spr::MMCR0, recording());
    k.enter_user(code.entry, 0);
    k.write(spr::MMCR0, FC);
    check_entry(k, "a direction that was predicted wrongly", 0, code.branch, WRONG);
    check_entry(k, "a target that was predicted wrongly", 1, code.other, TARGET + WRONG);
    check_entry(k, "the branch to it", 2, code.jump, 0);
}
