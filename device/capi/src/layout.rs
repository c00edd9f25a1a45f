//! What a machine looks like, said once for its PMUs, its companion and what its guest is told.

use std::ffi::c_char;

use vm_pmu::arch::registry::Part;
use vm_pmu::layout::Layout;

#[cfg(feature = "companion")]
use crate::companion::VmPmuCompanionOptions;
use crate::die::{self, Choice};
use crate::machine::{VM_PMU_MOST_THREADS, VmPmuOptions, part};
use crate::pointer::{Growing, borrow, fill, put, take};
use crate::status::{Failure, VmPmuStatus, argument, guarded, misuse};

/// In VmPmuLayout::flags: memory has buffers with caches, on a part that has them.
pub const VM_PMU_LAYOUT_BUFFERED: u32 = 1 << 0;

/// What a machine looks like. CPUs are counted through the threads of a core, then its cores, then its packages, and a package is what goes
/// into a socket. Set `size` to its sizeof; zero means the smallest machine of the part.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuLayout {
    /// sizeof(VmPmuLayout).
    pub size: usize,
    /// How many packages; 0 is one.
    pub packages: u32,
    /// How many cores each package has; 0 is one, or those of a tile.
    pub cores: u32,
    /// How many threads each core has; 0 is one, or all on Knights Landing.
    pub threads: u32,
    /// VM_PMU_LAYOUT_BUFFERED.
    pub flags: u32,
    /// How many bytes of physical memory belong to each package, from address 0 up; 0 means that all belong to the first.
    pub memory_per_package: u64,
    /// How many packages make a group; 0 is all to the companion, and one to the numbers of POWER9's chips.
    pub packages_per_group: u32,
    /// How many more cores each package has that are off and lend their third level, on a part that does so.
    pub lent_cores: u32,
    /// Which tiles a Knights Landing has, as many as its cores need: a bit for each of 38 places; 0 is those of the usual part with so many
    /// (vm_pmu_tiles_usual()).
    pub tiles: u64,
    /// How a Knights Landing shares lines among agents and memory: VmPmuClusterMode. A mode of several nodes divides `memory_per_package`
    /// among them.
    pub cluster_mode: u32,
    /// What a Knights Landing uses MCDRAM as: VmPmuMemoryMode. What is memory lies above `memory_per_package`.
    pub memory_mode: u32,
    /// How many bytes of MCDRAM it has; 0 is 64 MiB, where the part has 16 GiB.
    pub mcdram: u64,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuLayout {
    const NAME: &'static str = "VmPmuLayout";
    const FIRST: usize = std::mem::offset_of!(VmPmuLayout, lent_cores) + 4;
}

fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The layout that the caller means, and all of its numbers.
fn layout(part: Part, given: &VmPmuLayout) -> Result<(Layout, VmPmuLayout), Failure> {
    let smallest = of(Layout::of(part));
    let or = |given: u32, smallest: u32| if given == 0 { smallest } else { given };
    let whole = VmPmuLayout {
        packages: or(given.packages, smallest.packages),
        cores: or(given.cores, smallest.cores),
        threads: or(given.threads, smallest.threads),
        ..*given
    };
    let unknown = given.flags & !VM_PMU_LAYOUT_BUFFERED;
    if unknown != 0 {
        return Err(argument(format!("the layout's flags {unknown:#x} mean nothing to this library: they must be zero")));
    }
    let cpus = u64::from(whole.packages) * u64::from(whole.cores);
    if cpus.checked_mul(u64::from(whole.threads)).is_none_or(|cpus| cpus > u64::from(VM_PMU_MOST_THREADS)) {
        return Err(argument(format!("the layout has too many CPUs: {VM_PMU_MOST_THREADS} are the most")));
    }
    let mut layout = Layout::of(part).packages(wide(whole.packages)).cores(wide(whole.cores)).threads(wide(whole.threads));
    layout = layout.memory_per_package(whole.memory_per_package).lent_cores(wide(whole.lent_cores));
    if whole.flags & VM_PMU_LAYOUT_BUFFERED != 0 {
        layout = layout.buffered();
    }
    if whole.packages_per_group != 0 {
        layout = layout.packages_per_group(wide(whole.packages_per_group));
    }
    if let Some(tiles) = die::tiles(whole.tiles)? {
        layout = layout.tiles(tiles);
    }
    if let Some(cluster) = die::cluster_mode(whole.cluster_mode)? {
        layout = layout.cluster_mode(cluster);
    }
    if let Some(mode) = die::memory_mode(whole.memory_mode)? {
        layout = layout.memory_mode(mode);
    }
    if whole.mcdram != 0 {
        layout = layout.mcdram(whole.mcdram);
    }
    layout.check().map_err(|refused| argument(refused.to_string()))?;
    Ok((layout, whole))
}

