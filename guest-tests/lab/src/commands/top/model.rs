//! What the live view knows of a guest, and what its keys do: nothing of a terminal.

use std::collections::VecDeque;
use std::sync::Arc;

use ratatui::crossterm::event::KeyCode;
use vm_pmu::Part;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu_board::trace::Value;

use super::counters::Counter;
use super::watch::{Passed, Watch, counter_of};
use crate::commands::{decode, render};
use crate::dialect::select;
use crate::held::{Held, Seen, Stop};
use crate::number::grouped;
use crate::report::{Action, Trace};
use crate::symbols::Symbols;

/// The most accesses and the most interrupts that are remembered.
const REMEMBERED: usize = 256;

/// How many steps are taken from one frame to the next on the way to something.
const STRIDE: u64 = 50_000;

/// Where a guest that is not paused runs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// On.
    Run,
    /// So many steps on.
    Steps(u64),
    /// To the next access to a register of the PMU.
    Access,
    /// To the next interrupt that is taken.
    Interrupt,
    /// To the next overflow that asks for an interrupt.
    Overflow,
}

impl Goal {
    fn is_reached(self, action: &Action) -> bool {
        match self {
            Goal::Run | Goal::Steps(_) => false,
            Goal::Access => action.register().is_some(),
            Goal::Interrupt => matches!(action, Action::Taken),
            Goal::Overflow => matches!(action, Action::Interrupt { .. }),
        }
    }

    /// Whether the frames on the way are worth looking at.
    pub(super) fn is_watched(self) -> bool {
        self == Goal::Run
    }

    /// Whether it is a number of steps.
    pub(super) fn is_counted(self) -> bool {
        matches!(self, Goal::Steps(_))
    }

    /// What the guest does meanwhile.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Goal::Run | Goal::Steps(_) => "running",
            Goal::Access => "running to the next access",
            Goal::Interrupt => "running to the next interrupt",
            Goal::Overflow => "running to the next overflow",
        }
    }
}

/// A thread of the guest.
#[derive(Clone, Debug)]
pub struct ThreadView {
    /// Where it is.
    pub seen: Seen,
    /// How many cycles have passed for it since the last frame.
    pub cycles: u64,
    /// Its counters.
    pub counters: Vec<Counter>,
    /// Its registers.
    pub values: Vec<Value>,
    /// What they held at the last frame.
    pub before: Vec<u64>,
    registers: Vec<&'static RegisterDescription>,
    /// Its cycles at the last frame.
    began: u64,
}

/// Something that is remembered: when it was, in steps of the machine, and what it was.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// Steps that the machine had taken.
    pub step: u64,
    /// What passed.
    pub entry: Trace,
    /// How many had passed before it.
    pub order: u64,
}

impl Remembered {
    /// An access, or what is only its effect.
    fn is_access(&self) -> bool {
        matches!(self.entry.action, Action::Read { .. } | Action::Write { .. } | Action::Freeze { written: true, .. })
    }
}

/// A guest, from one frame to the next.
#[derive(Clone, Debug)]
pub struct Model {
    /// The part.
    pub part: Part,
    /// The guest's name.
    pub title: String,
    /// What its file says of addresses.
    pub symbols: Symbols,
    /// Its threads.
    pub threads: Vec<ThreadView>,
    /// The thread that is shown.
    pub chosen: usize,
    /// Steps that the machine has taken.
    pub steps: u64,
    /// Steps that it has taken since the last frame.
    pub taken: u64,
    /// Where it runs to; nothing if it is paused.
    pub goal: Option<Goal>,
    /// How it has ended, if it has.
    pub ended: Option<Stop>,
    /// Steps from one frame to the next while it runs on.
    pub every: u64,
    /// What is typed of a write, if one is.
    pub prompt: Option<String>,
    /// What happened last, in one line.
    pub message: String,
    /// Accesses of the guest to its PMU, the last last.
    pub accesses: VecDeque<Remembered>,
    /// Interrupts, and what else the PMU did by itself, the last last.
    pub interrupts: VecDeque<Remembered>,
    passed: u64,
    watch: Arc<Watch>,
    left: u64,
    /// It is on the way to the goal, which needs more than one frame.
    under_way: bool,
}

