//! Saving and restoring.

use alloc::vec::Vec;

use crate::bytes::{Damaged, Reader, Writer};
use crate::{Companion, Follower, SecondLevel};

/// The version of the saved form. It changes whenever the saved content or its meaning does.
pub const STATE_VERSION: u32 = 13;

/// The first word of a saved companion.
const MAGIC: u64 = u64::from_le_bytes(*b"VMPMUCMP");

/// The reason why saved bytes were refused. The companion is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The bytes are not a saved companion.
    NotAState,
    /// They were saved in another form.
    Version {
        /// The version that they state.
        saved: u32,
    },
    /// They were saved from a companion of another CPU, or of another number of packages or threads.
    Shape,
    /// There are not as many followers as threads, or they are not in order.
    Followers,
    /// They are too short, too long, or hold an impossible state.
    Damaged,
}

impl core::fmt::Display for RestoreError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            RestoreError::NotAState => formatter.write_str("these bytes are no saved companion: pass what `save` returned"),
            RestoreError::Version { saved } => {
                write!(formatter, "the state has version {saved} and this library reads version {STATE_VERSION}")
            }
            RestoreError::Shape => formatter.write_str("the state is of another CPU or topology: build the companion as it was when saved"),
            RestoreError::Followers => formatter.write_str("a state is saved and restored with one follower a thread, in their order"),
            RestoreError::Damaged => formatter.write_str("the state is damaged: pass all the bytes that `save` returned"),
        }
    }
}

impl core::error::Error for RestoreError {}

/// Computes two sums over the bytes, which detect a changed, lost or exchanged byte (Fletcher's).
fn checksum(bytes: &[u8]) -> u64 {
    let (low, high) = bytes.iter().fold((1u64, 0u64), |(low, high), byte| {
        let low = (low + u64::from(*byte)) % 0xFFFF_FFFB;
        (low, (high + low) % 0xFFFF_FFFB)
    });
    high << 32 | low
}

impl Companion {
    /// Returns the state of the companion and its `followers`, in a stable form. `followers` are those of all threads, in order, with
    /// everything delivered and no host thread running them.
    ///
    /// # Errors
    /// [`RestoreError::Followers`] when there is not one per thread, in order.
    pub fn save(&self, followers: &[&Follower<'_>]) -> Result<Vec<u8>, RestoreError> {
        if followers.len() != self.threads() || !followers.iter().enumerate().all(|(number, follower)| follower.number() == number) {
            return Err(RestoreError::Followers);
        }
        let mut writer = Writer::default();
        writer.word(MAGIC);
        writer.word(u64::from(STATE_VERSION));
        self.shape().into_iter().for_each(|word| writer.word(word));
        self.system.save(&mut writer);
        self.tables.iter().for_each(|tables| tables.save(&mut writer));
        followers.iter().for_each(|follower| follower.save(&mut writer));
        writer.word(checksum(&writer.0));
        Ok(writer.0)
    }

    /// Restores the saved state of the companion and its `followers`. Bytes that do not fit are refused.
    ///
    /// # Errors
    /// [`RestoreError`]; nothing is changed then.
    pub fn restore(&self, bytes: &[u8], followers: &mut [&mut Follower<'_>]) -> Result<(), RestoreError> {
        if followers.len() != self.threads() || !followers.iter().enumerate().all(|(number, follower)| follower.number() == number) {
            return Err(RestoreError::Followers);
        }
        let mut reader = Reader(bytes);
        let word = |reader: &mut Reader<'_>| reader.word().map_err(|Damaged| RestoreError::NotAState);
        if word(&mut reader)? != MAGIC {
            return Err(RestoreError::NotAState);
        }
        let version = word(&mut reader)? as u32;
        if version != STATE_VERSION {
            return Err(RestoreError::Version { saved: version });
        }
        for expected in self.shape() {
            if word(&mut reader)? != expected {
                return Err(RestoreError::Shape);
            }
        }
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(RestoreError::Damaged)?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(RestoreError::Damaged);
        }
        // If not all of it can be read, the state from before is put back.
        let before = self.save(&followers.iter().map(|follower| &**follower).collect::<Vec<_>>())?;
        let result = self.load(&mut reader, followers);
        if result.is_err() {
            let mut reader = Reader(before.get(8 * (2 + self.shape().len())..).unwrap_or(&[]));
            self.load(&mut reader, followers).map_err(|Damaged| RestoreError::Damaged)?;
        }
        result.map_err(|Damaged| RestoreError::Damaged)
    }

    fn load(&self, reader: &mut Reader<'_>, followers: &mut [&mut Follower<'_>]) -> Result<(), Damaged> {
        self.system.load(reader)?;
        for tables in &self.tables {
            tables.load(reader)?;
        }
        for follower in followers {
            follower.load(reader)?;
        }
        // Only the sum is left.
        if reader.0.len() == 8 { Ok(()) } else { Err(Damaged) }
    }

    /// Returns the values that must match: the CPU with all its sizes, packages and threads.
    fn shape(&self) -> [u64; 4] {
        let profile = &self.system.profile;
        let fold = |sum: u64, number: u64| (sum ^ number).wrapping_mul(0x0100_0000_01B3).rotate_left(7);
        let name = profile.name.bytes().fold(0, |sum, byte| fold(sum, u64::from(byte)));
        let caches = &profile.caches;
        let second = match caches.second {
            SecondLevel::Unified(geometry) => [Some(geometry), None],
            SecondLevel::Split { instruction, data } => [Some(instruction), Some(data)],
        };
        let levels = [Some(caches.instruction), Some(caches.data), second[0], second[1], caches.third.map(|(geometry, _)| geometry)];
        let sizes = levels.iter().flatten().fold(0, |sum, cache| fold(fold(sum, cache.bytes), u64::from(cache.ways)));
        let buffers = profile.translation.instruction.iter().chain(&profile.translation.data).flat_map(|level| level.iter());
        let sizes = buffers.fold(sizes, |sum, buffer| fold(fold(sum, u64::from(buffer.entries)), u64::from(buffer.ways)));
        let predictor = &profile.predictor;
        let sizes = fold(fold(sizes, u64::from(predictor.target_bits)), u64::from(predictor.return_stack));
        let memory = &profile.memory;
        let places = [memory.near_controllers, memory.controllers, memory.channels, u8::from(memory.in_turn)];
        let sizes = places.iter().fold(sizes, |sum, count| fold(sum, u64::from(*count)));
        let layout = self.system.layout;
        let sizes = fold(sizes, memory.near_bytes);
        let sizes = [layout.lent as u64, (layout.packages_per_group.min(self.packages)) as u64].into_iter().fold(sizes, fold);
        let sizes = if layout.aperture.is_some() { fold(sizes, 1) } else { sizes };
        // The part of MCDRAM that is a cache, if it differs from that of the profile.
        let cached = layout.die.map_or(memory.near_bytes, |die| die.cached());
        let sizes = if cached == memory.near_bytes { sizes } else { fold(sizes, cached) };
        [name, sizes, self.packages as u64, self.per_package as u64]
    }
}
