//! What posts itself into memory: nothing is programmed, a driver reads at an offset (POWER9 PMU User's Guide, section 6.3).

use vm_pmu::arch::event::{Entry, POWER9};

use crate::dialect::select::Request;
use crate::dialect::{Programming, unsupplied_note};
use crate::error::Error;

/// The PMU that Linux makes of the unit that posts `event`, by the name of its node in the device tree.
fn pmu(event: &Entry) -> String {
    let of_node = |node: &str| format!("nest_{node}_imc");
    match event.unit {
        "core-imc" => "core_imc".to_owned(),
        "thread-imc" => "thread_imc".to_owned(),
        _ => match event.name.strip_prefix("PM_").and_then(|name| name.split('_').next()) {
            Some("PB") => of_node("powerbus0"),
            Some(word) => of_node(&word.to_ascii_lowercase().replace("ntl", "nvlink")),
            None => of_node("update_count"),
        },
    }
}

/// The event as Linux takes it: its offset is the number of the event.
pub(super) fn notation(event: &Entry) -> String {
    format!("{}/event={:#x}/", pmu(event), event.select)
}

/// The event of the nest that a notation means.
pub(super) fn noted(text: &str) -> Option<&'static Entry> {
    if !text.starts_with("nest_") || !text.ends_with('/') {
        return None;
    }
    POWER9.events().find(|event| event.unit == "nest" && notation(event) == text)
}

/// What there is to know of an event that is posted: nothing is written for it.
pub(super) fn encode(event: &Entry, request: &Request<'_>) -> Result<Programming, Error> {
    if let Some(word) = request.words.first() {
        return Err(Error::usage(format!("{} has no modifier `{word}`: what is posted is counted always and for everyone", event.name)));
    }
    let place = match event.unit {
        "nest" => "the region of its chip",
        "core-imc" => "the memory of its core",
        _ => "the memory of its thread",
    };
    let mut notes =
        vec![format!("nothing is programmed: {} is posted at {:#x} of {place}, eight bytes, big-endian", event.name, event.select)];
    if event.select >= FLEXIBLE && event.unit == "nest" {
        notes.push("only the flexible mode posts it".to_owned());
    }
    notes.extend(unsupplied_note(event.fidelity).map(str::to_owned));
    Ok(Programming { event: Some(notation(event)), counter: 0, writes: Vec::new(), notes, warnings: Vec::new() })
}

/// Where the postings of the flexible mode begin.
const FLEXIBLE: u32 = 0x1_0000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_has_a_pmu_for_every_unit_that_posts() {
        for (name, expected) in [
            ("Update_count_h1", "nest_update_count_imc/event=0x0/"),
            ("PM_PB_EVENT_VG_PUMP", "nest_powerbus0_imc/event=0x8/"),
            ("PM_MCS23_64B_RD_DISP_PORT01", "nest_mcs23_imc/event=0x50/"),
            ("PM_XLINK0_IN_ODD_CYC", "nest_xlink0_imc/event=0x178/"),
            ("PM_NTL5_CLK_CYC", "nest_nvlink5_imc/event=0x2c8/"),
            ("PM_ATS_TCE_MISS", "nest_ats_imc/event=0x2f0/"),
            ("PM_MBA7_CAS_READ", "nest_mba7_imc/event=0x105c8/"),
        ] {
            let event = POWER9.event_named(name).expect("the guide has it");
            assert_eq!(notation(event), expected);
            assert_eq!(noted(expected).map(|event| event.name), Some(name));
        }
    }
}
