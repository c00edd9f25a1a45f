//! Completions and manual pages.

use super::{mistake, shown};

#[test]
fn every_shell_has_completions_of_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = shown(&["completions", shell]);
        for command in ["explain", "encode", "conformance", "litmus"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn bash_understands_its_completions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pmulab.bash");
    std::fs::write(&file, shown(&["completions", "bash"])).unwrap();
    // A host without Bash cannot check it.
    let Ok(status) = std::process::Command::new("bash").arg("-n").arg(&file).status() else { return };
    assert!(status.success());
}

#[test]
fn a_manual_page_is_printed_or_written_for_each_command() {
    // man(7): a page begins with its title by .TH, and has sections by .SH.
    let page = shown(&["man"]);
    assert!(page.contains(".TH pmulab 1") && page.contains(".SH NAME"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    shown(&["man", folder.path().to_str().unwrap()]);
    for name in ["pmulab.1", "pmulab-explain.1", "pmulab-conformance.1"] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    assert_eq!(mistake(&["man", "/nowhere"]), "`/nowhere` is no folder");
}

#[test]
fn what_is_piped_has_no_colours() {
    for arguments in [&["explain", "MMCR0"][..], &["conformance", "--pmu", "k8"], &["litmus", "--pmu", "k8", "--name", "keeps"]] {
        assert!(!shown(arguments).contains('\x1b'), "{arguments:?}");
    }
}
