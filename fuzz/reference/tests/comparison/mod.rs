//! Runs a program on a machine and on a reference and compares what both answer.

use std::fmt;
use std::path::Path;
use std::sync::Mutex;

use arbitrary::Unstructured;
use vm_pmu::Part;
use vm_pmu::arch::feed::{Context, Occasion, Record, Signal};
use vm_pmu::arch::model::Model;
use vm_pmu::irq::InterruptLine;
use vm_pmu::litmus::{ContextField, Litmus, Step};
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu_arch::access::Fault;
use vm_pmu_reference::Reference;

/// Makes the reference that a program is compared with.
pub(crate) type Maker = fn(&Litmus) -> Box<dyn Reference>;

/// How many reads were compared, and of how many the reference knew nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Answered by both, alike.
    pub(crate) reads: u64,
    /// Not known to the reference.
    pub(crate) unknown: u64,
}

impl Tally {
    fn read(&mut self, what: impl fmt::Display, model: &Result<u64, Fault>, reference: Option<&Result<u64, Fault>>) -> Result<(), String> {
        match reference {
            None => self.unknown += 1,
            Some(_) => self.reads += 1,
        }
        same(what, model, reference)
    }
}

/// Whether both answer the same, or the reference nothing.
fn same<T: PartialEq + fmt::Debug>(what: impl fmt::Display, model: &T, reference: Option<&T>) -> Result<(), String> {
    match reference {
        Some(reference) if reference != model => Err(format!("{what}: the model has {model:x?}, the reference {reference:x?}")),
        _ => Ok(()),
    }
}

/// The interrupts that threads requested.
#[derive(Default)]
struct Requests(Mutex<Vec<(usize, u32)>>);

impl InterruptLine for Requests {
    fn raise(&self, thread: usize, counter: u32) {
        self.0.lock().expect("no holder panics").push((thread, counter));
    }
}

/// An instruction as the ordinary embedder reports it: all signals, then the record if one is wanted, then the deadlines.
fn execute(thread: Thread<'_, Requests>, record: &Record, signals: &[(Signal, u64)]) {
    for (signal, amount) in signals {
        thread.totals().add(*signal, *amount);
    }
    let wanted = thread.demand().records();
    let reached = signals.iter().any(|(signal, _)| thread.reached(*signal));
    if wanted.wants(reached, Occasion::of(record)) {
        thread.record(record);
    }
    if reached {
        thread.service();
    }
}

/// Runs a program on a machine and on a reference, and compares what both answer.
fn compare(program: &Litmus, reference: &mut dyn Reference) -> Result<Tally, String> {
    let builder = Builder::of(program.part).packages(program.packages).threads(program.threads);
    let machine: Machine<Requests> = builder.build(Requests::default()).map_err(|refused| refused.to_string())?;
    let mut tally = Tally::default();
    let mut current = 0;
    for (line, step) in &program.steps {
        let at = |message: String| format!("line {line}, {step:x?}: {message}");
        one(&machine, reference, &mut current, step, &mut tally).map_err(at)?;
        for number in 0..machine.threads() {
            let lines = machine.thread(number).expect("it is one of the machine").lines();
            same(format_args!("lines of thread {number}"), &lines, reference.lines(number).as_ref()).map_err(at)?;
        }
        let mut raised = std::mem::take(&mut *machine.line().0.lock().expect("no holder panics"));
        raised.sort_unstable();
        same("interrupts", &raised, reference.take_interrupts().as_ref()).map_err(at)?;
    }
    // What is left in the registers.
    for number in 0..machine.threads() {
        let thread = machine.thread(number).expect("it is one of the machine");
        for register in program.part.build().registers() {
            let address = register.address;
            let model = thread.read(address);
            let known = reference.read(number, address);
            tally.read(format_args!("at the end, thread {number}, {address}"), &model, known.as_ref())?;
        }
    }
    Ok(tally)
}

/// Where a field of the machine state or of the control word lies, by the number of its lowest bit, and whether the first has it.
fn place(name: &str) -> (bool, u32) {
    match name {
        // PSR of IA-64.
        "up" => (true, 2),
        "ic" => (true, 13),
        "i" => (true, 14),
        "sp" => (true, 20),
        "pp" => (true, 21),
        "db" => (true, 24),
        "cpl" => (true, 32),
        "is" => (true, 34),
        // MSR of POWER, whose manual counts from the other end.
        "ta" => (true, 63 - 1),
        "hv" => (true, 63 - 3),
        "ts" => (true, 63 - 30),
        "ee" => (true, 63 - 48),
        "pr" => (true, 63 - 49),
        "se" => (true, 63 - 53),
        "be" => (true, 63 - 54),
        "pmm" => (true, 63 - 61),
        // POWER's control word.
        "hfscr_no_pm" => (false, 63 - 40),
        "hfscr_no_bhrb" => (false, 63 - 41),
        "hfscr_no_ebb" => (false, 63 - 42),
        "fscr_no_ebb" => (false, 63 - 43),
        "priority" => (false, 63 - 55),
        "radix" => (false, 63 - 61),
        "external_pending" => (false, 63 - 62),
        "run" => (false, 0),
        _ => panic!("no place is known for `{name}`"),
    }
}

