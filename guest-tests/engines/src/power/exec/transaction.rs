//! Transactional memory instructions (Power ISA 3.0B, Book II, 5.5).

use std::cmp::Ordering;

use vm_pmu::decode::power::{Op, Word, aborts};

use crate::power::footprint::Failure;
use crate::power::interrupt::Fault;
use crate::power::registers::{msr, spr};
use crate::power::state::Core;
use crate::power::step::Transaction;

/// TEXASR bit 36: a failure is recorded.
const FAILURE_SUMMARY: u64 = 1 << 27;
/// TEXASR bit 31: `tabort.` or `treclaim.` asked for it.
const ABORTED: u64 = 1 << 32;
/// TEXASR bit 37: the failure instruction address is exact.
const EXACT: u64 = 1 << 26;

impl Core {
    fn state_bits(&self) -> u32 {
        (self.msr >> 32 & 6) as u32
    }

    /// The transaction state as CR0 has it: 0, the two bits, 0.
    fn report_state(&mut self) {
        let bits = self.state_bits();
        self.set_field(0, bits);
    }

    fn set_state(&mut self, state: u64) {
        self.set_msr(self.msr & !msr::TS | state);
    }

    /// Executes `op`, which is one of these.
    pub(super) fn transact(&mut self, op: Op, w: Word) -> Result<(), Fault> {
        self.step.aborts = aborts(op);
        match op {
            Op::Treclaim | Op::Trechkpt => {
                self.privileged()?;
                self.transactions_available()?;
                return self.reclaim_or_recheckpoint(op, w);
            }
            _ => self.transactions_available()?,
        }
        let state = self.msr & msr::TS;
        self.step.transaction = Some(Transaction::Other);
        match op {
            Op::Tbegin => {
                self.report_state();
                match (&mut self.checkpoint, state) {
                    (None, _) => {
                        self.checkpoint = Some(self.new_checkpoint());
                        self.begin_footprint();
                        self.spr[usize::from(spr::TFHAR)] = self.next;
                        self.spr[usize::from(spr::TEXASR)] = 0;
                        self.set_state(msr::TS_TRANSACTIONAL);
                        self.step.transaction = Some(Transaction::Begin);
                    }
                    (Some(checkpoint), msr::TS_TRANSACTIONAL) => {
                        checkpoint.depth = checkpoint.depth.saturating_add(1);
                        self.step.transaction = Some(Transaction::NestedBegin);
                    }
                    _ => {}
                }
            }
            Op::Tend => {
                self.report_state();
                let all = w.0 & 1 << 25 != 0;
                if self.transaction_failed() {
                    // It is undone when the instruction has completed.
                } else if let (Some(checkpoint), msr::TS_TRANSACTIONAL) = (&mut self.checkpoint, state) {
                    if all || checkpoint.depth <= 1 {
                        let (instructions, cycles) = checkpoint.run;
                        self.step.passed = Some((instructions + u64::from(self.run()), cycles));
                        self.checkpoint = None;
                        self.shared.footprints.set(self.index, None);
                        self.set_state(0);
                        self.step.transaction = Some(Transaction::Commit);
                    } else {
                        checkpoint.depth -= 1;
                        self.step.transaction = Some(Transaction::NestedEnd);
                    }
                }
            }
            Op::Tcheck => {
                let doomed = self.is_doomed();
                self.set_field(w.bf(), u32::from(doomed) << 3 | self.state_bits());
            }
            Op::Tsr => {
                self.report_state();
                let resume = w.0 & 1 << 21 != 0;
                match state {
                    msr::TS_TRANSACTIONAL if !resume => {
                        self.set_state(msr::TS_SUSPENDED);
                        self.step.transaction = Some(Transaction::Suspend);
                    }
                    msr::TS_SUSPENDED if resume => {
                        self.set_state(msr::TS_TRANSACTIONAL);
                        self.step.transaction = Some(Transaction::Resume);
                    }
                    _ => {}
                }
            }
            _ => {
                self.report_state();
                if state != 0 && self.abort_wanted(op, w) {
                    self.fail(u64::from(self.gpr[w.ra()] as u8).max(1) << 56 | ABORTED);
                }
            }
        }
        Ok(())
    }

