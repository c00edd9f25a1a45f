//! What holds for all programs, and decoding against another disassembler.

use powerpc::{Extension, Extensions, Ins, Opcode};
use proptest::prelude::*;
use vm_pmu::arch::feed::BranchKind;
use vm_pmu::companion::AccessKind;
use vm_pmu::decode::power::decode;

use super::support::*;

/// Two CPUs that run words as a program, with an MSR like `state`.
pub(crate) fn machine_of(words: &[u32], state: u64, little_endian: bool) -> Machine<Recorder> {
    let mut a = Assembler::new(CODE, little_endian);
    for word in words {
        a.word(*word);
    }
    let mut image = Image::raw(CODE, a.finish().expect("words"));
    // Interrupts return.
    for at in (0x100..0x1000).step_by(0x20) {
        let mut a = Assembler::new(at, little_endian);
        if matches!(at, 0xE40 | 0xF80) {
            a.hrfid()
        } else {
            a.rfid()
        }
        image = image.with(at, a.finish().expect("assembles"));
    }
    let mut a = Assembler::new(0x1_0000, little_endian);
    a.load(R3, CODE);
    a.mtspr(spr::SRR0, R3);
    a.load(R4, state | if little_endian { 1 } else { 0 });
    a.mtspr(spr::SRR1, R4);
    a.load(R3, DATA);
    a.mr(R4, R3);
    a.rfid();
    image = image.with(0x1_0000, a.finish().expect("assembles"));
    image.entry = 0x1_0000;
    let config = Config { ram: 4 << 20, little_endian, cpus: 2, ..Config::default() };
    Machine::new(&config, &image, |_| Recorder::default()).expect("a machine")
}

/// Runs words as a program; returns how it ended and the state of the CPU.
fn run_words(words: &[u32], state: u64, little_endian: bool) -> (Exit, String, usize) {
    let mut machine = machine_of(words, state, little_endian);
    let exit = machine.run(Limits::steps(400));
    let view = format!("{:?}", machine.cpu(0).expect("a CPU"));
    (exit, view, machine.observer(0).expect("a CPU").steps.len())
}

/// A word that is an instruction more often than chance has it.
pub(crate) fn word() -> impl Strategy<Value = u32> {
    let primary = prop_oneof![4 => Just(31u32), 1 => Just(19), 1 => Just(30), 1 => Just(63), 1 => Just(59), 8 => 0u32..64];
    (primary, any::<u32>()).prop_map(|(primary, rest)| primary << 26 | rest & 0x03FF_FFFF)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_words_make_it_panic_and_all_end_alike_again(
        words in proptest::collection::vec(word(), 1..40),
        state in any::<u64>(),
        little_endian in any::<bool>(),
    ) {
        let state = state & !msr::TS & !msr::LE | msr::SF;
        prop_assert_eq!(run_words(&words, state, little_endian), run_words(&words, state, little_endian));
    }
}

/// What the disassembler knows and POWER9 does not have, or has under another name.
fn absent(op: Opcode) -> bool {
    use Opcode::*;
    matches!(
        op,
        Illegal | Rfi | Dcbi | Eciwx | Ecowx | Lswi | Lswx | Stswi | Stswx | Lmw | Stmw | Mcrxr | Mfsr | Mfsrin | Mtsr | Mtsrin | Mtsrd
            | Mtsrdin | Dss | Dst | Dstst | Lvebx | Lvehx | Lvewx | Lvlx | Lvlxl | Lvrx | Lvrxl | Lvsl | Lvsr | Lvx | Lvxl | Stvebx
            | Stvehx | Stvewx | Stvlx | Stvlxl | Stvrx | Stvrxl | Stvx | Stvxl
            // Not in the engine's part of floating point.
            | Fres | Frsqrte | Mcrfs | Mtfsb0 | Mtfsb1 | Mtfsfi | Fctiw
    )
}

