//! What every POWER guest needs: interrupt vectors, handlers, problem state, several CPUs, and the report of the
//! [protocol](crate::protocol).
//!
//! A guest is one piece of code at fixed addresses: the vectors, the building blocks, then what the guest adds with [`Kernel::a`]. Its
//! own part begins at [`Kernel::main`], on every CPU, and returns by `blr`; when CPU 0 returns, the run ends.
//!
//! Conventions: GPR 1 is the stack, GPR 13 points at the CPU's own area, as SPRG3 does; GPR 14 to 31 belong to the guest. Everything
//! here may change the other registers, LR, CTR and CR. SPRG0 to SPRG2 are the building blocks'. Handlers may change GPR 0 and 3 to
//! 13, which are saved around them. What is called and what runs in another state has a name, by
//! [`routine`](vm_pmu_engines::power::assemble::Assembler::routine), which samples and traces show.
//!
//! ```
//! use vm_pmu_engines::power::assemble::R3;
//! use vm_pmu_engines::power::{Config, Exit, Limits, Machine, Unobserved};
//! use vm_pmu_guests::power::Kernel;
//!
//! let mut k = Kernel::new(true);
//! k.main();
//! k.a.load(R3, 41);
//! k.a.addi(R3, R3, 1);
//! k.check_is("the answer", R3, 42);
//! k.end_main();
//! let image = k.finish().unwrap();
//! let mut machine = Machine::new(&Config::default(), &image, |_| Unobserved).unwrap();
//! assert_eq!(machine.run(Limits::steps(1000)), Exit::Status { cpu: 0, status: 0 });
//! ```

mod blocks;

use vm_pmu_engines::image::{Image, Segment};
use vm_pmu_engines::power::assemble::{AssembleError, Assembler, CR0, Gpr, Label, R0, R1, R3, R4, R5, R6, R12, R13};
use vm_pmu_engines::power::registers::{msr, spr, vector};

/// Where code after the vectors begins.
pub const KERNEL_CODE: u64 = 0x20_0000;
/// Where data are.
pub const KERNEL_DATA: u64 = 0x30_0000;
/// Where the stacks for interrupts are: 8 KiB for each CPU.
const STACKS: u64 = 0x38_0000;
/// Where the stack of CPU 0 in problem state begins, going down; those of further CPUs follow 8 KiB apart.
const USER_STACKS: u64 = 0x3C_0000;
/// Bytes of each of these stacks.
const STACK: u64 = 0x2000;

/// The most CPUs of a guest.
pub const MAX_CPUS: u64 = 8;
/// Bytes of a CPU's own area, which GPR 13 and SPRG3 point at.
const PER_CPU: u64 = 512;

/// In a CPU's own area: its number.
pub const CPU: i64 = 0;
const INTERRUPT_STACK: i64 = 8;
/// In a CPU's own area: not 0 while an interrupt of an instruction that did not complete is to be counted, and the instruction skipped.
pub const EXPECT: i64 = 16;
/// In a CPU's own area: how many such interrupts there were.
pub const FAULTS: i64 = 24;
/// In a CPU's own area: the vector of the last of them.
pub const CAUGHT: i64 = 32;
/// In a CPU's own area: SRR1 or HSRR1 of the last of them.
pub const CAUGHT_STATE: i64 = 40;
const SAVED_CR: i64 = 48;
const SAVED_R1: i64 = 56;
const KERNEL_SP: i64 = 64;
const KERNEL_LR: i64 = 72;
const USER_SP: i64 = 80;
/// In a CPU's own area: where problem state continues.
pub const USER_PC: i64 = 88;
/// In a CPU's own area: MSR of problem state when it was left.
pub const USER_MSR: i64 = 96;
const USER_LR: i64 = 104;

/// In a CPU's own area: cell `n` of those that are the guest's, below 32.
#[must_use]
pub const fn own(n: i64) -> i64 {
    256 + 8 * n
}

