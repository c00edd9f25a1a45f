//! Chrome's trace events: a process for each hardware thread, with a track for each kind of thing and one for each counter.
//!
//! The form is that of "Trace Event Format" (Google, 2016). A cycle is written as a microsecond. Slices of a track do not overlap, and the
//! times of a track do not go back.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};
use vm_pmu::arch::model::RegisterDescription;

use super::{Changes, Writer, bits, is_counter};
use crate::report::{Action, Trace};
use vm_pmu_board::trace::Sample;

/// The tracks of a process, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Track {
    Accesses = 1,
    Level = 2,
    Freeze = 3,
    Interrupt = 4,
    Process = 5,
}

const TRACKS: [(Track, &str); 5] = [
    (Track::Accesses, "register accesses"),
    (Track::Level, "privilege level"),
    (Track::Freeze, "PMU frozen"),
    (Track::Interrupt, "interrupt: asked for until taken"),
    (Track::Process, "address space or process"),
];

/// One event.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    ph: &'static str,
    ts: u64,
    pid: usize,
    tid: usize,
    /// The scope of an instant: its track.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
}

/// What is known of a thread.
#[derive(Default)]
struct Process {
    began: bool,
    now: u64,
    /// The tracks that have an open slice.
    open: [bool; TRACKS.len() + 1],
    /// What its counters held when they were last written.
    counters: Vec<Option<u64>>,
}

pub(super) struct Chrome<W> {
    changes: Changes,
    output: W,
    processes: Vec<Process>,
    first: bool,
}

impl<W: Write> Chrome<W> {
    pub(super) fn new(changes: Changes, output: W) -> Chrome<W> {
        Chrome { changes, output, processes: Vec::new(), first: true }
    }

    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let before: &[u8] = if std::mem::take(&mut self.first) {
            b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":\"a microsecond is a cycle of the thread\"},\"traceEvents\":[\n"
        } else {
            b",\n"
        };
        self.output.write_all(before)?;
        serde_json::to_writer(&mut self.output, event)?;
        Ok(())
    }

    fn process(&mut self, thread: usize) -> &mut Process {
        if self.processes.len() <= thread {
            self.processes.resize_with(thread + 1, Process::default);
        }
        &mut self.processes[thread]
    }

    /// The time `cycle` of a thread, or the last one if that is later.
    fn time(&mut self, thread: usize, cycle: u64) -> u64 {
        let process = self.process(thread);
        process.now = process.now.max(cycle);
        process.now
    }

    fn metadata(&mut self, thread: usize, track: usize, what: &str, name: &str) -> io::Result<()> {
        let args = Some(json!({ "name": name }));
        self.event(&Event { name: what, ph: "M", ts: 0, pid: thread + 1, tid: track, s: None, args })
    }

    fn instant(&mut self, thread: usize, track: Track, name: &str, args: Value) -> io::Result<()> {
        let ts = self.process(thread).now;
        self.event(&Event { name, ph: "i", ts, pid: thread + 1, tid: track as usize, s: Some("t"), args: Some(args) })
    }

    fn open(&mut self, thread: usize, track: Track, name: &str, args: Option<Value>) -> io::Result<()> {
        self.close(thread, track)?;
        let process = self.process(thread);
        process.open[track as usize] = true;
        let ts = process.now;
        self.event(&Event { name, ph: "B", ts, pid: thread + 1, tid: track as usize, s: None, args })
    }

    fn close(&mut self, thread: usize, track: Track) -> io::Result<()> {
        let process = self.process(thread);
        let ts = process.now;
        if !std::mem::take(&mut process.open[track as usize]) {
            return Ok(());
        }
        self.event(&Event { name: "", ph: "E", ts, pid: thread + 1, tid: track as usize, s: None, args: None })
    }

    fn access(&mut self, entry: &Trace, name: &str, value: Option<u64>) -> io::Result<()> {
        let changed = (self.changes)(&entry.action);
        let mut args = json!({ "instruction": entry.instruction });
        locate(&mut args, entry.address);
        // A viewer's numbers have 53 bits.
        for (key, value) in [("value", value), ("before", before(&entry.action))] {
            if let Some(value) = value {
                args[key] = hex(value).into();
            }
        }
        if !changed.is_empty() {
            args["changed"] = changed.into();
        }
        self.instant(entry.thread, Track::Accesses, name, args)
    }

    fn context(&mut self, entry: &Trace) -> io::Result<()> {
        let Action::Context { privilege, halted, foreground, process } = entry.action else { return Ok(()) };
        let name = match (foreground, halted) {
            (false, _) => "in the background".to_owned(),
            (true, true) => "halted".to_owned(),
            (true, false) => format!("level {privilege}"),
        };
        self.open(entry.thread, Track::Level, &name, Some(json!({ "privilege": privilege })))?;
        match process {
            Some(process) => self.open(entry.thread, Track::Process, &hex(process), None),
            None => Ok(()),
        }
    }
}

