//! A machine of IA-64 for the debugger.
//!
//! gdb numbers the registers of IA-64 by itself: 128 general ones, 128 floating-point ones, a place for each predicate, 8 branch registers, two
//! pointers of its own, the predicates at once, ip, psr, cfm, and 128 application registers. It reads r32 and those behind it in the backing
//! store, down from AR.BSP, which it takes for the end of the frame, as operating systems have written all of it there when they tell.

use vm_pmu::Address;
use vm_pmu_engines::ia64::registers::{ar, psr};
use vm_pmu_engines::ia64::{CpuView, Float};
use vm_pmu_engines::memory::Memory;

use super::Debuggee;
use crate::held::Ia64;

/// The bits of an address that memory has: the upper three are the region.
const PHYSICAL: u64 = (1 << 61) - 1;

/// Application registers that a debugger can write: the kernel's, CCV, UNAT, FPSR, PFS, LC, EC.
const WRITTEN: [usize; 14] = [0, 1, 2, 3, 4, 5, 6, 7, ar::CCV, ar::UNAT, ar::FPSR, ar::PFS, ar::LC, ar::EC];

/// The registers in the order of gdb's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Registers {
    general: Vec<u64>,
    floating: Vec<[u64; 2]>,
    predicate: Vec<u64>,
    branch: Vec<u64>,
    /// Two of gdb's own.
    frame: [u64; 2],
    predicates: u64,
    ip: u64,
    psr: u64,
    cfm: u64,
    application: Vec<u64>,
}

impl Registers {
    fn of(cpu: &CpuView<'_>) -> Registers {
        let application = |number| if number == ar::BSP { cpu.frame_end() } else { cpu.ar(number) };
        Registers {
            general: (0..128).map(|number| cpu.gr(number).0).collect(),
            floating: (0..128).map(|number| spilled(cpu.float(number))).collect(),
            predicate: (0..64).map(|number| cpu.predicate(number).into()).collect(),
            branch: (0..8).map(|number| cpu.br(number)).collect(),
            frame: [0; 2],
            predicates: cpu.predicates(),
            ip: cpu.ip(),
            psr: cpu.psr(),
            cfm: cpu.cfm(),
            application: (0..128).map(application).collect(),
        }
    }

    /// All of them, in words of 64 bits.
    fn words(&self) -> impl Iterator<Item = u64> {
        let whole = [self.predicates, self.ip, self.psr, self.cfm];
        let first = self.general.iter().chain(self.floating.as_flattened()).chain(&self.predicate).chain(&self.branch).chain(&self.frame);
        first.copied().chain(whole).chain(self.application.iter().copied())
    }

    fn read(bytes: &[u8]) -> Option<Registers> {
        let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut some = |count: usize| Some(words.by_ref().take(count).collect::<Vec<_>>()).filter(|words| words.len() == count);
        let general = some(128)?;
        let floating = some(256)?.as_chunks().0.to_vec();
        let (predicate, branch) = (some(64)?, some(8)?);
        let frame = <[u64; 2]>::try_from(some(2)?).ok()?;
        let [predicates, ip, psr, cfm] = <[u64; 4]>::try_from(some(4)?).ok()?;
        Some(Registers { general, floating, predicate, branch, frame, predicates, ip, psr, cfm, application: some(128)? })
    }
}

/// A floating-point register as `stf.spill` stores it (SDM volume 1, 5.1.1).
fn spilled(float: Float) -> [u64; 2] {
    let Float { negative, exponent, significand } = float;
    [significand, u64::from(exponent) | u64::from(negative) << 17]
}

impl Ia64<'_, '_> {
    /// The instruction in the next slot, if it is one of the memory unit.
    fn instruction(&self, cpu: &CpuView<'_>) -> Option<u64> {
        let mut bytes = [0; 16];
        self.machine.memory().read_bytes(cpu.ip() & PHYSICAL, &mut bytes).ok()?;
        let bundle = u128::from_le_bytes(bytes);
        let slot = slot(cpu);
        // SDM volume 3, table 4-2: all templates but BBB begin with the memory unit, and MMI, MMF and MMB have two of them.
        let is_memory = match (slot, bundle as u8 & 0x1F) {
            (0, 0x16 | 0x17) => false,
            (0, _) | (1, 0x08..=0x0B | 0x0E | 0x0F | 0x18 | 0x19) => true,
            _ => false,
        };
        is_memory.then(|| (bundle >> (5 + 41 * slot)) as u64 & ((1 << 41) - 1))
    }
}

