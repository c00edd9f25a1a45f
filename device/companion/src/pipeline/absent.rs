//! The core of a part that is not in the build.
#![allow(dead_code, reason = "a build with every part needs none")]

use core::convert::Infallible;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// A core that cannot exist. The compiler knows this and omits the code that would use one.
#[derive(Clone, Debug)]
pub(super) struct Absent<T>(Infallible, PhantomData<T>);

impl<T> Deref for Absent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self.0 {}
    }
}

impl<T> DerefMut for Absent<T> {
    fn deref_mut(&mut self) -> &mut T {
        match self.0 {}
    }
}
