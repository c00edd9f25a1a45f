//! From the words of a data file to where an event is counted, whose it is, and what can constrain it.

use serde::Deserialize;

/// To which thread an occurrence belongs.
#[derive(Deserialize, Clone, Copy, Default, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Attribution {
    #[default]
    Active,
    Causal,
    Floating,
    SelfFloating,
}

impl Attribution {
    /// That of a unit mask: what the own core began floats, anything else is nobody's.
    pub(crate) fn of_mask(self, initiator: Initiator) -> Attribution {
        match (self, initiator) {
            (Attribution::SelfFloating, Initiator::Own) => Attribution::Floating,
            (Attribution::SelfFloating, _) => Attribution::Causal,
            (kind, _) => kind,
        }
    }
}

/// Who began what is counted.
#[derive(Deserialize, Clone, Copy, Default, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Initiator {
    #[default]
    Own,
    Either,
    Other,
    Any,
}

/// Whether a counter may count for every thread of its core.
#[derive(Deserialize, Clone, Copy, Default, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum All {
    #[default]
    Chosen,
    Always,
    Never,
}

/// What can constrain an event.
#[derive(Deserialize, Clone, Copy, PartialEq, Debug)]
pub(crate) enum Qualifier {
    #[serde(rename = "IAR")]
    InstructionAddress,
    #[serde(rename = "DAR")]
    DataAddress,
    #[serde(rename = "OPC")]
    Opcode,
}

/// The channel of address ranges that constrains an event.
#[derive(Deserialize, Clone, Copy, Default, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Channel {
    #[default]
    Demand,
    Prefetch,
    Request,
}

/// The qualifiers as an expression.
pub(crate) fn qualifiers(list: &[Qualifier]) -> String {
    let bits = list.iter().fold(0u8, |bits, qualifier| {
        bits | match qualifier {
            Qualifier::InstructionAddress => 1,
            Qualifier::DataAddress => 2,
            Qualifier::Opcode => 4,
        }
    });
    format!("Qualifiers::from_bits_retain({bits})")
}

/// The set written as `l1d:0`, as an expression.
pub(crate) fn set(word: &str) -> Result<String, String> {
    let odd = || format!("{word} is no set of events");
    let Some((cache, number)) = word.split_once(':') else {
        return if word.is_empty() { Ok("CounterSet::None".into()) } else { Err(odd()) };
    };
    let number: u8 = number.parse().map_err(|_| odd())?;
    match cache {
        "l1d" => Ok(format!("CounterSet::L1Data({number})")),
        "l2d" => Ok(format!("CounterSet::L2Data({number})")),
        _ => Err(odd()),
    }
}

/// The counters, one bit each: those that are named, or all, which are `count` from number `first` on.
pub(crate) fn counters(first: u32, count: u32, named: &[u32]) -> Result<u64, String> {
    let all = ((1u64 << count) - 1) << first;
    let bits = named.iter().fold(0, |bits, number| bits | 1u64 << (number & 63));
    match bits {
        0 => Ok(all),
        bits if bits & !all == 0 => Ok(bits),
        _ => Err("a counter that takes it is none of the part".into()),
    }
}

/// How far around its thread an event looks, where units are shared by some threads.
#[derive(Deserialize, Clone, Copy, Default, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Extent {
    #[default]
    Thread,
    Core,
    Tile,
}

/// A filter register of a coherence agent.
#[derive(Deserialize, Clone, Copy, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Filter {
    State,
    Opcode,
}

/// The one filter that applies, as a variant.
pub(crate) fn filter(filters: &[Filter]) -> Result<String, String> {
    match filters {
        [] => Ok("None".into()),
        [one] => Ok(format!("{one:?}")),
        _ => Err("one filter applies to an event, or none".into()),
    }
}

/// The number of a unit among those with selects of their own; 0 where there are none.
pub(crate) fn rank(units: &[String], unit: &str) -> Result<u32, String> {
    match units.iter().position(|other| other == unit) {
        Some(rank) => u32::try_from(rank).map_err(|error| error.to_string()),
        None if units.is_empty() => Ok(0),
        None => Err(format!("{unit} is none of the units")),
    }
}
