//! What every Itanium guest needs: interruption vectors, handlers, user code, several threads, and the report of the
//! [protocol](crate::protocol).
//!
//! A guest is one piece of code at fixed addresses: the vectors, the building blocks, then what the guest adds with [`Kernel::a`]. Its
//! own part begins at [`Kernel::main`], on every thread, and ends at [`Kernel::end_main`]; when thread 0 comes there, the run ends. User code has
//! a name, by [`routine`](vm_pmu_engines::ia64::assemble::Assembler::routine), which samples and traces show.
//!
//! [`part`] has what guests must know of the parts; those that run on both are here too, and
//! [`montecito`](crate::montecito) and [`itanium`](crate::itanium) list them.
//!
//! # Registers
//!
//! r12 is the memory stack, r13 points at the thread's own area, as KR0 does. r4 to r7, r16 to r31 and the stacked registers, b0 to b5,
//! LC, EC and predicates 1 to 5 and 16 to 63 belong to the guest. Everything here may change r2, r3, r8 to r11, r14, r15, predicates 6
//! to 15, b6, b7, and PFS, which `br.call` writes; loops of [`Kernel::repeat`] change LC. KR0 is the building blocks'.
//!
//! The guest runs in register bank 1 with PSR.ic set. Handlers run in bank 0, with PSR.ic and PSR.i clear and in the frame of the
//! interrupted code. They may change r16 to r31, which are theirs, and everything that the building blocks may change, including LC, which
//! is saved around them.
//!
//! # Counting
//!
//! Every [`put`](vm_pmu_engines::ia64::assemble::Assembler::put) is one bundle of three instructions, so that what a guest adds can be
//! counted from its text. What the building blocks add is documented where a guest could want to count it. An interruption begins with one
//! bundle in the vector, two no-operations and a branch.
//!
//! ```
//! use vm_pmu_engines::ia64::assemble::{R4, adds};
//! use vm_pmu_engines::ia64::{Config, Exit, Limits, Machine, Unobserved};
//! use vm_pmu_guests::ia64::Kernel;
//!
//! let mut k = Kernel::new();
//! k.main();
//! k.a.load(R4, 41);
//! k.a.put(adds(R4, 1, R4));
//! k.check_is("the answer", R4, 42);
//! k.end_main();
//! let image = k.finish().unwrap();
//! let mut machine = Machine::new(&Config::default(), &image, |_| Unobserved).unwrap();
//! assert_eq!(machine.run(Limits::steps(1000)), Exit::Status { cpu: 0, status: 0 });
//! ```

pub(crate) mod access;
mod blocks;
pub(crate) mod branches;
pub(crate) mod chain;
pub(crate) mod count;
pub(crate) mod data_ear;
pub(crate) mod facts;
mod handler;
pub(crate) mod hostile;
pub(crate) mod instruction_ear;
pub(crate) mod linux_driver;
mod monitor;
pub(crate) mod opcode;
pub(crate) mod overflow;
pub(crate) mod pal;
pub mod part;
pub(crate) mod privilege;
pub(crate) mod profile;
pub(crate) mod range;
pub(crate) mod trace;

/// Gives one part the guests of these modules that both parts share; each is built with these arguments.
macro_rules! for_part {
    ($arguments:tt: $($module:ident)+) => {
        $(
            mod $module {
                use vm_pmu_engines::image::Image;
                use vm_pmu_engines::ia64::assemble::AssembleError;

                pub(super) fn build() -> Result<Image, AssembleError> {
                    crate::ia64::$module::build $arguments
                }
            }
        )+
    };
}
pub(crate) use for_part;

use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::psr;
use vm_pmu_engines::image::{Image, Segment};

/// Where the interruption vectors are: 32 KiB.
pub const VECTORS: u64 = 0x10_0000;
/// Where code after the vectors begins.
pub const KERNEL_CODE: u64 = 0x20_0000;
/// Where data are.
pub const KERNEL_DATA: u64 = 0x30_0000;
/// Where the memory stack of thread 0 in user code begins, going down; those of further threads follow 8 KiB apart.
const USER_STACKS: u64 = 0x3C_0000;
/// Bytes of each of these stacks.
const STACK: u64 = 0x2000;

