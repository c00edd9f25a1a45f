//! The IA-64 assembler against two others: GNU `as` where it is installed, and the decoder of yaxpeax-ia64.

mod bundles;
mod cases;
mod decoder;
mod gnu;
