//! What makes the count of an event, in words.

use std::fmt::Write as _;

use vm_pmu::Signal;
use vm_pmu::arch::event::{Amount, Catalogue, Drive, Entry, Internal, NestedEvent, Reloads, Test, When};
use vm_pmu::arch::feed::{FabricCommand, Flush, GuestLevel, NestedWalk, Stage, Traits};

/// The signals whose sum an entry is; where a unit mask leaves classes out, those of its clear bits.
///
/// ```
/// use vm_pmu::Signal;
/// use vm_pmu::arch::event::KNL;
/// use vm_pmu_lab::entries::driven::sources;
///
/// assert_eq!(sources(KNL.named("BR_INST_RETIRED.CALL").unwrap()), [Signal::DirectCalls, Signal::IndirectCalls]);
/// ```
#[must_use]
pub fn sources(entry: &Entry) -> Vec<Signal> {
    let left_out = entry.umask.unwrap_or(0);
    let classes = entry.classes.iter().enumerate().filter(|(bit, _)| left_out >> bit & 1 == 0).map(|(_, class)| *class);
    entry.signals.iter().copied().chain(classes).collect()
}

/// The signals that drive an entry, each once; an event with unit masks is driven by theirs.
#[must_use]
pub fn signals(entry: &Entry, catalogue: &Catalogue) -> Vec<&'static str> {
    let masks = if entry.umask.is_none() { catalogue.masks(entry) } else { &[] };
    let mut names: Vec<&str> = Vec::new();
    let of_masks = masks.iter().filter(|mask| mask.listed).flat_map(sources);
    for signal in sources(entry).into_iter().chain(of_masks) {
        if !names.contains(&signal.name()) {
            names.push(signal.name());
        }
    }
    names
}

/// What drives an entry: its `signals`, each name dressed by `name`, or what else does, with the conditions of the thread's state.
/// Nothing for what is only injected.
///
/// ```
/// use vm_pmu::arch::event::POWER9;
/// use vm_pmu_lab::entries::driven::words;
///
/// let event = POWER9.event_named("PM_RUN_CYC").unwrap();
/// assert_eq!(words(event, &["cycles"], &|name| name.to_owned()), "cycles while CTRL[RUN] is 1");
/// ```
#[must_use]
pub fn words(entry: &Entry, signals: &[&str], name: &dyn Fn(&str) -> String) -> String {
    let mut text = match entry.drive {
        Drive::Signals => signals.iter().map(|signal| name(signal)).collect::<Vec<_>>().join(" + "),
        Drive::Sampled { tests, amount } => sampled(tests, amount),
        Drive::Internal(internal) => made(internal),
    };
    for (index, when) in entry.when.iter().enumerate() {
        text.push_str(if index == 0 { " while " } else { " and " });
        text.push_str(&state(*when));
    }
    let register = match entry.reloads {
        Reloads::None => None,
        Reloads::Data => Some("DC_RLD_QUAL"),
        Reloads::Instruction => Some("IC_RLD_QUAL"),
    };
    if let (Some(bit), false) = (register, entry.prefetches.is_empty()) {
        let more: Vec<String> = entry.prefetches.iter().map(|signal: &Signal| name(signal.name())).collect();
        let _ = write!(text, "; with MMCR1[{bit}] also {}", more.join(" + "));
    }
    text
}

fn state(when: When) -> String {
    match when {
        When::Run => "CTRL[RUN] is 1".to_owned(),
        When::Hypervisor => "in hypervisor state".to_owned(),
        When::HypervisorBit => "MSR[HV] is 1".to_owned(),
        When::Problem => "in problem state".to_owned(),
        When::Privileged => "in privileged or hypervisor state".to_owned(),
        When::Supervisor => "MSR[HV, PR] is 00".to_owned(),
        When::Application => "MSR[HV, PR] is 01".to_owned(),
        When::Adjunct => "MSR[HV, PR] is 11".to_owned(),
        When::ExternalDisabled => "external interrupts are disabled".to_owned(),
        When::ExternalPending => "an external interrupt is pending and disabled".to_owned(),
        When::Transactional => "in transactional state".to_owned(),
        When::Suspended => "in suspended state".to_owned(),
        When::Radix => "translation is radix".to_owned(),
        When::Hashed => "translation is hashed".to_owned(),
        When::Priority(low) => format!("the priority is {low} or {}", low.saturating_add(1)),
        When::AnyRun => "some thread of the core runs".to_owned(),
        When::AllRun => "every thread of the core runs".to_owned(),
        When::Running(threads) => format!("{threads} of the core's threads run"),
        When::SingleThread => "the core has one thread".to_owned(),
        When::TwoThreads => "the core has two threads".to_owned(),
        When::FourThreads => "the core has four threads".to_owned(),
    }
}

