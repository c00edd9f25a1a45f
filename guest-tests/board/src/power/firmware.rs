//! Host firmware and the nests of the chips: what a POWER9 machine with in-memory collection has in addition to its CPUs.
//!
//! The firmware (OPAL) is two instructions in its own memory: an `attn`, which the engine hands to [`Firmware::call`], and a return. A
//! guest finds them as an operating system does: GPR 3 has the device tree, and its node `/ibm,opal` has the address to branch to,
//! big-endian and in hypervisor state, with the number of the call in GPR 0. Before the guest starts, the firmware has had the engine of
//! each nest program its counters, and has paused it.
//!
//! Nest cycles follow core cycles, those of the CPU that is furthest. Cores that collect post as often as a slot of the nest comes. What
//! moves between caches and memory is reported by the companion, if there is one, before each slot.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vm_pmu::arch::event::POWER9;
use vm_pmu::companion::Companion;
use vm_pmu::memory::{
    Bank, Call, Chip, DEFAULT_BANKS, FLEXIBLE_BANKS, Guest, Memory as _, MemoryError, Nest, Outcome, Passed, Platform, Prescaler, REGION,
    Traffic, Width,
};
use vm_pmu::snapshot::SnapshotError;
use vm_pmu::topology::Machine;
use vm_pmu::tree::power9::{self, ImcCatalogue, ImcCounters};
use vm_pmu::tree::vm_fdt::FdtWriter;

use crate::Lines;
use crate::report::Posted;
use crate::trace::Listener;
use vm_pmu_engines::memory::Memory;
use vm_pmu_engines::power::Entry;
use vm_pmu_engines::power::assemble::Assembler;
use vm_pmu_engines::power::registers::POWER9_PVR;

/// The most chips.
pub const MAX_CHIPS: usize = 3;

/// The home memory of the first chip; those of the others follow.
const HOME: u64 = 0x100_0000;
/// Bytes from one chip's home memory to the next one's.
const HOME_SIZE: u64 = 0x40_0000;
/// The firmware's memory.
const BASE: u64 = 0x1C0_0000;
/// Where calls enter it.
const ENTRY: u64 = BASE + 0x100;
/// The device tree.
const TREE: u64 = BASE + 0x1_0000;

/// OPAL_CHECK_TOKEN: whether there is a call of this number (skiboot `include/opal-api.h`).
const CHECK_TOKEN: u64 = 80;
/// The time base's ticks in a second.
const TIME_BASE: u32 = 512_000_000;

/// How fast the nests are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Cycles of the nest in `core` cycles of a core.
    pub nest: u64,
    /// Cycles of a core in which the nest has `nest` cycles; 0 counts as 1.
    pub core: u64,
    /// Cycles of the nest from one slot of its engine to the next.
    pub slot: u64,
}

impl Default for Pace {
    /// 2 GHz with a core at 4 GHz. A slot comes every 500 cycles, so four in a microsecond and not one in 500: a guest waits by executing.
    fn default() -> Self {
        Pace { nest: 1, core: 2, slot: 500 }
    }
}

/// The firmware and the nests of the chips.
#[derive(Debug)]
pub struct Firmware<'a> {
    platform: Platform,
    /// The cores that the platform's calls reach.
    cores: &'a Machine<Lines>,
    companion: Option<(&'a Companion, Traffic)>,
    memory: OnceCell<Arc<Memory>>,
    pirs: Vec<u32>,
    pace: Pace,
    /// Cycles of a core so far.
    cycles: Cell<u64>,
    /// Cycles of the nest so far.
    passed: Cell<u64>,
    /// Cycles of a core at which the next slot comes.
    next: Cell<u64>,
    /// Accesses that memory refused.
    refused: Cell<u64>,
    /// Who is told what is posted, and at which cycle of a core next.
    listener: OnceCell<Listener>,
    sample: Cell<u64>,
}

