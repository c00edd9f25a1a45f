//! Lines that devices put into the third level of POWER9, and conflicts of fetches in the second level.

use vm_pmu_arch::feed::{Signal, Totals};
use vm_pmu_arch::power9::spr;

use super::samples::{Sampling, Thread};
use super::{everything, load};
use vm_pmu_companion::{Access, AccessKind, Class, DeviceOperation, DeviceRequest, Instruction, Operation};

/// Returns lines of different pages of memory, so that no prefetcher stream begins.
fn line(number: u64) -> u64 {
    0x10_0000 + 0x400 * number
}

/// Performs a device operation on `size` bytes from line `number` on, attached to chip 0.
fn device(sampling: &Sampling, number: u64, size: u64, operation: DeviceOperation) -> (u64, Box<Totals>) {
    let totals: Box<Totals> = Box::new(Totals::new());
    let request = DeviceRequest { physical: line(number), size, operation, ..DeviceRequest::default() };
    (sampling.companion.device(&request, &totals, &everything()), totals)
}

/// Returns a machine of one chip of `cores` cores whose first thread counts the event with this code. A cache event needs another of the
/// same group on PMC4.
fn counting(code: u64, cores: usize) -> Sampling {
    let sampling = Sampling::of(1, cores);
    let of_caches = code >> 12 & 0xF == 6;
    let group = [code, 4 << 16 | code & 0xFFFF];
    sampling.program_all(if of_caches && code >> 16 != 4 { &group } else { &group[..1] }, (0, 0));
    sampling
}

/// Returns the counter of the event with this code.
fn counted(sampling: &Sampling, code: u64) -> u64 {
    sampling.read(spr::PMC1 + (code >> 16) as u16 - 1)
}

/// Returns the count of an event after a thread reads eight lines, a device performs `operation` on `size` bytes of each, and the thread
/// continues.
fn after(code: u64, size: u64, operation: DeviceOperation) -> u64 {
    // Two pairs of cores.
    let sampling = counting(code, 4);
    let mut thread = Thread::new(&sampling);
    (0..8).for_each(|number| thread.load(line(number), false));
    thread.settle();
    (0..8).for_each(|number| _ = device(&sampling, number, size, operation));
    thread.load(line(0), false);
    thread.settle();
    thread.load(line(20), false);
    thread.settle();
    // The cycles up to the last dispatch are reported.
    thread.load(line(21), false);
    thread.settle();
    counted(&sampling, code)
}

/// PM_L3_CINJ.
const INJECTED: u64 = 0x3_68A4;

/// PM_L3_CINJ, PM_L3_WI0_BUSY twice, PM_L3_WI_USAGE; PM_DATA_FROM_L3, PM_L2_SN_M_WR_DONE.
const INJECTION: [u64; 6] = [INJECTED, 0x1_60B6, 0x2_60B6, 0x1_68A8, 0x4_C042, 0x4_6886];

#[test]
fn whole_lines_that_a_device_offers_go_into_the_third_level_of_who_has_them() {
    // All eight machines work for the same 36 cycles, so it does not matter which is sampled. The line that is read again is in the third
    // level.
    assert_eq!(INJECTION.map(|code| after(code, 128, DeviceOperation::Inject)), [8, 36, 36, 36, 1, 0]);
}

#[test]
fn parts_of_lines_and_what_is_not_offered_go_to_memory() {
    assert_eq!(INJECTION.map(|code| after(code, 64, DeviceOperation::Inject)), [0; 6]);
    assert_eq!(INJECTION.map(|code| after(code, 128, DeviceOperation::Write)), [0; 6]);
}

#[test]
fn a_line_that_a_cache_takes_is_not_written_to_memory() {
    let sampling = counting(INJECTED, 4);
    let mut thread = Thread::new(&sampling);
    thread.load(line(0), false);
    let written = |(modified, totals): (u64, Box<Totals>)| (modified, totals.get(Signal::MemoryWrites));
    assert_eq!(written(device(&sampling, 0, 128, DeviceOperation::Inject)), (0, 0));
    // The third level now has it modified, and takes it again.
    assert_eq!(written(device(&sampling, 0, 128, DeviceOperation::Inject)), (1, 0));
    // Memory takes the data of a line that no cache has.
    assert_eq!(written(device(&sampling, 1, 128, DeviceOperation::Inject)), (0, 1));
}

#[test]
fn a_line_in_the_caches_of_several_pairs_is_in_one_afterwards() {
    let sampling = counting(INJECTED, 4);
    let (mut first, mut second) = (Thread::new(&sampling), Thread::numbered(&sampling, 8));
    first.load(line(0), false);
    second.load(line(0), false);
    device(&sampling, 0, 128, DeviceOperation::Inject);
    // The first pair has it: a device that reads it finds it modified, and the second pair has to fetch it from there.
    second.load(line(0), false);
    assert!(second.follower.outcome().source.is_of_another_core());
    first.load(line(1), false);
    assert_eq!(counted(&sampling, INJECTED), 1);
}

#[test]
fn a_transient_touch_that_the_second_level_lacks_goes_on_to_the_third() {
    // PM_L3_TRANS_PF.
    let transient = 0x4_68A4;
    let sampling = counting(transient, 4);
    let mut thread = Thread::new(&sampling);
    let mut touch = |kind, number| {
        let accesses = [Access { kind, ..load(line(number)) }];
        let operation = Some(Operation { width: 8, ..Operation::default() });
        thread.run(&Instruction { class: Class::Load, operation, accesses: &accesses, ..Instruction::default() }, false);
    };
    // The second time it hits the first level.
    touch(AccessKind::PrefetchOnce, 5);
    touch(AccessKind::PrefetchOnce, 5);
    touch(AccessKind::PrefetchLoad, 6);
    assert_eq!(counted(&sampling, transient), 1);
}

/// The line that is fetched.
const FETCHED: u64 = 30;

/// Returns the first thread's count of an event if it loads from line `from` while another thread of its core waits for code.
fn behind(code: u64, from: u64) -> u64 {
    let sampling = counting(code, 1);
    let (mut first, mut second) = (Thread::new(&sampling), Thread::numbered(&sampling, 1));
    let fetch = |thread: &mut Thread<'_>, at: u64| {
        thread.run(&Instruction { address: at, physical: at, length: 4, ..Instruction::default() }, false);
    };
    // Starts its pipeline.
    second.follower.sync(&everything());
    // Both continue at about the same time: both have waited for memory.
    fetch(&mut second, line(60));
    first.load(line(40), false);
    first.settle();
    fetch(&mut second, line(FETCHED));
    // The fetch is requested once it has been translated, and then waits for memory for 336 cycles.
    (0..6).for_each(|_| first.settle());
    first.load(line(from), true);
    first.settle();
    counted(&sampling, code)
}

#[test]
fn a_load_of_a_line_that_is_fetched_as_code_has_a_conflict() {
    // PM_DATA_FROM_L2_DISP_CONFLICT_OTHER, PM_MRK_DATA_FROM_L2_DISP_CONFLICT_OTHER, PM_DATA_FROM_L2_DISP_CONFLICT_LDHITST.
    let codes = [0x4_C040, 0x2_C124, 0x3_C040];
    assert_eq!(codes.map(|code| behind(code, FETCHED)), [1, 1, 0]);
    // The line of an earlier load is in the second level, and in the first.
    assert_eq!(codes.map(|code| behind(code, 40)), [0, 0, 0]);
}
