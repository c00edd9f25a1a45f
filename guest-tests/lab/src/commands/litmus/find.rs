//! Which litmus files are run.

use std::fs;
use std::path::{Path, PathBuf};

use vm_pmu::Part;
use vm_pmu::arch::access::Address;
use vm_pmu::litmus::{Case, Litmus};

use super::arguments::Wanted;
use super::wrong::Mistake;
use super::{FAIL, Failed, OK, Outcome, WRONG, text_of};
use crate::dialect::select;
use crate::error::Error;
use crate::suggest;
use crate::suite::{self, File, Index};

/// What a litmus file is, for those who name another.
const RIGHT: &str = "a litmus file begins with lines as `title: ...` and `pmu: ...`";
/// How the name of a litmus file ends.
const EXTENSION: &str = "litmus";

/// A program of a litmus file, or what keeps a file from being one.
pub(super) struct Source {
    /// The file.
    pub(super) name: String,
    /// Its text, if that is not understood.
    pub(super) text: Option<String>,
    read: Result<Case, Vec<Mistake>>,
}

impl Source {
    /// Those of a file.
    fn of(name: String, text: Result<String, String>) -> Vec<Source> {
        let read = match &text {
            Ok(text) => Case::of_file(text).map_err(|errors| errors.into_iter().map(Mistake::from).collect()),
            Err(why) => Err(vec![Mistake::of_file(why.clone())]),
        };
        match read {
            Ok(cases) => cases.into_iter().map(|case| Source { name: name.clone(), text: None, read: Ok(case) }).collect(),
            Err(mistakes) => vec![Source { name, text: text.ok(), read: Err(mistakes) }],
        }
    }

    /// Runs it.
    pub(super) fn run(&self) -> Outcome {
        let case = self.read.as_ref().ok();
        let litmus = case.map(|case| &case.litmus);
        let outcome = Outcome {
            file: self.name.clone(),
            pmu: litmus.map(|litmus| litmus.part.name()),
            title: litmus.map(|litmus| litmus.title.clone()),
            section: litmus.map(|litmus| litmus.section.clone()),
            outcome: WRONG,
            expectations: None,
            failure: None,
            mistakes: self.read.as_ref().err().cloned().unwrap_or_default(),
        };
        match case.map(Case::run) {
            None => outcome,
            Some(Ok(expectations)) => Outcome { outcome: OK, expectations: Some(expectations), ..outcome },
            Some(Err(failure)) => {
                Outcome { outcome: FAIL, failure: Some(Failed { line: failure.line, message: failure.message }), ..outcome }
            }
        }
    }
}

/// The files in and below `paths` that are wanted; without paths, those of the suite that the program carries.
///
/// # Errors
/// A path leads nowhere, a PMU or register is unknown, or no file is wanted.
pub(super) fn sources(paths: &[PathBuf], wanted: &Wanted) -> Result<Vec<Source>, Error> {
    let filter = Filter::new(wanted)?;
    let mut sources = Vec::new();
    if paths.is_empty() {
        let of_part = |path: &str| filter.part.is_none_or(|part| path.split('/').next() == Some(part.name()));
        let texts = suite::texts().filter(|(path, _)| of_part(path));
        sources.extend(texts.flat_map(|(path, text)| Source::of(path.to_owned(), Ok(text.to_owned()))));
    }
    let mut found = Vec::new();
    for path in paths {
        collect(path, &mut found)?;
    }
    sources.extend(found.iter().flat_map(|path| Source::of(path.display().to_string(), text_of(path, RIGHT))));
    let before = files(&sources);
    sources.retain(|source| filter.takes(source));
    if sources.is_empty() && before > 0 {
        return Err(Error::usage(format!("none of {before} litmus files fits what was asked for")));
    }
    Ok(sources)
}

/// How many files these are of.
pub(super) fn files(sources: &[Source]) -> usize {
    sources.chunk_by(|one, next| one.name == next.name).count()
}

struct Filter<'a> {
    part: Option<Part>,
    name: Option<String>,
    section: Option<String>,
    /// The addresses that the word for a register has on each part.
    registers: Option<Vec<(&'static str, Address)>>,
    wanted: &'a Wanted,
}

impl Filter<'_> {
    fn new(wanted: &Wanted) -> Result<Filter<'_>, Error> {
        let part = wanted.pmu.as_deref().map(select::part).transpose()?;
        let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_ascii_lowercase());
        let registers = wanted.register.as_deref().map(|word| addresses(word, part)).transpose()?;
        Ok(Filter { part, name: lower(&wanted.name), section: lower(&wanted.section), registers, wanted })
    }

    /// Whether a file is wanted. One that is not understood can only be asked for by its name.
    fn takes(&self, source: &Source) -> bool {
        let has = |text: &str, part: &Option<String>| part.as_ref().is_none_or(|part| text.to_ascii_lowercase().contains(part));
        let Ok(Case { litmus, .. }) = &source.read else {
            let by_name_alone = self.part.is_none() && self.section.is_none() && self.wanted.register.is_none();
            return by_name_alone && has(&source.name, &self.name);
        };
        self.part.is_none_or(|part| part.name() == litmus.part.name())
            && has(&format!("{} {}", source.name, litmus.title), &self.name)
            && has(&litmus.section, &self.section)
            && self.registers.as_ref().is_none_or(|registers| accesses(litmus, registers))
    }
}

/// The addresses of the register that a word names, on each part that has one.
fn addresses(word: &str, part: Option<Part>) -> Result<Vec<(&'static str, Address)>, Error> {
    let parts = part.map_or_else(|| select::parts(None), |part| Ok(vec![part]))?;
    let found: Vec<_> = parts.iter().map(|part| (part.name(), select::register(*part, word))).collect();
    let addresses: Vec<_> = found.iter().filter_map(|(name, register)| Some((*name, register.as_ref().ok()?.address))).collect();
    if !addresses.is_empty() {
        return Ok(addresses);
    }
    let names = parts.iter().flat_map(|part| select::registers(*part)).map(|register| register.name);
    let hint = suggest::did_you_mean(word, names, "`pmulab explain` knows registers by name and address");
    Err(Error::usage(format!("no PMU has a register `{word}`{hint}")))
}

fn accesses(litmus: &Litmus, registers: &[(&'static str, Address)]) -> bool {
    let Some((_, address)) = registers.iter().find(|(part, _)| *part == litmus.part.name()) else { return false };
    let index = Index::new(litmus.part, vec![File { path: String::new(), litmus: litmus.clone() }]);
    index.of_register(*address).next().is_some()
}

/// Adds `path`, or the litmus files in it and below it in the order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    if !path.is_dir() {
        if !path.exists() {
            return Err(missing(path));
        }
        files.push(path.to_owned());
        return Ok(());
    }
    let before = files.len();
    descend(path, files)?;
    if files.len() == before {
        return Err(Error::usage(format!("{} holds no file that ends in .{EXTENSION}", path.display())));
    }
    Ok(())
}

fn descend(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |error: std::io::Error| Error::usage(format!("cannot read {}: {error}", folder.display()));
    let mut entries = fs::read_dir(folder).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link to a folder is not followed: it may lead back here.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            descend(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == EXTENSION) {
            files.push(path);
        }
    }
    Ok(())
}

/// The mistake of naming a file that is not there.
#[must_use]
pub fn missing(path: &Path) -> Error {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hint = suggest::did_you_mean(&name, names.iter().map(String::as_str), "");
    Error::usage(format!("no file or folder `{}`{hint}", path.display()))
}
