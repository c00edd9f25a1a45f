//! Loops of litmus files: lines that are read once for each row of values, before any of them is parsed.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::mistake::{ParseError, without_comment};

/// The most lines that the loops of a file make.
const MAX_LINES: usize = 20_000;

/// The most characters of a line in a loop, before and after values are put in, and of a title or section.
pub(super) const MAX_LENGTH: usize = 1000;

/// The most loops within each other.
const MAX_DEPTH: usize = 4;

/// A line as it is parsed.
pub(super) struct Line<'t> {
    /// Where it is in the file, from 1.
    pub(super) number: usize,
    /// As it is in the file.
    pub(super) source: &'t str,
    /// Without its comment, and with the values of loops.
    pub(super) text: Cow<'t, str>,
    /// The values that loops have here, for messages: `event=0x41, count=3`.
    pub(super) row: Option<Arc<str>>,
}

impl Line<'_> {
    /// Says what is wrong with it.
    pub(super) fn wrong(&self, message: String) -> ParseError {
        let message = match &self.row {
            Some(row) => format!("{message} (with {row})"),
            None => message,
        };
        ParseError::new(self.number, self.source, message)
    }
}

/// The lines of a file, those of its loops once for each row.
pub(super) fn expand(text: &str) -> Result<Vec<Line<'_>>, ParseError> {
    let source: Vec<&str> = text.lines().collect();
    let mut expansion = Expansion { source: &source, lines: Vec::new(), made: 0 };
    expansion.block(0, &Values::default())?;
    Ok(expansion.lines)
}

/// The values of the loops around a line.
#[derive(Clone, Default)]
struct Values<'t> {
    named: Vec<(Cow<'t, str>, String)>,
    /// How many loops there are.
    depth: usize,
    row: Option<Arc<str>>,
}

impl Values<'_> {
    /// The line with a value in place of each `{NAME}`.
    fn put_into(&self, line: &str) -> Result<String, String> {
        let mut parts = line.split('{');
        let mut whole = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}').ok_or_else(|| format!("`{{{part}` lacks its `}}`"))?;
            let value = self.named.iter().find(|(known, _)| known == name).ok_or_else(|| {
                let names: Vec<&str> = self.named.iter().map(|(name, _)| name.as_ref()).collect();
                format!("no loop here has a value `{name}`: there are {}", names.join(", "))
            })?;
            whole.push_str(&value.1);
            whole.push_str(rest);
            if whole.len() > MAX_LENGTH {
                return Err(too_long());
            }
        }
        Ok(whole)
    }
}

fn too_long() -> String {
    format!("a line of a loop is too long: {MAX_LENGTH} characters are the most")
}

struct Expansion<'a, 't> {
    source: &'a [&'t str],
    lines: Vec<Line<'t>>,
    /// How many lines of loops have been read: empty ones take time too.
    made: usize,
}

