//! What the records of the POWER engine, and the companion's part of them, contain about a sampled instruction.

use vm_pmu::arch::event::{Amount, Fidelity, Test};
use vm_pmu::arch::feed::{FabricCommand, Stage, Traits};

/// The sources of data that the companion reports, one bit each, by their codes (POWER9 PMU User's Guide, table A-6): the second and the
/// third level, each with the state Mepf too, and all beyond them, from 0x10 on. Those of page-table entries are the same. Conflicts in the
/// own levels are left out, but for a load's with a store or a fetch.
const SOURCES: u32 = 1 << 0x00 | 1 << 0x01 | 1 << 0x04 | 1 << 0x05 | 0xFFFF << 0x10;
/// The second level, after a conflict with an older store to the line.
const BEHIND_STORE: u32 = 1 << 0x02;
/// The same after a fetch of it by another thread.
const BEHIND_OTHER: u32 = 1 << 0x03;

/// The best word for an event of the sampled instruction that counts `amount` where every test holds: exact where the engine alone
/// reports it, approximate where the companion does or the stages follow from the rest of the record, else an embedder's.
///
/// ```
/// use vm_pmu::arch::event::{Amount, Fidelity, Test};
/// use vm_pmu::arch::feed::FabricCommand;
/// use vm_pmu_lab::entries::known::records::fidelity;
///
/// assert_eq!(fidelity(&[Test::Branch, Test::Taken], Amount::One), Fidelity::Exact);
/// assert_eq!(fidelity(&[Test::Branch, Test::Mispredicted], Amount::One), Fidelity::Approximate);
/// assert_eq!(fidelity(&[Test::Fabric(FabricCommand::Kill)], Amount::One), Fidelity::Embedder);
/// ```
#[must_use]
pub fn fidelity(tests: &[Test], amount: Amount) -> Fidelity {
    let fails = |traits: Traits| tests.contains(&Test::Is(traits));
    // A record of the engine that ends a transaction, or misses the cache, is not the one that gives a transaction up.
    let other = fails(Traits::TRANSACTION_END) || tests.contains(&Test::Reached(Stage::SecondLevelDispatched));
    if fails(Traits::TRANSACTION_FAILED) && other {
        return Fidelity::Embedder;
    }
    tests.iter().map(|test| of_test(*test)).fold(of_amount(amount), Fidelity::max)
}

const fn of_amount(amount: Amount) -> Fidelity {
    match amount {
        Amount::One => Fidelity::Exact,
        // A command that is repeated farther away, which the companion tells.
        Amount::Retries
        | Amount::Latency
        | Amount::Exposed
        | Amount::Stall
        | Amount::NextToComplete
        | Amount::InFlight
        | Amount::SecondLevelMachine
        | Amount::Drain => Fidelity::Approximate,
    }
}

fn of_test(test: Test) -> Fidelity {
    match test {
        Test::Marked
        | Test::Load
        | Test::Store
        | Test::LoadStore
        | Test::Branch
        | Test::Fixed
        | Test::VectorScalar
        | Test::Link
        | Test::Taken
        | Test::Backward
        | Test::Reached(Stage::Completed) => Fidelity::Exact,
        // The companion's, which knows decimal instructions by what it is told of them.
        Test::Is(traits) if traits.intersects(Traits::DECIMAL | Traits::WEAKLY_PREDICTED) => Fidelity::Approximate,
        Test::Is(_) => Fidelity::Exact,
        Test::Reached(_)
        | Test::Mispredicted
        | Test::FirstTranslationMiss
        | Test::TranslationMiss
        | Test::Page(_)
        | Test::FetchMiss
        | Test::FetchBeyond
        | Test::StoreForwarded
        | Test::Flushed(_)
        | Test::TaggedIntervention
        | Test::StoreIntervention
        | Test::Fabric(FabricCommand::Read | FabricCommand::ReadToModify | FabricCommand::Claim) => Fidelity::Approximate,
        Test::Source(codes) if codes & (SOURCES | BEHIND_STORE | BEHIND_OTHER) != 0 => Fidelity::Approximate,
        Test::WalkSource(codes) if codes & SOURCES != 0 => Fidelity::Approximate,
        Test::Source(_) | Test::WalkSource(_) | Test::Fabric(_) => Fidelity::Embedder,
    }
}
