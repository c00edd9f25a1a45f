//! A deterministic interpreter of 64-bit POWER for bare-metal guests: the fixed-point part of the Power ISA 3.0B that drivers use, on
//! a POWER9 (PVR 004E1202), with radix translation of guests under a host.
//!
//! [`Machine`] runs an [`Image`] on up to eight CPUs that share memory, an instruction each in turn; an [`Observer`] per CPU is notified of
//! every instruction and takes the place of the performance monitor. Everything takes one cycle unless the observer returns another number,
//! and the time base ticks every so many cycles, so a run is the same on every host.
//!
//! # Attaching a performance monitor
//!
//! An emulator with a model of one implements [`Observer`] for a type that holds the model's thread, and makes the machine with one
//! observer per CPU. The engine knows no register of the performance monitor. The observer gets these calls:
//!
//! | when | call | what it does |
//! | --- | --- | --- |
//! | `mfspr`, `mtspr` of any number | [`read_spr`](Observer::read_spr), [`write_spr`](Observer::write_spr) | it handles those it has (768 to 799, 851), in every state, and decides which state may read what; all else is [`SprFault::Unclaimed`] |
//! | `mfbhrbe`, `clrbhrb` | [`branch_history`](Observer::branch_history), [`clear_branch_history`](Observer::clear_branch_history) | the same |
//! | `mfimc`, `mtimc` | [`read_instruction_match`](Observer::read_instruction_match), [`write_instruction_match`](Observer::write_instruction_match) | the same |
//! | `attn` in hypervisor state | [`attention`](Observer::attention) | performs a call of host firmware, if the address is its entry |
//! | an instruction completed | [`retire`](Observer::retire) | adds what [`Step`] says to its totals, services the model at deadlines; the return value may contain how many cycles it took |
//! | an interrupt or event-based branch is taken | [`notice`](Observer::notice) | the same for [`Notice`] |
//! | MSR, CTRL, FSCR, HFSCR, BESCR, LPCR, LPIDR or the priority changed | [`context`](Observer::context) | passes the new context to the model, read from [`CpuView`] |
//! | before every instruction | [`pending`](Observer::pending) | returns whether a performance monitor interrupt is pending, and what BESCR.PME and PMEO are |
//! | a device accesses memory, or answers a load | [`device`](Observer::device) | counts it, and reports it to caches and bridges, before `retire` of the instruction that caused it |
//! | cycles elapse in `stop` or `wait` | [`waited`](Observer::waited), [`wait_deadline`](Observer::wait_deadline) | adds the cycles; returns how many may elapse before it must be called again |
//!
//! The order is: the register hook, `retire`, `context` if something changed, `pending`, the next instruction. So a step belongs to the
//! context it started in. A BESCR that software wrote reaches the model before the next instruction, and what the model makes of it, or of
//! MMCR0, is in BESCR before that instruction too. An instruction that an interrupt keeps from completing is no step; `sc` is a step, and
//! then an interrupt.
//!
//! The performance monitor interrupt is a level: it is taken at F00h whenever [`Pending::interrupt`] holds and MSR.EE is 1, so a model
//! returns `MMCR0.PMAO and not MMCR0.EBE`. An event-based branch is taken when BESCR has GE and PMEO, MSR.PR is 1, and FSCR and HFSCR have
//! EBB. The engine clears GE and sets EBBRR; the model keeps PMEO until software clears it, in BESCR, which `context` reports, or in MMCR0.
//! A model with MMCR0.EBE=0 returns `None` for [`Pending::event_based`], and BESCR is software's.
//!
//! ```
//! use vm_pmu_engines::power::assemble::{Assembler, R3, R4};
//! use vm_pmu_engines::power::{Alerts, Config, CpuView, EXIT, Image, Limits, Machine, Observer, SprFault, Step};
//!
//! /// One counter, SPR 771: completed instructions.
//! #[derive(Default)]
//! struct Monitor {
//!     count: u64,
//! }
//!
//! impl Observer for Monitor {
//!     fn read_spr(&mut self, number: u16, _: &CpuView<'_>) -> Result<u64, SprFault> {
//!         if number == 771 { Ok(self.count) } else { Err(SprFault::Unclaimed) }
//!     }
//!
//!     fn retire(&mut self, _: &Step, _: &CpuView<'_>) -> Alerts {
//!         self.count += 1;
//!         Alerts::NONE
//!     }
//! }
//!
//! let mut a = Assembler::new(0x1000, true);
//! a.nop();
//! a.nop();
//! a.mfspr(R3, 771);
//! a.load(R4, EXIT);
//! a.stb(R3, 0, R4);
//! let image = Image::raw(0x1000, a.finish().unwrap());
//! let mut machine = Machine::new(&Config::default(), &image, |_| Monitor::default()).unwrap();
//! machine.run(Limits::steps(100));
//! assert_eq!(machine.cpu(0).unwrap().gpr(3), 2);
//! ```
//!
//! # Instructions
//!
//! The scalar fixed-point instructions of Book I except string, multiple and quadword accesses, `addex`, `darn` and the decimal helpers;
//! branches, `bctar` among them; `larx` and `stcx.` of 1 to 8 bytes with reservations of 128 bytes; the cache block instructions, which
//! have no effect other than [`Step::touched`], and `dcbz`; barriers; scalar floating point without exceptions; the machine state, `stop`
//! and `wait`; transactional memory in its simplest form; `lxvd2x`, `stxvd2x`, and in double and single precision `xvadd`, `xvmadda`,
//! `xvdiv` and `xvsqrt`. Other vector and VSX instructions raise their unavailable interrupts. Where MSR makes them available they are illegal, as everything else is:
//! a hypervisor emulation assistance interrupt, with the instruction in HEIR. Invalid forms are illegal. Reserved fields are ignored.
//! Results that the architecture leaves undefined are 0.
//!
//! # The instruction matching facility
//!
//! The manual of the performance monitor names `mtimc` and `mfimc` and does not specify their encoding. Here they are X-form instructions
//! of primary opcode 31 that the architecture does not use: extended opcode 330 for `mfimc` RT, entry and 458 for `mtimc` entry, RS, with
//! the register at bits 6:10 and the entry, a 10-bit number, at bits 11:20.
//!
//! # What differs from a POWER9
//!
//! - Unless LPCR has HR and UPRT, an effective address is the real one except for its upper four bits, whatever MSR.IR and DR are, and nothing
//!   is protected from problem state. With both bits the trees of processes and of partitions translate, of 52 bits each and walked at
//!   each access: no translation is kept, so that `tlbie` has nothing to do. An access outside memory is a data or instruction storage
//!   interrupt. One across two pages that do not follow each other in memory is an alignment interrupt. The engine's devices are at
//!   their effective addresses whatever the trees say.
//! - The console, the exit and a device that accesses memory by itself ([`DMA`]) take the place of a bus with devices. What the device
//!   writes ends reservations and makes transactions fail as another CPU's stores do.
//! - There is no external interrupt and no decrementer: DEC and HDEC keep what is written to them. Interrupts between CPUs are absent.
//! - A transaction fails before another CPU gets to see what it stored. An access within a transaction to what another has stored makes
//!   its own fail; else the access succeeds, and the other transaction fails. Translations are compared by pages of 4 KiB. Of the
//!   instructions that a transaction may not contain only those that name a cache block, translation or segment make it fail.
//! - `stop` and `wait` end when the performance monitor has something pending, with MSR.EE on or off; the run latch is software's alone.
//! - LPCR has a meaning in ILE, AIL, UPRT, EVIRT and HR only, PCR in nothing. FSCR starts with TAR and DSCR, HFSCR with all.
//! - Where both FSCR and HFSCR keep problem state from a facility, the interrupt is the hypervisor's; HFSCR rules problem state with
//!   MSR.HV=1 too. An interrupt leaves the tags mode, MSR bit 1, alone.
//! - In 32-bit mode addresses, CR0 of record forms, XER and the count have 32 bits.
//!
//! # Saving
//!
//! [`Machine::save`] returns the state of a machine in terms of the architecture, and [`Machine::restore`] continues from it, here or in
//! another engine: see [`Saved`]. Observers save themselves.
//!
//! # Sources
//!
//! Power ISA 3.0B. POWER9's HILE, PVR and which state may ask for which priority are as in QEMU's `target/ppc`; numbers of registers and
//! bits were compared with Linux's `arch/powerpc/include/asm/reg.h`. What an instruction is, [`vm_pmu::decode::power`] knows.

