//! The translations of an NPU.

use alloc::vec::Vec;

use super::envelope::Identity;
use super::{Kind, SnapshotError, content};
use crate::memory::{Translations, TranslationsState};

/// An upper bound of the size of the content in bytes.
const CONTENT: usize = 32 << 10;

const IDENTITY: Identity<'static> = Identity { kind: Kind::Translations, part: "power9", revision: "" };

impl Translations {
    /// Everything that they remember, as bytes that [`load`](Translations::load) takes. See [`snapshot`](crate::snapshot) for the form.
    /// (Feature `snapshot`.)
    ///
    /// # Errors
    /// [`SnapshotError::OutOfMemory`].
    pub fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        IDENTITY.wrap(&content::write(&*self.state())?)
    }

    /// Makes them remember what was saved, all of it or nothing. (Feature `snapshot`.)
    ///
    /// ```
    /// use vm_pmu::arch::power9::nest::Nest;
    /// use vm_pmu::memory::{Chip, Translations};
    ///
    /// let chip = Chip::new(0, Nest::new(0));
    /// let translations = Translations::new();
    /// translations.by_entry(&chip, 1, 5, || Some(0x77));
    ///
    /// let other = Translations::new();
    /// other.load(&translations.save().unwrap()).unwrap();
    /// // The entry is in the cache.
    /// assert_eq!(other.by_entry(&chip, 1, 5, || None), Some(0x77));
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`], and nothing is changed.
    pub fn load(&self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let state: TranslationsState = content::read(IDENTITY.unwrap(bytes, CONTENT)?)?;
        self.restore(&state);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Chip;
    use vm_pmu_arch::power9::nest::Nest;

    /// Translations with every place taken by numbers that take the most bytes.
    fn full() -> Translations {
        let (chip, translations) = (Chip::new(0, Nest::new(0)), Translations::new());
        for number in 0..64 {
            translations.by_entry(&chip, u32::MAX, u64::MAX - number, || Some(u64::MAX));
            translations.check_out(&chip, u32::MAX, u64::MAX - number, || Some(u64::MAX));
        }
        assert!((0..16).all(|process| translations.bind(u32::MAX - process, u8::MAX)));
        translations
    }

    #[test]
    fn the_fullest_are_saved_and_loaded() {
        let (translations, other) = (full(), Translations::new());
        other.load(&translations.save().unwrap()).unwrap();
        assert_eq!(other.state(), translations.state());
    }

    #[test]
    fn bytes_of_a_chip_are_refused_and_change_nothing() {
        let translations = full();
        let before = translations.state();
        let refused = translations.load(&Chip::new(0, Nest::new(0)).save().unwrap());
        assert_eq!(refused, Err(SnapshotError::Kind { saved: Some(Kind::Chip), target: Kind::Translations }));
        assert_eq!(translations.state(), before);
    }
}
