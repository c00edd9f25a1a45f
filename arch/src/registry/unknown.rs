//! The error for a name that no part has.

use alloc::boxed::Box;
use core::fmt;

use super::{NAMES, left_out};

/// No part of this build has this name.
///
/// ```
/// use vm_pmu_arch::registry::UnknownPart;
///
/// let unknown = UnknownPart::new("z80");
/// assert_eq!(unknown.name(), "z80");
/// assert_eq!(unknown.to_string(), r#"there is no part "z80": there are k8, knl, power9, itanium, montecito"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownPart {
    name: Box<str>,
}

impl UnknownPart {
    /// Refuses `name`.
    #[must_use]
    pub fn new(name: &str) -> UnknownPart {
        UnknownPart { name: name.into() }
    }

    /// The name that no part has.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The feature that a build with the part has on; `None` if there is no such part at all.
    #[must_use]
    pub fn feature(&self) -> Option<&'static str> {
        left_out(&self.name)
    }
}

impl fmt::Display for UnknownPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.feature() {
            Some(feature) => {
                write!(formatter, "this build leaves out the part {:?}: its feature `{feature}` is off; there are ", self.name)
            }
            None => write!(formatter, "there is no part {:?}: there are ", self.name),
        }?;
        for (number, name) in NAMES.iter().enumerate() {
            write!(formatter, "{}{name}", if number == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownPart {}
