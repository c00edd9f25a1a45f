//! Machines that are saved between two instructions and continue elsewhere.

use proptest::prelude::*;
use vm_pmu_engines::pages::{Content, Page};

use super::properties::{machine_of, word};
use super::support::*;

fn two_cpus(build: impl FnOnce(&mut Assembler)) -> Machine<Recorder> {
    let config = Config { ram: 4 << 20, cpus: 2, ..Config::default() };
    Machine::new(&config, &image(true, build), |_| Recorder::default()).expect("a machine")
}

/// A machine in the middle of its work: CPU 0 in a transaction, with a reservation, and with text on the console; CPU 1 waiting.
fn busy() -> Machine<Recorder> {
    let mut machine = two_cpus(|a| {
        let first = a.label();
        a.branch_if_zero(R3, first);
        a.stop();
        a.here(first);
        a.load(R5, CONSOLE);
        a.load(R6, u64::from(b'x'));
        a.stb(R6, 0, R5);
        a.mfmsr(R7);
        a.load(R8, msr::TM);
        a.or(R7, R7, R8);
        a.mtmsrd(R7, false);
        a.load(R9, DATA);
        a.tbegin_dot();
        a.std(R6, 0, R9);
        a.ldarx(R10, R0, R9);
        let forever = a.mark();
        a.b(forever);
    });
    assert_eq!(machine.run(Limits::steps(100)), Exit::Limit);
    machine
}

/// A machine of the same make that has done nothing.
fn other() -> Machine<Recorder> {
    two_cpus(|a| a.nop())
}

#[test]
fn what_is_saved_is_what_the_guest_did() {
    let saved = busy().save();
    let [first, second] = &saved.cpus[..] else { panic!("{} CPUs", saved.cpus.len()) };
    assert_eq!(saved.console, b"x");
    assert_eq!(first.reservation, Some(DATA));
    let checkpoint = first.transaction.as_ref().expect("a transaction");
    assert_eq!((checkpoint.depth, checkpoint.footprint.undo.len(), checkpoint.footprint.undo[0]), (1, 8, (DATA, 0)));
    assert_eq!(first.msr & msr::TS, msr::TS_TRANSACTIONAL);
    assert!(second.waiting && !first.waiting);
    assert_eq!(second.sprs[&spr::PIR], 1);
    assert!(saved.pages.iter().any(|page| page.number == DATA / 4096 && page.content.bytes()[0] == b'x'));
}

#[test]
fn what_a_machine_goes_on_from_is_what_it_saves() {
    let saved = busy().save();
    let mut machine = other();
    machine.memory().write(0x30_0000, 8, 1);
    assert_eq!(machine.restore(&saved), Ok(()));
    assert_eq!(machine.save(), saved);
}

#[test]
fn a_transaction_fails_back_to_what_was_saved() {
    let mut machine = other();
    machine.restore(&busy().save()).expect("fits");
    // The next instruction of CPU 0 becomes tabort.
    let at = machine.cpu(0).expect("a CPU").pc();
    machine.memory().write(at, 4, 0x7C06_071D);
    machine.run(Limits::steps(1));
    assert_eq!(machine.memory().read(DATA, 8), 0);
    assert_eq!(machine.save().cpus[0].transaction, None);
}

#[test]
fn a_saved_transaction_still_meets_other_cpus() {
    let mut machine = other();
    let mut saved = busy().save();
    // CPU 1 goes on where it loads from the line that CPU 0 has stored to: ld 8,0(9).
    let second = &mut saved.cpus[1];
    (second.waiting, second.pc, second.gpr[9]) = (false, 0x30_0000, DATA);
    machine.restore(&saved).expect("fits");
    machine.memory().write(0x30_0000, 4, 58 << 26 | 8 << 21 | 9 << 16);
    machine.run(Limits::steps(2));
    let saved = machine.save();
    assert_eq!((saved.cpus[1].gpr[8], machine.memory().read(DATA, 8)), (0, 0));
    machine.run(Limits::steps(1));
    assert_eq!(machine.save().cpus[0].transaction, None);
}

