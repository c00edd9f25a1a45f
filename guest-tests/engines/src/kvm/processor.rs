//! One vCPU of KVM as what executes the instructions of a CPU.

use std::sync::Arc;

use kvm_bindings::{KVM_GUESTDBG_ENABLE, KVM_GUESTDBG_SINGLESTEP, kvm_guest_debug, kvm_regs, kvm_sregs, kvm_vcpu_events};
use kvm_ioctls::{SyncReg, VcpuExit, VcpuFd};
use vm_pmu::arch::feed::BranchKind;

use super::able::{self, Able, VECTORS};
use super::host::Host;
use super::registers::{self, FLAGS};
use super::unchecked;
use crate::x86::alu::mask;
use crate::x86::exec::execute;
use crate::x86::executor::Executor;
use crate::x86::fault::{Fault, Stop, vector};
use crate::x86::flags::{TF, ZF};
use crate::x86::mnemonic::number;
use crate::x86::observer::Observer;
use crate::x86::op::{Decoded, Op, Repeat};
use crate::x86::saved::Shadow;
use crate::x86::state::{Core, RCX};
use crate::x86::step::Step;

/// CR4.PGE, whose change makes KVM forget its translations.
const CR4_PGE: u64 = 1 << 7;

/// The part of a CPU's state that an instruction which KVM may execute changes.
struct Before {
    gpr: [u64; 18],
    rflags: u64,
    next: u64,
    cr2: u64,
    cr3: u64,
    xmm: [u128; 16],
    context_changed: bool,
    attention: bool,
    serialised: bool,
    shadow: Shadow,
    step: Step,
}

impl Before {
    fn of(core: &Core) -> Before {
        let Core { gpr, rflags, next, cr2, cr3, xmm, context_changed, attention, serialised, shadow, step, .. } = *core;
        Before { gpr, rflags, next, cr2, cr3, xmm, context_changed, attention, serialised, shadow, step }
    }

    fn restore(&self, core: &mut Core) {
        core.gpr = self.gpr;
        core.rflags = self.rflags;
        core.next = self.next;
        core.cr2 = self.cr2;
        core.cr3 = self.cr3;
        core.xmm = self.xmm;
        core.context_changed = self.context_changed;
        core.attention = self.attention;
        core.serialised = self.serialised;
        core.shadow = self.shadow;
        core.step = self.step;
        core.repeating = false;
    }
}

/// How KVM took an instruction.
enum Taken {
    /// It stopped after it, or a string instruction with its one iteration done.
    Executed(kvm_regs),
    /// It does not know the instruction, and has done nothing.
    Unknown,
}

/// A vCPU that executes what it can of a CPU's instructions, one at a time.
#[derive(Debug)]
pub(crate) struct Processor {
    vcpu: VcpuFd,
    // Dropped after the vCPU.
    _host: Arc<Host>,
    able: Able,
    /// What KVM leaves is compared with what the engine makes of the instruction.
    compares: bool,
    /// The registers that the vCPU has; none if they are unknown, or its trap flag is.
    general: Option<kvm_regs>,
    special: kvm_sregs,
    special_known: bool,
    vectors: Option<[u128; 16]>,
    executed: u64,
}

impl Processor {
    /// The vCPU of this number, or in one line why there is none.
    pub(super) fn new(host: &Arc<Host>, number: usize, able: Able, compares: bool) -> Result<Processor, String> {
        let mut vcpu = host.vcpu(number)?;
        let special = vcpu.get_sregs().map_err(|error| format!("KVM shows no registers: {error}"))?;
        let control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP;
        let debug = kvm_guest_debug { control, ..kvm_guest_debug::default() };
        vcpu.set_guest_debug(&debug).map_err(|error| format!("KVM does not step: {error}"))?;
        vcpu.set_sync_valid_reg(SyncReg::Register);
        vcpu.set_sync_valid_reg(SyncReg::VcpuEvents);
        let host = Arc::clone(host);
        Ok(Processor { vcpu, _host: host, able, compares, general: None, special, special_known: false, vectors: None, executed: 0 })
    }

    /// Takes over the registers of a CPU of which nothing is known any more.
    pub(super) fn update(&mut self, core: &Core) {
        self.special = registers::special(core, &self.special);
        self.forget();
    }

    /// How many instructions and iterations KVM has executed.
    pub(super) fn executed(&self) -> u64 {
        self.executed
    }

    /// KVM does not get this operation any more.
    pub(super) fn leave(&mut self, op: Op, cpl: u8) {
        self.able.remove(op, cpl);
    }

