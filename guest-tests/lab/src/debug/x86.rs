//! A machine of x86 for the debugger.

use vm_pmu::Address;
use vm_pmu_engines::memory::Memory;
use vm_pmu_engines::x86::CpuState;

use super::Debuggee;
use crate::held::X86;

/// The debugger's order of the general registers, by the processor's numbers.
const ORDER: [usize; 16] = [0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15];

/// Its order of the segment registers: CS, SS, DS, ES, FS, GS.
const SEGMENTS: [usize; 6] = [1, 2, 3, 0, 4, 5];

/// Bytes of the x87's registers, which the engine does not have: eight of 10 bytes, and eight words for its control.
const X87: usize = 8 * 10 + 8 * 4;

/// The instruction's longest form.
const LONGEST: usize = 15;

impl X86<'_, '_> {
    fn state(&self, cpu: usize) -> CpuState {
        self.machine
            .cpu(cpu)
            .map(|cpu| {
                let mut state = CpuState { rip: cpu.rip(), rflags: cpu.rflags(), ..CpuState::default() };
                (0..16).for_each(|number| state.gpr[number] = cpu.gpr(number));
                (0..6).for_each(|number| state.segments[number].selector = cpu.selector(number));
                (0..16).for_each(|number| state.xmm[number] = [cpu.xmm(number) as u64, (cpu.xmm(number) >> 64) as u64]);
                state
            })
            .unwrap_or_default()
    }
}

impl Debuggee for X86<'_, '_> {
    // The debugger knows the registers of the architecture by itself.
    const DESCRIPTION: &'static str = "<target version=\"1.0\"><architecture>i386:x86-64</architecture></target>";

    fn registers(&self, cpu: usize) -> Vec<Option<u8>> {
        let state = self.state(cpu);
        let mut known: Vec<u8> = ORDER.iter().flat_map(|number| state.gpr[*number].to_le_bytes()).collect();
        known.extend(state.rip.to_le_bytes());
        known.extend((state.rflags as u32).to_le_bytes());
        known.extend(SEGMENTS.iter().flat_map(|number| u32::from(state.segments[*number].selector).to_le_bytes()));
        let vectors: Vec<u8> = state.xmm.iter().flatten().flat_map(|half| half.to_le_bytes()).collect();
        // MXCSR after them is not known either.
        let unknown = |count| std::iter::repeat_n(None, count);
        known.into_iter().map(Some).chain(unknown(X87)).chain(vectors.into_iter().map(Some)).chain(unknown(4)).collect()
    }

    fn set_registers(&mut self, cpu: usize, bytes: &[u8]) -> Option<()> {
        let word = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let mut saved = self.machine.save();
        let cpu = saved.cpus.get_mut(cpu)?;
        for (place, number) in ORDER.iter().enumerate() {
            cpu.gpr[*number] = word(8 * place)?;
        }
        cpu.rip = word(128)?;
        cpu.rflags = u64::from(u32::from_le_bytes(*bytes.get(136..)?.first_chunk()?));
        let vectors = 136 + 4 + 24 + X87;
        for (number, halves) in cpu.xmm.iter_mut().enumerate() {
            *halves = [word(vectors + 16 * number)?, word(vectors + 16 * number + 8)?];
        }
        self.machine.restore(&saved).ok()
    }

    fn physical(&self, cpu: usize, address: u64) -> Option<u64> {
        self.machine.cpu(cpu)?.page_walk(address).map(|walk| walk.physical)
    }

    fn memory(&self) -> &Memory {
        self.machine.memory()
    }

    fn access(&self, index: usize) -> Option<(Address, bool)> {
        let cpu = self.machine.cpu(index)?;
        let byte = |offset: u64| {
            let mut byte = [0];
            self.memory().read_bytes(self.physical(index, cpu.rip().checked_add(offset)?)?, &mut byte).ok()?;
            Some(byte[0])
        };
        // Operand sizes, repetitions and REX change nothing of these instructions.
        let opcode = (0..LONGEST as u64).find(|offset| !matches!(byte(*offset), Some(0x66 | 0xf2 | 0xf3 | 0x40..=0x4f)))?;
        let number = cpu.gpr(1) as u32;
        match (byte(opcode)?, byte(opcode + 1)?) {
            (0x0f, 0x30) => Some((Address::Msr(number), true)),
            (0x0f, 0x32) => Some((Address::Msr(number), false)),
            (0x0f, 0x33) => Some((Address::Rdpmc(number), false)),
            _ => None,
        }
    }
}
