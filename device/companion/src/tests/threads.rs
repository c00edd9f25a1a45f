//! Threads that share a core.

use vm_pmu_arch::feed::Signal;

use super::{Rig, follow};
use crate::{Builder, Class, Clock, Companion, Follower, Instruction, Operation, Register};

/// Returns two cores of four threads of Knights Landing, none of which runs.
fn tile() -> Companion {
    Builder::new("knl").unwrap().threads(8).clock(Clock::Companion).build()
}

/// Returns the cycles that `follower` takes for 200 additions, each with registers of its own.
fn additions(rig: &Rig, follower: &mut Follower<'_>) -> u64 {
    let before = rig.get(follower.number(), Signal::Cycles);
    for number in 0..200 {
        let register = [Register(10 + number % 80)];
        let operation = Operation { width: 8, reads: &register, writes: &register, ..Operation::default() };
        rig.run(follower, &Instruction { class: Class::Simple, operation: Some(operation), ..Instruction::default() });
    }
    rig.get(follower.number(), Signal::Cycles) - before
}

#[test]
fn a_thread_that_runs_has_its_turns_even_if_it_is_not_followed() {
    let (companion, rig) = (tile(), Rig::new(8));
    let (mut here, there) = (follow(&companion, 0), companion.follower(3).unwrap());
    assert_eq!(additions(&rig, &mut here), 100);
    there.set_halted(false);
    // In cycles 100, 102 to 298.
    assert_eq!(additions(&rig, &mut here), 199);
    there.set_halted(true);
    assert_eq!(additions(&rig, &mut here), 100);
}

#[test]
fn threads_of_different_cores_do_not_compete() {
    let (companion, rig) = (tile(), Rig::new(8));
    let mut here = follow(&companion, 0);
    (4..8).for_each(|number| companion.follower(number).unwrap().set_halted(false));
    assert_eq!(additions(&rig, &mut here), 100);
}

#[test]
fn a_followed_thread_runs_from_its_first_instruction_on() {
    let (companion, rig) = (tile(), Rig::new(8));
    let (mut here, mut there) = (follow(&companion, 0), follow(&companion, 1));
    assert_eq!(additions(&rig, &mut there), 100);
    // It begins in the cycle that the other thread has reached, which is its own turn: 100, 102 to 298.
    assert_eq!(additions(&rig, &mut here), 199);
}

#[test]
fn a_thread_that_was_away_for_ever_goes_on_and_can_be_saved() {
    let (companion, rig) = (Builder::new("montecito").unwrap().clock(Clock::Companion).build(), Rig::new(1));
    let mut here = follow(&companion, 0);
    here.watch_third_level(true);
    for _ in 0..3 {
        super::bundles::wander(1, 20, |instruction| rig.run(&mut here, instruction));
        here.resume(u64::MAX);
    }
    let bytes = companion.save(&[&here]).unwrap();
    assert_eq!(companion.restore(&bytes, &mut [&mut here]), Ok(()));
}
