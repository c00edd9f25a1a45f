//! Pictures that are drawn as text, with the characters for boxes, and become SVG.
//!
//! A character is a cell. Lines run through the middle of cells, boxes are filled, everything else is text. The first line of a file, behind `# `,
//! says what the picture shows.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const WIDTH: usize = 8;
const HEIGHT: usize = 18;

/// Every picture whose text is in `folder`: its file within `docs/src`, and its SVG.
pub(super) fn pages(folder: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        pages.push((PathBuf::from(format!("pictures/{name}.svg")), drawn(&fs::read_to_string(&file)?)));
    }
    pages.sort();
    Ok(pages)
}

/// Which halves of a cell have a line: left, right, up, down.
fn halves(letter: char) -> [bool; 4] {
    let text = match letter {
        '─' | '┄' => "lr",
        '│' | '┆' => "ud",
        '┌' => "rd",
        '┐' => "ld",
        '└' => "ru",
        '┘' => "lu",
        '├' => "rud",
        '┤' => "lud",
        '┬' => "lrd",
        '┴' => "lru",
        '┼' => "lrud",
        '►' => "l",
        '◄' => "r",
        '▼' => "u",
        '▲' => "d",
        _ => "",
    };
    ['l', 'r', 'u', 'd'].map(|half| text.contains(half))
}

fn is_text(letter: char) -> bool {
    !halves(letter).contains(&true) && !matches!(letter, '╱' | '●')
}

fn drawn(text: &str) -> String {
    let (title, text) = text.split_once('\n').unwrap_or((text, ""));
    let grid: Vec<Vec<char>> = text.trim_end().lines().skip_while(|line| line.is_empty()).map(|line| line.chars().collect()).collect();
    let columns = grid.iter().map(Vec::len).max().unwrap_or(0);
    let (width, height) = ((columns + 2) * WIDTH, (grid.len() + 1) * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"-{WIDTH} -{} {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n<style>path{{fill:none;stroke:#34506e;stroke-width:1.4}}.d{{stroke-dasharray:4 4;stroke-width:1}}\
         .a{{fill:#34506e;stroke:none}}rect{{fill:#2f6db5;fill-opacity:.1}}text{{font:13px monospace;fill:#111;white-space:pre}}</style>\n\
         <rect x=\"-{WIDTH}\" y=\"-{}\" width=\"{width}\" height=\"{height}\" rx=\"6\" style=\"fill:#fbfbf8;fill-opacity:1\"/>\n",
        HEIGHT / 2,
        escaped(title.trim_start_matches("# ")),
        HEIGHT / 2,
    );
    for (row, line) in grid.iter().enumerate() {
        for (column, _) in line.iter().enumerate().filter(|(_, letter)| **letter == '┌') {
            if let Some((right, bottom)) = closed(&grid, row, column) {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                    column * WIDTH + WIDTH / 2,
                    row * HEIGHT + HEIGHT / 2,
                    (right - column) * WIDTH,
                    (bottom - row) * HEIGHT
                );
            }
        }
    }
    for (class, is_dashed) in [("", false), (" class=\"d\"", true)] {
        let path = lines(&grid, columns, is_dashed);
        if !path.is_empty() {
            let _ = writeln!(svg, "<path{class} d=\"{path}\"/>");
        }
    }
    for (row, line) in grid.iter().enumerate() {
        marks(row, line, &mut svg);
        words(row, line, &mut svg);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The right column and the lowest row of the box whose upper left corner this is, if it is one.
fn closed(grid: &[Vec<char>], top: usize, left: usize) -> Option<(usize, usize)> {
    let cell = |row: usize, column: usize| grid.get(row).and_then(|line| line.get(column)).copied().unwrap_or(' ');
    let right = (left + 1..).find(|column| !matches!(cell(top, *column), '─' | '┬' | '┴' | '┼'))?;
    let bottom = (top + 1..).find(|row| !matches!(cell(*row, left), '│' | '├' | '┤' | '┼'))?;
    let ends = [cell(top, right), cell(bottom, left), cell(bottom, right)] == ['┐', '└', '┘'];
    let is_closed = (left + 1..right).all(|column| halves(cell(bottom, column))[..2] == [true; 2])
        && (top + 1..bottom).all(|row| halves(cell(row, right))[2..] == [true; 2]);
    (ends && is_closed).then_some((right, bottom))
}

/// The path of all lines, those that go on in the next cell in one piece.
fn lines(grid: &[Vec<char>], columns: usize, dashed: bool) -> String {
    let cell = |row: usize, column: usize| {
        let letter = grid.get(row).and_then(|line| line.get(column)).copied().unwrap_or(' ');
        if matches!(letter, '┄' | '┆') == dashed { halves(letter) } else { [false; 4] }
    };
    let mut path = String::new();
    for row in 0..grid.len() {
        for (from, to) in runs((0..columns).flat_map(|column| [cell(row, column)[0], cell(row, column)[1]])) {
            let _ = write!(path, "M{} {}H{}", from * WIDTH / 2, row * HEIGHT + HEIGHT / 2, to * WIDTH / 2);
        }
    }
    for column in 0..columns {
        for (from, to) in runs((0..grid.len()).flat_map(|row| [cell(row, column)[2], cell(row, column)[3]])) {
            let _ = write!(path, "M{} {}V{}", column * WIDTH + WIDTH / 2, from * HEIGHT / 2, to * HEIGHT / 2);
        }
    }
    path
}

/// Where runs of `true` begin and end.
fn runs(halves: impl Iterator<Item = bool>) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut start = None;
    for (index, half) in halves.chain([false]).enumerate() {
        match (half, start) {
            (true, None) => start = Some(index),
            (false, Some(first)) => {
                runs.push((first, index));
                start = None;
            }
            _ => {}
        }
    }
    runs
}

