//! Redirection of a pipeline's front end.

use super::super::bytes::{Damaged, Reader, Writer};
use super::time;

/// The state that a mispredicted branch or a restart leaves for the next dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Redirect {
    /// The cycle in which the right path became known.
    pub(super) resolved: u64,
    /// The cycle in which the branch completed.
    pub(super) completed: u64,
}

impl Redirect {
    pub(super) fn save(redirect: Option<Redirect>, writer: &mut Writer) {
        let Redirect { resolved, completed } = redirect.unwrap_or_default();
        writer.words(&[u64::from(redirect.is_some()), resolved, completed]);
    }

    pub(super) fn load(reader: &mut Reader<'_>, now: u64) -> Result<Option<Redirect>, Damaged> {
        let (there, resolved, completed) = (reader.word()?, time(reader, now)?, time(reader, now)?);
        Ok((there & 1 == 1).then_some(Redirect { resolved, completed }))
    }
}
