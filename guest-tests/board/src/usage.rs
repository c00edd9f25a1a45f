//! What a guest does with each counter of a thread: whether it selects an event, can count, is read and asks for interrupts.
//!
//! It answers what somebody would look for who reads the registers of a driver that does not work: a counter that is frozen wherever the guest
//! runs, one that nobody reads, one that is armed with a value of the wrong sign.

use serde::{Deserialize, Serialize};
use vm_pmu::Part;
use vm_pmu::arch::access::Address;
use vm_pmu::arch::feed::Context;
use vm_pmu::arch::ia64::Psr;
use vm_pmu::arch::power9::{CounterFreezes, Mmcr0, Mmcr1, Mmcr2, Msr, ThreadControl, spr};
use vm_pmu::arch::{itanium, k8, knl as tile, montecito};
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Thread;

/// The most states of a thread that are told apart between two writes.
const STATES: usize = 64;
/// The most counters of a thread.
const COUNTERS: usize = 12;

/// What a guest did with one counter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterUse {
    /// An event was selected on it while the PMU was not stopped.
    pub selected: bool,
    /// Meanwhile an overflow of it asked for an interrupt or an event-based branch.
    pub alerts: bool,
    /// Its value was read.
    pub read: bool,
    /// A value was written to it.
    pub written: bool,
    /// The guest executed in a state in which it counted.
    pub counted: bool,
    /// The field that kept it from counting in the last other state that the guest executed in.
    pub frozen_by: Option<String>,
    /// A value from which it cannot do what it was armed for: it overflows at once, or after half its range at the least.
    pub armed: Option<u64>,
}

/// What a guest did with the counters of one thread.
///
/// It knows what the guest wrote, and asks the PMU for nothing: to be asked leaves a trace in a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    counters: [CounterUse; COUNTERS],
    /// The last value written to each counter.
    written: [Option<u64>; COUNTERS],
    controls: Controls,
    /// The states of the thread since the last write.
    states: Vec<u64>,
}

/// The registers that say what is counted, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Controls {
    /// PerfEvtSel0 to 3, IA32_PERFEVTSEL0 and 1, PMC4 and those above it.
    selects: [u64; COUNTERS],
    /// MMCR0, MMCR1 and MMCR2; IA32_FIXED_CTR_CTRL and IA32_PERF_GLOBAL_CTRL; PMC0.
    whole: [u64; 3],
}

impl Controls {
    /// What the guest finds.
    fn reset(part: Part) -> Controls {
        let mut controls = Controls::default();
        match part {
            // Both general counters are enabled (SDM volume 3B, 18.2.2).
            Part::Knl(_) => controls.whole[GLOBAL_CTRL] = 0b11,
            Part::Power9(_) => {
                let mut mmcr0 = Mmcr0::default();
                mmcr0.set_fc(true);
                controls.whole[MMCR0] = mmcr0.bits();
            }
            _ => {}
        }
        controls
    }

    /// `value` is written to a register.
    fn write(&mut self, part: Part, address: Address, value: u64) {
        let (set, place) = match (part, address) {
            (Part::K8(_), Address::Msr(msr)) => (&mut self.selects[..], from(k8::Register::PERF_EVT_SEL0, msr, k8::COUNTERS)),
            (Part::Knl(_), Address::Msr(msr)) => match msr {
                numbers::FIXED_CTR_CTRL => (&mut self.whole[..], Some(FIXED_CTR_CTRL)),
                numbers::GLOBAL_CTRL => (&mut self.whole[..], Some(GLOBAL_CTRL)),
                msr => (&mut self.selects[..], from(numbers::PERFEVTSEL0, msr, tile::GENERAL)),
            },
            (Part::Power9(_), Address::Spr(number)) => {
                let place = match number {
                    spr::MMCR0 => Some(MMCR0),
                    spr::MMCR1 => Some(MMCR1),
                    spr::MMCR2 => Some(MMCR2),
                    _ => None,
                };
                (&mut self.whole[..], place)
            }
            (Part::Itanium(_) | Part::Montecito(_), Address::Pmc(0)) => (&mut self.whole[..], Some(0)),
            (Part::Itanium(_) | Part::Montecito(_), Address::Pmc(number)) => {
                (&mut self.selects[..], from(FIRST_MONITOR, number.into(), montecito::COUNTERS))
            }
            _ => return,
        };
        if let Some(register) = place.and_then(|place| set.get_mut(place)) {
            *register = value;
        }
    }
}

