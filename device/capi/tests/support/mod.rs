//! The built libraries, and the available compilers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the crate.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder where cargo left the libraries: that of the test itself, or the one above.
pub(crate) fn libraries() -> PathBuf {
    let own = std::env::current_exe().expect("a test knows where it is");
    let places = own.ancestors().skip(1).take(2).find(|folder| folder.join("libvm_pmu_capi.so").is_file());
    places.expect("cargo built the shared library").to_owned()
}

/// Runs `command`, which must succeed; if it does not, its output is in the message.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?} failed:\n{}{}", said(&output.stdout), said(&output.stderr));
    output
}

/// Whether there is such a program; if not, prints that the test named `test` is skipped.
pub(crate) fn is_there(program: &str, test: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: {test}, as there is no {program}");
    }
    found
}
