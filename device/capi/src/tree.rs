//! Device tree nodes by which an operating system finds POWER9's performance monitors.

use std::ffi::{CStr, c_char, c_void};

use vm_pmu::tree::power9::{self, Error, ImcCatalogue, ImcCounters, Told};
use vm_pmu::tree::vm_fdt::FdtWriter;

use crate::platform::{VmPmuPlatform, platform};
use crate::pointer::{Growing, offer, take, writable};
use crate::status::{Failure, VmPmuStatus, argument, guarded, misuse};

/// The writer of a device tree: three functions of the embedder, like those of libfdt for writing in sequence (fdt_begin_node,
/// fdt_property, fdt_end_node). The library calls them for what it writes into the open node.
///
/// Each returns true to continue. If one returns false, nothing further is written, and the call into the library returns
/// VM_PMU_STATUS_ERROR_STOPPED. They are called with no lock held, and may call every function. They must return: no C++ exception and no
/// longjmp may leave them. Texts and values are valid until they return.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct VmPmuTreeWriter {
    /// sizeof(VmPmuTreeWriter).
    pub size: usize,
    /// Passed to the functions.
    pub user: *mut c_void,
    /// Begins a node of this name, which includes its unit address.
    pub begin_node: Option<unsafe extern "C" fn(user: *mut c_void, name: *const c_char) -> bool>,
    /// Adds a property to the open node: `length` bytes at `value`, in the form of the tree; cells are big-endian, texts end with a zero
    /// byte. All properties of a node come before its nodes.
    pub property: Option<unsafe extern "C" fn(user: *mut c_void, name: *const c_char, value: *const u8, length: usize) -> bool>,
    /// Ends the open node that began last.
    pub end_node: Option<unsafe extern "C" fn(user: *mut c_void) -> bool>,
}

// SAFETY: `repr(C)`, `size` first; a pointer that is only passed on, and functions that may be absent.
unsafe impl Growing for VmPmuTreeWriter {
    const NAME: &'static str = "VmPmuTreeWriter";
    const FIRST: usize = std::mem::offset_of!(VmPmuTreeWriter, end_node) + size_of::<usize>();
}

/// In VmPmuCounterNodes::flags: the postings of the flexible mode are described too, as units called ..._flexible.
pub const VM_PMU_COUNTER_NODES_FLEXIBLE: u32 = 1 << 0;
/// In VmPmuCounterNodes::flags: the cores post their counters (vm_pmu_core_advance()).
pub const VM_PMU_COUNTER_NODES_CORE: u32 = 1 << 1;
/// In VmPmuCounterNodes::flags: the threads post theirs. Linux does not use them unless cores post theirs.
pub const VM_PMU_COUNTER_NODES_THREAD: u32 = 1 << 2;
/// In VmPmuCounterNodes::flags: of the nest, only the events that it reports itself are described: clocks and counts of updates. Of cores
/// and threads, only those of signals. An event that is never reported would read as zero.
pub const VM_PMU_COUNTER_NODES_TOLD_BY_NEST: u32 = 1 << 3;
/// In VmPmuCounterNodes::flags: the same, and of the nest also the events that a companion's traffic reports (vm_pmu_traffic_flush()).
pub const VM_PMU_COUNTER_NODES_TOLD_BY_COMPANION: u32 = 1 << 4;
/// In VmPmuCounterNodes::flags: the same, and of the nest also the events of PCIe host bridges (vm_pmu_chip_dma(),
/// vm_pmu_chip_loads_answered()).
pub const VM_PMU_COUNTER_NODES_TOLD_BY_HOST_BRIDGES: u32 = 1 << 5;

/// Which counters that post themselves are described. Set `size` to its sizeof; zero means the default.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuCounterNodes {
    /// sizeof(VmPmuCounterNodes).
    pub size: usize,
    /// VM_PMU_COUNTER_NODES_...
    pub flags: u32,
    /// The first phandle that is not taken in the tree, up to FFFFFFFEh; 0 is 1. One is needed for each unit, 56 at most.
    pub first_phandle: u32,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuCounterNodes {
    const NAME: &'static str = "VmPmuCounterNodes";
    const FIRST: usize = std::mem::offset_of!(VmPmuCounterNodes, first_phandle) + 4;
}

/// The property "isa" of the node ibm,powerpc-cpu-features of a POWER9: version 3.0B of the architecture.
pub const VM_PMU_TREE_ISA: u32 = 3000;

const _: () = assert!(VM_PMU_TREE_ISA == power9::ISA);

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        argument(format!("{error}"))
    }
}

impl From<vm_pmu::tree::vm_fdt::Error> for Failure {
    fn from(error: vm_pmu::tree::vm_fdt::Error) -> Failure {
        Error::from(error).into()
    }
}

/// The functions of a [`VmPmuTreeWriter`], none of them null.
struct Functions {
    user: *mut c_void,
    begin_node: unsafe extern "C" fn(*mut c_void, *const c_char) -> bool,
    property: unsafe extern "C" fn(*mut c_void, *const c_char, *const u8, usize) -> bool,
    end_node: unsafe extern "C" fn(*mut c_void) -> bool,
}