/// Bytes of the frame that a handler has on its stack.
const FRAME: i64 = 256;
/// In a handler's frame: where the interrupted program continues. What is stored here takes effect.
pub const FRAME_ADDRESS: i64 = 48;
/// In a handler's frame: MSR with which it continues. What is stored here takes effect.
pub const FRAME_STATE: i64 = 56;
const FRAME_LR: i64 = 64;
const FRAME_CTR: i64 = 72;
const FRAME_XER: i64 = 80;
const FRAME_CR: i64 = 88;
/// In a handler's frame: GPR `n` of the interrupted program, 0 to 13. What is stored here takes effect.
#[must_use]
pub const fn frame(n: i64) -> i64 {
    96 + 8 * n
}

/// All vectors of interrupts that POWER9 has.
const VECTORS: [u16; 26] = [
    0x100, 0x200, 0x300, 0x380, 0x400, 0x480, 0x500, 0x600, 0x700, 0x800, 0x900, 0x980, 0xA00, 0xC00, 0xD00, 0xE00, 0xE20, 0xE40, 0xE60,
    0xE80, 0xEA0, 0xF00, 0xF20, 0xF40, 0xF60, 0xF80,
];

/// Whether an interrupt leaves its address in HSRR0.
const fn hypervisor_registers(vector: u16) -> bool {
    matches!(vector, 0x980 | 0xE00 | 0xE20 | 0xE40 | 0xE60 | 0xE80 | 0xEA0 | 0xF80)
}

/// Whether an interrupt is one of an instruction that did not complete, so that execution may continue with the next one.
const fn skippable(vector: u16) -> bool {
    matches!(vector, 0x300 | 0x600 | 0x700 | 0x800 | 0xE40 | 0xF20 | 0xF40 | 0xF60 | 0xF80)
}

struct Vector {
    number: u16,
    label: Label,
    handled: bool,
}

/// A guest.
pub struct Kernel {
    /// The assembler. What follows the building blocks is the guest's.
    pub a: Assembler,
    data: Vec<u8>,
    vectors: Vec<Vector>,
    handling: u16,
    main: Label,
    check: Label,
    sample: Label,
    print: Label,
    exit: Label,
    enter_user: Label,
    enter_state: Label,
    resume_user: Label,
    failed: u64,
    tree: Option<Tree>,
}

/// What is known of a guest to which firmware hands a device tree.
#[derive(Clone, Copy)]
struct Tree {
    /// The cell that keeps the tree's address.
    cell: u64,
    /// The CPUs of each chip.
    threads: u64,
}

impl Kernel {
    /// The vectors and building blocks.
    #[must_use]
    pub fn new(little_endian: bool) -> Kernel {
        Kernel::begun(little_endian, None)
    }

    /// The same for a guest to which firmware hands a device tree, on chips with `threads` CPUs each.
    #[must_use]
    pub fn with_tree(little_endian: bool, threads: u64) -> Kernel {
        Kernel::begun(little_endian, Some(threads))
    }

