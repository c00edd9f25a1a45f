//! How the header is made: the functions and types from the crate's source, the numbers of signals from the library, and the inline
//! functions from `inline.h`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use cbindgen::{Builder, Config, EnumConfig, ExportConfig, Language, RenameRule, Style};
use vm_pmu::Signal;
use vm_pmu::arch::feed::{LineStates, Traits};

/// The files of the interface, in the order in which the header has them.
const SOURCES: &[&str] = &[
    "version",
    "status",
    "machine",
    "registers",
    "cells",
    "context",
    "demand",
    "vocabulary",
    "record",
    "untile",
    "snapshot",
    "memory",
    "cores",
    "cpuid",
    "platform",
    "devices",
    "translations",
    "die",
    "nodes",
    "companion",
    "device_requests",
    "instruction",
    "follow",
    "cpu",
    "turns",
    "requests",
    "places",
    "place_events",
    "mesh",
    "traffic",
    "tree",
    "layout",
    "catalogue",
    "litmus",
    "recording",
];

/// Types that functions take as plain numbers.
const NUMBERS: &[&str] = &[
    "VmPmuSpace",
    "VmPmuBranch",
    "VmPmuPrediction",
    "VmPmuData",
    "VmPmuTranslation",
    "VmPmuUnit",
    "VmPmuFetchSource",
    "VmPmuStoreOutcome",
    "VmPmuFabricCommand",
    "VmPmuFlush",
    "VmPmuRequestKind",
    "VmPmuSupplier",
    "VmPmuSnoop",
    "VmPmuStage",
    "VmPmuClock",
    "VmPmuFidelity",
    "VmPmuClockOwner",
    "VmPmuAccessKind",
    "VmPmuClass",
    "VmPmuElements",
    "VmPmuForgotten",
    "VmPmuPlaceKind",
    "VmPmuNvLinkTransfer",
    "VmPmuClusterMode",
    "VmPmuMemoryMode",
    "VmPmuDeviceOperation",
    "VmPmuRing",
    "VmPmuAgent",
    "VmPmuDeviceAccess",
];

/// Where the header is checked in.
pub(crate) fn place() -> PathBuf {
    root().join("include/vm_pmu.h")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The header, or why it cannot be made.
pub(crate) fn header() -> Result<String, Box<dyn std::error::Error>> {
    let config = Config {
        language: Language::C,
        cpp_compat: true,
        style: Style::Type,
        sys_includes: ["stdbool.h", "stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        no_includes: true,
        // cbindgen would end its own guard before the trailer.
        header: Some(format!("{}\n\n#ifndef VM_PMU_H\n#define VM_PMU_H", include_str!("top.h").trim_end())),
        after_includes: Some(preface()),
        trailer: Some(format!("{}\n{}\n\n#endif /* VM_PMU_H */", numbers()?, include_str!("inline.h").trim_end())),
        line_length: 140,
        usize_is_size_t: true,
        enumeration: EnumConfig { rename_variants: RenameRule::QualifiedScreamingSnakeCase, ..EnumConfig::default() },
        export: ExportConfig { include: NUMBERS.iter().map(|name| (*name).to_owned()).collect(), ..ExportConfig::default() },
        ..Config::default()
    };
    let mut builder = Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root().join(format!("src/{source}.rs")));
    }
    let mut made = Vec::new();
    builder.generate()?.write(&mut made);
    Ok(without_marks(&String::from_utf8(made)?))
}

/// The comments as C has them: the rules for pointers are at the top of the header, not at each function, and brackets need no backslash.
fn without_marks(header: &str) -> String {
    let mut text = String::with_capacity(header.len());
    let mut lines = header.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() == "*" && lines.peek().is_some_and(|next| next.trim() == "* # Safety") {
            while lines.next_if(|line| line.trim() != "*/").is_some() {}
        } else {
            text.push_str(&line.replace("\\[", "["));
            text.push('\n');
        }
    }
    text
}

/// The version of the header.
fn preface() -> String {
    let number = |digits: &str| digits.parse::<u32>().unwrap_or(0);
    let (major, minor) = (number(env!("CARGO_PKG_VERSION_MAJOR")), number(env!("CARGO_PKG_VERSION_MINOR")));
    let patch = number(env!("CARGO_PKG_VERSION_PATCH"));
    let version = major << 20 | minor << 10 | patch;
    format!(
        "\n/**\n * The version of this header, as vm_pmu_version() has it: {major}.{minor}.{patch}.\n */\n#define VM_PMU_VERSION {version}\n"
    )
}

/// A name for every signal, trait of an instruction and state of a line.
fn numbers() -> Result<String, std::fmt::Error> {
    let mut text = String::from(
        "/**\n * The signals: what an embedder reports, by the numbers of their cells. A later library may have more, and never\n * renumbers those it has.\n */\n\
         typedef enum VmPmuSignal {\n",
    );
    for signal in Signal::all() {
        writeln!(text, "  /**\n   * {}\n   */\n  VM_PMU_SIGNAL_{} = {},", signal.summary(), signal.name().to_uppercase(), signal.index())?;
    }
    writeln!(text, "}} VmPmuSignal;")?;
    writeln!(text, "\n/*\n * VmPmuRecord::traits: what else an instruction was, and what befell it.\n */")?;
    for (name, bit) in Traits::all().iter_names() {
        writeln!(text, "#define VM_PMU_TRAIT_{name} (UINT32_C(1) << {})", bit.bits().trailing_zeros())?;
    }
    writeln!(text, "\n/*\n * VmPmuRecord::line_states.\n */")?;
    for (name, bit) in LineStates::all().iter_names() {
        writeln!(text, "#define VM_PMU_LINE_STATE_{name} (1 << {})", bit.bits().trailing_zeros())?;
    }
    Ok(text)
}
