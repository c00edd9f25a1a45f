//! Random code.

use vm_pmu_engines::ia64::{Config, Exit, Image, Limits, Machine};

use super::support::*;

/// A generator of numbers (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Random bundles whose major opcodes are as likely as their slots have them, with interruption vectors before them that continue with
/// others.
pub(crate) fn image(seed: u64) -> Image {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let bytes: Vec<u8> = (0..0x4000)
        .flat_map(|_| {
            let (mut low, mut high) = (numbers.next(), numbers.next());
            // Half of the slots are not predicated off, and half have small extension fields.
            if numbers.next() & 1 != 0 {
                low &= !(0x3F << 5 | 0x3F << 46);
                high &= !(0x3F << 23);
            }
            if numbers.next() & 1 != 0 {
                low &= !(0x3 << 38);
                high &= !(0x3 << 15 | 0x3 << 56);
            }
            [low, high]
        })
        .flat_map(u64::to_le_bytes)
        .collect();
    let mut image = Image::raw(0, bytes);
    image.entry = BASE;
    image
}

fn outcome(seed: u64, threads: usize) -> (String, usize, u64) {
    let config = Config { ram: 1 << 20, threads, ..Config::default() };
    let mut machine = Machine::new(&config, &image(seed), |_| Recorder::default()).unwrap();
    let exit = machine.run(Limits { steps: 2000, cycles: 100_000 });
    (exit.to_string(), recorded(&machine).steps.len(), machine.cpu(0).unwrap().cycles())
}

#[test]
fn random_bundles_run_without_a_panic_and_the_same_every_time() {
    for seed in 1..200 {
        let threads = 1 + seed as usize % 2;
        assert_eq!(outcome(seed, threads), outcome(seed, threads), "seed {seed}");
    }
}

#[test]
fn every_major_opcode_and_extension_runs_without_a_panic() {
    // The slot's 41 bits: major opcode and bits 36:27 in all their values, registers at random, in each kind of slot.
    let mut numbers = Numbers(7);
    let mut kept = None;
    for (template, slot) in [(0, 0), (0, 1), (0x0C, 1), (0x10, 2), (4, 2)] {
        for opcode in 0..1 << 14 {
            let word = opcode << 27 | numbers.next() & 0x7FF_FFC0;
            let nop = if slot == 2 && template == 4 { 0 } else { 1 << 27 };
            let mut slots = [1 << 27, nop, 1 << 27];
            slots[slot] = word;
            let bundle = template | u128::from(slots[0]) << 5 | u128::from(slots[1]) << 46 | u128::from(slots[2]) << 87;
            let mut machine = kept.take().unwrap_or_else(fresh);
            machine.memory().write_u128(BASE, bundle);
            let exit = machine.run(Limits::steps(6));
            assert!(!matches!(exit, Exit::Observer { .. }));
            // State piles up, which is as good as any; now and then it starts anew.
            if opcode % 64 != 0 {
                kept = Some(machine);
            }
        }
    }
}

/// A machine that runs the bundle at BASE and returns to it, from wherever it went.
fn fresh() -> Machine<Recorder> {
    let back = |address: u64| {
        let mut a = Assembler::new(address);
        a.load(R14, BASE);
        a.put(mov_to_br(B7, R14));
        a.put(br_cond_reg(B7));
        a.finish().unwrap()
    };
    let mut image = Image::raw(BASE + 16, back(BASE + 16));
    image.entry = BASE;
    for vector in (0..0x8000).step_by(0x100) {
        image = image.with(vector, back(vector));
    }
    Machine::new(&Config { ram: 1 << 20, ..Config::default() }, &image, |_| Recorder::default()).unwrap()
}
