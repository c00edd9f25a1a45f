"""What the targets have done so far."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from planted.errors import Failure
from planted.table import heading, row


@dataclass
class Record:
    """What one target has done, in all runs together."""

    # Seconds of a core.
    seconds: float = 0.0
    executions: int = 0
    # Places in the code that its inputs reach.
    edges: int = 0
    # Its inputs that reach something that the others do not.
    inputs: int = 0
    # The files of what it found.
    finds: list[str] = field(default_factory=list)


def load(path: Path) -> dict[str, Record]:
    """The records of earlier runs, none if there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    try:
        return {target: Record(**entry) for target, entry in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise Failure(f"{path} is no record of a campaign ({error}): remove it, and the campaign begins anew") from error


def save(path: Path, records: dict[str, Record]) -> None:
    """Keeps the records for the next run."""
    path.write_text(json.dumps({target: asdict(record) for target, record in sorted(records.items())}, indent=1) + "\n", encoding="utf-8")


def rate(record: Record) -> str:
    """Executions per second of a core."""
    if record.seconds == 0:
        return "-"
    per_second = record.executions / record.seconds
    return f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.1f}"


def table(records: dict[str, Record], targets: Iterable[str]) -> str:
    """A line for each target, and their sum."""
    lines = heading(["target", "minutes of a core", "executions", "per second", "edges", "inputs kept", "open finds"], 6)
    ran = [(target, records[target]) for target in targets if target in records]
    for target, record in ran:
        numbers = [f"{record.seconds / 60:.1f}", f"{record.executions:,}", rate(record), f"{record.edges:,}", f"{record.inputs:,}"]
        lines.append(row([f"`{target}`", *numbers, len(record.finds)]))
    seconds, executions = sum(record.seconds for _, record in ran), sum(record.executions for _, record in ran)
    finds = sum(len(record.finds) for _, record in ran)
    lines.append(row(["**all**", f"{seconds / 60:.1f}", f"{executions:,}", "", "", "", finds]))
    return "\n".join(lines) + "\n"
