//! MMCRA and SIER in words: what is sampled, and what is known of the sampled instruction (appendices A.6 and A.7).

use vm_pmu::arch::layout::Field;
use vm_pmu::arch::power9::{Mmcra, Sier};

use crate::number::grouped;

/// What a field of MMCRA says, where that is more than its summary.
pub(super) fn mmcra(field: &Field, value: u64) -> Option<String> {
    let register = Mmcra::of(value);
    let is_on = register.sample_enable();
    Some(match field.name {
        "THRESH_CMP_EXP" => compare_exponent(register),
        "THRESH_CMP_MANTISSA" => match scaled(register.thresh_cmp_mantissa(), register.thresh_cmp_exp()) {
            0 => String::new(),
            threshold => format!("the threshold is {}", grouped(threshold)),
        },
        "THRESH_CTR_MANTISSA" => match scaled(register.thresh_ctr_mantissa(), register.thresh_ctr_exp()) {
            0 => String::new(),
            count => format!("the count is {}", grouped(count)),
        },
        "THRESH_CTR_EXP" if register.thresh_ctr_exp() != 0 => "each unit of the mantissa is 4 to this power".to_owned(),
        "SDAR_MODE" if is_on => String::new(),
        "SDAR_MODE" => match register.sdar_mode() {
            0 => "nothing updates SDAR".to_owned(),
            1 => "loads and stores that miss the TLB update SDAR".to_owned(),
            2 => "loads that miss the data cache update SDAR".to_owned(),
            _ => "stores update SDAR".to_owned(),
        },
        "IFM" => match register.ifm() {
            0 => String::new(),
            1 => "only branches that write the link register".to_owned(),
            2 => "no I-form branches; of those that branch always only computed targets".to_owned(),
            _ => "as 2, and so for branches that do not depend on CR or have a hint".to_owned(),
        },
        "THRESH_EVENT_SEL" if is_on => match register.thresh_event_sel() {
            0 => "thresholds are off".to_owned(),
            1 => "counts run cycles".to_owned(),
            2 => "counts run instructions".to_owned(),
            3 => "reserved: counts nothing".to_owned(),
            counter => format!("counts the event of PMC{}", counter.saturating_sub(3)),
        },
        "THRESH_START" if is_on && register.thresh_event_sel() != 0 => format!("starts: {}", bound(register.thresh_start())),
        "THRESH_END" if is_on && register.thresh_event_sel() != 0 => format!("ends: {}", bound(register.thresh_end())),
        "THRESH_EVENT_SEL" | "THRESH_START" | "THRESH_END" if field.of(value) != 0 && !is_on => {
            "nothing while SAMPLE_ENABLE is 0".to_owned()
        }
        "RAND_SAMP_ELIG" if is_on => eligible(register.rand_samp_mode(), register.rand_samp_elig()).to_owned(),
        "RAND_SAMP_MODE" if is_on => match register.rand_samp_mode() {
            0 => "an instruction is chosen, and followed".to_owned(),
            1 => "a load or store is chosen by what it did".to_owned(),
            2 => "a branch is chosen by what it did".to_owned(),
            _ => "reserved: nothing is sampled".to_owned(),
        },
        "SAMPLE_ENABLE" => if is_on { "random sampling" } else { "continuous sampling" }.to_owned(),
        _ => return None,
    })
}

/// A mantissa times 4 to the power of the exponent.
fn scaled(mantissa: u8, exponent: u8) -> u64 {
    u64::from(mantissa) << (2 * u32::from(exponent & 7))
}

fn compare_exponent(register: Mmcra) -> String {
    match (register.thresh_cmp_exp(), register.thresh_cmp_mantissa()) {
        (0, _) => String::new(),
        (6 | 7, 32..) => "never reached: the threshold counter ends with exponent 5".to_owned(),
        (_, ..32) => "invalid: the mantissa must be 32 or more".to_owned(),
        _ => "each unit of the mantissa is 4 to this power".to_owned(),
    }
}

/// What starts or ends the threshold counter (table A-4).
fn bound(code: u8) -> String {
    let plain = match code {
        0 => "never",
        1 => "decoded",
        2 => "dispatched",
        3 => "issued",
        4 => "finished",
        5 => "completed",
        6 => "a load missed the data cache",
        7 => "its data were reloaded",
        0xC => "next to complete",
        0xD => "taken up by a machine of the second level",
        0xE => "that machine is done",
        0xF => "next to finish",
        counter => return format!("the event of PMC{}", counter.saturating_sub(7)),
    };
    plain.to_owned()
}

