//! The litmus suite that the program carries, and what its files cover.
//!
//! The texts are put into the program when it is built (D215): they are there where the program is installed and the source tree is not.

mod index;

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::thread;

use vm_pmu::Part;
use vm_pmu::litmus::{Case, Litmus};

pub use index::{Index, Key};

/// Names and texts of all files: a NUL after each.
static TEXTS: &str = include_str!(concat!(env!("OUT_DIR"), "/suite.txt"));

/// A rule of a suite: a program of a file.
#[derive(Clone, Debug)]
pub struct File {
    /// The path of its file within the suite.
    pub path: String,
    /// What it says.
    pub litmus: Litmus,
}

/// The path and the text of every file of the suite, in the order of the paths.
///
/// ```
/// assert!(vm_pmu_lab::suite::texts().all(|(path, text)| path.ends_with(".litmus") && text.contains("title: ")));
/// ```
pub fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut rest = TEXTS.split('\0');
    std::iter::from_fn(move || Some((rest.next().filter(|path| !path.is_empty())?, rest.next()?)))
}

/// The rules of the suite about `part`; its folder has the part's name.
#[must_use]
pub fn files(part: Part) -> Vec<File> {
    let of_part: Vec<_> = texts().filter(|(path, _)| path.split('/').next() == Some(part.name())).collect();
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = of_part.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = of_part.chunks(share).map(|texts| scope.spawn(move || parsed(texts))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// The rules of the files with these paths and texts. A test of the suite parses every file.
fn parsed(texts: &[(&str, &str)]) -> Vec<File> {
    let rules = |(path, text): &(&str, &str)| {
        let path = (*path).to_owned();
        let cases = Case::of_file(text).unwrap_or_default();
        cases.into_iter().map(move |case| File { path: path.clone(), litmus: case.litmus })
    };
    texts.iter().flat_map(rules).collect()
}
