//! The version of the library.

use std::ffi::c_char;

/// The number of the binary interface: programs and libraries of the same number are compatible.
///
/// It changes when a function, a field or a number is removed or changes its meaning. Additions do not change it: functions, signals, and
/// fields at the end of structs that begin with their size.
pub const VM_PMU_ABI: u32 = 0;

/// The number of the library's binary interface: compare it with VM_PMU_ABI of the header that the program was compiled with.
#[unsafe(no_mangle)]
pub extern "C" fn vm_pmu_abi() -> u32 {
    VM_PMU_ABI
}

/// The version of the library by semantic versioning: major in bits 31:20, minor in bits 19:10, patch in bits 9:0.
///
/// VM_PMU_VERSION is the version of the header.
#[unsafe(no_mangle)]
pub extern "C" fn vm_pmu_version() -> u32 {
    const VERSION: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) << 20
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 10
        | number(env!("CARGO_PKG_VERSION_PATCH"));
    VERSION
}

/// The version of the library as a text, such as "0.1.0"; it lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn vm_pmu_version_text() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

const fn number(digits: &str) -> u32 {
    let (mut value, mut rest) = (0, digits.as_bytes());
    while let [digit, more @ ..] = rest {
        value = value * 10 + (*digit - b'0') as u32;
        rest = more;
    }
    value
}
