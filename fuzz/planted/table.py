"""The tables of the book."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .fault import KINDS, Fault
from .run import Run


@dataclass
class Result:
    """What found a fault."""

    fault: Fault
    runs: dict[str, Run] = field(default_factory=dict)
    # Whether the tests were run, and what caught it: a package and a test.
    tested: bool = False
    caught: tuple[str, str] | None = None

    @property
    def first(self) -> tuple[str, Run] | None:
        """The target that found it soonest."""
        finds = [(target, run) for target, run in self.runs.items() if run.found]
        return min(finds, key=lambda find: find[1].seconds) if finds else None


def percent(part: int, whole: int) -> str:
    """A share without fractions, so that only all is 100 %."""
    return f"{part * 100 // whole} %" if whole else "-"


def row(cells: Iterable[object]) -> str:
    """A line of a table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def heading(names: Sequence[str], numbers: int) -> list[str]:
    """The head of a table whose last `numbers` columns are numbers."""
    rules = ["---"] * (len(names) - numbers) + ["---:"] * numbers
    return [row(names), row(rules)]


def shares(results: Sequence[Result], name: str, of: Callable[[Result], str], order: Sequence[str]) -> list[str]:
    """How many faults of each group a target found, and a test."""
    tested = any(result.tested for result in results)
    lines = heading([name, "faults", "found by a target", *(["by a test"] if tested else [])], 3 if tested else 2)
    for group in [*order, None]:
        members = [result for result in results if group is None or of(result) == group]
        if not members:
            continue
        found = sum(result.first is not None for result in members)
        cells = ["**all**" if group is None else group, len(members), f"{found} ({percent(found, len(members))})"]
        if tested:
            tried = [result for result in members if result.tested]
            caught = sum(result.caught is not None for result in tried)
            cells.append(f"{caught} of {len(tried)}")
        lines.append(row(cells))
    return lines


def by_target(results: Sequence[Result]) -> list[str]:
    """How many of the faults that name a target it finds."""
    runs: dict[str, list[Run]] = {}
    for result in results:
        for target, run in result.runs.items():
            runs.setdefault(target, []).append(run)
    lines = heading(["target", "faults", "found", "median s"], 3)
    for target, all_runs in sorted(runs.items()):
        times = sorted(run.seconds for run in all_runs if run.found)
        median = f"{times[len(times) // 2]:.1f}" if times else "-"
        lines.append(row([f"`{target}`", len(all_runs), f"{len(times)} ({percent(len(times), len(all_runs))})", median]))
    return lines


def by_fault(results: Sequence[Result]) -> list[str]:
    """One line for each fault."""
    tested = any(result.tested for result in results)
    last = (["test"], ["---"]) if tested else ([], [])
    lines = [row(["fault", "what it breaks", "found by", "s", *last[0]]), row(["---", "---", "---", "---:", *last[1]])]
    for result in results:
        find = result.first
        target, seconds = ("-", "") if find is None else (f"`{find[0]}`", f"{find[1].seconds:.1f}")
        caught = "" if not result.tested else "none" if result.caught is None else f"{result.caught[0]}: `{result.caught[1]}`"
        cells = [f"`{result.fault.title}`", result.fault.breaks.replace("|", "\\|"), target, seconds]
        lines.append(row([*cells, caught] if tested else cells))
    return lines


def tables(results: Sequence[Result], seconds: float) -> str:
    """All tables, between marks by which they are replaced."""
    parts = sorted({result.fault.part for result in results})
    blocks = [
        [f"Each target had {seconds:g} seconds of one core for each fault that names it."],
        shares(results, "part", lambda result: result.fault.part, parts),
        shares(results, "kind", lambda result: result.fault.kind, KINDS),
        by_target(results),
        by_fault(results),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


BEGIN = "<!-- made by fuzz/power --table -->"
END = "<!-- end -->"


def replaced(page: str, made: str, mark: str = BEGIN) -> str:
    """The page with the tables between its marks, or at its end if it has none."""
    before, begin, rest = page.partition(mark)
    _, end, after = rest.partition(END)
    if not begin or not end:
        before, after = page.rstrip("\n") + "\n\n", "\n"
    return f"{before}{mark}\n\n{made}\n{END}{after}"


def digest(fault: Fault) -> str:
    """What tells a patch from another."""
    return hashlib.sha256(fault.diff.encode()).hexdigest()[:16]


def kept(results: Mapping[str, Result], others: Mapping[str, object]) -> dict[str, object]:
    """The results as JSON keeps them, for a later run that goes on, with those of an earlier run of `others`."""
    return {**others} | {
        title: {
            "patch": digest(result.fault),
            "runs": {target: [run.found, run.seconds, run.executions] for target, run in result.runs.items()},
            "tested": result.tested,
            "caught": result.caught,
        }
        for title, result in results.items()
    }


def restored(saved: Mapping[str, dict], faults: Iterable[Fault]) -> dict[str, Result]:
    """The results of those faults whose patch is still the same."""
    results = {}
    for fault in faults:
        entry = saved.get(fault.title)
        if entry is not None and entry["patch"] == digest(fault):
            runs = {target: Run(*values) for target, values in entry["runs"].items() if target in fault.targets}
            caught = tuple(entry["caught"]) if entry["caught"] else None
            results[fault.title] = Result(fault, runs, entry["tested"], caught)
    return results
