//! Where a program begins and what its embedder supplies: usually a new machine and everything.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use vm_pmu_arch::feed::{Records, Signal, SignalSet};

use super::print::which;
use crate::irq::InterruptLine;
use crate::topology::{Builder, Machine, Thread};
use crate::untile::Frequencies;

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
    /// `state: BYTES`: the machine remembers this, a [snapshot](Machine::save) in hexadecimal. Empty for a new machine.
    pub state: Vec<u8>,
}

impl Beginning {
    /// A builder of the machine that the program needs, made of that of its part.
    pub(super) fn build(&self, builder: Builder) -> Builder {
        let builder = self.supplies.map_or(builder, |signals| builder.supplies(signals));
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
    fn a_state_of_half_a_byte_is_refused() {
        let refused = format!("{HEADER}state: 123\nsave\n").parse::<Litmus>().expect_err("three digits");
        assert_eq!(refused.to_string(), "line 4: a state has two hexadecimal digits for each byte, of 16777216 at most");
    }

    #[test]
    fn a_state_that_is_no_snapshot_fails_the_program() {
        let litmus: Litmus = format!("{HEADER}state: 00ff\nsave\n").parse().expect("a litmus file");
        let failure = litmus.run().expect_err("two bytes are no snapshot");
        assert_eq!(failure.line, 0);
        assert!(failure.message.starts_with("the state that the program begins with cannot be loaded: "), "{failure}");
    }

    #[test]
    fn a_signal_that_is_not_supplied_is_not_counted() {
        let text = format!("{HEADER}supplies: cycles\nwrite PerfEvtSel0 0x4200c2\ndemand none\n");
        assert_eq!(text.parse::<Litmus>().map(|litmus| litmus.run()), Ok(Ok(1)));
    }
}
