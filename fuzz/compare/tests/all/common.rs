//! Programs to compare.

use std::fs;
use std::path::Path;

use arbitrary::Unstructured;
use vm_pmu::Part;
use vm_pmu::litmus::{Case, Litmus};
use vm_pmu_compare::{Agreed, compare};

/// Compares every litmus file of a part: how many programs there are, and how much was compared.
pub(crate) fn suite(part: &str) -> (usize, Agreed) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest-tests/litmus").join(part);
    let mut paths: Vec<_> = fs::read_dir(folder).expect("the suite").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let (mut sum, mut programs, mut failed) = (Agreed::default(), 0, Vec::new());
    for path in &paths {
        for case in Case::of_file(&fs::read_to_string(path).expect("a text")).expect("a litmus file") {
            programs += 1;
            match compare(&case.litmus) {
                Ok(agreed) => sum += agreed,
                Err(disagreement) => failed.push(format!("{}:\n{disagreement}", path.display())),
            }
        }
    }
    assert!(failed.is_empty(), "{} of {programs} programs:\n{}", failed.len(), failed.join("\n"));
    (programs, sum)
}

/// Compares one program. Leaving out statements makes it smaller than leaving out bytes does.
fn compared(litmus: &Litmus) -> Result<Agreed, String> {
    compare(litmus).map_err(|disagreement| {
        let small = litmus.shrink(|smaller| compare(smaller).is_err());
        compare(&small).err().unwrap_or(disagreement).to_string()
    })
}

fn maker(part: &str) -> impl Fn(&mut Unstructured<'_>) -> arbitrary::Result<Litmus> {
    let part = Part::named(part).expect("the part is known");
    move |bytes| Litmus::arbitrary(part, bytes)
}

/// Compares one program made of bytes.
pub(crate) fn agrees(part: &str, bytes: &[u8]) -> Result<(), String> {
    agrees_of(maker(part), bytes)
}

/// Compares one program that `make` makes of bytes.
pub(crate) fn agrees_of(make: impl Fn(&mut Unstructured<'_>) -> arbitrary::Result<Litmus>, bytes: &[u8]) -> Result<(), String> {
    let Ok(litmus) = make(&mut Unstructured::new(bytes)) else { return Ok(()) };
    compared(&litmus).map(|_| ())
}

/// Compares so many programs, made of the same bytes each time.
pub(crate) fn programs(part: &str, number: u64) -> Agreed {
    programs_of(maker(part), number)
}

/// Compares so many programs that `make` makes.
pub(crate) fn programs_of(make: impl Fn(&mut Unstructured<'_>) -> arbitrary::Result<Litmus>, number: u64) -> Agreed {
    let mut sum = Agreed::default();
    for seed in 1..=number {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (state >> 56) as u8
        })
        .take(1500)
        .collect();
        let litmus = make(&mut Unstructured::new(&bytes)).expect("bytes enough");
        sum += compared(&litmus).unwrap_or_else(|disagreement| panic!("{disagreement}"));
    }
    sum
}
