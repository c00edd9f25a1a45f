//! The code and tables that every guest begins with.

use iced_x86::code_asm::*;
use iced_x86::{Code, Instruction};

use super::{
    APIC, Built, CODE, CPU, DATA, EXPECT, FAULTS, Gate, KERNEL_STACK, Kernel, LOST, MAX_CPUS, MSR_EFER, MSR_GS_BASE, MSR_LSTAR, MSR_SFMASK,
    MSR_STAR, PER_CPU, STACKS, TASK, USER_CODE_SELECTOR, USER_DATA_SELECTOR, USER_FLAGS, USER_RIP, USER_RSP, cell, here,
};
use crate::protocol::{MAGIC, MAX_CHECKS, MAX_SAMPLES, REPORT, REPORT_CHECKS, REPORT_SAMPLES};

impl Kernel {
    pub(super) fn tables(&mut self) {
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
    pub(super) fn start(&mut self) -> Built<()> {
        let gdtr = self.table_register(self.gdt, 8 * (5 + 2 * MAX_CPUS));
        let idtr = self.table_register(self.idt, 256 * 16);
        let areas = self.reserve(PER_CPU * MAX_CPUS);
        let syscall = self.a.create_label();
        let mut reloaded = self.a.create_label();
        let mut rest = self.a.create_label();
        self.routine("start");
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
        // SYSCALL returns to the code that entered ring 3.
        self.routine("system_call");
        let a = &mut self.a;
        let mut syscall = syscall;
        here(a, &mut syscall)?;
        a.mov(cell(USER_RSP), rsp)?;
        a.mov(cell(USER_RIP), rcx)?;
        a.mov(cell(USER_FLAGS), r11)?;
        a.mov(rsp, cell(KERNEL_STACK))?;
        a.ret()
    }

    pub(super) fn blocks(&mut self) -> Built<()> {
        let failed = self.failed;
        let a = &mut self.a;
        let (mut bad, mut full) = (a.create_label(), a.create_label());
        // check: RDI label, RSI seen, RDX least, RCX most.
        self.routine("check");
        let a = &mut self.a;
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
        self.routine("sample");
        let a = &mut self.a;
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
        self.routine("print");
        let a = &mut self.a;
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
        self.routine("exit");
        let a = &mut self.a;
        here(a, &mut self.exit)?;
        a.mov(eax, dword_ptr(failed))?;
        a.out(0xF4, al)?;
        here(a, &mut stop)?;
        a.cli()?;
        a.hlt()?;
        a.jmp(stop)
    }

    pub(super) fn user_blocks(&mut self) -> Built<()> {
        // enter_user: RDI where to, RSI its stack, RDX its RFLAGS. Returns at its SYSCALL or INT 80h.
        self.routine("enter_user");
        let a = &mut self.a;
        here(a, &mut self.enter_user)?;
        a.mov(cell(KERNEL_STACK), rsp)?;
        a.push(USER_DATA_SELECTOR as i32)?;
        a.push(rsi)?;
        a.push(rdx)?;
        a.push(USER_CODE_SELECTOR as i32)?;
        a.push(rdi)?;
        a.iretq()?;
        // resume_user: continues by SYSRET after the last SYSCALL.
        self.routine("resume_user");
        let a = &mut self.a;
        here(a, &mut self.resume_user)?;
        a.mov(cell(KERNEL_STACK), rsp)?;
        a.mov(rcx, cell(USER_RIP))?;
        a.mov(r11, cell(USER_FLAGS))?;
        a.mov(rsp, cell(USER_RSP))?;
        a.sysretq()?;
        let mut gate = a.create_label();
        self.routine("leave_user");
        let a = &mut self.a;
        here(a, &mut gate)?;
        a.mov(rsp, cell(KERNEL_STACK))?;
        a.ret()?;
        self.gates.push(Gate { vector: 0x80, label: gate, stack: 0, level: 3 });
        Ok(())
    }

    /// Exceptions: #GP on a register access is counted and skipped where expected; all else ends the guest.
    pub(super) fn faults(&mut self) -> Built<()> {
        let name = self.text("an exception that nothing expected");
        let place = self.text("where it happened");
        let mut lost = self.a.create_label();
        for vector in (0..32).filter(|vector| !matches!(vector, 2 | 13)) {
            let mut label = self.a.create_label();
            self.routine(&format!("exception_{vector}"));
            here(&mut self.a, &mut label)?;
            self.a.mov(cell(LOST), i32::from(vector))?;
            // With an error code, RIP is one further up.
            let has_code = matches!(vector, 8 | 10..=14 | 17);
            self.a.mov(rbx, qword_ptr(rsp + if has_code { 8 } else { 0 }))?;
            self.a.jmp(lost)?;
            self.gates.push(Gate { vector, label, stack: 0, level: 0 });
        }
        let mut gp = self.a.create_label();
        let a = &mut self.a;
        let (mut skip, mut other) = (a.create_label(), a.create_label());
        self.routine("exception_13");
        let a = &mut self.a;
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
        self.routine("unexpected_exception");
        let a = &mut self.a;
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
}
