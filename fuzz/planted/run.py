"""Runs: a target of the fuzzer for some seconds of one core, and the tests until one fails."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import Failure
from .tree import PROFILE, Tree

# The longest input of each target, as the short fuzzing of .ci/run has them.
LONGEST = {
    "k8": 2048,
    "knl_untile": 2048,
    "reference_knl_untile": 2048,
    "power9_nest": 2048,
    "power9_memory": 2048,
    "knl_pci": 1024,
    "snapshot": 2048,
}
LONGEST_OF_OTHERS = 4096

# An input that takes so many seconds is a find.
HANGS = 20

# The exit codes of libFuzzer after a crash, an input that takes too long, and one that takes too much memory.
FINDS = (77, 70, 71)

# On a busy machine a run has so many times its seconds to end.
PATIENCE = 6

# The tests that find the most in the least time come first.
TESTS = (
    ("vm-pmu-compare", ("--package", "vm-pmu-compare")),
    ("vm-pmu-arch", ("--package", "vm-pmu-arch", "--all-features")),
    ("vm-pmu", ("--package", "vm-pmu", "--all-features")),
    ("the rest", ("--workspace", "--exclude", "vm-pmu-compare", "--exclude", "vm-pmu-arch", "--exclude", "vm-pmu")),
)


@dataclass(frozen=True)
class Run:
    """What a target did."""

    found: bool
    seconds: float
    executions: int
    # What it printed last, for a find that should not be.
    tail: str = ""
    # Places in the code that its inputs reached.
    edges: int = 0


@dataclass(frozen=True)
class Kept:
    """Folders of what a target leaves behind."""

    corpus: Path
    artifacts: Path


def executions(log: str) -> int:
    """How many inputs the target has executed, by what libFuzzer prints."""
    final = re.findall(r"^stat::number_of_executed_units:\s*(\d+)", log, re.MULTILINE)
    counted = final or re.findall(r"^#(\d+)\s", log, re.MULTILINE)
    return int(counted[-1]) if counted else 0


def edges(log: str) -> int:
    """How many places in the code the inputs reached."""
    counted = re.findall(r"^#\d+\s.* cov: (\d+) ", log, re.MULTILINE)
    return int(counted[-1]) if counted else 0


def shown(log: str) -> str:
    """What a target printed of its find: its own message without the stack, or the last lines where it has none."""
    _, panicked, message = log.rpartition(" panicked at ")
    lines = (message if panicked else log).splitlines()[1 if panicked else -60 :]
    ends = (at for at, line in enumerate(lines) if re.match(r"stack backtrace:|note: |==\d+==", line))
    return "\n".join(lines[: next(ends, None)]).strip()


def used(process: int) -> float | None:
    """The processor's seconds that a process has used, where the system tells."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


def fuzz(program: Path, target: str, seeds: Sequence[Path], seconds: float, kept: Kept | None = None, seed: int = 1) -> Run:
    """Runs a target until it finds something or has used the core for `seconds`. It leaves nothing behind but in the folders of `kept`."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        # libFuzzer measures by the clock, and a long run may share a busy machine: it waits longer before an input is a hang.
        hangs = HANGS * PATIENCE if kept else HANGS
        kept = kept or Kept(here / "corpus", here)
        for place in (kept.corpus, kept.artifacts):
            place.mkdir(parents=True, exist_ok=True)
        # The target runs in this folder, so that paths from where its user is would name nothing.
        command = [str(program.resolve()), str(kept.corpus.resolve()), *(str(path.resolve()) for path in seeds if path.is_dir())]
        longest = LONGEST.get(target, LONGEST_OF_OTHERS)
        command += [f"-max_len={longest}", f"-seed={seed}", f"-timeout={hangs}", f"-report_slow_units={hangs}"]
        command += ["-print_final_stats=1", f"-artifact_prefix={kept.artifacts.resolve()}/", f"-max_total_time={int(seconds * PATIENCE) + 1}"]
        started = time.monotonic()
        with (here / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log, cwd=folder) as process:
            spent = 0.0
            stopped = False
            while process.poll() is None:
                time.sleep(0.05)
                now = used(process.pid)
                spent = max(spent, time.monotonic() - started if now is None else now)
                if spent >= seconds and process.poll() is None:
                    stopped = True
                    process.send_signal(signal.SIGINT)
                    try:
                        process.wait(20)
                    except subprocess.TimeoutExpired:
                        process.kill()
        text = (here / "log").read_text(encoding="utf-8", errors="replace")
        found = process.returncode in FINDS and not stopped
        if process.returncode != 0 and not stopped and not found:
            raise Failure(f"{target} did not run: exit code {process.returncode}, {' '.join(text.splitlines()[-1:])}")
        return Run(found, spent, executions(text), shown(text) if found else "", edges(text))


def failed_tests(text: str) -> list[str]:
    """The tests that failed, by what cargo prints."""
    return re.findall(r"^test (\S+)(?: - [^\n]*?)? \.\.\. FAILED$", text, re.MULTILINE)


def limited(command: Sequence[str], tree: Tree, environment: dict[str, str], limit: float) -> tuple[int | None, str]:
    """Runs a command in the tree. Returns its exit code, none if it was ended after `limit` seconds, and what it printed."""
    # In a group of its own, as the tests that it starts must end with it.
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "start_new_session": True}
    with subprocess.Popen(command, cwd=tree.folder, env=environment, **options) as process:
        try:
            text, _ = process.communicate(timeout=limit)
            return process.returncode, text
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            return None, text


def compare(tree: Tree, family: str, limit: float) -> tuple[str, str] | None:
    """Runs the comparison of a part with its reference. Returns the package and the first test that failed, or none."""
    package = TESTS[0][0]
    command = ["cargo", "test", "--locked", "--target-dir", str(tree.built / "tests"), "--package", package, "--test", "all", f"{family}::"]
    _, text = limited(command, tree, {**os.environ, **PROFILE}, limit)
    failed = failed_tests(text)
    return (package, failed[0]) if failed else None


def test(tree: Tree, limit: float) -> tuple[str, str] | None:
    """Runs the tests until some fail. Returns the package and the first that failed, or none if all passed. Tests that take more than
    `limit` seconds have failed."""
    environment = {**os.environ, **PROFILE}
    for package, chosen in TESTS:
        command = ["cargo", "test", "--locked", "--target-dir", str(tree.built / "tests"), *chosen]
        ended, text = limited(command, tree, environment, limit)
        if ended is None:
            return package, "it does not end"
        if ended != 0:
            failed = failed_tests(text)
            return package, failed[0] if failed else "it does not build"
    return None
