//! `core-collection`: a core and its two threads post what they count, separately by state (docs/notes/power9-nest.md, N28 to N30).
//!
//! A cell grows by one for 512 counts. Each thread executes as many instructions in problem state as a hundred of these steps, and as many
//! outside it.

use super::Nest;
use super::firmware::{INIT, PARAMETER, START, STOP, SUCCESS};
use super::posted::load_double;
use crate::power::{CPU, Kernel};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, CR0, Gpr, Label, R3, R4, R5, R13, R15, R16, R17, R18};
use vm_pmu_engines::power::registers::spr;

/// The type of a core's counters in calls, and of a core's and a thread's units in the tree.
const CORE: u64 = 2;
const CORE_UNIT: u64 = 4;
const THREAD_UNIT: u64 = 1;
/// LDBAR, and its bit 0: the thread posts.
const LDBAR: u16 = 850;
const ENABLE: u64 = 1 << 63;
/// The memory of the core, and of the first thread; that of the second follows.
const CORE_MEMORY: u64 = 0x60_0000;
const THREAD_MEMORY: u64 = 0x61_0000;
const MEMORY: u64 = 0x2000;
const CPUS: u32 = 2;
/// Turns of a loop of two instructions that are, with the two around it, a hundred times 512.
const TURNS: u64 = (100 * 512 - 2) / 2;

/// The events, in the order of their cells here.
const EVENTS: [&str; 5] = ["CPM_INST", "CPM_PCYC", "CPM_CS_INST_USER", "CPM_CS_PCYC_USER", "CPM_CS_INST_KERNEL"];
const INSTRUCTIONS: usize = 0;
const CYCLES: usize = 1;
const USER: usize = 2;
const USER_CYCLES: usize = 3;
const KERNEL: usize = 4;

struct Guest {
    k: Kernel,
    nest: Nest,
    /// Offsets of the events in a core's memory, and in a thread's.
    offsets: [u64; 2],
    user: Label,
}

impl Guest {
    fn meet(&mut self) {
        let counter = self.k.reserve(8);
        self.k.barrier(counter, CPUS);
    }

    fn first(&mut self, body: impl FnOnce(&mut Guest)) {
        let other = self.k.a.label();
        self.k.a.ld(R17, CPU, R13);
        self.k.a.cmpdi(CR0, R17, 0);
        self.k.a.bne(other);
        body(self);
        self.k.a.here(other);
    }

    fn find(&mut self) {
        for (kind, offsets) in [CORE_UNIT, THREAD_UNIT].into_iter().zip(self.offsets) {
            self.nest.tree.unit(&mut self.k, kind, "CPM_");
            for (cell, event) in (0..).step_by(8).zip(EVENTS) {
                // Of these a thread posts what it counts in problem state.
                let is_there = kind == CORE_UNIT || event.ends_with("_USER");
                if is_there {
                    self.nest.tree.event(&mut self.k, event, 0);
                    self.k.a.load(R5, offsets);
                    self.k.a.std(R3, cell, R5);
                    self.k.check_is(&format!("the scale of {event} of unit type {kind}"), R4, 512);
                }
            }
        }
    }

    /// A call about this CPU's core.
    fn call(&mut self, number: u64, said: &str) {
        self.k.a.load(R3, CORE);
        self.k.a.mfspr(R4, spr::PIR);
        self.nest.firmware.call(&mut self.k, number);
        self.k.check_is(said, R3, SUCCESS);
    }

    /// GPR `to` becomes what the event's cell of the core holds.
    fn of_core(&mut self, to: Gpr, event: usize) {
        self.k.a.load(R3, CORE_MEMORY);
        self.posted(to, self.offsets[0], event);
    }

    /// The same of this CPU's thread.
    fn of_thread(&mut self, to: Gpr, event: usize) {
        self.k.a.ld(R3, CPU, R13);
        self.k.a.mulli(R3, R3, MEMORY as i64);
        self.k.a.load(R5, THREAD_MEMORY);
        self.k.a.add(R3, R3, R5);
        self.posted(to, self.offsets[1], event);
    }

    fn posted(&mut self, to: Gpr, offsets: u64, event: usize) {
        self.k.a.load(R5, offsets);
        self.k.a.ld(R5, 8 * event as i64, R5);
        self.k.a.add(R5, R5, R3);
        load_double(&mut self.k, to, 0, R5);
    }

    /// As many instructions as a hundred steps are, in problem state.
    fn problem_state(&mut self) {
        self.k.a.load(R15, TURNS);
        self.k.enter_user(self.user, 0);
    }

