//! The book, the pages beside it and the tree hold what they promise, a module a subject.

mod book;
mod circles;
mod contract;
mod contributing;
mod direction;
mod first_hour;
mod indices;
mod readme;
