//! The registers of a thread as a list of model-specific registers: saved and restored as KVM does with its own.

use alloc::vec::Vec;

use kvm_bindings::{KVM_MAX_MSR_ENTRIES, Msrs, kvm_msr_entry};
use vm_pmu_arch::counter::Detector;
use vm_pmu_arch::feed::Lone;
use vm_pmu_arch::knl::{DebugCtl, FixedCtrCtrl, GlobalCtrl, GlobalOvfCtrl, MiscEnable, OffcoreResp, PerfEvtSel, Pmc};
use vm_pmu_arch::registry::{Part, State};
use vm_pmu_arch::{k8, knl};

use super::Error;
use crate::irq::InterruptLine;
use crate::topology::{Machine, Thread};

/// A register that is saved: its number, its value in the state, the bits that are never set, and those that always read as set.
struct Row<'a> {
    index: u32,
    value: &'a mut u64,
    refused: u64,
    shown: u64,
}

fn rows(state: &mut State) -> Result<Vec<Row<'_>>, Error> {
    match state {
        State::K8(state) => Ok(of_k8(state)),
        State::Knl(state) => Ok(of_knl(state)),
        #[allow(unreachable_patterns, reason = "there may be parts of x86 alone")]
        other => Err(Error::NotX86(other.part())),
    }
}

fn of_k8(state: &mut k8::State) -> Vec<Row<'_>> {
    let counters = (k8::Register::PERF_CTR0..).zip(&mut state.counters);
    let selects = (k8::Register::PERF_EVT_SEL0..).zip(&mut state.selects);
    // Every write there ignores reserved bits.
    counters.chain(selects).map(|(index, value)| Row { index, value, refused: 0, shown: 0 }).collect()
}

fn of_knl(state: &mut knl::State) -> Vec<Row<'_>> {
    let row = |refused| move |(index, value)| Row { index, value, refused, shown: 0 };
    let mut rows = Vec::new();
    // Counters by the numbers at which they take all bits: C1h and C2h are the same ones.
    rows.extend([0x4C1, 0x4C2, 0x309, 0x30A, 0x30B].into_iter().zip(&mut state.counters).map(row(Pmc::REFUSED)));
    rows.extend([0x186, 0x187].into_iter().zip(&mut state.selects).map(row(PerfEvtSel::REFUSED)));
    rows.extend([0x1A6, 0x1A7].into_iter().zip(&mut state.offcore).map(row(OffcoreResp::REFUSED)));
    rows.push(row(FixedCtrCtrl::REFUSED)((0x38D, &mut state.fixed_ctr_ctrl)));
    rows.push(row(DebugCtl::REFUSED)((0x1D9, &mut state.debug_ctl)));
    rows.push(Row { index: 0x1A0, value: &mut state.misc_enable, refused: MiscEnable::REFUSED, shown: MiscEnable::SHOWN });
    // A guest clears the status by IA32_PERF_GLOBAL_OVF_CTRL, which has the same bits.
    rows.push(row(GlobalOvfCtrl::REFUSED)((0x38E, &mut state.global_status)));
    rows.push(row(GlobalCtrl::REFUSED)((0x38F, &mut state.global_ctrl)));
    rows
}

/// The state of a thread at power-on.
fn initial(part: Part) -> State {
    part.build().state(&Lone::new())
}

/// The model-specific registers that hold what the PMU of a thread remembers, each once, in the order of [`save`]: for a hypervisor that
/// keeps its own lists.
///
/// # Errors
/// [`Error::NotX86`] for a part without such registers.
///
/// ```
/// use vm_pmu::Part;
///
/// let indices = vm_pmu::kvm::indices(Part::named("k8").unwrap()).unwrap();
/// assert_eq!(indices[..2], [0xC001_0004, 0xC001_0005]);
/// assert_eq!(indices.len(), 8);
/// ```
pub fn indices(part: Part) -> Result<Vec<u32>, Error> {
    Ok(rows(&mut initial(part))?.iter().map(|row| row.index).collect())
}

