//! Calls everything that a PMU can do, with values the compiler cannot see through.
//!
//! The check is what is left of it: `.ci/run` links it with no start files and no libraries and looks for panics among its symbols.
#![no_std]
#![no_main]

use core::hint::black_box;

use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::{Context, Lone, Record, Signal};
use vm_pmu_arch::model::{Model, Occurrence, Reset};
use vm_pmu_arch::power9::encode::{EventCode, Options, decode, encode};
use vm_pmu_arch::registry::{NAMES, Part, Pmu};

/// Nothing reaches it, so nothing of it is linked.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

static THREAD: Lone = Lone::new();

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
