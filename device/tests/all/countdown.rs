//! A countdown of blocks and the same instructions told one at a time: the same counters, and interrupts at the same instructions.

use std::sync::Mutex;

use proptest::prelude::*;
use vm_pmu::arch::power9::spr;
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu::{Context, Countdown, Lines, Pace, Signal, SignalSet};

/// The lengths of blocks that every program is cut into.
const SIZES: [usize; 6] = [1, 2, 5, 16, 64, 512];

/// Counters that are programmed.
const COUNTERS: usize = 3;

/// What is asked of the CPU, in order.
#[derive(Debug, Default)]
struct Raised(Mutex<Vec<u32>>);

impl InterruptLine for Raised {
    fn raise(&self, _thread: usize, counter: u32) {
        self.0.lock().unwrap().push(counter);
    }

    fn lines(&self, _thread: usize, lines: Lines) {
        if lines.interrupt {
            self.0.lock().unwrap().push(0);
        }
    }
}

type Cpu<'a> = Thread<'a, Raised>;

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
enum Op {
    Plain,
    Load,
    /// Ends no block: a branch that is not taken, say.
    Branch,
    /// Reads a counter.
    Read(usize),
    /// Lets a counter overflow after so many.
    Write(usize, u64),
    /// Goes to the other level.
    Level,
    /// Is not completed: an exception.
    Fault,
}

