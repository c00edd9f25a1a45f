//! `filter`: the levels that a counter counts.

use iced_x86::code_asm::*;

use super::{ALL, CLOCKS, COUNTER, FIXED, FIXED_CONTROL, FIXED_OS, FIXED_USR, GLOBAL_CONTROL, INSTRUCTIONS, OS, PART, USR};
use crate::runtime::{Built, Kernel, User, here};
use vm_pmu_engines::x86::Image;

/// Ring 3 executes MOV, 100 times DEC and JNZ, SYSCALL; then 7 NOPs and INT 80h. Both SYSCALL and INT start in ring 3.
const RING_3: u64 = 1 + 200 + 1 + 7 + 1;
/// 100 JNZ, SYSCALL and INT 80h.
const RING_3_BRANCHES: u64 = 100 + 2;

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
    k.wrmsr(GLOBAL_CONTROL, ALL)?;
    for (what, event, right) in [("instructions", INSTRUCTIONS, RING_3), ("clocks", CLOCKS, RING_3), ("branches", 0xC4, RING_3_BRANCHES)] {
        for (levels, own, other, seen) in [("ring 3", USR, OS, Some(right)), ("no level", 0, USR, Some(0)), ("both", USR | OS, OS, None)] {
            k.wrmsr(COUNTER, 0)?;
            k.wrmsr(COUNTER + 1, 0)?;
            PART.enable(&mut k, 0, event | own)?;
            PART.enable(&mut k, 1, event | other)?;
            k.enter_user(entry, 2)?;
            k.resume_user()?;
            PART.disable(&mut k, 1, 0)?;
            PART.disable(&mut k, 0, 0)?;
            k.rdmsr(COUNTER + 1)?;
            k.a.mov(r12, rax)?;
            k.rdmsr(COUNTER)?;
            match seen {
                Some(seen) => k.check_is(&format!("{what} of {levels}"), rax, seen)?,
                None => {
                    // The one for both is enabled four instructions earlier and disabled four later: WRMSR and three MOVs, no branches.
                    let around = if event == 0xC4 { 0 } else { 8 };
                    k.a.add(r12, (right + around) as i32)?;
                    k.check_same(&format!("{what} of both levels are those of ring 0 and of ring 3"), rax, r12)?;
                }
            }
        }
    }
    // Fixed counter 0 counts ring 3, 1 ring 0, 2 both; all are enabled and disabled at once.
    k.wrmsr(FIXED_CONTROL, FIXED_USR | FIXED_OS << 4 | (FIXED_USR | FIXED_OS) << 8)?;
    k.enter_user(entry, 2)?;
    k.resume_user()?;
    k.wrmsr(FIXED_CONTROL, 0)?;
    k.rdmsr(FIXED + 1)?;
    k.a.mov(r12, rax)?;
    k.rdmsr(FIXED + 2)?;
    k.a.mov(r13, rax)?;
    k.rdmsr(FIXED)?;
    k.check_is("IA32_FIXED_CTR0 of ring 3", rax, RING_3)?;
    k.a.add(r12, RING_3 as i32)?;
    k.check_same("IA32_FIXED_CTR2 of both levels is IA32_FIXED_CTR1 of ring 0 and the clocks of ring 3", r13, r12)?;
    k.a.ret()?;
    k.finish()
}