/// The numbers of a layout that has no others.
fn of(layout: Layout) -> VmPmuLayout {
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let (packages, cores, threads) = layout.counts();
    VmPmuLayout {
        size: size_of::<VmPmuLayout>(),
        packages: narrow(packages),
        cores: narrow(cores),
        threads: narrow(threads),
        flags: 0,
        memory_per_package: 0,
        packages_per_group: 0,
        lent_cores: 0,
        tiles: 0,
        cluster_mode: 0,
        memory_mode: 0,
        mcdram: 0,
    }
}

/// The layout at `pointer`, of the part of this name.
///
/// # Safety
/// The rules for pointers hold.
unsafe fn read(part: *const c_char, pointer: *const VmPmuLayout) -> Result<(Part, Layout, VmPmuLayout), Failure> {
    // SAFETY: the caller's promise.
    let (part, given) = unsafe { (self::part(part)?, take(pointer)?) };
    let (layout, whole) = layout(part, &given)?;
    Ok((part, layout, whole))
}

/// What makes the die of a layout; nothing if it has none.
fn die_of(layout: &Layout) -> Choice {
    layout.die().map_or_else(Choice::default, |die| Choice::of(&die))
}

fn no_cpu(layout: &Layout, cpu: u32) -> Failure {
    misuse(VmPmuStatus::ErrorRange, format!("there is no CPU {cpu}: the layout has {}, from 0 on", layout.cpus()))
}

/// Writes to `layout`, whose `size` is set, a usual machine of the part of this name, as it was sold: two K8 of two cores, a Knights Landing
/// of 68 cores, two POWER9 of 22, two Montecito, two of the first Itanium, with all threads of each core.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_layout_usual(part: *const c_char, layout: *mut VmPmuLayout) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let part = unsafe { self::part(part) }?;
        // SAFETY: the same.
        unsafe { fill(layout, of(Layout::usual(part))) }
    })
}

/// Writes to `cpus` how many CPUs a machine of this layout has.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_layout_cpus(part: *const c_char, layout: *const VmPmuLayout, cpus: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (_, layout, _) = unsafe { read(part, layout) }?;
        // SAFETY: the same.
        unsafe { put(cpus, u32::try_from(layout.cpus()).unwrap_or(u32::MAX), "where the number is to be written") }
    })
}

/// Sets `packages`, `threads`, `tiles`, `cluster_mode`, `memory_mode`, `mcdram` and `memory` of `options`, so that vm_pmu_machine_create()
/// makes the PMUs of this layout: CPU n has those of thread n. Those of the die are not 0 only on Knights Landing.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_layout_options(part: *const c_char, layout: *const VmPmuLayout, options: *mut VmPmuOptions) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ((_, layout, _), given) = unsafe { (read(part, layout)?, take(options.cast_const())?) };
        let (packages, threads) = layout.pmu_packages();
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let Choice { tiles, cluster_mode, memory_mode, mcdram, memory } = die_of(&layout);
        let (packages, threads) = (narrow(packages), narrow(threads));
        // SAFETY: the same.
        unsafe { fill(options, VmPmuOptions { packages, threads, tiles, cluster_mode, memory_mode, mcdram, memory, ..given }) }
    })
}

