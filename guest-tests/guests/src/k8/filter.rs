//! `filter`: USR and OS.

use iced_x86::code_asm::*;

use super::{COUNTER, INSTRUCTIONS, OS, PART, USR};
use crate::runtime::{Built, Kernel, User, here};
use vm_pmu_engines::x86::Image;

/// Ring 3 executes MOV, 100 times DEC and JNZ, SYSCALL; then 7 NOPs and INT 80h. Both SYSCALL and INT start in ring 3.
const RING_3: u64 = 1 + 200 + 1 + 7 + 1;
/// 99 times JNZ taken, SYSCALL and INT 80h.
const RING_3_TAKEN: u64 = 99 + 2;

pub(super) fn build() -> Built<Image> {
    let mut user = User::new()?;
    let (mut entry, mut again) = (user.a.create_label(), user.a.create_label());
    user.routine("ring_3");
    here(&mut user.a, &mut entry)?;
    user.a.mov(ecx, 100)?;
    here(&mut user.a, &mut again)?;
    user.a.dec(ecx)?;
    user.a.jne(again)?;
    user.a.syscall()?;
    for _ in 0..7 {
        user.a.nop()?;
    }
    user.a.int(0x80)?;
    let (code, [entry]) = user.finish([entry])?;

    let mut k = Kernel::new(code)?;
    k.main()?;
    for (what, event, in_user) in
        [("instructions", INSTRUCTIONS, Some(RING_3)), ("taken branches", 0xC4, Some(RING_3_TAKEN)), ("clocks", 0x76, None)]
    {
        for n in 0..4 {
            k.wrmsr(COUNTER + n, 0)?;
        }
        PART.enable(&mut k, 3, event)?;
        PART.enable(&mut k, 0, event | USR)?;
        PART.enable(&mut k, 1, event | OS)?;
        PART.enable(&mut k, 2, event | USR | OS)?;
        k.enter_user(entry, 2)?;
        k.resume_user()?;
        PART.disable(&mut k, 2, 0)?;
        PART.disable(&mut k, 1, 0)?;
        PART.disable(&mut k, 0, 0)?;
        PART.disable(&mut k, 3, 0)?;
        k.rdmsr(COUNTER)?;
        k.a.mov(r12, rax)?;
        k.rdmsr(COUNTER + 1)?;
        k.a.mov(r13, rax)?;
        k.rdmsr(COUNTER + 2)?;
        k.a.mov(r14, rax)?;
        k.rdmsr(COUNTER + 3)?;
        k.check_is(&format!("{what} counted at no level"), rax, 0)?;
        if let Some(right) = in_user {
            k.check_is(&format!("{what} of ring 3"), r12, right)?;
        }
        // The counter of ring 0 is enabled four instructions before that of both and disabled four after: WRMSR and three MOVs.
        let more = if event == 0xC4 { 0 } else { 8 };
        k.a.add(r14, more)?;
        k.a.add(r12, r13)?;
        k.check_same(&format!("{what} of ring 3 and of ring 0 are those of both"), r12, r14)?;
    }
    k.a.ret()?;
    k.finish()
}
