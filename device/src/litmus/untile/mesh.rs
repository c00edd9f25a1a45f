//! Messages of the mesh in litmus files: single ones, those of a tile's request, and those of a device's access.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt::Write;

use vm_pmu_arch::feed::Request;

use super::text::{at_most, choice, unit};
use crate::irq::InterruptLine;
use crate::litmus::number::number;
use crate::litmus::request;
use crate::topology::Untile;
use crate::untile::{Agent, DeviceAccess, Kind, Message, Ring, Stop, UnitId};

/// A statement about messages of the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(serde::Serialize, serde::Deserialize))]
pub enum MeshStep {
    /// `carry UNIT AGENT UNIT RING`: a [message](Untile::carry) crosses the mesh.
    Message {
        /// A box at the stop where it sets out.
        from: UnitId,
        /// Who sends it.
        agent: Agent,
        /// A box at the stop where it goes.
        to: UnitId,
        /// On which ring.
        ring: Ring,
    },
    /// `carry request tile=N home=N KIND KEY=VALUE ...`: the messages of a [request](Untile::carry_request) cross the mesh.
    Request {
        /// The number of the tile that makes it.
        tile: u8,
        /// The number of the CHA that orders accesses to the line.
        home: u8,
        /// The request.
        request: Box<Request>,
    },
    /// `device KIND home=N [physical=ADDRESS] [modified]`: a device [accesses](Untile::device) memory.
    Device {
        /// What it does.
        access: DeviceAccess,
        /// The physical address of the line, if it is known.
        physical: Option<u64>,
        /// The number of the CHA that orders accesses to the line.
        home: u8,
        /// Whether a tile has the line modified.
        hit: bool,
    },
}

/// At most how much one statement adds to a total: a few messages, each of which waits for some thousands of clocks.
pub(super) const EVENTS: u64 = 1 << 20;

impl MeshStep {
    /// The statement of a message, which sets out from boxes and goes to boxes.
    #[cfg(feature = "recording")]
    pub(crate) fn of(message: &Message) -> Option<MeshStep> {
        let Message { from, agent, to, ring } = *message;
        Some(MeshStep::Message { from: from.unit()?, agent, to: to.unit()?, ring })
    }

    /// The box whose registers show it best.
    pub(super) fn unit(&self) -> Option<UnitId> {
        match self {
            MeshStep::Message { to, .. } => Some(*to),
            MeshStep::Request { home, .. } => UnitId::new(Kind::Cha, *home),
            MeshStep::Device { .. } => UnitId::new(Kind::Irp, 0),
        }
    }

    /// Whether a file can state it: boxes with a stop.
    #[cfg(feature = "arbitrary")]
    pub(super) fn can_be_said(&self) -> bool {
        match self {
            MeshStep::Message { from, to, .. } => Stop::of(*from).is_some() && Stop::of(*to).is_some(),
            MeshStep::Request { .. } | MeshStep::Device { .. } => true,
        }
    }

    /// Does it.
    pub(super) fn act<L: InterruptLine>(&self, untile: Untile<'_, L>) {
        match self {
            MeshStep::Message { from, agent, to, ring } => {
                if let (Some(from), Some(to)) = (Stop::of(*from), Stop::of(*to)) {
                    untile.carry(&Message { from, agent: *agent, to, ring: *ring });
                }
            }
            MeshStep::Request { tile, home, request } => untile.carry_request(request, *tile, *home),
            MeshStep::Device { access, physical: Some(physical), home, hit } => untile.device_at(*access, *physical, *home, *hit),
            MeshStep::Device { access, physical: None, home, hit } => untile.device(*access, *home, *hit),
        }
    }
}

/// The statement of these words, or what is wrong with it; `None` if it has another form.
pub(super) fn parse(words: &[&str]) -> Option<Result<MeshStep, String>> {
    Some(match words {
        ["carry", "request", tile, home, kind, details @ ..] => carried(tile, home, kind, details),
        ["carry", from, agent, to, ring] => message(from, agent, to, ring),
        ["device", access, home, details @ ..] => device(access, home, details),
        _ => return None,
    })
}

fn message(from: &str, agent: &str, to: &str, ring: &str) -> Result<MeshStep, String> {
    Ok(MeshStep::Message {
        from: stop(from)?,
        agent: choice(agent, agent, &Agent::ALL, Agent::word)?,
        to: stop(to)?,
        ring: choice(ring, ring, &Ring::ALL, Ring::word)?,
    })
}

