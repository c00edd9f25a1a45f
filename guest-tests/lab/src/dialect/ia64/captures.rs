//! What the event address registers are set to capture, by the word `ear=`.

use vm_pmu::arch::access::Address;

use crate::error::Error;
use crate::suggest;

/// A thing to capture: its name, and the mode and unit mask of the register that chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Choice {
    name: &'static str,
    /// The mode: 0 for misses of caches.
    pub mode: u8,
    /// The unit mask.
    pub umask: u8,
}

impl Choice {
    /// What is called `name`.
    pub(in super::super) const fn new(name: &'static str, mode: u8, umask: u8) -> Choice {
        Choice { name, mode, umask }
    }
}

/// What is captured, and by which of the two groups of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Captured {
    /// Fetches of instructions.
    Fetches(Choice),
    /// Accesses to data.
    Accesses(Choice),
}

/// The registers that choose what is captured: each is there once.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Captures {
    /// Their writes.
    pub writes: Vec<(Address, u64)>,
}

impl Captures {
    /// What `ear` chooses for the event called `event`.
    ///
    /// # Errors
    /// The event counts no captures, or they know no such choice.
    pub(in super::super) fn add(&self, event: &str, ear: &str, fetches: &[Choice], accesses: &[Choice]) -> Result<Captured, Error> {
        let of_data = event.starts_with("DATA");
        if !event.ends_with("_EAR_EVENTS") {
            return Err(Error::usage(format!("{event} counts no captures: `ear=` is for the events that end in EAR_EVENTS")));
        }
        let choices = if of_data { accesses } else { fetches };
        match choices.iter().find(|choice| choice.name.eq_ignore_ascii_case(ear)) {
            Some(choice) if of_data => Ok(Captured::Accesses(*choice)),
            Some(choice) => Ok(Captured::Fetches(*choice)),
            None => {
                let names = choices.iter().map(|choice| choice.name);
                let hint = suggest::did_you_mean(ear, names.clone(), &suggest::there_are(names));
                Err(Error::usage(format!("{event} has no captures `{ear}`{hint}")))
            }
        }
    }

    /// Adds the write of a register.
    ///
    /// # Errors
    /// Another event has it capture something else.
    pub(in super::super) fn write(&mut self, address: Address, value: u64) -> Result<(), Error> {
        match self.writes.iter().find(|(known, _)| *known == address) {
            Some((_, before)) if *before != value => {
                Err(Error::usage("the event address registers capture one thing at a time: give each event the same `ear=`".to_owned()))
            }
            Some(_) => Ok(()),
            None => {
                self.writes.push((address, value));
                Ok(())
            }
        }
    }
}
