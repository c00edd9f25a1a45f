//! Inputs that are programs: decoded, changed and crossed statement by statement.

use arbitrary::{Result, Unstructured};
use vm_pmu::Part;
use vm_pmu::litmus::{Litmus, random_bytes};

/// Random bytes for one change of a program: enough for a new program to take statements from.
const NOISE: usize = 2048;

/// The part of this name.
pub(crate) fn part(name: &str) -> Part {
    Part::named(name).expect("the part is known")
}

/// The first `size` bytes of `data` changed, in place; returns how many there are then. What is no program becomes one that `maker` makes.
pub(crate) fn mutate(
    part: Part,
    maker: &dyn Fn(&mut Unstructured<'_>) -> Result<Litmus>,
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
) -> usize {
    let random = random_bytes(seed, NOISE);
    let mut random = Unstructured::new(&random);
    let program = match Litmus::from_bytes(part, &data[..size]) {
        Ok(mut program) => {
            // A change for which the bytes do not suffice leaves the program as it is.
            let _ = program.mutate(&mut random, maker);
            program
        }
        Err(_) => match maker(&mut random) {
            Ok(program) => program,
            Err(_) => return size,
        },
    };
    put(program, data, most)
}

/// A program with statements of both, in `out`; returns how many bytes it has.
pub(crate) fn cross(part: Part, one: &[u8], other: &[u8], out: &mut [u8], seed: u32) -> usize {
    let (Ok(program), Ok(other)) = (Litmus::from_bytes(part, one), Litmus::from_bytes(part, other)) else { return 0 };
    let random = random_bytes(seed, 64);
    let crossed = program.cross(&other, &mut Unstructured::new(&random)).unwrap_or(program);
    let most = out.len();
    put(crossed, out, most)
}

fn put(program: Litmus, out: &mut [u8], most: usize) -> usize {
    let bytes = program.within(most.min(out.len())).to_bytes();
    // A program without statements can be longer than the room for it.
    match out.get_mut(..bytes.len()) {
        Some(place) => {
            place.copy_from_slice(&bytes);
            bytes.len()
        }
        None => 0,
    }
}

/// A target whose inputs are programs for the part named `$part`, that `$maker` makes and `$oracle` judges.
macro_rules! program_target {
    ($part:literal, $maker:expr, $oracle:expr) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| -> libfuzzer_sys::Corpus {
            let Ok(program) = vm_pmu::litmus::Litmus::from_bytes(program::part($part), bytes) else {
                return libfuzzer_sys::Corpus::Reject;
            };
            if let Err(broken) = $oracle(&program) {
                panic!("{broken}");
            }
            libfuzzer_sys::Corpus::Keep
        });
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            program::mutate(program::part($part), &$maker, data, size, max_size, seed)
        });
        libfuzzer_sys::fuzz_crossover!(|data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
            program::cross(program::part($part), data1, data2, out, seed)
        });
    };
}
pub(crate) use program_target;
