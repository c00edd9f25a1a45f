//! Register layouts that are written once: accessors for the model, a table for code that shows registers.

/// What a guest's write does to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldAccess {
    /// Read and written.
    ReadWrite,
    /// Reads as zero; writes are ignored.
    Reserved,
    /// Reads as zero; an access that writes a one is refused.
    MustBeZero,
    /// Read; writes are ignored.
    ReadOnly,
}

/// A field of a register, as its manual prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The manual's name.
    pub name: &'static str,
    /// Its highest bit.
    pub high: u8,
    /// Its lowest bit.
    pub low: u8,
    /// What a write does to it.
    pub access: FieldAccess,
    /// What it is, in one line.
    pub summary: &'static str,
}

impl Field {
    /// The bits of the field within the register.
    #[must_use]
    pub const fn mask(&self) -> u64 {
        (u64::MAX >> (63 - (self.high & 63))) & (u64::MAX << (self.low & 63))
    }

    /// The field's value within `register`.
    #[must_use]
    pub const fn of(&self, register: u64) -> u64 {
        (register & self.mask()) >> (self.low & 63)
    }
}

/// The bits that any read-write field of `fields` covers.
#[must_use]
pub const fn writable(fields: &[Field]) -> u64 {
    let mut mask = 0;
    let mut rest = fields;
    while let [field, more @ ..] = rest {
        if matches!(field.access, FieldAccess::ReadWrite) {
            mask |= field.mask();
        }
        rest = more;
    }
    mask
}

/// The bits that no write may set.
#[must_use]
pub const fn refused(fields: &[Field]) -> u64 {
    let mut mask = 0;
    let mut rest = fields;
    while let [field, more @ ..] = rest {
        if matches!(field.access, FieldAccess::MustBeZero) {
            mask |= field.mask();
        }
        rest = more;
    }
    mask
}

/// What every register can do, however its manual counts bits.
macro_rules! word {
    ($register:ident) => {
        impl $register {
            /// The bits that a write can change.
            pub const WRITABLE: u64 = $crate::layout::writable(Self::FIELDS);

            /// The register's bits.
            #[must_use]
            #[inline]
            pub const fn bits(self) -> u64 {
                self.0
            }

            /// The register with `value` written to it: reserved bits stay zero.
            #[must_use]
            pub const fn written(value: u64) -> Self {
                Self(value & Self::WRITABLE)
            }
        }
    };
}
pub(crate) use word;

/// Declares a register: its fields with the manual's bit numbers, each with an accessor, a setter and a row of the table `FIELDS`.
macro_rules! layout {
    (
        $(#[$attribute:meta])*
        pub struct $register:ident {
            $( $(#[doc = $doc:literal])+ $name:literal => $get:ident / $set:ident : $kind:tt = $high:literal $(.. $low:literal)? ; )*
            $( reserved $reserved_high:literal $(.. $reserved_low:literal)? ; )*
            $( refused $refused_high:literal $(.. $refused_low:literal)? ; )*
            $( only $only_name:literal $only_high:literal $(.. $only_low:literal)? = $only_summary:literal ; )*
        }
    ) => {
        bitfield::bitfield! {
            $(#[$attribute])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
            #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
            pub struct $register(u64);
            impl Debug;
            $( $(#[doc = $doc])+ pub $kind, $get, $set: $high $(, $low)?; )*
        }

        impl $register {
            /// Every field, from the lowest bit up.
            pub const FIELDS: &'static [$crate::layout::Field] = &[
                $( $crate::layout::Field {
                    name: $name,
                    high: $high,
                    low: layout!(@low $high $(, $low)?),
                    access: $crate::layout::FieldAccess::ReadWrite,
                    summary: concat!($($doc),+),
                }, )*
                $( $crate::layout::Field {
                    name: "Reserved",
                    high: $reserved_high,
                    low: layout!(@low $reserved_high $(, $reserved_low)?),
                    access: $crate::layout::FieldAccess::Reserved,
                    summary: "reads as zero, writes are ignored",
                }, )*
                $( $crate::layout::Field {
                    name: "Reserved",
                    high: $refused_high,
                    low: layout!(@low $refused_high $(, $refused_low)?),
                    access: $crate::layout::FieldAccess::MustBeZero,
                    summary: "reads as zero, writing a one is refused",
                }, )*
                $( $crate::layout::Field {
                    name: $only_name,
                    high: $only_high,
                    low: layout!(@low $only_high $(, $only_low)?),
                    access: $crate::layout::FieldAccess::ReadOnly,
                    summary: $only_summary,
                }, )*
            ];

            /// The bits that no write may set.
            pub const REFUSED: u64 = $crate::layout::refused(Self::FIELDS);
        }

        $crate::layout::word!($register);
    };
    (@low $high:literal) => { $high };
    (@low $high:literal, $low:literal) => { $low };
}
pub(crate) use layout;

/// As [`layout!`], for manuals that count bits from the most significant one: a field is `first..last`, or one bit.
macro_rules! power_layout {
    (
        $(#[$attribute:meta])*
        pub struct $register:ident {
            $( $(#[doc = $doc:literal])+ $name:literal => $get:ident / $set:ident : $kind:tt = $first:literal $(.. $last:literal)? ; )*
            $( reserved $reserved_first:literal $(.. $reserved_last:literal)? ; )*
        }
    ) => {
        bitfield::bitfield! {
            $(#[$attribute])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
            #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
            pub struct $register(u64);
            impl Debug;
            // Text such as MSR[PR] is no link, and is shown to users unchanged.
            $( $(#[doc = $doc])+ #[allow(rustdoc::broken_intra_doc_links)] pub $kind, $get, $set: 63 - $first $(, 63 - $last)?; )*
        }

        impl $register {
            /// Every field, in the order of the manual.
            pub const FIELDS: &'static [$crate::layout::Field] = &[
                $( $crate::layout::Field {
                    name: $name,
                    high: 63 - $first,
                    low: 63 - power_layout!(@last $first $(, $last)?),
                    access: $crate::layout::FieldAccess::ReadWrite,
                    summary: concat!($($doc),+),
                }, )*
                $( $crate::layout::Field {
                    name: "Reserved",
                    high: 63 - $reserved_first,
                    low: 63 - power_layout!(@last $reserved_first $(, $reserved_last)?),
                    access: $crate::layout::FieldAccess::Reserved,
                    summary: "reads as zero, writes are ignored",
                }, )*
            ];
        }

        $crate::layout::word!($register);

        impl $register {
            /// The register that holds `bits`, reserved ones too.
            #[must_use]
            #[inline]
            pub const fn of(bits: u64) -> Self {
                Self(bits)
            }
        }
    };
    (@last $first:literal) => { $first };
    (@last $first:literal, $last:literal) => { $last };
}
pub(crate) use power_layout;