/// A context in which one field has another value.
fn changed(part: Part, context: Context, field: ContextField, value: u64, ticks: u64) -> Context {
    let next = match field {
        ContextField::Privilege => Context { privilege: (value & 3) as u8, ..context },
        ContextField::Halted => Context { halted: value != 0, ..context },
        ContextField::Foreground => Context { foreground: value != 0, ..context },
        ContextField::MachineState => Context { machine_state: value, ..context },
        ContextField::Control => Context { control: value, ..context },
        ContextField::TimeBase => Context { time_base: value.wrapping_sub(ticks), ..context },
        ContextField::Part(own) => {
            let (of_machine_state, low) = place(field.word(part));
            let mask = (1u64 << own.bits().min(63)) - 1;
            let put = |register: u64| register & !(mask << low) | (value & mask) << low;
            if of_machine_state {
                Context { machine_state: put(context.machine_state), ..context }
            } else {
                Context { control: put(context.control), ..context }
            }
        }
    };
    let settled = match part.name() {
        "power9" => Context::power(next.machine_state, next.control),
        _ => Context::ia64(next.machine_state, next.control),
    };
    Context { privilege: settled.privilege, ..next }
}

fn one(
    machine: &Machine<Requests>,
    reference: &mut dyn Reference,
    current: &mut usize,
    step: &Step,
    tally: &mut Tally,
) -> Result<(), String> {
    let number = *current;
    let thread = machine.thread(number).ok_or("the machine has no thread")?;
    match step {
        Step::Thread(next) if *next < machine.threads() => *current = *next,
        Step::Context(fields) => {
            let ticks = thread.totals().get(Signal::TimeBaseTicks);
            let context =
                fields.iter().fold(thread.context(), |context, (field, value)| changed(machine.part(), context, *field, *value, ticks));
            thread.set_context(context);
            reference.set_context(number, context);
        }
        Step::Write(address, value, _) => {
            let model = thread.write(*address, *value);
            let known = reference.write(number, *address, *value);
            same("a write", &model, Some(&known))?;
        }
        Step::Read(address, _) => {
            let model = thread.read(*address);
            tally.read("a read", &model, reference.read(number, *address).as_ref())?;
        }
        Step::Feed(times, signals) => {
            for _ in 0..*times {
                execute(thread, &Record::at(0), signals);
                reference.instruction(number, signals, &Record::at(0));
            }
        }
        Step::Record(times, record, signals) => {
            for _ in 0..*times {
                execute(thread, record, signals);
                reference.instruction(number, signals, record);
            }
        }
        // A machine that counts no such step ignores it.
        Step::Nested(step) => thread.nested(step),
        Step::Devices(signals) => {
            if let Some(devices) = machine.devices(thread.package()) {
                for (signal, amount) in signals {
                    devices.totals.add(*signal, *amount);
                }
                if signals.iter().any(|(signal, _)| devices.deadlines.reached(*signal, &devices.totals)) {
                    machine.service_devices(thread.package());
                }
            }
            reference.devices(signals);
        }
        Step::Inject(occurrence, amount) => {
            thread.inject(*occurrence, *amount);
            reference.inject(number, *occurrence, *amount);
        }
        Step::Reset(reset) => {
            thread.reset(*reset);
            reference.reset(number, *reset);
        }
        // What is stated of deadlines and demand, or observes nothing.
        _ => {}
    }
    Ok(())
}

/// The statements of a program that are needed for a disagreement.
fn shrunk(mut program: Litmus, reference: Maker) -> Litmus {
    let mut number = program.steps.len();
    while number > 0 {
        number -= 1;
        let mut less = program.clone();
        less.steps.remove(number);
        if compare(&less, &mut *reference(&less)).is_err() {
            program = less;
        }
    }
    program
}

/// Compares every litmus file of a part that `takes` admits, and prints how much that was.
pub(crate) fn compare_files(part: &str, takes: fn(&Litmus) -> bool, reference: Maker) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest-tests/litmus").join(part);
    let files = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it can be read").path());
    let (mut sum, mut taken, mut wrong) = (Tally::default(), 0, Vec::new());
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "litmus")) {
        let program: Litmus = std::fs::read_to_string(&file).expect("it can be read").parse().expect("it is a litmus file");
        if !takes(&program) {
            continue;
        }
        match compare(&program, &mut *reference(&program)) {
            Ok(tally) => {
                sum.reads += tally.reads;
                sum.unknown += tally.unknown;
                taken += 1;
            }
            Err(message) => wrong.push(format!("{}: {message}", file.display())),
        }
    }
    println!("{taken} files, {} reads compared, {} not known", sum.reads, sum.unknown);
    assert!(wrong.is_empty(), "{} files differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(taken > 0, "no file was taken");
}

/// Compares the program that these bytes make.
///
/// # Errors
/// The first disagreement, with the statements that are needed for it.
pub(crate) fn compare_bytes(part: &str, bytes: &[u8], reference: Maker) -> Result<Tally, String> {
    let part = Part::named(part).expect("it is known");
    let Ok(program) = Litmus::arbitrary(part, &mut Unstructured::new(bytes)) else { return Ok(Tally::default()) };
    compare(&program, &mut *reference(&program)).map_err(|_| {
        let program = shrunk(program, reference);
        let message = compare(&program, &mut *reference(&program)).err();
        format!("{}\n{program}", message.unwrap_or_default())
    })
}
