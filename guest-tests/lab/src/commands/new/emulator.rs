//! An emulator that has a PMU.

use std::fs;

use super::arguments::EmulatorArguments;
use super::{tell, write};
use crate::error::Error;
use crate::files;
use crate::output::Output;

/// An emulator in Rust.
const MAIN_RS: &str = include_str!("../../../../../device/examples/toy_cpu.rs");
/// An emulator in C.
const MAIN_C: &str = include_str!("../../../../../device/capi/examples/emulator/main.c");
/// What builds it.
const MAKEFILE: &str = include_str!("../../../../../device/capi/examples/emulator/Makefile");

/// Writes an emulator.
pub(super) fn begin(arguments: &EmulatorArguments, output: &mut Output<'_>) -> Result<(), Error> {
    let folder = arguments.folder.display();
    let enter = format!("cd {folder}");
    if arguments.language.rust {
        write(&arguments.folder, &[("Cargo.toml", &manifest()), ("src/main.rs", MAIN_RS)])?;
        let words = format!("{folder}/src/main.rs is an emulator with the PMU of a K8. This builds and runs it:");
        tell(&words, &[enter, "cargo run".to_owned()], output)
    } else {
        write(&arguments.folder, &[("Makefile", MAKEFILE), ("main.c", MAIN_C)])?;
        let words = format!(
            "{folder}/main.c is an emulator with the PMU of a K8. This builds and runs it where pkg-config finds vm_pmu.h and its library; \
             elsewhere, VM_PMU=PREFIX behind `make run` says what they were installed under:"
        );
        tell(&words, &[enter, "make run".to_owned()], output)
    }
}

/// The manifest: vm-pmu is that of the repository, or of this version where there is no repository.
fn manifest() -> String {
    let is_vm_pmu = |text: String| text.contains("\nname = \"vm-pmu\"\n");
    let device = files::in_repository("device", |folder| fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(is_vm_pmu));
    let dependency = device.map_or_else(
        || format!("\"{}\"", env!("CARGO_PKG_VERSION")),
        |folder| {
            let path = folder.canonicalize().unwrap_or(folder).display().to_string();
            format!("{{ path = \"{}\" }}", path.replace('\\', "\\\\").replace('"', "\\\""))
        },
    );
    format!(
        "\
[package]
name = \"emulator\"
version = \"0.1.0\"
edition = \"2024\"

# Of no workspace that the folder may lie in.
[workspace]

# The repository in which pmulab was called, otherwise that from which it was built. Where there is none, the version.
[dependencies]
vm-pmu = {dependency}
"
    )
}
