"""Linux's own tests of the PMU of POWER, from Debian's source package of the kernel, compiled for the guest."""

import re
import shutil
import tarfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kit import image, programs
from kit.debian import SOURCES, Archive
from kit.errors import Failure

ARCHITECTURE = "ppc64el"

# Folders with tests, relative to that of the PMU.
GROUPS = (".", "ebb", "sampling_tests", "event_code_tests")

_POWERPC = PurePosixPath("tools/testing/selftests/powerpc")


@dataclass(frozen=True)
class Test:
    """One compiled test."""

    group: str
    program: Path

    @property
    def name(self) -> str:
        """The test's name, with its folder's."""
        return self.program.name if self.group == "." else f"{self.group}/{self.program.name}"


def _wanted(path: PurePosixPath) -> bool:
    """Whether a file of Linux is a source of the tests."""
    if path.parent == _POWERPC or path.is_relative_to(_POWERPC / "include"):
        return path.suffix in (".c", ".h")
    return path.is_relative_to(_POWERPC / "pmu") and path.suffix in (".c", ".h", ".S")


def _sources(base: Path, suite: str) -> Path:
    """The sources of the tests, unpacked once: they are one file in a thousand, so the package is read as a stream."""
    path = Archive(base / "debian", suite, SOURCES).source("linux", ".orig.tar.xz")

    def fill(directory: Path) -> None:
        """Unpack the files that are wanted."""
        with tarfile.open(path, "r|xz") as archive:
            for member in archive:
                name = PurePosixPath(*PurePosixPath(member.name).parts[1:])
                if member.isfile() and _wanted(name):
                    target = directory / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("wb") as copy:
                        shutil.copyfileobj(archive.extractfile(member), copy)

    try:
        return image.once(base / "files" / suite / path.name.removesuffix(".orig.tar.xz"), fill) / _POWERPC
    except (tarfile.TarError, EOFError) as error:
        raise Failure(f"{path}: {error}: delete it and try again") from None


def _is_test(source: Path) -> bool:
    """Whether a source is a test of its own, and not a part of others."""
    return source.suffix == ".c" and re.search(r"^int main\(", source.read_text(), re.MULTILINE) is not None


def build(base: Path, suite: str) -> list[Test]:
    """Compile all tests of a suite's kernel, statically, once."""
    powerpc = _sources(base, suite)
    pmu = powerpc / "pmu"
    options = ["-std=gnu99", "-O2", "-m64", "-no-pie", "-static", "-s", f"-I{powerpc}/include", '-DGIT_VERSION="Debian"']

    def fill(directory: Path) -> None:
        """Compile what the tests share, and each test with all of that behind it."""
        shared = [powerpc / "harness.c", powerpc / "utils.c"]
        tests = []
        for group in GROUPS:
            for source in sorted((pmu / group).glob("*.[cS]")):
                if _is_test(source):
                    tests.append((group, source))
                else:
                    shared.append(source)
        objects = []
        for source in shared:
            objects.append(directory / f"{source.parent.name}-{source.stem}.o")
            programs.compiler(ARCHITECTURE, *options, "-c", "-o", objects[-1], source)

        def link(test: tuple[str, Path]) -> None:
            """Compile one test."""
            group, source = test
            (directory / group).mkdir(exist_ok=True)
            programs.compiler(ARCHITECTURE, *options, "-o", directory / group / source.stem, source, *objects)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(link, tests))
        for path in objects:
            path.unlink()

    made = image.once(base / "selftests" / f"{suite}-{powerpc.parents[3].name}", fill)
    return [Test(group, path) for group in GROUPS for path in sorted((made / group).iterdir()) if path.is_file()]
