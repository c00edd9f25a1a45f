//! Two threads of a core, and cores.

use vm_pmu_engines::ia64::{Config, Gate, Limits, Machine, SwitchCause};

use super::support::*;

/// r8 has the thread's number at the start: thread 1 goes to `other`, thread 0 continues.
fn fork(a: &mut Assembler, one: impl FnOnce(&mut Assembler), zero: impl FnOnce(&mut Assembler)) {
    let other = a.label();
    a.put(cmp_eq_imm(P6, P7, 1, R8));
    a.put(br_cond(other).when(P6));
    zero(a);
    end_here(a);
    a.here(other);
    one(a);
}

fn end_here(a: &mut Assembler) {
    a.load(R2, vm_pmu_engines::ia64::EXIT);
    a.put(st1(R2, R0));
}

fn forever(a: &mut Assembler) {
    let again = a.mark();
    a.put(br_cond(again));
}

fn causes(machine: &Machine<Recorder>, thread: usize) -> Vec<(bool, SwitchCause)> {
    machine.observer(thread).unwrap().switches.iter().map(|switch| (switch.foreground, switch.cause)).collect()
}

fn two() -> Config {
    Config { threads: 2, quantum: 100, ..Config::default() }
}

#[test]
fn a_pause_gives_the_core_to_the_other_thread() {
    let machine = finish(machine(&two(), &[], |a| {
        fork(
            a,
            |a| {
                a.put(mov_imm(R20, 1));
                a.put(hint(0));
                forever(a);
            },
            |a| {
                a.put(hint(0));
                a.put(mov_imm(R20, 2));
            },
        );
    }));
    assert_eq!(machine.cpu(0).unwrap().gr(20).0, 2);
    assert_eq!(machine.cpu(1).unwrap().gr(20).0, 1);
    assert_eq!(causes(&machine, 0), [(false, SwitchCause::Hint), (true, SwitchCause::Hint)]);
    // Each switch is 15 cycles of the thread that comes.
    assert_eq!((machine.observer(0).unwrap().stalled, machine.observer(1).unwrap().stalled), (15, 15));
}

#[test]
fn a_thread_loses_the_core_when_its_quantum_is_over() {
    let mut machine = machine(&two(), &[], |a| fork(a, forever, forever));
    machine.run(Limits { cycles: 300, ..Limits::NONE });
    assert_eq!(causes(&machine, 0), [(false, SwitchCause::TimeOut), (true, SwitchCause::TimeOut)]);
    assert_eq!(machine.cpu(1).unwrap().urgency(), 7);
}

#[test]
fn a_miss_switches_to_the_thread_of_higher_urgency_and_its_return_switches_back_only_if_it_is_higher() {
    let config = Config { quantum: 1000, ..two() };
    let mut machine = machine(&config, &[], |a| {
        fork(a, forever, |a| {
            a.load(R14, DATA);
            a.put(ld8(R15, R14));
        });
    });
    machine.observer_mut(0).unwrap().miss = Some(200);
    machine.run(Limits { cycles: 600, ..Limits::NONE });
    // 4 is below 5. The data's return makes it 5 again, which is not above 5.
    assert_eq!(causes(&machine, 0), [(false, SwitchCause::L3Miss)]);
    assert_eq!(machine.cpu(0).unwrap().urgency(), 5);
}

#[test]
fn data_that_comes_for_a_thread_of_higher_urgency_brings_it_back() {
    let config = Config { quantum: 1000, ..two() };
    let load = |a: &mut Assembler| {
        a.load(R14, DATA);
        a.put(ld8(R15, R14));
    };
    let mut machine = machine(&config, &[], |a| fork(a, load, load));
    machine.observer_mut(0).unwrap().miss = Some(200);
    machine.observer_mut(1).unwrap().miss = Some(500);
    let machine = finish(machine);
    // Thread 1's miss makes it 4 as well, so it stays and waits; then thread 0 is 5 again.
    assert_eq!(causes(&machine, 0), [(false, SwitchCause::L3Miss), (true, SwitchCause::L3Return)]);
    assert_eq!((machine.cpu(0).unwrap().urgency(), machine.cpu(1).unwrap().urgency()), (5, 4));
}

