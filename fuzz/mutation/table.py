"""Tables of the book's page."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from . import reason as reasons_of
from .mutant import Mutant, Result
from .reason import Reason
from .stage import STAGES

BEGIN = "<!-- made by fuzz/mutants --table -->"
END = "<!-- end -->"

# The standard normal distribution is within so many deviations with 95 %.
DEVIATIONS = 1.959964


def wilson(caught: int, viable: int) -> tuple[float, float]:
    """The interval in which the share of all mutants lies with 95 %, by Wilson's formula, if `caught` of a sample of `viable` were caught."""
    if viable == 0:
        return 0.0, 1.0
    share, square = caught / viable, DEVIATIONS**2
    middle = share + square / (2 * viable)
    half = DEVIATIONS * math.sqrt(share * (1 - share) / viable + square / (4 * viable**2))
    scale = 1 + square / viable
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def percent(share: float) -> str:
    """A share as the page has it."""
    return f"{100 * share:.1f} %"


def line(cells: Iterable[object]) -> str:
    """One line of a table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def score(name: str, total: int, results: Sequence[Result], reasons: Sequence[Reason]) -> str:
    """The line of a part, which has `total` mutants."""
    counts = Counter(result.outcome for result in results)
    caught = counts["caught"] + counts["timeout"]
    viable = caught + counts["missed"]
    waiting = sum(result.outcome == "missed" and result.stage != STAGES[-1].name for result in results)
    explained = sum(result.outcome == "missed" and reasons_of.of(result.mutant, reasons) is not None for result in results)
    low, high = wilson(caught, viable)
    share, interval = (percent(caught / viable), f"{percent(low)} to {percent(high)}") if viable else ("-", "-")
    outcomes = [counts["unviable"], viable, counts["caught"], counts["timeout"], counts["missed"], waiting, explained]
    return line([name, f"{total:,}", len(results), *outcomes, share, interval])


def scores(all_mutants: Iterable[Mutant], results: Sequence[Result], reasons: Sequence[Reason]) -> list[str]:
    """A line for each part, and one for each crate. None for both together: of one more may have been tried than of the other."""
    totals = Counter(mutant.part for mutant in all_mutants)
    columns = ["part", "mutants", "tried", "unviable", "viable", "caught", "timeout", "missed", "of these with tests left", "of these with a reason", "score", "95 % interval"]
    lines = [line(columns), line(["---", *["---:"] * (len(columns) - 1)])]
    for part, total in sorted(totals.items()):
        lines.append(score(f"`{part}`", total, [result for result in results if result.mutant.part == part], reasons))
    for crate in sorted({part.split("/")[0] for part in totals}):
        total = sum(number for part, number in totals.items() if part.startswith(f"{crate}/"))
        lines.append(score(f"**{crate}**", total, [result for result in results if result.mutant.file.startswith(f"{crate}/")], reasons))
    return lines


def stages(results: Sequence[Result]) -> list[str]:
    """How many each stage caught."""
    counts = Counter(result.stage for result in results if result.outcome in ("caught", "timeout"))
    lines = [line(["caught by", "mutants"]), line(["---", "---:"])]
    return lines + [line([stage, number]) for stage, number in counts.most_common()]


def code(text: str) -> str:
    """Code in a table."""
    return f"`{text}`".replace("|", "\\|")


def survivors(results: Sequence[Result], reasons: Sequence[Reason]) -> list[str]:
    """A line for each mutant that no test noticed."""
    lines = [line(["where", "what is changed", "why no test notices"]), line(["---"] * 3)]
    for result in sorted(results, key=lambda result: result.mutant.name):
        if result.outcome == "missed":
            why = reasons_of.of(result.mutant, reasons) or f"**no reason yet**; it met all tests up to: {result.stage}"
            lines.append(line([f"`{result.mutant.file}`: {code(result.mutant.line)}", code(result.mutant.change), why]))
    return lines if len(lines) > 2 else ["None."]


def tables(all_mutants: Sequence[Mutant], results: Mapping[str, Result], reasons: Sequence[Reason]) -> str:
    """All tables."""
    every = list(results.values())
    blocks = [scores(all_mutants, every, reasons), stages(every), ["Survivors:"], survivors(every, reasons)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def replaced(page: str, made: str) -> str:
    """The page with the tables between its marks, or at its end if it has none."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        before, after = page.rstrip("\n") + "\n\n", "\n"
    return f"{before}{BEGIN}\n\n{made}\n{END}{after}"
