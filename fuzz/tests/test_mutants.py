"""Tests of fuzz/mutants that compile nothing: python3 -m unittest discover --start-directory fuzz/tests."""

import json
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mutation import mutant as mutants_of  # noqa: E402
from mutation import reason, stage, table  # noqa: E402
from mutation.mutant import Mutant, Result  # noqa: E402
from mutation.reason import Reason  # noqa: E402
from planted.errors import Failure  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def mutant(change: str = "replace + with - in f", file: str = "arch/src/k8/a.rs", line: str = "a + b") -> Mutant:
    """A mutant in a file."""
    return Mutant(f"{file}:7:5: {change}", file, line)


def result(outcome: str, stage_name: str = "litmus files", **fields: str) -> Result:
    """What became of one."""
    return Result(mutant(**fields), outcome, stage_name)


class Names(unittest.TestCase):
    """What a name says."""

    def test_the_place_is_not_of_the_change(self) -> None:
        """Which may have colons of its own."""
        read = mutant("replace a::f -> u8 with T::new(0)")
        self.assertEqual((read.change, read.place), ("replace a::f -> u8 with T::new(0)", "arch/src/k8/a.rs:7"))

    def test_a_part_is_a_folder_below_the_source(self) -> None:
        """Folders in it belong to it; files beside it to the source folder."""
        files = ["arch/src/knl/untile/unit.rs", "arch/src/knl/mod.rs", "arch/src/layout.rs", "device/src/pci/mod.rs"]
        self.assertEqual([mutant(file=file).part for file in files], ["arch/src/knl", "arch/src/knl", "arch/src", "device/src/pci"])

    def test_a_listed_mutant_knows_its_line(self) -> None:
        """Without the spaces before it."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.rs").write_text("fn f() {\n    a + b\n}\n", encoding="utf-8")
            listed = [{"name": "a.rs:2:7: replace + with -", "file": "a.rs", "span": {"start": {"line": 2, "column": 7}}}]
            self.assertEqual(mutants_of.mutants(listed, Path(folder)), [Mutant("a.rs:2:7: replace + with -", "a.rs", "a + b")])


    def test_a_part_is_examined_alone(self) -> None:
        """With all else that the configuration says."""
        text = (ROOT / ".cargo/mutants.toml").read_text(encoding="utf-8")
        whole, folder, file = [tomllib.loads(one) for one in (text, mutants_of.only("arch/src/k8/", text), mutants_of.only("arch/src/layout.rs", text))]
        self.assertEqual((folder.pop("examine_globs"), file.pop("examine_globs")), (["arch/src/k8/**/*.rs"], ["arch/src/layout.rs"]))
        del whole["examine_globs"]
        self.assertEqual([folder, file], [whole, whole])


class Outcomes(unittest.TestCase):
    """What cargo-mutants found out."""

    def test_each_mutant_has_its_outcome_and_the_baseline_none(self) -> None:
        """The names are cargo-mutants' own."""
        scenarios = [("Baseline", "Success")]
        scenarios += [({"Mutant": {"name": name}}, name) for name in ("CaughtMutant", "MissedMutant", "Timeout", "Unviable")]
        text = json.dumps({"outcomes": [{"scenario": scenario, "summary": summary} for scenario, summary in scenarios]})
        expected = {"CaughtMutant": "caught", "MissedMutant": "missed", "Timeout": "timeout", "Unviable": "unviable"}
        self.assertEqual(mutants_of.outcomes(text), expected)

    def test_a_result_is_forgotten_when_its_line_changes(self) -> None:
        """Or its column, since the line has another mutant there."""
        old = result("caught")
        saved = json.loads(json.dumps(mutants_of.kept({old.mutant.name: old})))
        self.assertEqual(mutants_of.restored(saved, [mutant()]), {old.mutant.name: old})
        other = Mutant("arch/src/k8/a.rs:7:9: replace + with - in f", "arch/src/k8/a.rs", "a + b")
        self.assertEqual(mutants_of.restored(saved, [mutant(line="a + c"), mutant(change="replace + with * in f"), other]), {})

    def test_a_result_follows_its_line(self) -> None:
        """Unless the file has another like it."""
        old = result("missed")
        moved, again = (Mutant(f"arch/src/k8/a.rs:{line}:5: replace + with - in f", "arch/src/k8/a.rs", "a + b") for line in (9, 12))
        saved = mutants_of.kept({old.mutant.name: old})
        self.assertEqual(mutants_of.restored(saved, [moved]), {moved.name: Result(moved, "missed", "litmus files")})
        self.assertEqual(mutants_of.restored(saved, [moved, again]), {})
        self.assertEqual(list(mutants_of.restored(saved, [mutant(), again])), [old.mutant.name])


