//! The models and their references agree, a module a part.

mod common;
mod itanium;
mod k8;
mod knl;
mod montecito;
mod power9;
