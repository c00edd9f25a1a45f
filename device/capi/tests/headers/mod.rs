//! The header, as it is checked in.

use std::path::Path;

/// The texts of the files of the header.
pub(crate) fn headers() -> Vec<String> {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).expect("the header is checked in");
    files.map(|file| std::fs::read_to_string(file.expect("the folder can be read").path()).expect("the header can be read")).collect()
}