// Places in `Controls::whole`.
const MMCR0: usize = 0;
const MMCR1: usize = 1;
const MMCR2: usize = 2;
const FIXED_CTR_CTRL: usize = 0;
const GLOBAL_CTRL: usize = 1;

/// The place of a register among `count` from the one of number `first` on.
fn from(first: u32, number: u32, count: usize) -> Option<usize> {
    let place = number.checked_sub(first)? as usize;
    (place < count).then_some(place)
}

/// How a counter stands in one state of the PMU and of the thread.
enum Standing {
    /// It selects nothing, or the PMU is stopped.
    Off,
    /// It selects an event, and a field keeps it from counting.
    Frozen(String),
    /// It counts.
    Counts,
}

/// A counter in one state.
struct Look {
    standing: Standing,
    alerts: bool,
}

impl Usage {
    /// Nothing done yet with the counters of `part`.
    #[must_use]
    pub(crate) fn new(part: Part) -> Usage {
        Usage { counters: Default::default(), written: [None; COUNTERS], controls: Controls::reset(part), states: Vec::new() }
    }

    /// The counters, by their place among those of the part.
    #[must_use]
    pub fn counters(&self) -> &[CounterUse] {
        &self.counters
    }

    /// A register was read.
    pub(crate) fn read<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, address: Address) {
        if let Some(counter) = place(thread.part(), address).and_then(|place| self.counters.get_mut(place)) {
            counter.read = true;
        }
    }

    /// `value` was written to a register.
    pub(crate) fn wrote<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, address: Address, value: u64) {
        let part = thread.part();
        if let Some(place) = place(part, address).filter(|place| *place < COUNTERS) {
            self.written[place] = Some(value);
            self.counters[place].written = true;
        }
        self.controls.write(part, address, value);
        let context = thread.context();
        self.states.clear();
        self.states.push(key(part, &context));
        self.look(part, &context);
    }

    /// The thread executes in another state.
    pub(crate) fn moved<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, context: &Context) {
        // Before the first write nothing is selected.
        if self.states.is_empty() || self.states.len() >= STATES {
            return;
        }
        let part = thread.part();
        let key = key(part, context);
        if !self.states.contains(&key) {
            self.states.push(key);
            self.look(part, context);
        }
    }

    fn look(&mut self, part: Part, context: &Context) {
        for (number, (counter, written)) in self.counters.iter_mut().zip(self.written).enumerate() {
            let Look { standing, alerts } = of_counter(part, &self.controls, context, number);
            match standing {
                Standing::Off => continue,
                Standing::Frozen(field) => counter.frozen_by = Some(field),
                Standing::Counts => counter.counted = true,
            }
            counter.selected = true;
            counter.alerts |= alerts;
            if alerts && let Some(written) = written.filter(|written| is_wrong(part, *written)) {
                counter.armed = Some(written);
            }
        }
    }
}

/// What of a thread's state decides whether a counter counts.
fn key(part: Part, context: &Context) -> u64 {
    match part {
        Part::Power9(_) => {
            let msr = Msr::of(context.machine_state);
            let flags = [msr.hv(), msr.pr(), msr.pmm(), msr.ta(), ThreadControl::of(context.control).run()];
            flags.into_iter().fold(msr.ts().into(), |key, flag| key << 1 | u64::from(flag))
        }
        Part::Itanium(_) | Part::Montecito(_) => {
            let psr = Psr::of(context.machine_state);
            u64::from(context.privilege) << 2 | u64::from(psr.up()) << 1 | u64::from(psr.pp())
        }
        _ => u64::from(context.privilege != 0),
    }
}