/// The registers of a thread, with everything counted up to now, whatever its privilege level: as `KVM_GET_MSRS` returns KVM's.
///
/// The list is enough for the guest to find its counters again. What no register shows is not in it: the cycle that an edge detector
/// compares with, the levels of pins, which core holds a counter of the northbridge that both claim (after a restore, the first). The
/// untile is not in it either: it belongs to no single thread, and 26 of its 66 boxes are in PCI configuration space; see
/// [`Untile::state`](crate::topology::Untile::state). To keep every bit, save [`Machine::states`].
///
/// # Errors
/// [`Error::NotX86`] for a part without such registers.
pub fn save<L: InterruptLine>(thread: Thread<'_, L>) -> Result<Msrs, Error> {
    let mut state = thread.state();
    let rows = rows(&mut state)?;
    let entry = |row: &Row<'_>| kvm_msr_entry { index: row.index, data: *row.value | row.shown, ..kvm_msr_entry::default() };
    let entries: Vec<kvm_msr_entry> = rows.iter().map(entry).collect();
    Msrs::from_entries(&entries).map_err(|_| Error::TooManyEntries { entries: entries.len(), most: KVM_MAX_MSR_ENTRIES })
}

/// Makes the PMUs of a machine remember `saved`, one list per thread: as `KVM_SET_MSRS` does for KVM. Entries of other registers are
/// ignored, so a list may contain KVM's too. Of two entries for the same register the later is used. Each thread keeps its context, which
/// the hypervisor reports again when it has restored the vCPU. A list that does not fit changes nothing, in any thread.
///
/// # Errors
/// [`Error::Threads`], [`Error::Missing`] and [`Error::Refused`] for lists that do not fit; [`Error::NotX86`] for a part without such
/// registers.
///
/// ```
/// use vm_pmu::kvm::{restore, save};
/// use vm_pmu::topology::Builder;
///
/// let builder = Builder::new("knl").unwrap();
/// let (old, new) = (builder.build(|_, _| {}).unwrap(), builder.build(|_, _| {}).unwrap());
/// old.thread(0).unwrap().x86().wrmsr(0x4C1, 12345).unwrap();
/// let saved = save(old.thread(0).unwrap()).unwrap();
/// restore(&new, &[saved]).unwrap();
/// assert_eq!(new.thread(0).unwrap().x86().rdmsr(0x4C1), Ok(12345));
/// ```
pub fn restore<L: InterruptLine>(machine: &Machine<L>, saved: &[Msrs]) -> Result<(), Error> {
    if saved.len() != machine.threads() {
        return Err(Error::Threads { saved: saved.len(), machine: machine.threads() });
    }
    let mut states = Vec::new();
    for (number, saved) in saved.iter().enumerate() {
        let mut state = initial(machine.part());
        for row in rows(&mut state)? {
            let found = saved.as_slice().iter().rev().find(|entry| entry.index == row.index);
            let Some(entry) = found else { return Err(Error::Missing { thread: number, index: row.index }) };
            let refused = entry.data & row.refused;
            if refused != 0 {
                return Err(Error::Refused { thread: number, index: row.index, bits: refused });
            }
            *row.value = entry.data;
        }
        let context = machine.thread(number).map(|thread| thread.context()).unwrap_or_default();
        match &mut state {
            State::K8(state) => (state.context, state.detectors) = (context, [Detector::default(); k8::COUNTERS]),
            State::Knl(state) => (state.context, state.detectors) = (context, [Detector::default(); knl::COUNTERS]),
            #[allow(unreachable_patterns, reason = "there may be parts of x86 alone")]
            _ => return Err(Error::NotX86(machine.part())),
        }
        states.push(state);
    }
    // There is one per thread, all of the machine's part.
    machine.restore(&states).map_err(|_| Error::Threads { saved: states.len(), machine: machine.threads() })
}

#[cfg(test)]
mod tests {
    use vm_pmu_arch::access::Fault;
    use vm_pmu_arch::feed::{Context, Signal};

    use super::*;
    use crate::irq::Unconnected;
    use crate::topology::Builder;

    fn knl() -> Builder {
        Builder::new("knl").expect("known").threads(2)
    }

    fn value(saved: &Msrs, index: u32) -> Option<u64> {
        saved.as_slice().iter().find(|entry| entry.index == index).map(|entry| entry.data)
    }

    fn list(entries: &[(u32, u64)]) -> Msrs {
        let entry = |(index, data): &(u32, u64)| kvm_msr_entry { index: *index, data: *data, ..kvm_msr_entry::default() };
        Msrs::from_entries(&entries.iter().map(entry).collect::<Vec<_>>()).expect("short")
    }

