//! Arrays of any length for serde, which itself stops at 32 elements: `#[serde(with = "vm_pmu_arch::long_array")]`.

use core::fmt::{Formatter, Result as Formatted};
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeTuple, Serializer};

/// Writes the elements as a tuple of `N`.
///
/// # Errors
/// Those of the format.
pub fn serialize<S: Serializer, T: Serialize, const N: usize>(array: &[T; N], serializer: S) -> Result<S::Ok, S::Error> {
    let mut tuple = serializer.serialize_tuple(N)?;
    array.iter().try_for_each(|element| tuple.serialize_element(element))?;
    tuple.end()
}

/// Reads a tuple of `N` elements.
///
/// # Errors
/// Those of the format, and one that names the length if there are fewer elements.
pub fn deserialize<'de, D, T, const N: usize>(deserializer: D) -> Result<[T; N], D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Copy + Default,
{
    deserializer.deserialize_tuple(N, Elements(PhantomData))
}

struct Elements<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Copy + Default, const N: usize> Visitor<'de> for Elements<T, N> {
    type Value = [T; N];

    fn expecting(&self, formatter: &mut Formatter<'_>) -> Formatted {
        write!(formatter, "{N} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<[T; N], A::Error> {
        let mut array = [T::default(); N];
        for (number, place) in array.iter_mut().enumerate() {
            *place = sequence.next_element()?.ok_or_else(|| Error::invalid_length(number, &self))?;
        }
        Ok(array)
    }
}
