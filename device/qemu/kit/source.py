"""QEMU's source package: the one of Debian's stable, or the newest available one."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kit.debian import SOURCES, Archive, download
from kit.errors import Failure, Missing, Unavailable

POOL = "pool/main/q/qemu"

# Where versions newer than stable's are, the most usual place first.
NEWER = ("sid", "experimental")


@dataclass(frozen=True)
class Version:
    """A version of Debian's package, as `10.0.13+ds-0+deb13u1`."""

    text: str

    @property
    def upstream(self) -> str:
        """QEMU's own number."""
        return self.text.split("+")[0]

    @property
    def order(self) -> tuple[int, ...]:
        """The key by which versions are sorted."""
        return tuple(int(number) for number in re.findall(r"\d+", self.text))


def versions(archive: Archive) -> list[Version]:
    """The versions of the package in an index, newest first."""
    found = {Version(entry["Version"].split(":")[-1]) for entry in archive.entries("qemu")}
    return sorted(found, key=lambda version: version.order, reverse=True)


def before(version: Version) -> Iterator[Version]:
    """The first uploads of the patch releases before a version: the pool may still have one that no index names."""
    series, patch = version.upstream.rsplit(".", 1)
    for number in range(int(patch) - 1, -1, -1):
        yield Version(f"{series}.{number}+ds-1")


def candidates(cache: Path, wanted: str) -> Iterator[Version]:
    """Versions that match the request, best first: `stable`, `newest`, or the beginning of a number."""
    if wanted == "newest":
        named = sorted({version for suite in NEWER for version in versions(Archive(cache, suite, SOURCES))}, key=lambda v: v.order, reverse=True)
        for version in named:
            yield version
            yield from before(version)
    else:
        for suite in ("trixie", *NEWER):
            archive = Archive(cache, suite, SOURCES)
            named = matching(archive, wanted)
            yield from named
            # Of all that the index of an earlier run names, nothing may be left on the mirror.
            if named and archive.renew():
                yield from (version for version in matching(archive, wanted) if version not in named)


def matching(archive: Archive, wanted: str) -> list[Version]:
    """The versions in an index that match `stable` or the beginning of a number, newest first."""
    return [
        version
        for version in versions(archive)
        if wanted == "stable" or version.upstream == wanted or version.upstream.startswith(f"{wanted}.")
    ]


def fetch(cache: Path, version: Version, get: Callable[..., None]) -> Path:
    """The description of a source package, with its files in the same folder; `get` brings a file that is not there."""
    description = cache / POOL / f"qemu_{version.text}.dsc"
    get(f"{POOL}/{description.name}", description)
    block = re.search(r"^Checksums-Sha256:\n((?: .*\n)+)", description.read_text(), re.MULTILINE)
    if block is None:
        raise Failure(f"{description} names no files: delete it and try again")
    for line in block.group(1).splitlines():
        sha256, _, name = line.split()
        get(f"{POOL}/{name}", description.with_name(name), sha256)
    return description


def find(cache: Path, wanted: str) -> tuple[Version, Path]:
    """The best version that is available, and its description. If the mirror is not reached, that is the best in the cache."""
    tried = []
    unreached: Unavailable | None = None

    def get(place: str, path: Path, sha256: str | None = None) -> None:
        """Download a file if it is not there; no further one after the mirror was not reached."""
        if path.exists():
            return
        if unreached:
            raise unreached
        download(place, path, sha256)

    for version in candidates(cache, wanted):
        try:
            return version, fetch(cache, version, get)
        except Missing:
            tried.append(version.upstream)
        except Unavailable as failure:
            unreached = failure
    if unreached:
        raise unreached
    reason = f"the mirror has none of {', '.join(tried)}" if tried else "no suite has it"
    raise Failure(f"no source package of QEMU for {wanted!r}: {reason}; give stable, newest, or a number such as 10.0")


def unpack(description: Path, tree: Path) -> None:
    """Unpack a source package with Debian's changes, once."""
    if tree.exists():
        return
    tree.parent.mkdir(parents=True, exist_ok=True)
    partial = tree.with_name(f"{tree.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    command = ["dpkg-source", "--no-check", "--extract", str(description), str(partial)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"dpkg-source cannot unpack {description.name}: {done.stderr.strip().splitlines()[-1]}")
    partial.replace(tree)