#[test]
fn a_thread_that_halts_leaves_the_core_to_the_other() {
    use vm_pmu_engines::ia64::PAL_ENTRY;
    let machine = finish(machine(&two(), &[], |a| {
        fork(a, forever, |a| {
            a.put(mov_imm(R14, 0x40));
            a.put(mov_to_cr(Cr::ITV, R14));
            a.put(mov_imm(R14, 500));
            a.put(mov_to_cr(Cr::ITM, R14));
            a.load(R14, PAL_ENTRY);
            a.put(mov_to_br(B7, R14));
            a.put(mov_imm(R28, 29));
            a.put(br_call_reg(B0, B7));
        });
    }));
    assert_eq!(causes(&machine, 0), [(false, SwitchCause::LowPower), (true, SwitchCause::TimeOut)]);
    // The quantum of thread 1 was long over when thread 0 woke.
    let cycles = machine.cpu(0).unwrap().cycles();
    assert!((515..530).contains(&cycles), "{cycles}");
}

#[test]
fn an_interrupt_in_the_background_makes_a_thread_urgent() {
    let mut machine = machine(&Config { quantum: 50, ..two() }, &[], |a| {
        fork(
            a,
            |a| {
                a.put(mov_imm(R14, 0x40));
                a.put(mov_to_cr(Cr::PMV, R14));
                a.put(mov_imm(R20, 1));
                a.put(hint(0));
                forever(a);
            },
            |a| {
                a.put(hint(0));
                forever(a);
            },
        );
    });
    while machine.cpu(1).unwrap().gr(20).0 == 0 || machine.cpu(1).unwrap().foreground() {
        machine.run(Limits::steps(1));
    }
    assert_eq!(machine.cpu(1).unwrap().urgency(), 5);
    machine.observer_mut(1).unwrap().interrupt_after = Some(0);
    machine.run(Limits::steps(1));
    assert_eq!(machine.cpu(1).unwrap().urgency(), 6);
}

#[test]
fn a_thread_alone_waits_for_its_data() {
    let mut machine = machine(&Config::default(), &[], |a| {
        a.load(R14, DATA);
        a.put(ld8(R15, R14));
    });
    machine.observer_mut(0).unwrap().miss = Some(200);
    let machine = finish(machine);
    assert_eq!(machine.observer(0).unwrap().stalled, 200);
    // Four bundles, the load's data between.
    assert_eq!(machine.cpu(0).unwrap().cycles(), 204);
}

#[test]
fn cores_share_memory_and_drop_each_others_advanced_loads() {
    let config = Config { cores: 2, ..Config::default() };
    let machine = finish(machine(&config, &[], |a| {
        fork(
            a,
            |a| {
                a.load(R14, DATA);
                a.put(mov_imm(R15, 7));
                for _ in 0..10 {
                    a.put(nop(0));
                }
                a.put(st8(R14, R15));
                forever(a);
            },
            |a| {
                a.load(R14, DATA);
                a.put(ld8_a(R20, R14));
                let again = a.mark();
                a.put(ld8(R16, R14));
                a.put(cmp_eq(P8, P9, R0, R16));
                a.put(br_cond(again).when(P8));
                a.put(ld8_c_clr(R20, R14));
            },
        );
    }));
    assert_eq!(machine.cpu(0).unwrap().gr(20).0, 7);
}

/// A halt of this thread, for ever.
fn halt(a: &mut Assembler) {
    a.load(R14, vm_pmu_engines::ia64::PAL_ENTRY);
    a.put(mov_to_br(B7, R14));
    a.put(mov_imm(R28, 29));
    a.put(br_call_reg(B0, B7));
}

#[test]
fn a_hint_to_a_thread_that_is_halted_is_given_up() {
    let machine = finish(machine(&two(), &[], |a| {
        fork(a, halt, |a| {
            // The other thread halts, and this one comes back.
            a.put(hint(0));
            a.put(hint(0));
            a.put(hint(0));
        });
    }));
    assert_eq!(machine.observer(0).unwrap().gates, [Gate::LowPower; 2]);
    assert_eq!(causes(&machine, 0), [(false, SwitchCause::Hint), (true, SwitchCause::LowPower)]);
}

#[test]
fn the_end_of_a_quantum_is_given_up_once_while_the_other_thread_is_halted() {
    let mut machine = machine(&two(), &[], |a| {
        fork(a, halt, |a| {
            a.put(hint(0));
            forever(a);
        })
    });
    machine.run(Limits { cycles: 1000, ..Limits::NONE });
    assert_eq!(machine.observer(0).unwrap().gates, [Gate::LowPower]);
}

