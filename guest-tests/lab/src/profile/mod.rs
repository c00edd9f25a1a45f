//! Samples of a guest: kept in a file, and shown by symbol, as stacks and for other tools.

mod firefox;
mod stacks;
mod totals;

pub use firefox::firefox;
pub use stacks::{folded, script};
pub use totals::{Total, by_line, by_symbol};

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use vm_pmu_board::beside::Sample;

use crate::error::Error;
use crate::files::{self, FileKind};
use crate::symbols::{Place, Symbols};

/// The version of the file.
const VERSION: u32 = 1;

/// The samples of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The version of this format.
    pub version: u32,
    /// The guest's name, or its path.
    pub guest: String,
    /// The ELF file, whose symbols the addresses have; none of a guest of this project.
    pub file: Option<String>,
    /// The PMU.
    pub pmu: String,
    /// The event, with everything spelt out.
    pub event: String,
    /// How many of them a sample stands for.
    pub period: u64,
    /// How many there were in the whole run.
    pub count: u64,
    /// How many samples were not kept.
    pub dropped: u64,
    /// The samples, thread after thread.
    pub samples: Vec<Sample>,
}

impl Profile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is not a profile of this version.
    pub fn read(path: &Path) -> Result<Profile, Error> {
        let shown = path.display();
        const RIGHT: &str = "samples are what `pmulab record GUEST -o FILE` writes";
        let text = files::read_kind(path, Some(FileKind::Profile), RIGHT);
        let text = text.map_err(|error| Error::usage(format!("{shown} cannot be read: {error}")))?;
        let profile: Profile =
            serde_json::from_str(&text).map_err(|error| Error::usage(format!("{shown} is not what `pmulab record` writes: {error}")))?;
        if profile.version == VERSION {
            Ok(profile)
        } else {
            Err(Error::usage(format!("{shown} has version {}, and this program reads {VERSION}: record it again", profile.version)))
        }
    }

    /// Writes a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string(&Profile { version: VERSION, ..self.clone() })?;
        fs::write(path, text).map_err(|error| Error::usage(format!("{} cannot be written: {error}", path.display())))
    }
}

/// What lies at the addresses of a profile.
#[derive(Debug, Default)]
pub struct Places(Symbols);

impl Places {
    /// Those of a profile: of the ELF file it is of, if that is still there, or of the guest of this project.
    #[must_use]
    pub fn of(profile: &Profile) -> Places {
        Places(match &profile.file {
            Some(file) => Symbols::load(Path::new(file)).unwrap_or_default(),
            // Guests of this project are sampled in the default byte order.
            None => Symbols::of_guest(&profile.pmu, &profile.guest, true),
        })
    }

    /// What lies at an address.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<Place> {
        self.0.at(address)
    }

    /// Where the symbol of this name begins.
    #[must_use]
    pub fn address_of(&self, symbol: &str) -> Option<u64> {
        self.0.address_of(symbol)
    }

    /// The symbol at an address, or the address.
    #[must_use]
    pub fn name(&self, address: u64) -> String {
        self.at(address).and_then(|place| place.symbol).unwrap_or_else(|| format!("{address:#x}"))
    }

    /// The names of the callers of a sample, the innermost first. A return address may lie behind the last byte of its function.
    #[must_use]
    pub fn callers(&self, sample: &Sample) -> Vec<String> {
        sample.callers.iter().map(|address| self.name(address.wrapping_sub(1))).collect()
    }
}
