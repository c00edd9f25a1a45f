use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::companion::{self, BranchKind, Class, Clock, Companion, Invalidation, Walk};
use crate::irq::Flags;
use crate::topology::{Builder, Machine};
use crate::{Address, Context, Countdown, Pace, SignalSet};

/// What a guest does.
#[derive(Clone, Debug)]
enum Act {
    /// Execute so many blocks, drawn with this seed.
    Run(u64, u32),
    /// Leave a block after some of its instructions.
    Leave(u64),
    /// Write one of the values to one of the registers, by the last instruction of a block.
    Write(usize, usize),
    /// Read one of the registers in this way.
    Read(usize),
    /// Go on in one of the contexts.
    Context(usize),
    /// Invalidate translations.
    Invalidate,
}

/// A part, as these guests use it.
struct Guest {
    part: &'static str,
    contexts: [Context; 2],
    /// Pairs of a register and one of its values that start counting from the beginning on.
    begin: &'static [(Address, u64)],
    /// Registers that it writes and reads, with values.
    registers: &'static [(Address, &'static [u64])],
}

const K8: Guest = Guest {
    part: "k8",
    contexts: [Context::x86(0, 0x202, 0), Context::x86(3, 0x202, 0x100)],
    // Misses of the data cache and instructions, with interrupts.
    begin: &[(Address::Msr(0xC001_0000), 0x0053_0041), (Address::Msr(0xC001_0001), 0x0053_00C0)],
    // Misses of the data cache, of both levels of translations, of the instruction cache; mispredicted branches; two misses in a cycle; stalls.
    registers: &[
        (Address::Msr(0xC001_0000), &[0x0053_0041, 0x0053_0046, 0x0052_0081, 0x0051_00C3, 0x0253_0041, 0x0053_00D1]),
        (Address::Msr(0xC001_0001), &[0x0053_00C0, 0x0053_0076, 0x0053_0045, 0]),
        (Address::Msr(0xC001_0004), &[u64::MAX, u64::MAX - 6, u64::MAX - 30, u64::MAX - 300, u64::MAX - 3000]),
        (Address::Msr(0xC001_0005), &[u64::MAX, u64::MAX - 9, u64::MAX - 30, u64::MAX - 300, u64::MAX - 3000]),
    ],
};

const KNL: Guest = Guest {
    part: "knl",
    contexts: [Context::x86(0, 0x202, 0), Context::x86(3, 0x202, 0x100)],
    // Requests of the second level, mispredicted branches; both counters enabled.
    begin: &[(Address::Msr(0x186), 0x0053_4F2E), (Address::Msr(0x187), 0x0053_00C5), (Address::Msr(0x38F), 3)],
    // L2_REQUESTS.REFERENCE and MISS, MEM_UOPS_RETIRED.L1_MISS_LOADS, ICACHE.MISSES, PAGE_WALKS, OFFCORE_RESP_0; branches and those mispredicted, cycles,
    // NO_ALLOC_CYCLES.
    registers: &[
        (Address::Msr(0x186), &[0x0053_4F2E, 0x0053_412E, 0x0052_0104, 0x0051_0280, 0x0053_0105, 0x0053_01B7]),
        (Address::Msr(0x187), &[0x0053_00C5, 0x0053_00C4, 0x0053_00C0, 0x0053_003C, 0x0053_7FCA]),
        (Address::Msr(0xC1), &[0xFFFF_FFFF, 0xFFFF_FFF9, 0xFFFF_FFE0, 0xFFFF_F000]),
        (Address::Msr(0xC2), &[0xFFFF_FFFF, 0xFFFF_FFF9, 0xFFFF_FFE0, 0xFFFF_F000]),
        // What OFFCORE_RESP_0 counts: requests of any kind, answered by anything; data in the own tile; cycles that they are outstanding.
        (Address::Msr(0x1A6), &[0x1_8000, 1 << 26 | 1, 1 << 38 | 1 << 15 | 1]),
        (Address::Msr(0x38F), &[3]),
    ],
};

