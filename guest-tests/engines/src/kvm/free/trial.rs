//! Which instructions this host's KVM executes differently from a processor, found out by trying each.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kvm_bindings::{KVM_GUESTDBG_ENABLE, KVM_GUESTDBG_USE_SW_BP, kvm_guest_debug, kvm_regs, kvm_sregs};
use kvm_ioctls::VcpuExit;

use super::super::alarm::Alarm;
use super::super::host::Host;
use super::super::unchecked;
use super::registers;
use crate::x86::op::Op;
use crate::x86::{Config, EmptyBus, Image, Machine, Memory, Unobserved, selector};

/// What the engine does on this host in place of KVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// It executes these, wherever they are.
    pub(super) marked: Vec<Op>,
    /// It executes everything at level 3: there this KVM does not stop at a breakpoint.
    pub(super) user: bool,
}

/// What the engine executes on every host: RDPMC has no exit; the exits of strings do not contain how large their words are; and at IRET
/// marks come back that a handler was not to see.
const ALWAYS: [Op; 4] = [Op::Rdpmc, Op::Ins, Op::Outs, Op::Iret];
/// What else leads to level 3.
const OUTWARD: [Op; 3] = [Op::Sysret, Op::Retf, Op::Sysexit];

/// Where the instruction that is tried is.
const CODE: u64 = 0x10_0000;
/// A loop for level 0, and one for level 3: where an instruction leads.
const KERNEL: u64 = 0x11_0000;
const USER: u64 = 0x12_0000;
/// The interrupt descriptor table.
const IDT: u64 = 0x13_0000;
const STACK: u64 = 0x14_0000;
/// Up to where level 3 may access memory.
const USER_END: u64 = 0x20_0000;
/// The vector that is tried.
const VECTOR: u8 = 0x41;
/// The base that SWAPGS brings.
const OTHER_GS: u64 = 0x5000;
/// How long the vCPU may take, and in how many pieces.
const PIECE: Duration = Duration::from_millis(1);
const PIECES: u32 = 20;

/// JMP to itself.
const LOOP: [u8; 2] = [0xEB, 0xFE];

/// One instruction, where it begins and where it must lead.
struct Case {
    op: Op,
    bytes: &'static [u8],
    from: u8,
    rip: u64,
    to: u8,
}

const CASES: [Case; 6] = [
    Case { op: Op::Syscall, bytes: &[0x0F, 0x05], from: 3, rip: KERNEL, to: 0 },
    Case { op: Op::Sysret, bytes: &[0x48, 0x0F, 0x07], from: 0, rip: USER, to: 3 },
    Case { op: Op::Int, bytes: &[0xCD, VECTOR], from: 3, rip: KERNEL, to: 0 },
    Case { op: Op::Int, bytes: &[0xCD, VECTOR], from: 0, rip: KERNEL, to: 0 },
    // The others lead to the next instruction.
    Case { op: Op::Swapgs, bytes: &[0x0F, 0x01, 0xF8, 0xEB, 0xFE], from: 0, rip: CODE + 3, to: 0 },
    Case { op: Op::Clts, bytes: &[0x0F, 0x06, 0xEB, 0xFE], from: 0, rip: CODE + 2, to: 0 },
];

/// What the engine has to do on this host, or in one line why no guest can run freely. Found out once.
pub(super) fn share() -> Result<Share, String> {
    static SHARE: OnceLock<Result<Share, String>> = OnceLock::new();
    SHARE.get_or_init(try_all).clone()
}

fn try_all() -> Result<Share, String> {
    let config = Config { user: std::iter::once(0..USER_END).collect(), ..Config::default() };
    let image = Image::raw(CODE, LOOP);
    let mut machine = Machine::new(&config, &image, Arc::new(EmptyBus), |_| Unobserved).map_err(|error| error.to_string())?;
    let memory = Arc::clone(machine.memory());
    let write = |at: u64, bytes: &[u8]| memory.write_bytes(at, bytes).map_err(|error| error.to_string());
    write(KERNEL, &LOOP)?;
    write(USER, &LOOP)?;
    let gate = KERNEL & 0xFFFF | u64::from(selector::CODE) << 16 | 0xEE << 40 | (KERNEL >> 16) << 48;
    write(IDT + 16 * u64::from(VECTOR), &gate.to_le_bytes())?;
    let [kernel, user] = [0, 3].map(|level| stops(level, &mut machine, &memory));
    if !kernel? {
        return Err("this KVM does not stop at breakpoints".to_owned());
    }
    let user = !user?;
    let mut marked = ALWAYS.to_vec();
    if user {
        marked.extend(OUTWARD);
    }
    for case in CASES.iter().filter(|case| !user || case.from == 0) {
        if !marked.contains(&case.op) && !leads(case, &mut machine, &memory)? {
            marked.push(case.op);
        }
    }
    Ok(Share { marked, user })
}