    /// Executes an instruction as [`Executor::execute`] does. Where KVM did something else, returns it in one line, with the CPU as it was
    /// before.
    pub(super) fn attempt<O: Observer>(&mut self, core: &mut Core, d: &Decoded, observer: &mut O) -> Result<Result<(), Fault>, String> {
        let before = Before::of(core);
        core.rehearsal.begin();
        let foretold = execute(core, d, observer);
        core.rehearsal.end();
        if core.stop.is_some() {
            return Ok(foretold);
        }
        // A fault is the engine's to deliver. What was stored before it has to be stored.
        if core.rehearsal.device || foretold.is_err() {
            before.restore(core);
            return Ok(execute(core, d, observer));
        }
        let taken = match self.run(core, d, &before) {
            Ok(Taken::Executed(regs)) => self.take(core, d, &before, &regs).map(|()| true),
            Ok(Taken::Unknown) => Ok(false),
            Err(reason) => Err(reason),
        };
        match taken {
            Ok(true) => {
                self.executed += 1;
                Ok(Ok(()))
            }
            Ok(false) => {
                before.restore(core);
                Ok(execute(core, d, observer))
            }
            Err(reason) => {
                before.restore(core);
                Err(reason)
            }
        }
    }

    /// Whether KVM executes it.
    pub(super) fn may(&self, core: &Core, d: &Decoded) -> bool {
        // Of control registers, only CR3 has an effect that is not seen in its value.
        self.able.contains(d.op, core.cpl) && (d.op != Op::MovToCr || number(d.dst) == 3)
    }

    /// Has KVM execute one instruction on the state before it.
    fn run(&mut self, core: &Core, d: &Decoded, before: &Before) -> Result<Taken, String> {
        let mut wanted = registers::general(&before.gpr, core.rip, before.rflags);
        // One iteration, wherever KVM stops within a string instruction.
        let width = if d.address32 { 4 } else { 8 };
        if d.repeat != Repeat::No && is_string(d.op) && wanted.rcx & mask(width) != 0 {
            wanted.rcx = wanted.rcx & !mask(width) | 1;
        }
        self.load(core, before, d, &wanted)?;
        let failure = loop {
            match self.vcpu.run() {
                Ok(VcpuExit::Debug(_)) => break None,
                Ok(VcpuExit::InternalError) => {
                    self.recover()?;
                    return Ok(Taken::Unknown);
                }
                Ok(VcpuExit::Shutdown) => break Some("an exception that the engine does not foresee".to_owned()),
                Ok(other) => break Some(format!("an unexpected exit, {other:?},")),
                // A signal of the host.
                Err(error) if again(error.errno()) => {}
                Err(error) => return Err(format!("KVM does not run: {error}")),
            }
        };
        if let Some(reason) = failure {
            // The trap of the step may have gone to the guest, which has no IDT, rather than to the monitor: so do nested hosts at CPL 3.
            if self.vcpu.sync_regs().events.exception.nr != vector::DB {
                self.recover()?;
                return Err(reason);
            }
        }
        let regs = self.vcpu.sync_regs().regs;
        // POPF has taken away the flag by which KVM steps.
        self.general = (d.op != Op::Popf).then_some(regs);
        Ok(Taken::Executed(regs))
    }

    /// Gives the vCPU its state, as far as it has another.
    fn load(&mut self, core: &Core, before: &Before, d: &Decoded, wanted: &kvm_regs) -> Result<(), String> {
        let special = kvm_sregs { cr3: before.cr3, ..registers::special(core, &self.special) };
        if !self.special_known || special != self.special {
            self.vcpu.sync_regs_mut().sregs = special;
            self.vcpu.set_sync_dirty_reg(SyncReg::SystemRegister);
            self.special = special;
            self.special_known = true;
            self.general = None;
        }
        if VECTORS.contains(&d.op) && self.vectors != Some(before.xmm) {
            unchecked::give_vectors(&self.vcpu, &before.xmm)?;
            self.vectors = Some(before.xmm);
        }
        if self.general.as_ref().is_none_or(|have| have != wanted) {
            // With the flag by which KVM steps, which KVM itself sets only at the address where it stopped last.
            self.vcpu.sync_regs_mut().regs = kvm_regs { rflags: wanted.rflags | TF, ..*wanted };
            self.vcpu.set_sync_dirty_reg(SyncReg::Register);
        }
        Ok(())
    }

    /// The vCPU's registers are unknown from here on, and none of its translations is left.
    fn forget(&mut self) {
        // A CR4 other than the CPU's makes KVM forget translations when it gets the right one. What it refuses now it will refuse then.
        let other = kvm_sregs { cr4: self.special.cr4 ^ CR4_PGE, ..self.special };
        let _ = self.vcpu.set_sregs(&other);
        self.general = None;
        self.special_known = false;
        self.vectors = None;
    }

    /// The vCPU has failed: nothing of its state is known, and nothing may be pending.
    fn recover(&mut self) -> Result<(), String> {
        self.forget();
        self.vcpu.set_vcpu_events(&kvm_vcpu_events::default()).map_err(|error| format!("KVM refuses events: {error}"))
    }

