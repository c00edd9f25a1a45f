//! What a counter's control chooses.

use super::boxes::{Domain, Kind};
use super::counter::Setting;
use super::registers::{CounterControl, PcuCounterControl};
use crate::event::{self, CoherenceFilter, Drive, Event, Internal, UnitMask};
use crate::feed::Unit;

/// The first event select of the mesh stop that every box has.
pub(super) const FIRST_OF_MESH: u8 = 0x80;

/// COUNTER0_OCCUPANCY: the queue that counter 0 followed last.
pub(super) const COUNTER0_OCCUPANCY: u8 = 0x1F;

/// Bits of the unit masks of TOR_INSERTS and TOR_OCCUPANCY.
const OF_IRQ_OR_PRQ: u32 = 0x01;
const OF_PRQ: u32 = 0x04;

/// The most that an unknown event can add in a clock.
const MOST: u32 = 128;

/// What makes a counter grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Input {
    /// Nothing: the counter cannot count it.
    #[default]
    Nothing,
    /// The box's clock.
    Clock,
    /// The entries of a queue, in every clock.
    Queue,
    /// Events that occur now and then.
    Events,
}

/// A counter's control, of whichever layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) setting: Setting,
    pub(super) input: Input,
    pub(super) select: u8,
    pub(super) umask: u8,
    pub(super) by_thread: bool,
    /// The clock by which the counter counts.
    pub(super) domain: Domain,
    /// The event is a state, which holds for cycles.
    pub(super) is_state: bool,
    /// The most that can be added in a clock.
    pub(super) most: u32,
    /// The counter is enabled and takes events.
    pub(super) takes_events: bool,
    /// Events do nothing but add to the counter, if they do anything: it has no threshold, detects no edges, knows no threads and reports no
    /// overflow.
    pub(super) is_plain: bool,
    matching: Matching,
}

/// What of an occurrence is compared with the unit mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matching {
    /// The number: the PCU's events have no unit masks, and a state of the cores is a number.
    Number,
    /// The number or any bit, as the event is not known.
    Any,
    /// What its shape says.
    Shape(UnitMask),
    /// What its shape says; and bit 0 is IRQ or PRQ, while an entry of the PRQ is reported with its own bit (tables 5-17 and 5-18).
    Requests(UnitMask),
}

/// What of a choice decides whether events add to its counter, in a few words that are next to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taking {
    select: u8,
    /// Unit masks that are chosen by a bit that they have, and [`Taking::ALWAYS`] where they do not matter.
    bits: u16,
    /// The choice itself has to be asked.
    asks: bool,
}

impl Taking {
    const ALWAYS: u16 = 0x100;

    pub(super) fn of(choice: &Choice) -> Taking {
        let (bits, asks) = match choice.matching {
            _ if !choice.takes_events => (0, false),
            Matching::Shape(UnitMask::None) => (Taking::ALWAYS, false),
            Matching::Shape(UnitMask::Set | UnitMask::Union) => (u16::from(choice.umask), false),
            _ => (0, true),
        };
        Taking { select: choice.select, bits, asks }
    }

    /// Whether the counter of `choice`, of which this is, takes what is reported by `select` and `umask`.
    #[inline]
    pub(super) fn takes(self, choice: &Choice, select: u8, umask: u8) -> bool {
        self.select == select && (self.bits & (u16::from(umask) | Taking::ALWAYS) != 0 || self.asks && choice.admits(select, umask))
    }
}

/// The event that a box of `kind` knows by `select`.
fn event_of(kind: Kind, select: u8) -> Option<Event> {
    let unit = if select >= FIRST_OF_MESH { "cms" } else { kind.unit() };
    let encodings = event::KNL.encodings;
    let rank = encodings.units.iter().position(|other| *other == unit)?;
    encodings.select_in(u16::try_from(rank).ok()?, u32::from(select))
}

impl Matching {
    fn of(kind: Kind, select: u8) -> Matching {
        match event_of(kind, select).map(|event| event.itself().properties()) {
            Some(event) if event.filter == CoherenceFilter::Opcode => Matching::Requests(event.shape),
            Some(event) => Matching::Shape(event.shape),
            None => Matching::Any,
        }
    }
}

