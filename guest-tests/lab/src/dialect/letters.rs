//! Modifiers of a letter each: `uk`.

/// Whether every letter of `word` is one of `letters`.
pub(super) fn are_of(word: &str, letters: &str) -> bool {
    word.chars().all(|letter| letters.contains(letter))
}

/// Refuses a word with a letter twice, which is a slip of the fingers.
///
/// # Errors
/// The line about it.
pub(super) fn once(word: &str) -> Result<(), String> {
    let mut meant = String::new();
    for letter in word.chars() {
        if !meant.contains(letter) {
            meant.push(letter);
        }
    }
    if meant == word { Ok(()) } else { Err(format!("`{word}` has a letter twice: did you mean {meant}?")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_stands_once() {
        assert_eq!(once("ukh"), Ok(()));
        assert_eq!(once("kk"), Err("`kk` has a letter twice: did you mean k?".to_owned()));
        assert_eq!(once("uku"), Err("`uku` has a letter twice: did you mean uk?".to_owned()));
    }
}
