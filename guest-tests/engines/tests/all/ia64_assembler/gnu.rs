//! Against GNU `as`.

use std::fmt::Write as _;
use std::process::Command;

use super::cases::{Case, Unit, all, assembled};

const ASSEMBLER: &str = "ia64-linux-gnu-as";
const OBJCOPY: &str = "ia64-linux-gnu-objcopy";

/// What must be the last of its group.
const LAST: [&str; 4] = ["itc.d", "itc.i", "ptc.g ", "ptc.ga"];

/// A case in the bundle that `put` makes.
fn bundle(case: &Case) -> String {
    let text = case.qualified();
    match case.unit {
        Unit::M if LAST.iter().any(|last| case.text.starts_with(last)) => format!(".mmi; {text};; nop.m 0; nop.i 0"),
        Unit::M => format!(".mii; {text}; nop.i 0; nop.i 0"),
        Unit::I => format!(".mii; nop.m 0; {text}; nop.i 0"),
        Unit::F => format!(".mfi; nop.m 0; {text}; nop.i 0"),
        Unit::B => format!(".mib; nop.m 0; nop.i 0; {text}"),
        Unit::X => format!(".mlx; nop.m 0; {text}"),
    }
}

#[test]
fn gnu_as_makes_the_same_bundles() {
    let installed = |program| Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !installed(ASSEMBLER) || !installed(OBJCOPY) {
        eprintln!("gnu_as_makes_the_same_bundles: skipped, {ASSEMBLER} or {OBJCOPY} is not installed");
        return;
    }
    let cases = all();
    let mut source = String::from(".explicit\n.text\nfirst:\n");
    for case in &cases {
        // Each on its own line, so that the messages of `as` name it.
        writeln!(source, "{{ {} ;; }}", bundle(case)).unwrap();
    }
    source.push_str("end:\n");
    let directory = tempfile::tempdir().unwrap();
    let [input, object, binary] = ["cases.s", "cases.o", "cases.bin"].map(|name| directory.path().join(name));
    std::fs::write(&input, source).unwrap();
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new(ASSEMBLER).arg("--no-warn").arg("-o").arg(&object).arg(&input));
    run(Command::new(OBJCOPY).args(["-O", "binary", "-j", ".text"]).arg(&object).arg(&binary));
    let theirs = std::fs::read(&binary).unwrap();
    let ours = assembled(&cases);
    assert_eq!(ours.len(), theirs.len());
    let bundles = ours.chunks(16).zip(theirs.chunks(16));
    let wrong = cases.iter().zip(bundles).filter(|(_, (ours, theirs))| ours != theirs);
    let wrong: Vec<_> = wrong.map(|(case, (ours, theirs))| format!("{}: {ours:02x?}, not {theirs:02x?}", case.qualified())).collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), cases.len());
}
