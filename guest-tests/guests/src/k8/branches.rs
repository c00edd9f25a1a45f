//! `branches`: branches that can be predicted and branches that cannot.
//!
//! The geometry: 16,384 two-bit counters that all begin as weakly *not taken*, chosen by six bits of the branch's address and the outcomes
//! of the last eight conditional branches; targets of taken branches in 2048 places, each with the last one.
//!
//! # By context
//!
//! All conditional branches of a round are within 128 bytes of code, so each has its own counters, one for each history with which it is
//! executed: its contexts. A counter is updated in its context only. So what a round costs is found context by context, from the branches'
//! outcomes alone ([`Outcomes::mispredicted`]). A round begins with eight branches that are not taken, so that its histories are its own.

use std::collections::BTreeMap;

use iced_x86::code_asm::*;

use super::measure::{Count, begin, count, identities, measure};
use crate::runtime::{Built, Kernel, here};
use vm_pmu_engines::x86::Image;

/// Outcomes that choose a counter.
const HISTORY: u32 = 8;
/// Rounds to warm up: enough for a counter that is updated once a round to get from one end to the other.
const WARM: usize = 3;

/// The conditional branches of a round, one after the other: which one, and whether it is taken.
#[derive(Default)]
struct Outcomes(Vec<(u8, bool)>);

/// The numbers of branches.
const LOOP: u8 = 8;
const DATA: u8 = 9;

impl Outcomes {
    /// What every round begins with: branches 0 to 7, not taken.
    fn new() -> Outcomes {
        Outcomes((0..HISTORY as u8).map(|branch| (branch, false)).collect())
    }

    /// How many of a round's branches are mispredicted, all and taken ones, after [`WARM`] rounds.
    ///
    /// The outcomes in each context, in order, move its counter from 0 to 3: up when taken, down when not. From 2 on it predicts *taken*.
    /// Where it began makes no difference.
    fn mispredicted(&self) -> (u64, u64) {
        let mut contexts: BTreeMap<(u8, u32), Vec<bool>> = BTreeMap::new();
        // The eight branches at the start always have the same outcome: they are predicted rightly with any history.
        let mut history = 0;
        for (branch, taken) in &self.0 {
            if *branch >= HISTORY as u8 {
                contexts.entry((*branch, history)).or_default().push(*taken);
            }
            history = (history << 1 | u32::from(*taken)) & ((1 << HISTORY) - 1);
        }
        let costs: Vec<(u64, u64)> = (0..4).map(|start| contexts.values().map(|met| cost(start, met)).fold((0, 0), sum)).collect();
        assert!(costs.iter().all(|cost| *cost == costs[0]), "what a round costs depends on where a counter began: {costs:?}");
        costs[0]
    }

    /// What a round shows in which `jumps` further branches are taken, `wrong` of them to a target that was not the last one.
    fn counts(&self, jumps: u64, wrong: u64) -> [Count; 5] {
        let (mispredicted, taken) = self.mispredicted();
        [
            count("RETIRED_BRANCH_INSTRUCTIONS", 0xC2, self.0.len() as u64 + jumps),
            count("RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS", 0xC3, mispredicted + wrong),
            count("RETIRED_TAKEN_BRANCH_INSTRUCTIONS", 0xC4, self.0.iter().filter(|(_, taken)| *taken).count() as u64 + jumps),
            count("RETIRED_TAKEN_BRANCH_INSTRUCTIONS_MISPREDICTED", 0xC5, taken + wrong),
            count("RETIRED_INDIRECT_BRANCHES_MISPREDICTED", 0xCA, wrong),
        ]
    }
}

fn sum(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0 + other.0, one.1 + other.1)
}

/// What the counter of a context costs in a round, all and taken, when it begins with `counter` and gets `outcomes` in each round.
fn cost(mut counter: u8, outcomes: &[bool]) -> (u64, u64) {
    let mut cost = (0, 0);
    for _ in 0..=WARM {
        cost = (0, 0);
        for taken in outcomes {
            let wrong = (counter >= 2) != *taken;
            cost = sum(cost, (u64::from(wrong), u64::from(wrong && *taken)));
            counter = if *taken { (counter + 1).min(3) } else { counter.saturating_sub(1) };
        }
    }
    cost
}

/// The de Bruijn sequence of order `n`: each of the 2 to the `n` words of `n` bits once, going round. The words come as the Lyndon words do
/// whose lengths divide `n`, in the order of a dictionary.
fn de_bruijn(n: usize) -> Vec<bool> {
    let mut sequence = Vec::new();
    let mut word = vec![false];
    loop {
        if n.is_multiple_of(word.len()) {
            sequence.extend(&word);
        }
        // The next Lyndon word: repeated to the full length, less its ones at the end, the last zero made a one.
        word = word.iter().copied().cycle().take(n).collect();
        while word.last() == Some(&true) {
            word.pop();
        }
        match word.last_mut() {
            Some(last) => *last = true,
            None => return sequence,
        }
    }
}

/// Turns of the loops without data.
const TURNS: u64 = 100;
/// Turns of the inner loop.
const INNER: u64 = 5;
/// The sequence has 1024 bits. Between a branch on one of them and the next is that of the loop, so that four of the bits are in a history
/// of eight: each of their 16 contexts occurs 64 times, 32 times before a one.
const ORDER: usize = 10;

