//! CPUs that do what CPU 0 asks of them, one task after the other.

use iced_x86::code_asm::*;

use crate::runtime::{Built, Kernel, here};

/// A CPU that CPU 0 asks, and the two lines by which they communicate.
#[derive(Clone, Copy)]
pub(super) struct Helper {
    /// Its number.
    pub(super) cpu: i32,
    asked: u64,
    done: u64,
}

impl Helper {
    /// CPU `cpu`.
    pub(super) fn new(k: &mut Kernel, cpu: i32) -> Helper {
        Helper { cpu, asked: k.reserve(64), done: k.reserve(64) }
    }

    /// CPU 0 asks for task `number` of the helper, from 1 up in order, and waits until it is done.
    pub(super) fn ask(self, k: &mut Kernel, number: i32) -> Built<()> {
        k.a.mov(qword_ptr(self.asked), number)?;
        wait(&mut k.a, self.done, number)
    }

    /// The helper waits for task `number`, and does `work`.
    pub(super) fn answer(self, k: &mut Kernel, number: i32, work: impl FnOnce(&mut Kernel) -> Built<()>) -> Built<()> {
        wait(&mut k.a, self.asked, number)?;
        work(k)?;
        k.a.mov(qword_ptr(self.done), number)
    }
}

fn wait(a: &mut CodeAssembler, place: u64, number: i32) -> Built<()> {
    let mut again = a.create_label();
    here(a, &mut again)?;
    a.pause()?;
    a.cmp(qword_ptr(place), number)?;
    a.jne(again)
}

/// Distributes the CPUs: CPU 0 continues here, a helper at its label, every other one returns to where it halts. RBP holds the CPU's
/// number.
pub(super) fn part(k: &mut Kernel, helpers: &[(Helper, CodeLabel)]) -> Built<()> {
    let mut first = k.a.create_label();
    k.a.test(rbp, rbp)?;
    k.a.je(first)?;
    for (helper, label) in helpers {
        k.a.cmp(rbp, helper.cpu)?;
        k.a.je(*label)?;
    }
    k.a.ret()?;
    here(&mut k.a, &mut first)
}
