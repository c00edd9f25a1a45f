use crate::model::Model;

/// A part that compares the encodings of instructions with a register.
pub trait InstructionMatching: Model {
    /// The instructions that [`Signal::MatchedInstructions`](crate::feed::Signal::MatchedInstructions) counts: a value, and the bits of
    /// it that are compared with an instruction's encoding. `None` while nothing is to be matched. The epoch of the demand changes with
    /// it.
    fn instruction_match(&self) -> Option<(u64, u64)>;
}