const POWER9: Guest = Guest {
    part: "power9",
    contexts: [Context::power(0x8000_0000_0000_8000, 1), Context::power(0x9000_0000_0000_8000, 1)],
    // PM_INST_CMPL, PM_L1_ICACHE_MISS, PM_DTLB_MISS, PM_BR_MPRED_CMPL; alerts of all counters.
    begin: &[(Address::Spr(798), 0x02FD_FCF6), (Address::Spr(795), 0x0400_C000)],
    // MMCR1 with PM_ST_MISS_L1, PM_LD_MISS_L1, PM_CMPLU_STALL and PM_CYC, counts near their ends, MMCR0.
    registers: &[
        (Address::Spr(798), &[0x02FD_FCF6, 0x02FD_F0F6, 0x00E0_0000_0000_54F6, 0xE000_0000_541E_F0F6]),
        (Address::Spr(771), &[0x7FFF_FFFF, 0x7FFF_FFE0, 0x7FFF_F000]),
        (Address::Spr(772), &[0x7FFF_FFFF, 0x7FFF_FFE0, 0x7FFF_FE00]),
        (Address::Spr(773), &[0x7FFF_FFFF, 0x7FFF_FFE0, 0x7FFF_F000]),
        (Address::Spr(774), &[0x7FFF_FFFF, 0x7FFF_FFE0, 0x7FFF_F000]),
        (Address::Spr(795), &[0x0400_C000, 0x0600_C000]),
    ],
};

impl Guest {
    fn machine(&self) -> Machine<Flags> {
        let single = SignalSet::only(Signal::InstructionsRetired);
        Builder::new(self.part).unwrap().pace(Pace::default().single(single)).build(Flags::new(1)).unwrap()
    }

    fn companion(&self) -> Companion {
        self.companion_of(Clock::Embedder)
    }

    fn companion_of(&self, clock: Clock) -> Companion {
        companion::Builder::new(self.part).unwrap().clock(clock).build()
    }
}

/// Page tables of one level, so that walks miss caches too.
struct Tables;

impl PageTables for Tables {
    fn walk(&mut self, address: u64) -> Walk {
        let entry = 0x7000_0000 + (address >> 12) * 8;
        Walk { entries: [entry, 0, 0, 0, 0], levels: 1, ..Walk::direct(12) }
    }
}

/// Numbers that look random.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.0 >> 33) % most
    }
}

/// The code of a guest: instructions of 4 bytes in several pages, of which every few is a branch.
fn still(address: u64) -> (Instruction<'static>, usize) {
    let mut drawn = Drawn(address);
    let class = [Class::Simple, Class::Load, Class::Store, Class::Multiply][drawn.below(4) as usize];
    let class = if drawn.below(60) == 0 { Class::Fence } else { class };
    let accesses = [0, 0, 0, 1, 1, 2][drawn.below(6) as usize];
    let kinds = [BranchKind::Conditional, BranchKind::Conditional, BranchKind::DirectJump, BranchKind::IndirectJump];
    let kind = kinds[drawn.below(4) as usize];
    let transfer = (drawn.below(6) == 0).then_some(Transfer { kind, taken: kind != BranchKind::Conditional, target: 0 });
    (Instruction { address, physical: address ^ 0x10_0000, length: 4, class, transfer, ..Instruction::default() }, accesses)
}

/// The accesses that the instruction makes this time.
fn accesses(drawn: &mut Drawn, count: usize) -> Vec<Access> {
    let begin =
        [0x20_0000, 0x20_0000, 0x30_0000 + 0x1000 * drawn.below(80), 0x100_0000 + 64 * drawn.below(20_000)][drawn.below(4) as usize];
    let access = |drawn: &mut Drawn| {
        let address = begin + 4 * drawn.below(32);
        let kind = if drawn.below(3) == 0 { AccessKind::Store } else { AccessKind::Load };
        Access { address, physical: address ^ 0x800_0000, size: 8, kind, locked: drawn.below(50) == 0, uncached: drawn.below(80) == 0 }
    };
    (0..count).map(|_| access(drawn)).collect()
}

/// What a run shows: how many instructions had been executed when something was asked for or read, and what is saved at the end.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    interrupts: Vec<u64>,
    reads: Vec<(u64, Result<u64, crate::Fault>)>,
    /// How many requests another device has got, and a digest of them.
    requests: (u64, u64),
    machine: Vec<crate::State>,
    /// A digest, as all bytes of it would hide the rest.
    companion: u64,
}

/// A guest that runs: instruction by instruction, or in blocks.
struct Run<'a> {
    guest: &'a Guest,
    cpu: Cpu<'a, Flags>,
    in_traces: bool,
    blocks: Vec<Block>,
    trace: Vec<Traced>,
    address: u64,
    executed: u64,
    raised: bool,
    shown: Shown,
}

