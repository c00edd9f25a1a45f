//! Redirection of a pipeline's front end.

use super::time;
use crate::bytes::{Damaged, Reader, Writer};

/// The state that a mispredicted branch or a restart leaves for the next dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pipeline) struct Redirect {
    /// The cycle in which the right path became known.
    pub(in crate::pipeline) resolved: u64,
    /// The cycle in which the branch completed.
    pub(in crate::pipeline) completed: u64,
}

impl Redirect {
    pub(in crate::pipeline) fn save(redirect: Option<Redirect>, writer: &mut Writer) {
        let Redirect { resolved, completed } = redirect.unwrap_or_default();
        writer.words(&[u64::from(redirect.is_some()), resolved, completed]);
    }

    pub(in crate::pipeline) fn load(reader: &mut Reader<'_>, now: u64) -> Result<Option<Redirect>, Damaged> {
        let (there, resolved, completed) = (reader.word()?, time(reader, now)?, time(reader, now)?);
        Ok((there & 1 == 1).then_some(Redirect { resolved, completed }))
    }
}
