"""Tests of the comparison that need no QEMU: python3 -m unittest discover device/qemu/tests."""

import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit import bench, options  # noqa: E402
from kit.bench import CASES, GOALS, Goal, Series  # noqa: E402
from kit.errors import Failure  # noqa: E402


class Output(unittest.TestCase):
    """What is read from a guest's output."""

    def test_a_run_has_its_name_its_time_and_its_samples(self) -> None:
        """Other output of perf is ignored."""
        lines = [
            "@run loop attached",
            "@seconds 1.500000",
            "@run loop sampling",
            "@seconds 1.750000",
            "[ perf record: Woken up 1 times to write data ]",
            "[ perf record: Captured and wrote 0.216 MB /tmp/samples (7036 samples) ]",
        ]
        self.assertEqual(list(bench.runs(lines)), [(("loop", "attached"), 1.5, 0), (("loop", "sampling"), 1.75, 7036)])

    def test_a_run_without_a_name_is_left_out(self) -> None:
        """It warms up."""
        lines = ["@run ", "@seconds 0.100000", "@run gzip plain", "@seconds 2.000000"]
        self.assertEqual(list(bench.runs(lines)), [(("gzip", "plain"), 2.0, 0)])

    def test_a_run_without_a_time_fails(self) -> None:
        """The time of another run is not taken for it."""
        with self.assertRaisesRegex(Failure, "how long loop plain took"):
            list(bench.runs(["@run loop plain", "@run loop own", "@seconds 1.000000"]))

    def test_counters_that_take_turns_fail(self) -> None:
        """Otherwise fewer would be counted at once than the state's name says."""
        with self.assertRaisesRegex(Failure, "branches 66.67 %"):
            list(bench.runs(["@run loop counting", "@seconds 1.000000", "@count 51,,branches,464672300,66.67,,"]))

    def test_an_event_that_is_not_counted_fails(self) -> None:
        """perf continues without it."""
        with self.assertRaisesRegex(Failure, "<not supported>"):
            list(bench.runs(["@run loop counting", "@seconds 1.000000", "@count <not supported>,,branches,0,100.00,,"]))

    def test_a_counter_that_counted_all_the_time_passes(self) -> None:
        """The heading of perf's file is no counter."""
        lines = ["@run loop counting", "@seconds 1.0", "@count # started on Mon", "@count ", "@count 0,,branches,464672300,100.00,,"]
        self.assertEqual(list(bench.runs(lines)), [(("loop", "counting"), 1.0, 0)])


class Ratios(unittest.TestCase):
    """What is computed from the times."""

    def test_a_ratio_is_that_of_the_medians(self) -> None:
        """One slow run changes nothing."""
        results = {("loop", "plain"): Series([1.0, 2.0, 9.0]), ("loop", "attached"): Series([3.0, 2.5, 1.0])}
        self.assertEqual(bench.ratio(results, "loop", "attached", "plain"), 1.25)

    def test_the_spread_is_relative_to_the_median(self) -> None:
        """From the fastest run to the slowest."""
        self.assertEqual(Series([1.5, 2.0, 2.5]).spread, 0.5)

    def test_a_state_that_was_not_measured_has_no_ratio(self) -> None:
        """On some machines QEMU does not have its own PMU."""
        self.assertIsNone(bench.ratio({("loop", "plain"): Series([1.0])}, "loop", "own", "plain"))

    def test_per_instruction_the_guests_own_work_does_not_count(self) -> None:
        """Half as much time again for a quarter more instructions is 1.5 / 1.25 = 1.2 for each."""
        results = {("gzip", "counting"): Series([2.0], 1000), ("gzip", "sampling"): Series([3.0], 1250)}
        self.assertAlmostEqual(bench.ratio(results, "gzip", "sampling", "counting", per_instruction=True), 1.2)

    def test_a_sample_costs_what_sampling_takes_beyond_counting(self) -> None:
        """4,000,000 instructions and 10 ms for 2,000 samples."""
        results = {("gzip", "counting"): Series([1.0], 100_000_000), ("gzip", "sampling"): Series([1.01], 104_000_000, 2000)}
        instructions, microseconds = bench.each_sample(results, "gzip")
        self.assertEqual(instructions, 2000)
        self.assertAlmostEqual(microseconds, 5.0)

    def test_few_samples_do_not_tell_what_one_costs(self) -> None:
        """perf's work per run would be taken for theirs."""
        results = {("syscalls", "counting"): Series([1.0], 32_000_000), ("syscalls", "sampling"): Series([1.0], 32_020_000, 3)}
        self.assertIsNone(bench.each_sample(results, "syscalls"))

    def test_the_loop_has_a_limit_of_its_own(self) -> None:
        """1.2 is too much elsewhere."""
        results = {(name, state): Series([time]) for name in ("loop", "gzip") for state, time in (("plain", 1.0), ("counting", 1.2))}
        self.assertEqual(Goal("counting", "plain", 1.15, loop=1.25).missed(results), ["gzip"])

    def test_the_table_and_the_document_have_all_that_was_measured(self) -> None:
        """The boot has neither instructions nor samples."""
        results = {("loop", "plain"): Series([1.0]), ("boot", "plain"): Series([3.0]), ("loop", "attached"): Series([1.03], 5)}
        self.assertEqual([line.split()[:2] for line in bench.table(results)][1:], [["loop", "plain"], ["loop", "attached"], ["boot", "plain"]])
        self.assertEqual(bench.document(results)["workloads"]["loop"]["attached"]["ratio"], 1.03)
        self.assertEqual(list(bench.verdicts(results)), [f"missed  {GOALS[0]}: loop 1.030"])


