//! Facts of an instruction beyond those that every instruction set has.

use iced_x86::{Instruction, InstructionInfo, Mnemonic, OpAccess};

use super::moves::{is_move, spreads};
use super::opcode::{Map, Opcode};
use super::shape::{has_memory, reads_memory, registers};

/// The prefetch instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetch {
    /// PREFETCHNTA.
    Nta,
    /// PREFETCHT0.
    T0,
    /// PREFETCHT1.
    T1,
    /// PREFETCHT2.
    T2,
    /// PREFETCHW and PREFETCHWT1.
    Write,
    /// PREFETCH (3DNow!).
    Load,
}

/// The instruction classes of the floating-point and vector units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdClass {
    /// x87.
    X87,
    /// MMX and 3DNow!.
    Mmx,
    /// SSE, SSE2 and later, on all elements of the operands, or on the operands as a whole; masks too.
    PackedSse,
    /// SSE, SSE2 and later, on the lowest element.
    ScalarSse,
}

/// Of [`Facts::segments`]: CS.
pub(super) const CS: u8 = 1 << 1;

/// Facts of an instruction besides its description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// A LOCK prefix, or XCHG with memory.
    pub locked: bool,
    /// CLFLUSH, CLFLUSHOPT or CLWB.
    pub clflush: bool,
    /// CPUID.
    pub cpuid: bool,
    /// Stores past the caches: MOVNTI, MOVNTDQ, MOVNTPS and the like.
    pub streaming: bool,
    /// A prefetch instruction.
    pub prefetch: Option<Prefetch>,
    /// The floating-point or vector class.
    pub simd: Option<SimdClass>,
    /// A vector instruction that only loads a register.
    pub vector_load: bool,
    /// The segment registers that it names and loads, bit n for number n of ES, CS, SS, DS, FS, GS.
    pub segments: u8,
}

impl Facts {
    pub(super) fn of(i: &Instruction, opcode: &Opcode, used: &InstructionInfo) -> Facts {
        let simd = simd(i, opcode);
        let loaded = used.used_registers().iter().filter(|used| used.register().is_segment_register() && used.access() == OpAccess::Write);
        Facts {
            locked: i.has_lock_prefix() || i.mnemonic() == Mnemonic::Xchg && has_memory(i),
            clflush: matches!(i.mnemonic(), Mnemonic::Clflush | Mnemonic::Clflushopt | Mnemonic::Clwb),
            cpuid: i.mnemonic() == Mnemonic::Cpuid,
            streaming: is_streaming(i.mnemonic()),
            prefetch: prefetch(i.mnemonic()),
            simd,
            vector_load: matches!(simd, Some(SimdClass::PackedSse | SimdClass::ScalarSse)) && is_move(i, opcode) && reads_memory(i),
            segments: loaded.fold(0, |segments, used| segments | 1 << (used.register().number() & 7)),
        }
    }
}

fn is_streaming(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Movnti
            | M::Movntps
            | M::Movntpd
            | M::Movntdq
            | M::Movntq
            | M::Movntss
            | M::Movntsd
            | M::Maskmovq
            | M::Maskmovdqu
            | M::Vmovntps
            | M::Vmovntpd
            | M::Vmovntdq
            | M::Vmaskmovdqu
    )
}

fn prefetch(mnemonic: Mnemonic) -> Option<Prefetch> {
    Some(match mnemonic {
        Mnemonic::Prefetchnta => Prefetch::Nta,
        Mnemonic::Prefetcht0 => Prefetch::T0,
        Mnemonic::Prefetcht1 => Prefetch::T1,
        Mnemonic::Prefetcht2 => Prefetch::T2,
        Mnemonic::Prefetchw | Mnemonic::Prefetchwt1 => Prefetch::Write,
        Mnemonic::Prefetch => Prefetch::Load,
        _ => return None,
    })
}

fn simd(i: &Instruction, opcode: &Opcode) -> Option<SimdClass> {
    if registers(i).any(|register| register.is_vector_register() || register.is_k()) {
        return Some(if is_scalar(i) { SimdClass::ScalarSse } else { SimdClass::PackedSse });
    }
    match (opcode.map, opcode.byte) {
        // EMMS, FEMMS, VZEROUPPER, VZEROALL
        (Map::Of, 0x77) if opcode.extended => Some(SimdClass::PackedSse),
        (Map::Of, 0x77 | 0x0E) => Some(SimdClass::Mmx),
        (Map::One, 0xD8..=0xDF | 0x9B) => Some(SimdClass::X87),
        _ if registers(i).any(|register| register.is_mm()) => Some(SimdClass::Mmx),
        _ => None,
    }
}

/// Whether a vector instruction works on the lowest element: what it reads from memory, or would, is one number.
fn is_scalar(i: &Instruction) -> bool {
    let size = i.memory_size();
    !size.is_packed() && matches!(size.size(), 1..=8) && !i.is_broadcast() && !spreads(i.mnemonic())
}
