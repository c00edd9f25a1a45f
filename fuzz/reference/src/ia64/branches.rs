//! How a branch in a trace continues the entries before it (M37).

/// What the next branch may continue.
#[derive(Clone, Copy)]
enum Last {
    Nothing,
    /// A branch of this bundle and slot, which was not taken.
    NotTaken(u64, u8),
    /// A target in this bundle.
    Target(u64),
}

/// What becomes of a source.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// It has an entry of its own.
    New,
    /// It joins the entry of its bundle's branch before it.
    Joins,
    /// It takes the entry of the target that it lies in.
    Replaces,
}

/// The branch before.
pub(crate) struct Branches {
    last: Last,
}

impl Branches {
    pub(crate) const fn new() -> Branches {
        Branches { last: Last::Nothing }
    }

    /// The next branch continues nothing.
    pub(crate) const fn interrupt(&mut self) {
        self.last = Last::Nothing;
    }

    /// A branch is captured that went to the bundle `target`, or was not taken.
    pub(crate) const fn capture(&mut self, bundle: u64, slot: u8, target: Option<u64>) -> Source {
        let source = match self.last {
            Last::NotTaken(own, before) if own == bundle && before < slot => Source::Joins,
            Last::Target(own) if own == bundle => Source::Replaces,
            _ => Source::New,
        };
        self.last = match target {
            Some(target) => Last::Target(target),
            None => Last::NotTaken(bundle, slot),
        };
        source
    }
}
