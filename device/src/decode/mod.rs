//! Decoding of instructions: registers, class, branch and accesses, by their bytes.
//!
//! A companion needs to know of each instruction that it [follows](crate::companion) its class, its registers, its branch and its accesses. An
//! emulator that translates has the bytes. [`x86::decode`] and [`power::decode`] turn them into a [`Description`], once for each instruction that is
//! translated; [`Description::instruction`] adds what only its execution determines. They also tell which signals an instruction adds whenever it
//! retires, so that a translator supplies them as counts of blocks, without following anything.
//!
//! ```
//! use vm_pmu::Signal;
//! use vm_pmu::companion::{Access, AccessKind, Class};
//! use vm_pmu::decode::x86::{self, Mode};
//!
//! // add rax, [rbx+8]
//! let add = x86::decode(&[0x48, 0x03, 0x43, 0x08], Mode::Bits64, 0x1000).unwrap();
//! let description = add.description;
//! assert_eq!((description.length, description.operands.class), (4, Class::Simple));
//! assert_eq!(description.accesses().iter().map(|access| (access.kind, access.bytes)).collect::<Vec<_>>(), [(AccessKind::Load, 8)]);
//!
//! // As it is executed, its address is known.
//! let accesses = [Access { address: 0x8008, physical: 0x8008, size: 8, ..Access::default() }];
//! let executed = description.instruction(0x1000, 0x1000, &accesses, None);
//! assert_eq!(executed.micro_ops, 2);
//!
//! let mut loads = 0;
//! add.signals(|signal, amount| loads += if signal == Signal::Loads { amount } else { 0 });
//! assert_eq!(loads, 1);
//! ```
//!
//! No bytes make it panic. What a byte sequence is depends on nothing but the mode: instructions that a part lacks, such as
//! AVX on a K8, are described too, since the emulator has raised its exception before.
#![cfg_attr(
    not(any(feature = "k8", feature = "knl", feature = "power9")),
    allow(dead_code, unused_variables, unused_mut, reason = "this build decodes nothing")
)]

mod operands;
#[cfg(feature = "power9")]
pub mod power;
#[cfg(any(feature = "k8", feature = "knl"))]
pub mod x86;

pub use operands::Operands;

use vm_pmu_arch::feed::{BranchKind, ExecutionUnit, Signal};
use vm_pmu_arch::registry::Part;

use crate::companion::{self, AccessKind, Operation, Transfer};

/// The most registers of an instruction that are listed. CMPXCHG16B with base, index and segment computes an address from three, reads four
/// others and writes three.
pub const MOST_REGISTERS: usize = 10;

/// The most accesses of an instruction that are listed: PUSHA stores eight registers.
pub const MOST_ACCESSES: usize = 8;

/// Why bytes are not described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecoded {
    /// They end before the instruction does.
    Short,
    /// They are no instruction.
    Invalid,
    /// This build has no decoder for the mode: the features of the parts decide.
    LeftOut,
}

impl core::fmt::Display for Undecoded {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(match self {
            Undecoded::Short => "the bytes end before the instruction does: pass as many as the longest instruction has",
            Undecoded::Invalid => "the bytes are no instruction in this mode: pass those of one that was executed",
            Undecoded::LeftOut => "this build has no decoder for the mode: build it with a part that has the mode",
        })
    }
}

impl core::error::Error for Undecoded {}

/// A control transfer, as the bytes tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its kind.
    pub kind: BranchKind,
    /// Where it goes, if its bytes have the target.
    pub target: Option<u64>,
}

impl Branch {
    /// Whether it may not be taken.
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        self.kind == BranchKind::Conditional
    }
}

/// An access to memory, as the bytes tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Its kind.
    pub kind: AccessKind,
    /// Its size in bytes; one more than that of an access of a companion may be reported in parts.
    pub bytes: u16,
    /// Whether it is part of a locked read-modify-write.
    pub locked: bool,
}

