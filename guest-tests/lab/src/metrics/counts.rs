//! Counts that come from elsewhere: a file of names and numbers.

use std::collections::BTreeMap;
use std::path::Path;

use vm_pmu::arch::event::{Catalogue, Entry, POWER9};
use vm_pmu::arch::power9::encode::EventCode;
use vm_pmu::arch::registry::Part;

use crate::dialect::{EDGES, FALLS, names};
use crate::error::Error;
use crate::files;
use crate::number;

/// What a file of counts may be.
const FORMS: &str = "counts are an object of JSON, lines of NAME,COUNT or what `perf stat -x,` prints";

/// Counts by the names of events, and quantities by theirs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts(BTreeMap<String, f64>);

impl Counts {
    /// Reads `path`: an object of JSON, `{"PM_CYC": 1000, ...}`, or lines of comma-separated values.
    ///
    /// A line is a name and a number, or what `perf stat -x,` prints: a number, a unit, a name. Names are those of events, whatever the
    /// case and with modifiers after a colon, or codes, `r1001e` or `0x1001e`. Lines that begin with `#`, lines without a number (what
    /// perf could not count) and a header are left out; any other line is refused. What is there several times adds up.
    ///
    /// # Errors
    /// The file cannot be read, or is neither.
    pub fn read(path: &Path, catalogue: &Catalogue) -> Result<Counts, Error> {
        let wrong = |why: &dyn std::fmt::Display| Error::usage(format!("{}: {why}", path.display()));
        let text = files::read_kind(path, None, FORMS).map_err(|error| wrong(&error))?;
        Counts::parse(&text, catalogue).map_err(|why| wrong(&why))
    }

    /// What the text of a file has; otherwise why not, in one line.
    fn parse(text: &str, catalogue: &Catalogue) -> Result<Counts, String> {
        let mut counts = Counts::default();
        if text.trim_start().starts_with('{') {
            let object: BTreeMap<String, f64> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            for (name, count) in object {
                if !is_count(count) {
                    return Err(no_count(&name, &count.to_string()));
                }
                counts.add(&name, count, catalogue);
            }
            return Ok(counts);
        }
        let is_said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let mut is_first = true;
        for (number, text) in text.lines().enumerate().filter(|(_, line)| is_said(line)) {
            let line = number + 1;
            let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(text.as_bytes());
            let row = reader.records().next().transpose().map_err(|error| error.to_string())?.unwrap_or_default();
            let may_be_header = std::mem::take(&mut is_first);
            let cell = |at: usize| row.get(at).unwrap_or_default();
            let number = |at: usize| cell(at).parse::<f64>().ok().filter(|count| is_count(*count));
            let hexadecimal = |at: usize| number::parse(cell(at)).filter(|_| !cell(at).starts_with('-')).map(|count| count as f64);
            let is_named_first = row.len() == 2 || cell(0).starts_with(|first: char| first.is_ascii_alphabetic());
            // A code in hexadecimal is no number here.
            match (number(0), number(1).or_else(|| hexadecimal(1))) {
                (Some(count), _) if row.len() > 2 => counts.add(cell(2), count, catalogue),
                (None, Some(count)) => counts.add(cell(0), count, catalogue),
                _ if is_not_counted(&row) || may_be_header && is_header(&row) => {}
                _ if row.len() < 2 => return Err(format!("line {line}: `{}` has no count; {FORMS}", cell(0).escape_debug())),
                _ if is_named_first => return Err(format!("line {line}: {}", no_count(cell(0), cell(1)))),
                _ => return Err(format!("line {line}: {}", no_count(cell(2), cell(0)))),
            }
        }
        if counts.0.is_empty() { Err(format!("there is no count in it; {FORMS}")) } else { Ok(counts) }
    }

    /// Adds `count` to what `name` has.
    pub fn add(&mut self, name: &str, count: f64, catalogue: &Catalogue) {
        *self.0.entry(plain(name, catalogue)).or_default() += count;
    }

    /// What `name` has, an event or a given quantity.
    #[must_use]
    pub fn of(&self, name: &str, catalogue: &Catalogue) -> Option<f64> {
        self.0.get(&plain(name, catalogue)).copied()
    }
}