/// Says where the guest was, where that is known.
fn locate(args: &mut Value, address: u64) {
    if address != 0 {
        args["address"] = hex(address).into();
    }
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}

fn before(action: &Action) -> Option<u64> {
    if let Action::Write { before, .. } = action { *before } else { None }
}

impl<W: Write + Send> Writer for Chrome<W> {
    fn begin(&mut self, thread: usize, registers: &[&'static RegisterDescription]) -> io::Result<()> {
        let process = self.process(thread);
        if std::mem::replace(&mut process.began, true) {
            return Ok(());
        }
        process.counters = vec![None; registers.len()];
        self.metadata(thread, 0, "process_name", &format!("CPU {thread}"))?;
        for (track, name) in TRACKS {
            self.metadata(thread, track as usize, "thread_name", name)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Trace) -> io::Result<()> {
        let thread = entry.thread;
        self.time(thread, entry.cycle);
        match &entry.action {
            Action::Write { register, value, .. } => self.access(entry, &format!("{register} := {value:#x}"), Some(*value)),
            Action::Read { register, value } => self.access(entry, &format!("{register} reads {value:#x}"), Some(*value)),
            Action::Fault { register, wrote } => self.access(entry, &format!("{register}: refused"), *wrote),
            Action::Interrupt { counters } => {
                let mut args = json!({ "counters": counters, "instruction": entry.instruction });
                locate(&mut args, entry.address);
                if self.process(thread).open[Track::Interrupt as usize] {
                    return self.instant(thread, Track::Interrupt, "asked for again", args);
                }
                let numbers: Vec<String> = counters.iter().map(u32::to_string).collect();
                self.open(thread, Track::Interrupt, format!("interrupt of counter {}", numbers.join(", ")).trim_end(), Some(args))
            }
            Action::Taken if self.process(thread).open[Track::Interrupt as usize] => self.close(thread, Track::Interrupt),
            Action::Taken => {
                let mut args = json!({});
                locate(&mut args, entry.address);
                self.instant(thread, Track::Interrupt, "taken again", args)
            }
            Action::Freeze { frozen: true, written } => {
                self.open(thread, Track::Freeze, "frozen", Some(json!({ "by": if *written { "a write" } else { "the PMU itself" } })))
            }
            Action::Freeze { frozen: false, .. } => self.close(thread, Track::Freeze),
            Action::Context { .. } => self.context(entry),
            Action::Check { name, seen, least, most } => {
                let args = json!({ "seen": seen, "least": least, "most": most });
                self.instant(thread, Track::Accesses, &format!("a check fails: {name}"), args)
            }
        }
    }

    fn sample(&mut self, sample: &Sample<'_>) -> io::Result<()> {
        let ts = self.time(sample.thread, sample.cycle);
        for (index, one) in sample.values.iter().enumerate().filter(|(_, one)| is_counter(one.register)) {
            let value = one.value & bits(one.register);
            let Some(last) = self.process(sample.thread).counters.get_mut(index) else { continue };
            if last.replace(value) != Some(value) {
                let args = Some(json!({ "value": value }));
                self.event(&Event { name: one.register.name, ph: "C", ts, pid: sample.thread + 1, tid: 0, s: None, args })?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<u64> {
        for thread in 0..self.processes.len() {
            for (track, _) in TRACKS {
                self.close(thread, track)?;
            }
        }
        if self.first {
            self.output.write_all(b"{\"traceEvents\":[")?;
        }
        self.output.write_all(b"\n]}\n")?;
        self.output.flush()?;
        Ok(0)
    }
}
