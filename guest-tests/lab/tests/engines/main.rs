//! Guests on the engines that features add, a module an engine.

#[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
mod kvm;
#[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
mod kvm_freely;
#[cfg(feature = "unicorn")]
mod unicorn_power;
#[cfg(feature = "unicorn")]
mod unicorn_x86;
