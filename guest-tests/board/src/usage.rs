//! What a guest does with each counter of a thread: whether it selects an event, can count, is read and asks for interrupts.
//!
//! It answers what somebody would look for who reads the registers of a driver that does not work: a counter that is frozen wherever the guest
//! runs, one that nobody reads, one that is armed with a value of the wrong sign.

use serde::{Deserialize, Serialize};
use vm_pmu::State;
use vm_pmu::arch::access::Address;
use vm_pmu::arch::feed::Context;
use vm_pmu::arch::ia64::Psr;
use vm_pmu::arch::power9::{CounterFreezes, Mmcr0, Mmcr1, Mmcr2, Msr, ThreadControl, spr};
use vm_pmu::arch::{itanium, k8, knl, montecito};
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    counters: [CounterUse; COUNTERS],
    /// The last value written to each counter.
    written: [Option<u64>; COUNTERS],
    /// The states of the thread since the last write.
    states: Vec<u64>,
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
    /// The counters, by their place among those of the part.
    #[must_use]
    pub fn counters(&self) -> &[CounterUse] {
        &self.counters
    }

    /// A register was read.
    pub(crate) fn read<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, address: Address) {
        if let Some(counter) = place(&thread.state(), address).and_then(|place| self.counters.get_mut(place)) {
            counter.read = true;
        }
    }

    /// `value` was written to a register.
    pub(crate) fn wrote<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, address: Address, value: u64) {
        let mut state = thread.state();
        if let Some(place) = place(&state, address).filter(|place| *place < COUNTERS) {
            self.written[place] = Some(value);
            self.counters[place].written = true;
        }
        if let (State::Power9(state), Address::Spr(spr::MMCR0)) = (&mut state, address) {
            // As written: an alert can have frozen the counters at once.
            state.mmcr0 = value;
        }
        let context = thread.context();
        self.states.clear();
        self.states.push(key(&state, &context));
        self.look(&state, &context);
    }

    /// The thread executes in another state.
    pub(crate) fn moved<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, context: &Context) {
        // Before the first write nothing is selected.
        if self.states.is_empty() || self.states.len() >= STATES {
            return;
        }
        let state = thread.state();
        let key = key(&state, context);
        if !self.states.contains(&key) {
            self.states.push(key);
            self.look(&state, context);
        }
    }

    fn look(&mut self, state: &State, context: &Context) {
        for (number, (counter, written)) in self.counters.iter_mut().zip(self.written).enumerate() {
            let Look { standing, alerts } = of_counter(state, context, number);
            match standing {
                Standing::Off => continue,
                Standing::Frozen(field) => counter.frozen_by = Some(field),
                Standing::Counts => counter.counted = true,
            }
            counter.selected = true;
            counter.alerts |= alerts;
            if alerts && let Some(written) = written.filter(|written| is_wrong(state, *written)) {
                counter.armed = Some(written);
            }
        }
    }
}

/// What of a thread's state decides whether a counter counts.
fn key(state: &State, context: &Context) -> u64 {
    match state {
        State::Power9(_) => {
            let msr = Msr::of(context.machine_state);
            let flags = [msr.hv(), msr.pr(), msr.pmm(), msr.ta(), ThreadControl::of(context.control).run()];
            flags.into_iter().fold(msr.ts().into(), |key, flag| key << 1 | u64::from(flag))
        }
        State::Itanium(_) | State::Montecito(_) => {
            let psr = Psr::of(context.machine_state);
            u64::from(context.privilege) << 2 | u64::from(psr.up()) << 1 | u64::from(psr.pp())
        }
        _ => u64::from(context.privilege != 0),
    }
}

/// The counter whose value a register holds.
fn place(state: &State, address: Address) -> Option<usize> {
    let from = |first: u32, number: u32, count: usize| {
        let place = number.checked_sub(first)? as usize;
        (place < count).then_some(place)
    };
    match (state, address) {
        (State::K8(_), Address::Msr(msr)) => from(k8::Register::PERF_CTR0, msr, k8::COUNTERS),
        (State::K8(_), Address::Rdpmc(index)) => from(0, index, k8::COUNTERS),
        (State::Knl(_), Address::Msr(msr)) => from(knl_counters::GENERAL, msr, 2)
            .or_else(|| from(knl_counters::FULL_WIDTH, msr, 2))
            .or_else(|| from(knl_counters::FIXED, msr, 3).map(|place| place + 2)),
        (State::Knl(_), Address::Rdpmc(index)) => from(0, index, 2).or_else(|| from(1 << 30, index, 3).map(|place| place + 2)),
        (State::Power9(_), Address::Spr(number)) => {
            let number = u32::from(number);
            from(spr::PMC1.into(), number, 6).or_else(|| from(u32::from(spr::PMC1 - spr::PRIVILEGED), number, 6))
        }
        (State::Itanium(_), Address::Pmd(number)) => from(FIRST_MONITOR, number.into(), itanium::COUNTERS),
        (State::Montecito(_), Address::Pmd(number)) => from(FIRST_MONITOR, number.into(), montecito::COUNTERS),
        _ => None,
    }
}

