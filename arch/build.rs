//! Makes the static event tables from the data files, and refuses a file that breaks the catalogue's rules.

#[path = "build/catalogue.rs"]
mod catalogue;
#[path = "build/drive.rs"]
mod drive;
#[path = "src/counter/limits.rs"]
#[expect(unreachable_pub, reason = "the crate exports what the build reads here")]
mod limits;

fn main() {
    println!("cargo::rerun-if-changed=events");
    println!("cargo::rerun-if-changed=src/feed/vocabulary.rs");
    println!("cargo::rerun-if-changed=src/counter/limits.rs");
    println!("cargo::rerun-if-changed=build");
    if let Err(error) = catalogue::generate() {
        println!("cargo::error={error}");
    }
}
