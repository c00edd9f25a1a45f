"""Debian's packages: find them in an index, download them with their checksum, take files out of them."""

import hashlib
import io
import lzma
import os
import shutil
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeVar

from kit.errors import Failure, say

MIRROR = "http://deb.debian.org/debian"
SECURITY = "http://deb.debian.org/debian-security"

# Stable and oldstable: their packages stay on the mirror until a point release replaces them.
SUITES = ("trixie", "bookworm")

SOURCES = "source"

T = TypeVar("T")


def _open(url: str):
    """Open a URL, or fail with the reason in one line."""
    try:
        return urllib.request.urlopen(url, timeout=60)
    except urllib.error.HTTPError as error:
        raise Failure(f"{url}: the mirror answers {error.code} {error.reason}", missing=error.code == 404) from None
    except OSError as error:
        raise Failure(f"{url}: {getattr(error, 'reason', error)}") from None


def _download(url: str, path: Path, sha256: str | None = None) -> None:
    """Download a URL to a file, which appears only when it is complete and has the given SHA256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    digest = hashlib.sha256()
    with _open(url) as answer, partial.open("wb") as file:
        try:
            while block := answer.read(1 << 20):
                digest.update(block)
                file.write(block)
        except OSError as error:
            raise Failure(f"{url}: the download broke off: {error}") from None
    if sha256 and digest.hexdigest() != sha256:
        partial.unlink()
        raise Failure(f"{url}: SHA256 is {digest.hexdigest()}, the index says {sha256}")
    partial.replace(path)


def download(place: str, path: Path, sha256: str | None = None) -> None:
    """Download a file of the mirror, which appears only when it is complete and has the given SHA256."""
    _download(f"{MIRROR}/{place}", path, sha256)


def _paragraphs(text: str) -> list[dict[str, str]]:
    """The paragraphs of a Debian control file, each a dictionary of its fields."""
    paragraphs = []
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line[:1] in (" ", "\t"):
                fields[name] += "\n" + line.strip()
            elif ":" in line:
                name, value = line.split(":", 1)
                fields[name] = value.strip()
        if fields:
            paragraphs.append(fields)
    return paragraphs


def _extract(data: tarfile.TarFile, member: tarfile.TarInfo, root: Path) -> None:
    """Write a regular file or a symbolic link of an archive below `root`; a link to an absolute path leads there too."""
    path = root / PurePosixPath(member.name)
    if ".." in path.parts or PurePosixPath(member.name).is_absolute():
        raise Failure(f"the archive has a file outside its own directory: {member.name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        upward = "../" * (len(path.relative_to(root).parts) - 1)
        link = member.linkname
        path.symlink_to(upward + link.lstrip("/") if link.startswith("/") else link)
    elif file := data.extractfile(member):
        with path.open("wb") as copy:
            shutil.copyfileobj(file, copy)
        path.chmod(member.mode)


@dataclass(frozen=True)
class Remote:
    """A file of the archive: its path below the mirror and its SHA256."""

    path: str
    sha256: str


@dataclass
class Archive:
    """One suite of Debian for one architecture, or for `SOURCES`; what is downloaded stays in `cache`."""

    cache: Path
    suite: str
    architecture: str
    mirror: str = MIRROR
    _text: str | None = field(default=None, repr=False)
    _fresh: bool = field(default=False, repr=False)

    def _path(self) -> Path:
        """The path of the index in the cache and on the mirror."""
        kind = "source/Sources.xz" if self.architecture == SOURCES else f"binary-{self.architecture}/Packages.xz"
        return self.cache / "dists" / self.suite / "main" / kind

    def _index(self) -> str:
        """The text of the index, downloaded if the cache has none."""
        if self._text is None:
            path = self._path()
            if not path.exists():
                _download(f"{self.mirror}/{path.relative_to(self.cache)}", path)
                self._fresh = True
            try:
                self._text = "\n\n" + lzma.decompress(path.read_bytes()).decode()
            except lzma.LZMAError:
                raise Failure(f"{path} is not a complete index: delete it and try again") from None
        return self._text

    def entries(self, package: str) -> list[dict[str, str]]:
        """The index's entries of a package, one for each version; none if it has no such package."""
        index, head = self._index(), f"\n\nPackage: {package}\n"
        found = []
        start = index.find(head)
        while start >= 0:
            end = index.find("\n\n", start + 2)
            found += _paragraphs(index[start:end])
            start = index.find(head, start + 2)
        return found

    def entry(self, package: str) -> dict[str, str]:
        """The index's entry of a package; of several versions the last."""
        found = self.entries(package)
        if not found:
            # The security updates have few packages: what they lack is missing only as far as the mirror is.
            raise Failure(f"Debian {self.suite} has no package {package} for {self.architecture}", missing=self.mirror == SECURITY)
        return found[-1]

    def depends(self, package: str) -> list[str]:
        """The names of the packages that a package depends on; of alternatives the first."""
        names = []
        for clause in self.entry(package).get("Depends", "").split(","):
            first = clause.split("|")[0].split("(")[0].split(":")[0].strip()
            if first:
                names.append(first)
        return names

    def _fetch(self, remote: Remote) -> Path:
        """A file of the archive, downloaded if the cache does not have it."""
        path = self.cache / remote.path
        if not path.exists():
            _download(f"{self.mirror}/{remote.path}", path, remote.sha256)
        return path

    def _own(self, name: str) -> "Package":
        """A binary package of this archive, downloaded if need be."""
        entry = self.entry(name)
        return Package(name, entry["Version"], self._fetch(Remote(entry["Filename"], entry["SHA256"])))

    def _updated(self, failure: Failure, action: Callable[["Archive"], T]) -> T:
        """Do something with the suite's security updates, if the newest index of the suite itself names a file that is not on its mirror yet."""
        if not failure.missing or not self._fresh or self.mirror == SECURITY:
            raise failure
        say(f"{failure}: trying the security updates")
        updates = Archive(self.cache, f"{self.suite}-security", self.architecture, SECURITY)
        return updates.current(lambda: action(updates))

    def package(self, name: str) -> "Package":
        """A binary package, downloaded if need be: the suite's, or that of its security updates."""
        try:
            return self._own(name)
        except Failure as failure:
            return self._updated(failure, lambda updates: updates.package(name))

    def newest(self, name: str) -> "Package":
        """The package that another depends on first, as one without files does on that of the newest version."""
        try:
            return self._own(self.depends(name)[0])
        except Failure as failure:
            return self._updated(failure, lambda updates: updates.newest(name))

    def source(self, name: str, ending: str) -> Path:
        """The file of a source package with this ending, downloaded if need be; of several versions the last that the mirror has."""
        found = [
            Remote(f"{entry['Directory']}/{line.split()[2]}", line.split()[0])
            for entry in reversed(self.entries(name))
            for line in entry["Checksums-Sha256"].split("\n")
            if line.endswith(ending)
        ]
        gone = Failure(f"the source package {name} of {self.suite} has no file *{ending}")
        for remote in found:
            try:
                return self._fetch(remote)
            except Failure as failure:
                if not failure.missing:
                    raise
                # An index can name files that are not on the mirror yet.
                gone = failure
                say(f"{failure}: trying the version before")
        raise gone

    def current(self, action: Callable[[], T]) -> T:
        """Do something with this archive; again with a new index if a file that the index of an earlier run names is gone."""
        try:
            return action()
        except Failure as failure:
            if not failure.missing or self._fresh:
                raise
            self._path().unlink(missing_ok=True)
            self._text = None
            return action()


