//! The header, as it is checked in.

use crate::support::root;

/// The texts of the files of the header.
pub(crate) fn headers() -> Vec<String> {
    let files = std::fs::read_dir(root().join("include")).expect("the header is checked in");
    files.map(|file| std::fs::read_to_string(file.expect("the folder can be read").path()).expect("the header can be read")).collect()
}
