"""A copy of the repository, in which faults are planted and which is built apart from everything else."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import Failure
from .fault import Fault

# As cargo-fuzz has them with -s none and --no-trace-compares. In many units, so that little of what a patch leaves alone is compiled again.
COVERAGE = (
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "--cfg fuzzing",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Cdebug-assertions",
)
PROFILE = {
    "CARGO_INCREMENTAL": "1",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "256",
    "CARGO_PROFILE_RELEASE_DEBUG": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_TEST_DEBUG": "0",
}


def output(command: Sequence[str], **options: object) -> str:
    """What a command prints; a Failure with its last line if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Failure(f"{command[0]} {command[1]} failed: {lines[-1] if lines else f'exit code {done.returncode}'}")
    return done.stdout


class Tree:
    """The copy in the folder `work`, of which the builds are kept from one fault, and one run, to the next."""

    def __init__(self, root: Path, work: Path) -> None:
        self.root = root
        # Programs are started in other folders.
        work = work.resolve()
        self.folder = work / "tree"
        self.built = work / "build"

    def sync(self) -> None:
        """Makes the copy equal to the repository, with what is not committed. Only files that differ are written."""
        listed = output(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.root).split("\0")
        wanted = {name for name in listed if name and (self.root / name).is_file()}
        for name in sorted(wanted):
            write_if_different(self.folder / name, (self.root / name).read_bytes(), (self.root / name).stat().st_mode)
        for path in [path for path in self.folder.rglob("*") if path.is_file()]:
            name = path.relative_to(self.folder).as_posix()
            if name not in wanted and not name.startswith(("target/", "fuzz/corpus/", "fuzz/target/")):
                path.unlink()

    def apply(self, fault: Fault, *options: str) -> None:
        """Applies the patch to the copy."""
        # The copy may be within a repository, which git must not find.
        alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}
        try:
            output(["git", "apply", "-C1", *options, "-"], cwd=self.folder, env=alone, input=fault.diff)
        except Failure as failure:
            raise Failure(f"{fault.title} no longer applies: make its patch again ({failure})") from failure

    def check(self, faults: Sequence[Fault]) -> None:
        """Every patch applies."""
        for fault in faults:
            self.apply(fault, "--check")

    @contextmanager
    def planted(self, faults: Sequence[Fault]) -> Iterator[None]:
        """The copy has these faults inside, and is as before afterwards."""
        before = {name: (self.folder / name).read_bytes() for fault in faults for name in fault.files}
        try:
            for fault in faults:
                self.apply(fault)
            yield
        finally:
            # Written, so that cargo sees newer files than those that it compiled.
            for name, content in before.items():
                (self.folder / name).write_bytes(content)

    def build(self, targets: Sequence[str]) -> None:
        """Builds targets of the fuzzer."""
        binaries = [word for target in targets for word in ("--bin", target)]
        command = ["cargo", "+nightly", "build", "--quiet", "--release", "--locked", "--target", host(), "--target-dir", str(self.built)]
        environment = {**os.environ, **PROFILE, "RUSTFLAGS": " ".join(COVERAGE)}
        done = subprocess.run([*command, *binaries], cwd=self.folder / "fuzz", env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
            raise Failure(f"the targets {' '.join(targets)} do not build: {errors[0] if errors else done.stderr.strip()[-300:]}")

    def program(self, target: str) -> Path:
        """The program of a target."""
        return self.built / host() / "release" / target

    def make_seeds(self) -> Path:
        """Encodes the litmus files as seeds, where the tree has the program for it. Returns the folder of their targets' folders."""
        corpus = self.folder / "fuzz" / "corpus"
        if (self.folder / "device/examples/litmus_seeds.rs").is_file():
            command = ["cargo", "run", "--quiet", "--release", "--locked", "--package", "vm-pmu", "--features", "arbitrary"]
            environment = {**os.environ, **PROFILE}
            arguments = ["--target-dir", str(self.built / "seeds"), "--example", "litmus_seeds", "--", "guest-tests/litmus", "fuzz/corpus"]
            output([*command, *arguments], cwd=self.folder, env=environment)
        return corpus


def write_if_different(path: Path, content: bytes, mode: int) -> None:
    """Writes a file unless it has that content already: cargo compiles what is newer."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    path.chmod(mode & 0o777)


_host: str | None = None


def host() -> str:
    """The triple that the compiler builds for."""
    global _host
    if _host is None:
        lines = output(["rustc", "+nightly", "-vV"]).splitlines()
        _host = next(line.split()[1] for line in lines if line.startswith("host: "))
    return _host
