//! Event codes to the registers that count them, and back.
//!
//! From the POWER9 PMU User's Guide: section 5.15 says where each field of a code goes, section 5.16 which events cannot be counted
//! together, appendix A what is reserved. Linux's driver (`arch/powerpc/perf/isa207-common.c`) takes the same codes. For codes that both
//! accept, it makes the same MMCR1 except RELOAD_QUAL, and the same MMCRA except SDAR_MODE. Where the two differ, the guide is followed:
//!
//! | rule | here, by the guide | Linux |
//! | --- | --- | --- |
//! | bits 40 and 44 | reserved: refused | not checked, and part of the counter's number |
//! | bits 0 to 3 | reserved: refused | its own: branch history, its filter, event-based branches |
//! | RELOAD_QUAL | used with RELOAD_QUAL_EN only | used always; RELOAD_QUAL_EN is ignored |
//! | SDAR_MODE | as the codes say | zero becomes 2, and any marked event makes it 0 |
//! | events of unit 6 | PMC4 counts one with the same selector, leaving aside the bit for edges | that bit must agree as well |
//! | events of units 8 and 9 | PMC1 counts an event of the memory management unit | the rule of unit 6 |
//! | events of units Ah and Bh | as those of 8 and 9 | no rule |
//! | mantissa of THRESH_CMP | refused where it is invalid | written, and left out of the comparison of the events' thresholds |
//! | reserved SAMPLE, THRESH_SEL, PMCxSEL and units | refused | refused for SAMPLE 0Ch only |
//! | threshold without a marked event | refused | accepted; it counts nothing |
//!
//! The guide wants PMC4 to have the fourth event of a group of L2 or L3 events. A group is taken to be the events of one selector: table
//! 5-24 has events of one selector in each of its groups, and fills PMC4 with codes that it calls RESERVED where the group has no fourth
//! event. It also wants PMC1 programmed on all four threads for events of the memory management unit: one thread's registers can show
//! that for that thread only.
//!
//! ```
//! use vm_pmu_arch::power9::encode::{EventCode, Options, encode};
//!
//! // PM_CYC on PMC1, PM_TM_TX_PASS_RUN_CYC on PMC2, and two events of the event bus wherever there is room.
//! let codes = [0x1_00F0, 0x2_E012, 0xE880, 0xF880].map(EventCode::from_bits);
//! let encoding = encode(&codes, Options::default()).unwrap();
//! assert_eq!(encoding.mmcr1, 0x0EEF_000A_F012_8080);
//! assert_eq!(encoding.counted, [Some(0), Some(1), Some(2), Some(3), None, None]);
//! ```

mod code;
mod refusal;

pub use code::EventCode;
pub use refusal::{Asked, Refusal, SharedField};

use super::{COUNTERS, CounterFreezes, Mmcr0, Mmcr1, Mmcra};

/// How many counters are programmable: PMC1 to PMC4.
pub const PROGRAMMABLE: usize = 4;

/// The code of run instructions, which PMC5 counts and nothing else.
pub const RUN_INSTRUCTIONS: EventCode = EventCode::from_bits(0x5_00FA);
/// The code of run cycles, which PMC6 counts and nothing else.
pub const RUN_CYCLES: EventCode = EventCode::from_bits(0x6_00F4);

/// Where and whether counters count, in addition to what the event codes say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Do not count in problem state: `MMCR2[FCnP]` of every counter in use.
    pub freeze_in_problem_state: bool,
    /// Do not count in privileged state without hypervisor privilege: `MMCR2[FCnS]`.
    pub freeze_in_supervisor_state: bool,
    /// Do not count in hypervisor state: `MMCR2[FCnH]`.
    pub freeze_in_hypervisor_state: bool,
    /// Let a counter that becomes negative alert: `MMCR0[PMAE]`, and `MMCR0[PMC1CE]` and `MMCR0[PMCjCE]` as the counters in use need.
    pub alerts: bool,
}

/// The registers that count a set of events, and what counts where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// MMCR0: unused counters are frozen by FC1-4 or FC5-6, if no counter that shares the bit is in use.
    pub mmcr0: u64,
    /// MMCR1: what PMC1 to PMC4 count. An unused programmable counter is suspended.
    pub mmcr1: u64,
    /// MMCR2: the states in which each counter is frozen.
    pub mmcr2: u64,
    /// MMCRA: sampling, threshold and the continuous mode of SDAR.
    pub mmcra: u64,
    /// The event that PMC1 to PMC6 count, in that order: its place among those asked for, from 0.
    pub counted: [Option<usize>; COUNTERS],
}