    /// As many in hypervisor state.
    fn hypervisor_state(&mut self) {
        self.k.a.load(R15, TURNS);
        self.k.a.mtctr(R15);
        let again = self.k.a.mark();
        self.k.a.nop();
        self.k.a.bdnz(again);
    }

    fn check_core(&mut self, label: &str, event: usize, least: u64, most: u64) {
        self.of_core(R16, event);
        self.k.check(&format!("{label}: {} of the core", EVENTS[event]), R16, least, most);
    }

    fn check_thread(&mut self, label: &str, event: usize, least: u64, most: u64) {
        self.of_thread(R16, event);
        self.k.check(&format!("{label}: {} of the thread", EVENTS[event]), R16, least, most);
    }

    /// This CPU's LDBAR.
    fn write_ldbar(&mut self, enable: bool) {
        self.k.a.load(R4, 0);
        if enable {
            self.k.a.ld(R3, CPU, R13);
            self.k.a.mulli(R3, R3, MEMORY as i64);
            self.k.a.load(R4, ENABLE | THREAD_MEMORY);
            self.k.a.add(R4, R4, R3);
        }
        self.k.a.mr(R18, R4);
        self.k.a.mtspr(LDBAR, R18);
        self.k.a.mfspr(R16, LDBAR);
        self.k.check_same("LDBAR reads as it was written", R16, R18);
    }

    fn refusals(&mut self) {
        for (label, number, right) in [("INIT", INIT, PARAMETER), ("START", START, PARAMETER), ("STOP", STOP, PARAMETER)] {
            self.k.a.load(R3, CORE);
            // The PIR is the second argument, of INIT the third.
            self.k.a.load(R4, 0x123);
            self.k.a.load(R5, 0x123);
            self.nest.firmware.call(&mut self.k, number);
            self.k.check_is(&format!("{label} of a core that is none"), R3, right);
        }
    }

    fn init(&mut self) {
        self.k.a.load(R3, CORE);
        self.k.a.load(R4, CORE_MEMORY);
        self.k.a.mfspr(R5, spr::PIR);
        self.nest.firmware.call(&mut self.k, INIT);
        self.k.check_is("INIT says where the core posts", R3, SUCCESS);
    }
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::with_tree(little_endian, CPUS.into());
    let nest = Nest::new(&mut k);
    let user = problem_code(&mut k);
    let offsets = [(); 2].map(|()| k.reserve(8 * EVENTS.len() as u64));
    k.main();
    let mut guest = Guest { k, nest, offsets, user };
    guest.first(|guest| {
        guest.nest.open(&mut guest.k, 0);
        guest.find();
        guest.refusals();
        guest.init();
    });
    guest.meet();
    guest.write_ldbar(true);
    guest.problem_state();
    guest.check_core("before START", USER, 0, 0);
    guest.check_thread("before START", USER, 0, 0);
    guest.meet();
    guest.first(|guest| guest.call(START, "START of the core"));
    guest.meet();
    guest.problem_state();
    guest.hypervisor_state();
    guest.meet();
    guest.first(|guest| guest.call(STOP, "STOP of the core"));
    guest.meet();
    // Two threads, a hundred steps each in either state, and what it takes to come and go: less than three steps.
    guest.check_core("both threads", USER, 200, 200);
    guest.check_core("both threads", USER_CYCLES, 200, 200);
    guest.check_core("both threads", KERNEL, 200, 203);
    guest.check_core("both threads", INSTRUCTIONS, 400, 403);
    guest.check_core("both threads", CYCLES, 400, 403);
    guest.check_thread("one thread", USER, 100, 100);
    guest.check_thread("one thread", USER_CYCLES, 100, 100);
    guest.meet();
    // Stopped, nothing is counted.
    guest.problem_state();
    guest.check_core("after STOP", USER, 200, 200);
    guest.meet();
    guest.first(|guest| guest.call(START, "START again"));
    guest.meet();
    // The first thread no longer has its own memory: what it counted is posted before.
    guest.first(|guest| guest.write_ldbar(false));
    guest.problem_state();
    guest.hypervisor_state();
    guest.meet();
    guest.first(|guest| guest.call(STOP, "STOP again"));
    guest.meet();
    guest.check_core("again", USER, 400, 400);
    guest.first(|guest| guest.check_thread("without LDBAR", USER, 100, 100));
    guest.meet();
    guest.k.end_main();
    guest.k.finish()
}

/// Problem state: GPR 15 turns of a loop.
fn problem_code(k: &mut Kernel) -> Label {
    k.a.routine("problem_state_loop");
    let entry = k.a.mark();
    k.a.mtctr(R15);
    let again = k.a.mark();
    k.a.nop();
    k.a.bdnz(again);
    k.a.sc();
    entry
}
