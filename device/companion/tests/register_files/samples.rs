//! Records of sampled instructions on POWER9, filled in by the companion, and the PMU's use of them: KA5 of
//! `docs/notes/pipelines-power9.md`, worked out there.
//!
//! A load from a line of the second level has its data 15 cycles after its launch, from memory 340 where the row of its bank is open. It is
//! launched when it is issued, a cycle after its dispatch, and its miss is known four cycles later. All before it has completed.

use vm_pmu_arch::access::Address;
use vm_pmu_arch::feed::{Branch, Context, Memory, Record, Sample, Traits};
use vm_pmu_arch::power9::encode::{EventCode, Options, encode};
use vm_pmu_arch::power9::{Mmcra, Sier, ThreadControl, spr};

use super::*;
use vm_pmu_companion::Clock;

/// Pages of 64 KiB, whose entry is at an address, or for which no table is read.
struct Direct(Option<u64>);

impl PageTables for Direct {
    fn walk(&mut self, _address: u64) -> Walk {
        Walk { entries: [self.0.unwrap_or(0), 0, 0, 0, 0], levels: u8::from(self.0.is_some()), ..Walk::direct(16) }
    }
}

/// A thread of POWER9 whose companion keeps time.
pub(super) struct Sampling {
    machine: Machine<fn(usize, u32)>,
    pub(super) companion: Companion,
}

/// MMCRA\[RAND_SAMP_ELIG] 100: instructions that match the match array are sampled, each time.
const MATCHED: u8 = 4;
/// MMCR0\[PMAE]: SIER has the sample.
const PMAE: u64 = 1 << (63 - 37);
/// A register that is ready.
pub(super) const FREE: Register = Register(200);

impl Sampling {
    /// Returns two chips of one core.
    fn new() -> Sampling {
        Sampling::of(2, 1)
    }

    /// Returns `chips` chips of `cores` cores.
    pub(super) fn of(chips: usize, cores: usize) -> Sampling {
        Sampling::built(Builder::new("power9").unwrap(), chips, cores)
    }

    /// Returns `chips` chips of `cores` cores, with further settings of the builder.
    fn built(builder: Builder, chips: usize, cores: usize) -> Sampling {
        let Rig { machine } = Rig::new("power9", chips * cores, 4);
        let companion = builder.packages(chips).threads(4 * cores).clock(Clock::Companion).always().build();
        Sampling { machine, companion }
    }

    /// Returns three chips of two pairs of cores, the third in another group, with buffers on their memory, 256 MiB each, and a pair that
    /// lends its third level.
    fn large() -> Sampling {
        let builder = Builder::new("power9").unwrap().packages_per_group(2).buffered().lent_clusters(1);
        Sampling::built(builder.memory_per_package(256 << 20), 3, 4)
    }

    fn write(&self, register: u16, value: u64) {
        self.machine.thread(0).unwrap().write(Address::Spr(register), value).unwrap();
    }

    pub(super) fn read(&self, register: u16) -> u64 {
        self.machine.thread(0).unwrap().read(Address::Spr(register)).unwrap()
    }

    /// Counts the event with this code, and sets the threshold.
    pub(super) fn program(&self, code: u64, stages: (u8, u8)) {
        self.program_all(&[code], stages);
    }

