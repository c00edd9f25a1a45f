"""Linux's own tests of the PMU of POWER, from Debian's source package of the kernel, compiled for the guest."""

import re
import shutil
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from kit import image, programs
from kit.debian import SOURCES, Archive
from kit.errors import Failure, Unavailable
from kit.guest import Guest

ARCHITECTURE = "ppc64el"

# Folders with tests, relative to the PMU's folder.
GROUPS = (".", "ebb", "sampling_tests", "event_code_tests")

_POWERPC = PurePosixPath("tools/testing/selftests/powerpc")


@dataclass(frozen=True)
class Test:
    """One compiled test."""

    group: str
    program: Path

    @property
    def name(self) -> str:
        """The test's name, with its folder."""
        return self.program.name if self.group == "." else f"{self.group}/{self.program.name}"


OUTCOMES = ("pass", "skip", "fail")

# Ends processes that a killed test has left, as they would keep the PMU.
_END_ALL = """\
end_all() {
    for process in /proc/[0-9]*; do
        case $(readlink $process/exe) in /selftests/*) kill -KILL ${process#/proc/} ;; esac
    done
}
"""

# What the guest prints before and after a test, and what Linux's test harness prints for a skipped one.
_STARTS = "@test "
_STATUS = "@status "
_SKIPPED = "skip: "


@dataclass(frozen=True)
class Result:
    """The result of a test: one of `OUTCOMES`, the reason if it did not pass, and the seconds of the host that it took."""

    test: Test
    outcome: str
    reason: str = ""
    seconds: float = 0.0


def _wanted(path: PurePosixPath) -> bool:
    """Whether a file of Linux is a source of the tests."""
    if path.parent == _POWERPC or path.is_relative_to(_POWERPC / "include"):
        return path.suffix in (".c", ".h")
    return path.is_relative_to(_POWERPC / "pmu") and path.suffix in (".c", ".h", ".S")


def _sources(base: Path, suite: str) -> Path:
    """The sources of the tests, unpacked once; if the mirror does not have them, those that were unpacked last.

    They are one file in a thousand, so the package is read as a stream.
    """
    archive = Archive(base / "debian", suite, SOURCES)
    unpacked = base / "files" / suite
    try:
        path = archive.current(lambda: archive.source("linux", ".orig.tar.xz"))
    except Unavailable:
        if last := image.kept(unpacked, "linux_*"):
            return last[0] / _POWERPC
        raise

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
        return image.once(unpacked / path.name.removesuffix(".orig.tar.xz"), fill) / _POWERPC
    except (tarfile.TarError, EOFError) as error:
        raise Failure(f"{path}: {error}: delete it and try again") from None


def _is_test(source: Path) -> bool:
    """Whether a source is a test, and not a part of others."""
    return source.suffix == ".c" and re.search(r"^int main\(", source.read_text(), re.MULTILINE) is not None


# A test gives up after a fixed time. On a slow host it needs more: its limit is multiplied by this.
MORE_TIME = 4


def with_more_time(harness: str) -> str:
    """The source of Linux's harness, with a longer limit for each test."""
    limit = "alarm(timeout)"
    if limit not in harness:
        raise Failure(f"harness.c of Linux has no {limit}: see in device/qemu/kit/selftests.py how tests get more time")
    return harness.replace(limit, f"alarm(timeout * {MORE_TIME})")


def build(base: Path, suite: str) -> list[Test]:
    """Compile all tests of a suite's kernel, statically, once."""
    powerpc = _sources(base, suite)
    pmu = powerpc / "pmu"
    options = ["-std=gnu99", "-O2", "-m64", "-no-pie", "-static", "-s", f"-I{powerpc}/include", '-DGIT_VERSION="Debian"']

    def fill(directory: Path) -> None:
        """Compile what the tests share, and link each test with all of that."""
        harness = directory / "harness.c"
        harness.write_text(with_more_time((powerpc / harness.name).read_text()))
        shared = [harness, powerpc / "utils.c"]
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
        for path in [harness, *objects]:
            path.unlink()

    made = image.once(base / "selftests" / f"{powerpc.parents[3].name}-{image.digest([Path(__file__)])}", fill)
    return [Test(group, path) for group in GROUPS for path in sorted((made / group).iterdir()) if path.is_file()]


def known(path: Path) -> set[str]:
    """The tests that a file names, one per line; a reason may follow a `#`."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    return {name for line in lines if (name := line.partition("#")[0].strip())}


def patience(each: int) -> float:
    """Seconds without a line after which a guest hangs, if a test may take `each`: BusyBox ends a test before that."""
    return each + 30.0


def _script(tests: list[Test], each: int) -> str:
    """The guest's command, which runs tests one after the other, and leaves none of their processes."""
    lines = [_END_ALL, "cd /tmp"]
    for test in tests:
        lines += [
            f"echo '{_STARTS}{test.name}'",
            f"timeout -s KILL {each} /selftests/{test.name}",
            "status=$?; end_all; echo",
            f'echo "{_STATUS}$status"',
        ]
    return "\n".join(lines)


def _result(test: Test, status: int | None, lines: list[str], each: int) -> Result:
    """Judge a test by its exit status (None if the guest did not survive) and by what it printed."""
    if status is None:
        return Result(test, "fail", "the guest did not survive it")
    if status == 128 + 9:
        return Result(test, "fail", f"no end after {each} s")
    if status == 0 and not any(line.startswith(_SKIPPED) for line in lines):
        return Result(test, "pass")
    reasons = [line.strip() for line in lines if line.startswith(("[SKIP]", "[FAIL]", "!!"))]
    return Result(test, "fail" if status else "skip", reasons[0] if reasons else "")


def run(guests: list[Guest], tests: list[Test], each: int, logs: Path, report: Callable[[Result], None]) -> None:
    """Run tests in guests that work at the same time, and report each result."""
    with ThreadPoolExecutor(len(guests)) as pool:
        # Neighbours take about as long as each other, so each guest takes them in turn.
        shares = [tests[first :: len(guests)] for first in range(len(guests))]
        for done in [pool.submit(_run, guest, share, each, logs, report) for guest, share in zip(guests, shares)]:
            done.result()


def _run(guest: Guest, tests: list[Test], each: int, logs: Path, report: Callable[[Result], None]) -> None:
    """Run tests one after the other: if a guest does not survive a test, another one is booted for the rest."""
    guest.patient = True
    remaining = list(tests)
    lines: list[str] = []
    began = time.monotonic()

    def finish(status: int | None) -> None:
        """The first of the remaining tests has ended."""
        test = remaining.pop(0)
        log = logs / "selftests" / f"{test.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("\n".join(lines) + "\n")
        report(replace(_result(test, status, lines, each), seconds=time.monotonic() - began))

    def line(text: bytes) -> None:
        """Take a line of the guest's output."""
        nonlocal began
        decoded = text.decode(errors="replace")
        if decoded.startswith(_STARTS):
            lines.clear()
            began = time.monotonic()
        elif decoded.startswith(_STATUS):
            finish(int(decoded.removeprefix(_STATUS)))
        else:
            lines.append(decoded)

    while remaining:
        guest.files = {f"selftests/{test.name}": test.program for test in remaining}
        guest.booted = 0.0
        try:
            guest.run(_script(remaining, each), line)
        except Failure:
            if not guest.booted:
                raise
        if not guest.booted:
            raise Failure(f"the guest does not boot; its log is {guest.log}")
        if remaining:
            finish(None)
