//! Makes the static event tables from the data files, and refuses a file that breaks the catalogue's rules.

#[path = "build/catalogue.rs"]
mod catalogue;

fn main() {
    println!("cargo::rerun-if-changed=events");
    println!("cargo::rerun-if-changed=src/feed/vocabulary.rs");
    println!("cargo::rerun-if-changed=build");
    if let Err(error) = catalogue::generate() {
        println!("cargo::error={error}");
    }
}