impl Run<'_> {
    fn report(&mut self, open: u32) {
        if self.trace.is_empty() {
            return;
        }
        self.cpu.execute_trace(&self.trace, self.address, &self.blocks[..], &mut Tables);
        self.cpu.complete_trace(open);
        self.trace.clear();
    }

    /// Looks for an interrupt.
    fn look(&mut self) {
        let up = self.cpu.lines().interrupt;
        if self.cpu.take_interrupt() || up && !self.raised {
            self.shown.interrupts.push(self.executed);
        }
        self.raised = up;
    }

    /// Enters as many instructions as may be executed next, `most` at most.
    fn enter(&mut self, most: u32) -> u32 {
        let mut count = if self.in_traces { most } else { 1 };
        while !self.cpu.enter(Countdown::takes(count, 0)) {
            self.report(0);
            self.look();
            count = self.cpu.refill(count);
            self.look();
        }
        count
    }

    /// Executes a block of up to `most` instructions, and leaves it after `left` of them if that is not `None`. An access to a register is done
    /// by the last of its instructions.
    fn block(&mut self, drawn: &mut Drawn, most: u32, mut left: Option<u32>, mut access: Option<&mut dyn FnMut(&mut Self)>) {
        let mut remaining = most;
        while remaining != 0 {
            let count = self.enter(remaining);
            let followed = self.cpu.is_followed();
            let number = self.blocks.len();
            let (mut block, mut entries) = (Block::new(), std::vec![Traced::block(number as u64, 0)]);
            let (mut place, mut executed, mut ended) = (self.address, 0, false);
            while executed < count {
                let (mut instruction, accessing) = still(place);
                let is_last = executed + 1 == remaining;
                if is_last && access.is_some() {
                    instruction.transfer = None;
                }
                block.push(&instruction);
                if left == Some(0) {
                    break;
                }
                if is_last && let Some(access) = access.take() {
                    if self.in_traces && followed {
                        self.blocks.push(block.clone());
                        self.trace.append(&mut entries);
                        self.trace.push(Traced::left(executed));
                        self.report(1);
                        entries.push(Traced::block(number as u64, executed));
                    }
                    access(self);
                }
                let accesses = accesses(drawn, accessing);
                entries.extend(accesses.iter().map(|access| Traced::access(executed, access)));
                executed += 1;
                self.executed += 1;
                left = left.map(|left| left - 1);
                place += 4;
                ended = instruction.transfer.is_some();
                if ended {
                    let turns = instruction.transfer.is_some_and(|transfer| transfer.taken) || drawn.below(3) == 0;
                    place = if turns { 0x40_0000 + 0x40 * drawn.below(400) } else { place };
                }
                if !self.in_traces && followed && self.cpu.is_followed() {
                    let transfer = instruction.transfer.map(|transfer| {
                        let taken = transfer.taken || place != instruction.address + 4;
                        Transfer { taken, target: place, ..transfer }
                    });
                    let whole = Instruction { accesses: &accesses, transfer, ..instruction };
                    self.cpu.execute(&whole, &mut Tables);
                    self.cpu.complete(&Last(Some(record_of(&whole))));
                    self.look();
                }
                if ended {
                    break;
                }
            }
            self.address = place;
            if executed < count {
                self.cpu.take_back(Countdown::takes(count - executed, 0));
            }
            if self.in_traces && followed {
                if self.blocks.len() == number {
                    self.blocks.push(block);
                }
                self.trace.append(&mut entries);
                if left == Some(0) && !ended {
                    self.trace.push(Traced::left(executed));
                }
                if self.cpu.countdown().left() == 0 {
                    self.report(0);
                    self.look();
                }
            }
            remaining -= executed.min(remaining);
            if left == Some(0) || ended {
                return;
            }
        }
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Run(seed, count) => {
                let mut drawn = Drawn(seed);
                for _ in 0..count {
                    let most = 1 + drawn.below(20) as u32;
                    self.block(&mut drawn, most, None, None);
                }
                return;
            }
            Act::Leave(seed) => {
                let mut drawn = Drawn(seed);
                let most = 1 + drawn.below(12) as u32;
                let left = drawn.below(u64::from(most)) as u32;
                self.block(&mut drawn, most, Some(left), None);
            }
            Act::Write(register, value) => {
                let (address, values) = self.guest.registers[register % self.guest.registers.len()];
                let value = values[value % values.len()];
                let mut write = |run: &mut Self| _ = run.cpu.access(|pmu| pmu.write(address, value));
                self.block(&mut Drawn(value), 2, None, Some(&mut write));
            }
            Act::Read(register) => {
                let (address, _) = self.guest.registers[register % self.guest.registers.len()];
                let mut read = |run: &mut Self| {
                    let value = run.cpu.access(|pmu| pmu.read(address));
                    run.shown.reads.push((run.executed, value));
                };
                self.block(&mut Drawn(7), 4, None, Some(&mut read));
            }
            Act::Context(number) => {
                self.report(0);
                self.look();
                self.cpu.set_context(self.guest.contexts[number % 2]);
            }
            Act::Invalidate => {
                self.report(0);
                self.look();
                self.cpu.invalidate(Invalidation::All);
            }
        }
        self.report(0);
        self.cpu.sync();
        self.look();
    }
}