/// The slot of the next instruction.
fn slot(cpu: &CpuView<'_>) -> u64 {
    (cpu.psr() & psr::RI) >> psr::RI_SHIFT
}

impl Debuggee for Ia64<'_, '_> {
    const DESCRIPTION: &'static str = include_str!("ia64.xml");

    fn next(&self, cpu: usize) -> Option<u64> {
        self.machine.cpu(cpu).map(|cpu| cpu.ip() | slot(&cpu))
    }

    fn registers(&self, cpu: usize) -> Vec<Option<u8>> {
        let Some(cpu) = self.machine.cpu(cpu) else { return Vec::new() };
        Registers::of(&cpu).words().flat_map(|word| word.to_le_bytes().map(Some)).collect()
    }

    fn set_registers(&mut self, cpu: usize, bytes: &[u8]) -> Option<()> {
        let wanted = Registers::read(bytes)?;
        let now = Registers::of(&self.machine.cpu(cpu)?);
        // What is taken over; whatever else was to change cannot be written.
        let mut taken = now.clone();
        taken.general[1..32].copy_from_slice(&wanted.general[1..32]);
        taken.branch.clone_from(&wanted.branch);
        (taken.predicates, taken.ip, taken.psr) = (wanted.predicates | 1, wanted.ip & !0xF, wanted.psr);
        WRITTEN.into_iter().for_each(|number| taken.application[number] = wanted.application[number]);
        // gdb keeps what it has read of single predicates.
        taken.predicate.clone_from(&wanted.predicate);
        if taken != wanted {
            return None;
        }
        let mut saved = self.machine.save();
        let thread = saved.cores.iter_mut().flat_map(|core| &mut core.threads).nth(cpu)?;
        thread.general.copy_from_slice(&taken.general[..32]);
        thread.br.copy_from_slice(&taken.branch);
        (thread.predicates, thread.psr) = (taken.predicates, taken.psr);
        if thread.ip != taken.ip {
            // The bundle there has not been fetched.
            (thread.ip, thread.bundle) = (taken.ip, None);
        }
        for number in WRITTEN {
            let value = taken.application[number];
            if value != now.application[number] {
                thread.ars.insert(u8::try_from(number).ok()?, value);
            }
        }
        self.machine.restore(&saved).ok()
    }

    fn physical(&self, _cpu: usize, address: u64) -> Option<u64> {
        Some(address & PHYSICAL)
    }

    fn memory(&self) -> &Memory {
        self.machine.memory()
    }

    fn beyond_memory(&self, cpu: usize, address: u64) -> Option<u8> {
        let word = self.machine.cpu(cpu)?.stacked_at(address & !7)?;
        word.to_le_bytes().get((address & 7) as usize).copied()
    }

    fn access(&self, cpu: usize) -> Option<(Address, bool)> {
        let cpu = self.machine.cpu(cpu)?;
        let instruction = self.instruction(&cpu)?;
        let field = |low: u32, bits: u32| (instruction >> low & ((1 << bits) - 1)) as usize;
        // Formats M42 and M43: major opcode 1, x3 0, and x6, where r3 has the number (SDM volume 3, 4.4.9).
        if (field(37, 4), field(33, 3)) != (1, 0) || !cpu.predicate(field(0, 6)) {
            return None;
        }
        let number = cpu.gr(field(20, 7)).0 as u8;
        match field(27, 6) {
            0x01 => Some((Address::Dbr(number), true)),
            0x02 => Some((Address::Ibr(number), true)),
            0x04 => Some((Address::Pmc(number), true)),
            0x05 => Some((Address::Pmd(number), true)),
            0x11 => Some((Address::Dbr(number), false)),
            0x12 => Some((Address::Ibr(number), false)),
            0x14 => Some((Address::Pmc(number), false)),
            0x15 => Some((Address::Pmd(number), false)),
            _ => None,
        }
    }
}