/// The most threads of a guest.
pub const MAX_CPUS: u64 = 8;
/// Bytes of a thread's own area, which r13 and KR0 point at.
const PER_CPU: u64 = 512;

/// The immediate of the `break` by which user code returns to the kernel.
pub const SYSTEM_CALL: u64 = 0x10_0000;

/// In a thread's own area: its number.
pub const CPU: i64 = 0;
/// In a thread's own area: not 0 while a fault is to be counted, and the instruction skipped.
pub const EXPECT: i64 = 8;
/// In a thread's own area: how many such faults there were.
pub const FAULTS: i64 = 16;
/// In a thread's own area: the vector of the last of them.
pub const CAUGHT: i64 = 24;
/// In a thread's own area: ISR of the last of them.
pub const CAUGHT_ISR: i64 = 32;
/// In a thread's own area: IFA at the last of them.
pub const CAUGHT_IFA: i64 = 40;
const KERNEL_SP: i64 = 48;
const KERNEL_B6: i64 = 56;
const KERNEL_PFS: i64 = 64;
const KERNEL_PSR: i64 = 72;
const USER_SP: i64 = 80;
/// In a thread's own area: the bundle where user code continues.
pub const USER_IIP: i64 = 88;
/// In a thread's own area: PSR of user code when it was left, with the slot where it continues.
pub const USER_IPSR: i64 = 96;

/// In a thread's own area, while a handler runs: the bundle where the interrupted code continues. What is stored here takes effect.
pub const FRAME_IIP: i64 = 128;
/// In a thread's own area, while a handler runs: PSR with which it continues. What is stored here takes effect.
pub const FRAME_IPSR: i64 = 136;
const FRAME_PR: i64 = 144;
const FRAME_PFS: i64 = 152;
const FRAME_LC: i64 = 160;
const FRAME_B6: i64 = 168;
const FRAME_B7: i64 = 176;
const FRAME_GRS: i64 = 184;

/// In a thread's own area: cell `n` of those that are the guest's, below 32.
#[must_use]
pub const fn own(n: i64) -> i64 {
    256 + 8 * n
}

/// General registers that a handler's frame holds, in their order.
const SAVED: [Gr; 9] = [R2, R3, R8, R9, R10, R11, R13, R14, R15];

/// In a thread's own area, while a handler runs: general register 2, 3, 8 to 11 or 13 to 15 of the interrupted code. What is stored here
/// takes effect.
///
/// # Panics
/// If it is no such register.
#[must_use]
pub fn frame(number: u8) -> i64 {
    let Some(place) = SAVED.iter().position(|register| register.number() == number) else { panic!("r{number} is in no frame") };
    FRAME_GRS + 8 * place as i64
}

/// Offsets of all vectors (SDM volume 2, table 5-7).
const OFFSETS: [u16; 38] = [
    0x0000, 0x0400, 0x0800, 0x0C00, 0x1000, 0x1400, 0x1800, 0x1C00, 0x2000, 0x2400, 0x2800, 0x2C00, 0x3000, 0x5000, 0x5100, 0x5200, 0x5300,
    0x5400, 0x5500, 0x5600, 0x5700, 0x5800, 0x5900, 0x5A00, 0x5B00, 0x5C00, 0x5D00, 0x5E00, 0x5F00, 0x6000, 0x6100, 0x6900, 0x6A00, 0x6B00,
    0x6C00, 0x6D00, 0x6E00, 0x6F00,
];

/// Whether an interruption is one of an instruction that did not complete, so that execution may continue with the next one.
const fn skippable(vector: u16) -> bool {
    matches!(vector, 0x1000 | 0x2C00 | 0x5400 | 0x5500 | 0x5600 | 0x5900 | 0x5A00)
}

struct Vector {
    offset: u16,
    label: Label,
    handled: bool,
}

