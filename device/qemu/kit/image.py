"""Guest images: a kernel of Debian, a file system with Debian's BusyBox and perf, and one with the kit's first process and test programs."""

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
from kit.debian import SUITES, Archive, Package
from kit.errors import Failure, Missing, Unavailable, say
from kit.libraries import INTERPRETERS, Resolver

KERNELS = {"amd64": "linux-image-amd64", "ppc64el": "linux-image-powerpc64le"}
MODULES = {"amd64": ("intel-uncore",), "ppc64el": ("kvm", "kvm-hv")}

# QEMU's firmware is the same for every suite in the guest.
FIRMWARE_SUITE = "trixie"
FIRMWARE = {
    "qemu-system-data": ("usr/share/qemu/*.bin", "usr/share/qemu/skiboot.lid"),
    "seabios": ("usr/share/seabios/bios-256k.bin",),
}

INIT = Path(__file__).with_name("init.sh")


def _modules(*names: str) -> tuple[Path, ...]:
    """The files of modules of the kit."""
    return tuple(Path(__file__).with_name(f"{name}.py") for name in names)


# What is of Debian is made again when one of these changes, and what is of the kit when one of those or of the programs' sources does.
MADE_BY = _modules("cpio", "image", "libraries")
OWN_MADE_BY = (INIT, *_modules("cpio", "programs"))

# In the directory of an image: the kernel's release, and the names of images that this one is booted in place of.
_RELEASE = "release"
_IN_PLACE_OF = "in-place-of"


def digest(paths: Iterable[Path]) -> str:
    """A short name for the contents of files."""
    total = hashlib.sha256()
    for path in paths:
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


@dataclass(frozen=True)
class Image:
    """What QEMU loads: Debian's kernel, its modules and file system in `directory`, and the kit's own file system in `own`."""

    directory: Path
    own: Path

    @property
    def suite(self) -> str:
        """The suite that it is of, which begins the name of its directory."""
        return self.directory.name.rsplit("-", 2)[0]

    @property
    def release(self) -> str:
        """The kernel's release."""
        return (self.directory / _RELEASE).read_text().strip()

    @property
    def kernel(self) -> Path:
        """The kernel."""
        return self.directory / "kernel"

    @property
    def archive(self) -> bytes:
        """The first file system: two archives, which Linux unpacks one after the other."""
        return (self.directory / "root.cpio").read_bytes() + (self.own / "own.cpio").read_bytes()

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


def _only(package: Package, root: Path, *patterns: str) -> Path:
    """The one file of an unpacked package that matches one of the patterns."""
    found = sorted(path for pattern in patterns for path in root.glob(pattern))
    if not found:
        raise Failure(f"the package {package.name} {package.version} has no {' or '.join(patterns)}")
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
    names = MODULES[architecture]
    kernel = archive.kernel(KERNELS[architecture])
    places = ("boot/vmlinu*", "usr/lib/modules/*/vmlinuz")
    wanted = (*places, *(f"{name}.ko*" for name in names))
    content = _only(kernel.binary, kernel.binary.unpack(files, *wanted), *places).read_bytes()
    if architecture == "amd64":
        # QEMU can start the ELF file, which the guest need not decompress: this saves a second.
        content = _elf(content) or content
    (directory / "kernel").write_bytes(content)
    (directory / _RELEASE).write_text(f"{kernel.release}\n")
    for name in names:
        module = _only(kernel.modules, kernel.modules.unpack(files, *wanted), f"**/{name}.ko*")
        data = module.read_bytes()
        (directory / f"{name}.ko").write_bytes(lzma.decompress(data) if module.suffix == ".xz" else data)


def _libraries(resolver: Resolver, program: Path, package: str) -> dict[str, Path]:
    """The libraries that a program of a package needs, by their places in the guest."""
    interpreter = INTERPRETERS[resolver.archive.architecture].name
    closure = resolver.closure(program, package)
    return {f"{'lib64' if soname == interpreter else 'lib'}/{soname}": path for soname, path in closure.items()}


def _root(archive: Archive, files: Path, directory: Path) -> None:
    """Make the file system with what is of Debian."""
    architecture = archive.architecture
    root = Writer()
    for name in ("proc", "sys", "root", "tmp", "host", "sbin", "usr/bin", "usr/sbin"):
        root.directory(name)
    root.device("dev/console", 5, 1)

    busybox = archive.package("busybox-static")
    root.file("bin/busybox", _only(busybox, busybox.unpack(files, "*bin/busybox"), "**/busybox").read_bytes(), executable=True)

    package = archive.package("linux-perf")
    perf = _only(package, package.unpack(files, "usr/bin/perf*"), "usr/bin/perf*")
    root.file("bin/perf", perf.read_bytes(), executable=True)
    for place, path in _libraries(Resolver(archive, files), perf, package.name).items():
        root.file(place, path.read_bytes(), executable=True)
    (directory / "root.cpio").write_bytes(root.finish())