    /// Counts several events, and sets the threshold.
    pub(super) fn program_all(&self, codes: &[u64], (start, end): (u8, u8)) {
        let mut control = ThreadControl::default();
        control.set_run(true);
        self.machine.thread(0).unwrap().set_context(Context::power(0, control.bits()));
        let codes: Vec<_> = codes.iter().map(|code| EventCode::from_bits(*code)).collect();
        let encoding = encode(&codes, Options::default()).unwrap();
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

/// A thread that executes instructions.
pub(super) struct Thread<'a> {
    sampling: &'a Sampling,
    pub(super) follower: Follower<'a>,
    /// Where the entry of the next page is read.
    table: Option<u64>,
}

impl<'a> Thread<'a> {
    pub(super) fn new(sampling: &'a Sampling) -> Thread<'a> {
        Thread::numbered(sampling, 0)
    }

    pub(super) fn numbered(sampling: &'a Sampling, number: usize) -> Thread<'a> {
        let mut follower = sampling.companion.follower(number).unwrap();
        follower.sync(&sampling.machine.thread(number).unwrap().demand());
        Thread { sampling, follower, table: None }
    }

    /// Executes an instruction that needs no fetch, and reports it as sampled or not.
    pub(super) fn run(&mut self, instruction: &Instruction<'_>, sampled: bool) {
        let pmu = self.sampling.machine.thread(self.follower.number()).unwrap();
        self.follower.execute(instruction, &mut Direct(self.table));
        self.follower.deliver(&pmu, &[], |outcome| {
            let totals = pmu.totals();
            totals.add(Signal::InstructionsRetired, 1);
            totals.add(Signal::MatchedInstructions, u64::from(sampled));
            let branch = instruction.transfer.map(|transfer| Branch {
                kind: transfer.kind,
                taken: transfer.taken,
                target: transfer.target,
                prediction: outcome.prediction,
            });
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
                reload_source: outcome.reload_code(),
                walk_source: outcome.walk_code(),
                store_outcome: outcome.store_outcome,
                page_bits: outcome.page_bits,
                fabric: vm_pmu_arch::feed::Fabric {
                    command: outcome.command,
                    scope: outcome.scope,
                    retries: outcome.retries,
                    tagged_intervention: outcome.tagged_intervention(),
                    ..Default::default()
                },
                stages: outcome.stages,
                stall: outcome.stall,
                stall_reason: outcome.stall_reason,
                flush: outcome.flush,
                ..Sample::default()
            };
            pmu.record(&Record { branch, memory, sample, cycles: outcome.cycles.unwrap_or(1), ..Record::at(0x1000) });
            pmu.service();
        });
    }

    pub(super) fn load(&mut self, address: u64, sampled: bool) {
        let accesses = [load(address)];
        let operation = Some(Operation { width: 8, addresses: &[FREE], writes: &[Register(1)], ..Operation::default() });
        self.run(&Instruction { class: Class::Load, operation, accesses: &accesses, ..Instruction::default() }, sampled);
    }

    fn store(&mut self, address: u64, sampled: bool) {
        let accesses = [store(address)];
        let operation = Some(Operation { width: 8, addresses: &[FREE], reads: &[FREE], ..Operation::default() });
        self.run(&Instruction { class: Class::Store, operation, accesses: &accesses, ..Instruction::default() }, sampled);
    }

    /// Completes everything before later instructions.
    pub(super) fn settle(&mut self) {
        self.run(&Instruction { class: Class::Serializing, operation: Some(Operation::default()), ..Instruction::default() }, false);
    }
}

/// Returns the first thread's count of an event, while it and a thread of another chip execute.
fn counted(code: u64, execute: impl FnOnce(&mut Thread<'_>, &mut Thread<'_>)) -> u64 {
    let sampling = Sampling::new();
    sampling.program(code, (0, 0));
    execute(&mut Thread::new(&sampling), &mut Thread::numbered(&sampling, 4));
    (0..4).map(|number| sampling.read(spr::PMC1 + number)).sum()
}

/// Runs KA5: the page and the row of the bank are those of an earlier load.
fn load_from_memory(thread: &mut Thread<'_>) {
    thread.load(0x10_0000, false);
    thread.settle();
    thread.load(0x10_0400, true);
    assert_eq!(thread.follower.outcome().latency, 340);
}

#[test]
fn ka5_the_events_of_a_load_from_memory() {
    // The load is dispatched at 0 and issued at 1; its miss is known at 5, its data arrive at 341, and it completes at 343. It is always
    // the oldest.
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
        assert_eq!(counted(code, |thread, _| load_from_memory(thread)), expected, "{code:X}h");
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

/// PM_MRK_ST_L2DISP_TO_CMPL_CYC, PM_MRK_ST_DRAIN_TO_L2DISP_CYC, PM_MRK_FAB_RSP_RWITM_CYC, PM_MRK_FAB_RSP_DCLAIM and its cycles, and
/// PM_MRK_ST_CMPL_INT.
const OF_STORES: [u64; 6] = [0x1_F150, 0x3_F150, 0x4_F150, 0x3_0154, 0x2_F152, 0x3_0134];

#[test]
fn a_store_to_a_line_of_the_second_level_needs_nothing_from_elsewhere() {
    let execute = |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
        thread.load(0x10_0000, false);
        thread.settle();
        thread.store(0x10_0000, true);
    };
    // It leaves its queue a cycle after its completion, and the second level takes it up a cycle later, for 15.
    assert_eq!(OF_STORES.map(|code| counted(code, execute)), [15, 1, 0, 0, 0, 0]);
}

#[test]
fn a_store_waits_for_the_one_before_it_on_its_way_to_the_second_level() {
    let execute = |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
        thread.load(0x10_0000, false);
        thread.settle();
        thread.store(0x10_0000, false);
        thread.store(0x10_0008, true);
    };
    // Both complete at 7. The first leaves its queue at 8 and is taken up at 9; the second leaves at 9 and is taken up at 11.
    assert_eq!(OF_STORES.map(|code| counted(code, execute)), [15, 2, 0, 0, 0, 0]);
}

#[test]
fn a_store_to_a_line_that_no_cache_has_reads_it_to_modify_it() {
    let execute = |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
        thread.load(0x10_0000, false);
        thread.settle();
        thread.store(0x10_0400, true);
    };
    assert_eq!(OF_STORES.map(|code| counted(code, execute)), [340, 1, 340, 0, 0, 0]);
}