/// Whether KVM stops at INT3.
fn stops(from: u8, machine: &mut Machine<Unobserved>, memory: &Arc<Memory>) -> Result<bool, String> {
    let case = Case { op: Op::Int3, bytes: &[0xCC, 0xEB, 0xFE], from, rip: KERNEL, to: 0 };
    Ok(execute(&case, machine, memory)? == Ended::Stopped)
}

/// Whether KVM executes the instruction as a processor does, or reports that it cannot.
fn leads(case: &Case, machine: &mut Machine<Unobserved>, memory: &Arc<Memory>) -> Result<bool, String> {
    Ok(execute(case, machine, memory)? != Ended::Elsewhere)
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Where it must.
    Right,
    /// KVM stopped at the instruction: at a breakpoint, or as it does not know it.
    Stopped,
    /// Somewhere else, or nowhere.
    Elsewhere,
}

/// Has KVM execute the instruction.
fn execute(case: &Case, machine: &mut Machine<Unobserved>, memory: &Arc<Memory>) -> Result<Ended, String> {
    memory.write_bytes(CODE, case.bytes).map_err(|error| error.to_string())?;
    let host = Host::new(memory)?;
    let mut vcpu = host.vcpu(0)?;
    let shows = |error| format!("KVM shows no registers: {error}");
    let (cpus, ..) = machine.parts_mut();
    let core = &mut *cpus.first_mut().ok_or_else(|| "a machine without CPUs".to_owned())?.core;
    core.msrs.star = u64::from(selector::DATA) << 48 | u64::from(selector::CODE) << 32;
    core.msrs.lstar = KERNEL;
    core.msrs.kernel_gs_base = OTHER_GS;
    registers::give_fast(core, &vcpu)?;
    unchecked::give_vectors(&vcpu, &core.xmm)?;
    let mut sregs = registers::special(core, &vcpu.get_sregs().map_err(shows)?);
    (sregs.idt.base, sregs.idt.limit) = (IDT, 0xFFF);
    if case.from == 3 {
        (sregs.cs.selector, sregs.cs.dpl) = (selector::USER_CODE, 3);
        (sregs.ss.selector, sregs.ss.dpl) = (selector::USER_DATA, 3);
    }
    let regs = kvm_regs { rip: CODE, rsp: STACK, rcx: USER, r11: 2, rflags: 2, ..kvm_regs::default() };
    vcpu.set_sregs(&sregs).map_err(|error| format!("KVM refuses registers: {error}"))?;
    vcpu.set_regs(&regs).map_err(|error| format!("KVM refuses registers: {error}"))?;
    let control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_SW_BP;
    let debug = kvm_guest_debug { control, ..kvm_guest_debug::default() };
    vcpu.set_guest_debug(&debug).map_err(|error| format!("KVM has no breakpoints: {error}"))?;
    let alarm = Alarm::of_this_thread()?;
    alarm.set(PIECE, PIECE);
    for _ in 0..PIECES {
        match vcpu.run() {
            Err(error) if error.errno() == libc::EINTR => {}
            Ok(VcpuExit::Intr) => {}
            Ok(VcpuExit::InternalError | VcpuExit::Debug(_)) => {
                let rip = vcpu.get_regs().map_err(shows)?.rip;
                return Ok(if rip == CODE { Ended::Stopped } else { Ended::Elsewhere });
            }
            _ => return Ok(Ended::Elsewhere),
        }
        let (regs, sregs) = (vcpu.get_regs().map_err(shows)?, vcpu.get_sregs().map_err(shows)?);
        if regs.rip == case.rip {
            return Ok(if is_right(case, &sregs) { Ended::Right } else { Ended::Elsewhere });
        }
    }
    Ok(Ended::Elsewhere)
}

fn is_right(case: &Case, sregs: &kvm_sregs) -> bool {
    let level = (sregs.cs.selector & 3, sregs.ss.dpl) == (case.to.into(), case.to);
    level && (case.op != Op::Swapgs || sregs.gs.base == OTHER_GS)
}