impl Model {
    /// A guest that has not run yet, and takes at most `limit` steps; `watch` is told of what passes.
    pub(super) fn new(machine: &dyn Held, watch: Arc<Watch>, (title, symbols): (String, Symbols), every: u64, limit: u64) -> Model {
        let thread = |number: usize| {
            let seen = machine.seen(number)?;
            let registers = machine.pmu_registers(number);
            let counters = registers.iter().filter_map(|register| Counter::new(register)).collect();
            Some(ThreadView { seen, cycles: 0, counters, values: Vec::new(), before: Vec::new(), registers, began: seen.cycles })
        };
        let mut model = Model {
            part: machine.part(),
            title,
            symbols,
            threads: (0..machine.threads()).map_while(thread).collect(),
            chosen: 0,
            steps: 0,
            taken: 0,
            goal: None,
            ended: None,
            every,
            prompt: None,
            message: "paused before the first instruction: p runs on, s takes a step".to_owned(),
            accesses: VecDeque::new(),
            interrupts: VecDeque::new(),
            passed: 0,
            watch,
            left: limit,
            under_way: false,
        };
        model.update(machine);
        model.threads.iter_mut().for_each(ThreadView::begin);
        model
    }

    /// The thread that is shown.
    #[must_use]
    pub fn thread(&self) -> Option<&ThreadView> {
        self.threads.get(self.chosen)
    }

    /// Lets the guest run until the next frame, or as far as it shall.
    pub fn advance(&mut self, machine: &mut dyn Held) {
        let Some(goal) = self.goal else { return };
        // What is on the way to something has one frame from where it began.
        if !self.under_way || goal == Goal::Run {
            self.begin();
        }
        let places = (goal == Goal::Steps(1)).then(|| self.places(machine));
        let most = match goal {
            Goal::Run => self.every,
            Goal::Steps(steps) => steps,
            Goal::Access | Goal::Interrupt | Goal::Overflow => STRIDE,
        };
        let mut taken = 0;
        while taken < most && self.goal.is_some() {
            self.step(machine, goal);
            taken += 1;
        }
        if matches!(goal, Goal::Steps(_)) {
            self.goal = None;
        }
        self.under_way = self.goal.is_some();
        self.update(machine);
        if let Some(places) = places.filter(|places| places.len() > 1 && self.ended.is_none()) {
            let moved = places.iter().zip(self.places(machine)).position(|(before, now)| *before != now);
            self.message = moved.map_or_else(|| "no CPU has moved".to_owned(), |number| format!("the step was CPU {number}'s"));
        }
    }

    /// Where each thread is.
    fn places(&self, machine: &dyn Held) -> Vec<Option<(u64, u64, u64)>> {
        (0..self.threads.len()).map(|number| machine.place(number)).collect()
    }

    /// The last interrupts and accesses, the last first, `most` of them: half of them interrupts, if there are so many.
    #[must_use]
    pub fn last(&self, most: usize) -> Vec<&Remembered> {
        let interrupts = self.interrupts.len().min(most.div_ceil(2).max(most.saturating_sub(self.accesses.len())));
        let accesses = self.accesses.iter().rev().take(most - interrupts);
        let mut last: Vec<&Remembered> = self.interrupts.iter().rev().take(interrupts).chain(accesses).collect();
        last.sort_by_key(|one| std::cmp::Reverse(one.order));
        last
    }

    fn step(&mut self, machine: &mut dyn Held, goal: Goal) {
        if self.left == 0 {
            self.end(Stop { status: None, words: format!("not done after {} steps", grouped(self.steps)) });
            return;
        }
        self.left -= 1;
        let stop = machine.step();
        self.steps += 1;
        self.taken += 1;
        for passed in self.watch.take() {
            if goal.is_reached(&passed.entry.action) {
                self.goal = None;
                self.chosen = passed.entry.thread;
                self.message = self.told(&passed.entry);
            }
            self.note(passed);
        }
        if let Some(stop) = stop {
            self.end(stop);
        }
    }

    fn end(&mut self, stop: Stop) {
        self.message = format!("the guest has ended: {}", stop.words);
        self.ended = Some(stop);
        self.goal = None;
    }

    /// What passed, in a line.
    fn told(&self, entry: &Trace) -> String {
        let (what, meaning) = render::words(Some(self.part), &entry.action, entry.address);
        let cpu = if self.threads.len() > 1 { format!("CPU {}: ", entry.thread) } else { String::new() };
        let space = if meaning.is_empty() { "" } else { "   " };
        format!("{cpu}{what}{space}{meaning}")
    }

    fn note(&mut self, Passed { entry, after }: Passed) {
        if let (Action::Write { register, before, value, .. }, Some(thread)) = (&entry.action, self.threads.get_mut(entry.thread)) {
            let name = counter_of(register);
            if let Some(counter) = thread.counters.iter_mut().find(|counter| counter.register.name == name) {
                counter.written(*before, after.unwrap_or(*value));
            }
        }
        let one = Remembered { step: self.steps, entry, order: self.passed };
        self.passed += 1;
        let list = if one.is_access() { &mut self.accesses } else { &mut self.interrupts };
        if list.len() >= REMEMBERED {
            list.pop_front();
        }
        list.push_back(one);
    }