    #[test]
    fn a_saved_register_is_what_the_guest_reads() {
        for name in ["k8", "knl"] {
            let machine = Builder::new(name).expect("known").build(|_, _| {}).unwrap();
            let cpu = machine.thread(0).expect("one thread");
            let indices = indices(machine.part()).expect("an x86");
            for (at, index) in indices.iter().enumerate() {
                // The status refuses writes of guests, and other registers refuse some bits.
                let _ = cpu.x86().wrmsr(*index, at as u64 & 3);
            }
            let saved = save(cpu).expect("an x86");
            assert_eq!(saved.as_slice().iter().map(|entry| entry.index).collect::<Vec<_>>(), indices);
            for entry in saved.as_slice() {
                assert_eq!(cpu.x86().rdmsr(entry.index), Ok(entry.data), "{name}: {:#x}", entry.index);
            }
        }
    }

    #[test]
    fn every_register_that_a_guest_can_write_is_restored() {
        for name in ["k8", "knl"] {
            let builder = Builder::new(name).expect("known");
            let (old, new) = (builder.build(|_, _| {}).unwrap(), builder.build(|_, _| {}).unwrap());
            let (before, after) = (old.thread(0).expect("one thread"), new.thread(0).expect("one thread"));
            for register in before.registers() {
                let vm_pmu_arch::access::Address::Msr(index) = register.address else { continue };
                let writable = vm_pmu_arch::layout::writable(register.fields);
                let _ = before.x86().wrmsr(index, writable & 0x0000_5555_3333_5A5A & !0x0040_0000);
            }
            restore(&new, &[save(before).expect("an x86")]).expect("its own");
            for register in before.registers() {
                assert_eq!(after.read(register.address), before.read(register.address), "{name}: {}", register.name);
            }
        }
    }

    #[test]
    fn a_user_does_not_hide_the_registers_and_stays_a_user() {
        let machine = Builder::new("k8").expect("known").build(|_, _| {}).unwrap();
        let cpu = machine.thread(0).expect("one thread");
        cpu.x86().wrmsr(0xC001_0000, 0x0041_00C0).expect("level 0");
        let user = Context::x86(3, 0x202, 0);
        cpu.set_context(user);
        cpu.totals().add(Signal::InstructionsRetired, 5);
        assert_eq!(cpu.x86().rdmsr(0xC001_0004), Err(Fault::GeneralProtection));
        let saved = save(cpu).expect("an x86");
        assert_eq!(value(&saved, 0xC001_0004), Some(5));
        cpu.totals().add(Signal::InstructionsRetired, 100);
        restore(&machine, &[saved]).expect("its own");
        assert_eq!(cpu.context(), user);
        cpu.totals().add(Signal::InstructionsRetired, 2);
        assert_eq!(save(cpu).ok().and_then(|saved| value(&saved, 0xC001_0004)), Some(7));
    }

    #[test]
    fn an_overflow_that_was_seen_stays_seen_and_a_deadline_comes_again() {
        let machine = knl().build(|_, _| {}).unwrap();
        let cpu = machine.thread(1).expect("two threads");
        cpu.x86().wrmsr(0x4C1, (1 << 40) - 1).expect("level 0");
        cpu.x86().wrmsr(0x186, 0x0042_00C0).expect("level 0");
        cpu.totals().add(Signal::InstructionsRetired, 1);
        let lists: Vec<Msrs> = (0..2).filter_map(|number| machine.thread(number)).map(|thread| save(thread).expect("an x86")).collect();
        assert_eq!(value(&lists[1], 0x38E), Some(1));

        let interrupts = core::sync::atomic::AtomicU32::new(0);
        let other = knl()
            .build(|_, _| {
                interrupts.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
            })
            .unwrap();
        restore(&other, &lists).expect("as many threads");
        let cpu = other.thread(1).expect("two threads");
        assert_eq!((cpu.x86().rdmsr(0x38E), cpu.x86().rdmsr(0x4C1)), (Ok(1), Ok(0)));
        cpu.x86().wrmsr(0x4C1, (1 << 40) - 2).expect("level 0");
        cpu.x86().wrmsr(0x186, 0x0052_00C0).expect("level 0");
        cpu.totals().add(Signal::InstructionsRetired, 2);
        cpu.service();
        assert_eq!(interrupts.into_inner(), 1);
    }

