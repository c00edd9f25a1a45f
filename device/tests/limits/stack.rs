//! A host thread with a small stack can do everything.

use std::thread;

use vm_pmu::companion::{self, Clock, parts};
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Builder;

use super::mixed;

/// An eighth of what Rust gives a thread; a quarter without optimising, where frames are larger.
const STACK: usize = if cfg!(debug_assertions) { 512 << 10 } else { 256 << 10 };

#[derive(Debug)]
struct Silent;

impl InterruptLine for Silent {
    fn raise(&self, _thread: usize, _counter: u32) {}
}

#[test]
fn machines_and_companions_are_made_and_used_on_a_small_stack() {
    for profile in parts::ALL {
        let threads = usize::from(profile.threads);
        let work = move || {
            let machine = Builder::new(profile.name).expect("a part").threads(threads).build(Silent).expect("the part has it");
            let followed = companion::Builder::of(profile).threads(threads).clock(Clock::Companion).build();
            let mut follower = followed.follower(0).expect("it is there");
            for number in 0..1000 {
                mixed::execute(&mut follower, &machine.thread(0).expect("it is there"), number);
            }
        };
        thread::Builder::new().name(profile.name.into()).stack_size(STACK).spawn(work).expect("it starts").join().expect("it ends");
    }
}
