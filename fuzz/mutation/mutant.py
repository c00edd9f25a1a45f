"""A mutant: where cargo-mutants changes the code, and how."""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from planted.errors import Failure


@dataclass(frozen=True)
class Mutant:
    """One change."""

    # As cargo-mutants calls it, with the place: FILE:LINE:COLUMN: CHANGE.
    name: str
    file: str
    # The line that is changed, as it is.
    line: str

    @property
    def change(self) -> str:
        """What is changed, without the place."""
        return self.name.split(": ", 1)[1]

    @property
    def place(self) -> str:
        """FILE:LINE."""
        return ":".join(self.name.split(": ", 1)[0].split(":")[:2])

    @property
    def identity(self) -> tuple[str, ...]:
        """What stays when other lines of its file change: the file, the column, the change and the line."""
        column = self.name.split(": ", 1)[0].rsplit(":", 1)[1]
        return self.file, column, self.change, self.line

    @property
    def part(self) -> str:
        """The folder below the source folder, or the source folder for a file that is directly in it."""
        words = self.file.split("/")
        return "/".join(words[:3] if len(words) > 3 else words[:2])


@dataclass(frozen=True)
class Result:
    """What became of a mutant."""

    mutant: Mutant
    # caught, missed, timeout or unviable.
    outcome: str
    # The tests that decided it.
    stage: str


# What cargo-mutants calls the outcomes.
OUTCOMES = {"CaughtMutant": "caught", "MissedMutant": "missed", "Timeout": "timeout", "Unviable": "unviable"}


def mutants(listed: Iterable[Mapping[str, object]], root: Path) -> list[Mutant]:
    """Those of a list of cargo-mutants, which is made of the sources in `root`."""
    lines: dict[str, list[str]] = {}
    made = []
    for entry in listed:
        file, start = entry["file"], entry["span"]["start"]["line"]
        if file not in lines:
            lines[file] = (root / file).read_text(encoding="utf-8").splitlines()
        made.append(Mutant(entry["name"], file, lines[file][start - 1].strip()))
    return made


def only(part: str, configuration: str) -> str:
    """The configuration, for the files of a folder, or one file, alone."""
    glob = part if part.endswith(".rs") else f"{part.rstrip('/')}/**/*.rs"
    made, number = re.subn(r"^examine_globs = .*$", f"examine_globs = {json.dumps([glob])}", configuration, flags=re.MULTILINE)
    if number != 1:
        raise Failure(".cargo/mutants.toml must have examine_globs in one line")
    return made


def listed(root: Path, arguments: Sequence[str]) -> list[Mutant]:
    """Those that cargo-mutants would make."""
    command = ["cargo", "mutants", "--list", "--json", "--dir", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failure(f"cargo does not run: {error}") from error
    if done.returncode != 0:
        raise Failure(f"cargo mutants --list failed; cargo install cargo-mutants --locked installs it:\n{done.stderr.strip()[-300:]}")
    return mutants(json.loads(done.stdout), root)


def outcomes(text: str) -> dict[str, str]:
    """The outcome of each mutant's name, of cargo-mutants' file outcomes.json."""
    found = {}
    for entry in json.loads(text)["outcomes"]:
        scenario = entry["scenario"]
        if isinstance(scenario, dict) and entry["summary"] in OUTCOMES:
            found[scenario["Mutant"]["name"]] = OUTCOMES[entry["summary"]]
    return found


def kept(results: Mapping[str, Result]) -> list[dict[str, object]]:
    """The results as JSON keeps them, by their names, so that a run changes few lines of the file."""
    return [asdict(results[name]) for name in sorted(results)]


def restored(saved: Iterable[Mapping], present: Iterable[Mutant]) -> dict[str, Result]:
    """The results of those of the present mutants whose line is still the same. It may have moved, unless its file has another like it."""
    before: dict[tuple[str, ...], list[Result]] = {}
    for entry in saved:
        result = Result(Mutant(**entry["mutant"]), entry["outcome"], entry["stage"])
        before.setdefault(result.mutant.identity, []).append(result)
    now: dict[tuple[str, ...], list[Mutant]] = {}
    for mutant in present:
        now.setdefault(mutant.identity, []).append(mutant)
    results = {}
    for identity, found in before.items():
        same = now.get(identity, [])
        only = len(same) == 1 and len(found) == 1
        for old in found:
            for mutant in same:
                if only or mutant.name == old.mutant.name:
                    results[mutant.name] = Result(mutant, old.outcome, old.stage)
    return results