/// Sets what `options` says of the layout, so that vm_pmu_companion_create() makes its companion: it follows CPU n as thread n.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[cfg(feature = "companion")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_layout_companion_options(
    part: *const c_char,
    layout: *const VmPmuLayout,
    options: *mut VmPmuCompanionOptions,
) -> VmPmuStatus {
    use crate::companion::VM_PMU_COMPANION_BUFFERED;
    guarded(|| {
        // SAFETY: the caller's promise.
        let ((part, layout, whole), given) = unsafe { (read(part, layout)?, take(options.cast_const())?) };
        let buffered = if whole.flags & VM_PMU_LAYOUT_BUFFERED != 0 { VM_PMU_COMPANION_BUFFERED } else { 0 };
        let cluster = vm_pmu::companion::parts::named(part.name()).map_or(1, |profile| u32::from(profile.cores.max(1)));
        let Choice { tiles, cluster_mode, memory_mode, mcdram, .. } = die_of(&layout);
        let told = VmPmuCompanionOptions {
            packages: whole.packages,
            threads: whole.cores * whole.threads,
            core_threads: whole.threads,
            flags: given.flags & !VM_PMU_COMPANION_BUFFERED | buffered,
            memory_per_package: whole.memory_per_package,
            packages_per_group: whole.packages_per_group,
            lent_clusters: whole.lent_cores.div_ceil(cluster),
            tiles,
            cluster_mode,
            memory_mode,
            mcdram,
            ..given
        };
        // SAFETY: the same.
        unsafe { fill(options, told) }
    })
}

/// Changes what CPUID returns in CPU `cpu`, as vm_pmu_cpuid() does, so that it says the layout too: in leaves 1 and 0Bh of Intel, and 1,
/// 8000_0001h and 8000_0008h of AMD. The APIC ID of the CPU is then in bits 31:24 of EBX of leaf 1, and whole in EDX of leaf 0Bh.
/// VM_PMU_STATUS_ERROR_UNSUPPORTED for a part without CPUID.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_layout_cpuid(
    part: *const c_char,
    layout: *const VmPmuLayout,
    cpu: u32,
    leaf: u32,
    subleaf: u32,
    registers: *mut [u32; 4],
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ((part, layout, _), before) = unsafe { (read(part, layout)?, borrow(registers.cast_const(), "the registers")?) };
        if part.cpuid().is_none() {
            let name = part.name();
            return Err(misuse(VmPmuStatus::ErrorUnsupported, format!("{name} has no CPUID: it is no part of x86")));
        }
        let after = layout.cpuid(wide(cpu), leaf, subleaf, *before).ok_or_else(|| no_cpu(&layout, cpu))?;
        // SAFETY: the same.
        unsafe { put(registers, after, "the registers") }
    })
}

/// Writes to `pir` what PIR reads in CPU `cpu` of a machine of POWER9, as VmPmuPlatformOptions::pirs takes it; bits from 8 on are the number
/// of its chip, VmPmuChip::id. VM_PMU_STATUS_ERROR_UNSUPPORTED for another part.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[cfg(feature = "memory")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_layout_pir(part: *const c_char, layout: *const VmPmuLayout, cpu: u32, pir: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (part, layout, _) = unsafe { read(part, layout) }?;
        if !part.shape().has_nest {
            return Err(misuse(VmPmuStatus::ErrorUnsupported, format!("{} has no PIR: it is not power9", part.name())));
        }
        let told = layout.pir(wide(cpu)).ok_or_else(|| no_cpu(&layout, cpu))?;
        // SAFETY: the same.
        unsafe { put(pir, told, "where PIR is to be written") }
    })
}
