//! A run that is saved in its middle and goes on in a new machine, on the same engine or another.
//!
//! Every processor's runner has one function that runs a [`Stage`]: it builds everything anew, takes over what was saved if the stage says
//! so, runs, and then reports or saves. [`stages`] puts two of them together. What is saved is one string of bytes:
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `VMPMURUN` |
//! | 4 | the version of the form, [`RUN_VERSION`] |
//! | 8, and so many | the length of the content, and the content: CBOR (RFC 8949), every field under its name |
//! | 4 | CRC-32 (IEEE 802.3) of all bytes before |
//!
//! Numbers are little-endian. The content is a [`Saved`] of what the processor's engine, glue and surroundings remember.

use std::fmt;

use cbor4ii::core::dec::Read;
use cbor4ii::core::utils::SliceReader;
use cbor4ii::serde::{Deserializer as CborDeserializer, to_vec};
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use vm_pmu::Part;

use vm_pmu::snapshot::SnapshotError;

use super::{Engine, MigrateError, Options, RUN_VERSION, Ran, RunError};
use crate::report::Report;

const MAGIC: &[u8; 8] = b"VMPMURUN";
/// Bytes before the content.
const BEFORE: usize = MAGIC.len() + 4 + 8;
/// The checksum behind it.
const CHECKSUM: usize = 4;

/// A snapshot inside a saved run. Formats of serde have it as one string of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        deserializer.deserialize_byte_buf(AnyBytes)
    }
}

/// Reads a string of bytes.
struct AnyBytes;

impl Visitor<'_> for AnyBytes {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string of bytes")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes(bytes.to_vec()))
    }

    fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
        Ok(Bytes(bytes))
    }
}

/// A saved run of some processor: the states of `machine`, of type `M`, and of everything attached to it, of type `B`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Saved<M, B> {
    part: String,
    revision: String,
    /// What the engine remembers.
    pub(super) machine: M,
    /// The state of everything attached to it.
    pub(super) attached: B,
}

impl<M, B> Saved<M, B> {
    pub(super) fn new(part: Part, machine: M, attached: B) -> Saved<M, B> {
        let (part, revision) = named(part);
        Saved { part, revision, machine, attached }
    }
}

fn named(part: Part) -> (String, String) {
    (part.name().to_owned(), part.revision_letter().to_owned())
}

/// The name of a part and of its revision, before everything that depends on them.
#[derive(Deserialize)]
struct Identity {
    part: String,
    revision: String,
}

/// A saved run as bytes.
pub(super) fn write<M: Serialize, B: Serialize>(saved: &Saved<M, B>) -> Result<Vec<u8>, MigrateError> {
    // What is written has nothing that CBOR could not hold: it fails by memory alone.
    let content = to_vec(Vec::new(), saved).map_err(|_| MigrateError::Snapshot(SnapshotError::OutOfMemory))?;
    let mut bytes = Vec::with_capacity(BEFORE + content.len() + CHECKSUM);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&RUN_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&content);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// A saved run of a machine with this part.
pub(super) fn read<M: DeserializeOwned, B: DeserializeOwned>(part: Part, bytes: &[u8]) -> Result<Saved<M, B>, MigrateError> {
    let given = bytes.len();
    let rest = bytes.strip_prefix(MAGIC).ok_or(MigrateError::NotARun)?;
    let (version, rest) = rest.split_first_chunk().ok_or(MigrateError::Length { given })?;
    let version = u32::from_le_bytes(*version);
    if version != RUN_VERSION {
        return Err(MigrateError::Version { saved: version });
    }
    let (length, rest) = rest.split_first_chunk().ok_or(MigrateError::Length { given })?;
    let (content, checksum) = rest.split_last_chunk().ok_or(MigrateError::Length { given })?;
    if u64::from_le_bytes(*length) != content.len() as u64 {
        return Err(MigrateError::Length { given });
    }
    let (stated, computed) = (u32::from_le_bytes(*checksum), crc32fast::hash(&bytes[..given - CHECKSUM]));
    if stated != computed {
        return Err(MigrateError::Checksum { stated, computed });
    }
    let Identity { part: name, revision } = decode(content)?;
    let (saved, target) = ((name, revision), named(part));
    if saved != target {
        return Err(MigrateError::Part { saved, target });
    }
    decode(content)
}

