"""Compares QEMU without and with the PMU: how long the same work takes in guests."""

import re
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kit.errors import Failure
from kit.guest import Guest

# The workloads that are timed in a guest; the time until its command begins is one more.
BOOT = "boot"
WORKLOADS = ("loop", "gzip", "syscalls", BOOT)

# QEMU then counts instructions, and its clock, and so the guest's, advances by a nanosecond with each.
INSTRUCTIONS_AS_NANOSECONDS = ("-icount", "shift=0,sleep=off")

# A short run before each timed one translates its code.
WARM_UP = 20

# When Linux starts the first process, one of its own threads works for another second: the guest waits until it was idle for that long.
_IDLE = """\
idle() { awk '/^cpu / { print $5 }' /proc/stat; }
until before=$(idle); sleep 1; [ $(($(idle) - before)) -ge 90 ]; do :; done"""

# With fewer samples than this, perf's work per run is not small compared with its work per sample.
ENOUGH_SAMPLES = 1000

# What the guest prints: before a run, with its name unless it is a warm-up; for its time (the program `seconds`); and for its counts.
_RUN = "@run "
_SECONDS = "@seconds "
_COUNT = "@count "
_SAMPLES = re.compile(r"\((\d+) samples\)")


@dataclass(frozen=True)
class State:
    """What QEMU or its PMU does during a run; `before` is put before a command of the guest."""

    name: str
    before: str = ""


@dataclass(frozen=True)
class Case:
    """What is compared on a machine: the counted events, and the amount of work of each workload."""

    machine: str
    events: str
    amounts: dict[str, int]
    # QEMU has its own PMU there.
    own: bool = False
    append: str = ""

    def states(self, plain: bool) -> list[State]:
        """The states that are timed in one guest, without or with the PMU."""
        counting = "perf stat -x, -o /tmp/counts -e"
        if plain:
            return [State("plain")] + [State("own", f"{counting} {self.events}")] * self.own
        return [
            State("attached"),
            State("counting", f"{counting} {self.events}"),
            State("sampling", "perf record -c 100000 -e instructions:u -o /tmp/samples"),
            # The companion follows the CPU.
            State("misses", f"{counting} L1-dcache-load-misses"),
            State("predicted", f"{counting} branch-misses"),
        ]


CASES = {
    case.machine: case
    for case in (
        Case(
            machine="k8",
            events="instructions,cycles,branches,instructions:u",
            amounts={"loop": 800_000_000, "gzip": 1_000_000, "syscalls": 2_000_000},
            # Linux measures the TSC's frequency when it starts, and is wrong by a large factor if the host was busy then.
            append="clocksource=acpi_pm tsc=unstable",
        ),
        Case(
            machine="power9",
            events="instructions,cycles,branches,instructions:u,cycles:u,r400fa:u",
            amounts={"loop": 800_000_000, "gzip": 800_000, "syscalls": 600_000},
            own=True,
        ),
    )
}


@dataclass
class Series:
    """The same work in the same state, in several runs; `instructions` are all that the guest executed, in a separate run."""

    seconds: list[float] = field(default_factory=list)
    instructions: int = 0
    samples: int = 0

    @property
    def median(self) -> float:
        """The median time of a run, in seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """How far the runs are apart, relative to the median."""
        return (max(self.seconds) - min(self.seconds)) / self.median


# By workload and state.
Results = dict[tuple[str, str], Series]


def ratio(results: Results, workload: str, state: str, base: str, per_instruction: bool = False) -> float | None:
    """How a state's time compares with that of another, or its time per instruction of the guest; None if one was not measured."""
    series, other = results.get((workload, state)), results.get((workload, base))
    if not series or not other:
        return None
    if not per_instruction:
        return series.median / other.median
    if not series.instructions or not other.instructions:
        return None
    return series.median / other.median * other.instructions / series.instructions


