//! What of a run is traced, as the command line says it.

use clap::{Args, ValueEnum};
use vm_pmu::arch::registry::Part;

use crate::dialect::{boxes, select};
use crate::error::Error;
use crate::number;
use vm_pmu_board::trace::{Choice, Keep, Kind, Kinds, Until};

/// Arguments about the trace.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Trace")]
pub struct TraceArguments {
    /// Show the first COUNT register accesses and interrupts of each CPU
    #[arg(long, value_name = "COUNT", default_value_t = 0, conflicts_with_all = ["trace_last", "trace_around_failure"])]
    pub trace: usize,
    /// Show the last COUNT of each CPU instead of the first
    #[arg(long, value_name = "COUNT", conflicts_with = "trace_around_failure")]
    pub trace_last: Option<usize>,
    /// Show COUNT before the first failing check of the guest, and COUNT after it
    #[arg(long, value_name = "COUNT")]
    pub trace_around_failure: Option<usize>,
    /// Only accesses to these registers, by name or address; the name of a box, as `irp`, stands for all of its registers
    #[arg(long, value_name = "REG[,REG]", value_delimiter = ',')]
    pub trace_register: Vec<String>,
    /// Only CPU NUMBER
    #[arg(long, value_name = "NUMBER")]
    pub trace_thread: Option<usize>,
    /// Only these kinds; the default is all but `context`, and of `freeze` what the PMU does by itself
    #[arg(long, value_enum, value_name = "KIND[,KIND]", value_delimiter = ',')]
    pub trace_kind: Vec<KindName>,
    /// End the trace when a register is written with a value or reads as it, when a check fails (`check`), or when a counter asks for an
    /// interrupt (`overflow`); the run goes on
    #[arg(long, value_name = "REG=VALUE|check|overflow")]
    pub trace_until: Option<String>,
}

/// A kind of entry of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindName {
    /// Reads of registers
    Read,
    /// Writes of registers
    Write,
    /// Interrupts, when they are asked for and when they are taken
    Interrupt,
    /// Accesses that are refused
    Fault,
    /// When the PMU freezes and goes on
    Freeze,
    /// Changes of privilege level, address space, halted and foreground state
    Context,
}

impl TraceArguments {
    /// Whether a trace is wanted.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.trace != 0 || self.trace_last.is_some() || self.trace_around_failure.is_some()
    }

    /// What they choose of a run of `pmu`.
    ///
    /// # Errors
    /// A register, value or kind is unknown to the PMU, or there is nothing that would be chosen from.
    pub fn choice(&self, pmu: &str) -> Result<Choice, Error> {
        let (most, keep) = match (self.trace_last, self.trace_around_failure) {
            (Some(most), _) => (most, Keep::Last),
            (_, Some(most)) => (most, Keep::AroundFailure),
            (None, None) => (self.trace, Keep::First),
        };
        let options = [
            ("--trace-register", !self.trace_register.is_empty()),
            ("--trace-thread", self.trace_thread.is_some()),
            ("--trace-kind", !self.trace_kind.is_empty()),
            ("--trace-until", self.trace_until.is_some()),
        ];
        if most == 0 {
            return match options.into_iter().find(|(_, given)| *given) {
                Some((option, _)) => {
                    Err(Error::usage(format!("`{option}` chooses from a trace: add `--trace COUNT` or `--trace-last COUNT`")))
                }
                None => Ok(Choice::default()),
            };
        }
        let part = select::part(pmu)?;
        let registers: Result<Vec<Vec<String>>, Error> = self.trace_register.iter().map(|word| registers(part, word)).collect();
        if self.trace_kind == [KindName::Freeze] && matches!(part, Part::K8(_)) {
            return Err(Error::usage("the k8 has no freeze: software stops its counters one by one, by EN of each select"));
        }
        Ok(Choice {
            most,
            keep,
            kinds: self.kinds(),
            registers: registers?.concat(),
            thread: self.trace_thread,
            until: self.trace_until.as_deref().map(|word| until(part, word)).transpose()?,
        })
    }

    fn kinds(&self) -> Kinds {
        let add = |kinds: Kinds, name: &KindName| match name {
            KindName::Read => kinds.with(Kind::Read),
            KindName::Write => kinds.with(Kind::Write),
            KindName::Interrupt => kinds.with(Kind::Interrupt),
            KindName::Fault => kinds.with(Kind::Fault),
            KindName::Freeze => kinds.with(Kind::Freeze).with(Kind::FreezeByWrite),
            KindName::Context => kinds.with(Kind::Context),
        };
        if self.trace_kind.is_empty() { Kinds::default() } else { self.trace_kind.iter().fold(Kinds::NONE, add) }
    }
}

