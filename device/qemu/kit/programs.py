"""The test programs: their sources compiled for an architecture."""

import subprocess
from pathlib import Path

from kit.errors import Failure

SOURCES = Path(__file__).resolve().parent.parent / "programs"

# Of every architecture: programs in C, and scripts.
_SCRIPTS = ("compress",)
_C = ("dma.c", "nodes.c", "seconds.c", "share.c", "steps.c")

# For each of Debian's architectures: the folder of its own programs, the prefix of the compiler, and the package with it.
TARGETS = {
    "amd64": ("x86-64", "x86_64-linux-gnu-", "gcc-x86-64-linux-gnu"),
    "ppc64el": ("ppc64le", "powerpc64le-linux-gnu-", "gcc-powerpc64le-linux-gnu"),
}


def compiler(architecture: str, *arguments: str | Path) -> None:
    """Run an architecture's C compiler."""
    _, prefix, package = TARGETS[architecture]
    try:
        done = subprocess.run([prefix + "gcc", *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        raise Failure(f"{prefix}gcc is missing: apt-get install {package} (on its own architecture: gcc)") from None
    if done.returncode:
        lines = done.stderr.splitlines() or ["no message"]
        raise Failure(f"{prefix}gcc: {next((line for line in lines if 'error' in line), lines[-1])}")


def build(architecture: str, directory: Path) -> list[Path]:
    """Compile all test programs for an architecture into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    programs = []
    for source in sorted((SOURCES / TARGETS[architecture][0]).glob("*.S")):
        program = directory / source.stem
        # No note before the first instruction, and fixed addresses.
        compiler(architecture, "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", "-o", program, source)
        programs.append(program)
    for source in [*(SOURCES / name for name in _C), *sorted((SOURCES / TARGETS[architecture][0]).glob("*.c"))]:
        program = directory / source.stem
        compiler(architecture, "-O2", "-static", "-o", program, source)
        programs.append(program)
    return programs + [SOURCES / name for name in _SCRIPTS]


def sources(architecture: str) -> list[Path]:
    """All source files of the test programs of an architecture."""
    return sorted((SOURCES / TARGETS[architecture][0]).iterdir()) + [SOURCES / name for name in (*_C, *_SCRIPTS)]