class Stages(unittest.TestCase):
    """Which tests run."""

    def test_the_build_is_told_what_the_tests_are_told(self) -> None:
        """So that only the tests of the stage are built."""
        words = stage.command(stage.STAGES[0], Path("tree"), Path("out"), ["--shard", "1/9"])
        self.assertIn("--cargo-arg=--test=suite", words)
        self.assertEqual((words[-4:], words[words.index("--test-package") + 1]), (["--shard", "1/9", "--", "--"], "vm-pmu"))

    def test_the_modules_of_a_stage_are_what_its_program_is_told(self) -> None:
        """Behind what cargo test is told."""
        boxes = next(each for each in stage.STAGES if each.name == "tests of chips")
        words = stage.command(boxes, Path("tree"), Path("out"), ["--shard", "1/9"])
        self.assertEqual(words[-6:], ["--", "--", "nest::", "nest_command::", "collection::", "tree::"])
        self.assertIn("--cargo-arg=--test=all", words)

    def test_every_module_that_a_stage_names_is_one_of_the_device(self) -> None:
        """A name that fits no test would let every mutant pass."""
        folder = ROOT / "device/tests/all"
        modules = {path.stem for path in folder.iterdir()}
        self.assertLessEqual({test.removesuffix("::") for each in stage.STAGES for test in each.tests}, modules)

    def test_a_mutant_goes_on_with_the_tests_that_it_has_not_met(self) -> None:
        """And begins anew when it has met all."""
        one = mutant(file="device/src/kvm/a.rs")
        after = {last: [each.name for each in stage.STAGES if each.meets(one, last)] for last in ("litmus files", "tests of KVM", "all tests of vm-pmu")}
        self.assertEqual(after["litmus files"], ["unit tests of vm-pmu", "tests of KVM", "all tests of vm-pmu"])
        self.assertEqual(after["tests of KVM"], ["all tests of vm-pmu"])
        self.assertEqual(after["all tests of vm-pmu"], ["litmus files", *after["litmus files"]])

    def test_every_stage_runs_a_package_of_the_workspace(self) -> None:
        """By its name."""
        manifests = [tomllib.loads(path.read_text(encoding="utf-8")) for path in ROOT.glob("*/Cargo.toml")]
        manifests += [tomllib.loads(path.read_text(encoding="utf-8")) for path in ROOT.glob("fuzz/*/Cargo.toml")]
        names = {manifest["package"]["name"] for manifest in manifests if "package" in manifest}
        self.assertLessEqual({each.package for each in stage.STAGES}, names)


class Reasons(unittest.TestCase):
    """Why a mutant is not caught."""

    def test_a_pattern_takes_brackets_for_letters(self) -> None:
        """They are frequent in types."""
        holds = Reason("arch/src/k8/a.rs", "replace f -> [u8; 2] with *", "why").holds
        self.assertTrue(holds(mutant("replace f -> [u8; 2] with [0; 2]")))
        self.assertFalse(holds(mutant("replace f -> [u8; 3] with [0; 3]")))

    def test_a_line_tells_equal_changes_apart(self) -> None:
        """By what is in it."""
        one = Reason("arch/src/k8/a.rs", "replace + with - in f", "why", "c + d")
        self.assertEqual([one.holds(mutant(line=line)) for line in ("a + b", "x(c + d)")], [False, True])

    def test_an_entry_with_another_field_is_refused(self) -> None:
        """It would be a misspelt one."""
        with self.assertRaisesRegex(Failure, "an entry has file, change and reason"):
            reason.parse('[[survivor]]\nfile = "a"\nchange = "b"\nreasons = "c"\n')

    def test_every_reason_of_the_repository_is_about_a_file_that_is_there(self) -> None:
        """A file may have been moved."""
        for one in reason.parse((ROOT / "fuzz/mutants.toml").read_text(encoding="utf-8")):
            self.assertTrue((ROOT / one.file).is_file(), one)


