//! `pmulab boot`: a kernel of others on an emulator of others, with the PMU of a part.

pub mod arguments;
mod kit;

use std::io::Write;
use std::path::{Path, PathBuf};

use vm_pmu::arch::registry::Part;

use crate::commands::replay::traced;
use crate::commands::{FAILED, PASSED, USAGE, litmus};
use crate::dialect::select;
use crate::error::Error;
use crate::number::counted;
use crate::output::Output;
use arguments::{BootArguments, Emulator};
use kit::Kit;

/// What the guest does without a command.
const COMMAND: &str = "perf stat -e instructions:u,branches:u,cycles:u loop";

/// The statuses of the kit's `boot` that are not the command's: after a hang, and where nothing could be run.
const HANGS: i32 = 124;
const NOT_RUN: i32 = 125;

/// A machine of the kit, and QEMU's program for it.
struct Machine {
    name: &'static str,
    program: &'static str,
}

/// Boots Linux, runs a command in it, and shows what it did with the PMU.
///
/// # Errors
/// The part has no emulator, the kit or the emulator is not there, or what is asked for cannot be shown.
pub fn boot(arguments: &BootArguments, output: &mut Output<'_>, errors: &mut dyn Write) -> Result<u8, Error> {
    let Emulator::Qemu = arguments.on;
    let machine = machine(&arguments.pmu)?;
    // What is wrong with these is said before the guest boots.
    let pmu = if machine.name == "powernv9" { "power9" } else { machine.name };
    traced::choice(&arguments.tracing, pmu)?;
    arguments.drawing.check()?;
    let kit = Kit::find(arguments.kit.as_deref())?;
    let qemu = emulator(arguments, &kit, &machine, errors)?;
    let shows = arguments.tracing.is_wanted() || arguments.drawing.timeline.is_some();
    let scratch = Scratch::new(shows && arguments.output.is_none());
    let record = arguments.output.as_deref().or(scratch.0.as_deref());

    let status = kit.boot(&words(arguments, &machine, qemu.as_deref(), record), output)?;
    let status = match status.code() {
        Some(0) => PASSED,
        Some(NOT_RUN) => return Ok(USAGE),
        Some(HANGS) => FAILED,
        Some(code) => {
            writeln!(output, "the guest's command ended with status {code}")?;
            FAILED
        }
        None => return Err(Error::usage("the kit was ended by a signal")),
    };
    match record {
        Some(file) => Ok(status.max(show(arguments, file, output)?)),
        None => Ok(status),
    }
}

/// The kit's machine of a part.
fn machine(word: &str) -> Result<Machine, Error> {
    if word.eq_ignore_ascii_case("powernv9") {
        return Ok(Machine { name: "powernv9", program: "qemu-system-ppc64" });
    }
    match select::part(word)? {
        Part::K8(_) => Ok(Machine { name: "k8", program: "qemu-system-x86_64" }),
        Part::Knl(_) => Ok(Machine { name: "knl", program: "qemu-system-x86_64" }),
        Part::Power9(_) => Ok(Machine { name: "power9", program: "qemu-system-ppc64" }),
        part => {
            let name = part.name();
            Err(Error::usage(format!(
                "QEMU has no IA-64, so {name} cannot be booted: choose k8, knl or power9, or run a guest with `pmulab run FILE --pmu {name}`"
            )))
        }
    }
}

/// The emulator to use, which is built if it is not there; `None` for the kit's newest.
fn emulator(arguments: &BootArguments, kit: &Kit, machine: &Machine, errors: &mut dyn Write) -> Result<Option<PathBuf>, Error> {
    let program = machine.program;
    if let Some(folder) = &arguments.qemu_dir {
        let path = std::path::absolute(folder.join(program)).unwrap_or_else(|_| folder.join(program));
        return if path.is_file() { Ok(Some(path)) } else { Err(Error::usage(format!("{} has no {program}", folder.display()))) };
    }
    let version = match arguments.version.as_deref() {
        Some(version) => version,
        None if kit.built(program) => return Ok(None),
        None => {
            // A message that cannot be written changes nothing.
            let _ = writeln!(errors, "pmulab: QEMU is not built yet; the kit builds it now, which takes 5 to 15 minutes on two cores");
            "stable"
        }
    };
    kit.build(version, program).map(Some)
}

/// What the kit's `boot` is given.
fn words(arguments: &BootArguments, machine: &Machine, qemu: Option<&Path>, record: Option<&Path>) -> Vec<String> {
    let mut words = vec![machine.name.to_owned(), "--timeout".to_owned(), arguments.seconds.to_string()];
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    if arguments.cpus != 1 {
        add("--smp", arguments.cpus.to_string());
    }
    if let Some(qemu) = qemu {
        add("--qemu", qemu.display().to_string());
    }
    if let Some(record) = record {
        add("--record", record.display().to_string());
        add("--record-most", arguments.record_most.to_string());
    }
    words.push("--".to_owned());
    words.push(if arguments.command.is_empty() { COMMAND.to_owned() } else { arguments.command.join(" ") });
    words
}

/// Does again what was recorded, and shows of it what is asked for.
fn show(arguments: &BootArguments, file: &Path, output: &mut Output<'_>) -> Result<u8, Error> {
    let program = litmus::read(file)?;
    let traced = traced::trace(&program, &arguments.tracing, &arguments.drawing)?;
    traced.show(output)?;
    let statements = counted(program.steps.len(), "statement");
    let place = arguments.output.as_ref().map_or_else(String::new, |file| format!(" in {}", file.display()));
    match &traced.replayed.difference {
        None => {
            let checked = counted(traced.replayed.checked, "observation");
            output.line(2, &format!("Recorded {statements}{place}; a replay shows the same, {checked}."))?;
            Ok(PASSED)
        }
        Some(failure) => {
            output.line(2, &format!("Recorded {statements}{place}; a replay shows something else: {failure}."))?;
            Ok(FAILED)
        }
    }
}

/// A file for a recording that nobody keeps.
struct Scratch(Option<PathBuf>);

impl Scratch {
    fn new(wanted: bool) -> Scratch {
        Scratch(wanted.then(|| std::env::temp_dir().join(format!("pmulab-{}.litmus", std::process::id()))))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(file) = &self.0 {
            // It may never have been written.
            let _ = std::fs::remove_file(file);
        }
    }
}
