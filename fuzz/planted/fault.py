"""A planted fault: a patch with a header that says what it breaks."""

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import Failure

KINDS = (
    "comparison",
    "off by one",
    "lost carry",
    "missed freeze",
    "wrong sign",
    "stale demand",
    "stale demand after a context change",
    "forgotten field in a restore",
    "aliased box",
    "lost request",
    "late deadline",
    "order of simultaneous events",
)

# The targets of the fuzzer that a fault may name.
TARGETS = (
    "k8",
    "knl_tile",
    "knl_untile",
    "knl_pci",
    "power9",
    "power9_nest",
    "power9_memory",
    "montecito",
    "itanium",
    "companion",
    "snapshot",
    "reference_k8",
    "reference_knl",
    "reference_knl_untile",
    "reference_power9",
    "reference_power9_nest",
    "reference_itanium",
    "reference_montecito",
)

# The seeds of a target that has none of its own name: the programs are the same.
SEEDS = {
    "reference_k8": "k8",
    "reference_knl": "knl_tile",
    "reference_knl_untile": "knl_untile",
    "reference_power9": "power9",
    "reference_power9_nest": "power9_nest",
    "reference_itanium": "itanium",
    "reference_montecito": "montecito",
}

# Code of one of these folders is in the targets of its own part only, so that faults of several parts can be in one build.
FAMILIES = ("k8", "knl", "power9", "montecito", "itanium")


@dataclass(frozen=True)
class Fault:
    """One patch."""

    part: str
    name: str
    breaks: str
    kind: str
    targets: tuple[str, ...]
    # The targets that the short form runs for it, none if it does not plant it.
    short: tuple[str, ...]
    diff: str

    @property
    def title(self) -> str:
        """PART/NAME, as --only takes it."""
        return f"{self.part}/{self.name}"

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it changes, from the root of the repository."""
        return tuple(line[len("+++ b/"):].strip() for line in self.diff.splitlines() if line.startswith("+++ b/"))

    @property
    def family(self) -> str | None:
        """The part that all of its files belong to; none where other parts use the code too."""
        folders = {family for file in self.files for family in FAMILIES if file.startswith(f"arch/src/{family}/")}
        inside = all(file.startswith(tuple(f"arch/src/{family}/" for family in FAMILIES)) for file in self.files)
        return folders.pop() if inside and len(folders) == 1 else None


def parse(part: str, name: str, text: str) -> Fault:
    """The fault of a patch file."""
    header, found, diff = text.partition("--- a/")
    fields = {}
    for line in header.splitlines():
        key, colon, value = line.partition(":")
        if colon and not key.startswith(" "):
            fields[key] = value.strip()
    title = f"{part}/{name}"
    if not found:
        raise Failure(f"{title} has no diff: it must have a line that begins with '--- a/'")
    unknown = set(fields) - {"Breaks", "Kind", "Targets", "Short"}
    if unknown:
        raise Failure(f"{title}: its header has no field {min(unknown)}")
    for field in ("Breaks", "Kind", "Targets"):
        if not fields.get(field):
            raise Failure(f"{title} lacks the line '{field}: ...'")
    if fields["Kind"] not in KINDS:
        raise Failure(f"{title}: {fields['Kind']} is no kind; these are: {', '.join(KINDS)}")
    targets = tuple(fields["Targets"].split())
    for target in targets:
        if target not in TARGETS:
            raise Failure(f"{title}: {target} is no target that faults are planted for")
    short = tuple(fields.get("Short", "").split())
    for target in short:
        if target not in targets:
            raise Failure(f"{title}: the short form names {target}, which is none of its targets: {', '.join(targets)}")
    return Fault(part, name, fields["Breaks"], fields["Kind"], targets, short, found + diff)


def load(folder: Path) -> list[Fault]:
    """Every fault under `folder`, by part and name."""
    paths = sorted(folder.glob("*/*.patch"))
    if not paths:
        raise Failure(f"there are no patches PART/NAME.patch in {folder}")
    return [parse(path.parent.name, path.stem, path.read_text(encoding="utf-8")) for path in paths]


def choose(faults: Sequence[Fault], patterns: Sequence[str], short: bool) -> list[Fault]:
    """Those that a pattern names, or all without patterns; with `short` those of the short form, with the targets that it runs."""
    for pattern in patterns:
        if not any(fnmatch.fnmatch(fault.title, pattern) for fault in faults):
            raise Failure(f"no fault is called {pattern}")
    named = [fault for fault in faults if not patterns or any(fnmatch.fnmatch(fault.title, pattern) for pattern in patterns)]
    chosen = [replace(fault, targets=fault.short) for fault in named if fault.short] if short else named
    if not chosen:
        raise Failure("none of these faults is in the short form, which has those with a line 'Short: TARGET ...'")
    return chosen


def batches(faults: Iterable[Fault]) -> list[list[Fault]]:
    """The faults in as few builds as may be: of several in one build, each is of another family and has other targets."""
    built: list[list[Fault]] = []
    for fault in faults:
        for batch in built if fault.family else []:
            families = {other.family for other in batch}
            targets = {target for other in batch for target in other.targets}
            if None not in families and fault.family not in families and not targets & set(fault.targets):
                batch.append(fault)
                break
        else:
            built.append([fault])
    return built


def families(faults: Iterable[Fault]) -> list[list[Fault]]:
    """The faults in code of a single part, in as few builds as possible: a build has at most one of each part."""
    built: list[list[Fault]] = []
    for fault in faults:
        if fault.family is None:
            continue
        batch = next((batch for batch in built if all(other.family != fault.family for other in batch)), None)
        if batch is None:
            built.append([fault])
        else:
            batch.append(fault)
    return built