#[test]
fn a_store_to_a_line_that_others_share_claims_it() {
    let execute = |thread: &mut Thread<'_>, other: &mut Thread<'_>| {
        thread.load(0x10_0000, false);
        other.load(0x10_0000, false);
        thread.settle();
        thread.store(0x10_0000, true);
    };
    // The answer of other caches takes 100 cycles.
    assert_eq!(OF_STORES.map(|code| counted(code, execute)), [100, 1, 0, 1, 100, 0]);
}

#[test]
fn a_read_of_a_clean_line_of_another_chip_is_answered_from_state_t() {
    // PM_MRK_FAB_RSP_RD_T_INTV. A line that the other chip has modified does not count, nor one from memory.
    let read = |before: fn(&mut Thread<'_>)| {
        counted(0x1_015E, |thread, other| {
            before(other);
            thread.load(0x10_0000, true);
        })
    };
    assert_eq!([read(|other| other.load(0x10_0000, false)), read(|other| other.store(0x10_0000, false)), read(|_| {})], [1, 0, 0]);
}

#[test]
fn a_store_to_a_line_that_another_chip_has_modified_gets_it_from_there() {
    let execute = |thread: &mut Thread<'_>, other: &mut Thread<'_>| {
        thread.load(0x10_0400, false);
        other.store(0x10_0000, false);
        thread.settle();
        thread.store(0x10_0000, true);
    };
    // 100 cycles from another cache, and 310 more from another chip.
    assert_eq!(OF_STORES.map(|code| counted(code, execute)), [410, 1, 410, 0, 0, 1]);
}

#[test]
fn a_clean_line_that_another_core_read_last_comes_from_there() {
    // PP64: PM_MRK_DATA_FROM_L21_SHR and its cycles; 100 from another pair of cores, four of which are before the miss is known. A thread
    // of the own core has no line to supply.
    let count = |code: u64, of: usize| {
        let sampling = Sampling::of(1, 4);
        sampling.program(code, (0, 0));
        let (mut thread, mut other) = (Thread::new(&sampling), Thread::numbered(&sampling, of));
        thread.load(0x10_0400, false);
        other.load(0x10_0000, false);
        thread.settle();
        thread.load(0x10_0000, true);
        (0..4).map(|number| sampling.read(spr::PMC1 + number)).sum::<u64>()
    };
    assert_eq!([0x2D14E, 0x1D154].map(|code| count(code, 8)), [1, 96]);
    assert_eq!([0x2D14E, 0x1D154].map(|code| count(code, 1)), [0, 0]);
}