fn sampled(tests: &[Test], amount: Amount) -> String {
    let tests: Vec<String> = tests.iter().filter(|test| **test != Test::Marked).map(|test| asked(*test)).collect();
    let what = match amount {
        Amount::One => "",
        Amount::Latency => "cycles from the miss to the reload of ",
        Amount::Exposed => "cycles from the miss to the reload, while next to complete, of ",
        Amount::Stall => "cycles next to complete and held up, of ",
        Amount::NextToComplete => "cycles from next to complete to completed, of ",
        Amount::InFlight => "cycles from the first stage to completion of ",
        Amount::SecondLevelMachine => "cycles of the second level's machine for ",
        Amount::Drain => "cycles from the store queue to the second level, of ",
        Amount::Retries => "retries on the fabric of ",
    };
    match tests.as_slice() {
        [] => format!("{what}the sampled instruction"),
        tests => format!("{what}the sampled instruction: {}", tests.join(", ")),
    }
}

fn asked(test: Test) -> String {
    let plain = match test {
        Test::Reached(stage) => return format!("it {}", reached(stage)),
        Test::Source(codes) => return format!("data source {}", listed(codes)),
        Test::WalkSource(codes) => return format!("page-table entry from source {}", listed(codes)),
        Test::Page(bits) => return format!("page of {}", page(bits)),
        Test::Is(traits) => return of_traits(traits).to_owned(),
        Test::Fabric(command) => commanded(command),
        Test::Flushed(Flush::None) => "not flushed",
        Test::Flushed(Flush::StoreHitLoad) => "flushed by an older store of its bytes",
        Test::Flushed(Flush::Alias) => "flushed by an older store at another effective address",
        Test::Flushed(Flush::Reservation) => "flushed by an older load that reserves",
        Test::Marked => "any",
        Test::Load => "a load",
        Test::Store => "a store",
        Test::LoadStore => "executed by the load/store unit",
        Test::Branch => "executed by the branch unit",
        Test::Fixed => "executed by a fixed-point unit",
        Test::VectorScalar => "executed by a vector-scalar unit",
        Test::Link => "writes the link register",
        Test::Taken => "taken",
        Test::Backward => "backward",
        Test::Mispredicted => "mispredicted",
        Test::FetchMiss => "not in the instruction cache",
        Test::FetchBeyond => "fetched from beyond the third level",
        Test::FirstTranslationMiss => "ERAT miss",
        Test::TranslationMiss => "TLB miss",
        Test::StoreForwarded => "data from an older store",
        Test::StoreIntervention => "stored after another cache gave up modified data",
        Test::TaggedIntervention => "given by a cache in state T",
    };
    plain.to_owned()
}

const fn reached(stage: Stage) -> &'static str {
    match stage {
        Stage::Decoded => "was decoded",
        Stage::Dispatched => "was dispatched",
        Stage::Issued => "was issued",
        Stage::FirstMiss => "missed the data cache",
        Stage::SecondLevelDispatched => "was taken up by the second level",
        Stage::SecondLevelDone => "was done with by the second level",
        Stage::Reload => "had its data reloaded",
        Stage::NextToFinish => "was next to finish",
        Stage::Finished => "finished",
        Stage::NextToComplete => "was next to complete",
        Stage::Completed => "completed",
        Stage::Drained => "left the store queue",
    }
}

fn of_traits(traits: Traits) -> &'static str {
    let rows = [
        (Traits::PROBE, "probe no-op"),
        (Traits::RESERVE, "larx"),
        (Traits::CONDITIONAL, "stcx."),
        (Traits::CONDITIONAL_FAILED, "stcx. that failed"),
        (Traits::DIVIDE, "division"),
        (Traits::LONG_LATENCY, "of long latency"),
        (Traits::DECIMAL, "decimal"),
        (Traits::WEAKLY_PREDICTED, "weakly predicted"),
        (Traits::TRANSACTION_END, "tend."),
        (Traits::TRANSACTION_FAILED, "its transaction failed"),
    ];
    rows.into_iter().find(|(known, _)| *known == traits).map_or("of a certain kind", |(_, word)| word)
}

const fn commanded(command: FabricCommand) -> &'static str {
    match command {
        FabricCommand::None => "no command on the fabric",
        FabricCommand::Read => "read on the fabric",
        FabricCommand::ReadToModify => "read with intent to modify on the fabric",
        FabricCommand::Claim => "claim on the fabric",
        FabricCommand::Kill => "kill on the fabric",
    }
}