    /// A frame begins.
    fn begin(&mut self) {
        self.taken = 0;
        self.threads.iter_mut().for_each(ThreadView::begin);
    }

    /// Looks at the machine.
    fn update(&mut self, machine: &dyn Held) {
        for (number, thread) in self.threads.iter_mut().enumerate() {
            let Some(seen) = machine.seen(number) else { continue };
            thread.cycles = seen.cycles.saturating_sub(thread.began);
            thread.seen = seen;
            machine.update(number, &thread.registers, &mut thread.values);
            for counter in &mut thread.counters {
                counter.update(self.part, &thread.values);
            }
        }
    }

    /// Does what a key says; whether the view is left.
    pub fn press(&mut self, key: KeyCode, machine: &mut dyn Held) -> bool {
        if self.prompt.is_some() {
            self.type_in(key, machine);
            return false;
        }
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return true,
            KeyCode::Char(' ' | 'p') if self.goal.is_some() => self.pause(),
            KeyCode::Char(' ' | 'p' | 'r') => self.run(Goal::Run),
            KeyCode::Char('s') => self.run(Goal::Steps(1)),
            KeyCode::Char('n') => self.run(Goal::Steps(self.every)),
            KeyCode::Char('a') => self.run(Goal::Access),
            KeyCode::Char('i') => self.run(Goal::Interrupt),
            KeyCode::Char('o') => self.run(Goal::Overflow),
            KeyCode::Char('t') | KeyCode::Tab => self.choose((self.chosen + 1) % self.threads.len().max(1)),
            KeyCode::Char('w') => {
                self.goal = None;
                self.prompt = Some(String::new());
            }
            KeyCode::Char('+') => self.pace(self.every.saturating_mul(10)),
            KeyCode::Char('-') => self.pace(self.every / 10),
            KeyCode::Char(digit) => match digit.to_digit(10) {
                Some(number) => self.choose(number as usize),
                None => self.message = format!("no key `{digit}`"),
            },
            _ => {}
        }
        false
    }

    fn pause(&mut self) {
        self.goal = None;
        "paused".clone_into(&mut self.message);
    }

    fn run(&mut self, goal: Goal) {
        match &self.ended {
            Some(stop) => self.message = format!("the guest has ended: {}", stop.words),
            None => {
                (self.goal, self.under_way) = (Some(goal), false);
                self.message.clear();
            }
        }
    }

    fn choose(&mut self, number: usize) {
        match self.threads.len() {
            1 => "the guest has one CPU".clone_into(&mut self.message),
            threads if number >= threads => self.message = format!("no CPU {number}: there are 0 to {}", threads - 1),
            _ => {
                self.chosen = number;
                self.message.clear();
            }
        }
    }

    fn pace(&mut self, every: u64) {
        self.every = every.clamp(1, 10_000_000);
        self.message = format!("{} from one frame to the next", crate::number::counted(self.every as usize, "step"));
    }

    fn type_in(&mut self, key: KeyCode, machine: &mut dyn Held) {
        let Some(text) = &mut self.prompt else { return };
        match key {
            KeyCode::Char(letter) if text.len() < 80 => text.push(letter),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Esc => self.prompt = None,
            KeyCode::Enter => {
                let text = std::mem::take(text);
                self.prompt = None;
                if !text.trim().is_empty() {
                    self.message = self.write(&text, machine).unwrap_or_else(|refused| refused);
                }
            }
            _ => {}
        }
    }

    /// Writes a register of the thread that is shown, as `REG=VALUE` or `REG VALUE`.
    fn write(&mut self, text: &str, machine: &mut dyn Held) -> Result<String, String> {
        let text = text.trim();
        let assigned = if text.contains('=') { text.to_owned() } else { text.replacen(' ', "=", 1) };
        let decoded = decode::assignment(self.part, &assigned).map_err(|error| error.to_string())?;
        let register = select::register(self.part, decoded.register).map_err(|error| error.to_string())?;
        let (name, value) = (register.name, decoded.value);
        let answer = machine.write(self.chosen, register.address, value);
        let passed = self.watch.take();
        answer.map_err(|fault| format!("{name} := {value:#x} is refused: {fault}"))?;
        passed.into_iter().for_each(|passed| self.note(passed));
        self.update(machine);
        Ok(format!("{name} := {value:#x}"))
    }
}

impl ThreadView {
    /// A frame begins.
    fn begin(&mut self) {
        self.began = self.seen.cycles;
        self.before.clear();
        self.before.extend(self.values.iter().map(|one| one.value));
        self.counters.iter_mut().for_each(Counter::begin);
    }
}