/// The classes that instructions of a mnemonic can have.
fn classes(mnemonic: &str) -> Vec<Category> {
    use Category::{Branch, Cache, Condition, Fixed, Floating, Load, SpecialRegister, Store, Synchronize, System};
    let name = mnemonic.trim_end_matches('.');
    match name {
        "b" | "bl" | "ba" | "bla" | "bc" | "bcl" | "bca" | "bcla" | "bclr" | "bclrl" | "bcctr" | "bcctrl" => vec![Branch],
        "sync" | "eieio" | "isync" => vec![Synchronize],
        "dcbz" | "dcbzl" => vec![Store],
        "mfspr" | "mtspr" | "mftb" => vec![Fixed, SpecialRegister],
        "mcrf" => vec![Condition],
        "sc" | "rfid" | "mfmsr" | "mtmsr" | "mtmsrd" | "tlbie" | "tlbsync" | "slbie" | "slbia" => vec![System],
        _ if name.starts_with("cr") => vec![Condition],
        _ if name.starts_with("dcb") || name.starts_with("icb") => vec![Cache],
        _ if name.starts_with("st") => vec![Store],
        _ if name.starts_with('l') => vec![Load],
        _ if name.starts_with('f') || name == "mffs" || name == "mtfsf" => vec![Floating],
        _ => vec![Fixed],
    }
}

/// Facts that a word tells of its instruction before it is executed: its access but for a `stcx.`, which may fail, and its branch.
type Told = (Option<(bool, u16)>, Option<(BranchKind, Option<u64>)>, Option<Floating>);

/// The facts that a step reports.
fn executed(step: &Step) -> Told {
    let access = step.access.filter(|_| step.conditional.is_none()).map(|access| (access.store, access.size.into()));
    let branch = step.branch.map(|branch| (branch.form.kind(), (branch.form.through == Through::Immediate).then_some(branch.target)));
    (access, branch, step.floating)
}

/// The facts by the word alone.
fn described(word: u32) -> Told {
    let decoded = decode(word, CODE).expect("it was executed");
    let conditional = decoded.facts.reserves && decoded.facts.category == Category::Store;
    let accesses = decoded.description.accesses().iter().filter(|access| matches!(access.kind, AccessKind::Load | AccessKind::Store));
    let access = accesses.map(|access| (access.kind == AccessKind::Store, access.bytes)).next().filter(|_| !conditional);
    (access, decoded.description.branch.map(|branch| (branch.kind, branch.target)), decoded.facts.floating)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    /// The engine has all that the disassembler knows; the unit that executes it is the one its mnemonic names.
    #[test]
    fn the_engine_has_what_the_disassembler_names(word in word()) {
        let instruction = Ins::new(word, Extensions::from_extension(Extension::Ppc64));
        if absent(instruction.op) {
            return Ok(());
        }
        let mut a = Assembler::new(CODE, true);
        a.word(word);
        let image = Image::raw(CODE, a.finish().expect("a word"));
        let config = Config { ram: 4 << 20, ..Config::default() };
        let mut machine = Machine::new(&config, &image, |_| Recorder::default()).expect("a machine");
        machine.run(Limits::steps(1));
        let seen = machine.observer(0).expect("a CPU");
        let mnemonic = instruction.basic().mnemonic.trim_end_matches(['+', '-']);
        if let Some(step) = seen.steps.first() {
            prop_assert!(classes(mnemonic).contains(&step.category), "{} {:?}", mnemonic, step.category);
            prop_assert_eq!(executed(step), described(word), "{}", mnemonic);
        } else {
            // It is known, so it is not illegal, except invalid forms of updates and registers that do not exist.
            let update = mnemonic.ends_with('u') || mnemonic.ends_with("ux");
            let register = ["mfspr", "mtspr", "mftb", "bcctr", "bcctrl"].contains(&mnemonic);
            let illegal = seen.notices[0].taken == Taken::Interrupt(0xE40);
            prop_assert!(!illegal || update || register, "{}", mnemonic);
        }
    }
}

/// The disassembler's text of an instruction of the assembler.
fn text(build: impl FnOnce(&mut Assembler)) -> String {
    let mut a = Assembler::new(0, false);
    build(&mut a);
    let code = a.finish().expect("assembles");
    let word = u32::from_be_bytes(code.try_into().expect("one instruction"));
    Ins::new(word, Extensions::from_extension(Extension::Ppc64)).basic().to_string()
}

