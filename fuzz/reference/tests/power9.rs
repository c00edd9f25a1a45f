//! Model and reference of POWER9 agree on every read, fault and line, in the litmus files and in arbitrary programs.

use std::fmt;
use std::path::Path;
use std::sync::Mutex;

use arbitrary::Unstructured;
use proptest::prelude::*;
use vm_pmu::Part;
use vm_pmu::arch::feed::{Context, Occasion, Record, Signal};
use vm_pmu::irq::InterruptLine;
use vm_pmu::litmus::{ContextField, Litmus, Step};
use vm_pmu::topology::{Builder, Machine, Thread};
use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_reference::Reference;
use vm_pmu_reference::power9::Power9;

/// How many reads were compared, and of how many the reference knew nothing.
#[derive(Clone, Copy, Default)]
struct Tally {
    reads: u64,
    unknown: u64,
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
        for address in (768..=806).chain([851]).map(Address::Spr).chain([Address::Imc, Address::Bhrb(0)]) {
            let model: Result<u64, Fault> = thread.read(address);
            let known = reference.read(number, address);
            tally.read(format_args!("at the end, thread {number}, {address}"), &model, known.as_ref())?;
        }
    }
    Ok(tally)
}

/// A context in which one field has another value.
fn changed(context: Context, field: ContextField, value: u64, ticks: u64) -> Context {
    let part = Part::named("power9").expect("it is known");
    // Where a field of the MSR or of the control word lies, by the number of its last bit.
    let (of_msr, last) = match field.word(part) {
        "ta" => (true, 1),
        "hv" => (true, 3),
        "ts" => (true, 30),
        "ee" => (true, 48),
        "pr" => (true, 49),
        "se" => (true, 53),
        "be" => (true, 54),
        "pmm" => (true, 61),
        "hfscr_no_pm" => (false, 40),
        "hfscr_no_bhrb" => (false, 41),
        "hfscr_no_ebb" => (false, 42),
        "fscr_no_ebb" => (false, 43),
        "priority" => (false, 55),
        "radix" => (false, 61),
        "external_pending" => (false, 62),
        _ => (false, 63),
    };
    let put = |register: u64| {
        let width = if let ContextField::Part(own) = field { own.bits() } else { 64 };
        let mask = (1u64 << width.min(63)) - 1;
        register & !(mask << (63 - last)) | (value & mask) << (63 - last)
    };
    let next = match field {
        ContextField::Privilege => Context { privilege: (value & 3) as u8, ..context },
        ContextField::Halted => Context { halted: value != 0, ..context },
        ContextField::Foreground => Context { foreground: value != 0, ..context },
        ContextField::MachineState => Context { machine_state: value, ..context },
        ContextField::Control => Context { control: value, ..context },
        ContextField::TimeBase => Context { time_base: value.wrapping_sub(ticks), ..context },
        ContextField::Part(_) if of_msr => Context { machine_state: put(context.machine_state), ..context },
        ContextField::Part(_) => Context { control: put(context.control), ..context },
    };
    Context { privilege: Context::power(next.machine_state, next.control).privilege, ..next }
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
            let context = fields.iter().fold(thread.context(), |context, (field, value)| changed(context, *field, *value, ticks));
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

fn reference_for(program: &Litmus) -> Power9 {
    Power9::new(program.packages, program.threads)
}

/// The nest posts into memory, and belongs to no core.
fn is_of_cores(program: &Litmus) -> bool {
    !program.steps.iter().any(|(_, step)| matches!(step, Step::Nest(_) | Step::Untile(_) | Step::Request(..)))
}

#[test]
fn the_litmus_files_look_the_same_to_model_and_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest-tests/litmus/power9");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it can be read").path()).collect();
    files.sort();
    let (mut sum, mut taken) = (Tally::default(), 0);
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "litmus")) {
        let program: Litmus = std::fs::read_to_string(file).expect("it can be read").parse().expect("it is a litmus file");
        if !is_of_cores(&program) {
            continue;
        }
        match compare(&program, &mut reference_for(&program)) {
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
}

/// The statements of a program that are needed for a disagreement.
fn shrunk(mut program: Litmus) -> Litmus {
    let mut number = program.steps.len();
    while number > 0 {
        number -= 1;
        let mut less = program.clone();
        less.steps.remove(number);
        if compare(&less, &mut reference_for(&less)).is_err() {
            program = less;
        }
    }
    program
}

proptest! {
    // Dropping statements shrinks a program better than dropping bytes.
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn an_arbitrary_program_looks_the_same_to_model_and_reference(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let part = Part::named("power9").expect("it is known");
        if let Ok(program) = Litmus::arbitrary(part, &mut Unstructured::new(&bytes))
            && compare(&program, &mut reference_for(&program)).is_err()
        {
            let program = shrunk(program);
            let message = compare(&program, &mut reference_for(&program)).err();
            return Err(TestCaseError::fail(format!("{}\n{program}", message.unwrap_or_default())));
        }
    }
}
