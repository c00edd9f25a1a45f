//! A deterministic interpreter of IA-64 for bare-metal guests: the instructions that drivers of a performance monitor and their tests
//! use, on a Montecito (CPUID family 20h), without address translation.
//!
//! [`Machine`] runs an [`Image`] on up to four cores of one or two threads that share memory; an [`Observer`] per thread is notified of
//! every instruction and takes the place of the performance monitor. A bundle takes one cycle unless the observer returns another number,
//! so a run is the same on every host.
//!
//! # Attaching a performance monitor
//!
//! An emulator with a model of one implements [`Observer`] for a type that holds the model's thread, and makes the machine with one
//! observer per thread. The engine knows no performance monitor register. The observer gets these calls:
//!
//! | when | call | what it does |
//! | --- | --- | --- |
//! | `mov` from and to PMC and PMD | [`read_pmc`](Observer::read_pmc), [`write_pmc`](Observer::write_pmc), [`read_pmd`](Observer::read_pmd), [`write_pmd`](Observer::write_pmd) | it accepts or refuses every index; privilege and NaTs have been checked, but which PMDs a level may read is its decision |
//! | an instruction retired | [`retire`](Observer::retire) | adds what [`Step`] says to its totals, services the model at deadlines; the return value may contain how many cycles it took, or that it missed the third-level cache |
//! | an interruption is taken, a procedure of the firmware ran | [`notice`](Observer::notice) | the same for [`Notice`] |
//! | PSR, DCR, an IBR or a DBR changed, the thread halted or woke | [`context`](Observer::context) | passes the new context to the model, read from [`CpuView`] |
//! | the threads of a core change places | [`switched`](Observer::switched), on both | reports to the model which thread is in the foreground, and why |
//! | before every instruction of the core | [`interrupt`](Observer::interrupt), on both threads | returns whether an interrupt was raised since: an edge |
//! | cycles elapse without an instruction | [`stalled`](Observer::stalled), [`waited`](Observer::waited), [`wait_deadline`](Observer::wait_deadline) | adds the cycles |
//!
//! The order is: the register hook, `retire`, `context` if something changed, `interrupt`, the next instruction. So a step belongs to
//! the context it started in. An instruction that a fault keeps from completing is no step; `break` is a fault.
//!
//! ```
//! use vm_pmu_engines::ia64::assemble::{Assembler, R0, R14, R15, mov_from_pmd, mov_imm, st1};
//! use vm_pmu_engines::ia64::{Alerts, Config, CpuView, EXIT, Image, Limits, Machine, Observer, RegisterFault, Step};
//!
//! /// One counter, PMD4: instructions that are no no-operations.
//! #[derive(Default)]
//! struct Monitor {
//!     count: u64,
//! }
//!
//! impl Observer for Monitor {
//!     fn read_pmd(&mut self, index: u8, _: &CpuView<'_>) -> Result<u64, RegisterFault> {
//!         Ok(if index == 4 { self.count } else { 0 })
//!     }
//!
//!     fn retire(&mut self, step: &Step, _: &CpuView<'_>) -> Alerts {
//!         self.count += u64::from(!step.nop);
//!         Alerts::NONE
//!     }
//! }
//!
//! let mut a = Assembler::new(0x1000);
//! a.put(mov_imm(R14, 4));
//! a.put(mov_from_pmd(R15, R14));
//! a.load(R14, EXIT);
//! a.put(st1(R14, R0));
//! let image = Image::raw(0x1000, a.finish().unwrap());
//! let mut machine = Machine::new(&Config::default(), &image, |_| Monitor::default()).unwrap();
//! machine.run(Limits::steps(100));
//! assert_eq!(machine.cpu(0).unwrap().gr(15), (1, false));
//! ```
//!
//! # Bundles
//!
//! Slots execute in order, and each sees what the one before it did: code that keeps the architecture's rules about issue groups sees no
//! difference. Stops end the group of a `hint @pause`, and are reported to the observer. A bundle is fetched from memory whenever it is
//! entered, so a store to code takes effect from the next bundle on. External interrupts are taken before a bundle, or at the slot that
//! something returned to; faults and traps at any slot. A long instruction is one instruction, in slot 1, with the 41 bits of slot 2 as its
//! encoding.
//!
//! # Instructions
//!
//! All A-type instructions except saturating, averaging and shifting parallel ones; all I-type ones except parallel shifts,
//! multiplications, minima, maxima, packs and sums; loads and stores of every size and form, semaphores, 16-byte accesses, `lfetch`;
//! `setf`, `getf`; the register stack; moves of all registers; breakpoints; all branches except `br.ia`, which faults as if PSR.di were
//! set; `fma` and its like, `xma`, compares, classes, conversions, merges, logic, `frcpa`, `frsqrta`. `probe` finds every address
//! accessible that has memory; `ptc`, `ptr`, `itr` and `itc` are checked and do nothing. All other instructions of the architecture, among
//! them `thash`, `ttag`, `tak` and parallel floating point except `fpma`, end the run with [`Exit::Unimplemented`]. Reserved encodings and
//! templates, and `vmsw`, are illegal operation faults.
//!
//! # Registers and memory
//!
//! - A physical address is the virtual one without its upper three bits, whatever PSR.dt, it and rt are. An access outside memory is an
//!   alternate data or instruction TLB fault; with PSR.ic=0 a data access is a data nested TLB fault. Nothing is protected by privilege.
//! - An unaligned access faults if it leaves its 64-byte line, if PSR.ac=1, or if it is a semaphore. PSR.be swaps data, but not what the
//!   register stack engine moves.
//! - The register stack engine stores and loads only what an instruction needs it to: `alloc`, `br.call` and `cover` never store more
//!   than the new frame has no room for, and what is in the file is not loaded again. RSC.mode is kept.
//! - The ALAT has 32 entries. A store of any thread drops those it overlaps.
//! - Speculative loads are deferred whatever fault they meet, DCR notwithstanding, and by PSR.ed.
//! - Floating-point registers have their 82 bits, which loads, stores, `setf`, `getf`, `xma` and logic keep. Arithmetic is that of doubles,
//!   rounded to nearest; `.s` forms round once more. No floating-point fault or trap is raised, no flag set; FPSR is what software writes. Tiny results
//!   of forms that name their precision become zero where FPSR asks for it.
//! - Reading a register outside the frame gives 0.
//!
//! # Interruptions
//!
//! The vectors are those of [`registers::vector`]. PSR afterwards, and what the interruption registers get, are the architecture's; an
//! access to them while PSR.ic is 1 is an illegal operation. The local interrupt controller has LID, IVR, TPR, EOI, IRR0 to 3, ITV, PMV,
//! CMCV and LRR0 and 1, of which the last three do nothing; there are no interrupts between threads. ar.itc counts cycles of the core.
//! When it meets cr.itm, ITV's vector becomes pending, and PMV's when the performance monitor interrupts, unless the mask bit is set; in
//! that case the event is lost.
//!
//! # Threads
//!
//! One thread of a core is in the foreground and runs. The threads change places when
//!
//! - it executes `hint @pause`, at the end of the issue group or bundle;
//! - it has been there for [`Config::quantum`] cycles; if it did not wait for data then, its urgency becomes 7;
//! - it halts, or the other one wakes while both are halted;
//! - the observer reports that an instruction missed the third-level cache, which takes 1 from the thread's urgency, and this is below the
//!   other's; and when the data of the thread in the background arrives, which adds 1 up to 5, and its urgency is above the other's.
//!
//! A thread that waits for data runs nothing, which [`Observer::stalled`] reports. Urgency starts with 5; an interrupt that becomes pending
//! in the background makes it 6. A switch takes 15 cycles, which belong to the thread that comes: both threads are notified of the switch
//! before these cycles.
//!
//! # The firmware
//!
//! A branch to [`PAL_ENTRY`] at privilege level 0 runs the procedure whose number is in r28, and goes on at b0: after `br.call` with the
//! caller's frame as `br.ret` would restore it, else with the frame as it is. There are PAL_PERF_MON_INFO (15), whose results come from the
//! observer; PAL_VERSION (20), all zeros; PAL_HALT (28), which halts in one of the states 1 to 7 until an interrupt is pending that TPR
//! does not mask, whatever PSR.i; and PAL_HALT_LIGHT (29), which sets bit 0 of PMC0, halts in the same way, and writes PMC0 back. For any
//! other number the status in r8 is -1.
//!
//! # Guests' devices
//!
//! A byte stored to [`CONSOLE`] is printed, one stored to [`EXIT`] ends the run with it as its status. `break` of every number is the
//! guest's.
//!
//! # Saving
//!
//! [`Machine::save`] returns the state of a machine in terms of the architecture, and [`Machine::restore`] continues from it: see
//! [`Saved`]. Observers save themselves.
//!
//! # Sources
//!
//! Itanium Architecture Software Developer's Manual, revision 2.3; the Montecito manual, 2.4.1, for threads. The tests run programs of
//! [`assemble`], whose encodings are another's; there is no disassembler that is right about all instructions, so none is used.

