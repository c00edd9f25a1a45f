//! How the header is made: the functions and types from the crate's source, the numbers of signals from the library, and the inline
//! functions from `inline.h`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use cbindgen::{Builder, Config, DocumentationStyle, EnumConfig, ExportConfig, Language, RenameRule, Style};
use vm_pmu::Signal;
use vm_pmu::arch::feed::{LineStates, Traits};

/// A file of the header.
pub(crate) struct Piece {
    /// Its name without its ending.
    pub(crate) name: &'static str,
    /// What it declares.
    what: &'static str,
    /// The file that it includes.
    includes: &'static str,
    /// The files of the interface, in the order in which it has them.
    sources: &'static [&'static str],
}

/// What an emulator needs first.
const FIRST: &str = "vm_pmu";

/// What reports to a companion.
const COMPANION: &str = "vm_pmu_companion";

/// The numbers of signals, which are made of no source.
const SIGNALS: &str = "vm_pmu_signals";

/// All files.
pub(crate) const PIECES: &[Piece] = &[
    Piece {
        name: FIRST,
        what: "performance monitoring units that an emulator or hypervisor attaches. The C interface",
        includes: "vm_pmu_signals.h",
        sources: &[
            "version",
            "status",
            "machine",
            "registers",
            "cells",
            "context",
            "records",
            "demand",
            "vocabulary",
            "record",
            "cpu",
            "snapshot",
        ],
    },
    Piece { name: SIGNALS, what: "the numbers of signals", includes: "", sources: &[] },
    Piece {
        name: COMPANION,
        what: "the companion, caches, translation buffers, predictors and timing of a modelled CPU",
        includes: "vm_pmu.h",
        sources: &["nodes", "companion", "device_requests", "instruction", "decode", "follow", "trace", "turns", "places"],
    },
    Piece {
        name: "vm_pmu_layout",
        what: "the packages, cores and threads of a machine as a person counts them, and what the guest reads of them",
        includes: "vm_pmu_companion.h",
        sources: &["die", "layout", "cpuid"],
    },
    Piece {
        name: "vm_pmu_boxes",
        what: "the boxes of Knights Landing's untile",
        includes: "vm_pmu_companion.h",
        sources: &["untile", "requests", "place_events", "mesh"],
    },
    Piece {
        name: "vm_pmu_posting",
        what: "POWER9's counters that post themselves into memory, and the device tree nodes that describe them",
        includes: "vm_pmu_companion.h",
        sources: &["memory", "cores", "platform", "devices", "translations", "traffic", "tree"],
    },
    Piece { name: "vm_pmu_catalogue", what: "the events and signals, by name and in words", includes: "vm_pmu.h", sources: &["catalogue"] },
    Piece { name: "vm_pmu_litmus", what: "litmus files, and recordings", includes: "vm_pmu.h", sources: &["litmus", "recording"] },
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
    "VmPmuCodeMode",
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

impl Piece {
    /// Where it is checked in.
    pub(crate) fn place(&self) -> PathBuf {
        root().join(format!("include/{}.h", self.name))
    }

    /// Its text, or why it cannot be made.
    pub(crate) fn text(&self) -> Result<String, Box<dyn std::error::Error>> {
        let guard = format!("{}_H", self.name.to_uppercase());
        let (top, end) = (format!("{}\n\n#ifndef {guard}\n#define {guard}", self.top()), format!("#endif /* {guard} */"));
        if self.name == SIGNALS {
            return Ok(format!("{top}\n\n#include <stdint.h>\n\n{}\n{end}\n", numbers()?));
        }
        let is_first = self.name == FIRST;
        let config = Config {
            language: Language::C,
            cpp_compat: true,
            style: Style::Type,
            sys_includes: ["stdbool.h", "stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
            includes: vec![self.includes.to_owned()],
            no_includes: true,
            // cbindgen would end its own guard before the trailer.
            header: Some(top),
            after_includes: is_first.then(preface),
            trailer: Some(match self.inline() {
                Some(text) => format!("{}\n\n{end}", text.trim_end()),
                None => end,
            }),
            line_length: 140,
            documentation_style: DocumentationStyle::C99,
            usize_is_size_t: true,
            enumeration: EnumConfig { rename_variants: RenameRule::QualifiedScreamingSnakeCase, ..EnumConfig::default() },
            export: ExportConfig { include: NUMBERS.iter().map(|name| (*name).to_owned()).collect(), ..ExportConfig::default() },
            ..Config::default()
        };
        let mut builder = Builder::new().with_config(config);
        for source in self.sources {
            builder = builder.with_src(root().join(format!("src/{source}.rs")));
        }
        let mut made = Vec::new();
        builder.generate()?.write(&mut made);
        Ok(without_marks(&String::from_utf8(made)?))
    }

    /// The inline functions that it ends with.
    fn inline(&self) -> Option<&'static str> {
        match self.name {
            FIRST => Some(include_str!("inline.h")),
            COMPANION => Some(include_str!("inline_companion.h")),
            _ => None,
        }
    }

    /// The comment that it begins with.
    fn top(&self) -> String {
        let (rules, what) = if self.name == FIRST {
            (include_str!("top.h").trim_end(), self.what)
        } else {
            (" * The rules at the top of vm_pmu.h hold.", self.what)
        };
        format!(
            "/*\n * vm-pmu: {what}.\n *\n * Generated from the sources in device/capi/src and device/capi/header: cargo run -p vm-pmu-capi --example header\n *\n{rules}\n *\n \
             * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.\n */"
        )
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The comments as C has them: the rules for pointers are at the top of the header, not at each function, and brackets need no backslash.
fn without_marks(header: &str) -> String {
    let mut text = String::with_capacity(header.len());
    let mut lines = header.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() == "//" && lines.peek().is_some_and(|next| next.trim() == "// # Safety") {
            while lines.next_if(|line| line.trim().starts_with("//")).is_some() {}
        } else {
            text.push_str(line.replace("\\[", "[").trim_end());
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
    format!("\n// The version of this header, as vm_pmu_version() has it: {major}.{minor}.{patch}.\n#define VM_PMU_VERSION {version}\n")
}

/// A name for every signal, trait of an instruction and state of a line.
fn numbers() -> Result<String, std::fmt::Error> {
    let mut text = String::from(
        "/*\n * The signals: what an embedder reports. A later library may have more, and never renumbers those it has.\n * Behind each are the parts that have it. A part ignores the others.\n */\n\
         typedef enum VmPmuSignal {\n",
    );
    for signal in Signal::all() {
        writeln!(
            text,
            "  VM_PMU_SIGNAL_{} = {}, // [{}] {}",
            signal.name().to_uppercase(),
            signal.number(),
            signal.section().word(),
            signal.summary()
        )?;
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