#[test]
fn a_machine_goes_on_in_the_middle_of_a_turn() {
    let mut machine = two_cpus(|a| {
        let forever = a.mark();
        a.b(forever);
    });
    (0..4).for_each(|_| assert_eq!(machine.run(Limits::steps(1)), Exit::Limit));
    let steps = |machine: &Machine<Recorder>| [0, 1].map(|cpu| machine.observer(cpu).expect("a CPU").steps.len());
    assert_eq!(steps(&machine), [2, 2]);
    machine.run(Limits::steps(1));
    let saved = machine.save();
    assert_eq!(saved.turn.began, [2]);
    let mut next = other();
    next.restore(&saved).expect("fits");
    next.run(Limits::steps(1));
    assert_eq!(steps(&next), [0, 1]);
}

#[test]
fn the_time_base_goes_on_where_it_was() {
    let mut machine = two_cpus(|a| {
        a.load(R5, 0x1234_5678_9ABC);
        a.mtspr(spr::TBU40, R5);
        let forever = a.mark();
        a.b(forever);
    });
    // Not at a multiple of the cycles of a tick.
    machine.run(Limits::steps(2 * 93));
    let mut next = other();
    next.restore(&machine.save()).expect("fits");
    for steps in 0..20 {
        machine.run(Limits::steps(steps));
        next.run(Limits::steps(steps));
        assert_eq!(next.cpu(0).expect("a CPU").time_base(), machine.cpu(0).expect("a CPU").time_base());
    }
}

#[test]
fn text_holds_a_machine() {
    let saved = busy().save();
    let text = serde_json::to_string(&saved).expect("text");
    assert_eq!(serde_json::from_str::<Saved>(&text).expect("a machine"), saved);
}

#[test]
fn foreign_machines_and_states_that_none_can_be_in_are_refused_and_change_nothing() {
    type Change = fn(&mut Saved);
    let cases: [(&str, Change); 16] = [
        ("3 CPUs were saved and the machine has 2", |saved| saved.cpus.push(saved.cpus[0].clone())),
        ("0x800000 bytes of RAM were saved", |saved| saved.ram = 8 << 20),
        ("ascending order", |saved| saved.pages.push(Page { number: 1 << 10, content: Content::new([1; 4096]) })),
        ("ascending order", |saved| saved.pages.swap(0, 1)),
        ("1 ticks in 9 cycles", |saved| saved.time_base.cycles = 9),
        ("at most 1048576", |saved| saved.console = vec![0; (1 << 20) + 1]),
        ("3 CPUs have had their parts", |saved| saved.turn.began = vec![0; 3]),
        ("CPU 1 was saved in an impossible state: its next instruction is at 0x6", |saved| saved.cpus[1].pc = 6),
        ("MSR is", |saved| saved.cpus[0].msr |= 8),
        ("it has no checkpoint", |saved| saved.cpus[0].transaction = None),
        ("it has a checkpoint", |saved| saved.cpus[0].msr &= !msr::TS),
        ("it is 1 deep or more", |saved| saved.cpus[0].transaction.as_mut().expect("one").depth = 0),
        ("bytes of RAM", |saved| saved.cpus[0].transaction.as_mut().expect("one").footprint.undo.push((4 << 20, 0))),
        ("SPR 898", |saved| _ = saved.cpus[0].sprs.insert(898, 1)),
        ("PVR is 0x00000000, and the machine's is 0x004e1202", |saved| _ = saved.cpus[0].sprs.remove(&spr::PVR)),
        ("multiples of 128", |saved| saved.cpus[1].reservation = Some(64)),
    ];
    let saved = busy().save();
    let mut machine = other();
    machine.run(Limits::steps(5));
    let before = machine.save();
    for (expected, change) in cases {
        let mut damaged = saved.clone();
        change(&mut damaged);
        let error = machine.restore(&damaged).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(machine.save(), before, "{expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_program_goes_on_from_anywhere_as_if_nothing_had_been(
        words in proptest::collection::vec(word(), 1..40),
        state in any::<u64>(),
        little_endian in any::<bool>(),
        steps in 0u64..300,
    ) {
        let state = state & !msr::TS & !msr::LE | msr::SF;
        let make = || machine_of(&words, state, little_endian);
        let (mut whole, mut first, mut second) = (make(), make(), make());
        first.run(Limits::steps(steps));
        let saved = first.save();
        prop_assert_eq!(second.restore(&saved), Ok(()));
        prop_assert_eq!(&second.save(), &saved);
        let exit = second.run(Limits::steps(300 - steps));
        prop_assert_eq!(whole.run(Limits::steps(300)), exit);
        prop_assert_eq!(whole.save(), second.save());
    }
}
