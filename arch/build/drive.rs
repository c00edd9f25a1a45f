//! From the words of a data file to what drives an event: `when`, `sampled`, `amount`, `internal`.

/// The conditions joined by `+`, as a list of `When`.
pub(crate) fn when(text: &str) -> Result<String, String> {
    let conditions: Result<Vec<_>, _> = text.split('+').map(str::trim).filter(|word| !word.is_empty()).map(condition).collect();
    Ok(format!("&[{}]", conditions?.join(", ")))
}

fn condition(word: &str) -> Result<String, String> {
    let variant = match word {
        "run" => "Run",
        "hypervisor" => "Hypervisor",
        "hypervisor_bit" => "HypervisorBit",
        "problem" => "Problem",
        "privileged" => "Privileged",
        "supervisor" => "Supervisor",
        "application" => "Application",
        "adjunct" => "Adjunct",
        "external_disabled" => "ExternalDisabled",
        "external_pending" => "ExternalPending",
        "transactional" => "Transactional",
        "suspended" => "Suspended",
        "radix" => "Radix",
        "hashed" => "Hashed",
        "priority_0_1" => "Priority(0)",
        "priority_2_3" => "Priority(2)",
        "priority_4_5" => "Priority(4)",
        "priority_6_7" => "Priority(6)",
        "any_run" => "AnyRun",
        "all_run" => "AllRun",
        "running_0" => "Running(0)",
        "running_1" => "Running(1)",
        "running_2" => "Running(2)",
        "running_3" => "Running(3)",
        "running_4" => "Running(4)",
        "single_thread" => "SingleThread",
        "two_threads" => "TwoThreads",
        "four_threads" => "FourThreads",
        _ => return Err(format!("no condition is called {word}")),
    };
    Ok(format!("When::{variant}"))
}

/// The tests and the amount of an event of the sampled instruction.
pub(crate) fn sampled(tests: &[String], amount_word: &str) -> Result<String, String> {
    let tests: Result<Vec<_>, _> = tests.iter().map(|word| test(word)).collect();
    Ok(format!("Drive::Sampled {{ tests: &[{}], amount: Amount::{} }}", tests?.join(", "), amount(amount_word)?))
}

fn test(word: &str) -> Result<String, String> {
    let reached = |stage: &str| Ok(format!("Test::Reached(Stage::{stage})"));
    let is = |traits: &str| Ok(format!("Test::Is(Traits::{traits})"));
    let fabric = |command: &str| Ok(format!("Test::Fabric(FabricCommand::{command})"));
    let flushed = |cause: &str| Ok(format!("Test::Flushed(Flush::{cause})"));
    let page = |bits: u8| Ok(format!("Test::Page({bits})"));
    if let Some(codes) = word.strip_prefix("source:") {
        return Ok(format!("Test::Source({:#x})", codes_of(codes)?));
    }
    if let Some(codes) = word.strip_prefix("walk_source:") {
        return Ok(format!("Test::WalkSource({:#x})", codes_of(codes)?));
    }
    match word {
        "decoded" => reached("Decoded"),
        "dispatched" => reached("Dispatched"),
        "issued" => reached("Issued"),
        "finished" => reached("Finished"),
        "completed" => reached("Completed"),
        "l1_miss" => reached("FirstMiss"),
        "reloaded" => reached("Reload"),
        "l2_dispatched" => reached("SecondLevelDispatched"),
        "l2_done" => reached("SecondLevelDone"),
        "drained" => reached("Drained"),
        "next_to_finish" => reached("NextToFinish"),
        "next_to_complete" => reached("NextToComplete"),
        "decimal" => is("DECIMAL"),
        "weakly_predicted" => is("WEAKLY_PREDICTED"),
        "probe" => is("PROBE"),
        "larx" => is("RESERVE"),
        "stcx" => is("CONDITIONAL"),
        "stcx_fail" => is("CONDITIONAL_FAILED"),
        "div" => is("DIVIDE"),
        "tend" => is("TRANSACTION_END"),
        "transaction_failed" => is("TRANSACTION_FAILED"),
        "page:4K" => page(12),
        "page:64K" => page(16),
        "page:2M" => page(21),
        "page:16M" => page(24),
        "page:1G" => page(30),
        "page:16G" => page(34),
        "flushed:store_hit_load" => flushed("StoreHitLoad"),
        "flushed:alias" => flushed("Alias"),
        "flushed:reservation" => flushed("Reservation"),
        "fabric:read" => fabric("Read"),
        "fabric:rwitm" => fabric("ReadToModify"),
        "fabric:dclaim" => fabric("Claim"),
        "fabric:bkill" => fabric("Kill"),
        _ => simple(word).map(|variant| format!("Test::{variant}")),
    }
}

fn simple(word: &str) -> Result<&'static str, String> {
    Ok(match word {
        "marked" => "Marked",
        "load" => "Load",
        "store" => "Store",
        "load_store" => "LoadStore",
        "branch" => "Branch",
        "fixed" => "Fixed",
        "vector_scalar" => "VectorScalar",
        "link" => "Link",
        "taken" => "Taken",
        "backward" => "Backward",
        "mispredicted" => "Mispredicted",
        "icache_miss" => "FetchMiss",
        "icache_beyond_l3" => "FetchBeyond",
        "derat_miss" => "FirstTranslationMiss",
        "tlb_miss" => "TranslationMiss",
        "store_forwarded" => "StoreForwarded",
        "store_intervention" => "StoreIntervention",
        "t_intervention" => "TaggedIntervention",
        _ => return Err(format!("no test is called {word}")),
    })
}

