//! Figures of the README that other pages or the library itself have too.

use std::fs;
use std::path::Path;

use vm_pmu::irq::Unconnected;
use vm_pmu::topology::Builder;

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect("the page is there")
}

/// The rows of a text's tables of two columns.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    cells.filter(|(what, figure)| !what.contains("---") && !figure.contains(" | "))
}

/// What the README says of `what`.
fn figure<'t>(readme: &'t str, what: &str) -> &'t str {
    rows(readme).find(|(row, _)| *row == what).unwrap_or_else(|| panic!("the README has no row `{what}`")).1
}

#[test]
fn costs_of_the_companion_are_those_of_its_chapter() {
    let (readme, chapter) = (text("README.md"), text("docs/src/companion.md"));
    let (_, table) = readme.split_once("The companion, measured with").expect("the README has a table");
    let (table, _) = table.split_once("\n## ").expect("it ends");
    assert!(rows(table).count() > 4);
    for row in rows(table) {
        assert!(rows(&chapter).any(|other| other == row), "docs/src/companion.md has another figure or none: {row:?}");
    }
}

/// Bytes in KiB, to the nearest.
fn kib(bytes: usize) -> usize {
    (bytes + 512) / 1024
}

#[test]
fn the_state_of_a_thread_is_as_large_as_the_readme_says() {
    let readme = text("README.md");
    let cells = ["k8", "knl", "power9", "itanium", "montecito"].map(|part| {
        let machine = Builder::new(part).unwrap().build(Unconnected).unwrap();
        let thread = machine.thread(0).unwrap();
        format!("{:.1}", (size_of_val(thread.totals()) + size_of_val(thread.deadlines())) as f64 / 1024.0)
    });
    let what = "totals and deadlines of one thread: K8, Knights Landing, POWER9, Itanium, Montecito";
    assert_eq!(figure(&readme, what), format!("{} KiB", cells.join(", ")));
    let registers = [
        size_of::<vm_pmu::arch::k8::K8>(),
        size_of::<vm_pmu::arch::knl::Knl>(),
        size_of::<vm_pmu::arch::power9::Power9>(),
        size_of::<vm_pmu::arch::itanium::Itanium>(),
        size_of::<vm_pmu::arch::montecito::Montecito>(),
    ];
    let registers: Vec<String> = registers.map(|bytes| format!("{:.1}", bytes as f64 / 1024.0)).to_vec();
    let what = "registers and counters of one thread: K8, Knights Landing, POWER9, Itanium, Montecito";
    assert_eq!(figure(&readme, what), format!("{} KiB, no heap", registers.join(", ")));
    let machine = Builder::new("k8").unwrap().build(Unconnected).unwrap();
    let more = Builder::new("k8").unwrap().threads(2).build(Unconnected).unwrap();
    let (one, another) = (kib(machine.footprint()), kib(more.footprint() - machine.footprint()));
    assert_eq!(figure(&readme, "a machine of one K8 thread; each further thread"), format!("{one} KiB; {another} KiB"));
}
