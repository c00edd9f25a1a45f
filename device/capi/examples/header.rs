//! Regenerates `include/vm_pmu.h` after an intended change of the interface.

#[path = "../header/mod.rs"]
mod header;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    std::fs::write(header::place(), header::header()?)?;
    println!("{}", header::place().display());
    Ok(())
}