/// A guest.
pub struct Kernel {
    /// The assembler. What follows the building blocks is the guest's.
    pub a: Assembler,
    data: Vec<u8>,
    vectors: Vec<Vector>,
    main: Label,
    done: Label,
    check: Label,
    sample: Label,
    print: Label,
    exit: Label,
    enter_user: Label,
    resume_user: Label,
    system_call: Label,
    failed: u64,
}

impl Default for Kernel {
    fn default() -> Self {
        Self::new()
    }
}

impl Kernel {
    /// The vectors and building blocks.
    #[must_use]
    pub fn new() -> Self {
        let mut a = Assembler::new(VECTORS);
        let mut vectors = Vec::new();
        for offset in OFFSETS {
            let label = a.label();
            a.skip_to(VECTORS + u64::from(offset));
            a.routine(&format!("vector_{offset:#x}"));
            a.put(br_cond(label));
            vectors.push(Vector { offset, label, handled: false });
        }
        a.skip_to(KERNEL_CODE);
        let mut kernel = Self {
            main: a.label(),
            done: a.label(),
            check: a.label(),
            sample: a.label(),
            print: a.label(),
            exit: a.label(),
            enter_user: a.label(),
            resume_user: a.label(),
            system_call: a.label(),
            a,
            data: Vec::new(),
            vectors,
            failed: 0,
        };
        kernel.failed = kernel.reserve(8);
        kernel.start();
        kernel.blocks();
        kernel.user_blocks();
        kernel.a.end_routine();
        kernel
    }

    /// Reserves `bytes` of zeroed data, aligned to 128 bytes, and returns their address.
    pub fn reserve(&mut self, bytes: u64) -> u64 {
        self.data.resize(self.data.len().next_multiple_of(128), 0);
        let address = KERNEL_DATA + self.data.len() as u64;
        self.data.resize(self.data.len() + bytes as usize, 0);
        address
    }

    /// Puts `bytes` into data and returns their address.
    pub fn place(&mut self, bytes: &[u8]) -> u64 {
        let address = self.reserve(bytes.len() as u64);
        let offset = (address - KERNEL_DATA) as usize;
        self.data[offset..offset + bytes.len()].copy_from_slice(bytes);
        address
    }

    /// Puts text with a zero byte after it into data and returns its address.
    pub fn text(&mut self, text: &str) -> u64 {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.place(&bytes)
    }

    /// The guest's own part begins here. b0, PFS and the empty frame need not be kept.
    pub fn main(&mut self) {
        self.a.routine("main");
        self.a.here(self.main);
    }

    /// The guest's own part ends here.
    pub fn end_main(&mut self) {
        self.a.put(br_cond(self.done));
        self.a.end_routine();
    }

    fn call(&mut self, block: Label) {
        self.a.put(br_call(B6, block));
    }

    /// A cell of the own area into a register. Two bundles; changes r2.
    pub fn load_own(&mut self, into: Gr, cell: i64) {
        self.a.put(adds(R2, cell, R13));
        self.a.put(ld8(into, R2));
    }

    /// A register, not r2, into a cell of the own area. Two bundles; changes r2.
    pub fn store_own(&mut self, cell: i64, from: Gr) {
        self.a.put(adds(R2, cell, R13));
        self.a.put(st8(R2, from));
    }

    /// Checks that `seen` lies between `least` and `most`.
    pub fn check(&mut self, label: &str, seen: Gr, least: u64, most: u64) {
        let text = self.text(label);
        self.a.put(mov(R9, seen));
        self.a.load(R8, text);
        self.a.load(R10, least);
        self.a.load(R11, most);
        self.call(self.check);
    }

    /// Checks that `seen` is `right`.
    pub fn check_is(&mut self, label: &str, seen: Gr, right: u64) {
        self.check(label, seen, right, right);
    }

    /// Checks that `seen` is what `right` holds, which is not r9.
    pub fn check_same(&mut self, label: &str, seen: Gr, right: Gr) {
        let text = self.text(label);
        self.a.put(mov(R9, seen));
        self.a.put(mov(R10, right));
        self.a.put(mov(R11, R10));
        self.a.load(R8, text);
        self.call(self.check);
    }

