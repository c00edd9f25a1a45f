"""Tests of fuzz/power that compile nothing: python3 -m unittest discover --start-directory fuzz/tests."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from planted import fault, run, table  # noqa: E402
from planted.errors import Failure  # noqa: E402
from planted.fault import Fault  # noqa: E402
from planted.run import Kept, Run  # noqa: E402
from planted.table import Result  # noqa: E402
from planted.tree import Tree  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

DIFF = """--- a/arch/src/k8/a.rs
+++ b/arch/src/k8/a.rs
@@ -2,5 +2,5 @@
 zero
 one
-two
+three
 four
 five
"""
HEADER = "Breaks: a rule.\nKind: comparison\nTargets: k8 snapshot\n"


def planted(title: str, file: str = "arch/src/k8/a.rs", targets: tuple[str, ...] = ("k8",)) -> Fault:
    """A fault in a file."""
    part, _, name = title.partition("/")
    return Fault(part, name, "a rule.", "comparison", targets, (), DIFF.replace("arch/src/k8/a.rs", file))


class Header(unittest.TestCase):
    """What a patch says of itself."""

    def test_the_lines_before_the_diff_are_the_header(self) -> None:
        """Each has a field."""
        read = fault.parse("k8", "a", f"{HEADER}Short: snapshot\n\n{DIFF}")
        self.assertEqual((read.title, read.kind, read.targets, read.short), ("k8/a", "comparison", ("k8", "snapshot"), ("snapshot",)))
        self.assertEqual((read.files, read.family, read.diff), (("arch/src/k8/a.rs",), "k8", DIFF))

    def test_a_field_that_lacks_is_refused(self) -> None:
        """With the name of the field."""
        with self.assertRaisesRegex(Failure, "^k8/a lacks the line 'Kind: ...'$"):
            fault.parse("k8", "a", HEADER.replace("Kind: comparison\n", "") + DIFF)

    def test_a_kind_that_is_none_is_refused(self) -> None:
        """With those that are."""
        with self.assertRaisesRegex(Failure, "k8/a: typo is no kind; these are: comparison, "):
            fault.parse("k8", "a", HEADER.replace("comparison", "typo") + DIFF)

    def test_a_target_that_is_none_is_refused(self) -> None:
        """Its name is in the message."""
        with self.assertRaisesRegex(Failure, "k8/a: k9 is no target"):
            fault.parse("k8", "a", HEADER.replace("Targets: k8", "Targets: k9") + DIFF)

    def test_a_short_form_with_another_target_is_refused(self) -> None:
        """It runs some of those that the patch names."""
        with self.assertRaisesRegex(Failure, "k8/a: the short form names knl_tile, which is none of its targets: k8, snapshot"):
            fault.parse("k8", "a", f"{HEADER}Short: knl_tile\n\n{DIFF}")

    def test_code_outside_the_parts_belongs_to_no_family(self) -> None:
        """It is in the targets of all parts."""
        self.assertIsNone(planted("shared/a", "arch/src/feed/a.rs").family)


class Choice(unittest.TestCase):
    """Which faults are planted, and together with which others."""

    def test_a_pattern_names_faults_by_part_and_name(self) -> None:
        """As the shell's."""
        faults = [planted("k8/a"), planted("k8/b"), planted("power9/a")]
        self.assertEqual([one.title for one in fault.choose(faults, ["k8/*"], False)], ["k8/a", "k8/b"])

    def test_a_pattern_that_names_nothing_is_refused(self) -> None:
        """It is a mistake."""
        with self.assertRaisesRegex(Failure, "no fault is called k9/"):
            fault.choose([planted("k8/a")], ["k9/*"], False)

    def test_a_short_form_without_faults_is_refused(self) -> None:
        """It would pass."""
        with self.assertRaisesRegex(Failure, "none of these faults is in the short form"):
            fault.choose([planted("k8/a")], [], True)

    def test_the_short_form_runs_its_own_targets(self) -> None:
        """Others of the patch are not built."""
        faults = [fault.parse("k8", "a", f"{HEADER}Short: snapshot\n\n{DIFF}"), planted("k8/b")]
        self.assertEqual([(one.title, one.targets) for one in fault.choose(faults, [], True)], [("k8/a", ("snapshot",))])

    def test_faults_of_different_parts_share_a_build(self) -> None:
        """Two of one part do not."""
        faults = [planted("k8/a"), planted("k8/b"), planted("power9/a", "arch/src/power9/a.rs", ("power9",))]
        built = [[one.title for one in batch] for batch in fault.batches(faults)]
        self.assertEqual(built, [["k8/a", "power9/a"], ["k8/b"]])

    def test_a_shared_fault_is_alone(self) -> None:
        """Else it could be found in the place of another."""
        faults = [planted("shared/a", "arch/src/feed/a.rs"), planted("power9/a", "arch/src/power9/a.rs", ("power9",))]
        self.assertEqual([len(batch) for batch in fault.batches(faults)], [1, 1])

    def test_faults_with_a_target_in_common_are_apart(self) -> None:
        """Else one would be found for the other."""
        faults = [planted("k8/a", targets=("snapshot",)), planted("power9/a", "arch/src/power9/a.rs", ("snapshot",))]
        self.assertEqual([len(batch) for batch in fault.batches(faults)], [1, 1])

    def test_parts_are_compared_with_their_references_together(self) -> None:
        """One fault of each; a shared one could fail the comparison of another part."""
        faults = [planted("k8/a"), planted("k8/b"), planted("shared/a", "arch/src/feed/a.rs"), planted("power9/a", "arch/src/power9/a.rs")]
        built = [[one.title for one in batch] for batch in fault.families(faults)]
        self.assertEqual(built, [["k8/a", "power9/a"], ["k8/b"]])


