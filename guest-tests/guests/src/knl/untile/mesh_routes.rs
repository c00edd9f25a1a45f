//! `mesh-routes`: what the mesh stops of the CHAs see of lines that a core reads, foretold from the floor plan.
//!
//! A line that MCDRAM has takes three messages of requests and data: by AD from the tile to the CHA and from there to the MCDRAM controller,
//! by BL from the controller to the tile. Each goes up or down first, then left or right, and every stop that it passes or ends at counts
//! it, the stop it begins at does not. A line is two transfers (sections 1.3 and 6.3 of the manual).

use iced_x86::code_asm::*;

use super::boxes::{CHA, CHA_STRIDE};
use super::traffic::{FAR, REGION, Traffic};
use super::{EN, INIT, RESET_COUNTERS};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Lines that are read for each CHA.
const LINES: usize = 16;
/// CHAs whose lines are read: to the lower left of tile 0, in its column, far to the right, and at its own place.
const HOMES: [usize; 4] = [13, 3, 33, 0];
/// The tile of CPU 0.
const TILE: usize = 0;

/// A row and a column of the die.
type Place = (usize, usize);

/// The tiles, by the numbers of their CHAs: quadrants upper left, lower left, upper right, lower right, each row by row, except for one in
/// the middle row at the end of each half.
#[rustfmt::skip]
const TILES: [Place; 38] = [
    (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (4, 1),
    (5, 0), (5, 1), (5, 2), (6, 0), (6, 1), (6, 2), (7, 0), (7, 1), (4, 2),
    (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5), (3, 3), (3, 4), (3, 5), (4, 3),
    (5, 3), (5, 4), (5, 5), (6, 3), (6, 4), (6, 5), (7, 4), (7, 5), (4, 4),
];
/// The MCDRAM controllers.
const CONTROLLERS: [Place; 8] = [(0, 0), (0, 1), (8, 0), (8, 1), (0, 4), (0, 5), (8, 4), (8, 5)];

/// Selects of use of the vertical rings; those of the horizontal rings are one further.
const AD: u32 = 0xA6;
const BL: u32 = 0xAA;
/// Unit masks: both kinds of slots, up or left, and down or right.
const WAYS: [(&str, u32); 2] = [("up or left", 0x0300), ("down or right", 0x0C00)];

/// Which of `count` boxes has the line at `address`: the golden ratio spreads all lines over 32 bits, which CHAs and MCDRAM controllers share in
/// equal parts.
fn share(address: u64, count: usize) -> usize {
    let spread = (address / 64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & 0xFFFF_FFFF;
    ((spread * count as u64) >> 32) as usize
}

/// Where the first lines of CHA `cha` are, each in its own page.
fn lines_of(cha: usize) -> Vec<u64> {
    (0..).map(|n| REGION + n * FAR).filter(|address| share(*address, TILES.len()) == cha).take(LINES).collect()
}

/// The stops that a message from `from` to `to` counts at: up or down, then left or right; with whether the run goes across, and whether it
/// goes down or right.
fn route(from: Place, to: Place) -> Vec<(Place, bool, bool)> {
    let between = |from: usize, to: usize| if from < to { (from + 1..=to).collect::<Vec<_>>() } else { (to..from).rev().collect() };
    let down = between(from.0, to.0).into_iter().map(|row| ((row, from.1), false, to.0 > from.0));
    let across = between(from.1, to.1).into_iter().map(|column| ((to.0, column), true, to.1 > from.1));
    down.chain(across).collect()
}

/// What the four counters of each CHA count of these lines by a way: AD up and down and across, BL the same.
fn foretold(lines: &[u64], forward: bool) -> [[u64; 4]; 38] {
    let mut counts = [[0; 4]; 38];
    for line in lines {
        let (tile, cha, controller) = (TILES[TILE], TILES[share(*line, TILES.len())], CONTROLLERS[share(*line, CONTROLLERS.len())]);
        for (from, to, first, slots) in [(tile, cha, 0, 1), (cha, controller, 0, 1), (controller, tile, 2, 2)] {
            for (stop, across, goes_forward) in route(from, to) {
                if let Some(at) = TILES.iter().position(|tile| *tile == stop).filter(|_| goes_forward == forward) {
                    counts[at][first + usize::from(across)] += slots;
                }
            }
        }
    }
    counts
}

pub(super) fn build() -> Built<Image> {
    let mut k = Kernel::new(Vec::new())?;
    let traffic = Traffic::new(&mut k)?;
    let (mut load, mut flush) = (k.a.create_label(), k.a.create_label());
    visit(&mut k, "load", &mut load, |a| a.mov(rax, qword_ptr(rdx)))?;
    visit(&mut k, "flush", &mut flush, |a| a.clflush(byte_ptr(rdx)))?;
    let lists = HOMES.map(|cha| {
        let bytes: Vec<u8> = lines_of(cha).into_iter().flat_map(u64::to_le_bytes).collect();
        k.place(&bytes)
    });
    k.main()?;
    traffic.fill_chas(&mut k, CHA, INIT)?;
    for (cha, list) in HOMES.into_iter().zip(lists) {
        for (way, mask) in WAYS {
            for (n, select) in (1..).zip([AD, AD + 1, BL, BL + 1]) {
                traffic.fill_chas(&mut k, CHA + n, mask | select | EN)?;
            }
            // MCDRAM has the lines then, the tile does not; the list and the code are in the tile's caches.
            for code in [load, flush, load, flush] {
                at_list(&mut k, list)?;
                traffic.window(&mut k, code)?;
            }
            traffic.fill_chas(&mut k, CHA, RESET_COUNTERS)?;
            at_list(&mut k, list)?;
            traffic.window(&mut k, load)?;
            check(&mut k, &traffic, &format!("lines of CHA {cha}, {way}"), &foretold(&lines_of(cha), mask == WAYS[1].1))?;
            at_list(&mut k, list)?;
            k.a.call(flush)?;
        }
    }
    k.a.ret()?;
    k.finish()
}

/// Emits a loop over a list of addresses: R9 where it is, R10 how many. `each` gets the address in RDX.
fn visit(k: &mut Kernel, name: &str, label: &mut CodeLabel, each: impl Fn(&mut CodeAssembler) -> Built<()>) -> Built<()> {
    k.routine(name);
    here(&mut k.a, label)?;
    let mut again = k.a.create_label();
    here(&mut k.a, &mut again)?;
    k.a.mov(rdx, qword_ptr(r9))?;
    each(&mut k.a)?;
    k.a.add(r9, 8)?;
    k.a.dec(r10)?;
    k.a.jne(again)?;
    k.a.ret()
}

/// The next loop goes over `list`.
fn at_list(k: &mut Kernel, list: u64) -> Built<()> {
    k.a.mov(r9, list)?;
    k.a.mov(r10d, LINES as u32)
}

/// Each stop on the way counted what it should, and all together no more.
fn check(k: &mut Kernel, traffic: &Traffic, what: &str, right: &[[u64; 4]; 38]) -> Built<()> {
    for (n, ring) in ["AD, vertical", "AD, horizontal", "BL, vertical", "BL, horizontal"].into_iter().enumerate() {
        let counter = CHA + 8 + n as u32;
        for (cha, counts) in (0..).zip(right).filter(|(_, counts)| counts[n] != 0) {
            k.rdmsr(counter + CHA_STRIDE * cha)?;
            k.check_is(&format!("{what}: {ring} at CHA {cha}"), rax, counts[n])?;
        }
        traffic.sum_chas(k, counter)?;
        k.check_is(&format!("{what}: {ring} at all"), rax, right.iter().map(|counts| counts[n]).sum::<u64>())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_goes_down_or_up_before_it_goes_across() {
        // From the tile of CHA 0 to that of CHA 7: two down, one right.
        assert_eq!(route(TILES[0], TILES[7]), [((2, 0), false, true), ((3, 0), false, true), ((3, 1), true, true)]);
        assert_eq!(route(TILES[7], TILES[0]), [((2, 1), false, false), ((1, 1), false, false), ((1, 0), true, false)]);
    }
}
