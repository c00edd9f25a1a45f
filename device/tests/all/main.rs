//! What embedders rely on, a module a subject. One program holds them, as linking takes longer than compiling.

mod agents;
#[cfg(feature = "arbitrary")]
mod arbitrary_types;
#[cfg(feature = "memory")]
mod bounds;
mod builder;
#[cfg(all(feature = "memory", feature = "companion"))]
mod called_back;
#[cfg(all(feature = "companion", feature = "montecito", feature = "itanium"))]
mod code_ia64;
mod collection;
#[cfg(all(feature = "k8", feature = "knl", feature = "power9"))]
mod countdown;
#[cfg(feature = "power9")]
mod counted_power9;
#[cfg(feature = "eventfd")]
mod eventfd;
#[cfg(all(feature = "vm-device", feature = "eventfd"))]
mod examples;
#[cfg(feature = "companion")]
mod fabric_ia64;
#[cfg(all(feature = "companion", feature = "knl"))]
mod fabric_knl;
mod fair;
#[cfg(all(feature = "kvm", target_os = "linux", target_arch = "x86_64"))]
mod kvm;
mod levels;
mod lines;
#[cfg(feature = "recording")]
mod looking;
mod montecito;
#[cfg(feature = "memory")]
mod nest;
#[cfg(feature = "memory")]
mod nest_command;
#[cfg(feature = "litmus")]
mod pausing;
mod pci;
mod ports;
mod power9;
mod restore;
#[cfg(all(feature = "companion", feature = "montecito"))]
mod second_queue;
#[cfg(all(feature = "snapshot", feature = "memory", feature = "companion"))]
mod snapshot;
mod steady;
#[cfg(all(feature = "snapshot", feature = "memory", feature = "companion"))]
mod stress_threads;
mod supplied;
mod threads;
#[cfg(feature = "tree")]
mod tree;
#[cfg(feature = "vm-superio")]
mod triggers;
mod untile;
mod views;
#[cfg(feature = "vm-device")]
mod vm_device;
