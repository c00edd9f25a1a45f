//! The calls by which an operating system starts and stops collection, as host firmware (OPAL) handles them.

use super::control::{Command, ControlCell, Status};
use crate::memory::Memory;

/// A call by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// OPAL_IMC_COUNTERS_INIT: type, address of memory, PIR of a CPU.
    Init,
    /// OPAL_IMC_COUNTERS_START: type, PIR of a CPU.
    Start,
    /// OPAL_IMC_COUNTERS_STOP: type, PIR of a CPU.
    Stop,
}

impl Call {
    /// Every call.
    pub const ALL: [Call; 3] = [Call::Init, Call::Start, Call::Stop];

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Call::Init => 149,
            Call::Start => 150,
            Call::Stop => 151,
        }
    }

    /// The call of this number, if it is one of these.
    #[must_use]
    pub const fn of_number(number: u64) -> Option<Call> {
        match number {
            149 => Some(Call::Init),
            150 => Some(Call::Start),
            151 => Some(Call::Stop),
            _ => None,
        }
    }
}

/// What a call is about: the type in its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallType {
    /// A chip's nest.
    Nest,
    /// A core, for its own counters and for those of its threads.
    Core,
    /// Traces of a core's threads.
    Trace,
}

impl CallType {
    /// The type of this number, if it is one.
    #[must_use]
    pub const fn of_number(number: u64) -> Option<CallType> {
        match number {
            1 => Some(CallType::Nest),
            2 => Some(CallType::Core),
            3 => Some(CallType::Trace),
            _ => None,
        }
    }
}

/// What a call returns to the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// OPAL_SUCCESS.
    Success,
    /// OPAL_PARAMETER.
    Parameter,
    /// OPAL_HARDWARE.
    Hardware,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 3] = [Outcome::Success, Outcome::Parameter, Outcome::Hardware];

    /// The value in the guest's register.
    #[must_use]
    pub const fn value(self) -> i64 {
        match self {
            Outcome::Success => 0,
            Outcome::Parameter => -1,
            Outcome::Hardware => -6,
        }
    }
}

/// A call with what its arguments say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Which call.
    pub call: Call,
    /// What it is about; `None` for a type that is not known.
    pub kind: Option<CallType>,
    /// The address of memory that [`Call::Init`] has.
    pub address: u64,
    /// The PIR of the CPU, 32 bits: the number of its chip is in the bits from 8 on, that of its core in bits 2 to 7, its own in bits 0
    /// and 1.
    pub pir: u64,
}

impl Request {
    /// The call `number` with the arguments as the guest's registers have them; `None` for a call that is none of these. Only the lower
    /// 32 bits of type and PIR count, as in host firmware.
    #[must_use]
    pub const fn of(number: u64, arguments: [u64; 3]) -> Option<Request> {
        let Some(call) = Call::of_number(number) else { return None };
        let [kind, second, third] = arguments;
        let (address, pir) = match call {
            Call::Init => (second, third),
            Call::Start | Call::Stop => (0, second),
        };
        Some(Request { call, kind: CallType::of_number(kind & 0xFFFF_FFFF), address, pir: pir & 0xFFFF_FFFF })
    }

    /// The number of the chip of its PIR.
    #[must_use]
    pub const fn chip(self) -> u64 {
        self.pir >> 8
    }

    /// What it returns without doing anything; `None` if something is to be done, by [`nest_command`](Self::nest_command) or for a core.
    /// `is_known` says whether some CPU has its PIR.
    ///
    /// A type that is not known succeeds and does nothing.
    #[must_use]
    pub const fn refusal(self, is_known: bool) -> Option<Outcome> {
        match (self.call, self.kind) {
            (Call::Init, Some(CallType::Nest) | None) => Some(Outcome::Success),
            _ if !is_known => Some(Outcome::Parameter),
            (_, None) => Some(Outcome::Success),
            _ => None,
        }
    }

    /// The command for the engine of its chip, if it has one.
    #[must_use]
    pub const fn nest_command(self) -> Option<Command> {
        match (self.call, self.kind) {
            (Call::Start, Some(CallType::Nest)) => Some(Command::Resume),
            (Call::Stop, Some(CallType::Nest)) => Some(Command::Pause),
            _ => None,
        }
    }
}

impl Command {
    /// Writes it for the engine of the chip whose home base is `home`, as host firmware does. Returns whether it could: not while the
    /// engine has not begun or programs the counters ([`Status::Initializing`]).
    ///
    /// # Errors
    ///
    /// Memory does not have the control block.
    pub fn give<M: Memory>(self, home: u64, memory: &M) -> Result<bool, M::Error> {
        if memory.load(ControlCell::Status.address(home))? == Status::Initializing.value() {
            return Ok(false);
        }
        memory.store(ControlCell::Command.address(home), self.value())?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pir_is_the_third_argument_of_init_and_the_second_of_the_others() {
        let request = |number| Request::of(number, [1, 0x1000, 0x104]).map(|request| (request.address, request.pir));
        assert_eq!([149, 150, 151, 152].map(request), [Some((0x1000, 0x104)), Some((0, 0x1000)), Some((0, 0x1000)), None]);
    }

    #[test]
    fn type_and_pir_are_the_lower_32_bits_of_their_registers() {
        let request = Request::of(151, [0xFFFF_FFFF_0000_0001, 0xFFFF_FFFF_0000_0104, 0]);
        assert_eq!(request.map(|request| (request.kind, request.pir, request.chip())), Some((Some(CallType::Nest), 0x104, 1)));
    }

    #[test]
    fn an_unknown_pir_is_refused_whatever_the_type_but_where_the_nest_is_initialised() {
        let refusal = |number, kind| Request::of(number, [kind, 0, 0]).and_then(|request| request.refusal(false));
        for kind in 1..=3 {
            assert_eq!([150, 151].map(|number| refusal(number, kind)), [Some(Outcome::Parameter); 2], "{kind}");
        }
        assert_eq!([1, 2, 4].map(|kind| refusal(149, kind)), [Some(Outcome::Success), Some(Outcome::Parameter), Some(Outcome::Success)]);
    }

    #[test]
    fn only_start_and_stop_of_the_nest_command_its_engine() {
        let command = |number, kind| Request::of(number, [kind, 0, 0]).and_then(Request::nest_command);
        assert_eq!([149, 150, 151].map(|number| command(number, 1)), [None, Some(Command::Resume), Some(Command::Pause)]);
        assert_eq!([149, 150, 151].map(|number| command(number, 2)), [None; 3]);
    }
}
