//! Which operations this host's KVM executes as the engine needs it, found out by trying each.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use iced_x86::IcedError;
use iced_x86::code_asm::*;

use super::able::{Able, NEEDED};
use super::host::Host;
use super::processor::Processor;
use crate::x86::exec::execute;
use crate::x86::executor::Executor;
use crate::x86::fault::Fault;
use crate::x86::observer::Observer;
use crate::x86::op::{Decoded, Op};
use crate::x86::state::Core;
use crate::x86::{Config, EmptyBus, Exit, Image, Limits, Machine, Unobserved, selector};

const CODE: u64 = 0x10_0000;
const DATA: u64 = 0x20_0000;
const STACK: u64 = 0x30_0000;
/// Up to where CPL 3 may access memory.
const USER_END: u64 = 0x40_0000;
/// Flags at CPL 3: IOPL 3, to end from there.
const USER_FLAGS: i32 = 0x3002;
/// The port a guest ends at, and with what.
const EXIT: u32 = 0xF4;
const STEPS: u64 = 10_000;

/// What KVM executes exactly on this host, or in one line why it cannot be the engine of a guest. Found out once.
pub(super) fn able() -> Result<Able, String> {
    static ABLE: OnceLock<Result<Able, String>> = OnceLock::new();
    ABLE.get_or_init(try_all).clone()
}

fn try_all() -> Result<Able, String> {
    let program = program().map_err(|error| format!("the trial of KVM does not assemble: {error}"))?;
    let image = Image::raw(CODE, program);
    let found = Arc::new(Mutex::new(Found::default()));
    let config = Config { user: std::iter::once(0..USER_END).collect(), ..Config::default() };
    let mut machine = Machine::new(&config, &image, Arc::new(EmptyBus), |_| Unobserved).map_err(|error| error.to_string())?;
    machine.executed_by(|number, memory| {
        let host = Arc::new(Host::new(memory)?);
        let processor = Processor::new(&host, number, Able::offered(), true)?;
        let executor: Box<dyn Executor<Unobserved>> = Box::new(Trial { processor, found: Arc::clone(&found) });
        Ok::<_, String>(executor)
    })?;
    let exit = machine.run(Limits::steps(STEPS));
    if exit != (Exit::Status { cpu: 0, status: 0 }) {
        return Err(format!("the trial of KVM ends otherwise than it should: {exit}"));
    }
    let found = found.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((op, cpl, reason)) = found.refused.iter().find(|(op, ..)| NEEDED.contains(op)) {
        return Err(format!("this KVM does not stop after every instruction, as it must: {op:?} at CPL {cpl}: {reason}"));
    }
    let mut able = Able::offered();
    found.refused.iter().for_each(|(op, cpl, _)| able.remove(*op, *cpl));
    able.retain(&found.tried);
    Ok(able)
}

/// What a trial found.
#[derive(Default)]
struct Found {
    tried: Vec<(Op, u8)>,
    refused: Vec<(Op, u8, String)>,
}

/// Has KVM execute what it can, and takes note of what it cannot.
struct Trial {
    processor: Processor,
    found: Arc<Mutex<Found>>,
}

impl<O: Observer> Executor<O> for Trial {
    fn rehearses(&self) -> bool {
        true
    }

    fn begin(&mut self, core: &mut Core) {
        self.processor.update(core);
    }