@dataclass(frozen=True)
class Goal:
    """The most that a state may cost, as a ratio to another, in these workloads; `loop` is the limit of the loop, if it differs."""

    state: str
    base: str
    limit: float
    loop: float | None = None
    per_instruction: bool = False
    workloads: tuple[str, ...] = WORKLOADS

    def limit_of(self, workload: str) -> float:
        """The limit for a workload."""
        return self.loop if self.loop and workload == "loop" else self.limit

    def ratios(self, results: Results) -> dict[str, float]:
        """The ratios of all workloads that were measured."""
        found = {name: ratio(results, name, self.state, self.base, self.per_instruction) for name in self.workloads}
        return {name: value for name, value in found.items() if value is not None}

    def missed(self, results: Results) -> list[str]:
        """The workloads that are above the limit."""
        return [name for name, value in self.ratios(results).items() if value > self.limit_of(name)]

    def __str__(self) -> str:
        """The goal in words."""
        loop = f" ({self.loop:g} in the loop)" if self.loop else ""
        return f"{self.state} at most {self.limit:g}{loop} of {self.base}{', per instruction' if self.per_instruction else ''}"


GOALS = (
    Goal("attached", "plain", 1.02),
    Goal("counting", "plain", 1.15, loop=1.25),
    Goal("sampling", "counting", 1.10, per_instruction=True),
    Goal("counting", "own", 0.8, workloads=("loop",)),
    Goal("misses", "plain", 6, loop=5),
    Goal("predicted", "plain", 6, loop=5),
)


def _command(workload: str, amount: int) -> str:
    """What the guest executes."""
    return f"seconds gzip -c /tmp/numbers-{amount} > /dev/null" if workload == "gzip" else f"seconds {workload} {amount}"


