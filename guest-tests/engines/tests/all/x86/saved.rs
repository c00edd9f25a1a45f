//! A machine that was saved continues in another without a difference.

use vm_pmu_engines::x86::{RestoreError, Saved, Shadow};

use super::support::*;

/// RAM of the machines here, which are many.
const RAM: u64 = 6 << 20;

fn config(cpus: usize) -> Config {
    Config { ram: RAM, cpus, ..user_config() }
}

/// What a step shows, without what the last one left in its list of accesses.
fn shown(step: &Step) -> String {
    let Step { kind, rip, physical, next_rip, cpl, instruction, branch, invalidation, breakpoints, code_written, .. } = step;
    let held = (step.interrupts_masked, step.interrupt_pending, step.segment_loads, step.touched, step.misaligned);
    let step = (kind, rip, physical, next_rip, cpl, instruction, branch, invalidation, breakpoints, code_written, step.accesses());
    format!("{step:x?} {held:x?}")
}

/// What every CPU's observer saw.
fn seen(machine: &Machine<Log>) -> Vec<(Vec<String>, u64)> {
    let of = |log: &Log| (log.steps.iter().map(shown).collect(), log.halted);
    (0..machine.cpus()).filter_map(|cpu| machine.observer(cpu)).map(of).collect()
}

/// Saves a guest after so many steps, continues in another machine, and returns both.
fn cut(guest: &Guest, config: &Config, steps: u64) -> (Machine<Log>, Machine<Log>, Exit) {
    let mut first = guest.machine(config, |_| Log::default());
    assert_eq!(first.run(Limits::steps(steps)), Exit::Limit, "after {steps} steps");
    let saved = first.save();
    // The other has run something else before.
    let mut second = Guest::new(stop).machine(config, |_| Log::default());
    second.run(Limits::steps(2));
    for cpu in 0..config.cpus {
        *second.observer_mut(cpu).expect("CPU") = Log::default();
    }
    second.restore(&saved).expect("fits");
    assert_eq!(second.save(), saved, "after {steps} steps");
    let exit = second.run(Limits::steps(100_000));
    (first, second, exit)
}

/// Cuts a guest at every step, and finds no difference to one that was not cut.
fn goes_on(guest: &Guest, config: &Config) {
    let mut whole = guest.machine(config, |_| Log::default());
    let end = whole.run(Limits::steps(100_000));
    assert_ne!(end, Exit::Limit);
    let steps: usize = (0..config.cpus).filter_map(|cpu| whole.observer(cpu)).map(|log| log.steps.len()).sum();
    let last = whole.save();
    for at in 0..steps as u64 {
        let (first, second, exit) = cut(guest, config, at);
        assert_eq!(exit, end, "after {at} steps");
        let [before, after] = [&first, &second].map(seen);
        for (cpu, ((before, after), whole)) in before.into_iter().zip(after).zip(seen(&whole)).enumerate() {
            let together = ([before.0, after.0].concat(), before.1 + after.1);
            assert_eq!(together, whole, "CPU {cpu} after {at} steps");
        }
        assert_eq!(second.save(), last, "after {at} steps");
    }
}

/// Handlers for a timer and for faults, and work with flags, vectors and strings in between.
fn busy() -> Guest {
    Guest::new(|a| {
        // Vectors are switched on.
        a.mov(rax, cr4)?;
        a.or(eax, 0x200)?;
        a.mov(cr4, rax)?;
        a.mov(rsp, DATA + 0x8000)?;
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.mov(dword_ptr(rbx + 0x3e0), 0xb)?;
        a.mov(dword_ptr(rbx + 0x320), 0x2_0040)?;
        a.mov(dword_ptr(rbx + 0x380), 23)?;
        a.mov(rdi, DATA)?;
        a.mov(ecx, 40)?;
        a.sti()?;
        a.rep().stosb()?;
        a.movq(xmm3, rdi)?;
        a.mov(eax, 0x53)?;
        a.out(0xe9, al)?;
        a.mov(ax, 0x10)?;
        a.mov(ss, ax)?;
        a.nop()?;
        a.ud2()?;
        a.rdtsc()?;
        a.hlt()?;
        a.movq(r12, xmm3)?;
        // Once around with single steps.
        a.pushfq()?;
        a.or(qword_ptr(rsp), 0x100)?;
        a.popfq()?;
        a.nop()?;
        a.pushfq()?;
        a.and(qword_ptr(rsp), !0x100)?;
        a.popfq()?;
        a.mov(al, 7)?;
        a.out(0xf4, al)
    })
    .handler(0x40, |a| {
        a.inc(r15)?;
        a.mov(dword_ptr(rbx + 0xb0), 0)?;
        a.iretq()
    })
    .handler(1, |a| {
        a.inc(r14)?;
        a.iretq()
    })
    .handler(6, |a| {
        a.add(qword_ptr(rsp), 2)?;
        a.iretq()
    })
}

