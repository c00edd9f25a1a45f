//! The shared library's name at run time: programs that were linked to it look for this one.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if ["linux", "freebsd", "netbsd", "openbsd", "illumos"].contains(&system.as_str()) {
        // The number is VM_PMU_ABI.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libvm_pmu.so.0");
    }
}