/// The counter whose value a register holds.
fn place(part: Part, address: Address) -> Option<usize> {
    match (part, address) {
        (Part::K8(_), Address::Msr(msr)) => from(k8::Register::PERF_CTR0, msr, k8::COUNTERS),
        (Part::K8(_), Address::Rdpmc(index)) => from(0, index, k8::COUNTERS),
        (Part::Knl(_), Address::Msr(msr)) => from(numbers::PMC0, msr, tile::GENERAL)
            .or_else(|| from(numbers::A_PMC0, msr, tile::GENERAL))
            .or_else(|| from(numbers::FIXED_CTR0, msr, tile::FIXED).map(|place| place + tile::GENERAL)),
        (Part::Knl(_), Address::Rdpmc(index)) => {
            from(0, index, tile::GENERAL).or_else(|| from(1 << 30, index, tile::FIXED).map(|place| place + tile::GENERAL))
        }
        (Part::Power9(_), Address::Spr(number)) => {
            let number = u32::from(number);
            from(spr::PMC1.into(), number, 6).or_else(|| from(u32::from(spr::PMC1 - spr::PRIVILEGED), number, 6))
        }
        (Part::Itanium(_), Address::Pmd(number)) => from(FIRST_MONITOR, number.into(), itanium::COUNTERS),
        (Part::Montecito(_), Address::Pmd(number)) => from(FIRST_MONITOR, number.into(), montecito::COUNTERS),
        _ => None,
    }
}

/// PMD4 is the first counter of both Itaniums.
const FIRST_MONITOR: u32 = 4;

/// Numbers of Knights Landing's registers (SDM volume 3, chapter 35).
mod numbers {
    pub(super) const PMC0: u32 = 0xC1;
    pub(super) const A_PMC0: u32 = 0x4C1;
    pub(super) const PERFEVTSEL0: u32 = 0x186;
    pub(super) const FIXED_CTR0: u32 = 0x309;
    pub(super) const FIXED_CTR_CTRL: u32 = 0x38D;
    pub(super) const GLOBAL_CTRL: u32 = 0x38F;
}

/// Whether a counter that was armed with `written` overflows at once, or only after half its range.
fn is_wrong(part: Part, written: u64) -> bool {
    let half = |bits: u32| written != 0 && written & ((1 << bits) - 1) < 1 << (bits - 1);
    match part {
        // A counter is negative from 2^31 on.
        Part::Power9(_) => written & 1 << 31 != 0,
        Part::K8(_) => half(48),
        // A write of the narrow name extends bit 31.
        Part::Knl(_) => half(40) && written & 1 << 31 == 0,
        Part::Montecito(_) => half(47),
        Part::Itanium(_) => half(32),
    }
}

/// How counter `number` of the part stands.
fn of_counter(part: Part, controls: &Controls, context: &Context, number: usize) -> Look {
    let off = Look { standing: Standing::Off, alerts: false };
    let select = controls.selects.get(number).copied().unwrap_or_default();
    match part {
        Part::K8(_) if number < k8::COUNTERS => {
            let select = k8::PerfEvtSel::written(select);
            let fields = [(context.privilege == 0, select.os(), "OS"), (context.privilege != 0, select.usr(), "USR")];
            let standing = if select.en() { by_level(fields, &format!("PerfEvtSel{number}")) } else { Standing::Off };
            Look { standing, alerts: select.int() }
        }
        Part::Knl(_) if number < tile::COUNTERS => of_knl(controls, context, number),
        Part::Power9(_) if number < 6 => of_power(controls, context, number),
        Part::Itanium(_) if number < itanium::COUNTERS => {
            let pmc = itanium::Pmc::written(select);
            of_monitor((pmc.plm(), pmc.pm(), pmc.oi()), itanium::Pmc0::written(controls.whole[0]).fr(), context, number)
        }
        Part::Montecito(_) if number < montecito::COUNTERS => {
            let pmc = montecito::Pmc::written(select);
            of_monitor((pmc.plm(), pmc.pm(), pmc.oi()), montecito::Pmc0::written(controls.whole[0]).fr(), context, number)
        }
        _ => off,
    }
}

/// Whether the flag of the level that the thread is at is set: whether it is that level, the flag, and its name.
fn by_level<const N: usize>(fields: [(bool, bool, &str); N], register: &str) -> Standing {
    match fields.into_iter().find(|(is_there, set, _)| *is_there && !set) {
        Some((_, _, field)) => Standing::Frozen(format!("{register}[{field}] = 0")),
        None => Standing::Counts,
    }
}

