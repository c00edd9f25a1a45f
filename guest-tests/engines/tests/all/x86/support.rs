//! What the tests of the interpreter are made of: guests, an observer that keeps what it saw, names of registers and flags.

pub(crate) use std::sync::Arc;

pub(crate) use iced_x86::IcedError;
pub(crate) use iced_x86::code_asm::*;
pub(crate) use proptest::prelude::*;
pub(crate) use vm_pmu_engines::x86::{
    Alerts, BranchKind, CONFIGURATION_WINDOW, Config, CpuView, EmptyBus, Exit, Gp, Image, ImageError, InstructionClass, Interrupter,
    Invalidation, Limits, Machine, MachineBus, MachineError, Mode, Observer, PageWalk, PciFunction, PerformanceMask, SegmentSet, SimdClass,
    Step, StepKind, Stop, Touched, Unobserved, selector,
};

pub(crate) const CODE: u64 = 0x10_0000;
pub(crate) const IDT: u64 = 0x20_0000;
pub(crate) const DATA: u64 = 0x30_0000;

pub(crate) const CF: u64 = 1;
pub(crate) const PF: u64 = 4;
pub(crate) const AF: u64 = 0x10;
pub(crate) const ZF: u64 = 0x40;
pub(crate) const SF: u64 = 0x80;
pub(crate) const OF: u64 = 0x800;
pub(crate) const STATUS: u64 = CF | PF | AF | ZF | SF | OF;

pub(crate) type Build = fn(&mut CodeAssembler) -> Result<(), IcedError>;

pub(crate) fn assemble(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut a = CodeAssembler::new(64).expect("64-bit");
    build(&mut a).expect("encodable");
    a.assemble(CODE).expect("assembles")
}

pub(crate) fn gate(handler: u64, kind: u64, ist: u64) -> [u8; 16] {
    let low = handler & 0xffff | u64::from(selector::CODE) << 16 | ist << 32 | kind << 40 | (handler >> 16 & 0xffff) << 48;
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&low.to_le_bytes());
    bytes[8..].copy_from_slice(&(handler >> 32).to_le_bytes());
    bytes
}

pub(crate) const INTERRUPT: u64 = 0x8e;
pub(crate) const TRAP_USER: u64 = 0xef;

/// An image of code with an IDT whose vector n goes to handler n at `CODE + 0x1000 + 0x100 * n`.
pub(crate) struct Guest {
    pub(crate) image: Image,
}

impl Guest {
    pub(crate) fn new(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Self {
        // LIDT of the pointer at IDT - 16, then the program.
        let code = assemble(|a| {
            a.lidt(ptr(IDT - 16))?;
            build(a)
        });
        let mut pointer = vec![0xff, 0x0f];
        pointer.extend_from_slice(&IDT.to_le_bytes());
        Self { image: Image::raw(CODE, code).with(IDT - 16, pointer) }
    }

    pub(crate) fn handler_at(
        mut self,
        vector: u64,
        kind: u64,
        ist: u64,
        build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
    ) -> Self {
        let at = CODE + 0x1000 + 0x100 * vector;
        self.image = self.image.with(at, assemble(build)).with(IDT + 16 * vector, gate(at, kind, ist));
        self
    }

    pub(crate) fn handler(self, vector: u64, build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Self {
        self.handler_at(vector, INTERRUPT, 0, build)
    }

    pub(crate) fn machine<O: Observer>(&self, config: &Config, observer: impl FnMut(usize) -> O) -> Machine<O> {
        Machine::new(config, &self.image, Arc::new(EmptyBus), observer).expect("loads")
    }

    pub(crate) fn run(&self) -> (Machine<Log>, Exit) {
        self.run_with(&Config::default())
    }

    pub(crate) fn run_with(&self, config: &Config) -> (Machine<Log>, Exit) {
        let mut machine = self.machine(config, |_| Log::default());
        let exit = machine.run(Limits { steps: 1_000_000, cycles: 10_000_000 });
        (machine, exit)
    }
}

/// Records every step; returns a few registers.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) steps: Vec<Step>,
    pub(crate) contexts: Vec<(u8, bool, bool)>,
    pub(crate) halted: u64,
    pub(crate) alert_at: Option<usize>,
    pub(crate) written: Vec<(u32, u64)>,
}

impl Observer for Log {
    fn rdmsr(&mut self, msr: u32, _: &CpuView<'_>) -> Option<Result<u64, Gp>> {
        match msr {
            0xc001_0004 => Some(Ok(0x1234_5678_9abc)),
            0xc001_0005 => Some(Err(Gp)),
            _ => None,
        }
    }

    fn wrmsr(&mut self, msr: u32, value: u64, _: &CpuView<'_>) -> Option<Result<(), Gp>> {
        (msr == 0xc001_0004).then(|| {
            self.written.push((msr, value));
            Ok(())
        })
    }

    fn rdpmc(&mut self, number: u32, cpu: &CpuView<'_>) -> Result<u64, Gp> {
        if cpu.cpl() != 0 && cpu.cr4() & 1 << 8 == 0 { Err(Gp) } else { Ok(0x1_0000_0000 + u64::from(number)) }
    }

    fn context(&mut self, cpu: &CpuView<'_>) {
        self.contexts.push((cpu.cpl(), cpu.interrupts_enabled(), cpu.halted()));
    }

    fn retire(&mut self, step: &Step, _: &CpuView<'_>) -> Alerts {
        self.steps.push(*step);
        if self.alert_at == Some(self.steps.len()) { Alerts::PERFORMANCE_INTERRUPT } else { Alerts::NONE }
    }

    fn halted_cycles(&mut self, cycles: u64) -> Alerts {
        self.halted += cycles;
        Alerts::NONE
    }
}

pub(crate) fn stop(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.cli()?;
    a.hlt()
}

/// Runs a program to its end in HLT and returns the machine.
pub(crate) fn run(build: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Machine<Log> {
    let (machine, exit) = Guest::new(|a| {
        build(a)?;
        stop(a)
    })
    .run();
    assert_eq!(exit, Exit::Halted);
    machine
}

pub(crate) fn gpr(machine: &Machine<Log>, number: usize) -> u64 {
    machine.cpu(0).expect("CPU 0").gpr(number)
}

pub(crate) fn flags(machine: &Machine<Log>) -> u64 {
    machine.cpu(0).expect("CPU 0").rflags() & STATUS
}

pub(crate) const RAX: usize = 0;
pub(crate) const RCX: usize = 1;
pub(crate) const RDX: usize = 2;
pub(crate) const RBX: usize = 3;
pub(crate) const RSI: usize = 6;
pub(crate) const RDI: usize = 7;

/// Enters CPL 3 by SYSRET at the label, with the stack in the data region.
pub(crate) fn to_user(a: &mut CodeAssembler, user: CodeLabel) -> Result<(), IcedError> {
    a.mov(ecx, 0xc000_0081u32)?; // STAR
    a.mov(edx, 0x0010_0008)?;
    a.xor(eax, eax)?;
    a.wrmsr()?;
    a.lea(rcx, qword_ptr(user))?;
    a.mov(r11d, 0x202)?;
    a.mov(rsp, DATA + 0x8000)?;
    a.sysretq()
}

pub(crate) fn user_config() -> Config {
    Config { user: std::iter::once(0..0x40_0000).collect(), ..Config::default() }
}