/// The writer at `pointer`.
///
/// # Safety
/// The rules for pointers hold, and the functions are what [`VmPmuTreeWriter`] says.
unsafe fn writer(pointer: *const VmPmuTreeWriter) -> Result<Functions, Failure> {
    // SAFETY: the caller's promise.
    let given = unsafe { take(pointer) }?;
    match (given.begin_node, given.property, given.end_node) {
        (Some(begin_node), Some(property), Some(end_node)) => Ok(Functions { user: given.user, begin_node, property, end_node }),
        _ => Err(argument("a function of VmPmuTreeWriter is null: begin_node, property and end_node are all needed")),
    }
}

fn went_on(goes_on: bool) -> Result<(), Failure> {
    if goes_on {
        Ok(())
    } else {
        Err(misuse(VmPmuStatus::ErrorStopped, "a function of VmPmuTreeWriter returned false: no more was written"))
    }
}

/// A reader of a flattened tree, from start to end.
struct Flattened<'b> {
    blob: &'b [u8],
    /// Where the next token is.
    next: usize,
    /// Where names of properties are.
    names: usize,
}

/// The next token in a flattened tree.
enum Token<'b> {
    Begin(&'b CStr),
    Property(&'b CStr, &'b [u8]),
    End,
}

/// The numbers of tokens (Devicetree Specification, release 0.4, section 5.4.1).
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROPERTY: u32 = 3;

impl<'b> Flattened<'b> {
    fn new(blob: &'b [u8]) -> Option<Flattened<'b>> {
        let mut header = Flattened { blob, next: 8, names: 0 };
        let (tokens, names) = (header.cell()?, header.cell()?);
        Some(Flattened { blob, next: usize::try_from(tokens).ok()?, names: usize::try_from(names).ok()? })
    }

    fn cell(&mut self) -> Option<u32> {
        let bytes = self.blob.get(self.next..)?.first_chunk()?;
        self.next += bytes.len();
        Some(u32::from_be_bytes(*bytes))
    }

    /// Skips that many bytes, up to a multiple of four.
    fn skip(&mut self, bytes: usize) {
        self.next = self.next.saturating_add(bytes).next_multiple_of(4);
    }

    /// The next token; `None` when there are no more.
    fn token(&mut self) -> Option<Token<'b>> {
        match self.cell()? {
            BEGIN_NODE => {
                let name = CStr::from_bytes_until_nul(self.blob.get(self.next..)?).ok()?;
                self.skip(name.to_bytes_with_nul().len());
                Some(Token::Begin(name))
            }
            PROPERTY => {
                let (length, name) = (usize::try_from(self.cell()?).ok()?, usize::try_from(self.cell()?).ok()?);
                let value = self.blob.get(self.next..self.next.checked_add(length)?)?;
                self.skip(length);
                Some(Token::Property(CStr::from_bytes_until_nul(self.blob.get(self.names.checked_add(name)?..)?).ok()?, value))
            }
            END_NODE => Some(Token::End),
            _ => None,
        }
    }
}

/// Passes what `write` writes into an open node to the caller's functions.
fn hand_on<T>(functions: &Functions, write: impl FnOnce(&mut FdtWriter) -> Result<T, Error>) -> Result<T, Failure> {
    let mut fdt = FdtWriter::new()?;
    // The open node is the caller's: this one represents it, and is not passed on.
    let open = fdt.begin_node("")?;
    let answer = write(&mut fdt)?;
    fdt.end_node(open)?;
    let blob = fdt.finish()?;
    let unreadable = || misuse(VmPmuStatus::ErrorInternal, "the library failed in itself: please report what was called");
    let mut flattened = Flattened::new(&blob).ok_or_else(unreadable)?;
    let mut depth = 0_usize;
    while let Some(token) = flattened.token() {
        // SAFETY: the embedder gave the functions for this, and its pointer with them.
        let goes_on = unsafe {
            match token {
                Token::Begin(name) => {
                    depth += 1;
                    depth == 1 || (functions.begin_node)(functions.user, name.as_ptr())
                }
                Token::Property(name, value) => (functions.property)(functions.user, name.as_ptr(), value.as_ptr(), value.len()),
                Token::End => {
                    depth = depth.checked_sub(1).ok_or_else(unreadable)?;
                    depth == 0 || (functions.end_node)(functions.user)
                }
            }
        };
        went_on(goes_on)?;
    }
    if depth == 0 { Ok(answer) } else { Err(unreadable()) }
}

