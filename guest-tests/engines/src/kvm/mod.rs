//! The host's processor as what executes the guests of x86-64, through KVM.
//!
//! A machine of the interpreter keeps everything that is around a processor: RAM, local APICs, the bus, time, the reports to an
//! [`Observer`], and how CPUs take turns. Only an instruction is executed elsewhere: a vCPU gets the registers, KVM steps it by one
//! instruction through the guest's own page tables and on the guest's own RAM, and the result is the CPU's state. Between two steps that is
//! the same state as the interpreter's.
//!
//! # Who executes what
//!
//! KVM executes integer arithmetic and logic, data movement, the stack, strings, near branches, vector moves, fences and prefetches,
//! at CPL 0 and 3, and MOV to CR3 and INVLPG, so that the vCPU forgets translations when the guest says so.
//!
//! The engine itself executes
//! - what is an exit to a monitor, or would be one: RDMSR, WRMSR, IN, OUT, HLT, CPUID, RDTSC, accesses to the local APIC and other devices;
//!   and RDPMC, which has no exit;
//! - faults, interrupts, INT, IRET, SYSCALL, SYSRET and all other far transfers: the processor clears its trap flag with most of these and
//!   steps no more, and what faults is a matter of the machine's processor (40 bits of physical address, no SMEP, no alignment checks), not
//!   of the host's;
//! - what loads or shows segments, tables, control and debug registers, and CLI, STI: their interrupt shadows and the traps that MOV SS
//!   holds off concern the local APIC and the debug registers, which are the engine's;
//! - what this host's KVM does not know, or does not stop after: each operation is tried once before the first guest is executed. Where
//!   even the plainest is not executed exactly, there is no engine.
//!
//! # How a step is known
//!
//! An instruction is rehearsed first: the engine decodes it, translates, loads and computes, but stores nothing and reaches no device. That
//! yields faults, and all that a [`Step`](super::x86::Step) contains. With CPUs in turn, what KVM leaves in registers, flags and memory is
//! compared with the rehearsal, as far as the manuals define it; a difference ends the run, which reports where. With CPUs in parallel
//! there is no comparison, as another CPU may have stored in between.
//!
//! A string instruction with REP gets the count 1 for each iteration, so that an iteration is a step wherever KVM stops. The vCPU has no
//! IDT: an exception that was not foreseen ends the virtual machine rather than going on unseen.
//!
//! A guest that counts nothing but cycles may run freely: `pmulab run --engine kvm --cycles tsc`.

mod able;
mod alarm;
pub mod free;
mod host;
mod processor;
mod registers;
mod trial;
mod unchecked;

use std::sync::Arc;

use super::x86::executor::Executor;
use super::x86::op::Op;
use super::x86::{Machine, Mode, Observer};
use able::Able;
use host::Host;
use processor::Processor;

/// Whether KVM can execute guests on this host, and what the engine has to execute in addition to what it always does: the names of
/// operations that this KVM does not know, or does not stop after.
///
/// ```
/// use vm_pmu_engines::kvm;
///
/// match kvm::ready() {
///     Ok(left) => println!("KVM executes guests; the engine executes {left:?} too"),
///     Err(reason) => println!("skipped: {reason}"),
/// }
/// ```
///
/// # Errors
/// In one line, why not.
pub fn ready() -> Result<Vec<String>, String> {
    let named = |(op, cpl): (Op, u8)| format!("{op:?} at CPL {cpl}");
    let left = |able: Able| [0, 3].into_iter().flat_map(|cpl| able.missing(cpl).map(move |op| (op, cpl))).map(named).collect();
    trial::able().map(left)
}

/// Whether guests can run freely on this host, with cycles of the time-stamp counter.
///
/// # Errors
/// In one line, why not.
pub fn runs_freely() -> Result<(), String> {
    free::ready()
}

/// Has KVM execute the instructions of a machine that has not run.
///
/// # Errors
/// In one line, why KVM cannot.
pub fn execute_with_kvm<O: Observer>(machine: &mut Machine<O>) -> Result<(), String> {
    let able = trial::able()?;
    let compares = machine.mode() != Mode::Parallel;
    let mut made: Option<Arc<Host>> = None;
    machine.executed_by(|number, memory| {
        let host = match &made {
            Some(host) => Arc::clone(host),
            None => Arc::clone(made.insert(Arc::new(Host::new(memory)?))),
        };
        let executor: Box<dyn Executor<O>> = Box::new(Processor::new(&host, number, able.clone(), compares)?);
        Ok(executor)
    })
}