/// What random sampling chooses among (table A-5).
const fn eligible(mode: u8, eligibility: u8) -> &'static str {
    match (mode, eligibility) {
        (0, 0) => "any instruction",
        (0, 1) => "what goes to the load/store unit",
        (0, 2) => "probe no-ops",
        (0, 4) => "what matches IMC",
        (0, 5) => "loads",
        (0, 6) => "divisions, square roots, multiplications, mtctr and branches that write the link register",
        (0, 7) => "stores",
        (1, 0) => "loads that miss the data cache",
        (1, 4) => "larx and stcx.",
        (2, 0) => "mispredicted branches",
        (2, 1) => "branches of mispredicted direction",
        (2, 2) => "branches of mispredicted target",
        (2, 3) => "taken branches",
        (2, 4) => "branches that do not what they did before",
        (2, 5) => "branches that need a prediction",
        _ => "reserved: nothing is sampled",
    }
}

/// The short word of a field of SIER that is a code.
pub(super) fn label(field: &Field, value: u64) -> Option<String> {
    if field.high == field.low || field.of(value) == 0 { None } else { sier(field, value) }
}

/// What a field of SIER says, where that is more than its summary.
pub(super) fn sier(field: &Field, value: u64) -> Option<String> {
    let register = Sier::of(value);
    let text = match field.name {
        "FIN_STALL_REASON" => stall(register.fin_stall_reason()),
        "DATA_SRC" => match register.ldst() {
            7 => stored(register.data_src()),
            source => extension(source, register.data_src()),
        },
        "XLATE_SRC" => extension(register.a_xlate_src(), register.xlate_src()),
        "PAGE_SIZE" if register.derat_miss() => {
            ["4 KiB", "64 KiB", "16 MiB or 2 MiB", "16 GiB or 1 GiB"].get(usize::from(register.page_size())).copied().unwrap_or_default()
        }
        "EXT" => scope(register.ext()),
        "TYPE" => match register.kind() {
            1 => "load",
            2 => "store",
            3 => "branch",
            4 => "floating point",
            5 => "fixed point",
            6 => "fetch unit, no branch",
            _ => "",
        },
        "ICACHE" => match register.icache() {
            1 => "the instruction cache",
            2 => "the second level",
            3 => "the third level",
            4 => "beyond the third level",
            _ => "",
        },
        "MPRED_TYPE" => match register.mpred_type() {
            1 => "direction",
            2 => "target",
            _ => "",
        },
        "A_XLATE_SRC" => source(register.a_xlate_src(), "the TLB", ""),
        "LDST" => source(register.ldst(), "the data cache", "a store that missed the data cache"),
        _ => return None,
    };
    Some(text.to_owned())
}

/// The coarse source, whose first and last codes differ between data and translation.
const fn source(code: u8, first: &'static str, last: &'static str) -> &'static str {
    match code {
        1 => first,
        2 => "the second level",
        3 => "the third level",
        4 => "memory",
        5 => "another cache of the chip",
        6 => "a cache of another chip",
        7 => last,
        _ => "",
    }
}

/// The fine source of a coarse one (table A-6).
const fn extension(source: u8, code: u8) -> &'static str {
    match (source, code) {
        (2, 0) => "without conflict",
        (2, 1) => "state Mepf",
        (2, 2) => "a load that hit a store",
        (2, 3) => "other conflict",
        (3, 0) => "without conflict",
        (3, 1) => "state Mepf",
        (3, 2) => "conflict",
        (4, 0) => "fourth level of this chip",
        (4, 1) => "memory of this chip",
        (4, 2) => "fourth level of a remote chip",
        (4, 3) => "memory of a remote chip",
        (4, 4) => "fourth level of a distant chip",
        (4, 5) => "memory of a distant chip",
        (5, 0) => "second level of another core, shared",
        (5, 1) => "second level of another core, modified",
        (5, 2) => "third level of another core, shared",
        (5, 3) => "third level of another core, modified",
        (5, 4) => "third level of another core's extension, shared",
        (5, 5) => "third level of another core's extension, modified",
        (6, 0) => "a remote chip, shared",
        (6, 1) => "a remote chip, modified",
        (6, 2) => "a distant chip, shared",
        (6, 3) => "a distant chip, modified",
        _ => "",
    }
}

/// How a store was completed (table A-6).
const fn stored(code: u8) -> &'static str {
    match code {
        0 => "no machine of the second level was needed",
        1 => "completed in the second level",
        2 => "completed after another cache gave up modified data",
        _ => "",
    }
}

/// How far a request went (table A-7).
const fn scope(code: u8) -> &'static str {
    match code {
        0 => "private",
        1 => "chip, predicted right",
        2 => "group, predicted right",
        3 => "system, predicted right",
        4 => "group was too small",
        5 => "group was too large",
        6 => "system was too small",
        _ => "system was too large",
    }
}

const fn stall(reason: u8) -> &'static str {
    match reason {
        1 => "finished before it was next to complete",
        4 => "data cache miss",
        5 => "load",
        6 => "store forwarded",
        7 => "store",
        8 => "fixed point of several cycles",
        9 => "mispredicted branch",
        0xA => "vector-scalar of several cycles",
        0xC => "other fixed point",
        0xE => "other branch",
        _ => "",
    }
}
