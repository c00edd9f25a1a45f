//! Where a program begins and what its embedder supplies: usually a new machine and everything.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use vm_pmu_arch::feed::{Records, Signal, SignalSet};

use super::number::number;
use super::print::which;
use crate::irq::InterruptLine;
use crate::topology::{Builder, Machine, Thread};
use crate::untile::{Buses, Frequencies};
use vm_pmu_arch::die::{ClusterMode, Die, MemoryMode, Tiles};

/// Where a program begins, and what its embedder supplies. By default the machine is new, and everything is supplied.
///
/// The trial of the contract does not look at it: what it compares must hold wherever a program begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beginning {
    /// `supplies: SIGNAL ...`: the embedder [supplies](Builder::supplies) these signals alone.
    pub supplies: Option<SignalSet>,
    /// `supplies_records: none | at_deadline | ...`: it [supplies](Builder::supplies_records) these kinds of records alone.
    pub supplies_records: Option<Records>,
    /// `recording: yes`: statements say which states hold when the demand asks for it, and each record that was reported. Otherwise levels follow
    /// from what was fed last, and an instruction that is fed has a record if one is wanted.
    pub is_recording: bool,
    /// `frequencies: cpu=N uclk=N eclk=N dclk=N`: how fast the clocks of the [boxes](crate::topology::Builder::frequencies) run.
    pub frequencies: Option<Frequencies>,
    /// `die: tiles=BITS cluster=MODE mode=MODE memory=BYTES mcdram=BYTES`: what is chosen of the [die](Builder::die).
    pub die: Option<Die>,
    /// `buses: irp=N memory=N`: the [buses](Builder::buses) of the boxes' functions. Names of registers are those on the usual ones.
    pub buses: Option<Buses>,
    /// `state: BYTES`: the machine remembers this, a [snapshot](Machine::save) in hexadecimal. Empty for a new machine.
    pub state: Vec<u8>,
}

impl Beginning {
    /// A builder of the machine that the program needs, made of that of its part.
    pub(super) fn build(&self, builder: Builder) -> Builder {
        let builder = self.supplies.map_or(builder, |signals| builder.supplies(signals));
        let builder = self.die.map_or(builder, |die| builder.die(die));
        let builder = self.buses.map_or(builder, |buses| builder.buses(buses));
        let builder = self.frequencies.map_or(builder, |frequencies| builder.frequencies(frequencies));
        self.supplies_records.map_or(builder, |records| builder.supplies_records(records))
    }

    /// Brings a new machine to where the program begins.
    ///
    /// # Errors
    /// The snapshot is not of such a machine, in one line.
    #[cfg(feature = "snapshot")]
    pub(super) fn load<L: InterruptLine>(&self, machine: &Machine<L>) -> Result<(), String> {
        if self.state.is_empty() {
            return Ok(());
        }
        machine.load(&self.state).map_err(|error| format!("the state that the program begins with cannot be loaded: {error}"))
    }

    /// The same without the feature that loads snapshots.
    #[cfg(not(feature = "snapshot"))]
    pub(super) fn load<L: InterruptLine>(&self, _machine: &Machine<L>) -> Result<(), String> {
        if self.state.is_empty() { Ok(()) } else { Err("a program that begins with a state needs the feature `snapshot`".into()) }
    }

    /// Prints the lines of the header.
    pub(super) fn print(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(signals) = &self.supplies {
            write!(formatter, "supplies:")?;
            signals.iter().try_for_each(|signal| write!(formatter, " {}", signal.name()))?;
            writeln!(formatter)?;
        }
        if let Some(records) = self.supplies_records {
            writeln!(formatter, "supplies_records:{}", which(records))?;
        }
        if self.is_recording {
            writeln!(formatter, "recording: yes")?;
        }
        if let Some(Frequencies { cpu, uclk, eclk, dclk }) = self.frequencies {
            writeln!(formatter, "frequencies: cpu={cpu} uclk={uclk} eclk={eclk} dclk={dclk}")?;
        }
        if let Some(Die { tiles, cluster, mode, memory, mcdram }) = self.die {
            let (tiles, cluster, mode) = (tiles.places(), cluster.word(), mode.word());
            writeln!(formatter, "die: tiles={tiles:#x} cluster={cluster} mode={mode} memory={memory:#x} mcdram={mcdram:#x}")?;
        }
        if let Some(Buses { irp, memory }) = self.buses {
            writeln!(formatter, "buses: irp={irp:#x} memory={memory:#x}")?;
        }
        if !self.state.is_empty() {
            write!(formatter, "state: ")?;
            self.state.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))?;
            writeln!(formatter)?;
        }
        Ok(())
    }
}

/// Frequencies of the boxes' clocks from their names.
pub(super) fn frequencies(value: &str) -> Result<Frequencies, String> {
    let mut frequencies = Frequencies::default();
    for word in value.split_whitespace() {
        let (name, number) = word.split_once('=').unwrap_or((word, ""));
        let place = match name {
            "cpu" => &mut frequencies.cpu,
            "uclk" => &mut frequencies.uclk,
            "eclk" => &mut frequencies.eclk,
            "dclk" => &mut frequencies.dclk,
            _ => return Err(format!("no clock is called `{name}`: there are cpu, uclk, eclk, dclk")),
        };
        *place = number.parse().map_err(|_| format!("`{word}` is not CLOCK=FREQUENCY"))?;
    }
    Ok(frequencies)
}