/// The size of a page in the largest unit of which it is a whole number.
fn page(bits: u8) -> String {
    match bits {
        10..=19 => format!("{} KiB", 1u64 << (bits - 10)),
        20..=29 => format!("{} MiB", 1u64 << (bits - 20)),
        30..=39 => format!("{} GiB", 1u64 << (bits - 30)),
        _ => format!("2^{bits} bytes"),
    }
}

/// Codes of Table A-6, in hexadecimal.
fn listed(codes: u32) -> String {
    let codes: Vec<String> = (0..u32::BITS).filter(|code| codes >> code & 1 == 1).map(|code| format!("{code:02X}")).collect();
    codes.join("|")
}

/// The words of a set of bits, joined.
fn chosen(bits: u8, words: &[&str]) -> String {
    let chosen: Vec<&str> = words.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, word)| *word).collect();
    chosen.join("|")
}

fn nested(event: NestedEvent) -> String {
    const SIZES: [&str; 5] = ["4K", "64K", "2M", "1G", "none"];
    let levels = |levels: u8| chosen(levels, &GuestLevel::ALL.map(GuestLevel::word));
    match event {
        NestedEvent::First { guests, hosts } => {
            format!("first look-ups: guest {}, host {}", chosen(guests, &SIZES), chosen(hosts, &SIZES))
        }
        NestedEvent::LookUp { levels: of, hosts } => format!("look-ups of walks: {}, host {}", levels(of), chosen(hosts, &SIZES)),
        NestedEvent::WalkCache { levels: of, known } => {
            format!("host walks below a known directory: {}, level {}", levels(of), chosen(known, &["1", "2", "3"]))
        }
        NestedEvent::Walker { number, levels: of, phases } => {
            format!("cycles of walker {number}: {}, {}", levels(of), chosen(phases, &NestedWalk::WORDS))
        }
    }
}

fn made(internal: Internal) -> String {
    match internal {
        Internal::Clock => "the clock of its unit".to_owned(),
        Internal::Request => "requests that its unit serves".to_owned(),
        Internal::Device => "what devices do through its unit".to_owned(),
        Internal::Nested(event) => nested(event),
        Internal::Posting => "postings of its group".to_owned(),
        Internal::Suspended => "nothing: the counter is off".to_owned(),
        Internal::Never => "nothing: it never occurs".to_owned(),
        Internal::Overflow(counter) => format!("overflows of PMC{counter}"),
        Internal::Rewind(counter) => format!("what PMC{counter} took back"),
        Internal::Saved(counter) => format!("what PMC{counter} kept"),
        Internal::ThresholdMet => "the threshold was reached".to_owned(),
        Internal::ThresholdNotMet => "the end came before the threshold".to_owned(),
        Internal::ThresholdExceeded(count) => format!("the threshold counter came to {count}"),
        Internal::ThresholdAccumulated => "events of the threshold counter".to_owned(),
        Internal::TimeBaseBit => "the chosen bit of the time base turned to 1".to_owned(),
        Internal::DataAddressCapture => "captures by the data event-address registers".to_owned(),
        Internal::InstructionAddressCapture => "captures by the instruction event-address registers".to_owned(),
        Internal::TraceEntry => "entries of the execution trace buffer".to_owned(),
        Internal::PrivilegeChange(levels) => {
            let levels: Vec<String> = (0..8).filter(|level| levels >> level & 1 == 1).map(|level| level.to_string()).collect();
            format!("changes from or to privilege level {}", levels.join(" or "))
        }
        Internal::TaggedInstructions(channel) => format!("instructions that channel {channel} tags"),
        Internal::QualifiedCycles => "cycles in which an instruction that channel 0 tags completed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm_pmu::arch::event::POWER9;

    fn of(name: &str) -> String {
        let event = POWER9.event_named(name).unwrap();
        words(event, &signals(event, &POWER9), &str::to_owned)
    }

    #[test]
    fn what_is_driven_otherwise_than_by_signals_is_said() {
        assert_eq!(of("PM_MRK_INST_CMPL"), "the sampled instruction: it completed");
        assert_eq!(of("PM_THRESH_MET"), "the threshold was reached");
        assert_eq!(of("PM_TB_BIT_TRANS"), "the chosen bit of the time base turned to 1");
    }

    #[test]
    fn codes_and_pages_are_those_of_the_manual() {
        assert_eq!(listed(1 << 0x1A | 1 << 4), "04|1A");
        assert_eq!([12, 16, 21, 24, 30, 34].map(page), ["4 KiB", "64 KiB", "2 MiB", "16 MiB", "1 GiB", "16 GiB"]);
    }

    #[test]
    fn nothing_is_left_unnamed() {
        for event in POWER9.events() {
            let text = words(event, &signals(event, &POWER9), &str::to_owned);
            assert!(!text.contains("of a certain kind"), "{}: {text}", event.name);
        }
    }
}
