//! Programs, and an observer that keeps what it is notified of.

pub(crate) use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::{
    Alerts, Config, CpuView, EXIT, Exit, Gate, Image, L3Miss, Limits, Machine, Notice, Observer, PerformanceMonitorInfo, RegisterFault,
    Step, Switch, Taken,
};

/// Where programs are.
pub(crate) const BASE: u64 = 0x1_0000;
/// Memory for the programs' data.
pub(crate) const DATA: u64 = 0x2_0000;

/// What a thread reported, and what it gets as results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    /// The instructions.
    pub(crate) steps: Vec<Step>,
    /// The interruptions and calls of the firmware.
    pub(crate) notices: Vec<Notice>,
    /// Going to the foreground and to the background.
    pub(crate) switches: Vec<Switch>,
    /// What held up changes of threads.
    pub(crate) gates: Vec<Gate>,
    /// Cycles of stalls.
    pub(crate) stalled: u64,
    /// Cycles of waits.
    pub(crate) waited: u64,
    /// PSR in each context.
    pub(crate) contexts: Vec<u64>,
    /// Performance monitor registers that were written: those above 255 are data.
    pub(crate) writes: Vec<(u16, u64)>,
    /// The performance monitor interrupts once, after this many instructions.
    pub(crate) interrupt_after: Option<usize>,
    /// Loads miss the third-level cache for this many cycles.
    pub(crate) miss: Option<u32>,
    /// It does not stand still for them.
    pub(crate) goes_on: bool,
    /// The code of its next instruction misses the third-level cache: that instruction takes so many cycles.
    pub(crate) late: Option<u32>,
}

impl Recorder {
    /// The vectors of the interruptions.
    pub(crate) fn vectors(&self) -> Vec<u16> {
        let vector = |notice: &Notice| match notice.taken {
            Taken::Interruption(vector) => Some(vector),
            Taken::Firmware(_) => None,
        };
        self.notices.iter().filter_map(vector).collect()
    }
}

impl Observer for Recorder {
    fn read_pmc(&mut self, index: u8, _: &CpuView<'_>) -> Result<u64, RegisterFault> {
        Ok(0x100 + u64::from(index))
    }

    fn write_pmc(&mut self, index: u8, value: u64, _: &CpuView<'_>) -> Result<(), RegisterFault> {
        self.writes.push((u16::from(index), value));
        Ok(())
    }

    fn read_pmd(&mut self, index: u8, _: &CpuView<'_>) -> Result<u64, RegisterFault> {
        Ok(0x200 + u64::from(index))
    }

    fn write_pmd(&mut self, index: u8, value: u64, _: &CpuView<'_>) -> Result<(), RegisterFault> {
        self.writes.push((256 + u16::from(index), value));
        Ok(())
    }

    fn context(&mut self, cpu: &CpuView<'_>) {
        self.contexts.push(cpu.psr());
    }

    fn retire(&mut self, step: &Step, _: &CpuView<'_>) -> Alerts {
        self.steps.push(step.clone());
        if let Some(cycles) = self.late.take() {
            return Alerts { cycles: Some(cycles), l3_miss: Some(L3Miss { latency: cycles, waits: false }), ..Alerts::NONE };
        }
        let missed = self.miss.filter(|_| step.access.is_some_and(|access| access.physical == DATA));
        Alerts { l3_miss: missed.map(|latency| L3Miss { latency, waits: !self.goes_on }), ..Alerts::NONE }
    }

    fn notice(&mut self, notice: &Notice, _: &CpuView<'_>) -> Alerts {
        self.notices.push(*notice);
        Alerts::NONE
    }

    fn switched(&mut self, switch: &Switch, _: &CpuView<'_>) -> Option<u32> {
        self.switches.push(*switch);
        None
    }

    fn gated(&mut self, gate: Gate) {
        self.gates.push(gate);
    }

    fn interrupt(&mut self) -> bool {
        let due = self.interrupt_after.is_some_and(|after| self.steps.len() >= after);
        if due {
            self.interrupt_after = None;
        }
        due
    }

    fn stalled(&mut self, cycles: u64) {
        self.stalled += cycles;
    }

    fn waited(&mut self, cycles: u64) {
        self.waited += cycles;
    }

    fn performance_monitor_info(&self) -> PerformanceMonitorInfo {
        PerformanceMonitorInfo { info: 0x0812_2F0C, buffer: std::array::from_fn(|word| 0x10 + word as u64) }
    }
}

/// The end of every program, and what is at every interruption vector.
fn end(a: &mut Assembler) {
    a.load(R2, EXIT);
    a.put(st1(R2, R0));
}

/// Code at an address, followed by the end.
pub(crate) fn code(address: u64, build: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut a = Assembler::new(address);
    build(&mut a);
    end(&mut a);
    a.finish().unwrap()
}

/// A machine with a program at [`BASE`], handlers, and the end at all other vectors of a table at 0.
pub(crate) fn machine(config: &Config, handlers: &[(u64, Vec<u8>)], build: impl FnOnce(&mut Assembler)) -> Machine<Recorder> {
    let mut image = Image::raw(BASE, code(BASE, build));
    for vector in (0..0x8000).step_by(0x100) {
        image = image.with(vector, code(vector, |_| {}));
    }
    for (address, bytes) in handlers {
        image = image.with(*address, bytes.clone());
    }
    Machine::new(config, &image, |_| Recorder::default()).unwrap()
}

/// Runs a machine until the guest ends it.
pub(crate) fn finish(mut machine: Machine<Recorder>) -> Machine<Recorder> {
    let exit = machine.run(Limits::steps(100_000));
    assert!(matches!(exit, Exit::Status { status: 0, .. }), "{exit}");
    machine
}

/// Runs a program on one thread.
pub(crate) fn run(build: impl FnOnce(&mut Assembler)) -> Machine<Recorder> {
    finish(machine(&Config::default(), &[], build))
}

/// Runs a program on one thread with a handler at one vector.
pub(crate) fn run_with(vector: u64, handler: impl FnOnce(&mut Assembler), build: impl FnOnce(&mut Assembler)) -> Machine<Recorder> {
    finish(machine(&Config::default(), &[(vector, code(vector, handler))], build))
}

/// A general register that is no NaT.
pub(crate) fn gr(machine: &Machine<Recorder>, number: usize) -> u64 {
    let (value, nat) = machine.cpu(0).unwrap().gr(number);
    assert!(!nat, "r{number} is a NaT");
    value
}

/// Whether a general register is a NaT.
pub(crate) fn nat(machine: &Machine<Recorder>, number: usize) -> bool {
    machine.cpu(0).unwrap().gr(number).1
}

/// A predicate.
pub(crate) fn pr(machine: &Machine<Recorder>, number: usize) -> bool {
    machine.cpu(0).unwrap().predicate(number)
}

/// The recorder of the first thread.
pub(crate) fn recorded(machine: &Machine<Recorder>) -> &Recorder {
    machine.observer(0).unwrap()
}

/// The vectors of the interruptions of the first thread.
pub(crate) fn vectors(machine: &Machine<Recorder>) -> Vec<u16> {
    recorded(machine).vectors()
}

/// What r8 is after instructions with `x` in r14 and `y` in r15.
pub(crate) fn of(x: u64, y: u64, op: Op) -> u64 {
    let machine = run(|a| {
        a.load(R14, x);
        a.load(R15, y);
        a.put(op);
    });
    gr(&machine, 8)
}
