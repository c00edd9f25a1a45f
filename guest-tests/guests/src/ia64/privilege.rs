//! `privilege`: who is counted, by privilege levels, PSR.up, PSR.pp and DCR.pp, and what users may do.

use super::part::{Facts, Monitor};
use super::{Kernel, SYSTEM_CALL};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{DCR_PP, isr, psr, vector};
use vm_pmu_engines::image::Image;

/// Instructions of the user code, in bundles of three.
const USER: u64 = 60;
/// What the building blocks execute from the vector of the system call to their `rfi`: 3 in the vector; 20 up to the branch for system
/// calls; reads of IIP and IPSR, 6; the next slot, 18; three cells kept, 18, and one fetched, 6; PSR with its bank, 5; where it continues,
/// 2; three control registers, 9; `srlz`, and the `rfi` in the last slot of its bundle, 6.
pub(super) const CALL: u64 = 3 + 20 + 6 + 18 + 18 + 6 + 5 + 2 + 9 + 6;
/// The bundles of that. Three have long instructions, and two of them.
const CALL_BUNDLES: u64 = (CALL + 3) / 3;

/// What [`Kernel::enter_user`] executes up to its `rfi`: two long ones of 2 and the call, 7; the new PSR and a branch, 14; three reads,
/// four cells stored, 24, and one loaded, 6, `rsm`, two `srlz`, three control registers and the `rfi`, 30 with the reads.
pub(super) const ENTRY: u64 = 7 + 14 + 24 + 6 + 30;
/// What it executes after the `rfi` of the system call: r13, three cells loaded, 18, two moves and the return.
pub(super) const BACK: u64 = 3 + 18 + 6 + 3;

struct Guest<'a> {
    k: Kernel,
    part: &'a Facts,
    user: Label,
    switches: Label,
    reads: Label,
    forbidden: Label,
}