/// Codes of five bits in hexadecimal, joined by `|`, as one bit each.
fn codes_of(text: &str) -> Result<u32, String> {
    text.split('|').try_fold(0, |bits, code| match u32::from_str_radix(code, 16) {
        Ok(code) if code < 32 => Ok(bits | 1 << code),
        _ => Err(format!("{code} is not a code of five bits")),
    })
}

fn amount(word: &str) -> Result<&'static str, String> {
    Ok(match word {
        "" => "One",
        "latency" => "Latency",
        "exposed" => "Exposed",
        "stall" => "Stall",
        "next_to_complete" => "NextToComplete",
        "in_flight" => "InFlight",
        "l2_machine" => "SecondLevelMachine",
        "drain" => "Drain",
        "retries" => "Retries",
        _ => return Err(format!("no amount is called {word}")),
    })
}

/// What the model makes by itself.
pub(crate) fn internal(word: &str) -> Result<String, String> {
    let numbered = |text: &str, variant: &str| match text.parse::<u16>() {
        Ok(number) => Ok(format!("{variant}({number})")),
        Err(_) => Err(format!("{text} is not a number")),
    };
    let inner = match word.split_once(':') {
        Some(("nested", event)) => nested(event)?,
        Some(("overflow", number)) => numbered(number, "Overflow")?,
        Some(("rewind", number)) => numbered(number, "Rewind")?,
        Some(("saved", number)) => numbered(number, "Saved")?,
        Some(("threshold", "met")) => "ThresholdMet".into(),
        Some(("threshold", "not_met")) => "ThresholdNotMet".into(),
        Some(("threshold", "accumulated")) => "ThresholdAccumulated".into(),
        Some(("threshold", rest)) => match rest.strip_prefix("exceeded:") {
            Some(number) => numbered(number, "ThresholdExceeded")?,
            None => return Err(format!("the model makes no event called {word}")),
        },
        Some(("privilege_change", levels)) => numbered(levels, "PrivilegeChange")?,
        Some(("tagged_instructions", channel)) => numbered(channel, "TaggedInstructions")?,
        None if word == "data_address_capture" => "DataAddressCapture".into(),
        None if word == "instruction_address_capture" => "InstructionAddressCapture".into(),
        None if word == "trace_entry" => "TraceEntry".into(),
        None if word == "qualified_cycles" => "QualifiedCycles".into(),
        None if word == "suspended" => "Suspended".into(),
        None if word == "clock" => "Clock".into(),
        None if word == "request" => "Request".into(),
        None if word == "device" => "Device".into(),
        None if word == "never" => "Never".into(),
        None if word == "posting" => "Posting".into(),
        None if word == "time_base_bit" => "TimeBaseBit".into(),
        _ => return Err(format!("the model makes no event called {word}")),
    };
    Ok(format!("Drive::Internal(Internal::{inner})"))
}

/// An event of nested translation: its kind, and the sets that it counts.
fn nested(text: &str) -> Result<String, String> {
    const SIZES: [&str; 5] = ["4K", "64K", "2M", "1G", "none"];
    const LEVELS: [&str; 6] = ["process", "level1", "level2", "level3", "level4", "final"];
    const PHASES: [&str; 6] = ["look_up", "host1", "host2", "host3", "host4", "entry"];
    let words: Vec<&str> = text.split(':').collect();
    let [kind, first, second] = words[..] else { return Err(format!("nested:{text} has not two sets")) };
    Ok(match kind {
        "first" => {
            let (guests, hosts) = (set(first, &SIZES[..4], 0b1111)?, set(second, &SIZES, 0b1111)?);
            format!("Nested(NestedEvent::First {{ guests: {guests}, hosts: {hosts} }})")
        }
        "look_up" => {
            let (levels, hosts) = (set(first, &LEVELS, 0b11_1111)?, set(second, &SIZES, 0b1111)?);
            format!("Nested(NestedEvent::LookUp {{ levels: {levels}, hosts: {hosts} }})")
        }
        "walk_cache" => {
            let (levels, known) = (set(first, &LEVELS, 0b11_1111)?, set(second, &["1", "2", "3"], 0b111)?);
            format!("Nested(NestedEvent::WalkCache {{ levels: {levels}, known: {known} }})")
        }
        "walker0" | "walker1" => {
            let number = u8::from(kind == "walker1");
            let (levels, phases) = (set(first, &LEVELS, 0b11_1111)?, set(second, &PHASES, 0b11_1111)?);
            format!("Nested(NestedEvent::Walker {{ number: {number}, levels: {levels}, phases: {phases} }})")
        }
        _ => return Err(format!("nested translation has no event called {kind}")),
    })
}

/// The words joined by `|`, as one bit each; `any` stands for these bits.
fn set(text: &str, words: &[&str], any: u8) -> Result<u8, String> {
    text.split('|').try_fold(0, |bits, word| match words.iter().position(|known| *known == word) {
        Some(place) => Ok(bits | 1 << place),
        None if word == "any" => Ok(bits | any),
        None => Err(format!("{word} is none of {}", words.join(", "))),
    })
}