/// Returns thread 0's count of an event on a large machine, for a load or a store of this line after thread `other` has prepared it, and
/// the sample.
fn far(code: u64, line: u64, stores: bool, other: usize, prepare: impl FnOnce(&mut Thread<'_>)) -> (u64, Sier) {
    let sampling = Sampling::large();
    sampling.program(code, (0, 0));
    let (mut thread, mut other) = (Thread::new(&sampling), Thread::numbered(&sampling, other));
    thread.load(0x10_0400, false);
    prepare(&mut other);
    thread.settle();
    if stores {
        thread.store(line, true);
    } else {
        thread.load(line, true);
    }
    ((0..4).map(|number| sampling.read(spr::PMC1 + number)).sum(), Sier::written(sampling.read(spr::SIER)))
}

/// Distance of lines of one set of the second level, of eight ways, and of the third, of twenty.
const SET: u64 = 512 << 10;

#[test]
fn a_load_from_far_away_is_counted_and_timed_by_its_place() {
    const LINE: u64 = 0x40_0000;
    const CHIP: u64 = 256 << 20;
    type Prepare = fn(&mut Thread<'_>, u64);
    type Row = ([u64; 2], usize, u64, Prepare, u64, (u8, u8));
    let nothing: Prepare = |_, _| {};
    let reads: Prepare = |other, line| other.load(line, false);
    let writes: Prepare = |other, line| other.store(line, false);
    let reads_to_third: Prepare = |other, line| (0..9).for_each(|number| other.load(line + number * SET, false));
    let writes_to_third: Prepare = |other, line| {
        other.store(line, false);
        (1..9).for_each(|number| other.load(line + number * SET, false));
    };
    let reads_to_lent: Prepare = |other, line| (0..29).for_each(|number| other.load(line + number * SET, false));
    let writes_to_lent: Prepare = |other, line| {
        other.store(line, false);
        (1..29).for_each(|number| other.load(line + number * SET, false));
    };
    let flushes: Prepare = |other, line| {
        other.load(line, false);
        let accesses = [Access { kind: AccessKind::Flush, ..load(line) }];
        other.run(
            &Instruction { class: Class::Store, operation: Some(Operation::default()), accesses: &accesses, ..Instruction::default() },
            false,
        );
    };
    // The event and its cycles; the thread that prepares the line, the line's chip, and how; the latency of a load, four cycles of which
    // are before the miss is known; and SIER[LDST, DATA_SRC].
    let rows: [Row; 10] = [
        // PM_MRK_DATA_FROM_L31_SHR, _MOD; _L31_ECO_SHR, _MOD: another pair of the chip.
        ([0x4_D124, 0x3_5156], 8, 0, reads_to_third, 100, (5, 2)),
        ([0x2_D144, 0x1_D140], 8, 0, writes_to_third, 100, (5, 3)),
        ([0x2_D14C, 0x1_D142], 8, 0, reads_to_lent, 100, (5, 4)),
        ([0x4_D144, 0x3_5158], 8, 0, writes_to_lent, 100, (5, 5)),
        // PM_MRK_DATA_FROM_DL2L3_SHR, _MOD: 620 more from the other group.
        ([0x1_D150, 0x2_C128], 32, 0, reads, 720, (6, 2)),
        ([0x3_D14E, 0x4_D12E], 32, 0, writes, 720, (6, 3)),
        // PM_MRK_DATA_FROM_LL4, _RL4, _DL4: 213, 310 more, 620 more.
        ([0x1_D14C, 0x2_C12E], 8, 0, flushes, 213, (4, 0)),
        ([0x3_515C, 0x4_D12A], 8, 1, flushes, 523, (4, 2)),
        ([0x1_D152, 0x2_C12C], 8, 2, flushes, 833, (4, 4)),
        // PM_MRK_DATA_FROM_DMEM: 340, 50 to open the page, 620 more.
        ([0x3_D14C, 0x4_E11E], 8, 2, nothing, 1010, (4, 5)),
    ];
    for ([event, cycles], other, chip, prepare, latency, place) in rows {
        let line = LINE + chip * CHIP;
        let (count, sier) = far(event, line, false, other, |other| prepare(other, line));
        assert_eq!((count, (sier.ldst(), sier.data_src())), (1, place), "{event:X}h");
        assert_eq!(far(cycles, line, false, other, |other| prepare(other, line)).0, latency - 4, "{cycles:X}h");
    }
}

#[test]
fn a_request_that_was_not_sent_far_enough_is_counted_as_often_as_it_was_repeated() {
    const DISTANT: u64 = 512 << 20;
    // PM_MRK_FAB_RSP_RD_RTY, _RWITM_RTY: chip, group and system. SIER[EXT] 6: the system, which was larger than the first scope.
    let (count, sier) = far(0x4_015E, DISTANT, false, 8, |_| {});
    assert_eq!((count, sier.ext()), (2, 6));
    assert_eq!(far(0x2_015E, DISTANT, true, 8, |_| {}).0, 2);
    // PM_MRK_FAB_RSP_CLAIM_RTY: a pair of the chip's group reads the line that the chip has read.
    let sampling = Sampling::large();
    sampling.program(0x3_015E, (0, 0));
    let (mut thread, mut other) = (Thread::new(&sampling), Thread::numbered(&sampling, 16));
    thread.load(0x10_0000, false);
    other.load(0x10_0000, false);
    thread.settle();
    thread.store(0x10_0000, true);
    assert_eq!((0..4).map(|number| sampling.read(spr::PMC1 + number)).sum::<u64>(), 1);
}

#[test]
fn a_load_that_takes_the_data_of_a_store_is_told_as_one() {
    let execute = |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
        thread.load(0x10_0000, false);
        thread.store(0x10_0008, false);
        thread.load(0x10_0008, true);
    };
    // PM_MRK_ST_FWD.
    assert_eq!(counted(0x3_012C, execute), 1);
    // A load of bytes next to the store is not forwarded.
    let execute = |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
        thread.load(0x10_0000, false);
        thread.store(0x10_0008, false);
        thread.load(0x10_0010, true);
    };
    assert_eq!(counted(0x3_012C, execute), 0);
}

