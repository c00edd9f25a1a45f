//! Machines that are saved between two instructions and continue elsewhere.

use vm_pmu_engines::ia64::registers::psr;
use vm_pmu_engines::ia64::{AdvancedLoad, Config, Exit, Float, Image, Limits, Machine, RestoreError, Saved, Target, ThreadState};

use super::random::image;
use super::support::*;

fn machine_of(seed: u64, threads: usize) -> Machine<Recorder> {
    let config = Config { ram: 1 << 20, cores: 2, threads, ..Config::default() };
    Machine::new(&config, &image(seed), |_| Recorder::default()).expect("a machine")
}

/// A machine that has run some random code on two cores of two threads.
fn busy() -> Saved {
    let mut machine = machine_of(6, 2);
    machine.run(Limits { steps: 101, cycles: 100_000 });
    machine.save()
}

#[test]
fn any_program_goes_on_from_anywhere_as_if_nothing_had_been() {
    for seed in 1..100 {
        let threads = 1 + seed as usize % 2;
        let limits = |steps| Limits { steps, cycles: 100_000 };
        let [mut whole, mut first, mut second] = [(); 3].map(|()| machine_of(seed, threads));
        let stopped = first.run(limits(seed * 7));
        let saved = first.save();
        assert_eq!(second.restore(&saved), Ok(()), "seed {seed}");
        assert_eq!(second.save(), saved, "seed {seed}");
        let exit = second.run(limits(1000 - seed * 7));
        // One that had ended by then is restored to where the whole run has ended.
        if stopped == Exit::Limit {
            assert_eq!(whole.run(limits(1000)), exit, "seed {seed}");
            assert_eq!(whole.save(), second.save(), "seed {seed}");
        }
    }
}

#[test]
fn a_store_comes_too_late_for_the_bundle_that_runs() {
    // The first instruction of a bundle stores over the bundle.
    let mut a = Assembler::new(BASE);
    let bundle = a.label();
    a.load_address(R14, bundle);
    a.here(bundle);
    let at = a.address();
    a.bundle(Template::MII, [st8(R14, R0), adds(R16, 7, R0), nop(0)]);
    let whole = a.finish().expect("assembles");
    let make = || {
        let image = Image::raw(BASE, whole.clone());
        Machine::new(&Config { ram: 1 << 20, ..Config::default() }, &image, |_| Recorder::default()).expect("a machine")
    };
    let mut steps = 0;
    let saved = loop {
        let mut machine = make();
        machine.run(Limits::steps(steps));
        let saved = machine.save();
        let thread = &saved.cores[0].threads[0];
        if thread.ip == at && thread.bundle.is_some() {
            break saved;
        }
        steps += 1;
        assert!(steps < 100, "the bundle runs");
    };
    let mut machine = make();
    machine.restore(&saved).expect("fits");
    machine.run(Limits::steps(2));
    assert_eq!(machine.cpu(0).expect("a thread").gr(16), (7, false));
}

#[test]
fn a_timer_that_is_set_comes_at_its_cycle() {
    let mut a = Assembler::new(BASE);
    a.load(R14, 60);
    a.load(R15, 0x40);
    a.put(mov_to_cr(Cr::ITV, R15));
    a.put(mov_to_cr(Cr::ITM, R14));
    let forever = a.mark();
    a.put(br_cond(forever));
    let image = Image::raw(BASE, a.finish().expect("assembles"));
    let make = || Machine::new(&Config { ram: 1 << 20, ..Config::default() }, &image, |_| Recorder::default()).expect("a machine");
    let [mut whole, mut first, mut second] = [(); 3].map(|()| make());
    first.run(Limits { steps: u64::MAX, cycles: 30 });
    let saved = first.save();
    assert_eq!(saved.cores[0].threads[0].timer, Some(60));
    second.restore(&saved).expect("fits");
    for cycles in [60, 61, 62] {
        let limits = Limits { steps: u64::MAX, cycles };
        whole.run(limits);
        second.run(limits);
        assert_eq!(whole.save(), second.save(), "cycle {cycles}");
    }
    assert_eq!(second.save().cores[0].threads[0].requested, [0, 1, 0, 0]);
}

#[test]
fn text_holds_a_machine() {
    let saved = busy();
    let text = serde_json::to_string(&saved).expect("text");
    assert_eq!(serde_json::from_str::<Saved>(&text).expect("a machine"), saved);
}

#[test]
fn foreign_machines_and_states_that_none_can_be_in_are_refused_and_change_nothing() {
    type Change = fn(&mut Saved);
    let cases: [(&str, Change); 22] = [
        ("3 cores were saved and the machine has 2", |saved| saved.cores.push(saved.cores[0].clone())),
        ("a core of 1 threads was saved", |saved| _ = saved.cores[1].threads.pop()),
        ("0x200000 bytes of RAM were saved", |saved| saved.ram = 2 << 20),
        ("a quantum of 9 cycles was saved", |saved| saved.quantum = 9),
        ("ascending order", |saved| saved.pages.swap(0, 1)),
        ("a console keeps 1048576", |saved| saved.console = vec![0; (1 << 20) + 1]),
        ("3 cores have had their parts", |saved| saved.turn.began = vec![0; 3]),
        ("there is no such thread", |saved| saved.cores[0].foreground = 2),
        ("thread 3 was saved in an impossible state: its next bundle is at 0x8", |saved| saved.cores[1].threads[1].ip = 8),
        ("PSR is", |saved| first(saved).psr |= 1),
        ("PSR is", |saved| first(saved).psr |= psr::RI),
        ("template that is not reserved", |saved| {
            first(saved).psr &= !psr::RI;
            first(saved).bundle = Some([0, 0]);
        }),
        ("p0 is set", |saved| first(saved).predicates &= !1),
        ("17 bits of exponent", |saved| first(saved).floating[5] = Float { exponent: 1 << 17, ..Float::default() }),
        ("128 floating-point registers", |saved| _ = first(saved).floating.pop()),
        ("fit into 96 registers", |saved| first(saved).stack.dirty = 97),
        ("legal one", |saved| first(saved).stack.cfm = 97),
        ("AR17 is not kept", |saved| _ = first(saved).ars.insert(17, 1)),
        ("CR66 is not kept", |saved| _ = first(saved).crs.insert(66, 1)),
        ("each of another register", |saved| {
            first(saved).alat = vec![AdvancedLoad { target: Target::General(4), physical: 8, size: 8 }; 2];
        }),
        ("vectors 1 and 3 to 15", |saved| first(saved).requested[0] = 2),
        ("its urgency is 8", |saved| first(saved).urgency = 8),
    ];
    let saved = busy();
    let mut machine = machine_of(3, 2);
    machine.run(Limits { steps: 50, cycles: 100_000 });
    let before = machine.save();
    for (expected, change) in cases {
        let mut damaged = saved.clone();
        change(&mut damaged);
        let error = machine.restore(&damaged).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(machine.save(), before, "{expected}");
    }
    assert!(matches!(machine_of(3, 1).restore(&saved), Err(RestoreError::Threads { saved: 2, target: 1 })));
}

fn first(saved: &mut Saved) -> &mut ThreadState {
    &mut saved.cores[0].threads[0]
}
