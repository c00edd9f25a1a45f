//! What each operation does.

mod arith;
pub(crate) mod control;
mod operand;
pub(crate) mod segment;
mod string;
pub(crate) mod system;
mod vector;

use vm_pmu::arch::feed::BranchKind;
use vm_pmu::decode::x86::SimdClass;

use super::alu::{self, Shift};
use super::fault::{Fault, vector as exception};
use super::flags::{CF, CR0_EM, CR0_TS, CR4_OSFXSR, DF, OF};
use super::observer::{CpuView, Observer};
use super::op::{Decoded, Op};
use super::state::{Core, RAX, RBX, RCX};

/// Executes one instruction. On a fault nothing has changed except what the caller restores.
#[inline]
pub(crate) fn execute<O: Observer>(core: &mut Core, d: &Decoded, observer: &mut O) -> Result<(), Fault> {
    match d.op {
        Op::Mov => {
            let value = core.read(d, d.src, d.size)?;
            core.write(d, d.dst, d.size, value)
        }
        Op::Movzx => {
            let value = core.read(d, d.src, d.source_size)?;
            core.write(d, d.dst, d.size, value)
        }
        Op::Movsx => {
            let value = core.read(d, d.src, d.source_size)?;
            core.write(d, d.dst, d.size, alu::sign_extend(value, d.source_size))
        }
        Op::Lea => {
            let value = core.offset(d);
            core.write(d, d.dst, d.size, value)
        }
        Op::Add => core.binary(d, |a, b, _, size| alu::add(a, b, 0, size)),
        Op::Or => core.binary(d, |a, b, _, size| alu::logic(a | b, size)),
        Op::Adc => core.binary(d, alu::add),
        Op::Sbb => core.binary(d, alu::sub),
        Op::And => core.binary(d, |a, b, _, size| alu::logic(a & b, size)),
        Op::Sub => core.binary(d, |a, b, _, size| alu::sub(a, b, 0, size)),
        Op::Xor => core.binary(d, |a, b, _, size| alu::logic(a ^ b, size)),
        Op::Cmp => core.compare(d, |a, b, size| alu::sub(a, b, 0, size)),
        Op::Test => core.compare(d, |a, b, size| alu::logic(a & b, size)),
        Op::Inc => core.unary(d, alu::inc),
        Op::Dec => core.unary(d, alu::dec),
        Op::Neg => core.unary(d, |a, _, size| alu::sub(0, a, 0, size)),
        Op::Not => core.update(d, |a| (!a, ())),
        Op::Jcc => {
            let taken = alu::condition(d.code, core.rflags);
            core.jump(d, BranchKind::Conditional, taken)
        }
        Op::Jmp => core.jump(d, BranchKind::DirectJump, true),
        Op::JmpIndirect => core.jump_indirect(d),
        Op::Call | Op::CallIndirect => core.call(d),
        Op::Ret => core.ret(d),
        Op::Push => core.push_operand(d),
        Op::Pop => core.pop_operand(d),
        Op::Shl => core.shift(d, Shift::Shl),
        Op::Shr => core.shift(d, Shift::Shr),
        Op::Sar => core.shift(d, Shift::Sar),
        Op::Imul | Op::Imul3 => core.imul(d),
        Op::Cmov => {
            // The source is read, and may fault, whatever the condition.
            let value = core.read(d, d.src, d.size)?;
            let old = core.read(d, d.dst, d.size)?;
            let moved = alu::condition(d.code, core.rflags);
            core.write(d, d.dst, d.size, if moved { value } else { old })
        }
        Op::Set => core.write(d, d.dst, 1, u64::from(alu::condition(d.code, core.rflags))),
        Op::Nop | Op::Pause | Op::Fence => Ok(()),
        Op::Loop | Op::Loope | Op::Loopne | Op::Jrcxz => core.counted(d),
        Op::Movs | Op::Stos | Op::Lods | Op::Scas | Op::Cmps | Op::Ins | Op::Outs => core.string(d),
        Op::Rdpmc => {
            let ecx = core.gpr[RCX] as u32;
            let value = observer.rdpmc(ecx, &CpuView::new(core)).map_err(|_| Fault::GP0)?;
            core.set_pair(value);
            Ok(())
        }
        Op::Rdmsr => {
            core.supervisor()?;
            let msr = core.gpr[RCX] as u32;
            let value = match observer.rdmsr(msr, &CpuView::new(core)) {
                Some(answer) => answer.map_err(|_| Fault::GP0)?,
                None => core.read_msr(msr)?,
            };
            core.set_pair(value);
            Ok(())
        }
        Op::Wrmsr => {
            core.supervisor()?;
            let (msr, value) = (core.gpr[RCX] as u32, core.pair());
            match observer.wrmsr(msr, value, &CpuView::new(core)) {
                Some(answer) => answer.map_err(|_| Fault::GP0),
                None => core.write_msr(msr, value),
            }
        }
        _ => less_common(core, d),
    }
}