#[test]
fn the_decimal_unit_finishes_its_instructions() {
    let of = |class: Class| {
        counted(0x2_0132, |thread, _| {
            let operation = Some(Operation { width: 8, reads: &[FREE], writes: &[Register(1)], ..Operation::default() });
            thread.run(&Instruction { class, operation, ..Instruction::default() }, true);
        })
    };
    // PM_MRK_DFU_FIN.
    assert_eq!([of(Class::Decimal), of(Class::FloatAdd)], [1, 0]);
}

/// Loads lines 0 to 2 of a page, so that the prefetcher requests lines 3 and 4.
fn stream(thread: &mut Thread<'_>, page: u64) {
    (0..3).for_each(|line| thread.load(page + 128 * line, false));
    thread.settle();
}

#[test]
fn the_first_use_of_a_prefetched_line_is_told_apart() {
    // PM_MRK_DATA_FROM_L2_MEPF and its cycles, PM_MRK_DATA_FROM_L2 and PM_MRK_DATA_FROM_L2_NO_CONFLICT.
    let codes = [0x4_C120, 0x3_D144, 0x2_C126, 0x2_C120];
    let first = |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
        stream(thread, 0x10_0000);
        thread.load(0x10_0000 + 3 * 128, true);
    };
    // From the miss, four cycles after the launch, to the data: 15 - 4.
    assert_eq!(codes.map(|code| counted(code, first)), [1, 11, 1, 0]);
    let second = |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
        stream(thread, 0x10_0000);
        thread.load(0x10_0000 + 3 * 128, false);
        // Eight other lines of its set of the first level, 32 sets away each.
        (1..=8).for_each(|number| thread.load(0x100_0000 + 0x1000 * number + 3 * 128, false));
        thread.settle();
        thread.load(0x10_0000 + 3 * 128, true);
    };
    assert_eq!(codes.map(|code| counted(code, second)), [0, 0, 1, 1]);
}

#[test]
fn a_prefetched_line_keeps_its_mark_in_the_third_level() {
    // PM_MRK_DATA_FROM_L3_MEPF and its cycles, PM_MRK_DATA_FROM_L3.
    let codes = [0x2_D142, 0x1_415C, 0x4_D142];
    let execute = |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
        stream(thread, 0x10_0000);
        // The second level has 512 sets of eight: eight other lines of the set evict it.
        (1..=8).for_each(|number| thread.load(0x100_0000 + 0x1_0000 * number + 3 * 128, false));
        thread.settle();
        thread.load(0x10_0000 + 3 * 128, true);
    };
    assert_eq!(codes.map(|code| counted(code, execute)), [1, 32, 1]);
}

#[test]
fn entries_of_page_tables_can_lie_in_prefetched_lines() {
    // PM_MRK_DPTEG_FROM_L2_MEPF, PM_MRK_DPTEG_FROM_L2; PM_MRK_DPTEG_FROM_L3_MEPF, PM_MRK_DPTEG_FROM_L3.
    let codes = [0x2_F140, 0x1_F142, 0x2_F142, 0x4_F142];
    let execute = |displaced: bool| {
        move |thread: &mut Thread<'_>, _: &mut Thread<'_>| {
            stream(thread, 0x10_0000);
            let others = if displaced { 8 } else { 0 };
            (1..=others).for_each(|number| thread.load(0x100_0000 + 0x1_0000 * number + 3 * 128, false));
            thread.settle();
            thread.table = Some(0x10_0000 + 3 * 128);
            thread.load(0x200_0000, true);
        }
    };
    assert_eq!(codes.map(|code| counted(code, execute(false))), [1, 1, 0, 0]);
    assert_eq!(codes.map(|code| counted(code, execute(true))), [0, 0, 1, 1]);
}

#[test]
fn a_branch_that_is_not_strongly_biased_is_told() {
    let of = |before: u32| {
        counted(0x1_0138, |thread, _| {
            let transfer = Some(Transfer { kind: BranchKind::Conditional, taken: false, target: 0x2000 });
            let branch = Instruction { class: Class::Branch, transfer, ..Instruction::default() };
            (0..before).for_each(|_| thread.run(&branch, false));
            thread.run(&branch, true);
        })
    };
    // PM_MRK_BR_2PATH. A counter starts weakly not taken; once not taken, it is strongly so.
    assert_eq!([of(0), of(1)], [1, 0]);
}