impl Access {
    /// An access that is not locked.
    pub(crate) const fn new(kind: AccessKind, bytes: u16) -> Access {
        Access { kind, bytes, locked: false }
    }
}

/// An instruction as its bytes describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Its length in bytes.
    pub length: u8,
    /// Number of slots of a cycle that it takes, as an estimate for every processor of the instruction set.
    pub micro_ops: u8,
    /// Its class, and its registers.
    pub operands: Operands<MOST_REGISTERS>,
    /// Whether it belongs to the floating-point or vector unit.
    pub floating_point: bool,
    /// Number of segment registers that it loads, other than CS.
    pub segment_loads: u8,
    /// Its control transfer, if it is one.
    pub branch: Option<Branch>,
    /// Whether it makes its accesses any number of times: string instructions with a REP prefix, gathers and scatters. Each iteration is reported by
    /// itself.
    pub repeats: bool,
    accesses: [Access; MOST_ACCESSES],
    access_count: u8,
}

impl Default for Description {
    /// An instruction that does nothing, of no bytes.
    fn default() -> Self {
        Description {
            length: 0,
            micro_ops: 1,
            operands: Operands::default(),
            floating_point: false,
            segment_loads: 0,
            branch: None,
            repeats: false,
            accesses: [Access::default(); MOST_ACCESSES],
            access_count: 0,
        }
    }
}

impl Description {
    /// Its accesses, loads before stores. Those of a read-modify-write are two.
    #[must_use]
    pub fn accesses(&self) -> &[Access] {
        self.accesses.get(..usize::from(self.access_count)).unwrap_or(&[])
    }

    /// Lists an access, if there is room.
    pub(crate) fn access(&mut self, access: Access) {
        if let Some(place) = self.accesses.get_mut(usize::from(self.access_count)) {
            *place = access;
            self.access_count += 1;
        }
    }

    /// Its operands.
    #[must_use]
    pub fn operation(&self) -> Operation<'_> {
        self.operands.operation()
    }

    /// Its control transfer, which went to `target` or would have; none if it is no control transfer.
    #[must_use]
    pub fn transfer(&self, taken: bool, target: u64) -> Option<Transfer> {
        self.branch.map(|branch| Transfer { kind: branch.kind, taken, target })
    }

    /// The instruction as a companion follows it, executed at `address`, whose bytes are at `physical`. An instruction that crosses into a page that
    /// does not follow in physical memory gets its [`next_page`](companion::Instruction::next_page) besides.
    #[must_use]
    pub fn instruction<'a>(
        &'a self,
        address: u64,
        physical: u64,
        accesses: &'a [companion::Access],
        transfer: Option<Transfer>,
    ) -> companion::Instruction<'a> {
        companion::Instruction {
            address,
            physical,
            length: self.length,
            next_page: None,
            micro_ops: self.micro_ops,
            class: self.operands.class,
            operation: Some(self.operation()),
            floating_point: self.floating_point,
            segment_loads: self.segment_loads,
            accesses,
            transfer,
            bundle: None,
        }
    }
}

/// The signal that a taken branch of this kind adds one of, apart from those of all branches. Of a conditional branch it depends on whether it is
/// taken.
#[must_use]
pub const fn branch_signal(kind: BranchKind) -> Option<Signal> {
    match kind {
        BranchKind::DirectJump => Some(Signal::DirectJumps),
        BranchKind::IndirectJump => Some(Signal::IndirectJumps),
        BranchKind::DirectCall => Some(Signal::DirectCalls),
        BranchKind::IndirectCall => Some(Signal::IndirectCalls),
        BranchKind::Return => Some(Signal::NearReturns),
        BranchKind::Far => Some(Signal::FarTransfers),
        BranchKind::Conditional | BranchKind::Exception | BranchKind::FailedCheck => None,
    }
}

/// How bytes are read: an instruction set, and a mode of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// x86, code of 16 bits.
    X86Bits16,
    /// x86, code of 32 bits.
    X86Bits32,
    /// x86, code of 64 bits.
    X86Bits64,
    /// POWER, with words in little-endian order (MSR.LE is 1).
    PowerLittleEndian,
    /// POWER, with words in big-endian order.
    PowerBigEndian,
}