/// The catalogue for the flags at `nodes`, which may be null, and its first phandle.
///
/// # Safety
/// The rules for pointers hold.
unsafe fn asked(nodes: *const VmPmuCounterNodes) -> Result<(ImcCatalogue, u32), Failure> {
    const KNOWN: u32 = VM_PMU_COUNTER_NODES_FLEXIBLE
        | VM_PMU_COUNTER_NODES_CORE
        | VM_PMU_COUNTER_NODES_THREAD
        | VM_PMU_COUNTER_NODES_TOLD_BY_NEST
        | VM_PMU_COUNTER_NODES_TOLD_BY_COMPANION
        | VM_PMU_COUNTER_NODES_TOLD_BY_HOST_BRIDGES;
    if nodes.is_null() {
        return Ok((ImcCatalogue::default(), 0));
    }
    // SAFETY: the caller's promise.
    let VmPmuCounterNodes { flags, first_phandle, .. } = unsafe { take(nodes) }?;
    let has = |flag: u32| flags & flag != 0;
    if has(!KNOWN) {
        let unknown = flags & !KNOWN;
        return Err(argument(format!("the flags {unknown:#x} of VmPmuCounterNodes mean nothing to this library: they must be zero")));
    }
    let told = [
        (VM_PMU_COUNTER_NODES_TOLD_BY_HOST_BRIDGES, Told::ByHostBridges),
        (VM_PMU_COUNTER_NODES_TOLD_BY_COMPANION, Told::ByCompanion),
        (VM_PMU_COUNTER_NODES_TOLD_BY_NEST, Told::ByNest),
    ];
    let told = told.into_iter().find(|(flag, _)| has(*flag)).map_or(Told::All, |(_, told)| told);
    let catalogue = ImcCatalogue {
        flexible: has(VM_PMU_COUNTER_NODES_FLEXIBLE),
        core: has(VM_PMU_COUNTER_NODES_CORE),
        thread: has(VM_PMU_COUNTER_NODES_THREAD),
        told,
    };
    Ok((catalogue, first_phandle))
}

/// Writes the node imc-counters into the open node, which may be any: firmware puts it at the root. It describes the counters that post
/// themselves: a node for each unit of the nest that a chip of `platform` has, with the chips' homes and numbers, and nodes of cores and
/// threads as `nodes` says, which may be null for neither. Writes to `next_phandle`, which may be null, the first phandle that is still
/// free.
///
/// The tree must reserve the memory that the chips post into (vm_pmu_chip_region()), and a processor's node must name its chip in the
/// property ibm,chip-id: without it Linux opens no event of the nest there.
///
/// VM_PMU_STATUS_ERROR_ARGUMENT if a chip cannot be described, for example because its home is not a multiple of 1 MiB, or if there are too
/// few phandles: then nothing is written.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_tree_counters(
    platform: *const VmPmuPlatform,
    nodes: *const VmPmuCounterNodes,
    writer: *const VmPmuTreeWriter,
    next_phandle: *mut u32,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (platform, functions, (catalogue, first_phandle)) =
            unsafe { (self::platform(platform)?, self::writer(writer)?, asked(nodes)?) };
        if !next_phandle.is_null() {
            writable(next_phandle, "where the phandle is to be written")?;
        }
        let chips: Vec<power9::Chip> = platform.chips().iter().map(power9::Chip::from).collect();
        let description = ImcCounters { chips: &chips, catalogue, first_phandle: first_phandle.max(1) };
        let next = hand_on(&functions, |fdt| power9::write_imc_counters(fdt, &description))?;
        // SAFETY: the caller's promise.
        unsafe { offer(next_phandle, next, "where the phandle is to be written") }
    })
}

/// Writes a catalogue of the counters that post themselves into the open node, which is the root of a separate tree: for firmware that runs
/// in the guest, which loads it from flash (skiboot: partition IMA_CATALOG). It describes every unit, and what `nodes` says, which may be
/// null; first_phandle must be 0 or 1. Firmware removes the units that a chip's control block does not have, and adds the chips.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_tree_catalogue(nodes: *const VmPmuCounterNodes, writer: *const VmPmuTreeWriter) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (functions, (catalogue, first_phandle)) = unsafe { (self::writer(writer)?, asked(nodes)?) };
        if first_phandle > 1 {
            return Err(argument("the phandles of a catalogue begin at 1: first_phandle must be 0 or 1".to_owned()));
        }
        hand_on(&functions, |fdt| power9::write_imc_catalogue(fdt, &catalogue))
    })
}

/// Writes the node performance-monitor-power9 into the open node, which must be /cpus/ibm,powerpc-cpu-features; the latter has the property
/// "isa" with the value VM_PMU_TREE_ISA. If a tree has that node, an operating system finds the PMU of the core by its child
/// performance-monitor-power9, else by the PVR alone.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_tree_performance_monitor(writer: *const VmPmuTreeWriter) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let functions = unsafe { self::writer(writer) }?;
        hand_on(&functions, power9::write_performance_monitor)
    })
}

/// Writes the property cpu-version into the open node, which must be that of a processor (/cpus/PowerPC,POWER9@...): the PVR `version`, of
/// 32 bits, as a guest's mfspr reads it. VM_PMU_STATUS_ERROR_ARGUMENT if it is not that of a POWER9: then nothing is written.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_tree_cpu_version(writer: *const VmPmuTreeWriter, version: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let functions = unsafe { self::writer(writer) }?;
        hand_on(&functions, |fdt| power9::write_cpu_version(fdt, version))
    })
}
