"""Guest images: a kernel of Debian, and a first file system with BusyBox, perf and the test programs."""

import functools
import hashlib
import lzma
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kit import programs
from kit.cpio import Writer
from kit.debian import Archive, Package
from kit.errors import Failure, say
from kit.libraries import INTERPRETERS, Resolver

KERNELS = {"amd64": "linux-image-amd64", "ppc64el": "linux-image-powerpc64le"}
MODULES = {"amd64": ("intel-uncore",), "ppc64el": ()}

# QEMU's firmware is the same for every suite in the guest.
FIRMWARE_SUITE = "trixie"
FIRMWARE = {
    "qemu-system-data": ("usr/share/qemu/*.bin", "usr/share/qemu/skiboot.lid"),
    "seabios": ("usr/share/seabios/bios-256k.bin",),
}

INIT = Path(__file__).with_name("init.sh")

# An image is made again when one of these changes.
MADE_BY = (INIT, *(Path(__file__).with_name(f"{module}.py") for module in ("cpio", "image", "libraries", "programs")))


def digest(paths: Iterable[Path]) -> str:
    """A short name for the contents of files."""
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


@dataclass(frozen=True)
class Image:
    """What QEMU loads: a kernel and its first file system; `modules` are those modules of the kernel that a machine may need."""

    directory: Path

    @property
    def suite(self) -> str:
        """The suite that it is of, which begins the name of its directory."""
        return self.directory.name.split("-")[0]

    @property
    def kernel(self) -> Path:
        """The kernel."""
        return self.directory / "kernel"

    @property
    def archive(self) -> Path:
        """The first file system."""
        return self.directory / "root.cpio"

    def module(self, name: str) -> Path:
        """A module of the kernel, not compressed."""
        return self.directory / f"{name}.ko"


def once(directory: Path, fill: Callable[[Path], None]) -> Path:
    """A directory that appears only when it is complete, and is filled once."""
    if not directory.exists():
        partial = directory.with_name(f"{directory.name}.{os.getpid()}.part")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            fill(partial)
            if not directory.exists():
                partial.replace(directory)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return directory


def _only(package: Package, root: Path, pattern: str) -> Path:
    """The one file of an unpacked package that matches."""
    found = sorted(root.glob(pattern))
    if not found:
        raise Failure(f"the package {package.name} {package.version} has no {pattern}")
    return found[0]


def _elf(kernel: bytes) -> bytes | None:
    """The ELF file in a compressed kernel of x86 (at the place given by Linux's boot protocol); None if no tool here decompresses it."""
    start = (kernel[0x1F1] + 1) * 512 + struct.unpack_from("<I", kernel, 0x248)[0]
    # The last four bytes are the length of the ELF file.
    payload = kernel[start : start + struct.unpack_from("<I", kernel, 0x24C)[0] - 4]
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd") and shutil.which("zstd"):
        return subprocess.run(["zstd", "-dc"], input=payload, capture_output=True, check=True).stdout
    return None


def _kernel(archive: Archive, files: Path, directory: Path) -> None:
    """Put a kernel and its modules into the image."""
    architecture = archive.architecture
    package = archive.newest(KERNELS[architecture])
    root = package.unpack(files, "boot/vmlinu*", *(f"{name}.ko*" for name in MODULES[architecture]))
    content = _only(package, root, "boot/vmlinu*").read_bytes()
    if architecture == "amd64":
        # QEMU can start the ELF file, which the guest need not decompress: this saves a second.
        content = _elf(content) or content
    (directory / "kernel").write_bytes(content)
    for name in MODULES[architecture]:
        module = _only(package, root, f"**/{name}.ko*")
        data = module.read_bytes()
        (directory / f"{name}.ko").write_bytes(lzma.decompress(data) if module.suffix == ".xz" else data)


def _root(archive: Archive, files: Path, directory: Path) -> None:
    """Make the first file system of the image."""
    architecture = archive.architecture
    root = Writer()
    for name in ("proc", "sys", "root", "tmp", "host", "sbin", "usr/bin", "usr/sbin"):
        root.directory(name)
    root.device("dev/console", 5, 1)
    root.file("init", INIT.read_bytes(), executable=True)

    busybox = archive.package("busybox-static")
    root.file("bin/busybox", _only(busybox, busybox.unpack(files, "*bin/busybox"), "**/busybox").read_bytes(), executable=True)

    package = archive.package("linux-perf")
    perf = _only(package, package.unpack(files, "usr/bin/perf*"), "usr/bin/perf*")
    root.file("bin/perf", perf.read_bytes(), executable=True)
    interpreter = INTERPRETERS[architecture]
    for soname, path in Resolver(archive, files).closure(perf, package.name).items():
        folder = "lib64" if soname == interpreter.name else "lib"
        root.file(f"{folder}/{soname}", path.read_bytes(), executable=True)

    for program in programs.build(architecture, directory / "programs"):
        root.file(f"programs/{program.name}", program.read_bytes(), executable=True)
    (directory / "root.cpio").write_bytes(root.finish())


def image(base: Path, suite: str, architecture: str) -> Image:
    """The image of a suite for an architecture below the directory `base`, built if it does not exist or was built from other sources."""
    archive = Archive(base / "debian", suite, architecture)
    files = base / "files" / suite / architecture

    def fill(directory: Path) -> None:
        """Build the image."""
        archive.current(lambda: _kernel(archive, files, directory))
        archive.current(lambda: _root(archive, files, directory))

    images = base / "images"
    made = once(images / f"{suite}-{architecture}-{digest([*MADE_BY, *programs.sources(architecture)])}", fill)
    for old in images.glob(f"{suite}-{architecture}-*"):
        if old != made and old.suffix != ".part":
            shutil.rmtree(old, ignore_errors=True)
    return Image(made)


@functools.cache
def available(base: Path, suites: tuple[str, ...], architecture: str) -> Image:
    """The image of the first of the suites whose packages are on the mirror: after a point release an index can name files that come later.

    A command looks for it once.
    """
    for suite, following in zip(suites, suites[1:]):
        try:
            return image(base, suite, architecture)
        except Failure as failure:
            if not failure.missing:
                raise
            say(f"{failure}: taking {following} in place of {suite}")
    return image(base, suites[-1], architecture)


def firmware(base: Path) -> Path:
    """The directory with QEMU's firmware for all machines, to give to QEMU by `-L`."""

    archive = Archive(base / "debian", FIRMWARE_SUITE, "amd64")

    def fill(directory: Path) -> None:
        """Collect the files of all packages."""
        for name, patterns in FIRMWARE.items():
            package = archive.current(lambda name=name: archive.package(name))
            root = package.unpack(base / "files" / FIRMWARE_SUITE / "all", *patterns)
            for path in root.rglob("*"):
                if path.is_file():
                    shutil.copy(path, directory / path.name)

    return once(base / "firmware", fill)
