//! Register files.
#![no_std]