/// Arrow heads, slopes and dots.
fn marks(row: usize, line: &[char], svg: &mut String) {
    for (column, letter) in line.iter().enumerate() {
        let (left, top) = (column * WIDTH, row * HEIGHT);
        let (right, bottom, x, y) = (left + WIDTH, top + HEIGHT, left + WIDTH / 2, top + HEIGHT / 2);
        let mark = match letter {
            '►' => format!("<path class=\"a\" d=\"M{right} {y}l-9-5v10z\"/>"),
            '◄' => format!("<path class=\"a\" d=\"M{left} {y}l9-5v10z\"/>"),
            '▼' => format!("<path class=\"a\" d=\"M{x} {bottom}l-5-9h10z\"/>"),
            '▲' => format!("<path class=\"a\" d=\"M{x} {top}l-5 9h10z\"/>"),
            '╱' => format!("<path d=\"M{left} {bottom}L{right} {top}\"/>"),
            '●' => format!("<circle class=\"a\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>"),
            _ => continue,
        };
        let _ = writeln!(svg, "{mark}");
    }
}

/// The words of a row. Two blanks separate them, so that each keeps its place in any font.
fn words(row: usize, line: &[char], svg: &mut String) {
    let is_word = |column: usize| line.get(column).is_some_and(|letter| is_text(*letter) && *letter != ' ');
    let mut column = 0;
    while column < line.len() {
        let mut end = column;
        while is_word(end) || (end > column && line.get(end) == Some(&' ') && is_word(end + 1)) {
            end += 1;
        }
        if end > column {
            let word: String = line[column..end].iter().collect();
            let (x, y, length) = (column * WIDTH, row * HEIGHT + 13, (end - column) * WIDTH);
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
                escaped(&word)
            );
        }
        column = end + 1;
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_filled_and_its_lines_are_whole() {
        let svg = drawn("# A < B\n\n┌───┐\n│ a ├─►\n└───┘\n");
        assert!(svg.contains("<title>A &lt; B</title>"), "{svg}");
        assert!(svg.contains("<rect x=\"4\" y=\"9\" width=\"32\" height=\"36\"/>"), "{svg}");
        assert!(svg.contains("M4 9H36"), "{svg}");
        assert!(svg.contains("M36 27H52"), "{svg}");
        assert!(svg.contains(">a</text>"), "{svg}");
    }

    #[test]
    fn what_is_open_is_not_filled() {
        let grid: Vec<Vec<char>> = ["┌──┐", "│  │", "└── "].iter().map(|line| line.chars().collect()).collect();
        assert_eq!(closed(&grid, 0, 0), None);
    }
}
