//! The control block, by which host software controls the engine that posts.

use super::place::{self, CONTROL_BLOCK};

/// A cell of the control block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlCell {
    /// What the engine does: a [`Status`].
    Status,
    /// What it must do: a [`Command`], 0 once it is obeyed.
    Command,
    /// How often it posts, 0 to [`SPEEDS`] - 1.
    Speed,
    /// The units there are: an [`Availability`](super::Availability).
    Availability,
    /// The mode it must be in: a [`Mode`].
    Mode,
    /// The mode it is in.
    ModeInForce,
}

impl ControlCell {
    /// Its offset from the start of the region, in bytes.
    #[must_use]
    pub const fn offset(self) -> u64 {
        CONTROL_BLOCK
            + match self {
                ControlCell::Status => 0x00,
                ControlCell::Command => 0x08,
                ControlCell::Speed => 0x10,
                ControlCell::Availability => 0x18,
                ControlCell::Mode => 0x20,
                ControlCell::ModeInForce => 0x28,
            }
    }

    /// Its address on a chip whose home base is `home`; all ones if the region would lie beyond the last address.
    #[must_use]
    pub const fn address(self, home: u64) -> u64 {
        place::address(home, self.offset())
    }
}

/// What the engine does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// It programs the counters.
    #[default]
    Initializing,
    /// It posts.
    Running,
    /// It waits for a command.
    Paused,
    /// The speed is invalid; it waits for another.
    BadSpeed,
    /// The mode is invalid; it waits for another.
    BadMode,
}

impl Status {
    /// The value in memory.
    #[must_use]
    pub const fn value(self) -> u64 {
        self as u64
    }
}

/// What the engine must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Post.
    Resume,
    /// Post no more.
    Pause,
    /// Clear the postings, program the counters anew, and post.
    Clear,
}

impl Command {
    /// The value in memory.
    #[must_use]
    pub const fn value(self) -> u64 {
        match self {
            Command::Resume => 1,
            Command::Pause => 2,
            Command::Clear => 3,
        }
    }

    /// The command of this value; `None` for 0, which is no command, and for values that are not known.
    #[must_use]
    pub const fn of_value(value: u64) -> Option<Command> {
        match value {
            1 => Some(Command::Resume),
            2 => Some(Command::Pause),
            3 => Some(Command::Clear),
            _ => None,
        }
    }
}

/// Which events are counted (section 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Default in-memory collection: the events of groups 0 and 2.
    #[default]
    Default,
    /// Flexible in-memory collection: those of groups 1 and 2.
    Flexible,
}

impl Mode {
    /// The value in memory.
    #[must_use]
    pub const fn value(self) -> u64 {
        self as u64
    }

    /// The mode of this value, if there is one.
    #[must_use]
    pub const fn of_value(value: u64) -> Option<Mode> {
        match value {
            0 => Some(Mode::Default),
            1 => Some(Mode::Flexible),
            _ => None,
        }
    }
}

/// How many speeds there are. A group is posted at every visit at speed 0, at every second one at speed 1, and so on.
pub const SPEEDS: u64 = 12;