def kept(directory: Path, pattern: str) -> list[Path]:
    """The directories in another whose names match and that `once` has completed, the last made first."""
    found = [path for path in directory.glob(pattern) if path.suffix != ".part"]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def _replacing(path: Path, pattern: str, fill: Callable[[Path], None]) -> Path:
    """A directory that is filled once, in place of those beside it whose names match."""
    made = once(path, fill)
    for old in kept(path.parent, pattern):
        if old != made:
            shutil.rmtree(old, ignore_errors=True)
    return made


def _own(images: Path, architecture: str) -> Path:
    """The directory of the kit's own file system, made if it does not exist or other sources made it. This takes a compiler alone."""

    def fill(directory: Path) -> None:
        """Compile the programs and put them into an archive."""
        own = Writer()
        own.file("init", INIT.read_bytes(), executable=True)
        for program in programs.build(architecture, directory / "programs"):
            own.file(f"programs/{program.name}", program.read_bytes(), executable=True)
        (directory / "own.cpio").write_bytes(own.finish())

    name = f"kit-{architecture}"
    return _replacing(images / f"{name}-{digest([*OWN_MADE_BY, *programs.sources(architecture)])}", f"{name}-*", fill)


@dataclass(frozen=True)
class _Images:
    """The images of Debian's packages for an architecture, below `base`."""

    base: Path
    architecture: str

    @property
    def directory(self) -> Path:
        """Where all images are."""
        return self.base / "images"

    def current(self, suite: str) -> Path:
        """The place of a suite's image that this version of the kit makes."""
        return self.directory / f"{suite}-{self.architecture}-{digest(MADE_BY)}"

    def last(self, suite: str) -> Path | None:
        """The image of a suite that was made last, by whichever version of the kit; None if there is none."""
        return next((path for path in kept(self.directory, f"{suite}-{self.architecture}-*") if (path / _RELEASE).exists()), None)

    def build(self, suite: str) -> Path:
        """The image of a suite, made if it does not exist or another version of the kit made it."""
        archive = Archive(self.base / "debian", suite, self.architecture)
        files = self.base / "files" / suite / self.architecture

        def fill(directory: Path) -> None:
            """Make the image."""
            archive.current(lambda: _kernel(archive, files, directory))
            archive.current(lambda: _root(archive, files, directory))

        return _replacing(self.current(suite), f"{suite}-{self.architecture}-*", fill)

    def remembered(self, wanted: str) -> Path | None:
        """The image that was booted in place of a suite's when the mirror did not have all of its packages; None if there is none."""
        for place in self.directory.glob(f"*-{self.architecture}-*/{_IN_PLACE_OF}"):
            if self.current(wanted).name in place.read_text().split():
                return place.parent
        return None

    def instead(self, suites: tuple[str, ...], failure: Unavailable) -> Path:
        """The image to boot when that of the first suite cannot be made: an older one of it, or else one of the next suites."""
        wanted, *others = suites
        found = self.last(wanted)
        for other in others:
            if found:
                break
            found = self.last(other)
            # While the mirror is not reached, only what was downloaded before can become an image.
            if found or isinstance(failure, Missing):
                try:
                    found = self.build(other)
                except Unavailable:
                    continue
        if found is None:
            raise failure
        if isinstance(failure, Missing) and self.remembered(wanted) is None:
            # The next boot does not ask the mirror again.
            with (found / _IN_PLACE_OF).open("a") as names:
                names.write(f"{self.current(wanted).name}\n")
        return found


@functools.cache
def available(base: Path, suite: str | None, architecture: str) -> Image:
    """The image to boot, which is made if need be: of a suite, or of the first of `SUITES` that the mirror has.

    After a point release an index can name packages that come later. An image that exists is booted without the network. A command looks for it once,
    and one line says what it is.
    """
    images = _Images(base, architecture)
    suites = (suite,) if suite else SUITES
    wanted = suites[0]
    why = ""
    made = images.current(wanted)
    if not made.exists():
        found = None if suite else images.remembered(wanted)
        if found:
            why = f"the mirror did not have all of {wanted}'s packages, and --suite {wanted} tries again"
        else:
            try:
                found = images.build(wanted)
            except Unavailable as failure:
                found = images.instead(suites, failure)
                why = str(failure)
        made = found
    image = Image(made, _own(images.directory, architecture))
    stands = f", in place of {'a newer one' if image.suite == wanted else wanted}: {why}" if why else ""
    say(f"Debian {image.suite}, Linux {image.release}{stands}")
    return image


def addition(base: Path, image: Image, architecture: str, name: str) -> dict[str, Path]:
    """The files of another package of the image's suite, and the libraries that its programs need, by their places in the guest."""
    archive = Archive(base / "debian", image.suite, architecture)
    files = base / "files" / image.suite / architecture

    def fetch() -> dict[str, Path]:
        """Download and unpack it, if need be."""
        root = archive.package(name).unpack(files, "*")
        found = {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file() and "doc" not in path.parts}
        resolver = Resolver(archive, files)
        for program in (root / "usr/bin").iterdir():
            if program.read_bytes().startswith(b"\x7fELF"):
                found |= _libraries(resolver, program, name)
        return found

    return archive.current(fetch)


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
