//! Random programs: each step, and the final state, must be the interpreter's.

use proptest::prelude::*;

use crate::support::*;

/// Extended opcodes of primary opcode 31 with results that the architecture leaves undefined for some operands: divisions. With the bit
/// above for those that have OE.
const DIVISIONS: [u32; 12] = [393, 395, 425, 427, 457, 459, 489, 491, 777, 779, 265, 267];

/// A word that is an instruction more often than chance has it, and whose result is defined.
fn word() -> impl Strategy<Value = u32> {
    let primary = prop_oneof![6 => Just(31u32), 2 => Just(19), 2 => Just(30), 1 => Just(18), 1 => Just(16), 10 => 0u32..58, 1 => Just(62)];
    let word = (primary, any::<u32>()).prop_map(|(primary, rest)| primary << 26 | rest & 0x03FF_FFFF);
    word.prop_filter("a division", |word| {
        let extended = word >> 1 & 0x3FF;
        word >> 26 != 31 || !DIVISIONS.contains(&extended) && !DIVISIONS.contains(&(extended & 0x1FF))
    })
}

/// The program: registers with addresses and numbers in them, then the words, in the state that `state` asks for.
fn program(words: &[u32], values: &[u64; 8], state: u64, little_endian: bool) -> Image {
    image(little_endian, |a| {
        let body = a.label();
        for (place, value) in (0..).zip(values) {
            a.load(R3, *value);
            a.load(R4, DATA + 8 * place);
            a.std(R3, 0, R4);
        }
        a.load(R3, values[0]);
        a.mtcrf(0xFF, R3);
        a.load(R5, DATA + 0x100);
        for (register, value) in [R6, R7, R8, R9, R10].into_iter().zip(values) {
            a.load(register, *value);
        }
        a.load(R14, CODE);
        a.mtctr(R14);
        a.load(R15, 3);
        a.load(R16, DATA + 0x800);
        a.load_address(R3, body);
        a.mtspr(spr::SRR0, R3);
        a.mfmsr(R4);
        a.load(R3, state);
        a.xor(R4, R4, R3);
        a.mtspr(spr::SRR1, R4);
        a.rfid();
        a.here(body);
        // After the change of MSR, so that they are there where floating point is.
        a.load(R4, DATA);
        for place in 0..8 {
            a.lfd(Fpr::new(place + 1), 8 * i64::from(place), R4);
        }
        a.load(R3, values[0]);
        for word in words {
            a.word(*word);
        }
    })
}

/// Words of floating-point arithmetic without a record form, on FPR 0 to 8.
fn floating() -> impl Strategy<Value = u32> {
    // Extended opcodes, and the fields that they have: FRA, FRB, FRC.
    const BOTH: [(u32, [u32; 3]); 9] = [
        (18, [1, 1, 0]),
        (20, [1, 1, 0]),
        (21, [1, 1, 0]),
        (22, [0, 1, 0]),
        (25, [1, 0, 1]),
        (28, [1, 1, 1]),
        (29, [1, 1, 1]),
        (30, [1, 1, 1]),
        (31, [1, 1, 1]),
    ];
    const DOUBLE: [(u32, [u32; 3]); 10] = [
        (12, [0, 1, 0]),
        (15, [0, 1, 0]),
        (23, [1, 1, 1]),
        (40, [0, 1, 0]),
        (72, [0, 1, 0]),
        (136, [0, 1, 0]),
        (264, [0, 1, 0]),
        (814, [0, 1, 0]),
        (815, [0, 1, 0]),
        (846, [0, 1, 0]),
    ];
    let single = BOTH.map(|operation| (59, operation));
    let double = BOTH.into_iter().chain(DOUBLE).map(|operation| (63, operation));
    let operations: Vec<_> = single.into_iter().chain(double).collect();
    let register = || 0u32..9;
    (proptest::sample::select(operations), register(), register(), register(), register()).prop_map(
        |((primary, (extended, [has_a, has_b, has_c])), t, a, b, c)| {
            primary << 26 | t << 21 | (has_a * a) << 16 | (has_b * b) << 11 | (has_c * c) << 6 | extended << 1
        },
    )
}

/// Numbers, no NaN among them, that singles can hold.
fn number() -> impl Strategy<Value = u64> {
    any::<f32>().prop_filter("a NaN", |number| !number.is_nan()).prop_map(|number| f64::from(number).to_bits())
}

fn states() -> impl Strategy<Value = u64> {
    // From hypervisor state with 64 bits: floating point on or off, problem state, 32 bits.
    prop_oneof![Just(msr::FP), Just(0), Just(msr::FP | msr::PR), Just(msr::FP | msr::SF)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn each_step_is_told_as_the_interpreter_tells_it(
        words in proptest::collection::vec(word(), 1..60),
        values in any::<[u64; 8]>(),
        state in states(),
        little_endian in any::<bool>(),
    ) {
        let image = program(&words, &values, state, little_endian);
        let (interpreter, right) = interpreted(&image, little_endian, 1, 500);
        let (unicorn, seen, _) = emulated(&image, little_endian, 1, 500, false);
        let (right_steps, steps) = (&interpreter.observer(0).expect("a CPU").steps, &unicorn.observer(0).expect("a CPU").steps);
        for (step, right) in steps.iter().zip(right_steps) {
            prop_assert_eq!(step, right);
        }
        prop_assert_eq!(&interpreter.observer(0).expect("a CPU").notices, &unicorn.observer(0).expect("a CPU").notices);
        prop_assert_eq!(seen, right);
    }

    #[test]
    fn blocks_at_one_go_leave_what_the_interpreter_leaves(
        words in proptest::collection::vec(word(), 1..60),
        values in any::<[u64; 8]>(),
        state in states(),
        little_endian in any::<bool>(),
    ) {
        let image = program(&words, &values, state, little_endian);
        let (interpreter, right) = interpreted(&image, little_endian, 1, 500);
        let (unicorn, seen, _) = emulated(&image, little_endian, 1, 500, true);
        prop_assert_eq!(seen, right);
        prop_assert_eq!(&interpreter.observer(0).expect("a CPU").notices, &unicorn.observer(0).expect("a CPU").notices);
        prop_assert_eq!(interpreter.observer(0).expect("a CPU").steps.len(), unicorn.observer(0).expect("a CPU").steps.len());
    }

    #[test]
    fn floating_point_has_the_interpreters_results(
        words in proptest::collection::vec(floating(), 1..20),
        values in proptest::array::uniform8(number()),
    ) {
        let image = program(&words, &values, msr::FP, true);
        let (_, right) = interpreted(&image, true, 1, 300);
        let (_, seen, shares) = emulated(&image, true, 1, 300, true);
        prop_assert_eq!(seen, right);
        prop_assert!(shares.in_blocks >= words.len() as u64, "{:?}", shares);
    }
}
