//! What an emulator's fuzzer makes of bytes: any address in any context, with any record, request, step or event, has a result.

use arbitrary::{Arbitrary, Result, Unstructured};
use proptest::prelude::*;
use vm_pmu::Address;
use vm_pmu::arch::feed::{Context, NestedStep, Record, Request, Signal};
use vm_pmu::arch::model::{Occurrence, Reset};
use vm_pmu::arch::registry::NAMES;
use vm_pmu::topology::Builder;

/// What an emulator does to a thread.
#[derive(Debug, Arbitrary)]
enum Act {
    Read(Address),
    Write(Address, u64),
    Context(Context),
    Record(Record),
    Request(Request),
    Nested(NestedStep),
    Inject(Occurrence, u32),
    Add(Signal, u32),
    Reset(Reset),
}

fn acts(bytes: &[u8]) -> Result<Vec<Act>> {
    let mut bytes = Unstructured::new(bytes);
    let mut acts = Vec::new();
    while !bytes.is_empty() {
        acts.push(bytes.arbitrary()?);
    }
    Ok(acts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_acts_leave_a_machine_that_saves_and_goes_on(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let Ok(acts) = acts(&bytes) else { return Ok(()) };
        for name in NAMES {
            let build = || Builder::new(name).expect("it is in the list").build(|_, _| {}).expect("one thread");
            let machine = build();
            let thread = machine.thread(0).expect("the only one");
            for act in &acts {
                match act {
                    Act::Read(address) => drop(thread.read(*address)),
                    Act::Write(address, value) => drop(thread.write(*address, *value)),
                    Act::Context(context) => thread.set_context(*context),
                    Act::Record(record) => thread.record(record),
                    Act::Request(request) => thread.request(request),
                    Act::Nested(step) => thread.nested(step),
                    Act::Inject(occurrence, amount) => _ = thread.inject(*occurrence, u64::from(*amount)),
                    Act::Add(signal, amount) => {
                        thread.totals().add(*signal, u64::from(*amount));
                        thread.service();
                    }
                    Act::Reset(reset) => thread.reset(*reset),
                }
            }
            let states = machine.states();
            let other = build();
            other.restore(&states).expect("the same part");
            prop_assert_eq!(other.states(), states);
        }
    }
}
