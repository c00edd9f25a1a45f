//! Names that are kept as numbers: in snapshots, in programs of a fuzzer, on a wire.

use core::fmt;

/// A number that names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownNumber {
    /// What it should have named.
    pub what: &'static str,
    /// The number.
    pub number: u32,
}

impl fmt::Display for UnknownNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no {} has the number {}", self.what, self.number)
    }
}

impl core::error::Error for UnknownNumber {}

/// Conversions of a type from and to the number of each value, and an arbitrary value where the feature is on. `$all` has every value.
macro_rules! numbered {
    ($name:ty, $number:ty, $what:literal, $of:expr, $to:expr, $all:expr) => {
        impl From<$name> for $number {
            fn from(value: $name) -> $number {
                let number: fn($name) -> $number = $to;
                number(value)
            }
        }

        impl TryFrom<$number> for $name {
            type Error = $crate::numbered::UnknownNumber;

            fn try_from(number: $number) -> Result<$name, $crate::numbered::UnknownNumber> {
                let of: fn($number) -> Option<$name> = $of;
                of(number).ok_or($crate::numbered::UnknownNumber { what: $what, number: u32::from(number) })
            }
        }

        #[cfg(feature = "arbitrary")]
        impl<'a> arbitrary::Arbitrary<'a> for $name {
            fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<$name> {
                let index = bytes.choose_index($all.count())?;
                $all.nth(index).ok_or(arbitrary::Error::EmptyChoose)
            }
        }
    };
}
pub(crate) use numbered;

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use crate::feed::Signal;

    #[test]
    fn every_signal_has_the_number_of_its_total() {
        for signal in Signal::all() {
            let number = u16::from(signal);
            assert_eq!(number, signal.number());
            assert_eq!(Signal::try_from(number), Ok(signal));
        }
    }

    #[test]
    fn a_number_behind_the_last_signal_is_refused_by_name() {
        let refused = Signal::try_from(u16::MAX).expect_err("there are fewer");
        assert_eq!(refused.to_string(), "no signal has the number 65535");
    }

    #[cfg(feature = "knl")]
    #[test]
    fn every_box_is_the_one_of_its_number() {
        use crate::knl::untile::{UNITS, UnitId};
        for unit in UnitId::all() {
            assert_eq!(UnitId::try_from(u8::from(unit)), Ok(unit));
        }
        assert!(UnitId::try_from(UNITS as u8).is_err());
    }

    #[cfg(feature = "power9")]
    #[test]
    fn every_event_of_the_nest_is_the_one_of_its_offset() {
        use crate::power9::nest::Event;
        for event in Event::all() {
            assert_eq!((u32::from(event), Event::try_from(event.offset())), (event.offset(), Ok(event)));
        }
        assert!(Event::try_from(1).is_err());
    }
}
