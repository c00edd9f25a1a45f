//! Guest RAM: little-endian, shared between virtual CPUs.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use vm_memory::{AtomicInteger, Bytes, GuestAddress, GuestMemoryBackend, GuestMemoryMmap, MmapRegion, VolatileMemory};

/// Bytes in the smallest page.
pub(crate) const PAGE: u64 = 4096;

/// The 64-byte lines of a page that a decoder has read since they were last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecodedLines {
    /// The page's physical address divided by 4096.
    pub page: u64,
    /// Bit n for the line at byte 64 n of the page; at least one is set.
    pub lines: u64,
}

/// Why guest RAM could not be made or accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// The size is zero, not a multiple of 4096, or more than 64 GiB.
    BadSize {
        /// The size asked for, in bytes.
        bytes: u64,
    },
    /// The host did not provide the mapping.
    Map {
        /// What the host said.
        reason: String,
    },
    /// A range is not inside RAM.
    OutOfRange {
        /// First physical address of the range.
        address: u64,
        /// Bytes in the range.
        bytes: u64,
        /// Bytes of RAM, which starts at 0.
        ram: u64,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadSize { bytes } => {
                write!(f, "guest RAM of {bytes} bytes: the size must be a non-zero multiple of 4096 and at most 64 GiB")
            }
            Self::Map { reason } => write!(f, "guest RAM could not be mapped: {reason}"),
            Self::OutOfRange { address, bytes, ram } => {
                write!(f, "{bytes} bytes at physical address {address:#x} are not inside the {ram:#x} bytes of RAM")
            }
        }
    }
}

impl std::error::Error for MemoryError {}

/// What the decoders know of one page: which of its 64-byte lines hold decoded code, and how often
/// such a line was written since.
#[derive(Default)]
struct CodePage {
    lines: AtomicU64,
    generation: AtomicU64,
}

/// Guest RAM, from physical address 0.
///
/// Naturally aligned accesses of up to 8 bytes are single-copy atomic; loads acquire and stores
/// release, which gives guests on several host threads the ordering x86 promises (apart from what
/// the store buffer may reorder anyway).
pub struct Memory {
    map: GuestMemoryMmap<()>,
    region: Arc<MmapRegion<()>>,
    size: u64,
    code: Vec<CodePage>,
    // Serialises locked operations that no single host atomic can perform.
    split: Mutex<()>,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("size", &self.size).finish_non_exhaustive()
    }
}

fn mask(size: usize) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (size * 8)) - 1 }
}