    fn abort_wanted(&self, op: Op, w: Word) -> bool {
        let a = self.gpr[w.ra()];
        let immediate = (w.rb() as u64 ^ 16).wrapping_sub(16);
        let b = match op {
            Op::Tabort => return true,
            Op::Tabortwci | Op::Tabortdci => immediate,
            _ => self.gpr[w.rb()],
        };
        let (signed, unsigned) = if matches!(op, Op::Tabortdc | Op::Tabortdci) {
            ((a as i64).cmp(&(b as i64)), a.cmp(&b))
        } else {
            ((a as i32).cmp(&(b as i32)), (a as u32).cmp(&(b as u32)))
        };
        let to = w.rt();
        let signed_hit = match signed {
            Ordering::Less => to & 16,
            Ordering::Greater => to & 8,
            Ordering::Equal => to & 4,
        };
        let unsigned_hit = match unsigned {
            Ordering::Less => to & 2,
            Ordering::Greater => to & 1,
            Ordering::Equal => 0,
        };
        signed_hit | unsigned_hit != 0
    }

    /// TEXASR and TFIAR, with HV and PR in bits 34:35 of the one and 62:63 of the other.
    fn record_failure(&mut self, why: u64) {
        let state = (self.msr >> 60 & 1) << 1 | u64::from(self.problem());
        self.spr[usize::from(spr::TEXASR)] = why | FAILURE_SUMMARY | state << 28;
        self.spr[usize::from(spr::TFIAR)] = self.pc | state;
    }

    /// Records why the transaction fails. A suspended one is undone when it is resumed, its stores at once.
    fn fail(&mut self, why: u64) {
        self.record_failure(why | EXACT);
        self.give_up_footprint();
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.doomed = true;
        }
        self.begin_footprint();
    }

    /// A doomed transaction that runs is undone: execution continues at its failure handler.
    pub(crate) fn resumed(&mut self) {
        if !self.transaction_failed() {
            return;
        }
        let Some(checkpoint) = self.checkpoint.take() else { return };
        let why = self.give_up_footprint().filter(|_| self.spr[usize::from(spr::TEXASR)] & FAILURE_SUMMARY == 0);
        if let Some(why) = why {
            self.record_failure(why.bit());
        }
        self.step.failure = why;
        self.restore(&checkpoint);
        self.set_state(0);
        self.set_field(0, 0b1010);
        self.next = self.effective(self.spr[usize::from(spr::TFHAR)] & !3);
        self.step.transaction = Some(Transaction::Abort);
    }

    fn reclaim_or_recheckpoint(&mut self, op: Op, w: Word) -> Result<(), Fault> {
        self.report_state();
        match (op, self.checkpoint.take()) {
            (Op::Treclaim, Some(checkpoint)) => {
                let why = self.give_up_footprint();
                if self.spr[usize::from(spr::TEXASR)] & FAILURE_SUMMARY == 0 {
                    let reclaimed = u64::from(self.gpr[w.ra()] as u8).max(1) << 56 | ABORTED | EXACT;
                    self.record_failure(why.map_or(reclaimed, Failure::bit));
                    self.step.failure = why;
                }
                let report = self.cr & 0xF000_0000;
                self.restore(&checkpoint);
                self.cr = self.cr & 0x0FFF_FFFF | report;
                self.set_state(0);
                self.step.transaction = Some(Transaction::Abort);
                Ok(())
            }
            (Op::Trechkpt, None) if self.spr[usize::from(spr::TEXASR)] & FAILURE_SUMMARY != 0 => {
                let mut checkpoint = self.new_checkpoint();
                checkpoint.doomed = true;
                self.checkpoint = Some(checkpoint);
                self.begin_footprint();
                self.set_state(msr::TS_SUSPENDED);
                self.step.transaction = Some(Transaction::Other);
                Ok(())
            }
            (_, checkpoint) => {
                self.checkpoint = checkpoint;
                Err(Fault::bad_thing())
            }
        }
    }
}