impl<'t> Expansion<'_, 't> {
    /// The line at `at` with the values of the loops around it; none at the end of the file.
    fn line(&mut self, at: usize, values: &Values<'_>) -> Result<Option<Line<'t>>, ParseError> {
        let Some(source) = self.source.get(at).copied() else { return Ok(None) };
        let text = without_comment(source).trim();
        let mut line = Line { number: at + 1, source, text: Cow::Borrowed(text), row: values.row.clone() };
        if values.depth > 0 {
            self.made += 1;
            if self.made > MAX_LINES {
                return Err(line.wrong(format!("the loops of this file make too many lines: {MAX_LINES} are the most")));
            }
            if text.len() > MAX_LENGTH {
                return Err(line.wrong(too_long()));
            }
            let whole = values.put_into(text).map_err(|message| line.wrong(message))?;
            // A value can bring a comment along.
            line.text = without_comment(&whole).trim().to_owned().into();
        }
        Ok(Some(line))
    }

    /// Takes the lines from `at` to the `end` of the loop that has `values`; returns where that is.
    fn block(&mut self, mut at: usize, values: &Values<'_>) -> Result<usize, ParseError> {
        while let Some(line) = self.line(at, values)? {
            // Where a loop ends is the same in every row: no value is a word of it.
            match without_comment(line.source).trim() {
                "end" if values.depth > 0 => return Ok(at),
                "end" => return Err(line.wrong("`end` ends no loop: a loop begins with `for`".into())),
                plain if plain.split_whitespace().next() == Some("for") => at = self.repeat(at, &line, values)?,
                _ if line.text.is_empty() => {}
                _ => self.lines.push(line),
            }
            at += 1;
        }
        Ok(at)
    }

    /// Takes the loop that begins with `first`, at `at`; returns where its `end` is.
    fn repeat(&mut self, at: usize, first: &Line<'t>, around: &Values<'_>) -> Result<usize, ParseError> {
        const FORM: &str = "write `for NAME, ... in`, rows of values and `do`";
        if around.depth == MAX_DEPTH {
            return Err(first.wrong(format!("loops within loops are too many: {MAX_DEPTH} are the most")));
        }
        // A blank at the end, as the values can begin on the next line.
        let head = format!("{} ", first.text);
        let Some((names, values)) = head.strip_prefix("for ").and_then(|rest| rest.split_once(" in ")) else {
            return Err(first.wrong(format!("`{}` is not a loop: {FORM}", first.text)));
        };
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        for (place, name) in names.iter().enumerate() {
            let is_word = name.starts_with(|letter: char| letter.is_ascii_lowercase())
                && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
            if !is_word {
                return Err(first.wrong(format!("`{name}` is not the name of a value: write small letters, digits and `_`")));
            }
            if names.iter().take(place).any(|other| other == name) || around.named.iter().any(|(other, _)| other == name) {
                return Err(first.wrong(format!("`{name}` is the name of another value")));
            }
        }
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut body = at;
        let mut text = values.trim().to_owned();
        let mut line = None;
        loop {
            let list = text.strip_suffix("do").filter(|list| list.is_empty() || list.ends_with(char::is_whitespace));
            let told = line.as_ref().unwrap_or(first);
            add_rows(list.unwrap_or(&text), &names, &mut rows).map_err(|message| told.wrong(message))?;
            body += 1;
            if list.is_some() {
                break;
            }
            let Some(next) = self.line(body, around)? else {
                return Err(first.wrong(format!("`for` has no `do`: {FORM}")));
            };
            text = next.text.as_ref().to_owned();
            line = Some(next);
        }
        if rows.is_empty() {
            return Err(first.wrong(format!("`for` has no values: {FORM}")));
        }
        let mut end = body;
        for row in rows {
            let told: Vec<String> = names.iter().zip(&row).map(|(name, value)| format!("{name}={value}")).collect();
            let told = around.row.as_deref().map(ToOwned::to_owned).into_iter().chain(told).collect::<Vec<_>>().join(", ");
            let own = names.iter().map(|name| Cow::Borrowed(*name)).zip(row);
            let named = around.named.iter().cloned().chain(own).collect();
            end = self.block(body, &Values { named, depth: around.depth + 1, row: Some(told.into()) })?;
            if end >= self.source.len() {
                return Err(first.wrong("`for` has no `end`: write `end` behind the lines of the loop".into()));
            }
        }
        Ok(end)
    }
}