impl Memory {
    /// Maps `size` bytes of zeroed RAM.
    ///
    /// # Errors
    ///
    /// [`MemoryError::BadSize`] unless `size` is a non-zero multiple of 4096 and at most 64 GiB,
    /// [`MemoryError::Map`] if the host refuses.
    pub fn new(size: u64) -> Result<Self, MemoryError> {
        let bytes = usize::try_from(size).map_err(|_| MemoryError::BadSize { bytes: size })?;
        if size == 0 || !size.is_multiple_of(PAGE) || size > 1 << 36 {
            return Err(MemoryError::BadSize { bytes: size });
        }
        let map =
            GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), bytes)]).map_err(|e| MemoryError::Map { reason: e.to_string() })?;
        let region = map.iter().next().map(vm_memory::GuestRegionMmap::get_mmap).ok_or(MemoryError::BadSize { bytes: size })?;
        let code = (0..size / PAGE).map(|_| CodePage::default()).collect();
        Ok(Self { map, region, size, code, split: Mutex::new(()) })
    }

    /// Bytes of RAM.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The vm-memory object, for devices that access guest memory.
    ///
    /// What is written through it does not reach instructions that are already decoded; write code
    /// with [`Memory::write_bytes`].
    #[must_use]
    pub fn guest_memory(&self) -> &GuestMemoryMmap<()> {
        &self.map
    }

    /// Where RAM begins in the host's memory, for an emulator that accesses it by itself. What it writes to code must be reported with
    /// [`Memory::written`].
    #[cfg(feature = "unicorn")]
    pub(crate) fn host(&self) -> *mut u8 {
        self.region.as_ptr()
    }

    /// Whether the decoder has read a line of 64 bytes among these since it was last written.
    #[cfg(feature = "unicorn")]
    #[inline]
    pub(crate) fn is_code(&self, pa: u64, size: u64) -> bool {
        self.code_page(pa).is_some_and(|page| page.lines.load(Ordering::Relaxed) & Self::lines(pa, size) != 0)
    }

    fn cell<T: AtomicInteger>(&self, pa: u64) -> Option<&T> {
        self.region.get_atomic_ref::<T>(usize::try_from(pa).ok()?).ok()
    }

    /// Reads a little-endian integer of `size` (1, 2, 4 or 8) bytes; absent memory reads as ones.
    #[must_use]
    pub fn read(&self, pa: u64, size: usize) -> u64 {
        let aligned = match size {
            1 => self.cell::<AtomicU8>(pa).map(|c| u64::from(c.load(Ordering::Acquire))),
            2 => self.cell::<AtomicU16>(pa).map(|c| u64::from(u16::from_le(c.load(Ordering::Acquire)))),
            4 => self.cell::<AtomicU32>(pa).map(|c| u64::from(u32::from_le(c.load(Ordering::Acquire)))),
            8 => self.cell::<AtomicU64>(pa).map(|c| u64::from_le(c.load(Ordering::Acquire))),
            _ => None,
        };
        aligned.unwrap_or_else(|| self.read_unaligned(pa, size))
    }

    #[cold]
    fn read_unaligned(&self, pa: u64, size: usize) -> u64 {
        let mut bytes = [0xff; 8];
        let size = size.min(8);
        for (i, byte) in bytes[..size].iter_mut().enumerate() {
            if let Some(cell) = self.cell::<AtomicU8>(pa.wrapping_add(i as u64)) {
                *byte = cell.load(Ordering::Acquire);
            }
        }
        u64::from_le_bytes(bytes) & mask(size)
    }

    /// Writes the low `size` (1, 2, 4 or 8) bytes of `value`; writes to absent memory are dropped. Returns whether this hit a line of 64
    /// bytes that the decoder has read since it was last written.
    pub fn write(&self, pa: u64, size: usize, value: u64) -> bool {
        let done = match size {
            1 => self.cell::<AtomicU8>(pa).map(|c| c.store(value as u8, Ordering::Release)),
            2 => self.cell::<AtomicU16>(pa).map(|c| c.store((value as u16).to_le(), Ordering::Release)),
            4 => self.cell::<AtomicU32>(pa).map(|c| c.store((value as u32).to_le(), Ordering::Release)),
            8 => self.cell::<AtomicU64>(pa).map(|c| c.store(value.to_le(), Ordering::Release)),
            _ => None,
        };
        if done.is_none() {
            self.write_unaligned(pa, size, value);
        }
        self.written(pa, size as u64)
    }

    #[cold]
    fn write_unaligned(&self, pa: u64, size: usize, value: u64) {
        for (i, byte) in value.to_le_bytes().iter().take(size).enumerate() {
            if let Some(cell) = self.cell::<AtomicU8>(pa.wrapping_add(i as u64)) {
                cell.store(*byte, Ordering::Release);
            }
        }
    }

    /// Reads 16 bytes as a little-endian integer, in two halves.
    #[must_use]
    pub fn read_u128(&self, pa: u64) -> u128 {
        u128::from(self.read(pa, 8)) | u128::from(self.read(pa.wrapping_add(8), 8)) << 64
    }

    /// Writes 16 bytes as a little-endian integer, in two halves. Returns what [`Memory::write`] does.
    pub fn write_u128(&self, pa: u64, value: u128) -> bool {
        let low = self.write(pa, 8, value as u64);
        self.write(pa.wrapping_add(8), 8, (value >> 64) as u64) || low
    }

    /// Replaces an integer of `size` (1, 2, 4 or 8) bytes by `f` of it, atomically; returns what
    /// else `f` returned, and what [`Memory::write`] does. `f` runs again when another CPU was
    /// faster.
    ///
    /// Naturally aligned operands are atomic against every access. Misaligned ones exclude each
    /// other only: no host operation does more in safe code.
    pub fn update<T>(&self, pa: u64, size: usize, mut f: impl FnMut(u64) -> (u64, T)) -> (T, bool) {
        macro_rules! exchange {
            ($atomic:ty, $int:ty) => {
                if let Some(cell) = self.cell::<$atomic>(pa) {
                    let mut old = cell.load(Ordering::SeqCst);
                    loop {
                        let (new, out) = f(u64::from(<$int>::from_le(old)));
                        let new = (new as $int).to_le();
                        match cell.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                            Ok(_) => {
                                return (out, self.written(pa, size as u64));
                            }
                            Err(now) => old = now,
                        }
                    }
                }
            };
        }
        match size {
            1 => exchange!(AtomicU8, u8),
            2 => exchange!(AtomicU16, u16),
            4 => exchange!(AtomicU32, u32),
            8 => exchange!(AtomicU64, u64),
            _ => {}
        }
        let _guard = self.split.lock().unwrap_or_else(PoisonError::into_inner);
        let (new, out) = f(self.read(pa, size));
        (out, self.write(pa, size, new))
    }

    /// Replaces 16 bytes by `f` of them; returns what else `f` returned, and what [`Memory::write`] does. Such updates exclude each other,
    /// not narrower accesses.
    pub fn update_u128<T>(&self, pa: u64, f: impl FnOnce(u128) -> (u128, T)) -> (T, bool) {
        let _guard = self.split.lock().unwrap_or_else(PoisonError::into_inner);
        let (new, out) = f(self.read_u128(pa));
        (out, self.write_u128(pa, new))
    }

    /// Runs `f` while no misaligned locked operation of another CPU runs.
    pub(crate) fn with_split_lock<T>(&self, f: impl FnOnce() -> T) -> T {
        let _guard = self.split.lock().unwrap_or_else(PoisonError::into_inner);
        f()
    }

    fn range(&self, address: u64, bytes: usize) -> Result<(), MemoryError> {
        let error = MemoryError::OutOfRange { address, bytes: bytes as u64, ram: self.size };
        match address.checked_add(bytes as u64) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(error),
        }
    }

    /// Copies `bytes` into RAM at `pa`.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfRange`] if they do not fit; nothing is then written.
    pub fn write_bytes(&self, pa: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.range(pa, bytes.len())?;
        self.map.write_slice(bytes, GuestAddress(pa)).map_err(|e| MemoryError::Map { reason: e.to_string() })?;
        let mut at = pa;
        let end = pa + bytes.len() as u64;
        while at < end {
            let part = (PAGE - at % PAGE).min(end - at);
            self.written(at, part);
            at += part;
        }
        Ok(())
    }

    /// Copies RAM at `pa` into `bytes`.
    ///
    /// # Errors
    ///
    /// [`MemoryError::OutOfRange`] if the range is not inside RAM.
    pub fn read_bytes(&self, pa: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        self.range(pa, bytes.len())?;
        self.map.read_slice(bytes, GuestAddress(pa)).map_err(|e| MemoryError::Map { reason: e.to_string() })
    }

    fn code_page(&self, pa: u64) -> Option<&CodePage> {
        self.code.get(usize::try_from(pa / PAGE).ok()?)
    }

    // The 64-byte lines that `size` bytes at `pa`, all in one page, touch.
    fn lines(pa: u64, size: u64) -> u64 {
        let first = (pa % PAGE) / 64;
        let last = ((pa % PAGE) + size.max(1) - 1).min(PAGE - 1) / 64;
        (u64::MAX << first) & (u64::MAX >> (63 - last))
    }

    /// Records that `size` bytes at `pa` are written; returns whether that hits code, as [`Memory::write`] does.
    #[inline]
    pub(crate) fn written(&self, pa: u64, size: u64) -> bool {
        let Some(page) = self.code_page(pa) else {
            return false;
        };
        let lines = page.lines.load(Ordering::Relaxed);
        let hit = lines != 0 && lines & Self::lines(pa, size) != 0;
        if hit {
            // In this order: what is decoded after the first of these marks its lines again, and the next store to them is not missed.
            page.lines.fetch_and(!Self::lines(pa, size), Ordering::SeqCst);
            page.generation.fetch_add(1, Ordering::Release);
        }
        // A store that runs over the end of its page: only `write_bytes` and misaligned physical
        // accesses get here, and they are rare.
        if pa % PAGE + size > PAGE
            && let Some(next) = self.code_page(pa - pa % PAGE + PAGE)
        {
            next.generation.fetch_add(1, Ordering::Release);
        }
        hit
    }

    /// Records that `size` bytes at `pa`, all in one page, are about to be decoded.
    pub(crate) fn mark_code(&self, pa: u64, size: u64) {
        if let Some(page) = self.code_page(pa) {
            page.lines.fetch_or(Self::lines(pa, size), Ordering::SeqCst);
        }
    }

    /// The lines that a decoder has read since they were last written.
    pub(crate) fn decoded_lines(&self) -> Vec<DecodedLines> {
        let pages = (0u64..).zip(&self.code);
        let lines = pages.map(|(page, code)| DecodedLines { page, lines: code.lines.load(Ordering::Acquire) });
        lines.filter(|page| page.lines != 0).collect()
    }

    /// Records that a decoder has read these lines and no others. What it decoded is stale.
    pub(crate) fn set_decoded_lines(&self, lines: &[DecodedLines]) {
        self.forget_decoding();
        for page in lines {
            if let Some(code) = self.code_page(page.page.saturating_mul(PAGE)) {
                code.lines.store(page.lines, Ordering::SeqCst);
            }
        }
    }

    /// Records that no decoder has read anything yet. What one decoded is stale.
    pub(crate) fn forget_decoding(&self) {
        for code in &self.code {
            code.lines.store(0, Ordering::SeqCst);
            code.generation.fetch_add(1, Ordering::Release);
        }
    }

    /// Replaces the page of this number, if there is one.
    pub(crate) fn store_page(&self, number: u64, bytes: &[u8; PAGE as usize]) {
        for (at, word) in (0u64..).step_by(8).zip(bytes.as_chunks::<8>().0) {
            self.write(number * PAGE + at, 8, u64::from_le_bytes(*word));
        }
    }

    /// How often code in the page of `pa` was written.
    #[inline]
    pub(crate) fn generation(&self, pa: u64) -> u64 {
        self.code_page(pa).map_or(0, |page| page.generation.load(Ordering::Acquire))
    }
}
