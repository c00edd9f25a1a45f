//! Records of sampled instructions on POWER9, filled with what the companion tells, and what its PMU makes of them: KA5 of
//! `docs/notes/pipelines-power9.md`, worked out there.
//!
//! A load from a line of the second level has its data 15 cycles after its launch, from memory 340 where the row of its bank is open. It is
//! launched when it is issued, a cycle after its dispatch, and finds four cycles later that it misses. All before it has completed.

use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::{Context, Memory, Record, Sample, Traits};
use vm_pmu_arch::power9::encode::{EventCode, Options, encode};
use vm_pmu_arch::power9::{Mmcra, Sier, ThreadControl, spr};

use super::super::Clock;
use super::*;

/// Pages of 64 KiB, with no table in memory.
struct Direct;

impl PageTables for Direct {
    fn walk(&mut self, _address: u64) -> Walk {
        Walk::direct(16)
    }
}

/// A thread of POWER9 whose companion keeps time.
struct Sampling {
    machine: Machine<fn(usize, u32)>,
    companion: Companion,
}

/// MMCRA\[RAND_SAMP_ELIG] 100: what matches the match array is sampled, each time.
const MATCHED: u8 = 4;
/// MMCR0\[PMAE]: SIER has the sample.
const PMAE: u64 = 1 << (63 - 37);
/// A register that is ready.
const FREE: Register = Register(200);

impl Sampling {
    fn new() -> Sampling {
        let line: fn(usize, u32) = |_, _| {};
        let machine = topology::Builder::new("power9").unwrap().threads(4).build(line).unwrap();
        Sampling { machine, companion: Builder::new("power9").unwrap().threads(4).clock(Clock::Companion).always().build() }
    }

    fn write(&self, register: u16, value: u64) {
        self.machine.thread(0).unwrap().write(Address::Spr(register), value).unwrap();
    }

    fn read(&self, register: u16) -> u64 {
        self.machine.thread(0).unwrap().read(Address::Spr(register)).unwrap()
    }

    /// Counts the event of this code, and sets the threshold.
    fn program(&self, code: u64, (start, end): (u8, u8)) {
        let mut control = ThreadControl::default();
        control.set_run(true);
        self.machine.thread(0).unwrap().set_context(Context::power(0, control.bits()));
        let encoding = encode(&[EventCode::from_bits(code)], Options::default()).unwrap();
        let mut mmcra = Mmcra::default();
        mmcra.set_sample_enable(true);
        mmcra.set_rand_samp_elig(MATCHED);
        mmcra.set_thresh_event_sel(1);
        mmcra.set_thresh_start(start);
        mmcra.set_thresh_end(end);
        for (register, value) in [(spr::MMCR1, encoding.mmcr1), (spr::MMCRA, mmcra.bits()), (spr::MMCR0, PMAE)] {
            self.write(register, value);
        }
    }
}

/// What a thread executes.
struct Thread<'a> {
    sampling: &'a Sampling,
    follower: Follower<'a>,
}

