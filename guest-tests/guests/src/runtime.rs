//! What every guest needs: descriptor tables, handlers, ring 3, the local APIC, and the report.
//!
//! A guest is assembled in two parts: [`User`], which runs in ring 3 and is assembled first so that its addresses are known, and
//! [`Kernel`]. Both are plain code at fixed addresses; nothing is relocated.
//!
//! Conventions: RBX, RBP and R12 to R15 belong to the guest; everything here may change the other registers. What is called and what runs in
//! ring 3 has a name, by [`Kernel::routine`] and [`User::routine`], which samples and traces show.

mod blocks;
mod dma;
mod pci;

use iced_x86::code_asm::*;
use iced_x86::{BlockEncoderOptions, IcedError};

use vm_pmu_engines::image::Mark;
use vm_pmu_engines::x86::{Image, Segment};

pub use dma::Transfer;

/// The outcome of assembling something.
pub type Built<T> = Result<T, IcedError>;

/// Where kernel code is.
pub const KERNEL_CODE: u64 = 0x20_0000;
/// Where the kernel's data are.
pub const KERNEL_DATA: u64 = 0x30_0000;
/// Where the stacks that interrupts switch to are: two of 8 KiB for each CPU.
const STACKS: u64 = 0x38_0000;
/// Where ring-3 code is.
pub const USER_CODE: u64 = 0x40_0000;
/// Where ring-3 data are.
pub const USER_DATA: u64 = 0x50_0000;
/// Where the ring-3 stack of CPU 0 begins, going down; those of further CPUs follow 4 KiB apart.
pub const USER_STACK: u64 = 0x58_0000;

/// The most CPUs of a guest.
pub const MAX_CPUS: u64 = 16;

const CODE: u16 = 0x08;
const DATA: u16 = 0x10;
const USER_DATA_SELECTOR: u32 = 0x18 | 3;
const USER_CODE_SELECTOR: u32 = 0x20 | 3;
const TASK: u16 = 0x28;

/// The local APIC's page.
pub const APIC: u32 = 0xFEE0_0000;
/// The end-of-interrupt register.
pub const APIC_EOI: u32 = 0xB0;
/// The first of the eight interrupt request registers, 32 vectors each, 10h apart.
pub const APIC_IRR: u32 = 0x200;
/// The interrupt command register's low half.
pub const APIC_ICR: u32 = 0x300;
/// The timer's entry in the local vector table.
pub const APIC_LVT_TIMER: u32 = 0x320;
/// The performance counters' entry in the local vector table.
pub const APIC_LVT_PERFORMANCE: u32 = 0x340;
/// The timer's initial count.
pub const APIC_TIMER_COUNT: u32 = 0x380;
/// The timer's divider.
pub const APIC_TIMER_DIVIDE: u32 = 0x3E0;
/// A local vector table entry that delivers an NMI.
pub const LVT_NMI: u32 = 0x400;
/// A local vector table entry that delivers nothing.
pub const LVT_MASKED: u32 = 0x1_0000;

const MSR_EFER: u32 = 0xC000_0080;
const MSR_STAR: u32 = 0xC000_0081;
const MSR_LSTAR: u32 = 0xC000_0082;
const MSR_SFMASK: u32 = 0xC000_0084;
const MSR_GS_BASE: u32 = 0xC000_0101;

/// Bytes of a CPU's own area, which GS points at.
const PER_CPU: u64 = 256;
/// In a CPU's own area: its number.
pub const CPU: u32 = 0;
const KERNEL_STACK: u32 = 8;
/// In a CPU's own area: not 0 while a general-protection fault of RDMSR, WRMSR or RDPMC is to be counted and skipped.
pub const EXPECT: u32 = 16;
/// In a CPU's own area: how many such faults there were.
pub const FAULTS: u32 = 24;
const USER_RSP: u32 = 32;
const USER_RIP: u32 = 40;
const USER_FLAGS: u32 = 48;
const LOST: u32 = 56;