class Copy(unittest.TestCase):
    """The copy of the repository."""

    def setUp(self) -> None:
        """A repository with one file."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name) / "root"
        self.file = root / "arch/src/k8/a.rs"
        self.file.parent.mkdir(parents=True)
        self.file.write_text("begin\nzero\none\ntwo\nfour\nfive\nend\n")
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        # Within the repository, as the program has it.
        (root / ".gitignore").write_text("work\n")
        self.tree = Tree(root, root / "work")
        self.tree.sync()
        self.copy = self.tree.folder / "arch/src/k8/a.rs"

    def test_a_fault_is_in_the_copy_alone_and_for_a_while(self) -> None:
        """The repository stays as it is."""
        with self.tree.planted([planted("k8/a")]):
            self.assertEqual(self.copy.read_text(), "begin\nzero\none\nthree\nfour\nfive\nend\n")
            self.assertEqual(self.file.read_text(), "begin\nzero\none\ntwo\nfour\nfive\nend\n")
        self.assertEqual(self.copy.read_text(), "begin\nzero\none\ntwo\nfour\nfive\nend\n")

    def test_a_folder_that_is_named_from_here_is_the_same_elsewhere(self) -> None:
        """Targets run in a folder of their own."""
        self.assertTrue(Tree(ROOT, Path("work")).folder.is_absolute())

    def test_a_fault_is_taken_out_after_an_error(self) -> None:
        """So that the next one is alone."""
        with self.assertRaises(Failure), self.tree.planted([planted("k8/a")]):
            raise Failure("it does not build")
        self.assertEqual(self.copy.read_text(), "begin\nzero\none\ntwo\nfour\nfive\nend\n")

    def test_a_patch_applies_where_lines_beyond_its_neighbours_have_changed(self) -> None:
        """One line of context on either side is enough."""
        self.file.write_text("begin\nmore\nnull\none\ntwo\nfour\nend\n")
        self.tree.sync()
        self.tree.check([planted("k8/a")])

    def test_a_patch_whose_place_is_gone_is_refused(self) -> None:
        """In one line."""
        self.file.write_text("begin\nzero\none\nfour\nfive\nend\n")
        self.tree.sync()
        with self.assertRaisesRegex(Failure, "^k8/a no longer applies: make its patch again .*$"):
            self.tree.check([planted("k8/a")])

    def test_a_file_that_is_the_same_is_not_written(self) -> None:
        """Cargo would compile it again."""
        before = self.copy.stat().st_mtime_ns
        self.tree.sync()
        self.assertEqual(self.copy.stat().st_mtime_ns, before)

    def test_what_is_gone_from_the_repository_is_gone_from_the_copy(self) -> None:
        """And what an earlier run left in it."""
        self.file.unlink()
        self.tree.sync()
        self.assertFalse(self.copy.exists())


class Running(unittest.TestCase):
    """A target that runs."""

    def setUp(self) -> None:
        """A program that fails as libFuzzer does if it finds no seeds."""
        folder = tempfile.TemporaryDirectory(dir=".")
        self.addCleanup(folder.cleanup)
        self.here = Path(Path(folder.name).name)
        (self.here / "seeds").mkdir()
        self.program = self.here / "target"
        self.program.write_text('#!/bin/sh\n[ -d "$1" ] && [ -d "$2" ] && echo "stat::number_of_executed_units: 3"\n')
        self.program.chmod(0o755)

    def test_folders_that_are_named_from_here_are_found(self) -> None:
        """Though the target runs in a folder of its own."""
        kept = Kept(self.here / "corpus", self.here / "artifacts")
        self.assertEqual(run.fuzz(self.program, "k8", [self.here / "seeds"], 5, kept).executions, 3)


class Output(unittest.TestCase):
    """What is read from the programs' output."""

    def test_the_executions_are_those_of_the_final_statistics(self) -> None:
        """The lines before have fewer."""
        self.assertEqual(run.executions("#2\tINITED cov: 5\n#8192\tpulse\nstat::number_of_executed_units: 9001\n"), 9001)

    def test_without_statistics_the_last_line_counts(self) -> None:
        """As of a target that was ended."""
        self.assertEqual(run.executions("#2\tINITED cov: 5\n#8192\tpulse cov: 7\n"), 8192)

    def test_failed_tests_are_named(self) -> None:
        """Those of the documentation by their place."""
        text = "test a::b ... ok\ntest a::c ... FAILED\ntest src/lib.rs - d (line 5) ... FAILED\n"
        self.assertEqual(run.failed_tests(text), ["a::c", "src/lib.rs"])


