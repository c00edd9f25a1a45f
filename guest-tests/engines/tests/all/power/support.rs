//! What the tests of the POWER interpreter are made of: small programs, and an observer that keeps what it saw.

pub(crate) use vm_pmu_engines::power::assemble::*;
pub(crate) use vm_pmu_engines::power::registers::{bescr, facility, lpcr, msr, spr};
pub(crate) use vm_pmu_engines::power::*;

pub(crate) const CODE: u64 = 0x10_0000;
pub(crate) const DATA: u64 = 0x20_0000;

/// Keeps every step, notice and context.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) steps: Vec<Step>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) contexts: usize,
}

impl Observer for Recorder {
    fn retire(&mut self, step: &Step, _: &CpuView<'_>) -> Alerts {
        self.steps.push(*step);
        Alerts::NONE
    }

    fn notice(&mut self, notice: &Notice, _: &CpuView<'_>) -> Alerts {
        self.notices.push(*notice);
        Alerts::NONE
    }

    fn context(&mut self, _: &CpuView<'_>) {
        self.contexts += 1;
    }
}

/// A program at [`CODE`], and at every vector the end of the run.
pub(crate) fn image(little_endian: bool, build: impl FnOnce(&mut Assembler)) -> Image {
    let mut a = Assembler::new(CODE, little_endian);
    build(&mut a);
    end(&mut a);
    let mut image = Image::raw(CODE, a.finish().expect("assembles"));
    for at in (0x100..0x1000).step_by(0x20) {
        let mut a = Assembler::new(at, little_endian);
        // Changes no register: SPRG3 has the address that ends the run.
        a.mtspr(spr::SPRG0, R31);
        a.mfspr(R31, spr::SPRG3);
        a.stb(R31, 0, R31);
        a.mfspr(R31, spr::SPRG0);
        image = image.with(at, a.finish().expect("assembles"));
    }
    image
}

/// Ends the run. Changes GPR 31.
pub(crate) fn end(a: &mut Assembler) {
    a.load(R31, EXIT);
    a.stb(R31, 0, R31);
}

/// Runs a program on one CPU until it ends, or a vector is reached.
pub(crate) fn run_with<O: Observer>(little_endian: bool, observer: O, build: impl FnOnce(&mut Assembler)) -> Machine<O> {
    let image = image(little_endian, |a| {
        a.load(R31, EXIT);
        a.mtspr(spr::SPRG3, R31);
        a.load(R31, 0);
        build(a);
    });
    let config = Config { ram: 4 << 20, little_endian, ..Config::default() };
    let mut observer = Some(observer);
    let mut machine = Machine::new(&config, &image, |_| observer.take().expect("one CPU")).expect("a machine");
    let exit = machine.run(Limits::steps(20_000));
    assert!(matches!(exit, Exit::Status { .. }), "{exit}");
    machine
}

pub(crate) fn run(build: impl FnOnce(&mut Assembler)) -> Machine<Recorder> {
    run_with(true, Recorder::default(), build)
}

/// What GPR 3 holds when a program ends.
pub(crate) fn result(build: impl FnOnce(&mut Assembler)) -> u64 {
    let machine = run(build);
    assert_eq!(machine.observer(0).expect("a CPU").notices, [], "no interrupt");
    gpr(&machine, 3)
}

pub(crate) fn gpr<O: Observer>(machine: &Machine<O>, number: usize) -> u64 {
    machine.cpu(0).expect("a CPU").gpr(number)
}

pub(crate) fn special<O: Observer>(machine: &Machine<O>, number: u16) -> u64 {
    machine.cpu(0).expect("a CPU").spr(number)
}

/// The vectors that were taken, in order.
pub(crate) fn vectors(machine: &Machine<Recorder>) -> Vec<u16> {
    let number = |notice: &Notice| match notice.taken {
        Taken::Interrupt(vector) => vector,
        Taken::EventBasedBranch => 0,
    };
    machine.observer(0).expect("a CPU").notices.iter().map(number).collect()
}

/// Goes to `label` with MSR as it is, less `clear` and with `set`. Changes GPR 30 and 29.
pub(crate) fn go(a: &mut Assembler, label: Label, clear: u64, set: u64) {
    a.mfmsr(R30);
    a.load(R29, clear);
    a.andc(R30, R30, R29);
    a.load(R29, set);
    a.or(R30, R30, R29);
    a.mtspr(spr::SRR1, R30);
    a.load_address(R30, label);
    a.mtspr(spr::SRR0, R30);
    a.rfid();
    a.here(label);
}

/// A few instructions.
pub(crate) type Build = fn(&mut Assembler);
