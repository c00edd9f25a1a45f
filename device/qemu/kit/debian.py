"""Debian's packages: find them in an index, download them with their checksum, take files out of them."""

import functools
import hashlib
import http.client
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

from kit.errors import Failure, Missing, Unavailable, say

MIRROR = "http://deb.debian.org/debian"
SECURITY = "http://deb.debian.org/debian-security"


@dataclass(frozen=True)
class Release:
    """A release of Debian: its number, and the series of Linux and perf that it keeps."""

    number: str
    linux: str


# Stable and oldstable: their packages stay on the mirror until a point release replaces them.
RELEASES = {"trixie": Release("13", "6.12"), "bookworm": Release("12", "6.1")}
SUITES = tuple(RELEASES)

# Suites with newer kernels, which change at any time.
BACKPORTS = "-backports"
NEWER = (f"{SUITES[0]}{BACKPORTS}", "sid")

SOURCES = "source"

T = TypeVar("T")


def _open(url: str):
    """Open a URL, or fail with the reason in one line."""
    try:
        return urllib.request.urlopen(url, timeout=60)
    except urllib.error.HTTPError as error:
        kind = Missing if error.code == 404 else Unavailable
        raise kind(f"{url}: the mirror answers {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise Unavailable(f"{url}: {getattr(error, 'reason', error)}") from None


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
        except (OSError, http.client.HTTPException) as error:
            partial.unlink()
            raise Unavailable(f"{url}: the download broke off: {error}") from None
    if sha256 and digest.hexdigest() != sha256:
        partial.unlink()
        raise Unavailable(f"{url}: SHA256 is {digest.hexdigest()}, the index says {sha256}")
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

    @functools.cached_property
    def _below(self) -> "Archive | None":
        """The release that backports are for; None if this is a whole suite."""
        suite = self.suite.removesuffix(BACKPORTS)
        return None if suite == self.suite else Archive(self.cache, suite, self.architecture, self.mirror)

    def _home(self, package: str) -> "Archive":
        """The archive that a package is taken from: of backports only the kernel's own packages, and what their release lacks."""
        below = self._below
        return below if below and not package.startswith("linux-") and below.entries(package) else self

    def _index(self) -> str:
        """The text of the index, downloaded if the cache has none."""
        if self._text is None:
            path = self._path()
            if not path.exists():
                self.renew()
            try:
                self._text = "\n\n" + lzma.decompress(path.read_bytes()).decode()
            except lzma.LZMAError:
                raise Failure(f"{path} is not a complete index: delete it and try again") from None
        return self._text

    def renew(self) -> bool:
        """Download the index, unless this archive has already; the cache keeps its index until the new one is complete."""
        if self._fresh:
            return False
        path = self._path()
        url = f"{self.mirror}/{path.relative_to(self.cache)}"
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        _download(url, new)
        try:
            lzma.decompress(new.read_bytes())
        except lzma.LZMAError:
            new.unlink()
            raise Unavailable(f"{url}: what the mirror sends is not a complete index") from None
        new.replace(path)
        self._text, self._fresh = None, True
        return True

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
        if found := self._home(package).entries(package):
            return found[-1]
        # The security updates have few packages: what they lack is missing only as far as the mirror is.
        kind = Missing if self.mirror == SECURITY else Failure
        raise kind(f"Debian {self.suite} has no package {package} for {self.architecture}")

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

    def _updated(self, failure: Missing, action: Callable[["Archive"], T]) -> T:
        """Do something with the suite's security updates, if the newest index of the suite itself names a file that is not on its mirror yet."""
        if not self._fresh or self.suite not in SUITES:
            raise failure
        updates = Archive(self.cache, f"{self.suite}-security", self.architecture, SECURITY)
        try:
            return updates.current(lambda: action(updates))
        except Missing:
            raise failure from None

    def package(self, name: str) -> "Package":
        """A binary package, downloaded if need be: the suite's, or that of its security updates."""
        home = self._home(name)
        if home is not self:
            return home.current(lambda: home.package(name))
        try:
            return self._own(name)
        except Missing as failure:
            return self._updated(failure, lambda updates: updates.package(name))

    def _named(self, package: str, beginning: str) -> str | None:
        """The name of the first package with this beginning that another depends on."""
        return next((name for name in self.depends(package) if name.startswith(beginning)), None)

    def kernel(self, name: str) -> "Kernel":
        """The kernel of the newest version, by the name of the package without files that depends on it; downloaded if need be."""
        try:
            image = self._named(name, _IMAGE)
            if image is None:
                raise Failure(f"the package {name} of Debian {self.suite} depends on no {_IMAGE}*")
            # Where the image's package has no files either, it depends on those that have them.
            binary = self._own(self._named(image, "linux-binary-") or image)
            return Kernel(image.removeprefix(_IMAGE), binary, self._own(self._named(image, "linux-modules-") or image))
        except Missing as failure:
            return self._updated(failure, lambda updates: updates.kernel(name))

    def source(self, name: str, ending: str) -> Path:
        """The file of a source package with this ending, downloaded if need be; of several versions the last that is available."""
        found = [
            Remote(f"{entry['Directory']}/{line.split()[2]}", line.split()[0])
            for entry in reversed(self.entries(name))
            for line in entry["Checksums-Sha256"].split("\n")
            if line.endswith(ending)
        ]
        reason: Failure | None = None
        reached = True
        for remote in found:
            if not reached and not (self.cache / remote.path).exists():
                continue
            try:
                path = self._fetch(remote)
            except Unavailable as failure:
                # An index can name files that are not on the mirror yet. While that is not reached, there is only the cache.
                reached = reached and isinstance(failure, Missing)
                reason = failure
                continue
            if reason:
                say(f"{reason}: taking {path.name}")
            return path
        raise reason or Failure(f"the source package {name} of {self.suite} has no file *{ending}")

    def current(self, action: Callable[[], T]) -> T:
        """Do something with this archive; again with a new index if a file that the index of an earlier run names is gone."""
        try:
            return action()
        except Missing:
            if not self.renew():
                raise
            return action()


# The beginning of the names of packages with or of a kernel, before its release.
_IMAGE = "linux-image-"


@dataclass(frozen=True)
class Kernel:
    """A kernel: its release, as `uname -r` prints it, and the packages with its file and its modules."""

    release: str
    binary: "Package"
    modules: "Package"


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
        """Unpack the files and links whose paths match one of the patterns (of `pathlib`), once, into a directory for them alone."""
        wanted = hashlib.sha256("\n".join(patterns).encode()).hexdigest()[:8]
        target = directory / f"{self.name}_{self.version.replace(':', '%')}_{wanted}"
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
