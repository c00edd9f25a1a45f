//! The guest RAM of a saved machine: its pages that are not all zeros.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::memory::{Memory, PAGE};

/// Bytes of a page.
const BYTES: usize = PAGE as usize;

/// A page that was never written.
const ZEROS: [u8; BYTES] = [0; BYTES];

/// A page of guest RAM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its physical address divided by 4096.
    pub number: u64,
    /// What it holds.
    pub content: Content,
}

/// The 4096 bytes of a page. Formats of serde have them as one string of bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Content(Box<[u8; BYTES]>);

impl Content {
    /// These bytes.
    ///
    /// ```
    /// use vm_pmu_engines::pages::Content;
    ///
    /// assert_eq!(Content::new([7; 4096]).bytes()[4095], 7);
    /// ```
    #[must_use]
    pub fn new(bytes: [u8; BYTES]) -> Content {
        Content(Box::new(bytes))
    }

    /// The bytes, lowest address first.
    #[must_use]
    pub fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zeros = self.0.iter().filter(|byte| **byte == 0).count();
        write!(f, "Content({} bytes that are not zero)", BYTES - zeros)
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0[..])
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

/// Reads the bytes of a page.
struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {BYTES} bytes of a page")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Content, E> {
        bytes.try_into().map(Content::new).map_err(|_| E::invalid_length(bytes.len(), &self))
    }

    // Formats of text have a list of numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut bytes = [0; BYTES];
        for (number, byte) in bytes.iter_mut().enumerate() {
            *byte = list.next_element()?.ok_or_else(|| A::Error::invalid_length(number, &self))?;
        }
        match list.next_element::<u8>()? {
            None => Ok(Content::new(bytes)),
            Some(_) => Err(A::Error::invalid_length(BYTES + 1, &self)),
        }
    }
}

/// Whether these are pages of RAM of `ram` bytes, each once and in ascending order.
pub(crate) fn fit(numbers: impl Iterator<Item = u64>, ram: u64) -> bool {
    let mut least = 0;
    for number in numbers {
        if number < least || number >= ram / PAGE {
            return false;
        }
        least = number + 1;
    }
    true
}

impl Memory {
    /// The pages that are not all zeros, in ascending order.
    pub(crate) fn pages(&self) -> Vec<Page> {
        let mut pages = Vec::new();
        let mut bytes = [0; BYTES];
        for number in 0..self.size() / PAGE {
            if self.read_bytes(number * PAGE, &mut bytes).is_ok() && bytes != ZEROS {
                pages.push(Page { number, content: Content::new(bytes) });
            }
        }
        pages
    }

    /// Makes RAM hold `pages`, which [`fit`] it, and zeros elsewhere. No decoder has read any of it.
    pub(crate) fn replace(&self, pages: &[Page]) {
        let mut pages = pages.iter().peekable();
        let mut held = [0; BYTES];
        for number in 0..self.size() / PAGE {
            let page = pages.next_if(|page| page.number == number);
            let wanted = page.map_or(&ZEROS, |page| page.content.bytes());
            let same = self.read_bytes(number * PAGE, &mut held).is_ok() && held == *wanted;
            if !same {
                self.store_page(number, wanted);
            }
        }
        self.forget_decoding();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::DecodedLines;

    #[test]
    fn memory_takes_the_pages_of_another_and_is_zero_elsewhere() {
        let [from, to] = [(); 2].map(|()| Memory::new(8 * PAGE).unwrap());
        from.write(3 * PAGE + 8, 8, 5);
        to.write(6 * PAGE, 1, 1);
        let pages = from.pages();
        assert_eq!(pages.iter().map(|page| page.number).collect::<Vec<_>>(), [3]);
        to.replace(&pages);
        assert_eq!(to.pages(), pages);
        assert_eq!(to.read(3 * PAGE + 8, 8), 5);
    }

    #[test]
    fn pages_fit_in_ascending_order_inside_ram() {
        let fits = |numbers: &[u64]| fit(numbers.iter().copied(), 4 * PAGE);
        assert!(fits(&[]) && fits(&[0, 3]));
        assert!(!fits(&[4]) && !fits(&[1, 1]) && !fits(&[2, 1]) && !fits(&[u64::MAX]));
    }

    #[test]
    fn what_a_decoder_has_looked_at_goes_from_memory_to_memory() {
        let [from, to] = [(); 2].map(|()| Memory::new(8 * PAGE).unwrap());
        from.mark_code(PAGE + 60, 8);
        let lines = from.decoded_lines();
        assert_eq!(lines, [DecodedLines { page: 1, lines: 0b11 }]);
        to.set_decoded_lines(&lines);
        assert!(to.write(PAGE + 64, 1, 0));
        assert!(!to.write(PAGE + 64, 1, 0));
    }

    #[test]
    fn a_page_of_another_size_is_none() {
        let text = |bytes: usize| serde_json::to_string(&vec![1; bytes]).unwrap();
        assert_eq!(serde_json::from_str::<Content>(&text(4096)).unwrap(), Content::new([1; 4096]));
        assert!(serde_json::from_str::<Content>(&text(4095)).is_err());
        assert!(serde_json::from_str::<Content>(&text(4097)).is_err());
    }
}
