//! Calls everything that a PMU can do, with values the compiler cannot see through.
//!
//! The check is what is left of it: `.ci/run` links it with no start files and no libraries and looks for panics among its symbols.
#![no_std]
#![no_main]

use core::hint::black_box;

use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::{Context, Lone, Record, Request, RequestKind, Signal};
use vm_pmu_arch::knl::untile::{
    Clocks, Domain, FIRST_FUNCTIONS, Stage, Transaction, Ubox, Unit, UnitId, UnitRegister, address_of, at_msr, at_offset,
};
use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::model::{
    Arbitration, Model, Occurrence, PackageScope, Pins, Requests, Reset, Shared, SharedState, Tagging, UncoreInterrupts,
};
use vm_pmu_arch::power9::collection::{Collection, ThreadState};
use vm_pmu_arch::power9::encode::{EventCode, Options, decode, encode};
use vm_pmu_arch::power9::nest::{self, Availability, Event, Frequencies, Nest, Overflow, Prescaler, Setting, Totals};
use vm_pmu_arch::registry::{NAMES, Part, Pmu};

/// Nothing reaches it, so nothing of it is linked.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

static THREAD: Lone = Lone::new();
static NEST: Totals = Totals::new();

/// The entry point, of nobody's C library.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let mut seen = 0u64;
    for name in NAMES {
        if let Some(part) = Part::named(black_box(name)).and_then(|part| part.revision(black_box("E"))) {
            seen ^= drive(part);
        }
    }
    seen ^= select();
    seen ^= boxes();
    seen ^= collection();
    seen ^= chip();
    black_box(seen);
    loop {}
}

/// Turns event codes into registers and back.
fn select() -> u64 {
    let codes = black_box([0; 7]).map(EventCode::from_bits);
    let options = black_box(Options::default());
    match encode(&codes, options) {
        Ok(encoding) => {
            decode(encoding.mmcr1, encoding.mmcra).iter().fold(encoding.mmcr0 ^ encoding.mmcr2, |seen, code| seen ^ code.bits())
        }
        Err(refusal) => u64::from(black_box(refusal) == refusal),
    }
}

/// Does to a box whatever can be done to one.
fn boxes() -> u64 {
    let mut seen = u64::from(at_msr(black_box(0)).is_some()) ^ FIRST_FUNCTIONS.len() as u64;
    let mut ubox = Ubox::from_state(black_box([0; 2]));
    let now = Clocks::default();
    for id in UnitId::all() {
        let mut unit = Unit::new(id.kind());
        let at = at_offset(id.kind(), black_box(0)).map_or(UnitRegister::Counter(black_box(0)), |(register, _)| register);
        seen ^= address_of(id, at).map_or(0, u64::from) ^ UnitId::named(black_box("")).map_or(0, |id| id.index() as u64);
        for register in
            black_box([at, UnitRegister::Control, UnitRegister::CounterControl(0), UnitRegister::Fixed, UnitRegister::Filter(0)])
        {
            unit.write(register, black_box(0), &black_box(now));
            seen ^= unit.read(register, &black_box(now));
        }
        seen ^= u64::from(unit.inject(black_box(0), black_box(0), black_box(0), black_box(0), &black_box(now)));
        seen ^= u64::from(unit.change_queue(black_box(0), black_box(0), black_box(0), &black_box(now)));
        seen ^= u64::from(unit.set_queue(black_box(0), black_box(0), black_box(0), &black_box(now)));
        let transaction = Transaction::of(&black_box(Request::of(RequestKind::Code)), black_box(0), black_box(0));
        seen ^= u64::from(unit.transact(&transaction.unwrap_or_default(), black_box(Stage::Enters), &black_box(now)));
        unit.set_all_frozen(black_box(false), &black_box(now));
        seen ^= unit.deadline(black_box(Domain::Uclk)).unwrap_or(0) ^ u64::from(unit.is_enabled()) ^ u64::from(unit.listens());
        let state = black_box(unit.state(&black_box(now)));
        unit = Unit::from_state(id.kind(), &state, &black_box(now));
        seen ^= ubox.overflow(id, unit.take_overflows()).tiles;
    }
    seen ^= u64::from(ubox.write_control(black_box(0)).is_some());
    ubox.write_status(black_box(0));
    seen ^ ubox.control() ^ ubox.status() ^ ubox.config()
}

/// Memory that takes what it is told to, or refuses it.
struct Cells;

impl Memory for Cells {
    type Error = u64;

    fn load(&self, address: u64) -> Result<u64, u64> {
        black_box(Ok(address))
    }

    fn store(&self, address: u64, _value: u64) -> Result<(), u64> {
        black_box(Err(address))
    }

    fn add(&self, address: u64, _amount: u64) -> Result<(), u64> {
        black_box(Err(address))
    }
}

/// Does to a core's collection whatever can be done to one.
fn collection() -> u64 {
    let totals = |thread: usize| (thread == black_box(0)).then_some(&*THREAD.totals);
    let mut core = Collection::new();
    core.init(black_box(0), &totals);
    core.set_interval(black_box(0));
    core.start();
    core.follow(black_box(0), black_box(ThreadState::default()), &THREAD.totals);
    let mut seen = u64::from(core.inject(black_box(0), black_box(0), black_box(0))) ^ core.interval() ^ core.until_posting();
    seen ^= core.advance(black_box(0), &totals, &Cells).late ^ core.post(&totals, &Cells).error.unwrap_or(0);
    core = Collection::from_state(&black_box(core.state(&totals)), &totals);
    core.stop(&totals);
    seen ^= core.memory().unwrap_or(0) ^ u64::from(core.is_running()) ^ Collection::signals().iter().count() as u64;
    seen
}

