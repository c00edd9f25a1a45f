//! Regenerates the files of `include` after an intended change of the interface.

#[path = "../header/mod.rs"]
mod header;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for piece in header::PIECES {
        std::fs::write(piece.place(), piece.text()?)?;
        println!("{}", piece.place().display());
    }
    Ok(())
}