impl Choice {
    /// What counter `number` of a box of `kind` counts while its control holds `bits`.
    pub(super) fn of(kind: Kind, number: usize, bits: u64) -> Choice {
        if kind == Kind::Pcu {
            return Choice::of_pcu(PcuCounterControl::written(bits));
        }
        // The UBox has these fields too; the write has cleared the bits of the threshold that it lacks.
        let control = CounterControl::written(bits);
        let setting = Setting {
            enabled: control.en(),
            ov_en: control.ov_en(),
            threshold: control.thresh(),
            invert: control.invert(),
            edge: control.edge_det(),
        };
        let (select, umask) = (control.ev_sel(), control.umask());
        let by_thread = control.tid_en() && kind == Kind::Cha;
        let event = event_of(kind, select).map(|event| event.itself().properties());
        let most = event.map_or(MOST, |event| event.max_per_cycle);
        let input = match event {
            Some(event) if event.counters >> (number & 31) & 1 == 0 => Input::Nothing,
            Some(event) if event.drive == Drive::Internal(Internal::Clock) => Input::Clock,
            Some(event) if event.level => Input::Queue,
            _ => Input::Events,
        };
        // The mesh stop runs by the untile's clock, whatever the clock of the box.
        let domain = if select >= FIRST_OF_MESH { Domain::Uclk } else { kind.domain() };
        let is_state = input == Input::Events && event.is_some_and(|event| event.counts == Unit::Cycles);
        let matching = Matching::of(kind, select);
        let of_events = matches!(input, Input::Events | Input::Queue);
        // What COUNTER0_OCCUPANCY takes is not in its control.
        let is_told = kind != Kind::Cha || select != COUNTER0_OCCUPANCY;
        let is_plain = !of_events || is_told && !by_thread && setting.adds() && !setting.ov_en;
        let takes_events = of_events && setting.enabled;
        Choice { setting, input, select, umask, by_thread, domain, is_state, most, takes_events, is_plain, matching }
    }

    fn of_pcu(control: PcuCounterControl) -> Choice {
        let of_cores = control.use_occ_ctr();
        let setting = Setting {
            enabled: control.en(),
            ov_en: control.ov_en(),
            threshold: control.thresh(),
            invert: if of_cores { control.occ_invert() } else { control.invert() },
            edge: if of_cores { control.occ_edge_det() } else { control.edge_det() },
        };
        let (input, select, umask) =
            if of_cores { (Input::Queue, FIRST_OF_MESH, control.occ_sel()) } else { (Input::Events, control.ev_sel(), 0) };
        Choice {
            setting,
            input,
            select,
            umask,
            by_thread: false,
            domain: Domain::Uclk,
            is_state: false,
            most: MOST,
            takes_events: setting.enabled,
            is_plain: false,
            matching: Matching::Number,
        }
    }

    /// The same for the queue of a CHA's event `select` and sub-event `umask`.
    pub(super) fn of_queue(&self, select: u8, umask: u8) -> Choice {
        Choice { select, umask, matching: Matching::of(Kind::Cha, select), ..*self }
    }

    /// Whether it has a level in every clock, which the embedder reports: the entries of a queue, or a state.
    pub(super) fn has_level(&self) -> bool {
        self.input == Input::Queue || self.is_state
    }

    /// Whether the occurrence is chosen.
    pub(super) fn admits(&self, select: u8, umask: u8) -> bool {
        if self.select != select {
            return false;
        }
        let (chosen, occurred) = (u32::from(self.umask), u32::from(umask));
        match self.matching {
            Matching::Number => chosen == occurred,
            Matching::Any => chosen == occurred || chosen & occurred != 0,
            Matching::Shape(shape) => shape.admits(chosen, occurred),
            Matching::Requests(shape) => {
                let is_of_prq = occurred & (OF_PRQ | OF_IRQ_OR_PRQ) == OF_PRQ;
                shape.admits(chosen, occurred) || is_of_prq && shape.admits(chosen, occurred & !OF_PRQ | OF_IRQ_OR_PRQ)
            }
        }
    }
}