pub(super) fn build() -> Built<Image> {
    let sequence = de_bruijn(ORDER);
    let mut k = Kernel::new(Vec::new())?;
    let bytes: Vec<u8> = sequence.iter().copied().map(u8::from).collect();
    let random = k.place(&bytes);
    let bytes: Vec<u8> = (0..bytes.len()).map(|n| (n % 2) as u8).collect();
    let alternating = k.place(&bytes);
    k.main()?;
    begin(&mut k)?;
    nested(&mut k)?;
    data(&mut k, "a branch taken every other time", alternating, bytes.iter().map(|byte| *byte != 0), 1)?;
    // By the sequence alone, half the branches on its bits go each way in each context: no prediction by context can be good.
    let (all, _) = data(&mut k, "a de Bruijn sequence", random, sequence.iter().copied(), 0)?;
    assert!((sequence.len() as u64 / 4..=sequence.len() as u64 * 3 / 4).contains(&all));
    indirect(&mut k)?;
    k.a.ret()?;
    k.finish()
}

/// Eight branches that are not taken.
fn clear_history(k: &mut Kernel) -> Built<()> {
    let mut next = k.a.create_label();
    k.a.xor(eax, eax)?;
    for _ in 0..HISTORY {
        k.a.jne(next)?;
    }
    here(&mut k.a, &mut next)
}

/// A loop within a loop: the inner one is left after five turns, which eight outcomes distinguish from all others. What is mispredicted is
/// the end of the outer loop, whose history is that of all turns before it.
fn nested(k: &mut Kernel) -> Built<()> {
    let mut outcomes = Outcomes::new();
    for turn in 1..=TURNS {
        outcomes.0.extend((1..=INNER).map(|inner| (DATA, inner < INNER)));
        outcomes.0.push((LOOP, turn < TURNS));
    }
    assert_eq!(outcomes.mispredicted(), (1, 0));
    measure(k, "a loop of five turns", WARM, &outcomes.counts(0, 0), &|k| {
        clear_history(k)?;
        let a = &mut k.a;
        let (mut outer, mut inner) = (a.create_label(), a.create_label());
        a.mov(edx, TURNS as u32)?;
        here(a, &mut outer)?;
        a.mov(ecx, INNER as u32)?;
        here(a, &mut inner)?;
        a.dec(ecx)?;
        a.jne(inner)?;
        a.dec(edx)?;
        a.jne(outer)
    })
}

/// A loop over bytes with a branch that is taken where one is not zero. Returns how many are mispredicted, which must be `right` unless
/// that is 0.
fn data(k: &mut Kernel, what: &str, at: u64, bits: impl Iterator<Item = bool>, right: u64) -> Built<(u64, u64)> {
    let mut outcomes = Outcomes::new();
    for bit in bits {
        outcomes.0.extend([(DATA, bit), (LOOP, true)]);
    }
    let turns = (outcomes.0.len() as u32 - HISTORY) / 2;
    if let Some((_, taken)) = outcomes.0.last_mut() {
        *taken = false;
    }
    assert!(right == 0 || outcomes.mispredicted() == (right, 0));
    let body = |k: &mut Kernel| {
        clear_history(k)?;
        let a = &mut k.a;
        let (mut again, mut skip) = (a.create_label(), a.create_label());
        a.mov(edx, at as u32)?;
        a.mov(ecx, turns)?;
        here(a, &mut again)?;
        a.cmp(byte_ptr(rdx), 0)?;
        a.jne(skip)?;
        a.nop()?;
        here(a, &mut skip)?;
        a.inc(rdx)?;
        a.dec(ecx)?;
        a.jne(again)
    };
    measure(k, what, WARM, &outcomes.counts(0, 0), &body)?;
    identities(k, what, &body)?;
    Ok(outcomes.mispredicted())
}

/// Indirect jumps and calls in a loop of which only the end is mispredicted: with one target they are predicted rightly; with two in turn
/// each is predicted to go where the one before went.
fn indirect(k: &mut Kernel) -> Built<()> {
    let mut outcomes = Outcomes::new();
    outcomes.0.extend((1..=TURNS).map(|turn| (LOOP, turn < TURNS)));
    assert_eq!(outcomes.mispredicted(), (1, 0));
    for (what, same, wrong) in [("an indirect jump, one target", true, 0), ("an indirect jump, two targets", false, TURNS)] {
        measure(k, what, WARM, &outcomes.counts(TURNS, wrong), &|k| {
            clear_history(k)?;
            let a = &mut k.a;
            let (mut again, mut one, mut other) = (a.create_label(), a.create_label(), a.create_label());
            targets(a, one, if same { one } else { other })?;
            here(a, &mut again)?;
            a.xor(rdx, rbx)?;
            a.jmp(rdx)?;
            here(a, &mut one)?;
            a.nop()?;
            here(a, &mut other)?;
            a.dec(ecx)?;
            a.jne(again)
        })?;
    }
    // The returns are predicted rightly: the return stack has their addresses. One more jump leads around the function.
    for (what, same, wrong) in [("an indirect call, one target", true, 0), ("an indirect call, two targets", false, TURNS)] {
        measure(k, what, WARM, &outcomes.counts(2 * TURNS + 1, wrong), &|k| {
            clear_history(k)?;
            let a = &mut k.a;
            let (mut again, mut one, mut other, mut end) = (a.create_label(), a.create_label(), a.create_label(), a.create_label());
            targets(a, one, if same { one } else { other })?;
            here(a, &mut again)?;
            a.xor(rdx, rbx)?;
            a.call(rdx)?;
            a.dec(ecx)?;
            a.jne(again)?;
            a.jmp(end)?;
            here(a, &mut one)?;
            a.nop()?;
            here(a, &mut other)?;
            a.ret()?;
            here(a, &mut end)
        })?;
    }
    Ok(())
}

/// RDX alternates between two targets when RBX changes it; the loop takes [`TURNS`] turns.
fn targets(a: &mut CodeAssembler, one: CodeLabel, other: CodeLabel) -> Built<()> {
    a.lea(rdx, ptr(one))?;
    a.lea(rbx, ptr(other))?;
    a.xor(rbx, rdx)?;
    a.mov(ecx, TURNS as u32)
}
