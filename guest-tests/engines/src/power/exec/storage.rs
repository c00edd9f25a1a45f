//! Cache blocks, barriers and translations (Power ISA 3.0B, Book II, 4.3 and 4.6; Book III, 5.9).

use crate::power::footprint::BLOCK;
use crate::power::interrupt::Fault;
use crate::power::op::Op;
use crate::power::state::Core;
use crate::power::step::{Access, Barrier, Class, Touch, Touched};
use crate::power::word::Word;

impl Core {
    /// Executes `op` if it is one of these; returns whether it was.
    pub(super) fn storage(&mut self, op: Op, w: Word) -> Result<bool, Fault> {
        if let Some(why) = touch(op, w) {
            if matches!(why, Touch::Translation | Touch::LocalTranslation | Touch::Segment) {
                self.hypervisor_or_privileged(op)?;
                self.class(Class::System);
                self.step.touched = Some(Touched { address: self.gpr[w.rb()], why });
            } else {
                self.class(Class::Cache);
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
        let barrier = match op {
            Op::Sync => match w.0 >> 21 & 3 {
                0 => Barrier::Heavyweight,
                1 => Barrier::Lightweight,
                _ => {
                    self.privileged()?;
                    Barrier::PageTable
                }
            },
            Op::Eieio => Barrier::Eieio,
            Op::Isync => Barrier::Instruction,
            Op::Dcbz => {
                self.zero_block(w)?;
                return Ok(true);
            }
            Op::Tlbsync | Op::Slbsync => {
                self.privileged()?;
                self.class(Class::System);
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.class(Class::Synchronize);
        self.step.barrier = Some(barrier);
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
        self.class(Class::Store);
        self.step.access = Some(Access { address, real, size: BLOCK as u8, store: true, reserve: false });
        Ok(())
    }
}

/// The values of TH that describe or control a stream (Book II, 4.3.2).
const STREAMS: [usize; 3] = [0b01000, 0b01010, 0b01011];

/// Why an instruction names a cache block or a translation, if it does.
pub(crate) fn touch(op: Op, w: Word) -> Option<Touch> {
    Some(match op {
        Op::Dcbt | Op::Dcbtst if STREAMS.contains(&w.rt()) => Touch::Stream,
        Op::Dcbt => Touch::Load,
        Op::Dcbtst => Touch::Store,
        Op::Icbt => Touch::Execute,
        Op::Dcbf | Op::Dcbst => Touch::Flush,
        Op::Icbi => Touch::InstructionBlock,
        Op::Tlbie => Touch::Translation,
        Op::Tlbiel => Touch::LocalTranslation,
        Op::Slbie | Op::Slbia | Op::Slbieg => Touch::Segment,
        _ => return None,
    })
}