    fn execute(&mut self, core: &mut Core, d: &Decoded, observer: &mut O) -> Result<(), Fault> {
        if !self.processor.may(core, d) {
            return execute(core, d, observer);
        }
        let cpl = core.cpl;
        let before = self.processor.executed();
        let outcome = self.processor.attempt(core, d, observer);
        let refused = match &outcome {
            Ok(_) if self.processor.executed() > before => None,
            Ok(_) => Some("it does not know the instruction".to_owned()),
            Err(reason) => Some(reason.clone()),
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.tried.push((d.op, cpl));
        if let Some(reason) = refused {
            self.processor.leave(d.op, cpl);
            found.refused.push((d.op, cpl, reason));
        }
        drop(found);
        outcome.unwrap_or_else(|_| execute(core, d, observer))
    }
}

/// Code in which every operation occurs at CPL 0 and at CPL 3, each followed by one that stops wherever anything does.
fn program() -> Result<Vec<u8>, IcedError> {
    let mut a = CodeAssembler::new(64)?;
    // Vectors are on.
    a.mov(rax, cr4)?;
    a.or(eax, 0x200)?;
    a.mov(cr4, rax)?;
    a.mov(rax, cr3)?;
    a.mov(cr3, rax)?;
    a.nop()?;
    a.invlpg(byte_ptr(DATA))?;
    a.nop()?;
    operations(&mut a)?;
    let mut user = a.create_label();
    a.push(i32::from(selector::USER_DATA))?;
    a.push(STACK as i32)?;
    a.push(USER_FLAGS)?;
    a.push(i32::from(selector::USER_CODE))?;
    a.lea(rax, ptr(user))?;
    a.push(rax)?;
    a.iretq()?;
    a.set_label(&mut user)?;
    operations(&mut a)?;
    a.xor(eax, eax)?;
    a.out(EXIT, al)?;
    a.assemble(CODE)
}

/// Every operation that all levels have.
fn operations(a: &mut CodeAssembler) -> Result<(), IcedError> {
    let data = qword_ptr(DATA);
    macro_rules! each {
        ($($method:ident ( $($argument:expr),* );)*) => { $( a.$method($($argument),*)?; a.nop()?; )* };
    }
    each! {
        mov(rax, 0x1234_5678_9abc_def0u64); mov(data, rax); mov(rbx, data); mov(rsi, DATA); mov(rdi, DATA + 0x100);
        movzx(ecx, al); movsx(rdx, bx); lea(r8, qword_ptr(rsi + rdi * 2 + 5)); xchg(rax, rbx); xchg(data, rax);
        push(rax); pop(r9); push(data); pop(qword_ptr(DATA + 8)); pushfq(); popfq(); lahf(); sahf(); cmovz(rax, rbx); setz(cl);
        bswap(rax); movbe(rcx, data); xadd(data, rax); cmpxchg(data, rbx); cmpxchg8b(data); cmpxchg16b(xmmword_ptr(DATA));
        cbw(); cwde(); cdqe(); cqo(); mov(rbx, DATA); xlatb(); movnti(data, rax);
        add(rax, rbx); add(data, rax); or(rax, 1); adc(rax, 3); sbb(rax, 5); and(rax, rbx); sub(rax, 7); xor(rax, rbx); cmp(rax, rbx);
        test(rax, rax); inc(rax); dec(rax); neg(rax); not(rax); andn(rax, rbx, rsi);
        mov(rax, 1000u64); mov(rdx, 0u64); mov(rcx, 7u64); mul(rcx); div(rcx); imul(rcx); imul_2(rax, rcx); imul_3(rax, rcx, 9);
        mov(rax, 1000u64); mov(rdx, 0u64); idiv(rcx);
        shl(rax, 3); shr(rax, cl); sar(rax, 1); rol(rax, 5); ror(rax, 1); rcl(rax, 1); rcr(rax, 3); shld(rax, rbx, 4); shrd(rax, rbx, cl);
        bt(rax, 3); bts(rax, 4); btr(data, 5); btc(rax, 6); bsf(rax, rsi); bsr(rax, rsi); popcnt(rax, rsi); lzcnt(rax, rsi);
        tzcnt(rax, rsi); stc(); cmc(); clc(); std(); cld();
    }
    let mut next = a.create_label();
    macro_rules! to {
        ($($jump:ident),*) => { $(
            a.$jump(next)?;
            a.nop()?;
            a.set_label(&mut next)?;
            a.nop()?;
            next = a.create_label();
        )* };
    }
    each! { mov(rcx, 3u64); cmp(rcx, 3); }
    to! { je, jne, jmp, loop_, loope, loopne, jrcxz }
    let mut routine = a.create_label();
    let mut behind = a.create_label();
    a.jmp(behind)?;
    a.set_label(&mut routine)?;
    each! { enter(16, 0); leave(); ret(); }
    a.set_label(&mut behind)?;
    a.call(routine)?;
    a.nop()?;
    a.lea(rax, ptr(routine))?;
    each! { call(rax); }
    a.lea(rax, ptr(next))?;
    a.jmp(rax)?;
    a.set_label(&mut next)?;
    each! { movsq(); lodsq(); stosq(); scasq(); cmpsq(); mov(rcx, 3u64); }
    a.rep().movsq()?;
    each! { mov(rcx, 3u64); }
    a.repe().cmpsb()?;
    each! {
        nop(); fnop(); emms(); pause(); lfence(); mfence(); sfence(); prefetcht0(byte_ptr(DATA));
        prefetchnta(byte_ptr(DATA)); prefetchw(byte_ptr(DATA)); clflush(byte_ptr(DATA));
        movaps(xmm0, xmmword_ptr(DATA)); movups(xmmword_ptr(DATA + 1), xmm0); movdqa(xmm1, xmm0); movq(xmm2, rsi); movq(rax, xmm2);
        movq(xmm3, xmm2); pxor(xmm1, xmm0); xorps(xmm2, xmm0); movntdq(xmmword_ptr(DATA), xmm1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::able::Able;
    use super::*;
    use crate::x86::decode::{Outcome, decode};

    /// The operations of the program, with the level each is executed at.
    fn tried() -> Vec<(Op, u8)> {
        let program = program().expect("it assembles");
        let (mut at, mut cpl, mut tried) = (0, 0, Vec::new());
        while at < program.len() {
            let Outcome::Instruction(d) = decode(&program[at..], CODE + at as u64) else { panic!("no instruction at {at:#x}") };
            tried.push((d.op, cpl));
            cpl = if d.op == Op::Iret { 3 } else { cpl };
            at += usize::from(d.info.length);
        }
        tried
    }

    #[test]
    fn every_operation_that_kvm_is_offered_is_tried_at_its_levels() {
        let mut able = Able::offered();
        able.retain(&tried());
        let untried: Vec<_> = [0, 3].into_iter().flat_map(|cpl| able.missing(cpl).map(move |op| (op, cpl))).collect();
        assert!(untried.is_empty(), "{untried:?}");
    }
}
