//! The guest that a command runs, as the command line names it, and the options of its machine.

use std::path::{Path, PathBuf};

use clap::Args;
use vm_pmu::Part;
use vm_pmu_engines::image::machine;

use crate::commands::litmus;
use crate::dialect::select;
use crate::error::Error;
use crate::files::{self, FileKind};
use crate::number::counted;
use crate::request::{Guest, GuestInfo, RunRequest, Runner};
use crate::runner::{Options, SECONDS, parts_of};
use crate::suggest;

/// The PMU of a guest that comes as a file of x86 and says nothing.
const DEFAULT_PMU: &str = "k8";

/// Arguments about the guest of a command that runs one.
#[derive(Debug, Args)]
pub struct GuestArguments {
    /// A guest's name, or the path of an ELF file
    #[arg(value_name = "NAME|ELF", required_unless_present = "guest_option")]
    guest: Option<String>,
    /// The guest, as an option
    #[arg(long = "guest", value_name = "NAME|ELF", hide = true, conflicts_with = "guest")]
    guest_option: Option<String>,
    /// The PMU; if left out, the only one that the guest knows or that executes the file, and k8 for a file of x86
    #[arg(long)]
    pmu: Option<String>,
    /// How many CPUs a guest from a file gets; 1 if left out
    #[arg(long, value_name = "COUNT")]
    cpus: Option<usize>,
    /// Stop after so many instructions, interrupts and exceptions of all CPUs
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000_000)]
    steps: u64,
    /// Stop after so many seconds
    #[arg(long, value_name = "COUNT", default_value_t = SECONDS)]
    seconds: u64,
    /// The revision of the part; the latest if left out
    #[arg(long, value_name = "LETTER")]
    revision: Option<String>,
}

impl GuestArguments {
    /// The part, and a request to run the guest on `engine`.
    ///
    /// # Errors
    /// A PMU, revision or guest is unknown, or an option is not for this guest.
    pub(super) fn request(&self, engine: &str, runner: &dyn Runner) -> Result<(Part, RunRequest), Error> {
        let word = self.guest.as_deref().or(self.guest_option.as_deref()).unwrap_or_default();
        let guests = runner.guests();
        let (pmu, guest) = named(word, part_named(self.pmu.as_deref())?, &guests)?;
        for_files(&guest, &pmu, &guests, &[("--cpus", self.cpus.is_some())])?;
        let part = select::revised(select::part(&pmu)?, self.revision.as_deref())?;
        let cpus = self.cpus.unwrap_or(1);
        let options = Options { limit: self.steps, seconds: self.seconds, cpus, revision: self.revision.clone(), ..Options::default() };
        Ok((part, RunRequest { pmu, guest, engine: engine.to_owned(), options }))
    }
}

/// The name of the part that `--pmu` names.
///
/// # Errors
/// There is none.
pub(super) fn part_named(pmu: Option<&str>) -> Result<Option<&'static str>, Error> {
    pmu.map(|name| select::part(name).map(Part::name)).transpose()
}

/// Refuses options about the machine of a guest that brings its own: the name of each, and whether it was given.
///
/// # Errors
/// One was given, and the guest is none from a file.
pub(super) fn for_files(guest: &Guest, pmu: &str, guests: &[GuestInfo], given: &[(&str, bool)]) -> Result<(), Error> {
    let Guest::Named(name) = guest else { return Ok(()) };
    let Some((option, _)) = given.iter().find(|(_, given)| *given) else { return Ok(()) };
    let known = guests.iter().find(|guest| guest.name == *name && guest.pmu == pmu);
    let cpus = known.map_or_else(String::new, |guest| format!(" of {}", counted(guest.threads, "CPU")));
    Err(Error::usage(format!("`{option}` is for guests from files, and {name} has a machine{cpus}: leave it out")))
}

/// The guest that `word` is, the name of one of `guests` or the path of a file, and its PMU: `pmu` if that is given.
///
/// # Errors
/// There is no such guest or file, or it does not say which PMU.
pub(super) fn named(word: &str, pmu: Option<&str>, guests: &[GuestInfo]) -> Result<(String, Guest), Error> {
    let pmus: Vec<&str> = guests.iter().filter(|guest| guest.name == *word).map(|guest| guest.pmu.as_str()).collect();
    let guest = || Guest::Named(word.to_owned());
    match (pmus.as_slice(), pmu) {
        ([], _) => {
            let path = file(word, guests)?;
            Ok((pmu_of(&path, pmu)?, Guest::File(path)))
        }
        (pmus, Some(pmu)) if !pmus.contains(&pmu) => {
            Err(Error::usage(format!("guest `{word}` does not drive {pmu}: it drives {}", pmus.join(", "))))
        }
        (_, Some(pmu)) => Ok((pmu.to_owned(), guest())),
        ([only], None) => Ok(((*only).to_owned(), guest())),
        (pmus, None) => Err(Error::usage(format!("guest `{word}` drives {}: choose one with --pmu", pmus.join(", ")))),
    }
}

/// The PMU that a guest from a file drives: `pmu` if that is given, and otherwise the one whose machine the file is for.
fn pmu_of(path: &Path, pmu: Option<&str>) -> Result<String, Error> {
    let shown = path.display();
    let head = files::head(path).map_err(|error| Error::usage(format!("{shown} cannot be read: {error}")))?;
    if let Some(kind) = FileKind::of(&head).filter(|kind| *kind != FileKind::Elf) {
        return Err(Error::usage(format!("{shown} is no guest: {}; a guest is an ELF file", kind.told())));
    }
    match (pmu, machine(&head).map(parts_of)) {
        (Some(pmu), _) => Ok(pmu.to_owned()),
        (None, Some([only])) => Ok((*only).to_owned()),
        (None, Some(several @ [first, ..])) if *first != DEFAULT_PMU => {
            let choices: Vec<String> = several.iter().map(|part| format!("`--pmu {part}`")).collect();
            Err(Error::usage(format!("{shown} can run on several parts; for it, choose {}", choices.join(" or "))))
        }
        _ => Ok(DEFAULT_PMU.to_owned()),
    }
}

/// The file that a word which names no guest leads to.
fn file(word: &str, guests: &[GuestInfo]) -> Result<PathBuf, Error> {
    let path = PathBuf::from(word);
    if path.is_file() {
        return Ok(path);
    }
    if path.is_dir() {
        return Err(Error::usage(format!("`{word}` is a folder, not an ELF file")));
    }
    if word.contains(['/', '\\']) {
        return Err(litmus::missing(&path));
    }
    let otherwise = if guests.is_empty() { "this build has none" } else { "`pmulab guests` lists them" };
    let hint = suggest::did_you_mean(word, guests.iter().map(|guest| guest.name.as_str()), otherwise);
    Err(Error::usage(format!("no guest or file is called `{word}`{hint}")))
}