/// What is chosen of a die; what is not said is as usual.
pub(super) fn die(value: &str) -> Result<Die, String> {
    let mut die = Die::default();
    for word in value.split_whitespace() {
        let (name, said) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "tiles" => die.tiles = Tiles::at(number(said)?),
            "cluster" => die.cluster = mode(word, said, &ClusterMode::ALL, ClusterMode::word)?,
            "mode" => die.mode = mode(word, said, &MemoryMode::ALL, MemoryMode::word)?,
            "memory" => die.memory = number(said)?,
            "mcdram" => die.mcdram = number(said)?,
            _ => return Err(format!("nothing of a die is called `{name}`: there are tiles, cluster, mode, memory, mcdram")),
        }
    }
    Ok(die)
}

/// The mode of this name.
fn mode<T: Copy>(word: &str, said: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    all.iter().copied().find(|one| name(*one) == said).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        format!("`{word}` is no mode: there are {}", names.join(", "))
    })
}

/// The buses of the boxes' functions.
pub(super) fn buses(value: &str) -> Result<Buses, String> {
    let mut buses = Buses::default();
    for word in value.split_whitespace() {
        let (name, said) = word.split_once('=').unwrap_or((word, ""));
        let place = match name {
            "irp" => &mut buses.irp,
            "memory" => &mut buses.memory,
            _ => return Err(format!("no bus is called `{name}`: there are irp, memory")),
        };
        *place = u8::try_from(number(said)?).map_err(|_| format!("`{word}` is no bus: 0xff is the last"))?;
    }
    Ok(buses)
}

/// The most bytes of a state: those of the largest machine that a litmus file can have.
const MOST_BYTES: usize = 16 << 20;

/// Bytes from pairs of hexadecimal digits.
pub(super) fn bytes(value: &str) -> Result<Vec<u8>, String> {
    let (pairs, rest) = value.as_bytes().as_chunks::<2>();
    if !rest.is_empty() || pairs.len() > MOST_BYTES {
        return Err(format!("a state has two hexadecimal digits for each byte, of {MOST_BYTES} at most"));
    }
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    pairs.iter().map(byte).collect::<Option<_>>().ok_or_else(|| "a state consists of hexadecimal digits".into())
}

/// Supplies the levels of states to a thread that asks for them.
pub(super) fn supply<L: InterruptLine>(thread: Thread<'_, L>, levels: &[(Signal, bool)]) {
    if thread.demand().asks_levels() {
        thread.supply_levels(|state| levels.iter().find(|(signal, _)| *signal == state).map(|(_, holds)| *holds));
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::super::Litmus;

    const HEADER: &str = "title: t\npmu: k8\nsection: s\n";

    #[test]
    fn what_is_printed_is_read_again() {
        let text = format!("{HEADER}supplies: cycles instructions_retired\nsupplies_records: at_deadline memory\nrecording: yes\nsave\n");
        let litmus: Litmus = text.parse().expect("a litmus file");
        assert_eq!(litmus.to_string().parse::<Litmus>().map(|again| again.beginning), Ok(litmus.beginning));
    }

    #[test]
    fn a_flag_is_yes_or_no() {
        let read = |flag: &str| format!("{HEADER}recording: {flag}\nsave\n").parse::<Litmus>().map(|litmus| litmus.beginning.is_recording);
        assert_eq!((read("yes"), read("no")), (Ok(true), Ok(false)));
        assert_eq!(read("maybe").expect_err("a third").to_string(), "line 4: `maybe` is neither yes nor no");
    }

    #[test]
    fn a_die_and_buses_are_read_as_they_are_printed() {
        let lines =
            "die: tiles=0x37fbdffbbf cluster=snc4 mode=hybrid-half memory=0x40000000 mcdram=0x2000000\nbuses: irp=0x1 memory=0x7f\n";
        let text = format!("title: t\npmu: knl\nsection: s\n{lines}\nsave\n");
        assert_eq!(text.parse::<Litmus>().expect("a litmus file").to_string(), text);
    }

    #[test]
    fn a_wrong_word_of_a_die_is_answered_by_the_right_ones() {
        let refused =
            |lines: &str| format!("title: t\npmu: knl\nsection: s\n{lines}\nsave\n").parse::<Litmus>().expect_err("wrong").to_string();
        assert_eq!(refused("die: mode=fast"), "line 4: `mode=fast` is no mode: there are cache, flat, hybrid-quarter, hybrid-half");
        assert_eq!(refused("die: rows=3"), "line 4: nothing of a die is called `rows`: there are tiles, cluster, mode, memory, mcdram");
        assert_eq!(refused("buses: irp=256"), "line 4: `irp=256` is no bus: 0xff is the last");
    }

    #[test]
    fn a_state_of_half_a_byte_is_refused() {
        let refused = format!("{HEADER}state: 123\nsave\n").parse::<Litmus>().expect_err("three digits");
        assert_eq!(refused.to_string(), "line 4: a state has two hexadecimal digits for each byte, of 16777216 at most");
    }

    #[test]
    fn a_state_that_is_no_snapshot_fails_the_program() {
        let litmus: Litmus = format!("{HEADER}state: 00ff\nsave\n").parse().expect("a litmus file");
        let failure = litmus.run().expect_err("two bytes are no snapshot");
        assert_eq!(failure.line, 0);
        let refused = if cfg!(feature = "snapshot") {
            "the state that the program begins with cannot be loaded: "
        } else {
            "a program that begins with a state needs the feature `snapshot`"
        };
        assert!(failure.message.starts_with(refused), "{failure}");
    }

    #[test]
    fn a_signal_that_is_not_supplied_is_not_counted() {
        let text = format!("{HEADER}supplies: cycles\nwrite PerfEvtSel0 0x4200c2\ndemand none\n");
        assert_eq!(text.parse::<Litmus>().map(|litmus| litmus.run()), Ok(Ok(1)));
    }
}