/// Adds the rows of a list of values: as many values at a time as there are names.
fn add_rows(list: &str, names: &[&str], rows: &mut Vec<Vec<String>>) -> Result<(), String> {
    let list = list.trim();
    let list = list.strip_suffix(',').unwrap_or(list);
    if list.is_empty() {
        return Ok(());
    }
    if list.len() > MAX_LENGTH {
        return Err(too_long());
    }
    let mut values: Vec<String> = Vec::new();
    for value in list.split(',').map(str::trim) {
        match value.split_once(" to ").and_then(|(first, last)| Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)) {
            _ if value.is_empty() => return Err(format!("`{list}` lacks a value between two commas")),
            Some(range) if names.len() == 1 => {
                if range.is_empty() {
                    return Err(format!("`{value}` has no numbers: write the smaller one first"));
                }
                if range.end() - range.start() >= MAX_LINES {
                    return Err(format!("`{value}` has too many numbers: {MAX_LINES} are the most"));
                }
                values.extend(range.map(|number| format!("{number}")));
            }
            _ => values.push(value.to_owned()),
        }
    }
    if !values.len().is_multiple_of(names.len()) {
        let (count, want) = (values.len(), names.len());
        return Err(format!("`{list}` has {count} values: a row has {want}, {}", names.join(", ")));
    }
    if rows.len() + values.len() > MAX_LINES {
        return Err(format!("the loop has too many values: {MAX_LINES} are the most"));
    }
    rows.extend(values.chunks(names.len()).map(<[String]>::to_vec));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are parsed, each with its number.
    fn lines(text: &str) -> Vec<(usize, String)> {
        let lines = expand(text).expect("its loops are right");
        lines.into_iter().map(|line| (line.number, line.text.into_owned())).collect()
    }

    fn refused(text: &str) -> String {
        expand(text).err().map(|error| alloc::string::ToString::to_string(&error)).expect("a loop is wrong")
    }

    fn owned(lines: &[(usize, &str)]) -> Vec<(usize, String)> {
        lines.iter().map(|(number, line)| (*number, (*line).to_owned())).collect()
    }

    #[test]
    fn each_row_of_a_table_makes_the_lines_of_the_body_once() {
        let text =
            "for event, feed in\n  41, loads=3 # the first\n\n  42, stores=4 cycles=2\ndo\n  write A 0x{event}00\n  feed {feed}\nend\nsave";
        let made = [(6, "write A 0x4100"), (7, "feed loads=3"), (6, "write A 0x4200"), (7, "feed stores=4 cycles=2"), (9, "save")];
        assert_eq!(lines(text), owned(&made));
    }

    #[test]
    fn a_line_has_as_many_rows_as_its_values_make() {
        let text = "for a, b in 1, 2, 3, 4,\n 5, 6 do\n{a}{b}\nend";
        assert_eq!(lines(text), owned(&[(3, "12"), (3, "34"), (3, "56")]));
    }

    #[test]
    fn ranges_of_numbers_have_both_ends() {
        assert_eq!(lines("for n in 0 to 2, 7 do\nr{n}\nend"), owned(&[(2, "r0"), (2, "r1"), (2, "r2"), (2, "r7")]));
        // Of several names a value is its words.
        assert_eq!(lines("for n, bits in 1, 0 to 2 do\n{n}: {bits}\nend"), owned(&[(2, "1: 0 to 2")]));
    }

    #[test]
    fn an_inner_loop_has_the_values_of_the_outer_one() {
        let text = "for n in 1, 2 do\nfor m in {n}0 to {n}1 do\nr{n} {m}\nend\nend";
        assert_eq!(lines(text), owned(&[(3, "r1 10"), (3, "r1 11"), (3, "r2 20"), (3, "r2 21")]));
    }

    #[test]
    fn braces_outside_a_loop_and_in_comments_are_text() {
        assert_eq!(lines("title: {a}\nfor n in 1 do\nr{n} # of {a}\nend"), owned(&[(1, "title: {a}"), (3, "r1")]));
    }

    #[test]
    fn values_are_no_words_of_loops_and_can_end_in_a_comment() {
        assert_eq!(lines("for a in end, for n do\n{a}\nend"), owned(&[(2, "end"), (2, "for n")]));
        assert_eq!(lines("for a in 1,#,x# do\nr {a}\nend"), owned(&[(2, "r 1"), (2, "r"), (2, "r x#")]));
    }

    #[test]
    fn a_wrong_loop_is_answered_in_one_line() {
        for (text, message) in [
            ("save\nend", "line 2: `end` ends no loop: a loop begins with `for`"),
            ("for n of 1 do\nend", "line 1: `for n of 1 do` is not a loop: write `for NAME, ... in`, rows of values and `do`"),
            ("for N in 1 do\nend", "line 1: `N` is not the name of a value: write small letters, digits and `_`"),
            ("for n, n in 1, 2 do\nend", "line 1: `n` is the name of another value"),
            ("for n in 1 do\nfor n in 1 do\nend\nend", "line 2: `n` is the name of another value (with n=1)"),
            ("for n in\n1", "line 1: `for` has no `do`: write `for NAME, ... in`, rows of values and `do`"),
            ("for n in do\nend", "line 1: `for` has no values: write `for NAME, ... in`, rows of values and `do`"),
            ("for n in 1 do\nsave", "line 1: `for` has no `end`: write `end` behind the lines of the loop"),
            ("for a, b in\n1, 2\n3\ndo\nend", "line 3: `3` has 1 values: a row has 2, a, b"),
            ("for a in 1,,2 do\nend", "line 1: `1,,2` lacks a value between two commas"),
            ("for a in 2 to 1 do\nend", "line 1: `2 to 1` has no numbers: write the smaller one first"),
            ("for a in 1 do\n{b}\nend", "line 2: no loop here has a value `b`: there are a (with a=1)"),
            ("for a in 1 do\n{a\nend", "line 2: `{a` lacks its `}` (with a=1)"),
        ] {
            assert_eq!(refused(text), message, "{text}");
        }
    }

    #[test]
    fn loops_are_bounded() {
        // 300 times 300 lines, and as many without a statement; five within each other; a line that grows.
        for body in ["save\n", "\n"] {
            let text = format!("for a in 1 to 300 do\nfor b in 1 to 300 do\n{body}end\nend");
            assert!(refused(&text).contains("the loops of this file make too many lines: 20000 are the most"), "{body:?}");
        }
        assert_eq!(refused("for a in 0 to 20000 do\nend"), "line 1: `0 to 20000` has too many numbers: 20000 are the most");
        assert_eq!(refused("for a in 0 to 19999,\n7 do\nend"), "line 2: the loop has too many values: 20000 are the most");
        let deep = "for a in 1 do\nfor b in 1 do\nfor c in 1 do\nfor d in 1 do\nfor e in 1 do\n";
        assert_eq!(refused(deep), "line 5: loops within loops are too many: 4 are the most (with a=1, b=1, c=1, d=1)");
        let long = format!("for a in {} do\n{}\nend", "x".repeat(100), "{a}".repeat(11));
        assert!(refused(&long).starts_with("line 2: a line of a loop is too long: 1000 characters are the most"));
    }
}
