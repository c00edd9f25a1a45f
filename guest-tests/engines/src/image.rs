//! What is loaded into guest RAM.

use std::fmt;

use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{Endian, Endianness, SectionIndex, elf};

use super::memory::{Memory, MemoryError};

/// Bytes at a physical address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Physical address of the first byte.
    pub address: u64,
    /// The bytes from the file.
    pub bytes: Vec<u8>,
    /// Bytes in memory; those beyond the file's are zero.
    pub size: u64,
    /// There may be instructions among them.
    pub executable: bool,
}

/// A routine of an image's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routine {
    /// The address of its first instruction.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// Its name.
    pub name: String,
}

/// Where a routine begins in code that is being written; without a name, where code begins that belongs to none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The address of what comes next.
    pub address: u64,
    /// The routine's name.
    pub name: Option<String>,
}

impl Mark {
    /// A routine of this name begins here. It reaches to the next mark.
    #[must_use]
    pub fn begin(address: u64, name: &str) -> Mark {
        Mark { address, name: Some(name.to_owned()) }
    }

    /// A routine ends here, and what follows belongs to none.
    #[must_use]
    pub const fn end(address: u64) -> Mark {
        Mark { address, name: None }
    }
}

/// A guest: what goes where, and where it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The segments.
    pub segments: Vec<Segment>,
    /// Address of the first instruction.
    pub entry: u64,
    /// What GPR 2 of POWER holds at the entry, for a file of the first ELF ABI: its entry is a descriptor, which says so.
    pub toc: u64,
    /// The routines that its assembler was told of, by address. A file has symbols instead.
    pub routines: Vec<Routine>,
}

/// Why an image cannot be read or loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// The file is not an ELF file.
    NotElf,
    /// A 32-bit ELF file.
    WrongClass,
    /// A big-endian ELF file of a machine that has none.
    WrongEndian,
    /// An ELF file for another machine.
    WrongMachine {
        /// The file's `e_machine`.
        machine: u16,
        /// That of guests of the part.
        right: u16,
    },
    /// Neither an executable nor a static position-independent one.
    WrongType {
        /// The file's `e_type`.
        kind: u16,
    },
    /// A file that a loader would relocate.
    Dynamic,
    /// A header points outside the file.
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// There is nothing to load.
    Empty,
    /// A segment is not inside the RAM a guest may use.
    OutOfRam {
        /// Physical address of the segment.
        address: u64,
        /// Its bytes.
        bytes: u64,
        /// Bytes of RAM a guest may use; the engine's own tables and stacks are above.
        usable: u64,
    },
    /// RAM could not be accessed.
    Memory(MemoryError),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotElf => write!(f, "not an ELF file"),
            Self::WrongClass => write!(f, "not a 64-bit ELF file"),
            Self::WrongEndian => write!(f, "not a little-endian ELF file"),
            Self::WrongMachine { machine, right } => {
                write!(f, "an ELF file for {}: guests of this part are for {}", Named(*machine), Named(*right))
            }
            Self::WrongType { kind: 1 } => write!(f, "an ELF object file, not linked yet"),
            Self::WrongType { kind } => write!(f, "an ELF file of type {kind}, not an executable"),
            Self::Dynamic => write!(f, "an ELF file that must be relocated; link it with -static -no-pie"),
            Self::Malformed { reason } => write!(f, "malformed ELF file: {reason}"),
            Self::Empty => write!(f, "nothing to load"),
            Self::OutOfRam { address, bytes, usable } => write!(
                f,
                "a segment of {bytes:#x} bytes at {address:#x} does not fit below {usable:#x}, \
                 where usable RAM ends"
            ),
            Self::Memory(e) => e.fmt(f),
        }
    }
}

/// An `e_machine`, by its name where a guest could have been built for it by mistake.
struct Named(u16);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match elf::Machine(self.0) {
            elf::EM_386 => "i386",
            elf::EM_PPC => "32-bit POWER",
            elf::EM_PPC64 => "64-bit POWER",
            elf::EM_IA_64 => "IA-64",
            elf::EM_X86_64 => "x86-64",
            elf::EM_AARCH64 => "AArch64",
            elf::EM_RISCV => "RISC-V",
            _ => return write!(f, "machine {}", self.0),
        };
        write!(f, "{name} (machine {})", self.0)
    }
}