    #[test]
    fn threads_of_a_core_count_for_each_other_again() {
        let builder = Builder::new("knl").expect("known").threads(4);
        let machine = builder.build(Unconnected).unwrap();
        let threads = |machine: &Machine<Unconnected>| {
            (0..4).filter_map(|number| machine.thread(number).map(|cpu| save(cpu).expect("an x86"))).collect()
        };
        // IA32_FIXED_CTR0: retired instructions of every thread.
        machine.thread(2).expect("four").x86().wrmsr(0x38D, 0x007).expect("level 0");
        machine.thread(2).expect("four").x86().wrmsr(0x38F, 1 << 32).expect("level 0");
        machine.thread(1).expect("four").set_context(Context::RESET.with_halted(true));
        let (lists, states): (Vec<Msrs>, _) = (threads(&machine), machine.states());
        let counts = |other: &Machine<Unconnected>| {
            for (number, amount) in [(0, 5), (2, 7), (3, 9)] {
                other.thread(number).expect("four").totals().add(Signal::InstructionsRetired, amount);
            }
            threads(other)
        };
        let (by_lists, by_states) = (builder.build(Unconnected).unwrap(), builder.build(Unconnected).unwrap());
        by_lists.thread(1).expect("four").set_context(Context::RESET.with_halted(true));
        restore(&by_lists, &lists).expect("as many threads");
        by_states.restore(&states).expect("as many threads");
        let (by_lists, by_states): (Vec<Msrs>, Vec<Msrs>) = (counts(&by_lists), counts(&by_states));
        for (one, other) in by_lists.iter().zip(&by_states) {
            assert_eq!(one.as_slice(), other.as_slice());
        }
        assert_eq!(value(&by_lists[2], 0x309), Some(21), "what others of the core do is counted");
    }

    #[test]
    fn of_two_cores_that_claim_a_counter_of_the_northbridge_the_first_holds_it() {
        let builder = Builder::new("k8").expect("known").threads(2);
        let (old, new) = (builder.build(|_, _| {}).unwrap(), builder.build(|_, _| {}).unwrap());
        // Upstream writes.
        for core in [1, 0] {
            old.thread(core).expect("two").x86().wrmsr(0xC001_0000, 0x0042_40EC).expect("level 0");
        }
        let lists: Vec<Msrs> = (0..2).filter_map(|core| old.thread(core)).map(|core| save(core).expect("an x86")).collect();
        restore(&new, &lists).expect("as many threads");
        new.devices(0).expect("one package").totals.add(Signal::UpstreamWrites, 3);
        assert_eq!([0, 1].map(|core| new.thread(core).expect("two").x86().rdpmc(0)), [Ok(3), Ok(0)]);
    }

    #[test]
    fn registers_of_others_in_a_list_are_left_alone_and_the_last_of_two_holds() {
        let machine = Builder::new("k8").expect("known").build(|_, _| {}).unwrap();
        let cpu = machine.thread(0).expect("one thread");
        let mut entries: Vec<(u32, u64)> = (0xC001_0000..0xC001_0008).map(|index| (index, 1)).collect();
        entries.extend([(0xC000_0080, 0x500), (0xC001_0005, 99)]);
        restore(&machine, &[list(&entries)]).expect("complete");
        assert_eq!((cpu.x86().rdmsr(0xC001_0004), cpu.x86().rdmsr(0xC001_0005)), (Ok(1), Ok(99)));
    }

    #[test]
    fn lists_that_do_not_fit_change_nothing() {
        let machine = knl().build(|_, _| {}).unwrap();
        let cpu = machine.thread(0).expect("two threads");
        cpu.x86().wrmsr(0x4C1, 7).expect("level 0");
        let good = save(cpu).expect("an x86");
        cpu.x86().wrmsr(0x4C1, 8).expect("level 0");
        let refused = restore(&machine, core::slice::from_ref(&good));
        assert_eq!(refused, Err(Error::Threads { saved: 1, machine: 2 }));
        let short: Vec<kvm_msr_entry> = good.as_slice().iter().filter(|entry| entry.index != 0x38F).copied().collect();
        let short = Msrs::from_entries(&short).expect("short");
        assert_eq!(restore(&machine, &[good.clone(), short]), Err(Error::Missing { thread: 1, index: 0x38F }));
        let mut wide = good.clone();
        wide.as_mut_slice()[0].data |= 1 << 50;
        assert_eq!(restore(&machine, &[good, wide]), Err(Error::Refused { thread: 1, index: 0x4C1, bits: 1 << 50 }));
        assert_eq!(cpu.x86().rdmsr(0x4C1), Ok(8));
    }

    #[test]
    fn parts_without_such_registers_are_refused() {
        let machine = Builder::new("power9").expect("known").build(|_, _| {}).unwrap();
        let refused = Error::NotX86(machine.part());
        assert_eq!(save(machine.thread(0).expect("one thread")).err(), Some(refused));
        assert_eq!(restore(&machine, &[Msrs::new(0).expect("short")]), Err(refused));
        assert_eq!(indices(machine.part()), Err(refused));
    }
}