/// In a CPU's own area: cell `n` of those that are the guest's, below 24.
pub const fn own(n: u32) -> u32 {
    64 + 8 * n
}

/// A 64-bit cell of the CPU's own area.
pub fn cell(offset: u32) -> AsmMemoryOperand {
    qword_ptr(offset).gs()
}

/// Puts `label` at this place, where others may be already.
///
/// # Errors
/// Those of the assembler.
pub fn here(a: &mut CodeAssembler, label: &mut CodeLabel) -> Built<()> {
    a.set_label(label)?;
    a.zero_bytes()
}

struct Gate {
    vector: u8,
    label: CodeLabel,
    stack: u8,
    level: u8,
}

/// Where routines begin, by the number of the instruction: only when all is assembled are addresses known.
#[derive(Default)]
struct Routines(Vec<(usize, String)>);

impl Routines {
    fn begin(&mut self, a: &CodeAssembler, name: &str) {
        self.0.push((a.instructions().len(), name.to_owned()));
    }

    fn marks(self, result: &CodeAssemblerResult) -> Vec<Mark> {
        let offsets = &result.inner.new_instruction_offsets;
        let place = |number: usize| offsets.get(number).copied().filter(|offset| *offset != u32::MAX);
        let mark = |(number, name): (usize, String)| Some(Mark::begin(result.inner.rip + u64::from(place(number)?), &name));
        self.0.into_iter().filter_map(mark).collect()
    }
}

/// Ring-3 code.
pub struct User {
    /// The assembler.
    pub a: CodeAssembler,
    routines: Routines,
}

/// Ring-3 code that is assembled.
#[derive(Clone, Debug, Default)]
pub struct UserCode {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

impl From<Vec<u8>> for UserCode {
    /// Without names.
    fn from(bytes: Vec<u8>) -> UserCode {
        UserCode { bytes, marks: Vec::new() }
    }
}

impl User {
    /// Nothing yet.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn new() -> Built<User> {
        Ok(User { a: CodeAssembler::new(64)?, routines: Routines::default() })
    }

    /// A routine of this name begins here. It reaches to the next one.
    pub fn routine(&mut self, name: &str) {
        self.routines.begin(&self.a, name);
    }

    /// Assembles it and finds the addresses of `labels`.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn finish<const N: usize>(mut self, labels: [CodeLabel; N]) -> Built<(UserCode, [u64; N])> {
        let result = self.a.assemble_options(USER_CODE, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?;
        let mut addresses = [0; N];
        for (address, label) in addresses.iter_mut().zip(&labels) {
            *address = result.label_ip(label)?;
        }
        let marks = self.routines.marks(&result);
        Ok((UserCode { bytes: result.inner.code_buffer, marks }, addresses))
    }
}

/// A guest's kernel.
pub struct Kernel {
    /// The assembler. What follows the building blocks is the guest's; its `main` is [`Kernel::main`].
    pub a: CodeAssembler,
    routines: Routines,
    data: Vec<u8>,
    user: UserCode,
    gates: Vec<Gate>,
    main: CodeLabel,
    check: CodeLabel,
    sample: CodeLabel,
    print: CodeLabel,
    exit: CodeLabel,
    enter_user: CodeLabel,
    resume_user: CodeLabel,
    failed: u64,
    idt: u64,
    gdt: u64,
}

