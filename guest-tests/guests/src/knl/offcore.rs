//! `offcore`: the six combinations of section 1.2.4, each counting what it names and nothing else.
//!
//! CPU 0 reads or writes lines that memory has, that MCDRAM has, or that another tile has: CPU 8 belongs to it. Lines of CPU 4, on the
//! other core of the tile, come from CPU 0's own tile. Every batch of lines is used once, since only then is its place known.

use iced_x86::code_asm::*;

use super::helpers::{Helper, part};
use super::lines::{
    ANY_RESPONSE, BATCH, DDR, DEMAND_DATA_RD, DEMAND_RFO, MCDRAM, OTHER_TILE, OWN_TILE_CLEAN, OWN_TILE_MODIFIED, begin, flush, load,
    load_and_store, start, stop, store,
};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Who has the lines before CPU 0 asks for them.
#[derive(Clone, Copy, PartialEq)]
enum Holder {
    Ddr,
    Mcdram,
    OtherTile,
    OwnTileClean,
    OwnTileModified,
}

/// The pattern of CPU 0's accesses, and the name of the holder.
const PATTERNS: [(&str, Holder, bool); 8] = [
    ("reads from DDR", Holder::Ddr, false),
    ("writes from DDR", Holder::Ddr, true),
    ("reads from MCDRAM", Holder::Mcdram, false),
    ("writes from MCDRAM", Holder::Mcdram, true),
    ("reads from another tile", Holder::OtherTile, false),
    ("writes from another tile", Holder::OtherTile, true),
    ("reads of what the other core has clean", Holder::OwnTileClean, false),
    ("reads of what the other core has modified", Holder::OwnTileModified, false),
];

/// What is counted, with the pattern whose every line it counts. The first six are the manual's.
const COUNTS: [(&str, u64, usize); 7] = [
    ("data reads, DDR", DEMAND_DATA_RD | DDR, 0),
    ("data writes, DDR", DEMAND_RFO | DDR, 1),
    ("data reads, MCDRAM", DEMAND_DATA_RD | MCDRAM, 2),
    ("data writes, MCDRAM", DEMAND_RFO | MCDRAM, 3),
    ("data reads, other tile", DEMAND_DATA_RD | OTHER_TILE, 4),
    ("data writes, other tile", DEMAND_RFO | OTHER_TILE, 5),
    ("data reads, own tile, modified", DEMAND_DATA_RD | OWN_TILE_MODIFIED, 7),
];

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let (core, tile) = (Helper::new(&mut k, 4), Helper::new(&mut k, 8));
    let (mut of_core, mut of_tile) = (k.a.create_label(), k.a.create_label());

    k.main()?;
    k.a.mov(rbp, rdi)?;
    part(&mut k, &[(core, of_core), (tile, of_tile)])?;
    begin(&mut k)?;
    core.ask(&mut k, 1)?;
    tile.ask(&mut k, 1)?;
    each(|number, batch, holder, stores, (what, name, chosen, right)| {
        match holder {
            Holder::Ddr => {}
            Holder::Mcdram => {
                load(&mut k, batch)?;
                flush(&mut k, batch)?;
            }
            Holder::OtherTile => tile.ask(&mut k, number)?,
            Holder::OwnTileClean | Holder::OwnTileModified => core.ask(&mut k, number)?,
        }
        start(&mut k, chosen)?;
        if stores {
            store(&mut k, batch)?
        } else {
            load(&mut k, batch)?
        }
        stop(&mut k)?;
        k.check_is(&format!("{what}: {name}"), rax, right)
    })?;
    k.a.ret()?;

    here(&mut k.a, &mut of_core)?;
    begin(&mut k)?;
    core.answer(&mut k, 1, |_| Ok(()))?;
    each(|number, batch, holder, _, _| match holder {
        Holder::OwnTileClean => core.answer(&mut k, number, |k| load(k, batch)),
        Holder::OwnTileModified => core.answer(&mut k, number, |k| store(k, batch)),
        _ => Ok(()),
    })?;
    k.a.ret()?;
    here(&mut k.a, &mut of_tile)?;
    begin(&mut k)?;
    tile.answer(&mut k, 1, |_| Ok(()))?;
    each(|number, batch, holder, _, _| match holder {
        Holder::OtherTile => tile.answer(&mut k, number, |k| load_and_store(k, batch)),
        _ => Ok(()),
    })?;
    k.a.ret()?;
    k.finish()
}

/// Pattern, what is counted, its register value, and how many it counts.
type Counted = (&'static str, &'static str, u64, u64);

/// Every pattern with everything that is counted of it, numbered for the helpers and with its own batch.
fn each(mut one: impl FnMut(i32, u64, Holder, bool, Counted) -> Built<()>) -> Built<()> {
    let mut batch = 0;
    for (pattern, (what, holder, stores)) in PATTERNS.into_iter().enumerate() {
        let mut row: Vec<_> = COUNTS.map(|(name, chosen, own)| (name, chosen, if own == pattern { BATCH } else { 0 })).into();
        // A clean line of CPU 0's own tile is one count more, and that of any response counts every row: reads with reads.
        if matches!(holder, Holder::OwnTileClean) {
            row.retain(|(_, chosen, _)| chosen & DEMAND_RFO == 0);
            row.push(("data reads, own tile, clean", DEMAND_DATA_RD | OWN_TILE_CLEAN, BATCH));
        }
        let kind = if stores { DEMAND_RFO } else { DEMAND_DATA_RD };
        row.push(("its own kind with any response", kind | ANY_RESPONSE, BATCH));
        for (name, chosen, right) in row {
            one(batch + 2, batch as u64, holder, stores, (what, name, chosen, right))?;
            batch += 1;
        }
    }
    Ok(())
}
