//! `pmulab annotate`: samples by instruction.

use std::path::Path;

use iced_x86::{Decoder, DecoderOptions, FastFormatter};
use serde::Serialize;
use vm_pmu::Part;
use vm_pmu_engines::image::Image;

use super::AnnotateArguments;
use crate::commands::PASSED;
use crate::commands::format::Format;
use crate::dialect::select;
use crate::error::Error;
use crate::number::grouped;
use crate::output::Output;
use crate::profile::{Places, Profile, by_symbol};
use crate::{files, suggest};

/// The most bytes of a symbol that are shown.
const MOST: u64 = 64 << 10;

/// Shows the instructions of a symbol with the share of its samples that fell on each.
///
/// # Errors
/// A file cannot be read, the guest has no symbol of this name, or the output cannot be written.
pub fn annotate(arguments: &AnnotateArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let profile = Profile::read(&arguments.file)?;
    let part = select::part(&profile.pmu)?;
    let code = match &profile.file {
        Some(file) => Code::load(part, Path::new(file))?,
        None => Code::of_guest(part, &profile.guest)?,
    };
    let places = Places::of(&profile);
    let symbol = arguments.symbol.as_str();
    let start = places.address_of(symbol).ok_or_else(|| {
        let sampled = by_symbol(&profile, &places);
        let names = sampled.iter().map(|total| total.name.as_str());
        let hint = suggest::did_you_mean(symbol, names.clone(), &format!("of those with samples {}", suggest::there_are(names)));
        Error::usage(format!("{} has no symbol `{symbol}`{hint}", profile.guest))
    })?;
    let is_within = |address: u64| places.at(address).is_some_and(|place| place.symbol.as_deref() == Some(symbol));
    let events = |from: u64, to: u64| -> u64 {
        profile.samples.iter().filter(|sample| (from..to).contains(&sample.address)).map(|sample| sample.period).sum()
    };
    let whole: u64 = profile.samples.iter().filter(|sample| is_within(sample.address)).map(|sample| sample.period).sum();
    let mut instructions = Vec::new();
    let mut address = start;
    while is_within(address) && address - start < MOST {
        let Some((length, text)) = code.at(address) else { break };
        let place = places.at(address).and_then(|place| Some((place.file?, place.line?)));
        let (file, line) = place.unzip();
        instructions.push(Instruction { address, file, line, events: events(address, address + length), text });
        address += length;
    }
    let annotated = Annotated {
        guest: &profile.guest,
        pmu: &profile.pmu,
        event: &profile.event,
        symbol,
        count: profile.count,
        events: whole,
        instructions,
    };
    match arguments.format {
        Format::Json => output.json(&annotated)?,
        Format::Table => annotated.show(output)?,
    }
    Ok(PASSED)
}

/// The instructions of a symbol, in the form that programs read.
#[derive(Clone, Debug, Serialize)]
struct Annotated<'a> {
    guest: &'a str,
    pmu: &'a str,
    event: &'a str,
    symbol: &'a str,
    /// The events of the whole run.
    count: u64,
    /// Those that the samples of the symbol stand for.
    events: u64,
    instructions: Vec<Instruction>,
}

#[derive(Clone, Debug, Serialize)]
struct Instruction {
    address: u64,
    file: Option<String>,
    line: Option<u64>,
    /// What its samples stand for.
    events: u64,
    /// The mnemonic and operands, or the words of code.
    text: String,
}

impl Annotated<'_> {
    fn show(&self, output: &mut Output<'_>) -> Result<(), Error> {
        output.line(2, &format!("{}: {} of {} {}", self.symbol, grouped(self.events), grouped(self.count), self.event))?;
        let mut shown = None;
        for Instruction { address, file, line, events, text } in &self.instructions {
            let place = file.as_ref().zip(*line);
            if let Some((file, number)) = place.filter(|place| shown != Some(*place)) {
                output.line(4, &format!("                          {file}:{number}"))?;
                shown = place;
            }
            let share = match events {
                0 => String::new(),
                events => format!("{:.1} %", 100.0 * *events as f64 / self.events.max(1) as f64),
            };
            output.line(25, &format!("{share:>9}  {address:#12x}  {text}"))?;
        }
        Ok(())
    }
}

/// The code of a guest.
struct Code {
    part: Part,
    image: Image,
    little_endian: bool,
}

impl Code {
    fn load(part: Part, path: &Path) -> Result<Code, Error> {
        let shown = path.display();
        let bytes = files::read(path).map_err(|error| Error::usage(format!("{shown} cannot be read: {error}")))?;
        let image = match part {
            Part::Power9(_) => Image::power_elf(&bytes),
            Part::Itanium(_) | Part::Montecito(_) => Image::ia64_elf(&bytes).map(|image| (image, true)),
            _ => Image::elf(&bytes).map(|image| (image, true)),
        };
        let (image, little_endian) = image.map_err(|error| Error::usage(format!("{shown} is not a guest: {error}")))?;
        Ok(Code { part, image, little_endian })
    }

    /// That of a guest of this project, as `record` runs it.
    fn of_guest(part: Part, name: &str) -> Result<Code, Error> {
        let unknown = || Error::usage(format!("{} has no guest `{name}` that its samples could be of: record it again", part.name()));
        let guest = vm_pmu_guests::named(part.name(), name).ok_or_else(unknown)?;
        let image = guest.image(true).map_err(|error| Error::usage(format!("{name} cannot be assembled: {error}")))?;
        Ok(Code { part, image, little_endian: true })
    }

    /// The bytes from an address on.
    fn bytes(&self, address: u64) -> Option<&[u8]> {
        self.image.segments.iter().find_map(|segment| {
            let offset = usize::try_from(address.checked_sub(segment.address)?).ok()?;
            segment.bytes.get(offset..).filter(|rest| !rest.is_empty())
        })
    }

    /// The length of the instruction at an address, and its text: of x86 the mnemonic and operands, elsewhere the words of code.
    fn at(&self, address: u64) -> Option<(u64, String)> {
        let bytes = self.bytes(address)?;
        match self.part {
            Part::Power9(_) => {
                let word: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
                let word = if self.little_endian { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) };
                Some((4, format!("{word:08x}")))
            }
            Part::Itanium(_) | Part::Montecito(_) => {
                let bundle = u128::from_le_bytes(bytes.get(..16)?.try_into().ok()?);
                let slot = |number: u32| (bundle >> (5 + 41 * number)) as u64 & ((1 << 41) - 1);
                Some((16, format!("template {:02x}: {:011x} {:011x} {:011x}", bundle & 0x1F, slot(0), slot(1), slot(2))))
            }
            Part::K8(_) | Part::Knl(_) => {
                let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
                let mut text = String::new();
                FastFormatter::new().format(&instruction, &mut text);
                Some((u64::try_from(instruction.len().max(1)).ok()?, text))
            }
        }
    }
}