mod access;
pub mod assemble;
mod checkpoint;
pub(crate) mod cpu;
mod devices;
pub(crate) mod exec;
mod footprint;
mod interrupt;
mod machine;
mod observer;
mod radix;
pub mod registers;
mod restore;
mod saved;
pub(crate) mod state;
mod step;
mod transaction;
mod vectors;

pub use super::dma::{DMA_MOST, DmaAccess, DmaCommand, DmaKind, DmaRegister, DmaState};
pub use super::image::{Image, ImageError, Segment};
pub use super::memory::{Memory, MemoryError};
pub use super::turn::Turn;
pub use checkpoint::Checkpoint;
pub use devices::DMA;
pub use footprint::{Conflict, Failure, Footprint};
pub use machine::{Config, Entry, Exit, Limits, MAX_CPUS, Machine, MachineError, STACK_SIZE};
pub use observer::{Alerts, CpuView, EventBased, Observer, Pending, SprFault, Unobserved};
pub use radix::{RadixWalk, TreeWalk};
pub use restore::{BadCpu, RestoreError};
pub use saved::{CpuState, Saved};
pub use state::{CONSOLE, DEVICES, EXIT, TimeBase};
pub use step::{Access, Branch, Conditional, DeviceActivity, Notice, Step, Taken, Touched, Transaction};
pub use vm_pmu::decode::power::{Barrier, BranchForm, Category, Floating, Marks, Through, Touch, Work};