impl<'a> Thread<'a> {
    fn new(sampling: &'a Sampling) -> Thread<'a> {
        let mut follower = sampling.companion.follower(0).unwrap();
        follower.sync(&sampling.machine.thread(0).unwrap().demand());
        Thread { sampling, follower }
    }

    /// Executes an instruction that needs no fetch, and reports it, as the one that is sampled or as another.
    fn run(&mut self, instruction: &Instruction<'_>, sampled: bool) {
        let pmu = self.sampling.machine.thread(0).unwrap();
        self.follower.execute(instruction, &mut Direct);
        self.follower.deliver(&pmu, &[], |outcome| {
            let totals = pmu.totals();
            totals.add(Signal::InstructionsRetired, 1);
            totals.add(Signal::MatchedInstructions, u64::from(sampled));
            let memory = instruction.accesses.first().map(|access| Memory {
                address: access.address,
                size: access.size,
                load: access.kind == AccessKind::Load,
                store: access.kind == AccessKind::Store,
                latency: outcome.latency,
                source: outcome.source,
                translation: outcome.translation,
            });
            let sample = Sample {
                traits: outcome.traits | if sampled { Traits::MATCHED } else { Traits::empty() },
                walk_source: outcome.walk_source.reload_code(),
                store_outcome: outcome.store_outcome,
                page_bits: outcome.page_bits,
                fabric: vm_pmu_arch::feed::Fabric { command: outcome.command, ..Default::default() },
                stages: outcome.stages,
                stall: outcome.stall,
                stall_reason: outcome.stall_reason,
                ..Sample::default()
            };
            pmu.record(&Record { memory, sample, cycles: outcome.cycles.unwrap_or(1), ..Record::at(0x1000) });
            pmu.service();
        });
    }

    fn load(&mut self, address: u64, sampled: bool) {
        let accesses = [load(address)];
        let operation = Some(Operation { width: 8, addresses: &[FREE], writes: &[Register(1)], ..Operation::default() });
        self.run(&Instruction { class: Class::Load, operation, accesses: &accesses, ..Instruction::default() }, sampled);
    }

    fn store(&mut self, address: u64, sampled: bool) {
        let accesses = [store(address)];
        let operation = Some(Operation { width: 8, addresses: &[FREE], reads: &[FREE], ..Operation::default() });
        self.run(&Instruction { class: Class::Store, operation, accesses: &accesses, ..Instruction::default() }, sampled);
    }

    /// Everything before completes before what comes.
    fn settle(&mut self) {
        self.run(&Instruction { class: Class::Serializing, operation: Some(Operation::default()), ..Instruction::default() }, false);
    }
}

/// What a load from memory counts of the event of this code.
fn of_load_from_memory(code: u64) -> u64 {
    let sampling = Sampling::new();
    sampling.program(code, (0, 0));
    let mut thread = Thread::new(&sampling);
    load_from_memory(&mut thread);
    (0..4).map(|number| sampling.read(spr::PMC1 + number)).sum()
}

/// KA5: the page and the row of the bank are those of a load before.
fn load_from_memory(thread: &mut Thread<'_>) {
    thread.load(0x10_0000, false);
    thread.settle();
    thread.load(0x10_0400, true);
    assert_eq!(thread.follower.outcome().latency, 340);
}

#[test]
fn ka5_the_events_of_a_load_from_memory() {
    // The load is dispatched at 0 and issued at 1; found missing at 5 and here at 341, completed at 343. It is the oldest all the time.
    let rows = [
        // PM_MRK_LD_MISS_L1_CYC, PM_MRK_LD_MISS_EXPOSED_CYC: 341 - 5.
        (0x1_D156, 336),
        (0x1_013E, 336),
        // PM_MRK_STALL_CMPLU_CYC: 341 - 1. PM_MRK_NTC_CYC: 343 - 0.
        (0x3_013E, 340),
        (0x2_011C, 343),
        // PM_MRK_DATA_FROM_LMEM and its cycles; PM_MRK_DATA_FROM_L3MISS_CYC.
        (0x3_D142, 1),
        (0x4_D128, 336),
        (0x1_415E, 336),
        // PM_MRK_DATA_FROM_L2, PM_MRK_DATA_FROM_L3: it came from neither.
        (0x2_C126, 0),
        (0x4_D142, 0),
        // PM_MRK_LD_MISS_L1, PM_MRK_L1_RELOAD_VALID, PM_MRK_L2_RC_DISP, PM_MRK_L2_RC_DONE, PM_MRK_LSU_FIN.
        (0x2_01E2, 1),
        (0x1_01EA, 1),
        (0x2_0114, 1),
        (0x3_012A, 1),
        (0x4_0132, 1),
    ];
    for (code, expected) in rows {
        assert_eq!(of_load_from_memory(code), expected, "{code:X}h");
    }
}

/// Codes of MMCRA\[THRESH_START, THRESH_END].
const DISPATCHED: u8 = 2;
const ISSUED: u8 = 3;
const FINISHED: u8 = 4;
const COMPLETED: u8 = 5;
const FIRST_MISS: u8 = 6;
const RELOAD: u8 = 7;
const NEXT_TO_COMPLETE: u8 = 12;
const SECOND_DISPATCHED: u8 = 13;
const SECOND_DONE: u8 = 14;
const NEXT_TO_FINISH: u8 = 15;

#[test]
fn ka5_thresholds_between_stages() {
    let rows = [
        // 84 times four to the power of one: 336.
        (FIRST_MISS, RELOAD, (84, 1)),
        (SECOND_DISPATCHED, SECOND_DONE, (84, 1)),
        (DISPATCHED, ISSUED, (1, 0)),
        (DISPATCHED, FIRST_MISS, (5, 0)),
        (ISSUED, FIRST_MISS, (4, 0)),
        // 340 and 343: 85 and 3/4 times four.
        (ISSUED, FINISHED, (85, 1)),
        (NEXT_TO_COMPLETE, COMPLETED, (85, 1)),
        (NEXT_TO_FINISH, FINISHED, (85, 1)),
        (FINISHED, COMPLETED, (2, 0)),
    ];
    for (start, end, expected) in rows {
        let sampling = Sampling::new();
        sampling.program(0x4_01E0, (start, end));
        load_from_memory(&mut Thread::new(&sampling));
        let mmcra = Mmcra::written(sampling.read(spr::MMCRA));
        assert_eq!((mmcra.thresh_ctr_mantissa(), mmcra.thresh_ctr_exp()), expected, "{start:X} to {end:X}");
    }
}

#[test]
fn ka5_sier_says_what_held_the_load_up() {
    let sampling = Sampling::new();
    sampling.program(0x4_01E0, (0, 0));
    load_from_memory(&mut Thread::new(&sampling));
    let sier = Sier::written(sampling.read(spr::SIER));
    assert_eq!(sier.fin_stall_reason(), 4);
    assert!(sier.iss_stall() && sier.cmpl_stall() && sier.pempty() && sier.cmpl());
    // Local memory; not merged, not forwarded.
    assert_eq!((sier.ldst(), sier.data_src(), sier.load_merge(), sier.st_fwd()), (4, 1, false, false));
}
