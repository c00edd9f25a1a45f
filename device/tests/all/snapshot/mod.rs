//! Snapshots: what is saved goes on elsewhere, what does not fit is refused and changes nothing, and earlier forms are read.

mod arbitrary;
mod bytes;
mod golden;
mod refused;
mod restored;
mod scenes;