mod access;
mod alat;
pub mod assemble;
mod bundle;
mod changes;
mod cpu;
mod exec;
mod firmware;
mod float;
mod interrupt;
mod machine;
mod observer;
mod operands;
pub mod registers;
mod restore;
mod rse;
mod sapic;
mod saved;
pub mod stack;
mod state;
mod step;
mod threads;
mod unimplemented;
mod word;

pub use super::image::{Image, ImageError, Segment};
pub use super::memory::{Memory, MemoryError};
pub use super::turn::Turn;
pub use alat::{AdvancedLoad, Target};
pub use changes::{Changes, Gate, Wish};
pub use firmware::{PAL_HALT, PAL_HALT_LIGHT, PAL_PERF_MON_INFO, PAL_VERSION};
pub use float::Float;
pub use machine::{Config, Exit, Limits, MAX_CORES, MAX_THREADS, Machine, MachineError, STACK_SIZE};
pub use observer::{Alerts, CpuView, L3Miss, Observer, PerformanceMonitorInfo, RegisterFault, Unobserved};
pub use operands::{Operands, operands, register};
pub use restore::{BadThread, RestoreError};
pub use saved::{CoreState, Saved, StackState, ThreadState};
pub use stack::Frame;
pub use state::{CONSOLE, DEVICES, EXIT, PAL_ENTRY};
pub use step::{
    Access, AccessKind, Branch, BranchKind, Check, Class, Deferral, Notice, StackLevel, Step, Switch, SwitchCause, Taken, Unit,
};
pub use threads::SWITCH_CYCLES;
pub use unimplemented::Unimplemented;
