"""Inserts fragments of text at named places of a source tree.

Fragments are tables of TOML files, each with these keys:

file    the file, relative to the tree; a list where versions have the place in different files
within  optional: a line that begins a function or structure; the place is between it and the next line that begins with "}"
before, behind, instead
        the place: the first line that has these characters; a list where versions differ
at_end  instead of a place: the end of the file, or of the function named by `within`, before its closing brace
text    what is put there; a list where the places are a list
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path


class PlaceNotFound(Exception):
    """A fragment's place is not in the tree."""


@dataclass(frozen=True)
class Fragment:
    """One fragment of a TOML file."""

    source: Path
    number: int
    files: list[str]
    within: str | None
    how: str
    places: list[str]
    texts: list[str]

    def describe(self) -> str:
        """A description of the fragment for messages."""
        return f"{self.source.name}, fragment {self.number}"


def as_list(value: str | list[str]) -> list[str]:
    """A value that may be a single one or a list, as a list."""
    return value if isinstance(value, list) else [value]


def read(source: Path) -> list[Fragment]:
    """The fragments of a TOML file."""
    fragments = []
    for number, table in enumerate(tomllib.loads(source.read_text())["fragment"], start=1):
        how = next((key for key in ("before", "behind", "instead", "at_end") if key in table), None)
        if how is None:
            raise ValueError(f"{source.name}, fragment {number}: it has none of before, behind, instead, at_end")
        places = [""] if how == "at_end" else as_list(table[how])
        texts = as_list(table["text"])
        if len(texts) == 1:
            texts = texts * len(places)
        if len(texts) != len(places):
            raise ValueError(f"{source.name}, fragment {number}: {len(places)} places and {len(texts)} texts")
        fragments.append(Fragment(source, number, as_list(table["file"]), table.get("within"), how, places, texts))
    return fragments


def span(lines: list[str], within: str | None) -> range | None:
    """The lines of the function or structure that begins at the line with `within`."""
    if within is None:
        return range(len(lines))
    start = next((index for index, line in enumerate(lines) if within in line and not line.rstrip().endswith(";")), None)
    if start is None:
        return None
    end = next((index for index in range(start + 1, len(lines)) if lines[index].startswith("}")), len(lines) - 1)
    return range(start, end + 1)


def find(fragment: Fragment, lines: list[str]) -> tuple[int, str] | None:
    """The line of a file at which a fragment's place is, and the text for it; None if the file does not have it."""
    lookup = span(lines, fragment.within)
    if lookup is None:
        return None
    if fragment.how == "at_end":
        return lookup.stop - 1 if fragment.within else lookup.stop, fragment.texts[0]
    for place, text in zip(fragment.places, fragment.texts):
        index = next((index for index in lookup if place in lines[index]), None)
        if index is not None:
            return index, text
    return None


def apply(fragment: Fragment, tree: Path) -> Path:
    """Puts one fragment into the tree and returns the file that it changed."""
    there = [tree / name for name in fragment.files if (tree / name).is_file()]
    if not there:
        raise PlaceNotFound(f"{fragment.describe()}: there is no {' or '.join(fragment.files)}")
    for path in there:
        lines = path.read_text().splitlines(keepends=True)
        if (found := find(fragment, lines)) is not None:
            break
    else:
        where = " or ".join(str(path.relative_to(tree)) for path in there)
        if all(span(path.read_text().splitlines(), fragment.within) is None for path in there):
            raise PlaceNotFound(f"{fragment.describe()}: {where} has no line with {fragment.within!r}")
        where += f", {fragment.within!r}" if fragment.within else ""
        raise PlaceNotFound(f"{fragment.describe()}: {where} has no line with {' or '.join(map(repr, fragment.places))}")
    index, text = found
    put = text.splitlines(keepends=True)
    if fragment.how in ("before", "at_end"):
        lines[index:index] = put
    elif fragment.how == "behind":
        lines[index + 1 : index + 1] = put
    else:
        lines[index : index + 1] = put
    path.write_text("".join(lines))
    return path


def apply_all(sources: list[Path], tree: Path) -> list[Path]:
    """Put the fragments of all files into the tree. An error names every place that is missing."""
    missing, changed = [], []
    for source in sources:
        for fragment in read(source):
            try:
                changed.append(apply(fragment, tree))
            except PlaceNotFound as reason:
                missing.append(str(reason))
    if missing:
        raise PlaceNotFound("\n".join(missing))
    return changed
