"""Builds QEMU with the performance monitoring units, or unchanged."""

import filecmp
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from kit import insert, pnor
from kit.errors import Failure, say

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
BRIDGE = ROOT / "device" / "capi" / "bridge"

# The suffix of the names of builds without the PMU.
PLAIN = "-plain"

# Debian removes these from QEMU's source; these versions build every QEMU that the kit knows.
PYTHON_PACKAGES = ("meson==1.11.1", "pycotap==1.3.1")

# What each architecture of QEMU gets of libvm_pmu: the PMUs of its CPUs, by the names of features.
PARTS = {"i386": ("k8", "knl"), "x86_64": ("k8", "knl"), "ppc": ("power9",), "ppc64": ("power9",)}

# What the nest of a chip needs in addition: its counters in memory, and the catalogue of their events.
NEST = {"ppc64": ("memory", "tree")}

# And what the bridge calls on every architecture, with the host's own locks. `litmus` has recordings.
CALLED = ("companion", "decode", "litmus", "std")

# Required programs and headers, and the Debian packages that have them.
TOOLS = {
    "cc": "gcc",
    "ninja": "ninja-build",
    "pkg-config": "pkg-config",
    "dpkg-source": "dpkg-dev",
    "patch": "patch",
    "bison": "bison",
    "flex": "flex",
    "cargo": "cargo",
}
HEADERS = {"libfdt.h": "libfdt-dev", "zlib.h": "zlib1g-dev"}


