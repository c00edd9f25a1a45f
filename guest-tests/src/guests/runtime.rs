//! What every guest needs: descriptor tables, handlers, ring 3, the local APIC, and the report.
//!
//! A guest is assembled in two parts: [`User`], which runs in ring 3 and is assembled first so that its addresses are known, and
//! [`Kernel`]. Both are plain code at fixed addresses; nothing is relocated.
//!
//! Conventions: RBX, RBP and R12 to R15 belong to the guest; everything here may change the other registers.

use iced_x86::code_asm::*;
use iced_x86::{BlockEncoderOptions, Code, IcedError, Instruction};

use super::protocol::{MAGIC, MAX_CHECKS, MAX_SAMPLES, REPORT, REPORT_CHECKS, REPORT_SAMPLES};
use crate::engine::interp::{Image, Segment};

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
pub const MAX_CPUS: u64 = 4;

const CODE: u16 = 0x08;
const DATA: u16 = 0x10;
const USER_DATA_SELECTOR: u32 = 0x18 | 3;
const USER_CODE_SELECTOR: u32 = 0x20 | 3;
const TASK: u16 = 0x28;

/// The local APIC's page.
const APIC: u32 = 0xFEE0_0000;
/// The end-of-interrupt register.
pub const APIC_EOI: u32 = 0xB0;
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

/// Ring-3 code.
pub struct User {
    /// The assembler.
    pub a: CodeAssembler,
}

impl User {
    /// Nothing yet.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn new() -> Built<User> {
        Ok(User { a: CodeAssembler::new(64)? })
    }

    /// Assembles it and finds the addresses of `labels`.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn finish<const N: usize>(mut self, labels: [CodeLabel; N]) -> Built<(Vec<u8>, [u64; N])> {
        let result = self.a.assemble_options(USER_CODE, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?;
        let mut addresses = [0; N];
        for (address, label) in addresses.iter_mut().zip(&labels) {
            *address = result.label_ip(label)?;
        }
        Ok((result.inner.code_buffer, addresses))
    }
}