/// PMD4 is the first counter of both Itaniums.
const FIRST_MONITOR: u32 = 4;

/// Numbers of Knights Landing's counters (SDM volume 3, chapter 35).
mod knl_counters {
    /// IA32_PMC0.
    pub(super) const GENERAL: u32 = 0xC1;
    /// IA32_A_PMC0.
    pub(super) const FULL_WIDTH: u32 = 0x4C1;
    /// IA32_FIXED_CTR0.
    pub(super) const FIXED: u32 = 0x309;
}

/// Whether a counter that was armed with `written` overflows at once, or only after half its range.
fn is_wrong(state: &State, written: u64) -> bool {
    let half = |bits: u32| written != 0 && written & ((1 << bits) - 1) < 1 << (bits - 1);
    match state {
        // A counter is negative from 2^31 on.
        State::Power9(_) => written & 1 << 31 != 0,
        State::K8(_) => half(48),
        // A write of the narrow name extends bit 31.
        State::Knl(_) => half(40) && written & 1 << 31 == 0,
        State::Montecito(_) => half(47),
        State::Itanium(_) => half(32),
        _ => false,
    }
}

/// How counter `number` of the part stands.
fn of_counter(state: &State, context: &Context, number: usize) -> Look {
    let off = Look { standing: Standing::Off, alerts: false };
    match state {
        State::K8(state) => {
            let Some(select) = state.selects.get(number).map(|bits| k8::PerfEvtSel::written(*bits)) else { return off };
            let fields = [(context.privilege == 0, select.os(), "OS"), (context.privilege != 0, select.usr(), "USR")];
            let standing = if select.en() { by_level(fields, &format!("PerfEvtSel{number}")) } else { Standing::Off };
            Look { standing, alerts: select.int() }
        }
        State::Knl(state) => of_knl(state, context, number).unwrap_or(off),
        State::Power9(state) if number < 6 => of_power(state, context, number),
        State::Itanium(state) => {
            let frozen = itanium::Pmc0::written(state.overflow).fr();
            state.configuration.counters.get(number).map_or(off, |pmc| of_monitor((pmc.plm(), pmc.pm(), pmc.oi()), frozen, context, number))
        }
        State::Montecito(state) => {
            let frozen = montecito::Pmc0::written(state.overflow).fr();
            state.configuration.counters.get(number).map_or(off, |pmc| of_monitor((pmc.plm(), pmc.pm(), pmc.oi()), frozen, context, number))
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

fn of_knl(state: &knl::State, context: &Context, number: usize) -> Option<Look> {
    let (user, kernel) = (context.privilege != 0, context.privilege == 0);
    let global = |bit: usize| state.global_ctrl >> bit & 1 == 1;
    let (standing, alerts, enable) = if let Some(bits) = state.selects.get(number) {
        let select = knl::PerfEvtSel::written(*bits);
        let standing = by_level([(kernel, select.os(), "OS"), (user, select.usr(), "USR")], &format!("IA32_PERFEVTSEL{number}"));
        (if select.en() { standing } else { Standing::Off }, select.int(), number)
    } else {
        let fixed = number.checked_sub(state.selects.len()).filter(|fixed| *fixed < 3)?;
        let field = state.fixed_ctr_ctrl >> (4 * fixed) & 15;
        let names = [format!("EN{fixed}_OS"), format!("EN{fixed}_Usr")];
        let fields = [(kernel, field & 1 != 0, names[0].as_str()), (user, field & 2 != 0, names[1].as_str())];
        let standing = by_level(fields, "IA32_FIXED_CTR_CTRL");
        (if field & 3 == 0 { Standing::Off } else { standing }, field & 8 != 0, 32 + fixed)
    };
    let standing = match standing {
        Standing::Off => Standing::Off,
        _ if state.global_ctrl == 0 => Standing::Off,
        _ if !global(enable) => Standing::Frozen(format!("bit {enable} of IA32_PERF_GLOBAL_CTRL = 0")),
        other => other,
    };
    Some(Look { standing, alerts })
}

fn of_power(state: &vm_pmu::arch::power9::State, context: &Context, number: usize) -> Look {
    let mmcr0 = Mmcr0::written(state.mmcr0);
    let run = ThreadControl::of(context.control).run();
    let msr = Msr::of(context.machine_state);
    let mmcr1 = Mmcr1::of(state.mmcr1);
    let selector = [mmcr1.pmc1sel(), mmcr1.pmc2sel(), mmcr1.pmc3sel(), mmcr1.pmc4sel()].get(number).copied();
    let alerts = mmcr0.pmae() && if number == 0 { mmcr0.pmc1ce() } else { mmcr0.pmcjce() };
    let own = Mmcr2::of(state.mmcr2).freezes(number);
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