/// The state of the firmware and the nests. The firmware's code and the device tree are in the guest's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirmwareState {
    /// What [`Chip::save`] makes of each chip.
    pub chips: Vec<Vec<u8>>,
    /// The bytes that each chip has moved, within it and to or from others, where a companion reports them.
    pub moved: Vec<[u64; 2]>,
    /// Cycles of a core so far.
    pub cycles: u64,
    /// Cycles of the nest so far.
    pub passed: u64,
    /// Cycles of a core at which the next slot comes.
    pub next: u64,
    /// Accesses that memory refused.
    pub refused: u64,
}

/// The number of the chip that is counted as `chip`, from 0: machines of two sockets number their chips 0 and 8.
#[must_use]
pub const fn chip_id(chip: usize) -> u32 {
    8 * chip as u32
}

/// How many events one in the cell at `offset` is worth, at the faster speeds.
#[must_use]
pub fn scale(offset: u32) -> u64 {
    let mut banks = DEFAULT_BANKS.iter().chain(&FLEXIBLE_BANKS);
    let has = |bank: &Bank| (bank.offset..bank.offset_of(bank.counters())).contains(&offset);
    match banks.find(|bank| has(bank)) {
        Some(bank) if bank.width == Width::Prescaled => 1 << (Prescaler::By8.bits() + bank.pulse_bits(0)),
        _ => 1,
    }
}

/// The PIRs of `cpus` threads on `chips` chips, those of a chip in one core.
fn pirs(chips: usize, cpus: usize) -> Vec<u32> {
    let threads = cpus.div_ceil(chips.max(1)).max(1);
    (0..cpus).map(|cpu| chip_id(cpu / threads) << 8 | (cpu % threads) as u32).collect()
}