fn less_common(core: &mut Core, d: &Decoded) -> Result<(), Fault> {
    if d.info.facts.simd.is_some() {
        check_unit(core, d)?;
    }
    match d.op {
        Op::Rol => core.shift(d, Shift::Rol),
        Op::Ror => core.shift(d, Shift::Ror),
        Op::Rcl => core.shift(d, Shift::Rcl),
        Op::Rcr => core.shift(d, Shift::Rcr),
        Op::Shld => core.double_shift(d, true),
        Op::Shrd => core.double_shift(d, false),
        Op::Mul => core.multiply(d, alu::mul),
        Op::ImulOne => core.multiply(d, alu::imul),
        Op::Div => core.divide(d, alu::div),
        Op::Idiv => core.divide(d, alu::idiv),
        Op::Andn => core.andn(d),
        Op::Bt | Op::Bts | Op::Btr | Op::Btc => core.bit_test(d),
        Op::Bsf | Op::Bsr => core.bit_scan(d),
        Op::Popcnt | Op::Lzcnt | Op::Tzcnt => core.bit_count(d),
        Op::Xadd => core.xadd(d),
        Op::Cmpxchg => core.cmpxchg(d),
        Op::Cmpxchg8b | Op::Cmpxchg16b => core.cmpxchg_pair(d),
        Op::Xchg => {
            let new = core.read(d, d.src, d.size)?;
            let old = core.update(d, |a| (new, a))?;
            core.write(d, d.src, d.size, old)
        }
        Op::Bswap => core.update(d, |a| {
            // Of 16 bits the result is undefined; processors give zero.
            let swapped = match d.size {
                8 => a.swap_bytes(),
                4 => u64::from((a as u32).swap_bytes()),
                _ => 0,
            };
            (swapped, ())
        }),
        Op::Movbe => {
            let value = core.read(d, d.src, d.size)?;
            let swapped = value.swap_bytes() >> (64 - 8 * u32::from(d.size));
            core.write(d, d.dst, d.size, swapped)
        }
        Op::Movnti => {
            let value = core.read(d, d.src, d.size)?;
            core.write(d, d.dst, d.size, value)
        }
        Op::Xlat => {
            let base = core.gpr[RBX].wrapping_add(core.gpr[RAX] & 0xff);
            let base = if d.address32 { base & 0xffff_ffff } else { base };
            let va = base.wrapping_add(core.bases[usize::from(d.segment) % 3]);
            let value = core.load(va, 1)?;
            core.set_gpr(RAX as u8, 1, value);
            Ok(())
        }
        Op::Cbw => {
            core.widen(d);
            Ok(())
        }
        Op::Cwd => {
            core.sign_to_rdx(d);
            Ok(())
        }
        Op::Lahf => {
            core.lahf();
            Ok(())
        }
        Op::Sahf => {
            core.sahf();
            Ok(())
        }
        Op::Clc => {
            core.rflags &= !CF;
            Ok(())
        }
        Op::Stc => {
            core.rflags |= CF;
            Ok(())
        }
        Op::Cmc => {
            core.rflags ^= CF;
            Ok(())
        }
        Op::Cld => {
            core.rflags &= !DF;
            Ok(())
        }
        Op::Std => {
            core.rflags |= DF;
            Ok(())
        }
        Op::Pushf => core.pushf(d),
        Op::Popf => core.popf(d),
        Op::Leave => core.leave(d),
        Op::Enter => core.enter(d),
        Op::JmpFar | Op::CallFar => core.far_jump(d),
        Op::Retf => core.far_return(d),
        Op::Iret => core.iret(d),
        Op::Int => core.software_interrupt(d.immediate as u8),
        Op::Int3 => core.software_interrupt(exception::BP),
        Op::Into if core.rflags & OF != 0 => core.software_interrupt(exception::OF),
        Op::Into => Ok(()),
        Op::Ud => Err(Fault::UD),
        Op::UnitNop => Ok(()),
        Op::Syscall => core.syscall(),
        Op::Sysret => core.sysret(d),
        Op::Sysenter => core.sysenter(),
        Op::Sysexit => core.sysexit(d),
        _ => system(core, d),
    }
}

