//! Puts the litmus suite into the program, so that it is there wherever the program is installed (D215).

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", suite.display());
    let mut files = Vec::new();
    collect(&suite, &mut files)?;
    files.sort();
    let mut text = String::new();
    for file in files {
        let name = file.strip_prefix(&suite).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        // No text has a NUL: one stands after each name, and after each text.
        text.push_str(&format!("{name}\0{}\0", fs::read_to_string(&file)?.replace('\0', " ")));
    }
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo says no folder for what is made"))?;
    fs::write(Path::new(&out).join("suite.txt"), text)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            files.push(path);
        }
    }
    Ok(())
}
