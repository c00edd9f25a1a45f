//! Samples as a flame graph: a chart of boxes below boxes, as wide as what was sampled.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::text::label;
use crate::profile::Profile;
use crate::symbols::Symbols;

/// The most boxes.
const MOST: usize = 2000;
/// Addresses without a symbol are put together by so many bytes.
const BLOCK: u64 = 0x100;
/// The longest label.
const LABEL: usize = 120;
/// How deep stacks are drawn.
const DEEPEST: usize = 64;

/// A box.
#[derive(Debug, Default)]
struct Frame {
    weight: u64,
    samples: u64,
    below: BTreeMap<String, Frame>,
}

impl Frame {
    fn add(&mut self, names: &[String], weight: u64) {
        self.weight += weight;
        self.samples += 1;
        if let Some((first, rest)) = names.split_first() {
            self.below.entry(first.clone()).or_default().add(rest, weight);
        }
    }
}

/// A box as it is drawn: its name, the number of the box above it, and what it stands for.
struct Drawn<'a> {
    name: &'a str,
    above: Option<usize>,
    frame: &'a Frame,
    depth: usize,
}

/// The names from the outermost caller to where a sample fell. Where there are symbols, a caller without one is none: what called the guest's
/// first function left no address.
fn names(address: u64, callers: &[u64], symbols: &Symbols) -> Vec<String> {
    // A return address may lie behind the last byte of its function.
    let outer = callers.iter().rev().map(|caller| caller.wrapping_sub(1));
    let is_known = |caller: &u64| symbols.is_empty() || symbols.at(*caller).is_some_and(|place| place.symbol.is_some());
    let mut names = Vec::new();
    for one in outer.filter(is_known).chain([address]) {
        match symbols.at(one).and_then(|place| place.symbol) {
            Some(symbol) => names.push(symbol),
            None => {
                let block = one & !(BLOCK - 1);
                names.extend([format!("{block:#x} to {:#x}", block + (BLOCK - 1)), format!("{one:#x}")]);
            }
        }
    }
    let skipped = names.len().saturating_sub(DEEPEST);
    names.split_off(skipped)
}

/// The chart, with how many samples there are, how many boxes are too many, and how deep it is.
pub(super) fn figure(profile: &Profile, symbols: &Symbols) -> Value {
    let mut root = Frame::default();
    for sample in &profile.samples {
        root.add(&names(sample.address, &sample.callers, symbols), sample.period);
    }
    // Level by level, the widest of each level first, so that what is left out is deep and narrow.
    let mut drawn = vec![Drawn { name: &profile.guest, above: None, frame: &root, depth: 1 }];
    let mut next = 0;
    let mut left_out = 0;
    while next < drawn.len() {
        let (frame, depth) = (drawn[next].frame, drawn[next].depth);
        let mut below: Vec<(&String, &Frame)> = frame.below.iter().collect();
        below.sort_by_key(|(_, frame)| std::cmp::Reverse(frame.weight));
        for (name, frame) in below {
            if drawn.len() < MOST {
                drawn.push(Drawn { name, above: Some(next), frame, depth: depth + 1 });
            } else {
                left_out += 1;
            }
        }
        next += 1;
    }
    let deepest = drawn.iter().map(|one| one.depth).max().unwrap_or(1);
    let id = |number: usize| number.to_string();
    json!({
        "left_out": left_out,
        "samples": root.samples,
        "depth": deepest,
        "data": [{
            "type": "icicle",
            "ids": (0..drawn.len()).map(id).collect::<Vec<_>>(),
            "labels": drawn.iter().map(|one| label(one.name, LABEL)).collect::<Vec<_>>(),
            "parents": drawn.iter().map(|one| one.above.map(id).unwrap_or_default()).collect::<Vec<_>>(),
            "values": drawn.iter().map(|one| one.frame.weight).collect::<Vec<_>>(),
            "customdata": drawn.iter().map(|one| one.frame.samples).collect::<Vec<_>>(),
            "branchvalues": "total",
            "tiling": { "orientation": "v" },
            "leaf": { "opacity": 1 },
            "textposition": "middle left",
            "pathbar": { "visible": true, "thickness": 22 },
            "maxdepth": 24,
            "marker": { "colors": drawn.iter().map(|one| colour(one.name, one.above)).collect::<Vec<_>>() },
            "hovertemplate": "<b>%{label}</b><br>%{percentRoot:.1%} of the run<br>%{value:,} cycles, %{customdata:,} samples<extra></extra>",
        }],
        "layout": { "margin": { "l": 4, "r": 4, "t": 28, "b": 4 }, "height": 60 + 32 * deepest.min(24), "uniformtext": { "minsize": 10, "mode": "hide" } },
    })
}

/// The same name has the same colour.
fn colour(name: &str, above: Option<usize>) -> &'static str {
    const COLOURS: [&str; 6] = ["#e8a33d", "#d9822b", "#e2b84d", "#c9652c", "#dd9a5f", "#cf8a30"];
    if above.is_none() {
        return "#9aa5b1";
    }
    let hash = name.bytes().fold(5381u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte));
    COLOURS[hash as usize % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use vm_pmu_board::beside::Sample;

    use super::*;

    fn profile(samples: Vec<Sample>) -> Profile {
        Profile { guest: "</script><b>".to_owned(), samples, ..Profile::default() }
    }

    #[test]
    fn a_box_is_as_wide_as_those_below_it() {
        let sample = |address, period| Sample { address, period, ..Sample::default() };
        let figure = figure(&profile(vec![sample(0x110, 5), sample(0x120, 7), sample(0x110, 5), sample(0x200, 1)]), &Symbols::default());
        let chart = &figure["data"][0];
        // The guest; its blocks; the addresses, the widest first.
        assert_eq!(chart["labels"], json!(["&lt;/script&gt;&lt;b&gt;", "0x100 to 0x1ff", "0x200 to 0x2ff", "0x110", "0x120", "0x200"]));
        assert_eq!(chart["values"], json!([18, 17, 1, 10, 7, 1]));
        assert_eq!(chart["parents"], json!(["", "0", "0", "1", "1", "2"]));
        assert_eq!((&figure["samples"], &figure["left_out"]), (&json!(4), &json!(0)));
    }

    #[test]
    fn a_chart_of_too_many_boxes_says_how_many_are_left_out() {
        let samples = (0..3000).map(|number| Sample { address: number * BLOCK, period: 1, ..Sample::default() }).collect();
        let figure = figure(&profile(samples), &Symbols::default());
        assert_eq!(figure["data"][0]["labels"].as_array().unwrap().len(), MOST);
        // The guest and 1,999 of 3,000 blocks are drawn, and none of 1,999 addresses of these.
        assert_eq!(figure["left_out"], json!(1001 + 1999));
    }
}