impl Guest<'_> {
    /// Programs counters from 4 up, all holding 0.
    fn program(&mut self, monitors: &[Monitor]) {
        for (number, monitor) in (4..).zip(monitors) {
            self.k.write_pmc(number, self.part.pmc(*monitor));
            self.k.write_pmd(number, 0);
        }
    }

    /// Checks counters from 4 up, and leaves them idle.
    fn check(&mut self, name: &str, rights: &[(&str, u64)]) {
        for (number, (what, right)) in (4..).zip(rights) {
            self.k.read_pmd(R9, number);
            self.k.check_is(&format!("{name}: {what}"), R9, *right);
            self.k.write_pmc(number, self.part.idle);
        }
    }

    fn instructions(&self) -> Monitor {
        Monitor::of(self.part.instructions)
    }

    /// PSR.up of one process: it and the kernel that works for it are counted, each by its level.
    fn single_process(&mut self) {
        let part = self.part;
        let instructions = self.instructions();
        self.program(&[
            instructions.at(0b1000),
            instructions.at(0b0001),
            Monitor::of(part.cycles).at(0b1000),
            Monitor::of(part.level_changes).at(0b1001),
        ]);
        self.k.enter_user(self.user, psr::UP);
        // A cycle for every bundle, and one for the interruption. Counting starts once the process runs.
        self.check("single process", &[("user", USER), ("kernel", CALL), ("cycles", USER / 3 + 1), ("level changes", 1)]);
    }

    /// PSR.pp of a process, with DCR.pp 0: interruptions clear it, so handlers are left out at all levels.
    fn several_processes(&mut self) {
        let part = self.part;
        let instructions = self.instructions().privileged();
        self.program(&[
            instructions.at(0b1000),
            instructions.at(0b0001),
            Monitor::of(part.cycles).at(0b1001).privileged(),
            Monitor::of(part.level_changes).at(0b1001).privileged(),
        ]);
        self.k.enter_user(self.user, psr::PP);
        self.check("several processes", &[("monitored", USER), ("kernel", 0), ("cycles", USER / 3 + 1), ("level changes", 1)]);
        self.program(&[instructions.at(0b1000), instructions.at(0b0001)]);
        self.k.enter_user(self.user, psr::UP);
        self.check("several processes", &[("not monitored", 0), ("its kernel", 0)]);
    }

    /// PSR.pp and DCR.pp: everything is counted.
    fn whole_system(&mut self) {
        let part = self.part;
        let instructions = self.instructions().privileged();
        self.k.write_cr(Cr::DCR, DCR_PP);
        self.program(&[
            instructions.at(0b1000),
            instructions.at(0b0001),
            Monitor::of(part.cycles).at(0b1001).privileged(),
            Monitor::of(part.level_changes).at(0b1001).privileged(),
        ]);
        self.k.privileged_monitors(true);
        self.k.enter_user(self.user, 0);
        self.k.privileged_monitors(false);
        // 2 after ssm, and rsm. On the way there three bundles have long instructions, and there is a cycle for each bundle.
        let kernel = 2 + ENTRY + CALL + BACK + 1;
        let bundles = (ENTRY + 3) / 3 + USER / 3 + 1 + CALL_BUNDLES + BACK / 3 + 1;
        self.check("whole system", &[("user", USER), ("kernel", kernel), ("cycles", bundles), ("level changes", 2)]);
        self.k.write_cr(Cr::DCR, 0);
    }

    /// `sum` and `rum` of users reach PSR.up unless PSR.sp is set.
    fn user_mask(&mut self) {
        let instructions = self.instructions().at(0b1000);
        // 2 after sum, 21, rum; 2 after sum, 6. With all of it: 3 of sum, 21, 3 of rum, 15, 3 of sum, 6.
        let cases =
            [("open", 0, 2 + 21 + 1 + 2 + 6), ("secured, off", psr::SP, 0), ("secured, on", psr::SP | psr::UP, 3 + 21 + 3 + 15 + 3 + 6)];
        for (name, state, right) in cases {
            self.program(&[instructions]);
            self.k.enter_user(self.switches, state);
            self.check("sum and rum", &[(name, right)]);
        }
        // Level 0 reaches it in other ways, secured or not: 2 after each that starts it, 6, and the one that stops it.
        for secured in [0, psr::SP] {
            self.program(&[self.instructions()]);
            self.k.a.put(ssm(psr::UP | secured));
            self.k.nops(2);
            self.k.a.put(rsm(psr::UP));
            self.k.a.put(mov_from_psr(R4));
            self.k.a.load(R5, psr::UP);
            self.k.a.put(or(R5, R4, R5));
            self.k.a.put(mov_to_psr_l(R5));
            self.k.nops(2);
            self.k.a.put(mov_to_psr_l(R4));
            self.k.a.put(rsm(psr::SP));
            self.check("ssm, rsm and psr.l", &[(if secured == 0 { "open" } else { "secured" }, 2 * (2 + 6 + 1))]);
        }
    }

    /// What users read of counts.
    fn reads(&mut self) {
        let (open, closed) = (self.instructions(), self.instructions().privileged());
        for (name, state, right) in [("open", 0, 1234), ("secured", psr::SP, 0)] {
            self.program(&[open, closed]);
            self.k.write_pmd(4, 1234);
            self.k.write_pmd(5, 5678);
            self.k.enter_user(self.reads, state);
            self.k.check_is(&format!("{name}: a user monitor read by a user"), R4, right);
            self.k.check_is(&format!("{name}: a system monitor read by a user"), R5, 0);
            self.check(name, &[("a user monitor read by the kernel", 1234), ("a system monitor read by the kernel", 5678)]);
        }
        // PSR.sp does not touch level 0.
        self.program(&[open]);
        self.k.write_pmd(4, 1234);
        self.k.a.put(ssm(psr::SP));
        self.k.read_pmd(R4, 4);
        self.k.a.put(rsm(psr::SP));
        self.k.check_is("secured: read by the kernel itself", R4, 1234);
        self.k.write_pmc(4, self.part.idle);
    }

    /// What users may not do.
    fn forbidden(&mut self) {
        self.k.expect_faults();
        self.k.enter_user(self.forbidden, 0);
        self.k.check_faults("what users may not do", FORBIDDEN.len() as u64, vector::GENERAL_EXCEPTION, isr::PRIVILEGED_OPERATION);
        self.k.read_pmc(R9, 4);
        self.k.check_is("what users may not do: PMC4 is as it was", R9, self.part.idle);
    }

    /// Each level is counted by its own bit alone; what comes from other levels counts by theirs.
    fn levels(&mut self) {
        for level in 0..=3 {
            let instructions = self.instructions();
            self.program(&[instructions.at(1 << level), instructions.at(0b1111 & !(1 << level))]);
            self.k.enter_level(self.user, level, psr::UP);
            let (own, others) = if level == 0 { (USER + CALL, 0) } else { (USER, CALL) };
            self.check(&format!("level {level}"), &[("its bit", own), ("the others'", others)]);
        }
    }
}

/// Privileged operations.
const FORBIDDEN: &[fn() -> Op] = &[
    || ssm(psr::PP),
    || rsm(psr::UP),
    || mov_to_psr_l(R0),
    || mov_from_psr(R4),
    || mov_to_cr(Cr::DCR, R0),
    || mov_from_cr(R4, Cr::DCR),
    || mov_to_pmc(R16, R0),
    || mov_to_pmd(R16, R0),
    || mov_from_pmc(R4, R16),
    || mov_to_ibr(R16, R0),
    || mov_to_dbr(R16, R0),
];

/// Assembles it.
pub(crate) fn build(part: &Facts) -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    k.a.routine("user");
    let user = k.a.mark();
    k.nops(USER as usize / 3);
    k.system_call();
    k.a.routine("switches");
    let switches = k.a.mark();
    k.user_monitors(true);
    k.nops(7);
    k.user_monitors(false);
    k.nops(5);
    k.user_monitors(true);
    k.nops(2);
    k.system_call();
    k.a.routine("reads");
    let reads = k.a.mark();
    k.read_pmd(R4, 4);
    k.read_pmd(R5, 5);
    k.system_call();
    k.a.routine("forbidden");
    let forbidden = k.a.mark();
    k.a.put(mov_imm(R16, 4));
    for op in FORBIDDEN {
        k.a.put(op());
    }
    k.a.put(break_(SYSTEM_CALL));
    k.main();
    let mut guest = Guest { k, part, user, switches, reads, forbidden };
    guest.single_process();
    guest.several_processes();
    guest.whole_system();
    guest.user_mask();
    guest.reads();
    guest.forbidden();
    guest.levels();
    guest.k.end_main();
    guest.k.finish()
}
