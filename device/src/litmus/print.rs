//! From a litmus program to text.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use core::fmt;

use vm_pmu_arch::access::{Address, PciAddress};
use vm_pmu_arch::feed::{Records, Signal};
use vm_pmu_arch::model::{Model, Reset};
use vm_pmu_arch::registry::Part;

use super::dialect::Dialect;
use super::{Litmus, Step, collection, nest, nested, record, request, untile};

impl fmt::Display for Litmus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "title: {}\npmu: {}\nsection: {}", self.title, self.part.name(), self.section)?;
        if Part::named(self.part.name()) != Some(self.part) {
            writeln!(formatter, "revision: {}", self.part.revision_letter())?;
        }
        if self.packages != 1 {
            writeln!(formatter, "packages: {}", self.packages)?;
        }
        if self.threads != 1 {
            writeln!(formatter, "threads: {}", self.threads)?;
        }
        if self.shared_counters {
            writeln!(formatter, "share_counters: yes")?;
        }
        self.beginning.print(formatter)?;
        writeln!(formatter)?;
        self.steps.iter().try_for_each(|(_, step)| writeln!(formatter, "{}", Printed { step, part: self.part }))
    }
}

struct Printed<'a> {
    step: &'a Step,
    part: Part,
}

impl Printed<'_> {
    fn register(&self, address: Address) -> String {
        if let Some(name) = untile::name(address).filter(|_| self.part.shape().has_untile) {
            return name;
        }
        let registers = self.part.build().registers();
        match (registers.iter().find(|register| register.address == address), address) {
            (Some(register), _) => register.name.to_owned(),
            (None, Address::Rdpmc(index)) => format!("rdpmc:{index:#x}"),
            (None, Address::Msr(number)) => format!("msr:{number:#x}"),
            (None, Address::Spr(number)) => format!("spr:{number}"),
            (None, Address::Bhrb(entry)) => format!("bhrb:{entry}"),
            (None, Address::Imc) => "imc".to_owned(),
            (None, Address::Pmc(index)) => format!("pmc:{index}"),
            (None, Address::Pmd(index)) => format!("pmd:{index}"),
            (None, Address::Ibr(index)) => format!("ibr:{index}"),
            (None, Address::Dbr(index)) => format!("dbr:{index}"),
            (None, Address::Pci(PciAddress { bus, device, function, offset })) => {
                format!("pci:{bus:02x}:{device:02x}.{function}:{offset:#x}")
            }
            (None, other) => other.to_string(),
        }
    }
}

fn list(signals: &[(Signal, u64)]) -> String {
    signals.iter().map(|(signal, amount)| format!(" {}={amount}", signal.name())).collect()
}

/// The numbers of these pins, one bit each, each after a blank.
pub(super) fn pin_numbers(pins: u32) -> String {
    (0..u32::BITS).filter(|pin| pins >> pin & 1 == 1).map(|pin| format!(" {pin}")).collect()
}