class Recorder:
    """Stands in for a guest: it answers each run of its script with one second."""

    booted = 2.5

    def __init__(self, status: int = 0):
        """Keep the status of its command."""
        self.status = status

    def run(self, command: str, line) -> int:
        """Answer."""
        for text in command.splitlines():
            if text.startswith("echo '@run "):
                line(text.removeprefix("echo '").removesuffix("'").encode())
                line(b"@seconds 1.000000")
        return self.status


class Measuring(unittest.TestCase):
    """Which guests are run."""

    def measure(self, workloads: list[str], count: int) -> tuple[bench.Results, list[tuple]]:
        """The results, and how each guest was made."""
        made: list[tuple] = []

        def make(plain: bool, *more: str) -> Recorder:
            """A guest."""
            made.append((plain, *more))
            return Recorder()

        with mock.patch("sys.stderr", io.StringIO()):
            return bench.measure(CASES["power9"], make, count, workloads, 1.0), made

    def test_both_go_first_by_turns_and_instructions_are_counted_at_the_end(self) -> None:
        """A host that becomes slower affects both sides equally."""
        counting = (False, *bench.INSTRUCTIONS_AS_NANOSECONDS)
        self.assertEqual(self.measure(["loop"], 2)[1], [(True,), (False,), (False,), (True,), counting])

    def test_every_state_is_timed_in_every_run(self) -> None:
        """The warm-up before each is not among them."""
        results, _ = self.measure(["loop", "boot"], 3)
        expected = {("loop", state): [1.0] * 3 for state in ("plain", "own", "attached", "counting", "sampling", "misses", "predicted")}
        expected |= {("boot", "plain"): [2.5] * 3, ("boot", "attached"): [2.5] * 3}
        self.assertEqual({name: series.seconds for name, series in results.items()}, expected)

    def test_a_second_of_the_clock_that_counts_instructions_is_a_billion(self) -> None:
        """Only the states of QEMU with the PMU are counted."""
        results, _ = self.measure(["gzip"], 1)
        self.assertEqual([results["gzip", state].instructions for state in ("plain", "attached", "sampling")], [0, 10**9, 10**9])

    def test_the_boot_alone_needs_no_further_guest(self) -> None:
        """It executes nothing that could be counted."""
        self.assertEqual(self.measure(["boot"], 1)[1], [(True,), (False,)])

    def test_a_command_that_fails_ends_the_comparison(self) -> None:
        """Its last lines give the reason."""
        with mock.patch("sys.stderr", io.StringIO()), self.assertRaisesRegex(Failure, "status 3; its last lines:\n"):
            bench.measure(CASES["k8"], lambda plain, *more: Recorder(3), 1, ["loop"], 1.0)


class Builds(unittest.TestCase):
    """Which of the kit's builds is taken."""

    def test_the_newest_is_taken_that_has_the_pmu_or_that_has_not(self) -> None:
        """Numbers are compared as numbers."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("9.2.0", "10.0.13", "10.0.13-plain", "11.0.0-plain"):
                path = Path(folder) / "build" / name / "qemu"
                path.parent.mkdir(parents=True)
                path.touch()
            self.assertEqual(options.newest(Path(folder), "qemu", plain=False).parent.name, "10.0.13")
            self.assertEqual(options.newest(Path(folder), "qemu", plain=True).parent.name, "11.0.0-plain")


if __name__ == "__main__":
    unittest.main()