/// A part, and how a guest programs its counters.
#[derive(Clone, Copy, Debug)]
struct Part {
    name: &'static str,
    /// The signal of branches, which the countdown has in its low bits, and that of loads.
    branches: Signal,
    loads: Signal,
    levels: [Context; 2],
    /// Programs the counters by what was drawn for each.
    program: fn(Cpu<'_>, [usize; COUNTERS]),
    read: fn(Cpu<'_>, usize) -> u64,
    /// Has a counter overflow after so many, and takes the cause of an interrupt away.
    write: fn(Cpu<'_>, usize, u64),
}

fn k8() -> Part {
    fn program(cpu: Cpu<'_>, choice: [usize; COUNTERS]) {
        // Instructions with exceptions, cycles, branches, data cache accesses; the latter in one cycle or more. USR, OS or both; INT, EN.
        let selects = [0xC0, 0x76, 0xC2, 0x40, 0x0100_0040].map(|event| [0x51, 0x52, 0x53].map(|flags| flags << 16 | event));
        for (number, choice) in (0..).zip(choice) {
            cpu.x86().wrmsr(0xC001_0000 + number, selects[choice % 5][choice / 5 % 3]).unwrap();
        }
    }
    Part {
        name: "k8",
        branches: Signal::BranchesRetired,
        loads: Signal::DataCacheAccesses,
        levels: [0, 3].map(|cpl| Context::x86(cpl, 0x202, 0)),
        program,
        read: |cpu, counter| cpu.x86().rdmsr(0xC001_0004 + counter as u32).unwrap(),
        write: |cpu, counter, events| cpu.x86().wrmsr(0xC001_0004 + counter as u32, 0u64.wrapping_sub(events)).unwrap(),
    }
}

/// Two counters of the thread and one that always counts its cycles.
fn knl() -> Part {
    fn program(cpu: Cpu<'_>, choice: [usize; COUNTERS]) {
        // Instructions, cycles, branches, loads; USR, OS or both; INT, EN.
        let selects = [0xC0, 0x3C, 0xC4, 0x4004].map(|event| [0x51, 0x52, 0x53].map(|flags| flags << 16 | event));
        for (number, choice) in (0..).zip(&choice[..2]) {
            cpu.x86().wrmsr(0x186 + number, selects[choice % 4][choice / 4 % 3]).unwrap();
        }
        // The second fixed counter: at levels 0, above it, or all, with its interrupt.
        cpu.x86().wrmsr(0x38D, (8 | (1 + choice[2] as u64 % 3)) << 4).unwrap();
        cpu.x86().wrmsr(0x38F, 1 << 33 | 3).unwrap();
    }
    fn address(counter: usize) -> u32 {
        [0xC1, 0xC2, 0x30A][counter]
    }
    Part {
        name: "knl",
        branches: Signal::BranchesRetired,
        loads: Signal::Loads,
        levels: [0, 3].map(|cpl| Context::x86(cpl, 0x202, 0)),
        program,
        read: |cpu, counter| cpu.x86().rdmsr(address(counter)).unwrap(),
        write: |cpu, counter, events| {
            // A thread's counters take 32 bits and their sign, the fixed ones all 40.
            let width = if counter == 2 { (1 << 40) - 1 } else { u64::from(u32::MAX) };
            cpu.x86().wrmsr(address(counter), 0u64.wrapping_sub(events) & width).unwrap();
            cpu.x86().wrmsr(0x390, 1 << 33 | 3).unwrap();
        },
    }
}

/// PMC1, PMC2 and PMC5.
fn power9() -> Part {
    /// PMAE, FCECE, PMC1CE and PMCjCE.
    const ALERTING: u64 = 0x0600_C000;
    fn program(cpu: Cpu<'_>, choice: [usize; COUNTERS]) {
        // PMC1: cycles or loads; PMC2: instructions or taken branches.
        let (first, second) = ([0x1E, 0xFC][choice[0] % 2], [0x02, 0xFA][choice[1] % 2]);
        cpu.power().mtspr(spr::MMCR1, first << 24 | second << 16).unwrap();
        // MMCR2 freezes each by itself, in privileged or in problem state.
        let freezes = (0..).zip(choice).map(|(counter, choice)| match (counter, choice / 2 % 3) {
            (2, which) => (which as u64) << (62 - 9 * 4),
            (counter, which) => (which as u64) << (62 - 9 * counter),
        });
        cpu.power().mtspr(spr::MMCR2, freezes.sum()).unwrap();
        cpu.power().mtspr(spr::MMCR0, ALERTING).unwrap();
    }
    fn register(counter: usize) -> u16 {
        spr::PMC1 + [0, 1, 4][counter]
    }
    Part {
        name: "power9",
        branches: Signal::BranchesTaken,
        loads: Signal::Loads,
        // Privileged and problem state, with the run latch on.
        levels: [0, 1 << 14].map(|msr| Context::power(msr, 1)),
        program,
        read: |cpu, counter| cpu.power().mfspr(register(counter)).unwrap(),
        write: |cpu, counter, events| {
            cpu.power().mtspr(register(counter), 0x8000_0000 - events).unwrap();
            cpu.power().mtspr(spr::MMCR0, ALERTING).unwrap();
        },
    }
}

/// A program, and the counters under which it runs.
#[derive(Clone, Debug)]
struct Program {
    choice: [usize; COUNTERS],
    periods: [u64; COUNTERS],
    /// Cycles of each instruction.
    cycles: u32,
    ops: Vec<Op>,
}

/// What there is to see of a run: values that were read, and between which instructions the handler ran.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    read: Vec<u64>,
    interrupts: Vec<(usize, Vec<u32>)>,
}

/// A CPU that runs a program.
struct Emulator<'a> {
    part: Part,
    program: &'a Program,
    machine: &'a Machine<Raised>,
    cpu: Cpu<'a>,
    level: usize,
    seen: Seen,
}

impl<'a> Emulator<'a> {
    fn new(part: Part, program: &'a Program, machine: &'a Machine<Raised>) -> Emulator<'a> {
        let cpu = machine.thread(0).unwrap();
        cpu.set_context(part.levels[0]);
        (part.program)(cpu, program.choice);
        for (counter, period) in program.periods.iter().enumerate() {
            (part.write)(cpu, counter, *period);
        }
        Emulator { part, program, machine, cpu, level: 0, seen: Seen::default() }
    }

