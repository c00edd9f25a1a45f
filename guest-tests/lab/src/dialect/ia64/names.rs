//! What libpfm4 calls the captures of the event address registers: names of events, with what is captured at their end.

use std::borrow::Cow;

use crate::dialect::names::Form;

/// The events, by the beginnings of the names.
const EVENTS: [&str; 3] = ["DATA_EAR", "L1I_EAR", "INSTRUCTION_EAR"];

/// The event that counts the captures that `head` names, with the word that says what is captured.
pub(in super::super) fn family(head: &str, words: &[Cow<'_, str>]) -> Option<Form> {
    let upper = head.to_ascii_uppercase();
    let (event, captured) = EVENTS.iter().find_map(|event| Some((*event, upper.strip_prefix(event)?.strip_prefix('_')?)))?;
    let is_capture = ["CACHE_", "TLB_", "ALAT"].iter().any(|kind| captured.starts_with(kind));
    is_capture.then(|| {
        let words: String = words.iter().map(|word| format!(":{word}")).collect();
        Form { text: format!("{event}_EVENTS:ear={captured}{words}"), warning: None }
    })
}
