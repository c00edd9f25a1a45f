//! Majors 0 and 1 of M slots, and moves of application registers.

use vm_pmu::companion::Class;

use super::{List, Name};
use crate::ia64::registers::{ar, cr};

const RSC: Name = Name::Application(ar::RSC);
const BSP: Name = Name::Application(ar::BSP);
const BSPSTORE: Name = Name::Application(ar::BSPSTORE);
const RNAT: Name = Name::Application(ar::RNAT);

impl List<'_> {
    /// Majors 0 and 1 of M slots.
    pub(super) fn system(&mut self) {
        let w = self.w;
        match (w.major(), w.x3()) {
            (0, 0) => self.system_0(),
            (1, 0) => self.system_1(),
            // chk.s; chk.a looks up the name of its register alone.
            (1, 1) => self.reads(&[Name::General(w.r2())]),
            (1, 3) => self.reads(&[Name::Floating(w.r2())]),
            (1, 6) => self.allocate(),
            _ => {}
        }
    }

    fn system_0(&mut self) {
        let w = self.w;
        match (w.bits(27, 4), w.bits(31, 2)) {
            (0 | 1, 0) => self.is(Class::Nop, 0),
            // invala
            (0 | 2 | 3, 1) => self.is(Class::System, 0),
            // fwb, mf, mf.a; srlz.d and sync.i
            (0 | 2 | 3, 2) | (0 | 3, 3) => self.is(Class::Fence, 0),
            // srlz.i
            (1, 3) => self.is(Class::Serializing, 0),
            (8, 2) => self.writes_application(&[]),
            // loadrs
            (0xA, 0) => {
                self.is(Class::System, 0);
                self.reads(&[RSC, BSP, RNAT]);
                self.writes(&[BSPSTORE, RNAT]);
            }
            // flushrs
            (0xC, 0) => {
                self.is(Class::System, 0);
                self.reads(&[RSC, BSP, BSPSTORE, RNAT]);
                self.writes(&[BSPSTORE, RNAT]);
            }
            // sum, rum, ssm and rsm keep the other bits.
            (4..=7, _) => {
                self.is(Class::System, 0);
                self.reads(&[Name::Status]);
                self.writes(&[Name::Status]);
            }
            _ => {}
        }
    }

    fn system_1(&mut self) {
        let w = self.w;
        let (r2, r3) = (Name::General(w.r2()), Name::General(w.r3()));
        let inserted = [Name::Control(cr::IFA), Name::Control(cr::ITIR)];
        self.is(Class::System, 8);
        match w.x6() {
            // Registers that r3 names, and ptc and ptr.
            0x00..=0x06 | 0x09..=0x0D => self.reads(&[r3, r2]),
            0x34 => self.reads(&[r3]),
            0x10..=0x17 => {
                self.reads(&[r3]);
                self.result();
            }
            // itr and itc
            0x0E | 0x0F => {
                self.reads(&[r3, r2]);
                self.reads(&inserted);
            }
            0x2E | 0x2F => {
                self.reads(&[r2]);
                self.reads(&inserted);
            }
            // probe, with a level in r2 or in the instruction, and its forms that fault
            0x38 | 0x39 => {
                self.address();
                self.reads(&[r2]);
                self.result();
            }
            0x18 | 0x19 => {
                self.address();
                self.result();
            }
            0x31..=0x33 => self.address(),
            // thash and ttag
            0x1A => {
                self.reads(&[r3, Name::Control(cr::PTA)]);
                self.result();
            }
            0x1B => {
                self.reads(&[r3]);
                self.result();
            }
            // tpa and tak
            0x1E | 0x1F => {
                self.address();
                self.result();
            }
            0x21 | 0x25 => {
                self.reads(&[Name::Status]);
                self.result();
            }
            0x22 => self.reads_application(),
            0x24 => {
                self.reads(&[Name::Control(w.r3())]);
                self.result();
            }
            // Moves to the user mask and to psr.l keep the other bits.
            0x29 | 0x2D => {
                self.reads(&[r2, Name::Status]);
                self.writes(&[Name::Status]);
            }
            0x2A => self.writes_application(&[r2]),
            0x2C => {
                self.reads(&[r2]);
                self.writes(&[Name::Control(w.r3())]);
            }
            // fc
            0x30 => {
                self.is(Class::System, 0);
                self.address();
            }
            _ => self.is(Class::Simple, 0),
        }
    }

    fn allocate(&mut self) {
        self.is(Class::System, 8);
        self.reads(&[Name::Application(ar::PFS), RSC, BSPSTORE, RNAT]);
        self.result();
        if !self.step.register_stack.is_empty() {
            self.writes(&[BSPSTORE, RNAT]);
        }
    }

    /// RSC rules accesses to BSPSTORE and RNAT.
    fn rule(&mut self, number: usize) {
        if matches!(number, ar::BSPSTORE | ar::RNAT) {
            self.reads(&[RSC]);
        }
    }

    /// `mov r1=ar3`, in M and I slots.
    pub(super) fn reads_application(&mut self) {
        let number = self.w.r3();
        self.is(Class::System, 8);
        self.rule(number);
        self.reads(&[Name::Application(number)]);
        self.result();
    }

    /// A move of `sources`, or of a number, to ar3, in M and I slots.
    pub(super) fn writes_application(&mut self, sources: &[Name]) {
        let number = self.w.r3();
        self.is(Class::System, 8);
        self.rule(number);
        self.reads(sources);
        self.writes(&[Name::Application(number)]);
        if number == ar::BSPSTORE {
            self.writes(&[BSP, RNAT]);
        }
    }
}