#[test]
fn a_guest_with_a_timer_and_faults_goes_on_from_every_step() {
    goes_on(&busy(), &config(1));
}

#[test]
fn cpus_that_take_turns_go_on_from_every_step() {
    let guest = super::machines::ping_pong();
    for quantum in [1, 5] {
        goes_on(&guest, &Config { mode: Mode::RoundRobin { quantum }, ..config(2) });
    }
}

#[test]
fn a_translation_that_tables_no_longer_have_goes_on_until_it_is_forgotten() {
    let guest = Guest::new(|a| {
        // The tables are at the end of usable RAM: the first directory is their third page.
        a.mov(r8, qword_ptr(rdx + 0x2000 + 8))?;
        a.mov(rsi, DATA & !0x1f_ffff)?;
        a.mov(qword_ptr(DATA), 1)?;
        a.mov(qword_ptr(rsi + 8), 2)?;
        // From now on the third 2 MiB are the second's, in the page tables.
        a.mov(rdi, 0x40_0008u64)?;
        a.mov(r9, qword_ptr(rdi))?;
        a.mov(r10, qword_ptr(rdx + 0x2000 + 8))?;
        a.mov(qword_ptr(rdx + 0x2000 + 16), r10)?;
        a.mov(r11, qword_ptr(rdi))?;
        a.nop()?;
        a.mov(r12, qword_ptr(rdi))?;
        a.invlpg(ptr(rdi))?;
        a.mov(r13, qword_ptr(rdi))?;
        stop(a)
    });
    goes_on(&guest, &config(1));
    let (_, machine, _) = cut(&guest, &config(1), 10);
    let [before, after] = [11, 13].map(|number| gpr(&machine, number));
    assert_ne!(before, after);
}

#[test]
fn stores_to_code_are_told_as_they_would_have_been() {
    let guest = Guest::new(|a| {
        let mut code = a.create_label();
        let mut again = a.create_label();
        a.mov(ecx, 3)?;
        a.lea(rdi, ptr(code))?;
        a.set_label(&mut again)?;
        a.mov(byte_ptr(rdi + 1), cl)?;
        a.nop()?;
        a.mov(byte_ptr(rdi + 2), 0)?;
        for _ in 0..80 {
            a.nop()?;
        }
        a.set_label(&mut code)?;
        a.mov(eax, 0)?;
        a.dec(ecx)?;
        a.jne(again)?;
        stop(a)
    });
    goes_on(&guest, &config(1));
}

#[test]
fn mail_and_pending_interrupts_are_saved() {
    let guest = Guest::new(|a| {
        a.mov(rbx, 0xfee0_0000u64)?;
        a.mov(dword_ptr(rbx + 0xf0), 0x1ff)?;
        a.nop()?;
        a.nop()?;
        a.sti()?;
        a.nop()?;
        a.nop()?;
        stop(a)
    })
    .handler(0x51, |a| {
        a.inc(r15)?;
        a.iretq()
    })
    .handler(2, |a| {
        a.inc(r14)?;
        a.iretq()
    });
    let mut first = guest.machine(&config(1), |_| Log::default());
    first.run(Limits::steps(4));
    first.interrupter().fixed(0, 0x51);
    first.interrupter().nmi(0);
    let mail = first.save();
    assert!(mail.cpus[0].mail.nmi && mail.cpus[0].mail.fixed[1] == 1 << 17);
    let mut second = guest.machine(&config(1), |_| Log::default());
    second.restore(&mail).expect("fits");
    // The NMI is taken, and the vector waits in the IRR.
    second.run(Limits::steps(1));
    let waiting = second.save();
    assert_eq!((waiting.cpus[0].apic.irr[1], waiting.cpus[0].nmi_blocked), (1 << 17, true));
    second.restore(&mail).expect("fits");
    assert_eq!(second.run(Limits::NONE), Exit::Halted);
    assert_eq!((gpr(&second, 15), gpr(&second, 14)), (1, 1));
}

#[test]
fn a_shadow_holds_interrupts_off_on_the_other_side_too() {
    let guest = Guest::new(|a| {
        a.sti()?;
        a.nop()?;
        stop(a)
    });
    let mut machine = guest.machine(&config(1), |_| Log::default());
    machine.run(Limits::steps(2));
    assert_eq!(machine.save().cpus[0].shadow, Shadow::Sti);
}

/// A machine that was saved in the middle, and its state.
fn some() -> (Machine<Log>, Saved) {
    let mut machine = busy().machine(&config(1), |_| Log::default());
    machine.run(Limits::steps(30));
    let saved = machine.save();
    (machine, saved)
}

