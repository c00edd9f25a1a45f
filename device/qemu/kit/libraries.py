"""The shared libraries that a program of a Debian package needs, and the packages that have them."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from kit.debian import Archive
from kit.errors import Failure

# The path of the dynamic linker in a program.
INTERPRETERS = {"amd64": PurePosixPath("/lib64/ld-linux-x86-64.so.2"), "ppc64el": PurePosixPath("/lib64/ld64.so.2")}


def needed(program: Path) -> list[str]:
    """The names of the shared libraries that an ELF file needs."""
    try:
        text = subprocess.run(["readelf", "-dW", program], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        raise Failure("readelf is missing: install binutils (Debian: apt-get install binutils)") from None
    except subprocess.CalledProcessError:
        raise Failure(f"readelf cannot read {program}") from None
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text)


def _likely(soname: str, package: str) -> bool:
    """Whether Debian's naming rule gives the package of a library this name."""
    stem, _, version = soname.partition(".so.")
    stem += "-" if stem[-1:].isdigit() else ""
    return package.removesuffix("t64").startswith(stem.replace("_", "-").lower() + version.split(".")[0])


@dataclass
class Resolver:
    """Finds libraries among the dependencies of packages, and unpacks those packages below `directory`."""

    archive: Archive
    directory: Path
    libraries: dict[str, tuple[Path, str]] = field(default_factory=dict)
    _unpacked: set[str] = field(default_factory=set)

    def _unpack(self, package: str) -> None:
        """Unpack a package's shared libraries, and remember them by name."""
        self._unpacked.add(package)
        root = self.archive.package(package).unpack(self.directory, "*.so", "*.so.*")
        for path in root.rglob("*.so*"):
            if path.exists():
                self.libraries.setdefault(path.name, (path, package))

    def _find(self, soname: str, package: str) -> tuple[Path, str]:
        """A library that a program of `package` needs: its file, and the package that it is in."""
        candidates = [name for name in self.archive.depends(package) if "lib" in name]
        for candidate in sorted(candidates, key=lambda name: not _likely(soname, name)):
            if soname in self.libraries:
                break
            if candidate not in self._unpacked:
                self._unpack(candidate)
        if soname not in self.libraries:
            raise Failure(f"no package that {package} depends on has {soname}")
        return self.libraries[soname]

    def closure(self, program: Path, package: str) -> dict[str, Path]:
        """All libraries that a program of a package needs, and those need, with the dynamic linker."""
        interpreter = INTERPRETERS[self.archive.architecture].name
        found = {interpreter: self._find(interpreter, package)[0]}
        pending = [(program, package)]
        while pending:
            user, owner = pending.pop()
            for soname in needed(user):
                if soname not in found:
                    path, holder = self._find(soname, owner)
                    found[soname] = path
                    pending.append((path, holder))
        return found
