//! Writes the tables that models use: the catalogue without its names and texts.

use std::fmt::Write as _;

/// What an entry contributes: each field is an expression, or a list of them.
pub(crate) struct Entry {
    pub(crate) umask: Option<u32>,
    pub(crate) signals: Vec<String>,
    pub(crate) edges: Vec<String>,
    /// The fields of `Properties`, except its lists.
    pub(crate) properties: String,
    /// The fields of `Lists`.
    pub(crate) lists: String,
}

/// The tables of one part, to which entries are added.
#[derive(Default)]
pub(crate) struct Tables {
    encodings: String,
    properties: Vec<String>,
    lists: Vec<String>,
    signals: Vec<String>,
}

impl Tables {
    /// Adds the next entry of the catalogue.
    pub(crate) fn push(&mut self, entry: &Entry) -> Result<(), String> {
        let umask = match entry.umask {
            None => "NO_MASK".to_owned(),
            Some(mask) if mask < u32::from(u16::MAX) => format!("{mask:#x}"),
            Some(mask) => return Err(format!("unit mask {mask:#x} has more than 15 bits")),
        };
        let lists = position(&mut self.lists, entry.lists.clone());
        let properties = position(&mut self.properties, format!("{}, lists: &LISTS[{lists}]", entry.properties));
        let list: Vec<String> = entry.signals.iter().chain(&entry.edges).cloned().collect();
        let first = self.position_of_run(&list);
        writeln!(
            self.encodings,
            "        Encoding {{ umask: {umask}, properties: {properties}, first_signal: {first}, signals: {}, edges: {} }},",
            entry.signals.len(),
            entry.edges.len(),
        )
        .map_err(|error| error.to_string())
    }

    /// The position of these signals one after the other. They are appended if they are not there.
    fn position_of_run(&mut self, list: &[String]) -> usize {
        let known = if list.is_empty() { Some(0) } else { self.signals.windows(list.len()).position(|run| run == list) };
        known.unwrap_or_else(|| {
            self.signals.extend_from_slice(list);
            self.signals.len() - list.len()
        })
    }

    /// Writes the tables as a static. `rows` are key, position and number of unit masks of each select; `also` has each further key of an
    /// event with its first.
    pub(crate) fn write(
        &self,
        out: &mut String,
        constant: &str,
        rows: &[(u32, usize, usize)],
        also: &[(u32, u32)],
        max_per_cycle: u32,
        units: &[String],
    ) -> Result<(), String> {
        // The position of a small select among the rows, from 1; 0 where there is none.
        let place = |select: u32| rows.iter().position(|(other, _, _)| *other == select).map_or(0, |at| at + 1);
        let direct: Vec<usize> = (0..256).map(place).collect();
        let rows: String =
            rows.iter().map(|(key, first, masks)| format!("Row {{ key: {key:#x}, first: {first}, masks: {masks} }}, ")).collect();
        let properties: String = self.properties.iter().map(|fields| format!("        Properties {{ {fields} }},\n")).collect();
        let lists: String = self.lists.iter().map(|fields| format!("Lists {{ {fields} }}, ")).collect();
        writeln!(
            out,
            "static {constant}_ENCODINGS: Encodings = {{\n    static LISTS: [Lists; {}] = [{lists}];\n    Encodings {{\n        \
             max_per_cycle: {max_per_cycle}, units: &{units:?}, direct: &{direct:?}, rows: &[{rows}], also: &{also:?},\n        \
             encodings: &[\n{}        ],\n        properties: &[\n{properties}        ],\n        signals: &[{}],\n    }}\n}};",
            self.lists.len(),
            self.encodings,
            self.signals.join(", "),
        )
        .map_err(|error| error.to_string())
    }
}

/// The position of `item` in `list`, to which it is appended if it is not there.
fn position(list: &mut Vec<String>, item: String) -> usize {
    list.iter().position(|other| *other == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}