impl Kernel {
    /// The building blocks, with `user` to run in ring 3.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn new(user: impl Into<UserCode>) -> Built<Kernel> {
        let mut a = CodeAssembler::new(64)?;
        let mut label = || a.create_label();
        let (main, check, sample, print) = (label(), label(), label(), label());
        let (exit, enter_user, resume_user) = (label(), label(), label());
        let mut kernel = Kernel {
            a,
            routines: Routines::default(),
            data: Vec::new(),
            user: user.into(),
            gates: Vec::new(),
            main,
            check,
            sample,
            print,
            exit,
            enter_user,
            resume_user,
            failed: 0,
            idt: 0,
            gdt: 0,
        };
        kernel.tables();
        kernel.start()?;
        kernel.blocks()?;
        kernel.user_blocks()?;
        kernel.faults()?;
        Ok(kernel)
    }

    /// Reserves `bytes` of zeroed kernel data, aligned to 64 bytes, and returns their address.
    pub fn reserve(&mut self, bytes: u64) -> u64 {
        self.data.resize(self.data.len().next_multiple_of(64), 0);
        let address = KERNEL_DATA + self.data.len() as u64;
        self.data.resize(self.data.len() + bytes as usize, 0);
        address
    }

    /// Puts `bytes` into kernel data and returns their address.
    pub fn place(&mut self, bytes: &[u8]) -> u64 {
        let address = self.reserve(bytes.len() as u64);
        self.poke(address, bytes);
        address
    }

    fn poke(&mut self, address: u64, bytes: &[u8]) {
        let at = (address - KERNEL_DATA) as usize;
        if let Some(place) = self.data.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// Puts a zero-terminated string into kernel data and returns its address.
    pub fn text(&mut self, text: &str) -> u64 {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.place(&bytes)
    }

    /// A routine of this name begins here. It reaches to the next one.
    pub fn routine(&mut self, name: &str) {
        self.routines.begin(&self.a, name);
    }

    /// The guest's own code begins here, on every CPU, with the CPU's number in RDI. Where it returns, CPU 0 ends the guest and the others
    /// halt.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn main(&mut self) -> Built<()> {
        self.routine("main");
        let mut main = self.main;
        here(&mut self.a, &mut main)?;
        self.main = main;
        Ok(())
    }

    /// A handler for `vector` begins here. NMIs get a separate stack.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn handler(&mut self, vector: u8) -> Built<()> {
        match vector {
            2 => self.routine("nmi_handler"),
            _ => self.routine(&format!("handler_{vector:#x}")),
        }
        let mut label = self.a.create_label();
        here(&mut self.a, &mut label)?;
        self.gates.push(Gate { vector, label, stack: u8::from(vector == 2), level: 0 });
        Ok(())
    }

    /// A handler for `vector` that does no more than end the interrupt of the local APIC.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn plain_handler(&mut self, vector: u8) -> Built<()> {
        self.handler(vector)?;
        self.a.push(rax)?;
        self.apic(APIC_EOI, 0)?;
        self.a.pop(rax)?;
        self.a.iretq()
    }

    /// Checks that `seen` lies between `least` and `most`.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn check(&mut self, label: &str, seen: AsmRegister64, least: u64, most: u64) -> Built<()> {
        let text = self.text(label);
        self.a.mov(rsi, seen)?;
        self.a.mov(rdi, text)?;
        self.a.mov(rdx, least)?;
        self.a.mov(rcx, most)?;
        self.a.call(self.check)
    }

    /// Checks that `seen` is `right`.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn check_is(&mut self, label: &str, seen: AsmRegister64, right: u64) -> Built<()> {
        self.check(label, seen, right, right)
    }

    /// Checks that `seen` is what `right` holds.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn check_same(&mut self, label: &str, seen: AsmRegister64, right: AsmRegister64) -> Built<()> {
        let text = self.text(label);
        self.a.mov(rdx, right)?;
        self.a.mov(rcx, rdx)?;
        self.a.mov(rsi, seen)?;
        self.a.mov(rdi, text)?;
        self.a.call(self.check)
    }

    /// Checks that so many faults were counted since the last check. Changes R12.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn check_faults(&mut self, label: &str, right: u64) -> Built<()> {
        self.a.mov(r12, cell(FAULTS))?;
        self.a.mov(cell(FAULTS), 0)?;
        self.check_is(label, r12, right)
    }

    /// Hands back a sample: RDI holds its address, RDX its hits.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn sample(&mut self, label: &str) -> Built<()> {
        let text = self.text(label);
        self.a.mov(rsi, text)?;
        self.a.call(self.sample)
    }

    /// Writes a line to the console.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn print(&mut self, line: &str) -> Built<()> {
        let text = self.text(&format!("{line}\n"));
        self.a.mov(rsi, text)?;
        self.a.call(self.print)
    }

    /// Enters ring 3 at `address` by IRETQ with its flags `rflags`; continues here at its SYSCALL or INT 80h.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn enter_user(&mut self, address: u64, rflags: u64) -> Built<()> {
        let a = &mut self.a;
        a.mov(rsi, cell(CPU))?;
        a.shl(rsi, 12)?;
        a.add(rsi, USER_STACK as i32)?;
        a.mov(rdi, address)?;
        a.mov(rdx, rflags)?;
        a.call(self.enter_user)
    }

    /// Continues in ring 3 by SYSRETQ, after its last SYSCALL.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn resume_user(&mut self) -> Built<()> {
        self.a.call(self.resume_user)
    }

    /// Waits until `cpus` CPUs came here. Every barrier has its own `counter`, 8 bytes of zeroed data.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn barrier(&mut self, counter: u64, cpus: i32) -> Built<()> {
        let a = &mut self.a;
        let mut again = a.create_label();
        a.lock().inc(qword_ptr(counter))?;
        here(a, &mut again)?;
        a.pause()?;
        a.cmp(qword_ptr(counter), cpus)?;
        a.jb(again)
    }

    /// Writes a register of the local APIC. Two instructions; changes RAX.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn apic(&mut self, register: u32, value: u32) -> Built<()> {
        self.a.mov(eax, APIC)?;
        self.a.mov(dword_ptr(rax + register), value as i32)
    }

    /// WRMSR of a constant: four instructions.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn wrmsr(&mut self, register: u32, value: u64) -> Built<()> {
        self.a.mov(ecx, register)?;
        self.a.mov(eax, value as u32)?;
        self.a.mov(edx, (value >> 32) as u32)?;
        self.a.wrmsr()
    }

    /// RDMSR into RAX, all 64 bits: four instructions.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn rdmsr(&mut self, register: u32) -> Built<()> {
        self.a.mov(ecx, register)?;
        self.a.rdmsr()?;
        self.a.shl(rdx, 32)?;
        self.a.or(rax, rdx)
    }

    /// RDPMC into RAX, all 64 bits: four instructions.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn rdpmc(&mut self, index: u32) -> Built<()> {
        self.a.mov(ecx, index)?;
        self.a.rdpmc()?;
        self.a.shl(rdx, 32)?;
        self.a.or(rax, rdx)
    }

    /// RDTSC into RAX, all 64 bits: three instructions.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn rdtsc(&mut self) -> Built<()> {
        self.a.rdtsc()?;
        self.a.shl(rdx, 32)?;
        self.a.or(rax, rdx)
    }

    /// The image.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn finish(mut self) -> Built<Image> {
        let result = self.a.assemble_options(KERNEL_CODE, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?;
        for gate in std::mem::take(&mut self.gates) {
            let target = result.label_ip(&gate.label)?;
            let low = target & 0xFFFF
                | u64::from(CODE) << 16
                | u64::from(gate.stack) << 32
                | 0x8E << 40
                | u64::from(gate.level) << 45
                | (target >> 16 & 0xFFFF) << 48;
            let at = self.idt + 16 * u64::from(gate.vector);
            self.poke(at, &low.to_le_bytes());
            self.poke(at + 8, &(target >> 32).to_le_bytes());
        }
        let mut marks = self.routines.marks(&result);
        marks.extend(self.user.marks);
        let segment = |address, bytes: Vec<u8>, executable| Segment { address, size: bytes.len() as u64, bytes, executable };
        let mut segments = vec![segment(KERNEL_CODE, result.inner.code_buffer, true), segment(KERNEL_DATA, self.data, false)];
        if !self.user.bytes.is_empty() {
            segments.push(segment(USER_CODE, self.user.bytes, true));
        }
        Ok(Image { segments, entry: KERNEL_CODE, ..Image::default() }.with_marks(marks))
    }
}
