//! The names that a user may have meant.

/// How like two names must be for one to be suggested for the other, from 0 to 1.
const LIKENESS: f64 = 0.74;

/// The names nearest to `word`, the nearest first: at most three.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_ascii_lowercase();
    let mut scored: Vec<(f64, &str)> = Vec::new();
    for name in names {
        let score = likeness(&word, &name.to_ascii_lowercase());
        if score >= LIKENESS && scored.iter().all(|(_, known)| *known != name) {
            scored.push((score, name));
        }
    }
    scored.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// How like two names are: a slip of the fingers, the same beginning, or one within the other.
fn likeness(word: &str, name: &str) -> f64 {
    let edits = strsim::normalized_damerau_levenshtein(word, name);
    let within = if word.len() >= 2 && (name.contains(word) || (name.len() >= 3 && word.contains(name))) {
        0.85 + 0.1 * (word.len().min(name.len()) as f64 / word.len().max(name.len()) as f64)
    } else {
        0.0
    };
    let beginning = strsim::jaro_winkler(word, name) * 0.95;
    within.max(beginning).max(if edits >= 0.6 { 0.75 + edits / 4.0 } else { 0.0 })
}

/// What there is, for a message: `there is only A`, or `there are A, B and 7 more`.
#[must_use]
pub fn there_are<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    /// The most names that still read well in a line.
    const MOST: usize = 12;
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => "there is none".to_owned(),
        [one] => format!("there is only {one}"),
        [first @ .., last] if names.len() <= MOST => format!("there are {} and {last}", first.join(", ")),
        many => format!("there are {} and {} more", many.get(..MOST).unwrap_or(many).join(", "), many.len() - MOST),
    }
}

/// The end of a message about `word`: `: did you mean A, B or C?`, or `otherwise` if nothing is near.
#[must_use]
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    match nearest(word, names).as_slice() {
        [] if otherwise.is_empty() => String::new(),
        [] => format!("; {otherwise}"),
        [one] => format!(": did you mean {one}?"),
        [others @ .., last] => format!(": did you mean {} or {last}?", others.join(", ")),
    }
}

/// `word` as the hexadecimal number that it probably is, with the `0x` that it lacks: digits only some of which are decimal, or many of them.
///
/// ```
/// use vm_pmu_lab::suggest::hexadecimal;
///
/// assert_eq!(hexadecimal("53007f").as_deref(), Some("0x53007f"));
/// assert_eq!(hexadecimal("530076").as_deref(), Some("0x530076"));
/// assert_eq!(hexadecimal("76"), None);
/// assert_eq!(hexadecimal("feed"), None);
/// ```
#[must_use]
pub fn hexadecimal(word: &str) -> Option<String> {
    let is_hexadecimal = word.starts_with(|first: char| first.is_ascii_digit()) && word.chars().all(|digit| digit.is_ascii_hexdigit());
    let is_long = word.len() >= 4 || word.chars().any(|digit| !digit.is_ascii_digit());
    (is_hexadecimal && is_long && word.len() <= 16).then(|| format!("0x{}", word.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_parts_and_beginnings_are_found() {
        let names = ["CPU_CLK_UNHALTED", "DATA_CACHE_MISSES", "INTERRUPTS_TAKEN"];
        assert_eq!(nearest("cpu_clk_unhatled", names), ["CPU_CLK_UNHALTED"]);
        assert_eq!(nearest("CACHE_MISSES", names), ["DATA_CACHE_MISSES"]);
        assert!(nearest("zzz", names).is_empty());
        assert!(nearest("", names).is_empty());
    }

    #[test]
    fn no_more_than_three_are_named() {
        let names = ["PerfCtr0", "PerfCtr1", "PerfCtr2", "PerfCtr3", "PerfCtr0"];
        assert_eq!(nearest("PerfCtr9", names).len(), 3);
        assert_eq!(did_you_mean("PerfCtr9", ["PerfCtr0", "PerfCtr1"], ""), ": did you mean PerfCtr0 or PerfCtr1?");
        assert_eq!(there_are(["a"]), "there is only a");
        assert_eq!(there_are(["a", "b", "c"]), "there are a, b and c");
        assert_eq!(there_are(["a"; 14]), "there are a, a, a, a, a, a, a, a, a, a, a, a and 2 more");
        assert_eq!(did_you_mean("x", ["PerfCtr0"], "try `pmulab list`"), "; try `pmulab list`");
    }
}