/// The register that `word` names, or those of the box.
fn registers(part: Part, word: &str) -> Result<Vec<String>, Error> {
    match boxes::named(part, word.trim()) {
        of_box if of_box.is_empty() => Ok(vec![register(part, word)?]),
        of_box => Ok(of_box.into_iter().map(|register| register.name.to_owned()).collect()),
    }
}

fn register(part: Part, word: &str) -> Result<String, Error> {
    select::register(part, word.trim()).map(|register| register.name.to_owned())
}

fn until(part: Part, word: &str) -> Result<Until, Error> {
    let wrong = || Error::usage(format!("`{word}` ends no trace: write REG=VALUE, `check` or `overflow`"));
    match word.trim() {
        "check" => Ok(Until::Failure),
        "overflow" => Ok(Until::Overflow),
        word => {
            let (name, value) = word.split_once('=').ok_or_else(wrong)?;
            let value = number::parse(value.trim())
                .ok_or_else(|| Error::usage(format!("`{value}` is not a 64-bit number: write 10, 0x0a or, for a two's complement, -10")))?;
            Ok(Until::Value { register: register(part, name)?, value })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(error: Error) -> String {
        let mut line = Vec::new();
        error.tell(&mut line);
        String::from_utf8(line).unwrap().trim_end().trim_start_matches("pmulab: ").to_owned()
    }

    fn refused(arguments: &TraceArguments) -> String {
        said(arguments.choice("k8").unwrap_err())
    }

    #[test]
    fn a_register_that_is_not_there_is_refused_with_the_nearest() {
        let arguments = TraceArguments { trace: 1, trace_register: vec!["PerfEvtSel9".to_owned()], ..TraceArguments::default() };
        assert!(refused(&arguments).starts_with("k8 has no register `PerfEvtSel9`: did you mean PerfEvtSel0"), "{}", refused(&arguments));
    }

    #[test]
    fn a_choice_from_no_trace_is_refused() {
        let arguments = TraceArguments { trace_until: Some("check".to_owned()), ..TraceArguments::default() };
        assert_eq!(refused(&arguments), "`--trace-until` chooses from a trace: add `--trace COUNT` or `--trace-last COUNT`");
    }

    #[test]
    fn the_k8_says_that_it_has_no_freeze() {
        let arguments = TraceArguments { trace: 1, trace_kind: vec![KindName::Freeze], ..TraceArguments::default() };
        assert!(refused(&arguments).starts_with("the k8 has no freeze"));
        assert!(arguments.choice("power9").is_ok());
    }

    #[test]
    fn what_ends_a_trace_is_a_value_or_a_word() {
        let until = |word: &str| until(select::part("k8").unwrap(), word);
        assert_eq!(until("perfctr0=-1").ok(), Some(Until::Value { register: "PerfCtr0".to_owned(), value: u64::MAX }));
        assert_eq!(until("overflow").ok(), Some(Until::Overflow));
        assert_eq!(said(until("checks").unwrap_err()), "`checks` ends no trace: write REG=VALUE, `check` or `overflow`");
    }
}
