//! A driver that samples by a part's counters.

use vm_pmu::arch::registry::Part;

use super::arguments::DriverArguments;
use super::{File, tell, write};
use crate::dialect::select;
use crate::error::Error;
use crate::output::Output;

/// The text of a file for guests of one's own.
macro_rules! own {
    ($path:literal) => {
        include_str!(concat!("../../../../own/", $path))
    };
}

/// A file of the runtime, which keeps its path.
macro_rules! runtime {
    ($path:literal) => {
        (concat!("runtime/", $path), own!($path))
    };
}

/// What builds guests of a part, and the files of its driver beside the Makefile.
struct Kit {
    /// What the Makefile begins with, behind the name of the PMU.
    tools: &'static str,
    rules: &'static str,
    /// What files of the driver's language end in.
    extension: &'static str,
    package: &'static str,
    files: &'static [File<'static>],
}

const X86: Kit = Kit {
    tools: "MACHINE = x86\nCC = gcc\n",
    rules: own!("driver.mk"),
    extension: "c",
    package: "gcc",
    files: &[
        ("driver.h", own!("driver.h")),
        ("test.c", own!("driver-test.c")),
        ("loop.S", own!("x86/loop.S")),
        runtime!("guest.h"),
        runtime!("report.c"),
        runtime!("x86/guest.ld"),
        runtime!("x86/options"),
        runtime!("x86/pmu.h"),
        runtime!("x86/runtime.c"),
        runtime!("x86/start.S"),
    ],
};

const POWER: Kit = Kit {
    tools: "MACHINE = power9\nCC = powerpc64le-linux-gnu-gcc\n",
    rules: own!("driver.mk"),
    extension: "c",
    package: "gcc-powerpc64le-linux-gnu",
    files: &[
        ("driver.h", own!("driver.h")),
        ("driver.c", own!("power9/driver.c")),
        ("test.c", own!("driver-test.c")),
        ("loop.S", own!("power9/loop.S")),
        runtime!("guest.h"),
        runtime!("report.c"),
        runtime!("power9/abi.h"),
        runtime!("power9/guest.ld"),
        runtime!("power9/options"),
        runtime!("power9/pmu.h"),
        runtime!("power9/runtime.c"),
        runtime!("power9/start.S"),
    ],
};

/// Debian has no compiler for IA-64: the driver is in assembly.
const IA64: Kit = Kit {
    tools: "AS = ia64-linux-gnu-as\nLD = ia64-linux-gnu-ld\n",
    rules: own!("ia64/driver.mk"),
    extension: "s",
    package: "binutils-ia64-linux-gnu",
    files: &[
        ("driver.s", own!("ia64/driver.s")),
        ("test.s", own!("ia64/driver-test.s")),
        runtime!("ia64/guest.ld"),
        runtime!("ia64/start.s"),
    ],
};

/// Writes a driver with its test.
pub(super) fn begin(arguments: &DriverArguments, output: &mut Output<'_>) -> Result<(), Error> {
    let part = select::part(&arguments.pmu)?;
    let (kit, driver): (Kit, &[File<'_>]) = match part {
        Part::K8(_) => (X86, &[("driver.c", own!("x86/k8-driver.c"))]),
        Part::Knl(_) => (X86, &[("driver.c", own!("x86/knl-driver.c"))]),
        Part::Power9(_) => (POWER, &[]),
        Part::Itanium(_) | Part::Montecito(_) => (IA64, &[]),
    };
    let (pmu, folder) = (part.name(), arguments.folder.display());
    let makefile = format!("# Builds driver.elf, a driver with its test. `make run` runs it.\n\nPMU = {pmu}\n{}{}", kit.tools, kit.rules);
    write(&arguments.folder, &[kit.files, driver, &[("Makefile", &makefile)]].concat())?;
    let Kit { extension, package, .. } = kit;
    let words = format!(
        "{folder}/driver.{extension} is a driver of {pmu}, which interrupts after every so many instructions, and test.{extension} tests it. \
         With make and Debian's package {package}, this builds and runs them:"
    );
    tell(&words, &[format!("cd {folder}"), format!("make && pmulab run --pmu {pmu} ./driver.elf")], output)
}