class Tables(unittest.TestCase):
    """The tables of the page."""

    def test_the_interval_is_wilsons(self) -> None:
        """95 of 100: z is 1.96, z x z 3.8415. The centre is (0.95 + 3.8415 / 200) / 1.038415 = 0.93335, half the width 0.04510."""
        low, high = table.wilson(95, 100)
        self.assertAlmostEqual(low, 0.8882, places=4)
        self.assertAlmostEqual(high, 0.9785, places=4)

    def test_nothing_tried_says_nothing(self) -> None:
        """Any share is possible."""
        self.assertEqual(table.wilson(0, 0), (0.0, 1.0))

    def test_a_timeout_is_a_catch_and_what_does_not_compile_is_no_mutant(self) -> None:
        """Three of four viable ones are caught."""
        tried = [result("caught"), result("caught"), result("timeout"), result("missed"), result("unviable")]
        cells = [cell.strip() for cell in table.score("k8", 1234, tried, []).split("|")[1:-1]]
        self.assertEqual(cells[:11], ["k8", "1,234", "5", "1", "4", "2", "1", "1", "1", "0", "75.0 %"])

    def test_a_missed_mutant_that_has_met_all_tests_has_none_left(self) -> None:
        """Whether it has a reason is another matter."""
        tried = [result("missed"), result("missed", stage.STAGES[-1].name)]
        cells = [cell.strip() for cell in table.score("k8", 2, tried, []).split("|")[1:-1]]
        self.assertEqual(cells[7:10], ["2", "1", "0"])

    def test_each_crate_has_a_score_and_both_together_have_none(self) -> None:
        """The shares of the crates that were tried may differ."""
        files = ["arch/src/k8/a.rs", "arch/src/x86/a.rs", "device/src/pci/a.rs"]
        lines = table.scores([mutant(file=file) for file in files], [result("caught")], [])
        self.assertEqual([line.split("|")[1].strip() for line in lines[-2:]], ["**arch**", "**device**"])
        self.assertEqual([line.split("|")[2].strip() for line in lines[-2:]], ["2", "1"])

    def test_a_survivor_without_a_reason_is_shown_as_such(self) -> None:
        """And one with a reason has it."""
        missed = [result("missed", change="replace | with ^ in f"), result("missed", change="replace a with b in g")]
        lines = table.survivors(missed, [Reason("arch/src/k8/a.rs", "replace | *", "the bits are never both set")])
        self.assertTrue(lines[2].endswith("`replace a with b in g` | **no reason yet**; it met all tests up to: litmus files |"))
        self.assertTrue(lines[3].endswith("`replace \\| with ^ in f` | the bits are never both set |"))

    def test_only_what_is_between_the_marks_is_replaced(self) -> None:
        """The rest of a page is written by hand."""
        page = table.replaced("# Mutants\n\nText.\n", "one\n")
        again = table.replaced(page + "\nAfter.\n", "two\n")
        self.assertIn("Text.", again)
        self.assertIn("two", again)
        self.assertNotIn("one", again)
        self.assertTrue(again.endswith("\nAfter.\n"))


class Commands(unittest.TestCase):
    """The command line."""

    def test_a_shard_beyond_the_last_is_refused(self) -> None:
        """They count from 0."""
        done = subprocess.run([str(ROOT / "fuzz/mutants"), "--shard", "4/4"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a shard is K/N, with K from 0 to N-1", done.stderr)


if __name__ == "__main__":
    unittest.main()