impl Encoding {
    /// The number of the counter, 1 to 6, that counts the event at place `index` among those asked for.
    #[must_use]
    pub fn counter_of(&self, index: usize) -> Option<u8> {
        let place = self.counted.iter().position(|counted| *counted == Some(index))?;
        u8::try_from(place).ok()?.checked_add(1)
    }
}

/// The registers that count `events` together.
///
/// A code whose PMC is zero goes to the free counter of the lowest number, except the first event of the memory management unit,
/// which goes to PMC1 if it can, and the first of the L2 and L3 caches, which goes to PMC4: section 5.16 wants them there.
///
/// A field that all counters share is set by the events that use it: SAMPLE by those that are marked or whose SAMPLE is not zero, the
/// three threshold fields by those in which any of them is not zero, SDAR_MODE by those in which it is not zero, RELOAD_QUAL by those
/// with RELOAD_QUAL_EN. These events must agree.
///
/// # Errors
/// The first rule that is broken, and the events that break it.
pub fn encode(events: &[EventCode], options: Options) -> Result<Encoding, Refusal> {
    for event in asked(events) {
        check(event)?;
    }
    let places = place(events)?;
    check_bus(&places)?;
    let mut encoding =
        Encoding { mmcr1: selections(&places), counted: places.0.map(|event| event.map(|event| event.index)), ..Encoding::default() };
    share(events, &mut encoding)?;
    control(&mut encoding, options);
    Ok(encoding)
}

/// The event codes that MMCR1 holds for PMC1 to PMC4, in that order, with what MMCR1 and MMCRA hold for all of them.
///
/// Each code names its counter. Whether the event is a marked one is not in the registers: every code is marked if sampling is enabled,
/// and [`EventCode::selection`] finds the event in a table. [`encode`] makes the same MMCR1 and MMCRA from the codes, without the fields
/// that event codes do not have.
#[must_use]
pub fn decode(mmcr1: u64, mmcra: u64) -> [EventCode; PROGRAMMABLE] {
    let (one, a) = (Mmcr1::written(mmcr1), Mmcra::written(mmcra));
    let reload = u8::from(one.dc_rld_qual()) << 1 | u8::from(one.ic_rld_qual());
    let mut shared = EventCode::default();
    shared.set_reload_qual(reload);
    shared.set_reload_qual_en(reload != 0);
    shared.set_mark(a.sample_enable());
    shared.set_sample(a.rand_samp_elig() << 2 | a.rand_samp_mode());
    shared.set_thresh_sel(a.thresh_event_sel());
    shared.set_thresh_ctl(a.thresh_start() << 4 | a.thresh_end());
    shared.set_thresh_cmp(u16::from(a.thresh_cmp_exp()) << 7 | u16::from(a.thresh_cmp_mantissa()));
    shared.set_sdar_mode(a.sdar_mode());
    [0u8, 1, 2, 3].map(|index| {
        let mut code = shared.on_counter(index + 1);
        code.set_unit((mmcr1 >> unit_shift(index) & 0xF) as u8);
        code.set_comb((mmcr1 >> comb_shift(index) & 0b11) as u8);
        code.set_pmcxsel((mmcr1 >> sel_shift(index) & 0xFF) as u8);
        code
    })
}

/// Where `MMCR1[PMCxUNIT]` begins; `index` is the counter's number less one, below 4.
const fn unit_shift(index: u8) -> u32 {
    60 - 4 * (index as u32 & 3)
}

/// Where `MMCR1[PMCxCOMB]` begins.
const fn comb_shift(index: u8) -> u32 {
    38 - 2 * (index as u32 & 3)
}

/// Where `MMCR1[PMCxSEL]` begins.
const fn sel_shift(index: u8) -> u32 {
    24 - 8 * (index as u32 & 3)
}

fn asked(events: &[EventCode]) -> impl Iterator<Item = Asked> {
    events.iter().enumerate().map(|(index, code)| Asked { index, code: *code })
}

