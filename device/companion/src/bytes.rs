//! The byte form of the companion's state: consecutive little-endian words.

use alloc::vec::Vec;

/// Saved bytes that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn word(&mut self, word: u64) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    pub(crate) fn words(&mut self, words: &[u64]) {
        words.iter().for_each(|word| self.word(*word));
    }
}

#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    pub(crate) fn word(&mut self) -> Result<u64, Damaged> {
        let (word, rest) = self.0.split_first_chunk::<8>().ok_or(Damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Damaged> {
        let (byte, rest) = self.0.split_first().ok_or(Damaged)?;
        self.0 = rest;
        Ok(*byte)
    }

    pub(crate) fn words(&mut self, words: &mut [u64]) -> Result<(), Damaged> {
        for word in words {
            *word = self.word()?;
        }
        Ok(())
    }
}
