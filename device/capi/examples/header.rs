//! Writes `include/vm_pmu.h` anew, after the interface has been changed on purpose.

#[path = "../header/mod.rs"]
mod header;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    std::fs::write(header::place(), header::header()?)?;
    println!("{}", header::place().display());
    Ok(())
}