fn system(core: &mut Core, d: &Decoded) -> Result<(), Fault> {
    match d.op {
        Op::Hlt => core.hlt(),
        Op::Cli => core.cli(),
        Op::Sti => core.sti(),
        Op::Clts | Op::Lmsw | Op::Smsw => core.machine_status(d),
        Op::Invlpg | Op::Wbinvd => core.invalidate(d),
        Op::Swapgs => core.swapgs(),
        Op::Cpuid => {
            core.cpuid();
            Ok(())
        }
        Op::Rdtsc | Op::Rdtscp => core.rdtsc(d),
        Op::Rdpid => core.write(d, d.dst, d.size, core.msrs.tsc_aux),
        Op::In | Op::Out => core.port(d),
        Op::Lgdt | Op::Lidt | Op::Sgdt | Op::Sidt => core.table_register(d),
        Op::Lldt | Op::Ltr => core.load_system_segment(d),
        Op::Sldt | Op::Str => core.store_system_segment(d),
        Op::MovToCr => core.write_control(d),
        Op::MovFromCr => core.read_control(d),
        Op::MovToDr | Op::MovFromDr => core.debug_register(d),
        Op::MovToSeg | Op::PopSeg => core.move_to_segment(d),
        Op::MovFromSeg | Op::PushSeg => core.move_from_segment(d),
        Op::Rdfsbase | Op::Rdgsbase | Op::Wrfsbase | Op::Wrgsbase => core.segment_base(d),
        Op::Prefetch => {
            core.prefetch(d);
            Ok(())
        }
        Op::Clflush => core.clflush(d),
        Op::MovX | Op::MovXLow | Op::MovXToGpr | Op::MovXFromGpr | Op::XorX => core.vector_move(d),
        _ => {
            let rip = core.rip;
            Err(core.unsupported(rip, d.info.length))
        }
    }
}

// CR0.EM, CR0.TS and CR4.OSFXSR. WAIT, which depends on MP and TS only, is treated as FNOP.
fn check_unit(core: &Core, d: &Decoded) -> Result<(), Fault> {
    let emulated = core.cr0 & CR0_EM != 0;
    match d.info.facts.simd {
        Some(SimdClass::PackedSse | SimdClass::ScalarSse) if emulated || core.cr4 & CR4_OSFXSR == 0 => Err(Fault::UD),
        Some(SimdClass::Mmx) if emulated => Err(Fault::UD),
        Some(SimdClass::X87) if emulated => Err(Fault::without(exception::NM)),
        _ if core.cr0 & CR0_TS != 0 => Err(Fault::without(exception::NM)),
        _ => Ok(()),
    }
}
