//! One part, driven as an emulator drives it. `.ci/run` says how large the program is: nearly all of it is the part.
#![no_std]
#![no_main]

/// Nothing reaches it, so nothing of it is linked.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

mod driven {
    use core::hint::black_box;

    use vm_pmu_arch::access::Address;
    use vm_pmu_arch::feed::{Context, Lone, Record, Signal, Vocabulary};
    use vm_pmu_arch::model::{LazyContexts, Model, Occurrence, Reset};
    use vm_pmu_arch::registry::{NAMES, Part, Pmu};

    /// The signals of the part.
    const SIGNALS: Vocabulary = if cfg!(feature = "k8") {
        Vocabulary::K8
    } else if cfg!(feature = "knl") {
        Vocabulary::Knl
    } else if cfg!(feature = "power9") {
        Vocabulary::Power9
    } else if cfg!(feature = "itanium") {
        Vocabulary::Itanium
    } else {
        Vocabulary::Montecito
    };

    static THREAD: Lone<{ SIGNALS.own_cells() }, { SIGNALS.deadline_cells() }> = Lone::of(SIGNALS);

    pub fn run() -> u64 {
        let Some(part) = NAMES.first().and_then(|name| Part::named(name)) else { return 0 };
        let mut pmu = part.build();
        let mut seen = 0;
        for address in black_box([Address::Msr(0), Address::Rdpmc(0), Address::Spr(0), Address::Pmc(0), Address::Pmd(0), Address::Ibr(0)]) {
            seen ^= u64::from(pmu.write(address, black_box(0), &THREAD).is_ok());
            seen ^= pmu.read(address, &THREAD).unwrap_or(0);
        }
        THREAD.totals.add(Signal::InstructionsRetired, black_box(1));
        seen ^= u64::from(THREAD.deadlines.due(&THREAD.totals)) ^ u64::from(pmu.demand().epoch());
        pmu.service(&THREAD);
        if !pmu.change_quietly(&black_box(Context::RESET), false, &THREAD) {
            pmu.set_context(black_box(Context::RESET), &THREAD);
        }
        seen ^= u64::from(pmu.inject(black_box(Occurrence { select: 0, umask: 0 }), black_box(1), &THREAD));
        pmu.record(&black_box(Record::at(0)), &THREAD);
        let state = black_box(pmu.state(&THREAD));
        pmu = Pmu::from_state(&state, &THREAD);
        pmu.reset(black_box(Reset::Warm), &THREAD);
        seen ^ u64::from(pmu.take_alerts().interrupts)
    }
}

/// The entry point, of nobody's C library.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    core::hint::black_box(driven::run());
    loop {}
}
