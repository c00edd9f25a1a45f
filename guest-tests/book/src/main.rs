//! Writes the pages of the book that are made from the project's own data, and checks the built book.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use vm_pmu_book::built;

/// Write the pages of the book that are made from the project's data
#[derive(Parser)]
struct Arguments {
    /// The folder of the book's pages
    #[arg(default_value = "docs/src")]
    pages: PathBuf,
    /// The folder of the litmus suites
    #[arg(long, default_value = "guest-tests/litmus")]
    suites: PathBuf,
    /// The folder of the texts that pictures are made from
    #[arg(long, default_value = "docs/pictures")]
    drawings: PathBuf,
    /// Write no pages: finish the book that mdbook has built in this folder. Its search index is trimmed, the files of this
    /// repository that it links to are copied into it, and its links are checked
    #[arg(long, value_name = "FOLDER")]
    finish: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.finish {
        Some(folder) => finish(folder),
        None => write(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(arguments: &Arguments) -> Result<(), String> {
    let Arguments { suites, drawings, pages, .. } = arguments;
    let made = vm_pmu_book::pages(suites, drawings, pages)
        .map_err(|error| format!("cannot read {}, {} or {}: {error}", suites.display(), drawings.display(), pages.display()))?;
    for (name, text) in made {
        let file = pages.join(name);
        std::fs::write(&file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        println!("{}", file.display());
    }
    Ok(())
}

fn finish(folder: &Path) -> Result<(), String> {
    let size = built::trim(folder).map_err(|error| format!("the search index: {error}"))?;
    println!("search index: {size} bytes");
    if size > built::LARGEST_INDEX {
        return Err(format!("the search index has more than {} bytes: docs/book.toml can leave pages out of it", built::LARGEST_INDEX));
    }
    let copied = built::carry(folder, Path::new(".")).map_err(|error| format!("the files that the book links to: {error}"))?;
    println!("{copied} files of the repository are in the book");
    let broken = built::broken(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    if !broken.is_empty() {
        let first: Vec<&str> = broken.iter().map(String::as_str).take(20).collect();
        return Err(format!("{} links are broken, among them:\n{}", broken.len(), first.join("\n")));
    }
    println!("every link within the book works");
    Ok(())
}
