//! The shared library exports what the header declares, and nothing else.

mod headers;
mod support;

use std::collections::BTreeSet;
use std::process::Command;

use headers::headers;

/// The functions that a file of the header declares: a name before a parenthesis at the end of a declaration that is not inline.
fn declared(header: &str) -> BTreeSet<String> {
    let Some(end) = header.find("}  // extern \"C\"") else { return BTreeSet::new() };
    let code = header[..end].lines().filter(|line| !line.trim_start().starts_with('*') && !line.trim_start().starts_with('/'));
    code.filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        let name = before.rsplit([' ', '*']).next()?;
        name.starts_with("vm_pmu_").then(|| name.to_owned())
    })
    .collect()
}

#[test]
fn exported_symbols_are_those_of_the_header() {
    if !support::is_there("nm", "exported_symbols_are_those_of_the_header") {
        return;
    }
    let declared: BTreeSet<String> = headers().iter().flat_map(|header| declared(header)).collect();
    let library = support::libraries().join("libvm_pmu_capi.so");
    let listed = support::succeed(Command::new("nm").args(["--dynamic", "--defined-only", "--format=posix"]).arg(library));
    let exported: BTreeSet<String> =
        String::from_utf8_lossy(&listed.stdout).lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert!(declared.contains("vm_pmu_read") && declared.len() > 20);
    assert_eq!(exported, declared);
}