fn of_knl(controls: &Controls, context: &Context, number: usize) -> Look {
    let (user, kernel) = (context.privilege != 0, context.privilege == 0);
    let (fixed_control, global) = (controls.whole[FIXED_CTR_CTRL], controls.whole[GLOBAL_CTRL]);
    let (standing, alerts, enable) = match number.checked_sub(tile::GENERAL) {
        None => {
            let select = tile::PerfEvtSel::written(controls.selects[number]);
            let standing = by_level([(kernel, select.os(), "OS"), (user, select.usr(), "USR")], &format!("IA32_PERFEVTSEL{number}"));
            (if select.en() { standing } else { Standing::Off }, select.int(), number)
        }
        Some(fixed) => {
            let field = fixed_control >> (4 * fixed) & 15;
            let names = [format!("EN{fixed}_OS"), format!("EN{fixed}_Usr")];
            let fields = [(kernel, field & 1 != 0, names[0].as_str()), (user, field & 2 != 0, names[1].as_str())];
            let standing = by_level(fields, "IA32_FIXED_CTR_CTRL");
            (if field & 3 == 0 { Standing::Off } else { standing }, field & 8 != 0, 32 + fixed)
        }
    };
    let standing = match standing {
        Standing::Off => Standing::Off,
        _ if global == 0 => Standing::Off,
        _ if global >> enable & 1 == 0 => Standing::Frozen(format!("bit {enable} of IA32_PERF_GLOBAL_CTRL = 0")),
        other => other,
    };
    Look { standing, alerts }
}

fn of_power(controls: &Controls, context: &Context, number: usize) -> Look {
    let mmcr0 = Mmcr0::written(controls.whole[MMCR0]);
    let run = ThreadControl::of(context.control).run();
    let msr = Msr::of(context.machine_state);
    let mmcr1 = Mmcr1::of(controls.whole[MMCR1]);
    let selector = [mmcr1.pmc1sel(), mmcr1.pmc2sel(), mmcr1.pmc3sel(), mmcr1.pmc4sel()].get(number).copied();
    let alerts = mmcr0.pmae() && if number == 0 { mmcr0.pmc1ce() } else { mmcr0.pmcjce() };
    let own = Mmcr2::of(controls.whole[MMCR2]).freezes(number);
    let standing = if mmcr0.fc() || selector == Some(0) || (mmcr0.trigger() && number != 0) {
        Standing::Off
    } else {
        let whole = [
            ("FC1-4", mmcr0.fc1_4() && number < 4),
            ("FC5-6", mmcr0.fc5_6() && number >= 4),
            ("FCS", mmcr0.fcs() && !msr.hv() && !msr.pr()),
            ("FCP", mmcr0.fcp() && msr.pr() && !mmcr0.fcpc()),
            ("FCM1", mmcr0.fcm1() && msr.pmm()),
            ("FCM0", mmcr0.fcm0() && !msr.pmm()),
            ("FCWAIT", mmcr0.fcwait() && !run),
            ("FCH", mmcr0.fch() && msr.hv() && !msr.pr()),
        ];
        let mine = |own: CounterFreezes| {
            [
                ("S", own.fcs() && !msr.hv() && !msr.pr()),
                ("P", own.fcp() && msr.pr() && !own.fcpc()),
                ("M1", own.fcm1() && msr.pmm()),
                ("M0", own.fcm0() && !msr.pmm()),
                ("WAIT", own.fcwait() && !run),
                ("H", own.fch() && msr.hv() && !msr.pr()),
            ]
        };
        let latched = number >= 4 && !mmcr0.cc56run() && !run;
        if let Some((name, _)) = whole.into_iter().find(|(_, holds)| *holds) {
            Standing::Frozen(format!("MMCR0[{name}]"))
        } else if let Some((name, _)) = mine(own).into_iter().find(|(_, holds)| *holds) {
            Standing::Frozen(format!("MMCR2[FC{}{name}]", number + 1))
        } else if latched {
            Standing::Frozen("CTRL[RUN] = 0".to_owned())
        } else {
            Standing::Counts
        }
    };
    Look { standing, alerts }
}

/// A monitor of the Itaniums with these fields plm, pm and oi.
fn of_monitor((plm, pm, oi): (u8, bool, bool), frozen: bool, context: &Context, number: usize) -> Look {
    let psr = Psr::of(context.machine_state);
    let level = context.privilege & 3;
    let standing = if frozen || plm == 0 {
        Standing::Off
    } else if plm >> level & 1 == 0 {
        Standing::Frozen(format!("bit {level} of PMC{}.plm = 0", number as u32 + FIRST_MONITOR))
    } else if pm && !psr.pp() {
        Standing::Frozen("PSR.pp = 0".to_owned())
    } else if !pm && !psr.up() {
        Standing::Frozen("PSR.up = 0".to_owned())
    } else {
        Standing::Counts
    };
    Look { standing, alerts: oi }
}