/// The words for these instructions, each after a blank.
pub(super) fn which(records: Records) -> String {
    let words = [
        (records.at_deadline, " at_deadline"),
        (records.taken_branches, " taken_branches"),
        (records.branches, " branches"),
        (records.memory, " memory"),
        (records.fetches, " fetches"),
        (records.every, " every"),
        (records.requests, " requests"),
        (records.nested, " nested"),
        (records.sampled_addresses, " sampled_addresses"),
        (records.sampled_outcomes, " sampled_outcomes"),
        (records.is_none(), " none"),
    ];
    words.into_iter().filter(|(wanted, _)| *wanted).map(|(_, word)| word).collect()
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Step::Thread(thread) => write!(out, "thread {thread}"),
            Step::Context(fields) => {
                write!(out, "context")?;
                fields.iter().try_for_each(|(field, value)| write!(out, " {}={value:#x}", Dialect::of(self.part).word(*field)))
            }
            Step::Write(address, value, None) => write!(out, "write {} {value:#x}", self.register(*address)),
            Step::Write(address, value, Some(fault)) => write!(out, "write {} {value:#x} faults {}", self.register(*address), fault.word()),
            Step::Read(address, Ok(value)) => write!(out, "read {} = {value:#x}", self.register(*address)),
            Step::Read(address, Err(fault)) => write!(out, "read {} faults {}", self.register(*address), fault.word()),
            Step::Feed(1, signals) => write!(out, "feed{}", list(signals)),
            Step::Feed(times, signals) => write!(out, "repeat {times} feed{}", list(signals)),
            Step::Record(times, known, signals) => {
                if *times != 1 {
                    write!(out, "repeat {times} ")?;
                }
                write!(out, "record{}", record::print(known))?;
                if signals.is_empty() { Ok(()) } else { write!(out, " feed{}", list(signals)) }
            }
            Step::Nested(step) => write!(out, "nested {}", nested::print(step)),
            Step::Request(1, told) => write!(out, "request {}", request::print(told)),
            Step::Request(times, told) => write!(out, "repeat {times} request {}", request::print(told)),
            Step::Devices(signals) => write!(out, "devices{}", list(signals)),
            Step::InjectPackage(occurrence, amount) => {
                write!(out, "inject package {:#x}/{:#x} {amount}", occurrence.select, occurrence.umask)
            }
            Step::Levels(levels) => {
                write!(out, "levels")?;
                levels.iter().try_for_each(|(signal, holds)| write!(out, " {}={}", signal.name(), u8::from(*holds)))
            }
            Step::Inject(occurrence, amount) => write!(out, "inject {:#x}/{:#x} {amount}", occurrence.select, occurrence.umask),
            Step::Interrupts(counters) if counters.is_empty() => write!(out, "interrupts none"),
            Step::Interrupts(counters) => {
                write!(out, "interrupts")?;
                counters.iter().try_for_each(|counter| write!(out, " {counter}"))
            }
            Step::Lines(lines) => {
                write!(out, "lines interrupt={} branch={}", u8::from(lines.interrupt), u8::from(lines.event_based_branch))
            }
            Step::Late(events) => write!(out, "late {events}"),
            Step::Watch(pins) => write!(out, "watch {pins:#x}"),
            Step::Pins(0) => write!(out, "pins none"),
            Step::Pins(pins) => write!(out, "pins{}", pin_numbers(*pins)),
            Step::Pin(pin, toggles) => write!(out, "pin {pin} toggles {toggles}"),
            Step::Demand(signals, per_cycle) => {
                write!(out, "demand")?;
                if signals.is_empty() && !per_cycle {
                    write!(out, " none")?;
                }
                signals.iter().try_for_each(|signal| write!(out, " {}", signal.name()))?;
                if *per_cycle { write!(out, " per_cycle") } else { Ok(()) }
            }
            Step::Records(records) => write!(out, "records{}", which(*records)),
            Step::Match(None) => write!(out, "match none"),
            Step::Match(Some((value, mask))) => write!(out, "match {value:#x} {mask:#x}"),
            Step::Epoch(true) => write!(out, "epoch moved"),
            Step::Epoch(false) => write!(out, "epoch same"),
            Step::Deadline(signal, None) => write!(out, "deadline {} never", signal.name()),
            Step::Deadline(signal, Some(distance)) => write!(out, "deadline {} in {distance}", signal.name()),
            Step::Save => write!(out, "save"),
            Step::Reset(Reset::Cold) => write!(out, "reset cold"),
            Step::Reset(Reset::Warm) => write!(out, "reset warm"),
            Step::Untile(told) => write!(out, "{}", untile::print(told)),
            Step::Nest(told) => write!(out, "{}", nest::print(told)),
            Step::Collection(told) => write!(out, "{}", collection::print(told)),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::litmus::Beginning;

    #[test]
    fn a_printed_program_names_its_revision_unless_it_is_the_usual_one() {
        let text = |header: &str| format!("title: t\npmu: k8\nsection: s\n{header}\nsave\n");
        for (header, printed) in [("revision: c\n", true), ("revision: E\n", false), ("", false)] {
            let litmus: Litmus = text(header).parse().expect("a litmus file");
            let again = litmus.to_string();
            assert_eq!(again.contains("revision: C\n"), printed, "{again}");
            assert_eq!(again.parse::<Litmus>().expect("its own text").part, litmus.part);
        }
    }

    #[test]
    fn a_program_made_for_a_part_is_printed_with_its_revision() {
        let part = Part::named("k8").and_then(|part| part.revision("C")).expect("known");
        let program = Litmus {
            title: "t".into(),
            section: "s".into(),
            part,
            packages: 1,
            threads: 1,
            shared_counters: false,
            beginning: Beginning::default(),
            steps: vec![(1, Step::Save)],
        };
        assert_eq!(program.to_string().parse::<Litmus>().map(|again| again.part), Ok(part));
    }
}