    /// The work of an instruction or a handler that accesses registers, which the kernel does.
    fn privileged<T>(part: &Part, level: usize, cpu: Cpu<'_>, work: impl FnOnce(Cpu<'_>) -> T) -> T {
        cpu.set_context(part.levels[0]);
        let answer = work(cpu);
        cpu.set_context(part.levels[level]);
        answer
    }

    /// The interrupts that wait before the instruction of this number, of which a handler makes one counter overflow again.
    fn asked(&mut self, at: usize) -> Option<(usize, u64)> {
        let raised = std::mem::take(&mut *self.machine.line().0.lock().unwrap());
        if raised.is_empty() {
            return None;
        }
        let counter = self.seen.interrupts.len() % COUNTERS;
        self.seen.interrupts.push((at, raised));
        Some((counter, self.program.periods[counter]))
    }

    fn finish(mut self) -> Seen {
        self.cpu.set_context(self.part.levels[0]);
        self.seen.read.extend((0..COUNTERS).map(|counter| (self.part.read)(self.cpu, counter)));
        self.seen
    }

    /// Adds what each cycle has.
    fn add_cycles(cpu: Cpu<'_>, cycles: u32) {
        for signal in CLOCKS {
            cpu.totals().add(signal, u64::from(cycles));
        }
    }

    /// One instruction after the other, each told by itself.
    fn run_singly(mut self) -> Seen {
        let Emulator { part, cpu, .. } = self;
        for (at, op) in self.program.ops.iter().enumerate() {
            match *op {
                Op::Read(counter) => {
                    let value = Self::privileged(&part, self.level, cpu, |cpu| (part.read)(cpu, counter));
                    self.seen.read.push(value);
                }
                Op::Write(counter, events) => Self::privileged(&part, self.level, cpu, |cpu| (part.write)(cpu, counter, events)),
                Op::Load => _ = cpu.totals().add(part.loads, 1),
                Op::Branch => _ = cpu.totals().add(part.branches, 1),
                Op::Plain | Op::Level | Op::Fault => {}
            }
            let done = if matches!(op, Op::Fault) { Signal::ExceptionsTaken } else { Signal::InstructionsRetired };
            cpu.totals().add(done, 1);
            Self::add_cycles(cpu, self.program.cycles);
            if Signal::all().any(|signal| cpu.reached(signal)) {
                cpu.service();
            }
            if matches!(op, Op::Level) {
                self.level = 1 - self.level;
                cpu.set_context(part.levels[self.level]);
            }
            if let Some((counter, events)) = self.asked(at + 1) {
                Self::privileged(&part, self.level, cpu, |cpu| (part.write)(cpu, counter, events));
            }
        }
        self.finish()
    }

    /// Blocks of up to `size` instructions, taken off a countdown.
    fn run_in_blocks(mut self, size: usize) -> Seen {
        let Emulator { part, program, cpu, .. } = self;
        let countdown = Countdown::with(CLOCKS.map(|signal| (signal, program.cycles))).paired(part.branches);
        let mut at = 0;
        while at < program.ops.len() {
            self.attend(&countdown, at);
            let block = block(&program.ops[at..], size);
            let mut block = &program.ops[at..at + block];
            while !countdown.enter(takes(block)) {
                block = &block[..countdown.refill(cpu, block.len() as u32) as usize];
                self.attend(&countdown, at);
            }
            at += self.execute(&countdown, block);
        }
        countdown.sync(cpu);
        self.attend(&countdown, at);
        countdown.settle(cpu);
        self.finish()
    }

    /// Looks for interrupts between two blocks.
    fn attend(&mut self, countdown: &Countdown, at: usize) {
        if let Some((counter, events)) = self.asked(at) {
            let Emulator { part, level, .. } = *self;
            countdown.ask(self.cpu, 0, |cpu| Self::privileged(&part, level, cpu, |cpu| (part.write)(cpu, counter, events)));
        }
    }

    /// Executes a block that was entered; how far.
    fn execute(&mut self, countdown: &Countdown, block: &[Op]) -> usize {
        let Emulator { part, cpu, level, .. } = *self;
        for (index, op) in block.iter().enumerate() {
            // This instruction and those behind it.
            let open = takes(&block[index..]);
            match *op {
                Op::Read(counter) => {
                    let value = countdown.ask(cpu, open, |cpu| Self::privileged(&part, level, cpu, |cpu| (part.read)(cpu, counter)));
                    self.seen.read.push(value);
                }
                Op::Write(counter, events) => {
                    countdown.ask(cpu, open, |cpu| Self::privileged(&part, level, cpu, |cpu| (part.write)(cpu, counter, events)));
                }
                Op::Load => _ = cpu.totals().add(part.loads, 1),
                Op::Level => {
                    self.level = 1 - level;
                    countdown.ask(cpu, 0, |cpu| cpu.set_context(part.levels[self.level]));
                }
                Op::Fault => {
                    countdown.take_back(open);
                    countdown.ask(cpu, 0, |cpu| {
                        cpu.totals().add(Signal::ExceptionsTaken, 1);
                        Self::add_cycles(cpu, self.program.cycles);
                    });
                    return index + 1;
                }
                Op::Plain | Op::Branch => {}
            }
        }
        block.len()
    }
}