#[test]
fn other_machines_are_refused() {
    let (_, saved) = some();
    let mut two = busy().machine(&config(2), |_| Log::default());
    let before = two.save();
    assert_eq!(two.restore(&saved), Err(RestoreError::Cpus { saved: 1, target: 2 }));
    assert_eq!(two.save(), before);
    let mut larger = busy().machine(&Config { ram: 16 << 20, ..config(1) }, |_| Log::default());
    assert_eq!(larger.restore(&saved), Err(RestoreError::Ram { saved: RAM, target: 16 << 20 }));
}

#[test]
fn impossible_values_are_refused_and_nothing_changes() {
    let (mut machine, saved) = some();
    let before = machine.save();
    machine.run(Limits::steps(1));
    let later = machine.save();
    assert_ne!(before, later);
    let spoils: [fn(&mut Saved); 20] = [
        |saved| saved.pages.swap(0, 1),
        |saved| saved.pages[0].number = RAM / 4096,
        |saved| saved.decoded[0].page = u64::MAX,
        |saved| saved.console = vec![0; (1 << 20) + 1],
        |saved| saved.turn.cpu = 1,
        |saved| saved.configuration_address = 3,
        |saved| saved.cpus[0].rflags = 0,
        |saved| saved.cpus[0].cpl = 4,
        |saved| saved.cpus[0].cr0 = 0,
        |saved| saved.cpus[0].cr3 = 1 << 40,
        |saved| saved.cpus[0].cr4 = 0,
        |saved| saved.cpus[0].dr[7] = 1 << 32,
        |saved| saved.cpus[0].segments[4].base = 1 << 63,
        |saved| saved.cpus[0].msrs.efer = 0,
        |saved| saved.cpus[0].msrs.apic_base = 1 << 10,
        |saved| saved.cpus[0].apic.lvt[0] = 1 << 31,
        |saved| saved.cpus[0].apic.irr[0] = 1,
        |saved| saved.cpus[0].apic.timer.divide = 4,
        |saved| saved.cpus[0].translations[0].grants = 0xff,
        |saved| saved.cpus[0].translations[0].frame = 1 << 60,
    ];
    for (number, spoil) in spoils.into_iter().enumerate() {
        let mut spoilt = saved.clone();
        spoil(&mut spoilt);
        assert!(machine.restore(&spoilt).is_err(), "{number}");
        assert_eq!(machine.save(), later, "{number}");
    }
}

#[test]
fn a_refusal_names_the_register_and_its_value() {
    let (mut machine, mut saved) = some();
    saved.cpus[0].cr0 = 0x10;
    let error = machine.restore(&saved).expect_err("protection is off");
    assert_eq!(error, RestoreError::Register { cpu: Some(0), name: "CR0", value: 0x10 });
    assert_eq!(error.to_string(), "CR0 of CPU 0 cannot be 0x10");
}

#[test]
fn an_engine_that_remembers_no_translations_leaves_them_out() {
    let (mut machine, mut saved) = some();
    for cpu in &mut saved.cpus {
        (cpu.translations, cpu.fetching) = (Vec::new(), None);
    }
    saved.decoded.clear();
    saved.turn = Default::default();
    machine.restore(&saved).expect("fits");
    let end = machine.run(Limits::steps(100_000));
    assert_eq!(end, Exit::Status { cpu: 0, status: 7 }, "{end}");
}

#[test]
fn what_was_saved_goes_through_formats_of_serde() {
    let (_, saved) = some();
    let text = serde_json::to_string(&saved).expect("text");
    assert_eq!(serde_json::from_str::<Saved>(&text).expect("the same"), saved);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever the bytes, and wherever the cut.
    #[test]
    fn arbitrary_code_goes_on(
        code in prop::collection::vec(any::<u8>(), 1..64),
        registers in prop::array::uniform8(prop_oneof![any::<u64>(), Just(DATA), 0u64..0x100, Just(0xfee0_0300)]),
        stride in 1usize..30,
    ) {
        let bytes = assemble(|a| {
            for (number, value) in [rax, rcx, rdx, rbx, rsi, rdi, r8, r9].into_iter().zip(registers) {
                a.mov(number, value)?;
            }
            a.db(&code)
        });
        let guest = Guest { image: Image::raw(CODE, bytes) };
        let mut whole = guest.machine(&config(1), |_| Log::default());
        let end = whole.run(Limits::steps(200));
        let steps = whole.observer(0).expect("CPU").steps.len();
        let last = whole.save();
        for at in (0..steps as u64).step_by(stride) {
            let mut first = guest.machine(&config(1), |_| Log::default());
            if first.run(Limits::steps(at)) != Exit::Limit {
                continue;
            }
            let mut second = guest.machine(&config(1), |_| Log::default());
            second.restore(&first.save()).expect("fits");
            prop_assert_eq!(second.run(Limits::steps(200 - at)), end.clone());
            let [before, after, whole] = [&first, &second, &whole].map(|machine| seen(machine).remove(0).0);
            prop_assert_eq!([before, after].concat(), whole);
            prop_assert_eq!(second.save(), last.clone());
        }
    }
}
