//! The translation that the NPU of a POWER9 chip does for its accelerators.

use std::ffi::c_void;

use vm_pmu::memory::{Chip, Translations};

use crate::handle::{self, Handle};
use crate::platform::{VmPmuPlatform, chip};
use crate::pointer::{borrow, list, offer, offerable, put, writable};
use crate::snapshot::{VmPmuSnapshot, refused};
use crate::status::{Failure, VmPmuStatus, argument, guarded};

/// What the NPU of one chip has of translations: entries of devices' tables, translations that accelerators have checked out, and which
/// accelerators work for which processes. Callers only get pointers to it. The chip's nest counts what it does.
pub struct VmPmuTranslations {
    translations: Translations,
}

impl Handle for VmPmuTranslations {
    const KIND: &'static str = "translations";
}

/// Callers share it between host threads, and may destroy it on a different thread than the one that made it.
const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<VmPmuTranslations>();
};

/// A function of the embedder that translates page `page`: it writes the real page to `real` and returns true, or returns false where there
/// is no translation. It must return: no C++ exception and no longjmp may leave it.
pub type VmPmuTranslate = Option<unsafe extern "C" fn(user: *mut c_void, page: u64, real: *mut u64) -> bool>;

/// # Safety
/// The rules for pointers hold.
unsafe fn translations<'a>(pointer: *const VmPmuTranslations) -> Result<&'a Translations, Failure> {
    // SAFETY: the caller's promise.
    Ok(&unsafe { borrow(pointer, "the translations") }?.translations)
}

/// The page at `pointer`; `None` for null, which means every page.
///
/// # Safety
/// The rules for pointers hold.
unsafe fn page_or_all(pointer: *const u64) -> Result<Option<u64>, Failure> {
    // SAFETY: the caller's promise.
    if pointer.is_null() { Ok(None) } else { unsafe { borrow(pointer, "the page") }.copied().map(Some) }
}

/// Has `look` look a page up, whose real page `translate` knows, and writes the result.
///
/// # Safety
/// The rules for pointers hold.
unsafe fn look_up(
    page: u64,
    translate: VmPmuTranslate,
    user: *mut c_void,
    real: *mut u64,
    found: *mut bool,
    look: impl FnOnce(&dyn Fn() -> Option<u64>) -> Option<u64>,
) -> Result<(), Failure> {
    let translate = translate.ok_or_else(|| argument("the function that translates a page is null: it is needed"))?;
    writable(real, "where the real page is to be written")?;
    writable(found, "where it is to be written whether there is one")?;
    let ask = || {
        let mut real = 0;
        // SAFETY: the embedder gave the function for this, and its pointer with it.
        unsafe { translate(user, page, &raw mut real) }.then_some(real)
    };
    let answer = look(&ask);
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(answer) = answer {
            put(real, answer, "where the real page is to be written")?;
        }
        put(found, answer.is_some(), "where it is to be written whether there is one")
    }
}

/// Makes the translations of one chip, with nothing cached and no process. They are written to `translations` and live until
/// vm_pmu_translations_destroy(). They may be used from several host threads at once.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_create(translations: *mut *mut VmPmuTranslations) -> VmPmuStatus {
    guarded(|| {
        writable(translations, "where the translations are to be written")?;
        let made = handle::hand_out(VmPmuTranslations { translations: Translations::new() });
        // SAFETY: the caller's promise.
        unsafe { put(translations, made, "where the translations are to be written") }
    })
}

/// Destroys translations. Null is allowed and does nothing.
///
/// # Safety
/// The rules for pointers at the top of the header hold; translations are those that vm_pmu_translations_create() made and that have not
/// been destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_destroy(translations: *mut VmPmuTranslations) -> VmPmuStatus {
    guarded(|| handle::destroy(translations))
}