class Tables(unittest.TestCase):
    """What the book shows."""

    def results(self) -> list[Result]:
        """One fault that a target found, and one that a test alone caught."""
        found = Result(planted("k8/a"), {"k8": Run(True, 1.25, 1000)}, True, ("vm-pmu-arch", "a::c"))
        missed = Result(planted("k8/b"), {"k8": Run(False, 60.0, 50000)}, True, ("vm-pmu", "d"))
        return [found, missed]

    def test_a_part_has_its_share(self) -> None:
        """Of all is the last line."""
        lines = table.shares(self.results(), "part", lambda result: result.fault.part, ["k8"])
        self.assertEqual(lines[-2:], ["| k8 | 2 | 1 (50 %) | 2 of 2 |", "| **all** | 2 | 1 (50 %) | 2 of 2 |"])

    def test_a_target_has_the_time_of_its_finds(self) -> None:
        """Those that it missed have none."""
        self.assertEqual(table.by_target(self.results())[-1], "| `k8` | 2 | 1 (50 %) | 1.2 |")

    def test_a_fault_has_what_found_it(self) -> None:
        """A target, and a test."""
        lines = table.by_fault(self.results())
        self.assertEqual(lines[2], "| `k8/a` | a rule. | `k8` | 1.2 | vm-pmu-arch: `a::c` |")
        self.assertEqual(lines[3], "| `k8/b` | a rule. | - |  | vm-pmu: `d` |")

    def test_a_share_is_all_only_if_it_is(self) -> None:
        """It is not rounded up."""
        self.assertEqual([table.percent(199, 200), table.percent(200, 200), table.percent(0, 0)], ["99 %", "100 %", "-"])

    def test_tables_replace_those_of_an_earlier_run(self) -> None:
        """The text around them stays."""
        page = table.replaced("# Title\n\nText.\n", "first\n")
        self.assertEqual(table.replaced(page + "More.\n", "second\n"), page.replace("first", "second") + "More.\n")

    def test_results_of_a_patch_that_has_changed_are_dropped(self) -> None:
        """The others are as they were kept."""
        saved = table.kept({result.fault.title: result for result in self.results()}, {})
        changed = planted("k8/b", "arch/src/k8/b.rs")
        again = table.restored(saved, [planted("k8/a"), changed])
        self.assertEqual(list(again), ["k8/a"])
        self.assertEqual(again["k8/a"].runs["k8"], Run(True, 1.25, 1000))

    def test_a_run_of_some_faults_keeps_the_results_of_the_others(self) -> None:
        """A later run has them all."""
        first, second = self.results()
        earlier = table.kept({first.fault.title: first}, {})
        kept = table.kept({second.fault.title: second}, earlier)
        self.assertEqual(sorted(table.restored(kept, [first.fault, second.fault])), ["k8/a", "k8/b"])


class Suite(unittest.TestCase):
    """The faults that there are."""

    def test_there_are_sixty_or_more(self) -> None:
        """Fewer measure little."""
        self.assertGreaterEqual(len(fault.load(ROOT / "fuzz/faults")), 60)

    def test_there_are_some_of_every_kind(self) -> None:
        """A kind without faults would show nothing."""
        self.assertEqual({one.kind for one in fault.load(ROOT / "fuzz/faults")}, set(fault.KINDS))

    def test_the_short_form_has_one_of_each_part(self) -> None:
        """Each part has its own target."""
        faults = fault.load(ROOT / "fuzz/faults")
        self.assertEqual(sorted(one.part for one in faults if one.short), sorted({one.part for one in faults}))

    def test_a_changed_repository_still_takes_every_patch(self) -> None:
        """Checked without a copy: nothing is written."""
        for one in fault.load(ROOT / "fuzz/faults"):
            command = ["git", "apply", "-C1", "--check", "-"]
            done = subprocess.run(command, cwd=ROOT, input=one.diff, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{one.title} no longer applies: make its patch again")

    def test_every_target_of_a_fault_is_one_of_the_fuzzer(self) -> None:
        """Else nothing could build it."""
        for target in fault.TARGETS:
            self.assertTrue((ROOT / f"fuzz/fuzz_targets/{target}.rs").is_file(), target)


if __name__ == "__main__":
    unittest.main()