fn run(guest: &Guest, acts: &[Act], in_traces: bool, clock: Clock) -> Shown {
    let (machine, companion) = (guest.machine(), guest.companion_of(clock));
    let observed = Mutex::new((0, DefaultHasher::new()));
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.follow(companion.follower(0).unwrap(), SignalSet::EMPTY);
    if guest.part == "knl" {
        // As its boxes are.
        cpu.watch(SignalSet::EMPTY, Records::REQUESTS);
        cpu.observe_requests(|request| {
            let mut observed = observed.lock().unwrap();
            observed.0 += 1;
            request.hash(&mut observed.1);
        });
    }
    // As translators do until the guest reads the branch history.
    cpu.leave_out(Records::TAKEN_BRANCHES);
    cpu.set_context(guest.contexts[0]);
    for (register, value) in guest.begin {
        cpu.access(|pmu| pmu.write(*register, *value)).unwrap();
    }
    let (blocks, trace, shown) = (Vec::new(), Vec::new(), Shown::default());
    let mut run = Run { guest, cpu, in_traces, blocks, trace, address: 0x40_0000, executed: 0, raised: false, shown };
    acts.iter().for_each(|act| run.act(act));
    run.report(0);
    run.cpu.sync();
    run.look();
    let Run { mut cpu, mut shown, .. } = run;
    let mut digest = DefaultHasher::new();
    companion.save(&[cpu.follower().unwrap()]).unwrap().hash(&mut digest);
    shown.companion = digest.finish();
    cpu.settle();
    let (count, requests) = &*observed.lock().unwrap();
    shown.requests = (*count, requests.finish());
    shown.machine = machine.states();
    for state in &mut shown.machine {
        if let crate::State::Power9(state) = state {
            // While the companion makes the cycles, single instructions are recorded though no deadline is near. Branches are left out.
            (state.history, state.present, state.present_type, state.present_data) = (Default::default(), None, 0, None);
        }
    }
    shown
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => (any::<u64>(), 1u32..120).prop_map(|(seed, count)| Act::Run(seed, count)),
        2 => any::<u64>().prop_map(Act::Leave),
        4 => (0usize..8, 0usize..6).prop_map(|(register, value)| Act::Write(register, value)),
        1 => (0usize..8).prop_map(Act::Read),
        1 => (0usize..2).prop_map(Act::Context),
        1 => Just(Act::Invalidate),
    ];
    proptest::collection::vec(act, 1..40)
}

/// A guest is shown the same in traces as by single instructions.
fn same(guest: &Guest, acts: &[Act], clock: Clock) -> Result<(), TestCaseError> {
    prop_assert_eq!(run(guest, acts, true, clock), run(guest, acts, false, clock));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn traces_show_a_k8s_guest_what_single_instructions_do(acts in acts()) {
        same(&K8, &acts, Clock::Embedder)?;
    }

    #[test]
    fn traces_show_a_knights_landings_guest_what_single_instructions_do(acts in acts()) {
        same(&KNL, &acts, Clock::Embedder)?;
    }

    #[test]
    fn traces_show_a_power9s_guest_what_single_instructions_do(acts in acts()) {
        same(&POWER9, &acts, Clock::Embedder)?;
    }

    #[test]
    fn traces_show_a_k8s_guest_the_cycles_of_single_instructions(acts in acts()) {
        same(&K8, &acts, Clock::Companion)?;
    }

    #[test]
    fn traces_show_a_knights_landings_guest_the_cycles_of_single_instructions(acts in acts()) {
        same(&KNL, &acts, Clock::Companion)?;
    }

    #[test]
    fn traces_show_a_power9s_guest_the_cycles_of_single_instructions(acts in acts()) {
        same(&POWER9, &acts, Clock::Companion)?;
    }
}

