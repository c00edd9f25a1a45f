//! What models make by themselves, and where it is shown: litmus files whose values are worked out by hand, and guests.

use std::path::Path;

use vm_pmu::arch::event::{Entry, Fidelity, Internal, NestedEvent};
use vm_pmu::litmus::Case;

use super::each;

enum Shown {
    /// By a litmus file of the part.
    File(String),
    /// By a guest of the part, by name.
    Guest(&'static str),
    /// By a test of this file's folder.
    Here,
    /// Not at all: it never counts, on the part neither.
    Never,
}
use Shown::{File, Guest, Here, Never};

fn shown(part: &str, internal: Internal) -> Shown {
    let file = |name: &str| File(format!("{name}.litmus"));
    match internal {
        Internal::Suspended | Internal::Never => Never,
        Internal::Clock if part == "knl" => Guest("untile-clocks"),
        Internal::Clock | Internal::Posting => Guest("nest-control"),
        Internal::Request | Internal::Device => Here,
        Internal::Nested(NestedEvent::First { .. }) => file("nested-first-look-ups-by-size"),
        Internal::Nested(NestedEvent::LookUp { .. }) => file("nested-look-ups-of-walks"),
        Internal::Nested(NestedEvent::WalkCache { .. }) => file("nested-walk-cache-by-level"),
        Internal::Nested(NestedEvent::Walker { .. }) => file("nested-walker-cycles"),
        Internal::Overflow(_) => Guest("trigger-chain"),
        Internal::Rewind(counter) => file(&format!("marked-pmc{counter}-rewind")),
        Internal::Saved(counter) => file(&format!("marked-pmc{counter}-saved")),
        Internal::ThresholdMet => file("threshold-met-reached"),
        Internal::ThresholdNotMet => file("threshold-not-met-at-an-end-below-the-value"),
        Internal::ThresholdExceeded(value) => file(&format!("threshold-exceeds-{value}")),
        Internal::ThresholdAccumulated => file("threshold-accumulated-counts-every-tick"),
        Internal::TimeBaseBit => file("time-base-transitions-are-counted"),
        Internal::DataAddressCapture => Guest("data-ear"),
        Internal::InstructionAddressCapture => Guest("instruction-ear"),
        Internal::TraceEntry => Guest("trace"),
        Internal::PrivilegeChange(_) => file(if part == "itanium" { "cpl-changes" } else { "event-cpl-changes" }),
        Internal::TaggedInstructions(_) => Guest("opcode"),
        Internal::QualifiedCycles => file("cycles-qualified"),
    }
}

#[test]
fn what_a_model_makes_is_shown_by_a_litmus_file_or_a_guest() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus");
    let mut missing = Vec::new();
    each(|part, _, entry| {
        let Entry { drive: vm_pmu::arch::event::Drive::Internal(internal), name, fidelity, .. } = *entry else { return };
        assert!(fidelity <= Fidelity::Approximate, "{name} is the model's own");
        let is_there = match shown(part.name(), internal) {
            Here | Never => true,
            Guest(guest) => vm_pmu_guests::named(part.name(), guest).is_some(),
            File(file) => {
                let text = std::fs::read_to_string(suites.join(part.name()).join(&file));
                text.is_ok_and(|text| Case::of_file(&text).is_ok_and(|cases| cases.iter().any(|case| case.litmus.part == part)))
            }
        };
        if !is_there {
            missing.push(format!("{} {name}", part.name()));
        }
    });
    assert!(missing.is_empty(), "{missing:?}");
}