/// A guest's kernel.
pub struct Kernel {
    /// The assembler. What follows the building blocks is the guest's; its `main` is [`Kernel::main`].
    pub a: CodeAssembler,
    data: Vec<u8>,
    user: Vec<u8>,
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
    pub fn new(user: Vec<u8>) -> Built<Kernel> {
        let mut a = CodeAssembler::new(64)?;
        let mut label = || a.create_label();
        let (main, check, sample, print) = (label(), label(), label(), label());
        let (exit, enter_user, resume_user) = (label(), label(), label());
        let mut kernel = Kernel {
            a,
            data: Vec::new(),
            user,
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

    fn tables(&mut self) {
        let tasks = self.reserve(128 * MAX_CPUS);
        self.failed = self.reserve(8);
        self.idt = self.reserve(256 * 16);
        let mut gdt = vec![0, 0x00AF_9B00_0000_FFFFu64, 0x00CF_9300_0000_FFFF, 0x00CF_F300_0000_FFFF, 0x00AF_FB00_0000_FFFF];
        for cpu in 0..MAX_CPUS {
            let base = tasks + 128 * cpu;
            gdt.push(0x67 | (base & 0xFF_FFFF) << 16 | 0x89 << 40 | (base >> 24 & 0xFF) << 56);
            gdt.push(base >> 32);
            let stack = STACKS + 0x4000 * cpu;
            self.poke(base + 4, &(stack + 0x2000).to_le_bytes());
            self.poke(base + 0x24, &(stack + 0x4000).to_le_bytes());
            // No I/O permission bit map.
            self.poke(base + 0x66, &0x68u16.to_le_bytes());
        }
        let bytes: Vec<u8> = gdt.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        self.gdt = self.place(&bytes);
    }

    fn table_register(&mut self, base: u64, bytes: u64) -> u64 {
        let limit = (bytes - 1) as u16;
        let register: Vec<u8> = limit.to_le_bytes().into_iter().chain(base.to_le_bytes()).collect();
        self.place(&register)
    }

    /// The entry: RDI holds the CPU's number, RSP its stack.
    fn start(&mut self) -> Built<()> {
        let gdtr = self.table_register(self.gdt, 8 * (5 + 2 * MAX_CPUS));
        let idtr = self.table_register(self.idt, 256 * 16);
        let areas = self.reserve(PER_CPU * MAX_CPUS);
        let syscall = self.a.create_label();
        let mut reloaded = self.a.create_label();
        let mut rest = self.a.create_label();
        let a = &mut self.a;
        a.mov(r15, rdi)?;
        a.lgdt(ptr(gdtr))?;
        a.lidt(ptr(idtr))?;
        a.push(i32::from(CODE))?;
        a.lea(rax, ptr(reloaded))?;
        a.push(rax)?;
        a.add_instruction(Instruction::with(Code::Retfq))?;
        here(a, &mut reloaded)?;
        a.mov(eax, u32::from(DATA))?;
        a.mov(ss, ax)?;
        a.mov(ds, ax)?;
        a.mov(es, ax)?;
        a.mov(eax, r15d)?;
        a.shl(eax, 4)?;
        a.add(eax, u32::from(TASK))?;
        a.ltr(ax)?;
        // GS: the CPU's own area. With a null selector, which a return to ring 3 leaves alone.
        a.xor(eax, eax)?;
        a.mov(gs, ax)?;
        a.mov(rax, r15)?;
        a.imul_3(rax, rax, PER_CPU as i32)?;
        a.add(rax, areas as i32)?;
        a.xor(edx, edx)?;
        a.mov(ecx, MSR_GS_BASE)?;
        a.wrmsr()?;
        a.mov(cell(CPU), r15)?;
        // SYSCALL and SYSRET.
        a.mov(ecx, MSR_EFER)?;
        a.rdmsr()?;
        a.or(eax, 1)?;
        a.wrmsr()?;
        a.mov(ecx, MSR_STAR)?;
        a.xor(eax, eax)?;
        a.mov(edx, u32::from(CODE) | u32::from(DATA) << 16)?;
        a.wrmsr()?;
        a.mov(ecx, MSR_LSTAR)?;
        a.lea(rax, ptr(syscall))?;
        a.xor(edx, edx)?;
        a.wrmsr()?;
        a.mov(ecx, MSR_SFMASK)?;
        a.mov(eax, 0x700u32)?;
        a.wrmsr()?;
        // The local APIC: software enable, spurious vector FFh.
        a.mov(eax, APIC)?;
        a.mov(dword_ptr(rax + 0xF0), 0x1FF)?;
        a.mov(rax, MAGIC)?;
        a.mov(qword_ptr(REPORT), rax)?;
        a.mov(rdi, r15)?;
        a.call(self.main)?;
        a.cmp(cell(CPU), 0)?;
        a.je(self.exit)?;
        here(a, &mut rest)?;
        a.hlt()?;
        a.jmp(rest)?;
        // SYSCALL comes back to whoever entered ring 3.
        let mut syscall = syscall;
        here(a, &mut syscall)?;
        a.mov(cell(USER_RSP), rsp)?;
        a.mov(cell(USER_RIP), rcx)?;
        a.mov(cell(USER_FLAGS), r11)?;
        a.mov(rsp, cell(KERNEL_STACK))?;
        a.ret()
    }

    fn blocks(&mut self) -> Built<()> {
        let failed = self.failed;
        let a = &mut self.a;
        let (mut bad, mut full) = (a.create_label(), a.create_label());
        // check: RDI label, RSI seen, RDX least, RCX most.
        here(a, &mut self.check)?;
        a.mov(eax, 1)?;
        a.lock().xadd(qword_ptr(REPORT + 8), rax)?;
        a.cmp(rax, MAX_CHECKS as i32)?;
        a.jae(full)?;
        a.shl(rax, 5)?;
        a.add(rax, REPORT_CHECKS as i32)?;
        a.mov(qword_ptr(rax), rdi)?;
        a.mov(qword_ptr(rax + 8), rsi)?;
        a.mov(qword_ptr(rax + 16), rdx)?;
        a.mov(qword_ptr(rax + 24), rcx)?;
        a.cmp(rsi, rdx)?;
        a.jb(bad)?;
        a.cmp(rsi, rcx)?;
        a.ja(bad)?;
        a.ret()?;
        here(a, &mut full)?;
        a.lock().dec(qword_ptr(REPORT + 8))?;
        here(a, &mut bad)?;
        a.mov(dword_ptr(failed), 1)?;
        a.ret()?;
        // sample: RDI address, RSI label, RDX hits.
        let mut no_room = a.create_label();
        here(a, &mut self.sample)?;
        a.mov(rax, qword_ptr(REPORT + 16))?;
        a.cmp(rax, MAX_SAMPLES as i32)?;
        a.jae(no_room)?;
        a.inc(qword_ptr(REPORT + 16))?;
        a.imul_3(rax, rax, 24)?;
        a.add(rax, REPORT_SAMPLES as i32)?;
        a.mov(qword_ptr(rax), rdi)?;
        a.mov(qword_ptr(rax + 8), rsi)?;
        a.mov(qword_ptr(rax + 16), rdx)?;
        here(a, &mut no_room)?;
        a.ret()?;
        // print: RSI a zero-terminated string.
        let mut done = a.create_label();
        here(a, &mut self.print)?;
        a.mov(al, byte_ptr(rsi))?;
        a.test(al, al)?;
        a.je(done)?;
        a.out(0xE9, al)?;
        a.inc(rsi)?;
        a.jmp(self.print)?;
        here(a, &mut done)?;
        a.ret()?;
        // exit: the status is whether a check failed.
        let mut stop = a.create_label();
        here(a, &mut self.exit)?;
        a.mov(eax, dword_ptr(failed))?;
        a.out(0xF4, al)?;
        here(a, &mut stop)?;
        a.cli()?;
        a.hlt()?;
        a.jmp(stop)
    }

    fn user_blocks(&mut self) -> Built<()> {
        let a = &mut self.a;
        // enter_user: RDI where to, RSI its stack, RDX its RFLAGS. Returns at its SYSCALL or INT 80h.
        here(a, &mut self.enter_user)?;
        a.mov(cell(KERNEL_STACK), rsp)?;
        a.push(USER_DATA_SELECTOR as i32)?;
        a.push(rsi)?;
        a.push(rdx)?;
        a.push(USER_CODE_SELECTOR as i32)?;
        a.push(rdi)?;
        a.iretq()?;
        // resume_user: goes on by SYSRET behind the last SYSCALL.
        here(a, &mut self.resume_user)?;
        a.mov(cell(KERNEL_STACK), rsp)?;
        a.mov(rcx, cell(USER_RIP))?;
        a.mov(r11, cell(USER_FLAGS))?;
        a.mov(rsp, cell(USER_RSP))?;
        a.sysretq()?;
        let mut gate = a.create_label();
        here(a, &mut gate)?;
        a.mov(rsp, cell(KERNEL_STACK))?;
        a.ret()?;
        self.gates.push(Gate { vector: 0x80, label: gate, stack: 0, level: 3 });
        Ok(())
    }

    /// Exceptions: #GP on a register access is counted and skipped where expected; all else ends the guest.
    fn faults(&mut self) -> Built<()> {
        let name = self.text("an exception that nothing expected");
        let place = self.text("where it happened");
        let mut lost = self.a.create_label();
        for vector in (0..32).filter(|vector| !matches!(vector, 2 | 13)) {
            let mut label = self.a.create_label();
            here(&mut self.a, &mut label)?;
            self.a.mov(cell(LOST), i32::from(vector))?;
            // Where an error code lies, RIP is one further up.
            let has_code = matches!(vector, 8 | 10..=14 | 17);
            self.a.mov(rbx, qword_ptr(rsp + if has_code { 8 } else { 0 }))?;
            self.a.jmp(lost)?;
            self.gates.push(Gate { vector, label, stack: 0, level: 0 });
        }
        let mut gp = self.a.create_label();
        let a = &mut self.a;
        let (mut skip, mut other) = (a.create_label(), a.create_label());
        here(a, &mut gp)?;
        a.push(rax)?;
        a.cmp(cell(EXPECT), 0)?;
        a.je(other)?;
        // RDMSR, WRMSR and RDPMC are two bytes each: 0F 32, 0F 30, 0F 33.
        a.mov(rax, qword_ptr(rsp + 16))?;
        a.movzx(eax, word_ptr(rax))?;
        for opcode in [0x320F, 0x300F, 0x330F] {
            a.cmp(eax, opcode)?;
            a.je(skip)?;
        }
        here(a, &mut other)?;
        a.pop(rax)?;
        a.mov(cell(LOST), 13)?;
        a.mov(rbx, qword_ptr(rsp + 8))?;
        a.jmp(lost)?;
        here(a, &mut skip)?;
        a.inc(cell(FAULTS))?;
        a.add(qword_ptr(rsp + 16), 2)?;
        a.pop(rax)?;
        a.add(rsp, 8)?;
        a.iretq()?;
        here(a, &mut lost)?;
        a.mov(rdi, name)?;
        a.mov(rsi, cell(LOST))?;
        a.mov(edx, 256)?;
        a.mov(ecx, 256)?;
        a.call(self.check)?;
        a.mov(rdi, place)?;
        a.mov(rsi, rbx)?;
        a.xor(edx, edx)?;
        a.mov(rcx, u64::MAX)?;
        a.call(self.check)?;
        a.jmp(self.exit)?;
        self.gates.push(Gate { vector: 13, label: gp, stack: 0, level: 0 });
        Ok(())
    }

    /// The guest's own code begins here, on every CPU, with the CPU's number in RDI. Where it returns, CPU 0 ends the guest and the
    /// others halt.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn main(&mut self) -> Built<()> {
        let mut main = self.main;
        here(&mut self.a, &mut main)?;
        self.main = main;
        Ok(())
    }

    /// A handler for `vector` begins here. NMIs get a stack of their own.
    ///
    /// # Errors
    /// Those of the assembler.
    pub fn handler(&mut self, vector: u8) -> Built<()> {
        let mut label = self.a.create_label();
        here(&mut self.a, &mut label)?;
        self.gates.push(Gate { vector, label, stack: u8::from(vector == 2), level: 0 });
        Ok(())
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

    /// Enters ring 3 at `address` by IRETQ with its flags `rflags`; goes on here at its SYSCALL or INT 80h.
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

    /// Goes on in ring 3 by SYSRETQ, behind the SYSCALL that it came back with.
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
        let segment = |address, bytes: Vec<u8>| Segment { address, size: bytes.len() as u64, bytes };
        let mut segments = vec![segment(KERNEL_CODE, result.inner.code_buffer), segment(KERNEL_DATA, self.data)];
        if !self.user.is_empty() {
            segments.push(segment(USER_CODE, self.user));
        }
        Ok(Image { segments, entry: KERNEL_CODE })
    }
}
