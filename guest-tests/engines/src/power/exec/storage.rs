//! Cache blocks, barriers and translations (Power ISA 3.0B, Book II, 4.3 and 4.6; Book III, 5.9).

use vm_pmu::decode::power::{Barrier, Op, Touch, Word, barrier, touch};

use crate::power::footprint::BLOCK;
use crate::power::interrupt::Fault;
use crate::power::state::Core;
use crate::power::step::{Access, Touched};

impl Core {
    /// Executes `op` if it is one of these; returns whether it was.
    pub(super) fn storage(&mut self, op: Op, w: Word) -> Result<bool, Fault> {
        if let Some(why) = touch(op, w) {
            if matches!(why, Touch::Translation | Touch::LocalTranslation | Touch::Segment) {
                self.hypervisor_or_privileged(op)?;
                self.step.touched = Some(Touched { address: self.gpr[w.rb()], why });
            } else {
                let address = self.effective(self.ra_or_zero(w).wrapping_add(self.gpr[w.rb()]));
                self.step.touched = Some(Touched { address, why });
            }
            let named =
                self.step.touched.filter(|touched| !matches!(touched.why, Touch::Load | Touch::Store | Touch::Stream | Touch::Execute));
            if let Some(touched) = named.filter(|_| self.shared.footprints.are_live()) {
                let translation = matches!(why, Touch::Translation | Touch::LocalTranslation | Touch::Segment);
                self.disturbs_transactions(touched.address, translation);
            }
            return Ok(true);
        }
        match op {
            Op::Dcbz => self.zero_block(w)?,
            Op::Tlbsync | Op::Slbsync => self.privileged()?,
            _ => {
                let Some(barrier) = barrier(op, w) else { return Ok(false) };
                if barrier == Barrier::PageTable {
                    self.privileged()?;
                }
                self.step.barrier = Some(barrier);
            }
        }
        Ok(true)
    }

    /// `tlbie` may be the hypervisor's alone; the engine allows it in any privileged state, as LPCR.GTSE does.
    fn hypervisor_or_privileged(&self, op: Op) -> Result<(), Fault> {
        match op {
            Op::Tlbie | Op::Tlbiel | Op::Slbie | Op::Slbia | Op::Slbieg => self.privileged(),
            _ => Ok(()),
        }
    }

    fn zero_block(&mut self, w: Word) -> Result<(), Fault> {
        let address = self.effective(self.ra_or_zero(w).wrapping_add(self.gpr[w.rb()])) & !(BLOCK - 1);
        let real = self.translated(address, true)?;
        for at in (0..BLOCK).step_by(8) {
            self.store(address + at, 8, 0)?;
        }
        self.step.access = Some(Access { address, real, size: BLOCK as u8, store: true, reserve: false });
        Ok(())
    }
}