#[test]
fn the_assembler_writes_what_the_disassembler_reads() {
    let lines: [(Build, &str); 30] = [
        (|a| a.add(R3, R4, R5), "add r3, r4, r5"),
        (|a| a.subf_dot(R3, R4, R5), "subf. r3, r4, r5"),
        (|a| a.addi(R3, R4, -5), "addi r3, r4, -0x5"),
        (|a| a.mulhdu(R30, R31, R1), "mulhdu r30, r31, r1"),
        (|a| a.divd(R3, R4, R5), "divd r3, r4, r5"),
        (|a| a.and(R3, R4, R5), "and r3, r4, r5"),
        (|a| a.ori(R3, R4, 0x1234), "ori r3, r4, 0x1234"),
        (|a| a.rldicl(R3, R4, 40, 50), "rldicl r3, r4, 40, 50"),
        (|a| a.rldicr(R3, R4, 8, 33), "rldicr r3, r4, 8, 33"),
        (|a| a.rldimi(R3, R4, 8, 40), "rldimi r3, r4, 8, 40"),
        (|a| a.rlwinm(R3, R4, 5, 6, 7), "rlwinm r3, r4, 5, 6, 7"),
        (|a| a.sradi(R3, R4, 37), "sradi r3, r4, 37"),
        (|a| a.srawi(R3, R4, 7), "srawi r3, r4, 7"),
        (|a| a.extsw(R3, R4), "extsw r3, r4"),
        (|a| a.cntlzd(R3, R4), "cntlzd r3, r4"),
        (|a| a.cmpd(CR3, R4, R5), "cmp cr3, 1, r4, r5"),
        (|a| a.cmplwi(CR7, R4, 9), "cmpli cr7, 0, r4, 0x9"),
        (|a| a.ld(R3, -8, R4), "ld r3, -0x8(r4)"),
        (|a| a.stdu(R1, -64, R1), "stdu r1, -0x40(r1)"),
        (|a| a.lwa(R3, 12, R4), "lwa r3, 0xc(r4)"),
        (|a| a.lwbrx(R3, R4, R5), "lwbrx r3, r4, r5"),
        (|a| a.stdcx_dot(R3, R4, R5), "stdcx. r3, r4, r5"),
        (|a| a.lfd(F3, 8, R4), "lfd f3, 0x8(r4)"),
        (|a| a.fmadd(F1, F2, F3, F4), "fmadd f1, f2, f3, f4"),
        (|a| a.fmul(F1, F2, F3), "fmul f1, f2, f3"),
        (|a| a.mtctr(R3), "mtspr CTR, r3"),
        (|a| a.crxor(1, 2, 3), "crxor gt, eq, un"),
        (|a| a.tdi(4, R3, 7), "tdi 4, r3, 0x7"),
        (|a| a.rfid(), "rfid"),
        (|a| a.isync(), "isync"),
    ];
    for (build, line) in lines {
        assert_eq!(text(build), line);
    }
}

#[test]
fn the_assembler_refuses_what_does_not_fit() {
    let refused = |build: &dyn Fn(&mut Assembler)| {
        let mut a = Assembler::new(CODE, true);
        build(&mut a);
        a.finish().is_err()
    };
    assert!(refused(&|a| a.addi(R3, R3, 0x8000)));
    assert!(refused(&|a| a.ld(R3, 6, R3)));
    assert!(refused(&|a| a.ori(R3, R3, 0x1_0000)));
    assert!(refused(&|a| {
        let label = a.label();
        a.b(label);
    }));
    assert!(refused(&|a| {
        let label = a.mark();
        a.here(label);
    }));
    assert!(refused(&|a| {
        let label = a.label();
        a.beq(label);
        a.skip_to(CODE + 0x8000);
        a.here(label);
    }));
    assert!(!refused(&|a| {
        let label = a.label();
        a.beq(label);
        a.skip_to(CODE + 0x7FFC);
        a.here(label);
    }));
}