@dataclass(frozen=True)
class Package:
    """A binary package in the cache."""

    name: str
    version: str
    path: Path

    def _data(self) -> tarfile.TarFile:
        """The archive of the package's files, which is a member of an `ar` archive."""
        content = self.path.read_bytes()
        offset = 8
        while offset + 60 <= len(content):
            header = content[offset : offset + 60]
            size = int(header[48:58])
            if header[:16].startswith(b"data.tar"):
                return tarfile.open(fileobj=io.BytesIO(content[offset + 60 : offset + 60 + size]))
            offset += 60 + size + size % 2
        raise Failure(f"{self.path} is not a Debian package: delete it and try again")

    def unpack(self, directory: Path, *patterns: str) -> Path:
        """Unpack the files and links whose paths match one of the patterns (of `pathlib`), once, into a separate directory."""
        target = directory / f"{self.name}_{self.version.replace(':', '%')}"
        if target.exists():
            return target
        partial = target.with_name(f"{target.name}.{os.getpid()}.part")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            with self._data() as data:
                for member in data:
                    if any(PurePosixPath(member.name).match(pattern) for pattern in patterns):
                        _extract(data, member, partial)
        except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
            raise Failure(f"{self.path}: {error}: delete it and try again") from None
        if not target.exists():
            partial.replace(target)
        return target