/// The rules about one event.
fn check(event: Asked) -> Result<(), Refusal> {
    let code = event.code;
    let reserved = code.bits() & !EventCode::WRITABLE;
    if reserved != 0 {
        return Err(Refusal::ReservedBits { event, bits: reserved });
    }
    match code.pmc() {
        7 => return Err(Refusal::NoSuchCounter { event }),
        5 | 6 if code != RUN_INSTRUCTIONS && code != RUN_CYCLES => return Err(Refusal::FixedCounter { event }),
        _ => {}
    }
    if code.pmcxsel() & 0xE0 == 0xC0 {
        return Err(Refusal::ReservedSelector { event });
    }
    if code.is_bus() && matches!(code.unit(), 0 | 1 | 7) {
        return Err(Refusal::ReservedUnit { event });
    }
    if !is_sample(code.sample()) {
        return Err(Refusal::ReservedSample { event });
    }
    if code.thresh_sel() == 3 {
        return Err(Refusal::ReservedThreshSel { event });
    }
    let (exponent, mantissa) = (code.thresh_cmp() >> 7, code.thresh_cmp() & 0x7F);
    if exponent != 0 && mantissa < 0x20 {
        return Err(Refusal::ThreshCmp { event });
    }
    Ok(())
}

/// Whether table A-5 has this combination of eligibility and mode.
const fn is_sample(sample: u8) -> bool {
    match (sample & 0b11, sample >> 2) {
        (0, eligibility) => eligibility != 3,
        (1, eligibility) => matches!(eligibility, 0 | 4),
        (2, eligibility) => eligibility < 6,
        _ => false,
    }
}

/// What PMC1 to PMC6 count.
#[derive(Default)]
struct Places([Option<Asked>; COUNTERS]);

impl Places {
    /// The event at PMC`pmc`.
    fn at(&self, pmc: u8) -> Option<Asked> {
        self.0.get(usize::from(pmc).wrapping_sub(1)).copied().flatten()
    }

    /// Gives PMC`pmc` to `event`.
    fn take(&mut self, pmc: u8, event: Asked) -> Result<(), Refusal> {
        match self.0.get_mut(usize::from(pmc).wrapping_sub(1)) {
            None => Err(Refusal::NoSuchCounter { event }),
            Some(Some(first)) => Err(Refusal::SameCounter { first: *first, second: event, pmc }),
            Some(free) => {
                *free = Some(event);
                Ok(())
            }
        }
    }

    fn has(&self, event: Asked) -> bool {
        self.0.iter().flatten().any(|placed| placed.index == event.index)
    }

    /// What the programmable counters count.
    fn programmable(&self) -> impl Iterator<Item = Asked> {
        self.0.iter().take(PROGRAMMABLE).flatten().copied()
    }
}

/// Finds every event its counter.
fn place(events: &[EventCode]) -> Result<Places, Refusal> {
    let mut places = Places::default();
    for event in asked(events).filter(|event| event.code.pmc() != 0) {
        places.take(event.code.pmc(), event)?;
    }
    let programmable = events.iter().filter(|code| code.pmc() <= 4).count();
    if programmable > PROGRAMMABLE {
        return Err(Refusal::TooManyEvents { asked: programmable });
    }
    let anywhere = || asked(events).filter(|event| event.code.pmc() == 0);
    for (pmc, first) in [(1, anywhere().find(|event| event.code.is_mmu())), (4, anywhere().find(|event| event.code.is_cache()))] {
        if let (Some(event), None) = (first, places.at(pmc)) {
            places.take(pmc, event)?;
        }
    }
    for event in anywhere() {
        if !places.has(event)
            && let Some(pmc) = (1..=4).find(|pmc| places.at(*pmc).is_none())
        {
            places.take(pmc, event)?;
        }
    }
    Ok(places)
}

/// The rules about buses that one counter's selector steers for all.
fn check_bus(places: &Places) -> Result<(), Refusal> {
    let steering = |pmc| places.at(pmc).map(|event: Asked| (event, event.code));
    for event in places.programmable().filter(|event| event.code.is_cache()) {
        match steering(4) {
            Some((first, code)) if code.is_cache() => {
                if (code.pmcxsel() ^ event.code.pmcxsel()) & 0xFE != 0 {
                    return Err(Refusal::CacheGroups { first, second: event });
                }
            }
            _ => return Err(Refusal::CacheNeedsPmc4 { event }),
        }
    }
    for event in places.programmable().filter(|event| event.code.is_mmu()) {
        if !steering(1).is_some_and(|(_, code)| code.is_mmu()) {
            return Err(Refusal::MmuNeedsPmc1 { event });
        }
    }
    Ok(())
}