def script(states: list[State], amounts: dict[str, int], warm_up: bool) -> str:
    """The guest's command, which runs each workload in each state."""
    lines = ["set -e"] + [_IDLE] * bool(amounts)
    for workload, amount in amounts.items():
        fewer = max(amount // WARM_UP, 1)
        if workload == "gzip":
            lines += [f"seq 1 {number} > /tmp/numbers-{number}" for number in (amount, fewer)]
        for state in states:
            if warm_up:
                lines += [f"echo '{_RUN}'", f"{state.before} {_command(workload, fewer)}"]
            lines += [
                "rm -f /tmp/counts",
                f"echo '{_RUN}{workload} {state.name}'",
                f"{state.before} {_command(workload, amount)}",
                f"[ ! -e /tmp/counts ] || sed 's/^/{_COUNT}/' /tmp/counts",
            ]
    return "\n".join(lines)


def _check(text: str) -> None:
    """Fail if a counter did not count all the time: the state would not match its name."""
    fields = text.split(",")
    if len(fields) > 4 and (not fields[0].isdecimal() or fields[4] != "100.00"):
        raise Failure(f"perf counts {fields[2]} {fields[4]} % of the time: {fields[0]}")


def runs(lines: list[str]) -> Iterator[tuple[tuple[str, str], float, int]]:
    """Read from a guest's output, for each run: workload and state, seconds, samples."""
    name, seconds, samples = None, 0.0, 0
    for text in [*lines, _RUN]:
        if text.startswith(_RUN):
            if name:
                if not seconds:
                    raise Failure(f"the guest did not report how long {' '.join(name)} took")
                yield name, seconds, samples
            name, seconds, samples = tuple(text.removeprefix(_RUN).split()), 0.0, 0
        elif text.startswith(_SECONDS):
            seconds = float(text.removeprefix(_SECONDS))
        elif text.startswith(_COUNT):
            _check(text.removeprefix(_COUNT))
        elif found := _SAMPLES.search(text):
            samples = int(found.group(1))


def _run(guest: Guest, command: str) -> list[tuple[tuple[str, str], float, int]]:
    """Run a command in a guest, and return what it measured."""
    lines: list[str] = []
    if status := guest.run(command, lambda text: lines.append(text.decode(errors="replace"))):
        end = "".join(f"\n{text}" for text in lines[-5:])
        raise Failure(f"the guest's command ended with status {status}; its last lines:{end}")
    return list(runs(lines))


def measure(case: Case, make: Callable[..., Guest], count: int, workloads: list[str], scale: float) -> Results:
    """Time all workloads in all states. `make` makes a guest: of QEMU without the PMU if `plain`, and with more options of QEMU."""
    amounts = {name: max(int(case.amounts[name] * scale), 1) for name in workloads if name != BOOT}
    results: Results = {}

    def series(name: tuple[str, str]) -> Series:
        """The series of a workload and a state."""
        return results.setdefault(name, Series())

    def say(what: str) -> None:
        """Report progress."""
        print(f"{case.machine}: {what}", file=sys.stderr, flush=True)

    for number in range(count):
        # Every second run is in reverse order, so that a drifting host, or leftovers of a state, affect both sides equally.
        way = -1 if number % 2 else 1
        for plain in (True, False)[::way]:
            states = case.states(plain)
            say(f"run {number + 1} of {count}, {', '.join(state.name for state in states[::way])}")
            guest = make(plain)
            for name, seconds, _ in _run(guest, script(states[::way], amounts, warm_up=True)):
                series(name).seconds.append(seconds)
            if BOOT in workloads:
                series((BOOT, states[0].name)).seconds.append(guest.booted)
    if amounts:
        say("instructions of the guest")
        for name, seconds, samples in _run(make(False, *INSTRUCTIONS_AS_NANOSECONDS), script(case.states(False), amounts, warm_up=False)):
            series(name).instructions = round(seconds * 1e9)
            series(name).samples = samples
    return results


def each_sample(results: Results, workload: str) -> tuple[int, float] | None:
    """The guest's instructions and the microseconds that each sample took, in addition to counting; None if there were too few samples."""
    sampling, counting = results.get((workload, "sampling")), results.get((workload, "counting"))
    if not sampling or not counting or sampling.samples < ENOUGH_SAMPLES:
        return None
    instructions = (sampling.instructions - counting.instructions) / sampling.samples
    return round(instructions), (sampling.median - counting.median) / sampling.samples * 1e6


def table(results: Results) -> Iterator[str]:
    """The results, a line for each workload and state; the ratio to counting is of the time per instruction."""
    yield (
        f"{'workload':10}{'state':10}{'seconds':>9}{'spread':>9}{'to plain':>10}{'instructions':>16}"
        f"{'to counting':>13}{'samples':>9}{'each':>7}{'µs each':>9}"
    )
    for (workload, state), series in sorted(results.items(), key=lambda item: WORKLOADS.index(item[0][0])):
        compared = ratio(results, workload, state, "counting", per_instruction=True) if state == "sampling" else None
        each = each_sample(results, workload) if state == "sampling" else None
        line = f"{workload:10}{state:10}{series.median:9.3f}{series.spread:8.1%} "
        line += f"{ratio(results, workload, state, 'plain'):10.3f}"
        line += f"{series.instructions:16,}" if series.instructions else f"{'':16}"
        line += f"{compared:13.3f}" if compared else f"{'':13}"
        line += f"{series.samples:9,}" if state == "sampling" else f"{'':9}"
        line += f"{each[0]:7,}{each[1]:9.2f}" if each else ""
        yield line.rstrip()


def verdicts(results: Results) -> Iterator[str]:
    """For each goal, whether it is met, with its ratios."""
    for goal in GOALS:
        if ratios := goal.ratios(results):
            values = ", ".join(f"{name} {value:.3f}" for name, value in ratios.items())
            yield f"{'missed' if goal.missed(results) else 'met':8}{goal}: {values}"


def document(results: Results) -> dict:
    """All results of a machine, for JSON."""
    workloads: dict[str, dict] = {}
    for (workload, state), series in results.items():
        each = each_sample(results, workload) if state == "sampling" else None
        workloads.setdefault(workload, {})[state] = {
            "seconds": series.seconds,
            "median": series.median,
            "spread": series.spread,
            "ratio": ratio(results, workload, state, "plain"),
            "instructions": series.instructions or None,
            "samples": series.samples if state == "sampling" else None,
            "instructions_each_sample": each[0] if each else None,
            "microseconds_each_sample": each[1] if each else None,
        }
    goals = [
        {
            "goal": str(goal),
            "ratios": goal.ratios(results),
            "limits": {name: goal.limit_of(name) for name in goal.ratios(results)},
            "missed": goal.missed(results),
        }
        for goal in GOALS
        if goal.ratios(results)
    ]
    return {"workloads": workloads, "goals": goals}