    fn begun(little_endian: bool, threads: Option<u64>) -> Kernel {
        let mut a = Assembler::new(0, little_endian);
        let mut vectors = Vec::new();
        for number in VECTORS {
            let label = a.label();
            a.skip_to(number.into());
            a.routine(&format!("vector_{number:#x}"));
            a.b(label);
            vectors.push(Vector { number, label, handled: false });
        }
        a.skip_to(KERNEL_CODE);
        let mut kernel = Kernel {
            main: a.label(),
            check: a.label(),
            sample: a.label(),
            print: a.label(),
            exit: a.label(),
            enter_user: a.label(),
            enter_state: a.label(),
            resume_user: a.label(),
            a,
            data: Vec::new(),
            vectors,
            handling: 0,
            failed: 0,
            tree: None,
        };
        kernel.failed = kernel.reserve(8);
        kernel.tree = threads.map(|threads| Tree { cell: kernel.reserve(8), threads });
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

    /// The address of the device tree goes to `register`. 0 if firmware handed none over.
    pub fn tree(&mut self, register: Gpr) {
        self.a.load(register, 0);
        if let Some(Tree { cell, .. }) = self.tree {
            self.a.load(register, cell);
            self.a.ld(register, 0, register);
        }
    }

    /// The guest's own part begins here.
    pub fn main(&mut self) {
        self.a.routine("main");
        self.a.here(self.main);
        self.a.mflr(R0);
        self.a.std(R0, 16, R1);
        self.a.stdu(R1, -64, R1);
    }

    /// The guest's own part ends here: returns.
    pub fn end_main(&mut self) {
        self.a.addi(R1, R1, 64);
        self.a.ld(R0, 16, R1);
        self.a.mtlr(R0);
        self.a.blr();
        self.a.end_routine();
    }

    /// A handler for the interrupt at `number` begins here. GPR 0 and 3 to 13, LR, CTR, XER and CR are saved; GPR 1 is a separate stack
    /// with the frame of [`frame`], GPR 13 the CPU's own area.
    ///
    /// # Panics
    /// If POWER9 has no interrupt there, or it has a handler.
    pub fn handler(&mut self, number: u16) {
        let known = self.vectors.iter_mut().find(|vector| vector.number == number && !vector.handled);
        let Some(entry) = known else { panic!("no vector {number:#x} without a handler") };
        entry.handled = true;
        let label = entry.label;
        self.handling = number;
        self.a.routine(&format!("handler_{number:#x}"));
        self.a.here(label);
        self.save();
    }

    /// The handler ends here: the interrupted program continues.
    pub fn end_handler(&mut self) {
        let (address, state) = if hypervisor_registers(self.handling) { (spr::HSRR0, spr::HSRR1) } else { (spr::SRR0, spr::SRR1) };
        self.restore(address, state);
        self.a.end_routine();
    }

    /// Checks that `seen` lies between `least` and `most`.
    pub fn check(&mut self, label: &str, seen: Gpr, least: u64, most: u64) {
        let text = self.text(label);
        self.a.mr(R4, seen);
        self.a.load(R3, text);
        self.a.load(R5, least);
        self.a.load(R6, most);
        self.a.bl(self.check);
    }

    /// Checks that `seen` is `right`.
    pub fn check_is(&mut self, label: &str, seen: Gpr, right: u64) {
        self.check(label, seen, right, right);
    }

    /// Checks that `seen` is what `right` holds, which is not GPR 4.
    pub fn check_same(&mut self, label: &str, seen: Gpr, right: Gpr) {
        let text = self.text(label);
        self.a.mr(R4, seen);
        self.a.mr(R5, right);
        self.a.mr(R6, R5);
        self.a.load(R3, text);
        self.a.bl(self.check);
    }

    /// Hands back a sample: GPR 3 holds its address, GPR 5 its hits.
    pub fn sample(&mut self, label: &str) {
        let text = self.text(label);
        self.a.load(R4, text);
        self.a.bl(self.sample);
    }

    /// Writes a line to the console.
    pub fn print(&mut self, line: &str) {
        let text = self.text(&format!("{line}\n"));
        self.a.load(R3, text);
        self.a.bl(self.print);
    }

    /// Ends the run: the result of the checks is the status.
    pub fn exit(&mut self) {
        self.a.b(self.exit);
    }

    /// Goes to problem state at `code`, with MSR as it is now and in addition PR, EE, RI, IR, DR and `state`; continues here, in the state
    /// that was left, at its system call. Problem state has its own stack and all other registers as they are.
    pub fn enter_user(&mut self, code: Label, state: u64) {
        self.a.load_address(R3, code);
        self.a.load(R4, state | msr::PR | msr::EE | msr::RI | msr::IR | msr::DR);
        self.a.bl(self.enter_user);
    }

    /// Goes to privileged state without hypervisor privilege at `code`, with MSR as it is now except HV; continues here, in the state that
    /// was left, at its system call to the hypervisor. The stack is that of problem state.
    pub fn enter_supervisor(&mut self, code: Label) {
        self.a.load_address(R3, code);
        self.a.mfmsr(R4);
        self.a.load(R5, msr::HV);
        self.a.andc(R4, R4, R5);
        self.a.bl(self.enter_state);
    }

    /// Goes to a guest at `code`: privileged state without hypervisor privilege, with its addresses translated. Continues as
    /// [`enter_supervisor`](Kernel::enter_supervisor) does.
    pub fn enter_guest(&mut self, code: Label) {
        self.a.load_address(R3, code);
        self.a.mfmsr(R4);
        self.a.load(R5, msr::HV);
        self.a.andc(R4, R4, R5);
        self.a.load(R5, msr::IR | msr::DR);
        self.a.or(R4, R4, R5);
        self.a.bl(self.enter_state);
    }

    /// Continues in problem state after its last system call.
    pub fn resume_user(&mut self) {
        self.a.bl(self.resume_user);
    }

    /// Waits until `cpus` CPUs came here. Every barrier has its own `counter`, 8 bytes of zeroed data.
    pub fn barrier(&mut self, counter: u64, cpus: u32) {
        let a = &mut self.a;
        a.load(R3, counter);
        let add = a.mark();
        a.ldarx(R4, R0, R3);
        a.addi(R4, R4, 1);
        a.stdcx_dot(R4, R0, R3);
        a.bne(add);
        let wait = a.mark();
        a.ld(R4, 0, R3);
        a.cmpldi(CR0, R4, cpus);
        a.blt(wait);
    }

    /// `mtspr` of a constant. Changes GPR 12.
    pub fn write(&mut self, number: u16, value: u64) {
        self.a.load(R12, value);
        self.a.mtspr(number, R12);
    }

    /// From here on, interrupts of instructions that did not complete are counted in [`FAULTS`] and the instruction is skipped. Changes GPR
    /// 12.
    pub fn expect_faults(&mut self) {
        self.a.load(R12, 1);
        self.a.std(R12, EXPECT, R13);
        self.a.load(R12, 0);
        self.a.std(R12, FAULTS, R13);
        self.a.std(R12, CAUGHT, R13);
    }

    /// Checks that since [`Kernel::expect_faults`] `faults` interrupts were counted, the last at `vector`, and ends the counting.
    pub fn check_faults(&mut self, label: &str, faults: u64, vector: u16) {
        self.a.load(R12, 0);
        self.a.std(R12, EXPECT, R13);
        self.a.ld(R4, FAULTS, R13);
        self.check_is(label, R4, faults);
        self.a.ld(R4, CAUGHT, R13);
        self.check_is(&format!("{label}: the vector"), R4, vector.into());
    }

    /// Sets bits of MSR. Changes GPR 11 and 12.
    pub fn set_state(&mut self, bits: u64) {
        use vm_pmu_engines::power::assemble::R11;
        self.a.load(R12, bits);
        self.a.mfmsr(R11);
        self.a.or(R11, R11, R12);
        self.a.mtmsrd(R11, false);
    }

    /// Clears bits of MSR. Changes GPR 11 and 12.
    pub fn clear_state(&mut self, bits: u64) {
        use vm_pmu_engines::power::assemble::R11;
        self.a.load(R12, bits);
        self.a.mfmsr(R11);
        self.a.andc(R11, R11, R12);
        self.a.mtmsrd(R11, false);
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
        let vectors = usize::from(vector::HYPERVISOR_FACILITY_UNAVAILABLE) + 4;
        for range in [0..vectors, KERNEL_CODE as usize..code.len()] {
            let address = range.start as u64;
            let bytes = code.get(range).unwrap_or_default().to_vec();
            segments.push(Segment { address, size: bytes.len() as u64, bytes, executable: true });
        }
        segments.push(Segment { address: KERNEL_DATA, size: self.data.len() as u64, bytes: self.data, executable: false });
        Ok(Image { segments, entry: KERNEL_CODE, ..Image::default() }.with_marks(marks))
    }
}