/// MMCR1's units, combinations and selectors.
fn selections(places: &Places) -> u64 {
    (0u8..4).zip(places.0).fold(0, |mmcr1, (index, event)| {
        let code = event.map_or(EventCode::default(), |event| event.code);
        mmcr1
            | u64::from(code.unit()) << unit_shift(index)
            | u64::from(code.comb()) << comb_shift(index)
            | u64::from(code.pmcxsel()) << sel_shift(index)
    })
}

/// A field that all counters share, as far as events have set it.
struct Shared {
    field: SharedField,
    set: Option<(Asked, u16)>,
}

impl Shared {
    const fn new(field: SharedField) -> Shared {
        Shared { field, set: None }
    }

    fn agree(&mut self, event: Asked, value: u16) -> Result<(), Refusal> {
        match self.set {
            Some((first, other)) if other != value => Err(Refusal::Differ { field: self.field, first, second: event }),
            Some(_) => Ok(()),
            None => {
                self.set = Some((event, value));
                Ok(())
            }
        }
    }

    fn value(&self) -> u16 {
        self.set.map_or(0, |(_, value)| value)
    }
}

/// Sets the parts of MMCR1 and MMCRA that all counters share.
fn share(events: &[EventCode], encoding: &mut Encoding) -> Result<(), Refusal> {
    let mut reload = Shared::new(SharedField::ReloadQual);
    let mut sample = Shared::new(SharedField::Sample);
    let mut select = Shared::new(SharedField::ThreshSel);
    let mut bounds = Shared::new(SharedField::ThreshCtl);
    let mut compare = Shared::new(SharedField::ThreshCmp);
    let mut sdar = Shared::new(SharedField::SdarMode);
    for event in asked(events) {
        let code = event.code;
        if code.reload_qual_en() {
            reload.agree(event, code.reload_qual().into())?;
        }
        if code.mark() || code.sample() != 0 {
            sample.agree(event, code.sample().into())?;
        }
        if code.thresh_sel() != 0 || code.thresh_ctl() != 0 || code.thresh_cmp() != 0 {
            select.agree(event, code.thresh_sel().into())?;
            bounds.agree(event, code.thresh_ctl().into())?;
            compare.agree(event, code.thresh_cmp())?;
        }
        if code.sdar_mode() != 0 {
            sdar.agree(event, code.sdar_mode().into())?;
        }
    }
    let marked = events.iter().any(|code| code.mark());
    if let (Some((event, _)), false) = (select.set, marked) {
        return Err(Refusal::ThresholdWithoutSampling { event });
    }
    let mut one = Mmcr1::written(encoding.mmcr1);
    one.set_dc_rld_qual(reload.value() & 0b10 != 0);
    one.set_ic_rld_qual(reload.value() & 0b01 != 0);
    encoding.mmcr1 = one.bits();
    let mut a = Mmcra::default();
    a.set_thresh_cmp_exp((compare.value() >> 7) as u8);
    a.set_thresh_cmp_mantissa((compare.value() & 0x7F) as u8);
    a.set_sdar_mode(sdar.value() as u8);
    a.set_thresh_event_sel(select.value() as u8);
    a.set_thresh_start((bounds.value() >> 4) as u8);
    a.set_thresh_end((bounds.value() & 0xF) as u8);
    a.set_rand_samp_elig((sample.value() >> 2) as u8);
    a.set_rand_samp_mode((sample.value() & 0b11) as u8);
    a.set_sample_enable(marked);
    encoding.mmcra = a.bits();
    Ok(())
}

/// Sets MMCR0 and MMCR2.
fn control(encoding: &mut Encoding, options: Options) {
    let used = (0u32..).zip(encoding.counted).filter(|(_, event)| event.is_some()).fold(0u32, |used, (index, _)| used | 1 << index);
    let mut zero = Mmcr0::default();
    zero.set_fc1_4(used & 0b00_1111 == 0);
    zero.set_fc5_6(used & 0b11_0000 == 0);
    zero.set_pmae(options.alerts);
    zero.set_pmc1ce(options.alerts && used & 0b00_0001 != 0);
    zero.set_pmcjce(options.alerts && used & 0b11_1110 != 0);
    encoding.mmcr0 = zero.bits();
    let mut freezes = CounterFreezes::default();
    freezes.set_fcs(options.freeze_in_supervisor_state);
    freezes.set_fcp(options.freeze_in_problem_state);
    freezes.set_fch(options.freeze_in_hypervisor_state);
    // Each counter has nine bits.
    for index in (0..6).filter(|index| used >> index & 1 != 0) {
        encoding.mmcr2 |= freezes.bits() >> (9 * index);
    }
}

#[cfg(test)]
mod tests;
