//! Writes the snapshots that later versions must read, in the present form: into `device/tests/snapshots/vN`, or the folder that is named.
//!
//! It is run once for each version of the form, `cargo run -p vm-pmu --example golden_snapshots --features snapshot,memory,companion`, and
//! what it wrote is never written again.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use vm_pmu::snapshot::{CompanionSnapshot, FORMAT_VERSION};

#[path = "../tests/all/snapshot/scenes.rs"]
#[allow(dead_code, reason = "the tests use what becomes of the scenes, this their beginning")]
mod scenes;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os()
        .nth(1)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("v{FORMAT_VERSION}")), PathBuf::from);
    fs::create_dir_all(&folder)?;
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.join(name).with_extension("snapshot"), bytes);
    for scene in scenes::SCENES {
        write(scene.name, scene.stopped().save()?)?;
    }
    write("chip", scenes::stopped_chip().save()?)?;
    let companion = scenes::companion();
    let mut follower = companion.follower(0).ok_or("a companion has a first thread")?;
    scenes::misses(&mut follower, &scenes::LOADED);
    write("companion", companion.save_snapshot(&[&follower])?)?;
    println!("snapshots of version {FORMAT_VERSION} are in {}", folder.display());
    Ok(())
}
