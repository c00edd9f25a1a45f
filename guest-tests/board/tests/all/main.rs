//! PMUs attached to the interpreters, a module a subject.

mod power_counted;
mod records;
mod steps;
