//! The shared library's name at run time: programs that were linked to it look for this one.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OBJECT_FORMAT") == "elf" || target("OS") == "linux" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libvm_pmu.so.0");
    }
}
