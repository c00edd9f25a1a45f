"""Tests of fuzz/campaign, without building anything."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fuzz"))

from campaigns import record  # noqa: E402
from campaigns.record import Record  # noqa: E402
from planted import run  # noqa: E402
from planted.errors import Failure  # noqa: E402

FINDS = """#!/bin/sh
for word in "$@"; do
    case "$word" in -artifact_prefix=*) prefix="${word#*=}" ;; -seed=*) seed="${word#*=}" ;; esac
done
printf input > "${prefix}crash-1"
printf new > "$1/new"
printf '#1\\tINITED cov: 12 ft: 3\\n#7\\tNEW    cov: 34 ft: 9\\n\\nthread main panicked at k8.rs:1:1:\\nthe contract is broken with seed %s\\nstack backtrace:\\n   0: main\\n' "$seed"
exit 77
"""


class Records(unittest.TestCase):
    """What is kept from one run to the next."""

    def setUp(self) -> None:
        """A folder for files."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "record.json"

    def test_a_record_is_read_as_it_was_kept(self) -> None:
        """With its finds."""
        records = {"k8": Record(90.5, 1000, 20, 3, ["crash-1"])}
        record.save(self.path, records)
        self.assertEqual(record.load(self.path), records)

    def test_a_first_run_has_no_record(self) -> None:
        """It begins with nothing."""
        self.assertEqual(record.load(self.path), {})

    def test_a_file_that_is_no_record_is_refused_in_one_line(self) -> None:
        """It says what helps."""
        for text in ("{", "[]", '{"k8": {"hours": 1}}'):
            self.path.write_text(text)
            with self.assertRaisesRegex(Failure, r"^.*record.json is no record of a campaign \(.*\): remove it, .*$"):
                record.load(self.path)

    def test_the_table_has_a_line_for_each_target_that_ran_and_the_sum(self) -> None:
        """In the order that is asked for."""
        records = {"power9": Record(30, 60, 7, 2, []), "k8": Record(90, 90000, 20, 3, ["crash-1"])}
        lines = record.table(records, ["k8", "itanium", "power9"]).splitlines()[2:]
        self.assertEqual(
            lines,
            [
                "| `k8` | 1.5 | 90,000 | 1,000 | 20 | 3 | 1 |",
                "| `power9` | 0.5 | 60 | 2.0 | 7 | 2 | 0 |",
                "| **all** | 2.0 | 90,060 |  |  |  | 1 |",
            ],
        )


class Runs(unittest.TestCase):
    """What a target leaves behind."""

    def setUp(self) -> None:
        """A target that finds something at once."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "target"
        self.program.write_text(FINDS)
        self.program.chmod(0o755)

    def test_finds_and_inputs_are_kept_where_one_wants_them(self) -> None:
        """For the next run, and to look at."""
        kept = run.Kept(self.folder / "corpus", self.folder / "artifacts")
        done = run.fuzz(self.program, "k8", [], 5, kept, seed=3)
        self.assertEqual((done.found, done.edges), (True, 34))
        self.assertEqual(((kept.artifacts / "crash-1").read_text(), (kept.corpus / "new").read_text()), ("input", "new"))

    def test_a_find_is_shown_without_the_stack(self) -> None:
        """The program that shows it is what one reads."""
        self.assertEqual(run.fuzz(self.program, "k8", [], 5, seed=3).tail, "the contract is broken with seed 3")


if __name__ == "__main__":
    unittest.main()