/// What an emulator of one clock has in each cycle.
const CLOCKS: [Signal; 2] = [Signal::Cycles, Signal::CoreActiveCycles];

/// How long a block of at most `size` is that begins here: what writes registers or changes the level is the last.
fn block(ops: &[Op], size: usize) -> usize {
    let end = ops.iter().position(|op| matches!(op, Op::Write(..) | Op::Level)).map_or(ops.len(), |last| last + 1);
    end.min(size)
}

fn takes(ops: &[Op]) -> u64 {
    Countdown::takes(ops.len() as u32, ops.iter().filter(|op| matches!(op, Op::Branch)).count() as u32)
}

fn machine(part: &Part, single: bool) -> Machine<Raised> {
    let signals = SignalSet::from_iter([Signal::InstructionsRetired, Signal::CoreActiveCycles, part.branches, part.loads]);
    let between = SignalSet::from_iter([Signal::ExceptionsTaken, Signal::InterruptsTaken]);
    let pace = if single { Pace::default().single(signals).between_blocks(between) } else { Pace::default() };
    Builder::new(part.name).unwrap().pace(pace).build(Raised::default()).unwrap()
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        20 => Just(Op::Plain),
        10 => Just(Op::Load),
        10 => Just(Op::Branch),
        1 => (0..COUNTERS).prop_map(Op::Read),
        1 => (0..COUNTERS, 1..60_u64).prop_map(|(counter, events)| Op::Write(counter, events)),
        1 => Just(Op::Level),
        1 => Just(Op::Fault),
    ]
}

/// Stretches of few kinds beside those of all: long blocks come of the former.
fn ops() -> impl Strategy<Value = Vec<Op>> {
    let stretch = prop_oneof![
        prop::collection::vec(op(), 1..80),
        (1..700_usize).prop_map(|length| [Op::Plain, Op::Load, Op::Branch].into_iter().cycle().take(length).collect()),
    ];
    prop::collection::vec(stretch, 1..6).prop_map(|stretches| stretches.concat())
}

fn program() -> impl Strategy<Value = Program> {
    let periods = prop::array::uniform3(prop_oneof![1..40_u64, 100..900_u64, Just(1 << 20)]);
    (prop::array::uniform3(0..60_usize), periods, 1..4_u32, ops()).prop_map(|(choice, periods, cycles, ops)| Program {
        choice,
        periods,
        cycles,
        ops,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_count_and_interrupt_as_their_instructions_do(program in program(), single: bool) {
        for part in [k8(), knl(), power9()] {
            let told = machine(&part, single);
            let expected = Emulator::new(part, &program, &told).run_singly();
            for size in SIZES {
                let counted = machine(&part, single);
                let seen = Emulator::new(part, &program, &counted).run_in_blocks(size);
                prop_assert_eq!(&seen, &expected, "{} in blocks of {}", part.name, size);
            }
        }
    }
}

/// A program that interrupts on each part, so that the property is one of interrupts too.
#[test]
fn a_loop_of_blocks_interrupts_at_the_instructions_of_its_periods() {
    let ops = vec![Op::Plain; 1000];
    // Cycles at every level: the second of the K8's events, PMC1's first of POWER9's, the fixed counter of Knights Landing's.
    for (part, choice, periods) in [
        (k8(), [1 + 5 * 2, 2, 2], [300, 1 << 20, 1 << 20]),
        (knl(), [2, 2, 2], [1 << 20, 1 << 20, 300]),
        (power9(), [0, 1, 0], [300, 1 << 20, 1 << 20]),
    ] {
        let program = Program { choice, periods, cycles: 1, ops: ops.clone() };
        for size in SIZES {
            let machine = machine(&part, true);
            let seen = Emulator::new(part, &program, &machine).run_in_blocks(size);
            assert_eq!(seen.interrupts.first().map(|(at, _)| *at), Some(300), "{} in blocks of {size}", part.name);
        }
    }
}