#[test]
fn a_move_to_a_register_holds_up_a_change_for_twelve_cycles() {
    let mut machine = machine(&Config { quantum: 1000, ..two() }, &[], |a| {
        fork(a, forever, |a| {
            a.load(R14, DATA);
            a.put(mov_to_ar_m(Ar::CCV, R14));
            a.put(ld8(R15, R14));
        });
    });
    machine.observer_mut(0).unwrap().miss = Some(200);
    machine.run(Limits { cycles: 100, ..Limits::NONE });
    let thread = machine.observer(0).unwrap();
    assert_eq!(thread.gates, [Gate::Pipeline]);
    // The load is one cycle behind the move, so eleven are left, in which the thread completes nothing.
    let switch = thread.switches.first().unwrap();
    assert_eq!((switch.cause, switch.held, switch.moving, switch.idle), (SwitchCause::L3Miss, 11, 11, 11));
    assert_eq!(thread.stalled, 11);
}

#[test]
fn a_thread_that_has_completed_nothing_since_it_came_keeps_the_core() {
    // Thread 0 misses for 150 cycles and thread 1 for 500. Each then has urgency 4 while it waits.
    let load = |a: &mut Assembler| {
        a.load(R14, DATA);
        a.put(ld8(R15, R14));
        forever(a);
    };
    let mut machine = machine(&Config { quantum: 120, ..two() }, &[], |a| fork(a, load, load));
    machine.observer_mut(0).unwrap().miss = Some(150);
    machine.observer_mut(1).unwrap().miss = Some(500);
    machine.run(Limits { cycles: 2000, ..Limits::NONE });
    // Thread 1 comes, misses, and loses the core at the end of its quantum to thread 0, whose data are not there; at its own end thread 1 comes
    // back, has completed nothing when thread 0's data return, and keeps the core until its own data are there.
    let gates = &machine.observer(1).unwrap().gates;
    assert!(gates.contains(&Gate::Progress), "{gates:?}");
    let held = machine.observer(1).unwrap().switches.iter().find(|switch| switch.held != 0).unwrap();
    assert!(!held.foreground && held.moving == 0);
}

#[test]
fn k25_a_thread_whose_code_is_late_keeps_the_core_until_it_has_completed_something() {
    // Thread 0's data return 186 cycles after its miss is known. Thread 1 comes 15 after that, and its first instruction takes 300: from
    // 186 to 315 the change back is held up.
    let config = Config { quantum: 1000, ..two() };
    let mut machine = machine(&config, &[], |a| {
        fork(a, forever, |a| {
            a.load(R14, DATA);
            a.put(ld8(R15, R14));
            forever(a);
        });
    });
    (machine.observer_mut(0).unwrap().miss, machine.observer_mut(0).unwrap().goes_on) = (Some(186), true);
    machine.observer_mut(1).unwrap().late = Some(300);
    machine.run(Limits { cycles: 500, ..Limits::NONE });
    assert_eq!(causes(&machine, 1), [(true, SwitchCause::L3Miss), (false, SwitchCause::L3Return)]);
    let thread = machine.observer(1).unwrap();
    assert_eq!((thread.gates.as_slice(), thread.switches.last().unwrap().held), ([Gate::Progress].as_slice(), 129));
}

#[test]
fn data_that_a_thread_does_not_stand_still_for_return_while_it_runs() {
    let config = Config { quantum: 1000, ..two() };
    let mut machine = machine(&config, &[], |a| {
        fork(a, forever, |a| {
            a.load(R14, DATA);
            a.put(ld8(R15, R14));
            forever(a);
        });
    });
    machine.observer_mut(0).unwrap().miss = Some(200);
    machine.observer_mut(0).unwrap().goes_on = true;
    machine.run(Limits { cycles: 100, ..Limits::NONE });
    assert_eq!((causes(&machine, 0), machine.cpu(0).unwrap().urgency()), (vec![(false, SwitchCause::L3Miss)], 4));
    machine.run(Limits { cycles: 400, ..Limits::NONE });
    assert_eq!(machine.cpu(0).unwrap().urgency(), 5);
}
