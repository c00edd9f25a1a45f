"""Reasons: why a mutant that no test notices is none that a test could notice, or is not worth one. They are in fuzz/mutants.toml."""

import fnmatch
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from planted.errors import Failure

from .mutant import Mutant


@dataclass(frozen=True)
class Reason:
    """One entry."""

    file: str
    # A pattern of changes, as the shell's; brackets are letters.
    change: str
    reason: str
    # What the changed line contains, where one change is made in several lines.
    line: str = ""

    def holds(self, mutant: Mutant) -> bool:
        """Whether it is about this mutant."""
        pattern = self.change.replace("[", "[[]")
        return self.file == mutant.file and fnmatch.fnmatchcase(mutant.change, pattern) and self.line in mutant.line


def parse(text: str) -> list[Reason]:
    """The entries of the file."""
    reasons = []
    for entry in tomllib.loads(text).get("survivor", []):
        try:
            reasons.append(Reason(**entry))
        except TypeError as error:
            raise Failure(f"fuzz/mutants.toml: an entry has file, change and reason, and may have line: {entry}") from error
    return reasons


def of(mutant: Mutant, reasons: Sequence[Reason]) -> str | None:
    """The first reason that holds."""
    return next((reason.reason for reason in reasons if reason.holds(mutant)), None)