impl std::error::Error for ImageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Memory(e) => Some(e),
            _ => None,
        }
    }
}

impl From<MemoryError> for ImageError {
    fn from(e: MemoryError) -> Self {
        Self::Memory(e)
    }
}

/// Which byte orders a guest may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Either,
}

/// The `e_machine` of an ELF file; nothing of any other file.
#[must_use]
pub fn machine(file: &[u8]) -> Option<u16> {
    let little_endian = file.get(5).is_none_or(|data| *data != elf::ELFDATA2MSB.0);
    if file.starts_with(b"\x7fELF") { machine_of(file, little_endian) } else { None }
}

/// The file's `e_machine`, at the same place in files of 32 bits and of 64.
fn machine_of(file: &[u8], little_endian: bool) -> Option<u16> {
    let bytes = [*file.get(18)?, *file.get(19)?];
    Some(if little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
}

/// The first instruction and the TOC base of the function whose descriptor lies at `address` of `.opd`, if it does (64-bit PowerPC ELF ABI
/// Supplement 1.9, section 3.2.5).
fn descriptor(file: &[u8], address: u64) -> Option<(u64, u64)> {
    let parsed = ElfFile64::<Endianness>::parse(file).ok()?;
    let (endian, sections) = (parsed.endian(), parsed.elf_section_table());
    let names = sections.section(SectionIndex(parsed.elf_header().e_shstrndx(endian).0.into())).ok()?.data(endian, file).ok()?;
    let named = |section: &&elf::SectionHeader64<Endianness>| {
        names.get(section.sh_name(endian) as usize..).is_some_and(|name| name.starts_with(b".opd\0"))
    };
    let section = sections.iter().find(named)?;
    let offset = usize::try_from(address.checked_sub(section.sh_addr(endian))?).ok()?;
    let words = section.data(endian, file).ok()?.get(offset..)?.first_chunk::<16>()?.as_chunks::<8>().0;
    let word = |index: usize| words.get(index).map(|word| endian.read_u64(*word));
    Some((word(0)?, word(1)?))
}

impl Image {
    /// The first address after all segments.
    #[must_use]
    pub fn end(&self) -> u64 {
        let end = |segment: &Segment| segment.address.saturating_add(segment.size.max(segment.bytes.len() as u64));
        self.segments.iter().map(end).max().unwrap_or(0)
    }

    /// An image of code that is loaded, and starts, at `address`.
    #[must_use]
    pub fn raw(address: u64, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let size = bytes.len() as u64;
        Self { segments: vec![Segment { address, bytes, size, executable: true }], entry: address, ..Self::default() }
    }

    /// Adds bytes at a physical address.
    #[must_use]
    pub fn with(mut self, address: u64, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        let size = bytes.len() as u64;
        self.segments.push(Segment { address, bytes, size, executable: true });
        self
    }

    /// Names its routines. Each reaches to the next mark, or to the end of its segment. Of several marks at an address the last one counts.
    #[must_use]
    pub fn with_marks(mut self, mut marks: Vec<Mark>) -> Self {
        marks.sort_by_key(|mark| mark.address);
        for (index, mark) in marks.iter().enumerate() {
            let end_of = |segment: &Segment| segment.address.saturating_add(segment.bytes.len() as u64);
            let segment = self.segments.iter().find(|segment| (segment.address..end_of(segment)).contains(&mark.address));
            let (Some(segment), Some(name)) = (segment, &mark.name) else { continue };
            let next = marks.get(index + 1).map_or(u64::MAX, |next| next.address);
            let (start, end) = (mark.address, end_of(segment).min(next));
            if start < end {
                self.routines.push(Routine { start, end, name: name.clone() });
            }
        }
        self
    }

    /// The PT_LOAD segments of a 64-bit x86-64 ELF executable, at their physical addresses.
    ///
    /// # Errors
    ///
    /// The variant of [`ImageError`] with the reason why the file is not one.
    pub fn elf(file: &[u8]) -> Result<Self, ImageError> {
        Self::read(file, elf::EM_X86_64, ByteOrder::Little).map(|(image, _)| image)
    }

    /// The PT_LOAD segments of a little-endian IA-64 ELF executable, at their physical addresses. The entry is the address of the first
    /// bundle.
    ///
    /// # Errors
    ///
    /// The variant of [`ImageError`] with the reason why the file is not one.
    pub fn ia64_elf(file: &[u8]) -> Result<Self, ImageError> {
        Self::read(file, elf::EM_IA_64, ByteOrder::Little).map(|(image, _)| image)
    }

    /// The PT_LOAD segments of a 64-bit POWER ELF executable of either byte order, at their physical addresses, and whether it is
    /// little-endian. An entry that is a descriptor, in `.opd` of the first ELF ABI, leads to the first instruction.
    ///
    /// # Errors
    ///
    /// The variant of [`ImageError`] with the reason why the file is not one.
    pub fn power_elf(file: &[u8]) -> Result<(Self, bool), ImageError> {
        let (mut image, little_endian) = Self::read(file, elf::EM_PPC64, ByteOrder::Either)?;
        if let Some((entry, toc)) = descriptor(file, image.entry) {
            (image.entry, image.toc) = (entry, toc);
        }
        Ok((image, little_endian))
    }

    /// The image, and whether it is little-endian.
    fn read(file: &[u8], right: elf::Machine, order: ByteOrder) -> Result<(Self, bool), ImageError> {
        let little_endian = match file {
            // A file for another machine is refused as that, whatever else is wrong.
            [0x7f, b'E', b'L', b'F', class, data, ..] => {
                let little_endian = *data != elf::ELFDATA2MSB.0;
                let machine = machine_of(file, little_endian);
                if let Some(machine) = machine.filter(|machine| *machine != right.0) {
                    return Err(ImageError::WrongMachine { machine, right: right.0 });
                }
                if *class != elf::ELFCLASS64.0 {
                    return Err(ImageError::WrongClass);
                }
                if !little_endian && order == ByteOrder::Little {
                    return Err(ImageError::WrongEndian);
                }
                little_endian
            }
            _ => return Err(ImageError::NotElf),
        };
        let malformed = |e: object::read::Error| ImageError::Malformed { reason: e.to_string() };
        let parsed = ElfFile64::<Endianness>::parse(file).map_err(malformed)?;
        let endian = parsed.endian();
        let header = parsed.elf_header();
        let kind = header.e_type(endian);
        if kind == elf::ET_DYN {
            return Err(ImageError::Dynamic);
        }
        if kind != elf::ET_EXEC {
            return Err(ImageError::WrongType { kind: kind.0 });
        }
        let mut segments = Vec::new();
        // Segments of an executable do not overlap in the file, so all of them together are no larger.
        let mut left = file.len();
        for program in parsed.elf_program_headers() {
            if program.p_type(endian) != elf::PT_LOAD || program.p_memsz(endian) == 0 {
                continue;
            }
            let bytes = program
                .data(endian, file)
                .map_err(|()| ImageError::Malformed { reason: format!("segment at {:#x} is outside the file", program.p_paddr(endian)) })?;
            let size = program.p_memsz(endian);
            if size < bytes.len() as u64 {
                let reason = "a segment is larger in the file than in memory".to_owned();
                return Err(ImageError::Malformed { reason });
            }
            left =
                left.checked_sub(bytes.len()).ok_or_else(|| ImageError::Malformed { reason: "segments overlap in the file".to_owned() })?;
            let executable = program.p_flags(endian).contains(elf::PF_X);
            segments.push(Segment { address: program.p_paddr(endian), bytes: bytes.to_vec(), size, executable });
        }
        if segments.is_empty() {
            return Err(ImageError::Empty);
        }
        Ok((Self { segments, entry: header.e_entry(endian), ..Self::default() }, little_endian))
    }

    /// Copies the image into RAM below `usable`.
    pub(crate) fn load(&self, memory: &Memory, usable: u64) -> Result<(), ImageError> {
        if self.segments.is_empty() {
            return Err(ImageError::Empty);
        }
        for segment in &self.segments {
            let (address, bytes) = (segment.address, segment.size.max(segment.bytes.len() as u64));
            if address.checked_add(bytes).is_none_or(|end| end > usable) {
                return Err(ImageError::OutOfRam { address, bytes, usable });
            }
            memory.write_bytes(address, &segment.bytes)?;
            let mut at = address + segment.bytes.len() as u64;
            let end = address + bytes;
            let zeros = [0; 4096];
            while at < end {
                let part = (end - at).min(4096);
                memory.write_bytes(at, &zeros[..part as usize])?;
                at += part;
            }
        }
        Ok(())
    }
}