/// A value that takes all of `content`.
fn decode<T: DeserializeOwned>(content: &[u8]) -> Result<T, MigrateError> {
    let mut deserializer = CborDeserializer::new(SliceReader::new(content));
    let value = T::deserialize(&mut deserializer).map_err(|_| MigrateError::Content)?;
    let mut rest = deserializer.into_inner();
    let more = rest.fill(1).map_err(|_| MigrateError::Content)?;
    if more.as_ref().is_empty() { Ok(value) } else { Err(MigrateError::Content) }
}

/// A part of a run, in its own machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage<'a> {
    /// What executes it.
    pub(super) engine: Engine,
    /// What was saved, if it does not begin at the beginning.
    pub(super) from: Option<&'a [u8]>,
    /// How many steps it has at most.
    pub(super) steps: u64,
    /// It is saved when it has had all of them, instead of being given up.
    pub(super) save: bool,
}

/// What became of a stage.
pub(super) enum Outcome<T> {
    /// It was saved.
    Saved(Vec<u8>),
    /// It ended, or was given up.
    Ended(T),
}

/// What a whole run comes to: a report, and perhaps more.
pub(super) trait Reported {
    /// The report.
    fn report(&mut self) -> &mut Report;
}

impl Reported for Ran {
    fn report(&mut self) -> &mut Report {
        &mut self.report
    }
}