/// Does to a chip's nest whatever can be done to one.
fn chip() -> u64 {
    let rates = black_box(Frequencies::default());
    let mut chip = Nest::new(black_box(0)).with_frequencies(rates).with_slot(black_box(0)).with_units(black_box(Availability(0)));
    let totals = &NEST;
    let mut seen = chip.boot(totals, &Cells).error.unwrap_or(0) ^ chip.advance(black_box(0), totals, &Cells).late;
    if let Some(event) = Event::at(black_box(0)) {
        totals.add(event, black_box(0));
        seen ^= u64::from(event.offset()) ^ totals.get(event);
    }
    seen ^= Event::all().count() as u64 ^ u64::from(chip.post_now(totals, &Cells).refused);
    let setting = chip.setting_at(black_box(0)).unwrap_or_default();
    let freezes = black_box(setting.overflow) == Overflow::Freeze;
    let prescalers = black_box([0; 4]).map(Prescaler::of_code);
    let setting = Setting { prescalers, overflow: if freezes { Overflow::RunOn } else { Overflow::Freeze } };
    seen ^= u64::from(chip.program_at(black_box(0), setting, totals)) ^ chip.register(black_box(0), totals).unwrap_or(0);
    totals.restore(&black_box(totals.snapshot()));
    chip = Nest::from_state(&black_box(chip.state()));
    chip.reset(totals);
    if let Some(request) = nest::Request::of(black_box(0), black_box([0; 3])) {
        seen ^= request.refusal(black_box(false)).map_or(0, |outcome| outcome.value() as u64) ^ request.chip();
        let command = request.nest_command();
        seen ^= command.map_or(0, |command| command.give(black_box(0), &Cells).map_or_else(|address| address, u64::from));
    }
    let unit = nest::Unit { kind: black_box(nest::Kind::Pb), number: black_box(0) };
    seen ^ u64::from(chip.units().has(unit)) ^ chip.clocks().nest ^ u64::from(chip.engine().is_running()) ^ chip.until_slot()
}

fn drive(part: Part) -> u64 {
    let mut pmu = part.build();
    let mut seen = 0;
    for address in black_box([Address::Msr(0), Address::Rdpmc(0), Address::Spr(0), Address::Pmc(0), Address::Pmd(0), Address::Ibr(0)]) {
        seen ^= pmu.write(address, black_box(0), &THREAD).is_ok() as u64;
        seen ^= pmu.read(address, &THREAD).unwrap_or(0);
    }
    if let Some(signal) = Signal::from_index(black_box(0)).and_then(|signal| Signal::from_name(black_box(signal.name()))) {
        THREAD.totals.add(signal, black_box(1));
        seen ^= u64::from(THREAD.deadlines.reached(signal, &THREAD.totals)) ^ u64::from(pmu.demand().wants(signal));
        seen ^= signal.summary().len() as u64;
    }
    pmu.service(&THREAD);
    pmu.set_context(black_box(Context::RESET), &THREAD);
    seen ^= u64::from(pmu.inject(black_box(Occurrence { select: 0, umask: 0 }), black_box(1), &THREAD));
    pmu.record(&black_box(Record::at(0)), &THREAD);
    pmu.set_shared(black_box(Shared::ALONE), &THREAD);
    pmu.request(&black_box(Request::of(RequestKind::DataRead)), black_box(0), &THREAD);
    pmu.notify(black_box(Some(0)), black_box(0), &THREAD);
    pmu.inject_from_sibling(black_box(Occurrence { select: 0, umask: 0 }), black_box(1), black_box(0), &THREAD);
    pmu.raise_uncore_interrupt(&THREAD);
    seen ^= pmu.tag(&black_box(Record::at(0))) ^ pmu.injection_tags() ^ pmu.package_demand().iter().count() as u64;
    seen ^= pmu.take_effects() ^ u64::from(pmu.observes_siblings());
    seen ^= u64::from(pmu.wants_package_records()) ^ u64::from(pmu.wants_package_requests()) ^ u64::from(pmu.follows_siblings());
    pmu.watch_pins(black_box(0), &THREAD);
    seen ^= pmu.pin_toggles(black_box(0), &THREAD);
    pmu.set_grants(black_box(0), black_box(0), &THREAD);
    let state = black_box(pmu.state(&THREAD));
    pmu = Pmu::from_state(&state, &THREAD);
    pmu.reset(black_box(Reset::Warm), &THREAD);
    let alerts = pmu.take_alerts();
    seen ^= u64::from(alerts.interrupts) ^ u64::from(pmu.claims());
    for register in pmu.registers() {
        for field in register.fields {
            seen ^= field.of(black_box(0));
        }
    }
    for entry in pmu.catalogue().entries {
        seen ^= u64::from(entry.select) ^ pmu.catalogue().masks(entry).len() as u64 ^ entry.is_called(black_box("")) as u64;
    }
    seen
}
