//! What the tests share: an observer that keeps what it saw, and one machine twice.

pub(crate) use vm_pmu_engines::power::assemble::*;
pub(crate) use vm_pmu_engines::power::registers::{msr, spr};
pub(crate) use vm_pmu_engines::power::*;
pub(crate) use vm_pmu_engines::unicorn::power::{Blocks, Emulation, Shares};

pub(crate) const CODE: u64 = 0x1_0000;
pub(crate) const DATA: u64 = 0x1_8000;
pub(crate) const RAM: u64 = 0x4_0000;

/// Keeps every step and notice, and the lengths of blocks that ran at one go, if it allows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Recorder {
    pub(crate) at_one_go: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) blocks: Vec<usize>,
    /// Instructions of blocks that were entered and not taken back.
    pub(crate) entered: u64,
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
}

impl Blocks for Recorder {
    type Sums = usize;

    fn sums(&self, steps: &[Step]) -> usize {
        steps.len()
    }

    fn enter(&mut self, instructions: u32) -> bool {
        self.entered += u64::from(instructions) * u64::from(self.at_one_go);
        self.at_one_go
    }

    fn take_back(&mut self, instructions: u32) {
        self.entered -= u64::from(instructions);
    }

    fn settle(&mut self) {
        assert_eq!(self.entered, self.blocks.iter().map(|steps| *steps as u64).sum::<u64>(), "what was entered ran");
    }

    fn ran(&mut self, steps: &[Step], sums: &usize, branch: Option<&Step>) {
        assert_eq!(steps.len(), sums + usize::from(branch.is_some()), "the parts make the whole");
        self.blocks.push(steps.len());
        self.steps.extend_from_slice(&steps[..steps.len() - usize::from(branch.is_some())]);
        self.steps.extend(branch);
    }
}

/// What can be seen of a CPU and of memory.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    exit: Exit,
    pc: u64,
    msr: u64,
    pub(crate) gpr: Vec<u64>,
    fpr: Vec<u64>,
    cr: u32,
    others: [u64; 3],
    special: Vec<u64>,
    cycles: u64,
    /// Doublewords that are not 0, by number.
    memory: Vec<(usize, u64)>,
}

pub(crate) fn seen<O: Observer>(machine: &Machine<O>, exit: Exit) -> Seen {
    let cpu = machine.cpu(0).expect("a CPU");
    let mut memory = vec![0; RAM as usize];
    machine.memory().read_bytes(0, &mut memory).expect("RAM");
    let words = memory.chunks_exact(8).map(|word| u64::from_be_bytes(word.try_into().expect("8 bytes"))).enumerate();
    Seen {
        exit,
        pc: cpu.pc(),
        msr: cpu.msr(),
        gpr: (0..32).map(|number| cpu.gpr(number)).collect(),
        fpr: (0..32).map(|number| cpu.fpr(number)).collect(),
        cr: cpu.cr(),
        others: [cpu.lr(), cpu.ctr(), cpu.xer()],
        special: [spr::SRR0, spr::SRR1, spr::HSRR0, spr::HSRR1, spr::DAR, spr::DSISR, spr::HEIR].map(|number| cpu.spr(number)).to_vec(),
        cycles: cpu.cycles(),
        memory: words.filter(|(_, word)| *word != 0).collect(),
    }
}

/// A program at [`CODE`]; interrupts skip the instruction that they interrupt.
pub(crate) fn image(little_endian: bool, build: impl FnOnce(&mut Assembler)) -> Image {
    let mut a = Assembler::new(CODE, little_endian);
    build(&mut a);
    let mut image = Image::raw(CODE, a.finish().expect("assembles"));
    for at in (0x100..0x1000).step_by(0x20) {
        let hypervisor = matches!(at, 0xE40 | 0xF80);
        let place = if hypervisor { spr::HSRR0 } else { spr::SRR0 };
        let mut a = Assembler::new(at, little_endian);
        a.mtspr(spr::SPRG0, R3);
        a.mfspr(R3, place);
        a.addi(R3, R3, 4);
        a.mtspr(place, R3);
        a.mfspr(R3, spr::SPRG0);
        if hypervisor {
            a.hrfid()
        } else {
            a.rfid()
        }
        image = image.with(at, a.finish().expect("assembles"));
    }
    image
}

/// A machine of `cpus` CPUs on `image`.
pub(crate) fn machine(image: &Image, little_endian: bool, cpus: usize, at_one_go: bool) -> Machine<Recorder> {
    let config = Config { ram: RAM, little_endian, cpus, ..Config::default() };
    Machine::new(&config, image, |_| Recorder { at_one_go, ..Recorder::default() }).expect("a machine")
}

/// Runs `image` on the project's own engine.
pub(crate) fn interpreted(image: &Image, little_endian: bool, cpus: usize, limit: u64) -> (Machine<Recorder>, Seen) {
    let mut machine = machine(image, little_endian, cpus, false);
    let exit = machine.run(Limits::steps(limit));
    let seen = seen(&machine, exit);
    (machine, seen)
}

/// Runs `image` on Unicorn.
pub(crate) fn emulated(image: &Image, little_endian: bool, cpus: usize, limit: u64, at_one_go: bool) -> (Machine<Recorder>, Seen, Shares) {
    let mut machine = machine(image, little_endian, cpus, at_one_go);
    let mut emulation = Emulation::new(&machine).expect("a Unicorn");
    let exit = emulation.run(&mut machine, Limits::steps(limit)).expect("Unicorn goes on");
    let seen = seen(&machine, exit);
    (machine, seen, emulation.shares())
}

/// Ends the run.
pub(crate) fn end(a: &mut Assembler) {
    a.load(R31, EXIT);
    a.stb(R31, 0, R31);
}
