//! Writes the pages of the book that are made from the project's own data.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Write the pages of the book that are made from the project's data
#[derive(Parser)]
struct Arguments {
    /// The folder of the book's pages
    #[arg(default_value = "docs/src")]
    pages: PathBuf,
    /// The folder of the litmus suites
    #[arg(long, default_value = "guest-tests/litmus")]
    suites: PathBuf,
}

fn main() -> ExitCode {
    match write(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(arguments: &Arguments) -> Result<(), String> {
    let pages = vm_pmu_book::pages(&arguments.suites).map_err(|error| format!("cannot read {}: {error}", arguments.suites.display()))?;
    for (name, text) in pages {
        let file = arguments.pages.join(name);
        std::fs::write(&file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        println!("{}", file.display());
    }
    Ok(())
}
