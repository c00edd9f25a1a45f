use crate::feed::{Feed, Record};
use crate::model::PackageScope;

/// A part that tags instructions by address ranges and opcode matchers, and whose counters may count the tagged instructions of other
/// threads of the package.
pub trait Tagging: PackageScope {
    /// Whether counters of this thread count tagged instructions of the package's other threads. Every thread of the package must then
    /// record each instruction, and what the instruction was [tagged](Tagging::tag) with comes here by [`notify`](Tagging::notify).
    fn wants_package_records(&self) -> bool;

    /// Tags an instruction that the thread executed by the thread's own address ranges and opcode matchers. Only models of the same part
    /// understand the word. It is called for each instruction while every instruction is recorded; what is injected next belongs to that
    /// instruction.
    fn tag(&mut self, record: &Record) -> u64;

    /// What the last call did that counters of other threads may count, such as captures and changes of the privilege level. Only models
    /// of the same part understand the word; 0 is nothing.
    fn take_effects(&mut self) -> u64;

    /// Another thread of the package executed an instruction with these tags, and its signals have been added. `effects` is what its model
    /// [did](Tagging::take_effects) with it. Without tags, they are the effects of a change of its context.
    fn notify(&mut self, tags: Option<u64>, effects: u64, feed: &impl Feed);
}
