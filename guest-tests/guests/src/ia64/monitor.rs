//! Registers of the performance monitor, by their numbers.

use super::Kernel;
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::psr;

impl Kernel {
    /// PMC `index` becomes `value`. Three bundles, of which the last begins with the move; nothing is serialized. Changes r2 and r3.
    pub fn write_pmc(&mut self, index: u8, value: u64) {
        self.a.load(R3, value);
        self.a.put(mov_imm(R2, index.into()));
        self.a.put(mov_to_pmc(R2, R3));
    }

    /// PMD `index` becomes `value`. Three bundles, of which the last begins with the move; nothing is serialized. Changes r2 and r3.
    pub fn write_pmd(&mut self, index: u8, value: u64) {
        self.a.load(R3, value);
        self.a.put(mov_imm(R2, index.into()));
        self.a.put(mov_to_pmd(R2, R3));
    }

    /// PMC `index` into a register. Two bundles, of which the last begins with the move. Changes r2.
    pub fn read_pmc(&mut self, into: Gr, index: u8) {
        self.a.put(mov_imm(R2, index.into()));
        self.a.put(mov_from_pmc(into, R2));
    }

    /// PMD `index` into a register. Two bundles, of which the last begins with the move. Changes r2.
    pub fn read_pmd(&mut self, into: Gr, index: u8) {
        self.a.put(mov_imm(R2, index.into()));
        self.a.put(mov_from_pmd(into, R2));
    }

    /// Instruction breakpoint register `index` becomes `value`. Three bundles, of which the last begins with the move. Changes r2, r3.
    pub fn write_ibr(&mut self, index: u8, value: u64) {
        self.a.load(R3, value);
        self.a.put(mov_imm(R2, index.into()));
        self.a.put(mov_to_ibr(R2, R3));
    }

    /// Data breakpoint register `index` becomes `value`. Three bundles, of which the last begins with the move. Changes r2 and r3.
    pub fn write_dbr(&mut self, index: u8, value: u64) {
        self.a.load(R3, value);
        self.a.put(mov_imm(R2, index.into()));
        self.a.put(mov_to_dbr(R2, R3));
    }

    /// PSR.up, by `sum` or `rum`: whether monitors that PSR.up gates run. One bundle that begins with it.
    pub fn user_monitors(&mut self, run: bool) {
        self.a.put(if run { sum(psr::UP) } else { rum(psr::UP) });
    }

    /// PSR.pp, by `ssm` or `rsm`: whether monitors that PSR.pp gates run. One bundle that begins with it.
    pub fn privileged_monitors(&mut self, run: bool) {
        self.a.put(if run { ssm(psr::PP) } else { rsm(psr::PP) });
    }

    /// The vector of the performance monitor's interrupt, 16 to 255. Three bundles; changes r2.
    pub fn monitor_vector(&mut self, vector: u8) {
        self.write_cr(Cr::PMV, vector.into());
    }
}