#[test]
fn requests_are_told_another_device_in_blocks() {
    let (machine, companion) = (KNL.machine(), KNL.companion());
    let told = Mutex::new(0);
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.follow(companion.follower(0).unwrap(), SignalSet::EMPTY);
    cpu.set_context(KNL.contexts[0]);
    cpu.watch(SignalSet::EMPTY, Records::REQUESTS);
    cpu.observe_requests(|_| *told.lock().unwrap() += 1);
    assert!(cpu.traces_blocks());
    let mut block = Block::new();
    block.push(&Instruction { address: 0x1000, physical: 0x1000, length: 4, ..Instruction::default() });
    let access = Access { address: 0x8000, physical: 0x8000, size: 8, ..Access::default() };
    cpu.execute_trace(&[Traced::block(0, 0), Traced::access(0, &access)], 0x1004, &[block][..], &mut companion::Untranslated(12));
    cpu.complete_trace(0);
    drop(cpu);
    // The line of code, and that of data.
    assert_eq!(told.into_inner().unwrap(), 2);
}

#[test]
fn the_deadline_of_a_signal_that_the_companion_makes_is_not_reached_within_a_block() {
    let (machine, companion) = (K8.machine(), K8.companion());
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.follow(companion.follower(0).unwrap(), SignalSet::EMPTY);
    cpu.set_context(K8.contexts[0]);
    // Misses of the data cache, 1,000 to go: with 256 an instruction, three cannot reach that.
    for (register, value) in [(0xC001_0004, 0u64.wrapping_sub(1000)), (0xC001_0000, 0x0053_0041)] {
        cpu.access(|pmu| pmu.x86().wrmsr(register, value)).unwrap();
    }
    assert!(cpu.traces_blocks());
    assert_eq!(cpu.refill(10), 3);
}

#[test]
fn instructions_whose_records_are_all_wanted_are_not_traced_in_blocks() {
    let (machine, companion) = (POWER9.machine(), POWER9.companion());
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.follow(companion.follower(0).unwrap(), SignalSet::EMPTY);
    cpu.set_context(POWER9.contexts[0]);
    cpu.access(|pmu| pmu.power().mtspr(795, 0x0400_0000)).unwrap();
    assert!(cpu.is_followed() && !cpu.traces_blocks(), "branches are recorded");
    assert_eq!(cpu.refill(10), 1);
}

#[test]
fn entries_that_name_no_block_or_instruction_are_left_out() {
    let (machine, companion) = (K8.machine(), K8.companion());
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.follow(companion.follower(0).unwrap(), SignalSet::EMPTY);
    cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0053_0041)).unwrap();
    let mut block = Block::new();
    block.push(&Instruction { address: 0x1000, physical: 0x1000, length: 4, ..Instruction::default() });
    let load = |number, address| Traced::access(number, &Access { address, physical: address, size: 8, ..Access::default() });
    let trace = [
        load(0, 0x8000),
        Traced::block(7, 0),
        load(0, 0x9000),
        Traced::block(0, 0),
        load(3, 0xA000),
        Traced { what: 3, ..load(0, 0xB000) },
        Traced { what: load(0, 0).what | 0xFF00, ..load(0, 0xC000) },
        load(0, 0xD000),
    ];
    assert_eq!(cpu.refill(1), 1);
    assert!(cpu.enter(Countdown::takes(1, 0)));
    cpu.execute_trace(&trace, 0x1004, &[block, Block::new()][..], &mut Tables);
    cpu.complete_trace(0);
    assert_eq!(cpu.access(|pmu| pmu.x86().rdpmc(0)), Ok(1));
}

#[test]
fn a_block_that_is_left_after_all_of_its_instructions_is_complete_and_its_last_one_recorded() {
    let (machine, companion) = (POWER9.machine(), POWER9.companion());
    let mut cpu = Cpu::new(machine.thread(0).unwrap());
    cpu.follow(companion.follower(0).unwrap(), SignalSet::EMPTY);
    cpu.set_context(POWER9.contexts[0]);
    // PMC1 counts stores that miss the first level, and the next one is its alert.
    for (register, value) in [(798, 0xF0 << 24), (771, 0x7FFF_FFFF), (795, 0x0400_C000)] {
        cpu.access(|pmu| pmu.write(Address::Spr(register), value)).unwrap();
    }
    let mut block = Block::new();
    block.push(&Instruction { address: 0x1000, physical: 0x1000, length: 4, class: Class::Store, ..Instruction::default() });
    let store = Access { address: 0x8000, physical: 0x8000, size: 8, kind: AccessKind::Store, ..Access::default() };
    assert_eq!(cpu.refill(1), 1);
    assert!(cpu.enter(Countdown::takes(1, 0)));
    cpu.execute_trace(&[Traced::block(0, 0), Traced::access(0, &store), Traced::left(1)], 0x1004, &[block][..], &mut Tables);
    cpu.complete_trace(0);
    assert_eq!(cpu.access(|pmu| pmu.read(Address::Spr(780))), Ok(0x1000), "SIAR");
}