    /// Hands back a sample: r8 holds its address, r10 its hits.
    pub fn sample(&mut self, label: &str) {
        let text = self.text(label);
        self.a.load(R9, text);
        self.call(self.sample);
    }

    /// Writes a line to the console.
    pub fn print(&mut self, line: &str) {
        let text = self.text(&format!("{line}\n"));
        self.a.load(R8, text);
        self.call(self.print);
    }

    /// Ends the run: the result of the checks is the status.
    pub fn exit(&mut self) {
        self.a.put(br_cond(self.exit));
    }

    /// A handler for the interruption at this offset from the vectors begins here.
    ///
    /// # Panics
    /// If there is no such vector, or it has a handler.
    pub fn handler(&mut self, offset: u16) {
        let known = self.vectors.iter_mut().find(|vector| vector.offset == offset && !vector.handled);
        let Some(entry) = known else { panic!("no vector {offset:#x} without a handler") };
        entry.handled = true;
        let label = entry.label;
        self.a.routine(&format!("handler_{offset:#x}"));
        self.a.here(label);
        self.save();
    }

    /// The handler ends here: the interrupted code continues.
    pub fn end_handler(&mut self) {
        self.restore();
        self.a.end_routine();
    }

    /// Goes to user code at `code`, at privilege level 3 with PSR as it is now and `state` set in addition; continues here, in the state
    /// that was left, when user code executes `break` of [`SYSTEM_CALL`]. User code has its own memory stack and all other registers as
    /// they are; the kernel finds what it leaves in r4 to r7, r16 to r31 and the stacked registers.
    ///
    /// The last instruction before user code is the `rfi` of the building blocks, the first one after it the `break`.
    pub fn enter_user(&mut self, code: Label, state: u64) {
        self.enter_level(code, 3, state);
    }

    /// The same at another privilege level, 0 to 3.
    pub fn enter_level(&mut self, code: Label, level: u64, state: u64) {
        self.a.load_address(R8, code);
        self.a.load(R9, state | level << psr::CPL_SHIFT);
        self.call(self.enter_user);
    }

    /// Continues in user code after its last `break`.
    pub fn resume_user(&mut self) {
        self.call(self.resume_user);
    }

    /// In user code: back to the kernel. One bundle, in whose first slot the `break` is.
    pub fn system_call(&mut self) {
        self.a.put(break_(SYSTEM_CALL));
    }

    /// From here on, faults of instructions that did not complete are counted in [`FAULTS`] and the instruction is skipped; not one of two
    /// slots. Changes r2.
    pub fn expect_faults(&mut self) {
        self.store_own(FAULTS, R0);
        self.store_own(CAUGHT, R0);
        self.store_own(EXPECT, R13);
    }

    /// Checks that since [`Kernel::expect_faults`] `faults` faults were counted, the last at this vector with this code in the lowest 16
    /// bits of ISR, and ends the counting.
    pub fn check_faults(&mut self, label: &str, faults: u64, vector: u16, code: u64) {
        self.store_own(EXPECT, R0);
        self.load_own(R9, FAULTS);
        self.check_is(label, R9, faults);
        self.load_own(R9, CAUGHT);
        self.check_is(&format!("{label}: the vector"), R9, vector.into());
        self.load_own(R9, CAUGHT_ISR);
        self.a.put(zxt2(R9, R9));
        self.check_is(&format!("{label}: the code"), R9, code);
    }

    /// Executes one instruction that must end in a fault.
    pub fn expect_fault(&mut self, label: &str, op: Op, vector: u16, code: u64) {
        self.expect_faults();
        self.a.put(op);
        self.check_faults(label, 1, vector, code);
    }

    /// Waits until `cpus` threads came here. Every barrier has its own `counter`, 8 bytes of zeroed data.
    pub fn barrier(&mut self, counter: u64, cpus: i64) {
        let a = &mut self.a;
        a.load(R2, counter);
        a.put(fetchadd8_acq(R3, R2, 1));
        let (wait, over) = (a.mark(), a.label());
        a.put(ld8_acq(R3, R2));
        a.put(cmp_geu_imm(R3, cpus));
        a.put(br_cond(over).when(P6));
        a.put(hint(0));
        a.put(br_cond(wait));
        a.here(over);
    }