/// A box that has a stop.
fn stop(word: &str) -> Result<UnitId, String> {
    let found = unit(word)?;
    Stop::of(found).map(|_| found).ok_or_else(|| format!("`{word}` has no stop of the mesh: all boxes but ubox and pcu have one"))
}

/// The number behind `KEY=`.
fn byte(key: &str, word: &str) -> Result<u8, String> {
    let value = word.strip_prefix(key).and_then(|rest| rest.strip_prefix('='));
    let value = value.ok_or_else(|| format!("`{word}` is not {key}=N"))?;
    at_most(word, value, 0xFF).map(|value| value as u8)
}

fn carried(tile: &str, home: &str, kind: &str, details: &[&str]) -> Result<MeshStep, String> {
    let request = Box::new(request::parse(kind, details)?);
    Ok(MeshStep::Request { tile: byte("tile", tile)?, home: byte("home", home)?, request })
}

fn device(access: &str, home: &str, details: &[&str]) -> Result<MeshStep, String> {
    let access = choice(access, access, &DeviceAccess::ALL, DeviceAccess::word)?;
    let home = byte("home", home)?;
    let (mut physical, mut hit) = (None, false);
    for word in details {
        match (*word, word.strip_prefix("physical=")) {
            ("modified", _) if !hit => hit = true,
            (_, Some(address)) if physical.is_none() => physical = Some(number(address)?),
            ("modified", _) | (_, Some(_)) => return Err(format!("`{word}` is said twice")),
            _ => return Err(format!("an access of a device has no `{word}`: there are physical=ADDRESS and modified")),
        }
    }
    Ok(MeshStep::Device { access, physical, home, hit })
}

/// The statement in the form that [`parse`] reads.
pub(super) fn print(step: &MeshStep) -> String {
    match step {
        MeshStep::Message { from, agent, to, ring } => format!("carry {from} {} {to} {}", agent.word(), ring.word()),
        MeshStep::Request { tile, home, request } => format!("carry request tile={tile} home={home} {}", request::print(request)),
        MeshStep::Device { access, physical, home, hit } => {
            let mut text = format!("device {} home={home}", access.word());
            if let Some(physical) = physical {
                // Writing to a string cannot fail.
                let _ = write!(text, " physical={physical:#x}");
            }
            if *hit {
                text.push_str(" modified");
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn read(text: &str) -> Result<MeshStep, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        parse(&words).expect("a statement about the mesh")
    }

    #[test]
    fn every_form_reads_as_it_prints() {
        let fixed = [
            "carry cha0 cores cha3 ad",
            "carry m2pcie home edc-uclk7 bl",
            "carry request tile=3 home=7 data-read supplier=other-near physical=0x40 holder=5",
            "device read home=7",
            "device atomic home=37 physical=0x0 modified",
        ];
        for form in fixed {
            assert_eq!(print(&read(form).expect(form)), form);
        }
        for access in DeviceAccess::ALL {
            let form = format!("device {} home=0", access.word());
            assert_eq!(print(&read(&form).expect("a kind")), form);
        }
    }

    #[test]
    fn a_wrong_word_is_answered_by_the_right_ones() {
        let starts = |text: &str, message: &str| assert!(read(text).is_err_and(|seen| seen.starts_with(message)), "{:?}", read(text));
        starts("carry pcu home cha1 ad", "`pcu` has no stop of the mesh");
        starts("carry cha1 tile cha1 ad", "`tile` is unknown: there are home, cores");
        starts("carry cha1 home cha1 xy", "`xy` is unknown: there are ad, ak, bl, iv");
        starts("carry request home=1 tile=2 code", "`home=1` is not tile=N");
        starts("carry request tile=256 home=2 code", "`tile=256` is too much: 0xff is the most");
        starts("carry request tile=1 home=2 fetch", "`fetch` is no kind of request: ");
        starts("device store home=1", "`store` is unknown: there are read, write, partial-write, atomic, prefetch, interrupt");
        starts("device read home=1 dirty", "an access of a device has no `dirty`: there are physical=ADDRESS and modified");
        starts("device read home=1 modified modified", "`modified` is said twice");
    }
}
