"""Stages: the tests that mutants meet, the cheapest first. What one stage misses goes to the next."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planted.errors import Failure
from planted.tree import PROFILE

from .mutant import Mutant, outcomes


@dataclass(frozen=True)
class Stage:
    """Some tests."""

    name: str
    package: str
    # What cargo test is told.
    arguments: tuple[str, ...]
    # Seconds after which a mutant's tests are stopped.
    limit: int
    # The mutants that these tests may notice, by the beginning of the file's name.
    of: tuple[str, ...] = ("",)
    # What a test's name must hold one of, if any.
    tests: tuple[str, ...] = ()

    def meets(self, mutant: Mutant, last: str) -> bool:
        """Whether a mutant meets these tests after those of the stage `last`. One that has met all begins anew: a test may be new."""
        names = [stage.name for stage in STAGES]
        before = names.index(last) if last in names[:-1] else -1
        return mutant.file.startswith(self.of) and names.index(self.name) > before


# All features that tests of the device need, except the companion, which is as much code as all the rest.
NEAR = "--features=litmus,memory,tree,snapshot,kvm,vm-device,vm-superio,eventfd"


def near(name: str, of: tuple[str, ...], *tests: str) -> Stage:
    """Some modules of the device's integration tests, for the code that they are about."""
    return Stage(name, "vm-pmu", (NEAR, "--test=all"), 120, of, tuple(f"{test}::" for test in tests))


UNTILE = ("device/src/untile/", "device/src/pci/", "arch/src/die/", "device/src/topology/untile", "arch/src/knl/untile/")
CHIPS = ("device/src/memory/", "device/src/topology/collection", "arch/src/power9/nest/", "arch/src/power9/collection/")
MACHINE = ("device/src/topology/", "device/src/bus/", "device/src/irq/", "device/src/layout/", "device/src/countdown", "device/src/location", "arch/src/lock", "device/src/cpuid")

# The litmus files know nearly every rule, and run in less than a second. The tests of the crates and the references follow.
STAGES = (
    Stage("litmus files", "vm-pmu", ("--features=litmus", "--test=suite"), 30),
    Stage("tests of vm-pmu-arch", "vm-pmu-arch", ("--all-features", "--tests"), 120, ("arch/",)),
    Stage("unit tests of vm-pmu", "vm-pmu", (NEAR, "--lib"), 120, ("device/",)),
    near("tests of boxes", UNTILE, "untile", "levels", "pci", "agents", "ports", "vm_device"),
    near("tests of chips", CHIPS, "nest", "nest_command", "collection", "tree"),
    near("tests of device trees", ("device/src/tree/",), "tree"),
    near("tests of machines", MACHINE, "threads", "restore", "lines", "builder", "countdown", "triggers", "levels", "supplied", "steady", "power9"),
    near("tests of KVM", ("device/src/kvm/",), "kvm"),
    Stage("references", "vm-pmu-compare", ("--tests",), 300, ("arch/",)),
    Stage("all tests of vm-pmu", "vm-pmu", ("--all-features", "--tests"), 600),
)


# A mutant that breaks no more than a lint is viable. The same for all builds, so that none is made twice.
ENVIRONMENT = {**PROFILE, "CARGO_ENCODED_RUSTFLAGS": "--cap-lints=warn"}


def check(stage: Stage, tree: Path) -> None:
    """The tests pass without a change. cargo-mutants would try the package of the mutant, and not that of the tests."""
    command = ["cargo", "test", "--quiet", "--locked", "--package", stage.package, *stage.arguments, "--", *stage.tests]
    done = subprocess.run(command, cwd=tree, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"the stage '{stage.name}' fails in the code as it is:\n{(done.stdout + done.stderr).strip()[-2000:]}")


def command(stage: Stage, tree: Path, output: Path, chosen: Sequence[str]) -> list[str]:
    """How cargo-mutants is told to run a stage for the mutants that `chosen` names.

    In place, so that one folder of builds serves all. What cargo test is told is told to the build too, so that nothing else is built.
    """
    arguments = [f"--cargo-arg={word}" for word in stage.arguments]
    options = ["--in-place", "--dir", str(tree), "--output", str(output), "--timeout", str(stage.limit), "--test-package", stage.package]
    return ["cargo", "mutants", *options, "--baseline", "skip", "--no-times", "--colors", "never", *arguments, *chosen, "--", "--", *stage.tests]


def run(stage: Stage, tree: Path, chosen: Sequence[str]) -> dict[str, str]:
    """Runs a stage. Returns the outcome of each mutant's name."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command(stage, tree, Path(folder), chosen), env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False
        )
        file = Path(folder) / "mutants.out/outcomes.json"
        found = outcomes(file.read_text(encoding="utf-8")) if file.is_file() else {}
    # 2: some are missed; 3: some took too long.
    if done.returncode not in (0, 2, 3):
        raise Failure(f"cargo mutants failed in the stage '{stage.name}':\n{(done.stdout + done.stderr).strip()[-2000:]}")
    return found