    /// Takes a lock, 8 bytes of zeroed data, waiting as long as another thread has it.
    pub fn lock(&mut self, lock: u64) {
        let a = &mut self.a;
        let (again, over) = (a.label(), a.label());
        a.load(R2, lock);
        a.put(mov_imm(R14, 1));
        a.here(again);
        a.put(xchg8(R3, R2, R14));
        a.put(cmp_eq(P6, P7, R3, R0));
        a.put(br_cond(over).when(P6));
        a.put(hint(0));
        a.put(br_cond(again));
        a.here(over);
    }

    /// Gives a lock back.
    pub fn unlock(&mut self, lock: u64) {
        self.a.load(R2, lock);
        self.a.put(st8_rel(R2, R0));
    }

    /// Does `body` `times` times, at least once: two bundles first, then in every turn the body and a bundle of two no-operations and
    /// `br.cloop`. Changes r2 and LC.
    pub fn repeat(&mut self, times: u64, body: impl FnOnce(&mut Self)) {
        self.a.load(R2, times.saturating_sub(1));
        self.a.put(mov_to_ar_i(Ar::LC, R2));
        let again = self.a.mark();
        body(self);
        self.a.put(br_cloop(again));
    }

    /// Bundles of three no-operations.
    pub fn nops(&mut self, bundles: usize) {
        for _ in 0..bundles {
            self.a.put(nop(0));
        }
    }

    /// A control register becomes a number; data are serialized after it. Three bundles; changes r2.
    pub fn write_cr(&mut self, register: Cr, value: u64) {
        self.a.load(R2, value);
        self.a.put(mov_to_cr(register, R2));
        self.a.put(srlz_d());
    }

    /// Sets bits of PSR that `ssm` reaches; instructions are serialized after it. Two bundles.
    pub fn set_state(&mut self, bits: u64) {
        self.a.put(ssm(bits));
        self.a.put(srlz_i());
    }

    /// Clears bits of PSR that `rsm` reaches; instructions are serialized after it. Two bundles.
    pub fn clear_state(&mut self, bits: u64) {
        self.a.put(rsm(bits));
        self.a.put(srlz_i());
    }

    /// External interrupts are enabled from here on. Two bundles.
    pub fn interrupts_on(&mut self) {
        self.set_state(psr::I);
    }

    /// External interrupts are disabled from here on. Two bundles.
    pub fn interrupts_off(&mut self) {
        self.clear_state(psr::I);
    }

    /// In a handler of external interrupts: the interrupt's vector. Two bundles.
    pub fn accept_interrupt(&mut self, into: Gr) {
        self.a.put(mov_from_cr(into, Cr::IVR));
        self.a.put(srlz_d());
    }

    /// In a handler of external interrupts: the interrupt is done. Two bundles.
    pub fn end_interrupt(&mut self) {
        self.a.put(mov_to_cr(Cr::EOI, R0));
        self.a.put(srlz_d());
    }

    /// The image.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn finish(mut self) -> Result<Image, AssembleError> {
        self.faults();
        let marks = self.a.marks().to_vec();
        let code = self.a.finish()?;
        let mut segments = Vec::new();
        // Not the empty part between the vectors and the code.
        for range in [0..0x8000, (KERNEL_CODE - VECTORS) as usize..code.len()] {
            let address = VECTORS + range.start as u64;
            let bytes = code.get(range).unwrap_or_default().to_vec();
            segments.push(Segment { address, size: bytes.len() as u64, bytes, executable: true });
        }
        segments.push(Segment { address: KERNEL_DATA, size: self.data.len() as u64, bytes: self.data, executable: false });
        Ok(Image { segments, entry: KERNEL_CODE, ..Image::default() }.with_marks(marks))
    }
}

/// p6 if `register` is at least a number below 128.
fn cmp_geu_imm(register: Gr, number: i64) -> Op {
    cmp_ltu_imm(P6, P7, number - 1, register)
}
