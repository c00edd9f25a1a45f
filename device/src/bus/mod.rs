//! The instructions that reach a PMU's registers, by the names that the guest knows them by: a view of a thread for each instruction set.
//!
//! A view is there when a part of its instruction set is built in: `X86Registers` with the features `k8` and `knl`, `PowerRegisters` with
//! `power9`, `Ia64Registers` with `itanium` and `montecito`. [`Thread::read`](crate::Thread::read) and [`write`](crate::Thread::write) take the
//! [`Address`](crate::Address) of a register of any of them.
//!
//! The registers of another instruction set than the part's do not exist: every access to one is [`Fault::Unclaimed`](crate::Fault::Unclaimed).

#[cfg(any(feature = "itanium", feature = "montecito"))]
mod ia64;
#[cfg(feature = "power9")]
mod power;
#[cfg(any(feature = "k8", feature = "knl"))]
mod x86;

#[cfg(any(feature = "itanium", feature = "montecito"))]
pub use ia64::Ia64Registers;
#[cfg(feature = "power9")]
pub use power::PowerRegisters;
#[cfg(any(feature = "k8", feature = "knl"))]
pub use x86::X86Registers;

/// Defines a view: a thread under another name, as cheap to copy.
macro_rules! view {
    ($(#[$doc:meta])+ $view:ident, $(#[$method_doc:meta])+ $method:ident) => {
        $(#[$doc])+
        pub struct $view<'a, L>(crate::topology::Thread<'a, L>);

        impl<L> core::fmt::Debug for $view<'_, L> {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.debug_tuple(stringify!($view)).field(&self.0).finish()
            }
        }

        impl<L> Clone for $view<'_, L> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<L> Copy for $view<'_, L> {}

        impl<'a, L: crate::irq::InterruptLine> crate::topology::Thread<'a, L> {
            $(#[$method_doc])+
            #[inline]
            #[must_use]
            pub fn $method(self) -> $view<'a, L> {
                $view(self)
            }
        }
    };
}
use view;