/// Runs the stages of a run: one, or with [`Options::save_at`] two.
pub(super) fn stages<T: Reported>(
    options: &Options,
    pmu: &str,
    run: impl Fn(&Stage<'_>) -> Result<Outcome<T>, RunError>,
) -> Result<T, RunError> {
    let engine = options.engine;
    let unsaved = || RunError::NotForEngine { option: "--save-at", pmu: pmu.to_owned() };
    let Some(steps) = options.save_at else {
        return match run(&Stage { engine, from: None, steps: options.limit, save: false })? {
            Outcome::Ended(whole) => Ok(whole),
            Outcome::Saved(_) => Err(unsaved()),
        };
    };
    if steps >= options.limit {
        return Err(RunError::SavedTooLate { steps, limit: options.limit });
    }
    let next = options.go_on_with.unwrap_or(engine);
    RunError::check(next, pmu)?;
    let saved = match run(&Stage { engine, from: None, steps, save: true })? {
        Outcome::Saved(saved) => saved,
        Outcome::Ended(mut whole) => {
            return Err(RunError::EndedEarly { steps, ending: std::mem::take(&mut whole.report().ending) });
        }
    };
    match run(&Stage { engine: next, from: Some(&saved), steps: options.limit - steps, save: false })? {
        Outcome::Ended(mut whole) => {
            if next != engine {
                whole.report().engine = format!("{engine}, then {next}");
            }
            Ok(whole)
        }
        Outcome::Saved(_) => Err(unsaved()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vm_pmu_board::{ia64 as ia64_board, power as power_board};
    use vm_pmu_engines::{ia64, power};

    use super::*;

    impl Reported for Report {
        fn report(&mut self) -> &mut Report {
            self
        }
    }

    fn part(name: &str) -> Part {
        Part::named(name).unwrap()
    }

    fn bytes() -> Vec<u8> {
        write(&Saved::new(part("k8"), 5u64, Bytes(vec![1, 2, 3]))).unwrap()
    }

    fn read_back(bytes: &[u8]) -> Result<(u64, Vec<u8>), MigrateError> {
        read::<u64, Bytes>(part("k8"), bytes).map(|saved| (saved.machine, saved.attached.0))
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read_back(&bytes()), Ok((5, vec![1, 2, 3])));
    }

    #[test]
    fn every_change_and_every_cut_is_refused() {
        let whole = bytes();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            assert!(read_back(&changed).is_err(), "byte {at}");
            assert!(read_back(&whole[..at]).is_err(), "{at} bytes");
        }
        assert_eq!(read_back(&[whole.clone(), vec![0]].concat()), Err(MigrateError::Length { given: whole.len() + 1 }));
    }

    #[test]
    fn another_version_part_or_content_is_refused_as_such() {
        let mut later = bytes();
        later[8] = 6;
        assert_eq!(read_back(&later), Err(MigrateError::Version { saved: 6 }));
        let of = |name: &str, letter: &str| (name.to_owned(), letter.to_owned());
        let (saved, target) = (of("k8", part("k8").revision_letter()), of("knl", part("knl").revision_letter()));
        assert_eq!(read::<u64, Bytes>(part("knl"), &bytes()).map(|_| ()), Err(MigrateError::Part { saved, target }));
        assert_eq!(read::<String, Bytes>(part("k8"), &bytes()).map(|_| ()), Err(MigrateError::Content));
        assert_eq!(read_back(b"other"), Err(MigrateError::NotARun));
    }

    /// A run of 100 steps that counts what it has run.
    fn counted(stage: &Stage<'_>) -> Result<Outcome<Report>, RunError> {
        let before = stage.from.map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
        let after = before + stage.steps.min(100 - before);
        if stage.save && after < 100 {
            return Ok(Outcome::Saved(after.to_le_bytes().to_vec()));
        }
        let report = Report { instructions: after, ending: "done".to_owned(), engine: stage.engine.to_string(), ..Report::default() };
        Ok(Outcome::Ended(report))
    }

    #[test]
    fn a_run_that_is_saved_has_two_stages_and_all_its_steps() {
        let ran = |save_at, limit| stages(&Options { save_at, limit, ..Options::default() }, "k8", counted).unwrap().instructions;
        assert_eq!([ran(None, 1000), ran(Some(30), 1000), ran(Some(30), 70)], [100, 100, 70]);
    }

    #[test]
    fn a_run_is_not_saved_behind_its_limit() {
        let options = Options { save_at: Some(70), limit: 70, ..Options::default() };
        assert!(matches!(stages(&options, "k8", counted), Err(RunError::SavedTooLate { steps: 70, limit: 70 })));
    }

    #[test]
    fn a_run_that_ends_before_it_is_saved_says_so() {
        let error = stages(&Options { save_at: Some(100), ..Options::default() }, "k8", counted).unwrap_err();
        let said = "the guest ended before it had taken 100 steps, so it was not saved: done";
        assert_eq!(error.to_string(), said);
    }

    /// A saved run with this content, and right in everything around it.
    fn with_content(content: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC.as_slice(), &RUN_VERSION.to_le_bytes(), &(content.len() as u64).to_le_bytes(), content].concat();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Each processor refuses the run in one line.
    fn refused_by_all(bytes: &[u8]) -> Result<(), TestCaseError> {
        let errors = [
            read_back(bytes).map(drop),
            read::<power::Saved, power_board::Attached>(part("power9"), bytes).map(drop),
            read::<ia64::Saved, ia64_board::Attached>(part("montecito"), bytes).map(drop),
        ];
        for error in errors.into_iter().filter_map(Result::err) {
            prop_assert!(!error.to_string().contains('\n'));
        }
        Ok(())
    }

    /// What of [`bytes`] is its content.
    fn content() -> Vec<u8> {
        let whole = bytes();
        whole[BEFORE..whole.len() - CHECKSUM].to_vec()
    }

    #[test]
    fn content_that_says_it_is_larger_than_it_is_is_refused() {
        // A string of bytes of 2^62 bytes, and an array of as many values, where the state of the machine belongs.
        for claims in [0x5Bu8, 0x9B] {
            let head = content();
            let at = head.windows(8).position(|word| word == b"\x67machine").unwrap() + 8;
            let changed = [&head[..at], &[claims], &(1u64 << 62).to_be_bytes()].concat();
            assert_eq!(read_back(&with_content(&changed)), Err(MigrateError::Content));
        }
    }

    #[test]
    fn a_part_whose_name_has_several_lines_is_refused_in_one() {
        let names = |name: &str| (name.to_owned(), "A".to_owned());
        let refused = MigrateError::Part { saved: names("a\nb"), target: names("k8") };
        assert_eq!(refused.to_string(), "the run is of a\\nb A and the machine has k8 A: build one of the same part");
    }

    #[test]
    fn content_that_is_nested_without_end_is_refused() {
        let nested = vec![0x81; 1 << 20];
        assert_eq!(read_back(&with_content(&nested)), Err(MigrateError::Content));
        // The same as the value of a field that is not known.
        let unknown = [b"\xA1\x65other".as_slice(), &nested].concat();
        assert_eq!(read_back(&with_content(&unknown)), Err(MigrateError::Content));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn arbitrary_content_is_refused_in_a_line(content in proptest::collection::vec(any::<u8>(), 0..200)) {
            refused_by_all(&with_content(&content))?;
            refused_by_all(&content)?;
        }

        #[test]
        fn changed_content_is_refused_in_a_line_or_read(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut changed = content();
            for (at, byte) in &changes {
                let at = at.index(changed.len());
                changed[at] = *byte;
            }
            refused_by_all(&with_content(&changed))?;
        }
    }
}
