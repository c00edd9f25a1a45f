//! Makes the static tables of events, metrics and groups from the data files, and refuses a file that breaks their rules.

#[path = "build/catalogue.rs"]
mod catalogue;
#[path = "build/drive.rs"]
mod drive;
#[path = "build/encoding.rs"]
mod encoding;
#[path = "src/counter/limits.rs"]
#[expect(unreachable_pub, reason = "the crate exports what the build reads here")]
mod limits;
#[path = "build/metrics.rs"]
mod metrics;
#[path = "build/placing.rs"]
mod placing;
#[path = "build/reasons.rs"]
mod reasons;

fn main() {
    println!("cargo::rerun-if-changed=events");
    println!("cargo::rerun-if-changed=src/feed/vocabulary.rs");
    println!("cargo::rerun-if-changed=src/counter/limits.rs");
    println!("cargo::rerun-if-changed=build");
    if let Err(error) = catalogue::generate().and_then(|()| metrics::generate()).and_then(|()| reasons::generate()) {
        println!("cargo::error={error}");
    }
}