/// Device `device` addresses page `page`, on chip `chip`: writes to `found` whether a translation control entry (TCE) translates it, and if so
/// its real page to `real`. Where none is cached, `entry` reads it from the device's table, with `user`. It is called with no lock held: it may
/// call every function of this header except vm_pmu_translations_destroy() and vm_pmu_platform_destroy().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_by_entry(
    translations: *const VmPmuTranslations,
    platform: *const VmPmuPlatform,
    chip: u32,
    device: u32,
    page: u64,
    entry: VmPmuTranslate,
    user: *mut c_void,
    real: *mut u64,
    found: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (translations, chip): (_, &Chip) = (self::translations(translations)?, self::chip(platform, chip)?);
            look_up(page, entry, user, real, found, |ask| translations.by_entry(chip, device, page, ask))
        }
    })
}

/// The entry of the page at `page` in the table of device `device` has changed, or every entry of it if `page` is null.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_forget_entry(
    translations: *const VmPmuTranslations,
    device: u32,
    page: *const u64,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::translations(translations)?.forget_entry(device, page_or_all(page)?) };
        Ok(())
    })
}

/// The accelerators whose bits are set in `accelerators` work for process `process` from now on; none with 0. Writes to `known`, which may be
/// null, whether there was room: 16 processes with accelerators are known.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_bind(
    translations: *const VmPmuTranslations,
    process: u32,
    accelerators: u8,
    known: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let translations = unsafe { self::translations(translations) }?;
        offerable(known, "where the answer is to be written")?;
        // SAFETY: the caller's promise.
        unsafe { offer(known, translations.bind(process, accelerators), "where the answer is to be written") }
    })
}

/// An accelerator checks out the translation of page `page` of process `process`, on chip `chip`: writes to `found` whether there is one, and
/// if so its real page to `real`. Where it is not checked out already, `walk` walks the tables of the process, with `user`; the rules for `entry`
/// of vm_pmu_translations_by_entry() apply to it.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_check_out(
    translations: *const VmPmuTranslations,
    platform: *const VmPmuPlatform,
    chip: u32,
    process: u32,
    page: u64,
    walk: VmPmuTranslate,
    user: *mut c_void,
    real: *mut u64,
    found: *mut bool,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (translations, chip): (_, &Chip) = (self::translations(translations)?, self::chip(platform, chip)?);
            look_up(page, walk, user, real, found, |ask| translations.check_out(chip, process, page, ask))
        }
    })
}

/// A processor invalidates the translation of the page at `page` of process `process` (tlbie), or all of the process if `page` is null, on chip
/// `chip`. Writes to `accelerators`, which may be null, to which of them a shootdown is sent, one bit each.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_invalidate(
    translations: *const VmPmuTranslations,
    platform: *const VmPmuPlatform,
    chip: u32,
    process: u32,
    page: *const u64,
    accelerators: *mut u8,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (translations, chip) = (self::translations(translations)?, self::chip(platform, chip)?);
            offerable(accelerators, "where the accelerators are to be written")?;
            let targets = translations.invalidate(chip, process, page_or_all(page)?);
            offer(accelerators, targets, "where the accelerators are to be written")
        }
    })
}

/// Saves everything that the translations remember. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_save(
    translations: *const VmPmuTranslations,
    snapshot: *mut *mut VmPmuSnapshot,
) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let translations = unsafe { self::translations(translations) }?;
        writable(snapshot, "where the snapshot is to be written")?;
        let saved = translations.save().map_err(refused)?;
        // SAFETY: the caller's promise.
        unsafe { put(snapshot, VmPmuSnapshot::handed_out(saved), "where the snapshot is to be written") }
    })
}

/// Makes translations remember what was saved, all of it or nothing: `length` bytes at `bytes`. VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are
/// damaged or of something else: then nothing is changed.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_translations_load(translations: *const VmPmuTranslations, bytes: *const u8, length: usize) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (translations, bytes) = unsafe { (self::translations(translations)?, list(bytes, length, "the snapshot")?) };
        translations.load(bytes).map_err(refused)
    })
}