def has(header: str) -> bool:
    """Whether the compiler finds a header."""
    command = ["cc", "-E", "-include", header, "-x", "c", "/dev/null"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def require() -> None:
    """Fail with one line that lists what is missing to build QEMU."""
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if shutil.which("pkg-config") and subprocess.run(["pkg-config", "--exists", "glib-2.0"]).returncode:
        missing.append("libglib2.0-dev")
    if shutil.which("cc"):
        missing += [package for header, package in HEADERS.items() if not has(header)]
    if missing:
        raise Failure(f"to build QEMU, install: apt-get install {' '.join(missing)}")


def run(command: list[str | Path], log: Path, directory: Path, **environment: str) -> None:
    """Run a command with its output in a file; if it fails, show the end of that."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        done = subprocess.run(command, cwd=directory, stdout=output, stderr=subprocess.STDOUT, env=os.environ | environment)
    if done.returncode:
        end = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-15:]
        print("\n".join(end), file=sys.stderr)
        raise Failure(f"{Path(command[0]).name} failed: its whole output is in {log}")


def architectures(targets: str) -> list[str]:
    """The architectures of the targets."""
    return [target.removesuffix("-softmmu") for target in targets.split(",")]


def features(targets: str) -> list[str]:
    """The features of the one library that serves all targets."""
    parts = {part for architecture in architectures(targets) for part in PARTS.get(architecture, ())}
    if not parts:
        raise Failure(f"there is no PMU for {targets}: there are some for {', '.join(PARTS)}")
    nest = [feature for architecture in architectures(targets) for feature in NEST.get(architecture, ())]
    return [*sorted(parts), *CALLED, *nest]


def library(base: Path, targets: str) -> Path:
    """Build libvm_pmu for these targets and install only the static library; returns the directory for pkg-config."""
    prefix = base / "library"
    build = ["cargo", "build", "--profile", "dist", "--locked", "--package", "vm-pmu-capi"]
    build += ["--no-default-features", "--features", ",".join(features(targets))]
    run(build, base / "log" / "library.log", ROOT)
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    described = subprocess.run(metadata, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    target = described.split('"target_directory":"', 1)[1].split('"', 1)[0]
    install = [ROOT / "device" / "capi" / "install.sh", "--from", f"{target}/dist", "--prefix", prefix, "--strip"]
    run(install, base / "log" / "install.log", ROOT)
    for shared in (prefix / "lib").glob("*.so*"):
        shared.unlink()
    return prefix / "lib" / "pkgconfig"


def meson(base: Path) -> Path:
    """A Python with a version of Meson that QEMU accepts."""
    place = base / "python"
    stamp = place / "vm-pmu-packages"
    if not stamp.exists() or stamp.read_text() != " ".join(PYTHON_PACKAGES):
        venv.create(place, with_pip=True, clear=True)
        run([place / "bin" / "pip", "install", "--quiet", *PYTHON_PACKAGES], base / "log" / "python.log", base)
        stamp.write_text(" ".join(PYTHON_PACKAGES))
    return place / "bin" / "python3"


def place_files(tree: Path) -> None:
    """Put the kit's own files, and the bridge, into a tree."""
    shutil.copytree(HERE / "source", tree, dirs_exist_ok=True)
    for path in sorted(BRIDGE.glob("*.[ch]")):
        place = tree / ("include/accel/tcg" if path.suffix == ".h" else "accel/tcg")
        (place / path.name).write_text(path.read_text().replace('#include "tcg_bridge', '#include "accel/tcg/tcg_bridge'))


def fragments() -> list[Path]:
    """The files with fragments."""
    return sorted((HERE / "fragments").glob("*.toml"))


def prepare(original: Path, tree: Path, plain: bool) -> None:
    """Make the tree that is built; files that have not changed since the last time keep their time, and are not compiled again."""
    fresh = tree.with_name(f"{tree.name}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(original, fresh, symlinks=True)
    if plain:
        shutil.copytree(HERE / "source" / "configs", fresh / "configs", dirs_exist_ok=True)
    else:
        place_files(fresh)
        try:
            insert.apply_all(fragments(), fresh)
        except insert.PlaceNotFound as missing:
            raise Failure(f"this QEMU does not have the places that the kit knows:\n{missing}") from None
    if not tree.exists():
        fresh.replace(tree)
        return
    for path in fresh.rglob("*"):
        old = tree / path.relative_to(fresh)
        if path.is_symlink() or not path.is_file():
            continue
        if not old.exists() or not filecmp.cmp(path, old, shallow=False):
            old.parent.mkdir(parents=True, exist_ok=True)
            path.replace(old)
    shutil.rmtree(fresh)


def configure(tree: Path, build: Path, python: Path, targets: str, whole: bool, pkg_config: Path | None, log: Path) -> None:
    """Configure a build, once for each choice of options."""
    options = [
        f"--python={python}",
        f"--target-list={targets}",
        "--enable-tcg",
        "--enable-system",
        "--disable-docs",
        "--disable-install-blobs",
    ]
    if not whole:
        options += ["--without-default-features", "--without-default-devices", "--enable-fdt=system", "--disable-plugins", "--disable-debug-info"]
        options += [f"--with-devices-{architecture}=vm-pmu" for architecture in architectures(targets)]
    if pkg_config:
        # Link only the functions that are called, of the library as of everything else.
        options += ["-Dvm_pmu=enabled", f"-Dpkg_config_path={pkg_config}", "--extra-ldflags=-Wl,--gc-sections"]
    stamp = build / "vm-pmu-options"
    if stamp.exists() and stamp.read_text() == "\n".join(options):
        return
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    run([tree.resolve() / "configure", *options], log, build)
    stamp.write_text("\n".join(options))


def programs(targets: str) -> list[str]:
    """The emulators of the targets."""
    return [f"qemu-system-{architecture}" for architecture in architectures(targets)]


def build(base: Path, version: str, original: Path, targets: str, plain: bool, whole: bool, jobs: int) -> list[Path]:
    """Build the emulators and return where they are."""
    require()
    name = f"{version}{PLAIN}" if plain else version
    tree, place, log = base / "tree" / name, base / "build" / name, base / "log"
    pkg_config = None
    if not plain:
        say("building libvm_pmu")
        pkg_config = library(base, targets)
        if "tree" in features(targets):
            pnor.make(base, pkg_config)
    say(f"preparing QEMU {name}")
    prepare(original, tree, plain)
    configure(tree, place, meson(base), targets, whole, pkg_config, log / f"configure-{name}.log")
    wanted = programs(targets)
    progress = log / f"build-{name}.log"
    say(f"compiling QEMU {name}, which takes some minutes; {progress} shows the progress")
    run(["ninja", f"-j{jobs}", *wanted], progress, place)
    return [place / program for program in wanted]