impl<'a> Firmware<'a> {
    /// The firmware of `chips` chips, 1 to [`MAX_CHIPS`], among which the CPUs of `cores` are divided; `companion` has as many packages.
    #[must_use]
    pub fn new(chips: usize, cores: &'a Machine<Lines>, companion: Option<&'a Companion>, pace: Pace) -> Firmware<'a> {
        let pirs = pirs(chips, cores.threads());
        let home = |chip: usize| HOME + HOME_SIZE * chip as u64;
        let chip = |number: usize| Chip::new(chip_id(number), Nest::new(home(number)).with_slot(pace.slot));
        let platform = Platform::new((0..chips.clamp(1, MAX_CHIPS)).map(chip).collect(), pirs.clone())
            .expect("chips and CPUs that are numbered here differ");
        let interval = pace.slot.saturating_mul(pace.core) / pace.nest.max(1);
        (0..chips).filter_map(|core| cores.collection(core)).for_each(|core| core.set_interval(interval));
        let (cycles, passed, next, refused) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
        let companion = companion.map(|companion| (companion, Traffic::new(companion, chips)));
        let (memory, listener, sample) = (OnceCell::new(), OnceCell::new(), Cell::new(0));
        Firmware { platform, cores, companion, memory, pirs, pace, cycles, passed, next, refused, listener, sample }
    }

    /// What a CPU finds in its registers.
    #[must_use]
    pub fn entry(&self) -> Entry {
        Entry::DeviceTree { tree: TREE, base: BASE, firmware: ENTRY }
    }

    /// The PIR of each CPU.
    #[must_use]
    pub fn pirs(&self) -> &[u32] {
        &self.pirs
    }

    /// The chips.
    #[must_use]
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// How many accesses to the chips' regions memory refused: none, as long as they are in RAM.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.get()
    }

    /// What the nests' cells hold of the catalogue's events, in events, where that is not zero.
    #[must_use]
    pub fn posted(&self) -> Vec<Posted> {
        let Some(memory) = self.memory.get() else { return Vec::new() };
        let guest = Guest(memory.guest_memory());
        let events = || POWER9.events().filter(|entry| entry.unit == "nest").filter_map(|entry| Some((entry.name, entry.offset?)));
        let of = |chip: &Chip| {
            let (id, region) = (chip.id(), chip.home() + REGION);
            let cell = move |(event, offset): (&str, u32)| {
                let held = guest.load(region + u64::from(offset)).unwrap_or(0);
                Posted { chip: id, event: event.to_owned(), count: held.wrapping_mul(scale(offset)) }
            };
            events().map(cell).filter(|posted| posted.count != 0).collect::<Vec<_>>()
        };
        self.platform.chips().iter().flat_map(of).collect()
    }

    /// Tells `listener` from now on what is posted, if it asks for it.
    pub fn follow(&self, listener: &Listener) {
        if listener.0.every_of_nests().is_some() {
            self.listener.get_or_init(|| listener.clone());
        }
    }

    /// Tells who follows the run what is posted by now.
    pub fn tell(&self) {
        if let Some(listener) = self.listener.get() {
            listener.0.posted(self.cycles.get(), &self.posted());
            self.sample.set(self.cycles.get().saturating_add(listener.0.every_of_nests().unwrap_or(u64::MAX)));
        }
    }

    /// Puts itself into `memory`, with the device tree, and has the engines begin and pause.
    ///
    /// # Errors
    ///
    /// What does not fit into memory, or into a tree, in one line.
    pub fn boot(&self, memory: &Arc<Memory>) -> Result<(), String> {
        let memory = self.memory.get_or_init(|| Arc::clone(memory));
        let mut code = Assembler::new(ENTRY, false);
        code.attn();
        code.blr();
        let code = code.finish().map_err(|error| error.to_string())?;
        memory.write_bytes(ENTRY, &code).map_err(|error| error.to_string())?;
        let guest = Guest(memory.guest_memory());
        self.handle(self.platform.boot(&guest));
        let tree = self.tree().map_err(|error| error.to_string())?;
        memory.write_bytes(TREE, &tree).map_err(|error| error.to_string())?;
        self.poll(0);
        Ok(())
    }

    fn tree(&self) -> Result<Vec<u8>, power9::Error> {
        let described = |chip: &Chip| power9::Chip { id: chip.id(), home: chip.home(), availability: chip.units() };
        let chips: Vec<power9::Chip> = self.platform.chips().iter().map(described).collect();
        let mut fdt = FdtWriter::new_with_mem_reserv(&power9::reservations(&chips)?)?;
        let root = fdt.begin_node("")?;
        fdt.property_u32("#address-cells", 2)?;
        fdt.property_u32("#size-cells", 2)?;
        self.write_cpus(&mut fdt)?;
        let node = fdt.begin_node("ibm,opal")?;
        fdt.property_string("compatible", "ibm,opal-v3")?;
        fdt.property_u64("opal-base-address", BASE)?;
        fdt.property_u64("opal-entry-address", ENTRY)?;
        fdt.end_node(node)?;
        let catalogue = ImcCatalogue { core: true, thread: true, ..ImcCatalogue::NEST };
        power9::write_imc_counters(&mut fdt, &ImcCounters { catalogue, ..ImcCounters::of(&chips) })?;
        fdt.end_node(root)?;
        Ok(fdt.finish()?)
    }

    /// A node for each core, and the features of all.
    fn write_cpus(&self, fdt: &mut FdtWriter) -> Result<(), power9::Error> {
        let cpus = fdt.begin_node("cpus")?;
        fdt.property_u32("#address-cells", 1)?;
        fdt.property_u32("#size-cells", 0)?;
        for core in self.pirs.chunk_by(|one, other| one >> 2 == other >> 2) {
            let Some(first) = core.first() else { continue };
            let node = fdt.begin_node(&format!("PowerPC,POWER9@{first:x}"))?;
            fdt.property_string("device_type", "cpu")?;
            fdt.property_u32("reg", *first)?;
            fdt.property_u32("ibm,chip-id", first >> 8)?;
            fdt.property_array_u32("ibm,ppc-interrupt-server#s", core)?;
            fdt.property_u32("timebase-frequency", TIME_BASE)?;
            power9::write_cpu_version(fdt, POWER9_PVR as u32)?;
            fdt.end_node(node)?;
        }
        let features = fdt.begin_node("ibm,powerpc-cpu-features")?;
        fdt.property_string("compatible", "ibm,powerpc-cpu-features")?;
        fdt.property_u32("isa", power9::ISA)?;
        power9::write_performance_monitor(fdt)?;
        fdt.end_node(features)?;
        Ok(fdt.end_node(cpus)?)
    }

    /// Performs the call at `address` of the number and with the arguments that are in `registers`, GPR 0 and 3 to 5; `None` if no call
    /// enters there.
    #[must_use]
    pub fn call(&self, address: u64, [number, first, second, third]: [u64; 4]) -> Option<u64> {
        if address != ENTRY {
            return None;
        }
        let guest = Guest(self.memory.get()?.guest_memory());
        if number == CHECK_TOKEN {
            return Some(u64::from(first == CHECK_TOKEN || Call::of_number(first).is_some()));
        }
        // An unknown number is a bad parameter.
        let outcome = self.platform.call_with(self.cores, number, [first, second, third], &guest).unwrap_or(Outcome::Parameter);
        Some(outcome.value() as u64)
    }

    /// Its state. What caches and memory have moved so far is reported to the chips first, which changes nothing that they post.
    ///
    /// # Errors
    /// [`SnapshotError::OutOfMemory`].
    pub fn state(&self) -> Result<FirmwareState, SnapshotError> {
        let chips = self.platform.chips();
        if let Some((companion, traffic)) = &self.companion {
            traffic.flush(companion, chips);
        }
        Ok(FirmwareState {
            chips: chips.iter().map(Chip::save).collect::<Result<_, _>>()?,
            moved: self.companion.as_ref().map_or_else(Vec::new, |(_, traffic)| traffic.moved()),
            cycles: self.cycles.get(),
            passed: self.passed.get(),
            next: self.next.get(),
            refused: self.refused.get(),
        })
    }

    /// Continues from a saved state, after [`boot`](Firmware::boot), in a machine whose memory was restored with it.
    ///
    /// # Errors
    /// [`SnapshotError`] of the first chip that refuses. Those before it have then been restored.
    pub fn restore(&self, state: &FirmwareState) -> Result<(), SnapshotError> {
        let chips = self.platform.chips();
        for (chip, saved) in chips.iter().zip(&state.chips) {
            chip.load(saved)?;
        }
        self.cycles.set(state.cycles);
        self.passed.set(state.passed);
        self.next.set(state.next);
        self.refused.set(state.refused);
        if let Some((companion, traffic)) = &self.companion {
            traffic.restore(&state.moved);
            traffic.sync(companion, chips);
        }
        Ok(())
    }

    /// A CPU has reached this cycle.
    #[inline]
    pub fn advance(&self, cycles: u64) {
        if cycles >= self.next.get() {
            self.poll(cycles);
        }
    }

    /// The cycles of a CPU at which something is due by itself: up to there, time need not be reported at each instruction.
    #[must_use]
    pub fn next_poll(&self) -> u64 {
        self.next.get()
    }

    #[cold]
    fn poll(&self, cycles: u64) {
        let core = u128::from(self.pace.core.max(1));
        let nest = u128::from(self.pace.nest.max(1));
        let now = (u128::from(cycles) * nest / core) as u64;
        let passed = now.saturating_sub(self.passed.replace(now.max(self.passed.get())));
        self.advance_nest(passed);
        self.advance_cores(cycles.saturating_sub(self.cycles.replace(cycles.max(self.cycles.get()))));
        let until = self.platform.chips().iter().map(Chip::until_slot).min().unwrap_or(1);
        let next = u128::from(self.passed.get().saturating_add(until)) * core;
        self.next.set(next.div_ceil(nest) as u64);
        if self.cycles.get() >= self.sample.get() {
            self.tell();
        }
    }

    /// `cycles` of the nest elapse.
    fn advance_nest(&self, cycles: u64) {
        let chips = self.platform.chips();
        if let Some((companion, traffic)) = &self.companion {
            traffic.flush(companion, chips);
        }
        if let Some(memory) = self.memory.get() {
            self.handle(self.platform.advance(cycles, &Guest(memory.guest_memory())));
        }
        if let Some((companion, traffic)) = &self.companion {
            traffic.sync(companion, chips);
        }
    }

    fn handle(&self, passed: Passed<MemoryError>) {
        self.refused.set(self.refused.get() + u64::from(passed.refused));
    }

    /// `cycles` of the cores elapse.
    fn advance_cores(&self, cycles: u64) {
        let Some(memory) = self.memory.get() else { return };
        let packages = 0..self.platform.chips().len();
        for core in packages.filter_map(|package| self.cores.collection(package)).filter(|core| core.is_running()) {
            self.handle(core.advance(cycles, &Guest(memory.guest_memory())));
        }
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu::Part;
    use vm_pmu::topology::Builder;

    use super::*;

    fn cores(packages: usize, threads: usize) -> Machine<Lines> {
        let part = Part::named("power9").expect("a part");
        Builder::of(part).packages(packages).threads(threads).build(Lines::new(packages * threads)).unwrap()
    }

    fn memory() -> Arc<Memory> {
        Arc::new(Memory::new(32 << 20).expect("memory"))
    }

    /// What the head of group 1 of the first chip holds.
    fn updates(memory: &Memory) -> u64 {
        memory.read(HOME + REGION, 8).swap_bytes()
    }

    #[test]
    fn group_1_is_posted_after_every_second_slot_of_a_core_twice_as_fast() {
        let (cores, memory) = (cores(1, 1), memory());
        let firmware = Firmware::new(1, &cores, None, Pace { nest: 1, core: 2, slot: 100 });
        firmware.boot(&memory).expect("boots");
        assert_eq!(firmware.call(ENTRY, [150, 1, 0, 0]), Some(0));
        // The first slot notices the start; of 40 slots of 200 cycles every second one posts.
        (1..=8000).for_each(|cycles| firmware.advance(cycles));
        assert_eq!(updates(&memory), 20);
        assert_eq!(firmware.refused(), 0);
    }

    #[test]
    fn time_that_another_cpu_has_told_goes_by_once() {
        let (cores, memory) = (cores(1, 2), memory());
        let firmware = Firmware::new(1, &cores, None, Pace { nest: 1, core: 1, slot: 100 });
        firmware.boot(&memory).expect("boots");
        assert_eq!(firmware.call(ENTRY, [150, 1, 1, 0]), Some(0));
        for cycles in (0..=4000).step_by(50) {
            firmware.advance(cycles);
            firmware.advance(cycles / 2);
        }
        assert_eq!(updates(&memory), 20);
    }

    #[test]
    fn threads_of_a_chip_are_of_one_core() {
        let cores = cores(2, 2);
        assert_eq!(Firmware::new(2, &cores, None, Pace::default()).pirs(), [0, 1, 0x800, 0x801]);
    }

    #[test]
    fn calls_enter_at_one_address_and_by_known_numbers() {
        let (cores, memory) = (cores(1, 1), memory());
        let firmware = Firmware::new(1, &cores, None, Pace::default());
        assert_eq!(firmware.call(ENTRY, [150, 1, 0, 0]), None, "not booted");
        firmware.boot(&memory).expect("boots");
        assert_eq!(firmware.call(ENTRY + 4, [150, 1, 0, 0]), None);
        assert_eq!(firmware.call(ENTRY, [CHECK_TOKEN, 151, 0, 0]), Some(1));
        assert_eq!(firmware.call(ENTRY, [CHECK_TOKEN, 152, 0, 0]), Some(0));
        assert_eq!(firmware.call(ENTRY, [152, 0, 0, 0]), Some(-1i64 as u64));
    }

    #[test]
    fn a_cell_is_worth_what_its_prescaler_and_its_bus_make_of_it() {
        // Count of updates, PB, X link, host bridge, memory buffer, the flexible mode's memory buffer.
        assert_eq!([0, 0x08, 0x120, 0x340, 0x448, 0x1_0450].map(scale), [1, 256, 4096, 1, 1, 256]);
    }
}
