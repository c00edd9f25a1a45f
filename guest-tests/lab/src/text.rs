//! Lines of text within a width.

use unicode_width::UnicodeWidthStr as _;

/// `text` in lines of at most `width` columns, broken between words; a longer word has a separate line.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    wrapped(text.split_whitespace(), width)
}

fn wrapped<'a>(words: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// As [`wrap`], broken at blanks alone: what other white space joins stays together.
#[must_use]
pub fn wrap_unbroken(text: &str, width: usize) -> Vec<String> {
    wrapped(text.split(' ').filter(|word| !word.is_empty()), width)
}

/// The columns that a text behind a lead has at least.
const LEAST: usize = 24;

/// `lead` and then `text`, whose further lines begin below its first, at column `indent`.
///
/// Where `lead` reaches beyond `indent`, or leaves too little room, the text begins on the next line.
#[must_use]
pub fn hanging(lead: &str, indent: usize, text: &str, width: usize) -> Vec<String> {
    let indent = indent.min(width.saturating_sub(LEAST));
    let wrapped = wrap(text, width.saturating_sub(indent));
    let mut lines = Vec::with_capacity(wrapped.len() + 1);
    let mut wrapped = wrapped.into_iter();
    if columns(lead) < indent {
        let first = wrapped.next().unwrap_or_default();
        lines.push(format!("{}{first}", padded(lead, indent)).trim_end().to_owned());
    } else {
        lines.extend(folded(lead, indent, width));
    }
    lines.extend(wrapped.map(|line| format!("{:indent$}{line}", "")));
    lines
}

/// `text` in lines of at most `width` columns, broken at blanks; all but the first begin at column `indent`. Blanks within a line stay as
/// they are.
#[must_use]
pub fn folded(text: &str, indent: usize, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    // A line that has its indent alone takes any word.
    let mut is_empty = true;
    for piece in text.trim_end().split_inclusive(' ') {
        if !is_empty && columns(&line) + columns(piece.trim_end()) > width {
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(indent);
            is_empty = true;
        }
        if lines.is_empty() || !is_empty || piece != " " {
            line.push_str(piece);
        }
        is_empty &= piece == " ";
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// The columns that `text` takes on a terminal: letters of East Asia have two, accents that are set on another letter none, and colours
/// none.
#[must_use]
pub fn columns(text: &str) -> usize {
    let mut pieces = text.split('\x1b');
    let first = pieces.next().map_or(0, |piece| piece.width());
    // What follows ESC to the m is ECMA-48's SGR.
    first + pieces.map(|piece| piece.split_once('m').map_or(piece, |(_, rest)| rest).width()).sum::<usize>()
}

/// `text` and blanks, so many columns together; longer text as it is.
#[must_use]
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{:blanks$}", "", blanks = width.saturating_sub(columns(text)))
}

/// The widest of some texts, in columns.
pub fn widest<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    texts.into_iter().map(columns).max().unwrap_or(0)
}

/// A bar for `part` of `whole`, at most `width` columns; what is not nothing has a trace.
#[must_use]
pub fn bar(part: u64, whole: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = (u128::from(part.min(whole)) * (width as u128) * 8 / u128::from(whole)).max(1);
    let (full, rest) = ((eighths / 8) as usize, (eighths % 8) as usize);
    format!("{}{}", "█".repeat(full), EIGHTHS.get(rest).unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", 4), ["unbreakable"]);
        assert!(wrap("  ", 4).is_empty());
    }

    #[test]
    fn what_is_joined_is_not_broken() {
        assert_eq!(wrap_unbroken("A\u{a0}0\u{a0}1, B\u{a0}1\u{a0}0", 8), ["A\u{a0}0\u{a0}1,", "B\u{a0}1\u{a0}0"]);
    }

    #[test]
    fn further_lines_begin_below_the_first() {
        let text = "a text that is a little longer than one line is";
        assert_eq!(hanging("lead", 6, text, 36), ["lead  a text that is a little longer", "      than one line is"]);
        assert_eq!(hanging("a long lead", 4, "text", 36), ["a long lead", "    text"]);
    }

    #[test]
    fn a_line_is_folded_at_blanks_and_keeps_its_columns() {
        assert_eq!(folded("  name   one two", 4, 13), ["  name   one", "    two"]);
        assert_eq!(folded("  name   one   two", 4, 13), ["  name   one", "    two"]);
        assert_eq!(folded("a/path/that/is/long and short", 2, 9), ["a/path/that/is/long", "  and", "  short"]);
        assert_eq!(folded("fits  as it is", 2, 14), ["fits  as it is"]);
        assert_eq!(folded("", 2, 14), [""]);
    }

    #[test]
    fn columns_are_those_of_a_terminal() {
        // Two letters of two columns each; e and the accent that is set on it.
        assert_eq!((columns("漢字"), columns("e\u{301}"), columns("abc")), (4, 1, 3));
        assert_eq!(columns("\x1b[1m\x1b[31mFAIL\x1b[0m"), 4);
        assert_eq!(padded("漢字", 6), "漢字  ");
        assert_eq!(hanging("漢", 4, "text", 36), ["漢  text"]);
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1, 1, 4), "████");
        assert_eq!(bar(1, 2, 4), "██");
        assert_eq!(bar(1, 1_000_000, 4), "▏");
        assert_eq!(bar(0, 7, 4), "");
        assert_eq!(bar(u64::MAX, u64::MAX, 2), "██");
    }
}