impl Mode {
    /// Every mode, in order.
    pub const ALL: [Mode; Mode::PowerBigEndian as usize + 1] =
        [Mode::X86Bits16, Mode::X86Bits32, Mode::X86Bits64, Mode::PowerLittleEndian, Mode::PowerBigEndian];
}

/// An instruction of any instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decoded {
    /// One of x86.
    #[cfg(any(feature = "k8", feature = "knl"))]
    X86(x86::Instruction),
    /// One of POWER.
    #[cfg(feature = "power9")]
    Power(power::Instruction),
}

impl Decoded {
    /// The description for a companion.
    #[must_use]
    pub fn description(&self) -> &Description {
        match *self {
            #[cfg(any(feature = "k8", feature = "knl"))]
            Decoded::X86(ref instruction) => &instruction.description,
            #[cfg(feature = "power9")]
            Decoded::Power(ref instruction) => &instruction.description,
        }
    }

    /// The unit that executes it, for a [record](vm_pmu_arch::feed::Sample::unit) of POWER; not known of x86.
    #[must_use]
    pub fn unit(&self) -> ExecutionUnit {
        match *self {
            #[cfg(any(feature = "k8", feature = "knl"))]
            Decoded::X86(_) => ExecutionUnit::Unknown,
            #[cfg(feature = "power9")]
            Decoded::Power(ref instruction) => power::unit(instruction.facts.category, instruction.facts.barrier),
        }
    }

    /// Passes to `add` what one such instruction adds to signals of `part` as it retires, as far as its bytes determine it. No signal comes twice.
    pub fn signals(&self, part: Part, mut add: impl FnMut(Signal, u64)) {
        let vocabulary = part.vocabulary();
        let known = |signal, amount| {
            if vocabulary.has(signal) {
                add(signal, amount);
            }
        };
        match *self {
            #[cfg(any(feature = "k8", feature = "knl"))]
            Decoded::X86(ref instruction) => instruction.signals(known),
            #[cfg(feature = "power9")]
            Decoded::Power(ref instruction) => instruction.signals(known),
        }
    }
}

/// Decodes the instruction at the start of `bytes`, whose first is at `address`.
///
/// # Errors
///
/// [`Undecoded`].
pub fn decode(bytes: &[u8], mode: Mode, address: u64) -> Result<Decoded, Undecoded> {
    match mode {
        Mode::X86Bits16 | Mode::X86Bits32 | Mode::X86Bits64 => of_x86(bytes, mode, address),
        Mode::PowerLittleEndian | Mode::PowerBigEndian => of_power(bytes, mode, address),
    }
}

#[cfg(any(feature = "k8", feature = "knl"))]
fn of_x86(bytes: &[u8], mode: Mode, address: u64) -> Result<Decoded, Undecoded> {
    let mode = match mode {
        Mode::X86Bits16 => x86::Mode::Bits16,
        Mode::X86Bits32 => x86::Mode::Bits32,
        _ => x86::Mode::Bits64,
    };
    x86::decode(bytes, mode, address).map(Decoded::X86)
}

#[cfg(not(any(feature = "k8", feature = "knl")))]
fn of_x86(_bytes: &[u8], _mode: Mode, _address: u64) -> Result<Decoded, Undecoded> {
    Err(Undecoded::LeftOut)
}

#[cfg(feature = "power9")]
fn of_power(bytes: &[u8], mode: Mode, address: u64) -> Result<Decoded, Undecoded> {
    let word = *bytes.first_chunk().ok_or(Undecoded::Short)?;
    let word = if mode == Mode::PowerBigEndian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) };
    power::decode(word, address).map(Decoded::Power)
}

#[cfg(not(feature = "power9"))]
fn of_power(_bytes: &[u8], _mode: Mode, _address: u64) -> Result<Decoded, Undecoded> {
    Err(Undecoded::LeftOut)
}