fn is_count(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

fn no_count(name: &str, word: &str) -> String {
    format!("`{}` of `{}` is no count: write a number, as 1000", word.escape_debug(), name.escape_debug())
}

/// Whether a line of perf says that something was not counted, or has a metric alone.
fn is_not_counted(row: &csv::StringRecord) -> bool {
    row.len() > 2 && row.get(0).is_some_and(|count| count.is_empty() || count.starts_with('<'))
}

/// Whether a line names what the others have.
fn is_header(row: &csv::StringRecord) -> bool {
    let has = |at: usize, words: &[&str]| row.get(at).is_some_and(|cell| words.iter().any(|word| cell.eq_ignore_ascii_case(word)));
    has(0, &["event", "events", "name", "metric", "counter"]) || has(1, &["count", "counts", "value"])
}

/// The first name of an event or unit mask, by whatever name or, on POWER9, code; anything else in capitals.
fn plain(name: &str, catalogue: &Catalogue) -> String {
    // Of which box a count is does not matter: those of one event are added up.
    let name = name.split_once("::").filter(|_| !catalogue.units.is_empty()).map_or(name, |(_, event)| event);
    let part = Part::named(catalogue.pmu);
    if let (Some(part), true) = (part, catalogue.pmu != POWER9.pmu)
        && let Some(entry) = names::entry(part, name)
    {
        return entry.name.to_owned();
    }
    let name = name.split(':').next().unwrap_or_default().trim_matches('/');
    // The name of a Linux PMU precedes its event.
    let name = name.split_once("_imc/").map_or(name, |(_, event)| event).trim_matches('/');
    if catalogue.pmu != POWER9.pmu {
        return name.to_ascii_uppercase();
    }
    if let Some(event) = name.to_ascii_uppercase().strip_suffix(EDGES) {
        return format!("{}{EDGES}", plain(event, catalogue));
    }
    let taken = part.and_then(|part| names::taken(part, name).ok()).map(|taken| taken.text);
    let name = taken.as_deref().unwrap_or(name);
    let code = name.strip_prefix('r').map_or_else(|| number::parse(name), |code| u64::from_str_radix(code, 16).ok());
    let of_code = |code: u64| {
        // A code may say more than which event it is.
        let asked = EventCode::from_bits(code).selection();
        let is_asked = |select: u32| {
            let selection = EventCode::from_bits(select.into()).selection();
            selection == asked || selection == asked.on_any_counter()
        };
        catalogue.events().find(|event| event.offset.is_none() && is_asked(event.select))
    };
    let by_code = code.and_then(of_code);
    let falling = code.filter(|code| by_code.is_none() && code & FALLS != 0);
    if let Some(event) = falling.and_then(|code| of_code(code & !FALLS)) {
        return format!("{}{EDGES}", event.name);
    }
    let fixed = match code {
        Some(0x5_00FA) => catalogue.event_named("PM_RUN_INST_CMPL"),
        Some(0x6_00F4) => catalogue.event_named("PM_RUN_CYC"),
        _ => None,
    };
    let by_offset = || name.strip_prefix("event=").and_then(number::parse).and_then(|offset| posted(offset, catalogue));
    let entry = fixed.or(by_code).or_else(|| catalogue.event_named(name)).or_else(by_offset);
    entry.map_or_else(|| name.to_ascii_uppercase(), |entry| entry.name.to_owned())
}

/// The event that the nest posts at this offset.
fn posted(offset: u64, catalogue: &Catalogue) -> Option<&'static Entry> {
    let unit = catalogue.units.iter().position(|unit| *unit == "nest")?;
    catalogue.select_in(u16::try_from(unit).ok()?, u32::try_from(offset).ok()?).map(|(event, _)| event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vm_pmu::arch::event::{KNL, MONTECITO};

    fn read(text: &str) -> Result<Counts, Error> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("counts");
        std::fs::write(&file, text).unwrap();
        Counts::read(&file, &POWER9)
    }

    #[test]
    fn an_object_names_its_counts() {
        let counts = read(r#" {"pm_cyc": 12, "PM_INST_CMPL": 4.0, "FREQUENCY": 2.5}"#).unwrap();
        assert_eq!(["PM_CYC", "PM_INST_CMPL", "frequency"].map(|name| counts.of(name, &POWER9)), [Some(12.0), Some(4.0), Some(2.5)]);
        assert!(read("{").is_err());
    }

    #[test]
    fn lines_are_a_name_and_a_number() {
        let counts = read("event,count\n# measured twice\nPM_CYC,10\n0x2001e,5\nr500fa,7\n").unwrap();
        assert_eq!(counts.of("PM_CYC", &POWER9), Some(15.0));
        assert_eq!(counts.of("PM_RUN_INST_CMPL", &POWER9), Some(7.0));
    }

    #[test]
    fn falling_edges_are_named_or_have_the_lowest_bit_of_a_code() {
        let counts = read("r1013f,3\nPM_LSU0_LMQ_S0_VALID.edges,2\n0x1013e,70\n").unwrap();
        let of = |name: &str| counts.of(name, &POWER9);
        assert_eq!((of("PM_MRK_LD_MISS_EXPOSED_CYC.EDGES"), of("PM_MRK_LD_MISS_EXPOSED_CYC")), (Some(3.0), Some(70.0)));
        assert_eq!((of("PM_LSU0_LMQ_S0_VALID.EDGES"), of("PM_LSU0_LMQ_S0_VALID")), (Some(2.0), None));
        // An event whose own code has the bit is not another's edges.
        assert_eq!(read("0x200fd,5\n").unwrap().of("PM_L1_ICACHE_MISS", &POWER9), Some(5.0));
    }

    #[test]
    fn what_is_posted_is_named_as_perf_prints_it() {
        let counts =
            read("300,,nest_powerbus0_imc/PM_PB_CYC/,1000,100.00,,\nnest_mcs01_imc/event=0xd0/,8\nPM_MCS01_128B_RD_DISP_PORT01,2\n")
                .unwrap();
        assert_eq!(counts.of("PM_PB_CYC", &POWER9), Some(300.0));
        assert_eq!(counts.of("PM_MCS01_64B_RD_DISP_PORT01", &POWER9), Some(10.0));
    }

    #[test]
    fn a_unit_mask_is_named_after_its_event() {
        let mut counts = Counts::default();
        counts.add("l2d_references.reads", 8.0, &MONTECITO);
        counts.add("BRANCH_EVENT", 2.0, &MONTECITO);
        assert_eq!(counts.of("L2D_REFERENCES.READS", &MONTECITO), Some(8.0));
        assert_eq!(counts.of("ETB_EVENT", &MONTECITO), Some(2.0));
    }

    #[test]
    fn counts_of_several_boxes_add_up() {
        let mut counts = Counts::default();
        counts.add("edc-eclk0::RPQ.INSERTS", 8.0, &KNL);
        counts.add("edc-eclk7::rpq.inserts", 2.0, &KNL);
        assert_eq!(counts.of("RPQ.INSERTS", &KNL), Some(10.0));
    }

    #[test]
    fn lines_of_perf_are_understood() {
        let counts = read("1234,,pm_run_cyc:u,1000,100.00,,\n<not counted>,,pm_inst_cmpl,0,0.00,,\n").unwrap();
        assert_eq!((counts.of("PM_RUN_CYC", &POWER9), counts.of("PM_INST_CMPL", &POWER9)), (Some(1234.0), None));
    }

    #[test]
    fn a_file_without_a_count_is_a_mistake() {
        assert!(read("nothing here\n").is_err());
        assert!(read("").is_err());
    }

    #[test]
    fn a_line_whose_number_is_none_is_refused_with_its_place() {
        let refused = |text: &str| match read(text) {
            Err(Error::Usage(line)) => line.split_once("counts: ").unwrap().1.to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(refused("PM_RUN_INST_CMPL,abc\n"), "line 1: `abc` of `PM_RUN_INST_CMPL` is no count: write a number, as 1000");
        assert_eq!(refused("event,count\n\nPM_CYC,-10\n"), "line 3: `-10` of `PM_CYC` is no count: write a number, as 1000");
        assert_eq!(refused("12x,,PM_CYC,1000,100.00,,\n"), "line 1: `12x` of `PM_CYC` is no count: write a number, as 1000");
        assert_eq!(refused("PM_CYC,NaN,often\n"), "line 1: `NaN` of `PM_CYC` is no count: write a number, as 1000");
        assert_eq!(refused("PM_CYC,1\nPM_INST_CMPL\n"), format!("line 2: `PM_INST_CMPL` has no count; {FORMS}"));
        assert_eq!(refused("{\"PM_CYC\": -1}"), "`-1` of `PM_CYC` is no count: write a number, as 1000");
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_is_counts_or_refused_in_a_line(text in "(\\PC|\n|[{}\"\\[\\],:#.0-9xre]){0,80}") {
            for catalogue in [&POWER9, &KNL, &MONTECITO] {
                let refused = Counts::parse(&text, catalogue).err();
                proptest::prop_assert!(refused.is_none_or(|why| !why.contains('\n')));
            }
        }
    }
}