    /// Takes what KVM has left into the CPU. The rehearsal has left there what only the engine knows.
    fn take(&mut self, core: &mut Core, d: &Decoded, before: &Before, regs: &kvm_regs) -> Result<(), String> {
        let foretold = core.next;
        let string = d.repeat != Repeat::No && is_string(d.op);
        if regs.rip != foretold && !(string && regs.rip == core.rip) {
            let by_data = core
                .step
                .branch
                .is_some_and(|branch| matches!(branch.kind, BranchKind::IndirectJump | BranchKind::IndirectCall | BranchKind::Return));
            // With several CPUs at once, memory may hold another target by now.
            if self.compares || !by_data {
                return Err(format!("KVM goes to {:#x} and not to {foretold:#x}", regs.rip));
            }
            core.next = regs.rip;
            core.step.branch = core.step.branch.map(|branch| crate::x86::Branch { target: regs.rip, ..branch });
        }
        let mut gpr = registers::numbered(regs);
        let rflags = regs.rflags & FLAGS | core.rflags & !FLAGS;
        if string {
            gpr[RCX] = core.gpr[RCX];
            let equal = rflags & ZF != 0;
            let ended = matches!(d.op, Op::Scas | Op::Cmps) && equal != (d.repeat == Repeat::Equal);
            let width = if d.address32 { 4 } else { 8 };
            core.repeating = before.gpr[RCX] & mask(width) != 0 && core.gpr[RCX] & mask(width) != 0 && !ended;
        }
        let xmm = if VECTORS.contains(&d.op) { Some(registers::take_vectors(&self.vcpu)?) } else { None };
        if d.op == Op::Pushf {
            self.mend_pushed(core);
        }
        if self.compares {
            compare(core, d, &gpr, rflags, xmm.as_ref())?;
        }
        core.gpr[..16].copy_from_slice(&gpr);
        // The rehearsal has already reported its changes of other flags to the engine.
        core.rflags = rflags;
        if let Some(xmm) = xmm {
            core.xmm = xmm;
            self.vectors = Some(xmm);
        }
        // What KVM has loaded itself.
        self.special.cr3 = core.cr3;
        for n in 0..core.rehearsal.stores.len() {
            let store = core.rehearsal.stores[n];
            core.step.code_written |= core.shared.memory.written(store.address, u64::from(store.size));
        }
        Ok(())
    }

    /// PUSHF stores the vCPU's flags. Those that the engine keeps have other values there: memory gets the engine's.
    fn mend_pushed(&self, core: &Core) {
        let memory = &core.shared.memory;
        let mut shift = 0;
        for store in &core.rehearsal.stores {
            let ours = !(FLAGS >> shift);
            let pushed = memory.read(store.address, usize::from(store.size));
            memory.write(store.address, usize::from(store.size), pushed & !ours | store.value as u64 & ours);
            shift += 8 * u32::from(store.size);
        }
    }
}

impl<O: Observer> Executor<O> for Processor {
    fn rehearses(&self) -> bool {
        true
    }

    fn begin(&mut self, core: &mut Core) {
        self.update(core);
    }

    fn execute(&mut self, core: &mut Core, d: &Decoded, observer: &mut O) -> Result<(), Fault> {
        if !self.may(core, d) {
            let outcome = execute(core, d, observer);
            if core.step.invalidation.is_some() {
                self.forget();
            }
            return outcome;
        }
        let rip = core.rip;
        match self.attempt(core, d, observer) {
            Ok(outcome) => outcome,
            Err(reason) => Err(core.stop(Stop::Executor { rip, reason })),
        }
    }
}

fn is_string(op: Op) -> bool {
    matches!(op, Op::Movs | Op::Stos | Op::Lods | Op::Scas | Op::Cmps)
}

/// Compares what KVM has left with what the engine made of the instruction, as far as the manuals define it.
fn compare(core: &Core, d: &Decoded, gpr: &[u64; 16], rflags: u64, xmm: Option<&[u128; 16]>) -> Result<(), String> {
    let free = able::undefined(d.op);
    let op = d.op;
    if (rflags ^ core.rflags) & !free != 0 {
        return Err(format!("KVM leaves the flags {rflags:#x} and not {:#x} ({op:?})", core.rflags));
    }
    if let Some((number, (left, right))) = gpr.iter().zip(&core.gpr).enumerate().find(|(_, (left, right))| left != right) {
        return Err(format!("KVM leaves {left:#x} and not {right:#x} in register {number} ({op:?})"));
    }
    if xmm.is_some_and(|xmm| *xmm != core.xmm) {
        return Err(format!("KVM leaves other vector registers ({op:?})"));
    }
    // The last store is the one that stays, where two are to one place.
    let mut stores = core.rehearsal.stores.iter().rev();
    if let Some(store) = stores.next() {
        let held = match store.size {
            16 => core.shared.memory.read_u128(store.address),
            size => u128::from(core.shared.memory.read(store.address, usize::from(size))),
        };
        if held != store.value {
            return Err(format!("KVM stores {held:#x} and not {:#x} ({op:?})", store.value));
        }
    }
    Ok(())
}

/// Whether an error of the host means only that a call has to be made again.
fn again(errno: i32) -> bool {
    matches!(std::io::Error::from_raw_os_error(errno).kind(), std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock)
}
