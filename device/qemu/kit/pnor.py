"""Makes the flash of a powernv machine, from which skiboot takes the catalogue of the nest's events.

Of flash, skiboot needs a table of partitions (libflash/ffs.h); of the partition, a table of parts by the PVR of the CPUs that each is for
(core/flash-subpartition.c); of the part, a device tree that is compressed with XZ (hw/imc.c).
"""

import lzma
import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kit.errors import Failure

SOURCE = Path(__file__).resolve().parent.parent / "catalogue" / "imc_catalogue.c"

# QEMU's flash is read in blocks of 4 KiB, and a partition's table of parts is one of them.
BLOCK = 4096

# skiboot's memory for the catalogue, compressed or not.
LARGEST = 0x40000

# The POWER9s that skiboot distinguishes: its number for one is the PVR without bits 12 to 15 and 0 to 7. QEMU's are of version 2.
POWER9 = (0x004E0100, 0x004E0200)

_HEADER = ">7I16xI"
_ENTRY = ">16s7I16x64xI"
_TOP_LEVEL = 0xFFFFFFFF
_DATA, _TABLE = 1, 3


@dataclass(frozen=True)
class Partition:
    """A partition's name and its content."""

    name: str
    content: bytes


def _checked(layout: str, *values) -> bytes:
    """A structure with a last word that makes the exclusive or of all its words 0."""
    words = struct.pack(layout, *values, 0)
    checksum = 0
    for (word,) in struct.iter_unpack(">I", words):
        checksum ^= word
    return words[:-4] + struct.pack(">I", checksum)


def _padded(content: bytes) -> bytes:
    """The content padded to whole blocks with ones, as in flash that was not written."""
    return content + b"\xff" * (-len(content) % BLOCK)


def _entry(number: int, name: str, first: int, blocks: int, kind: int, size: int) -> bytes:
    """The entry of a partition."""
    return _checked(_ENTRY, name.encode("ascii"), first, blocks, _TOP_LEVEL, number, kind, 0, size)


def flash(partitions: list[Partition]) -> bytes:
    """Flash with a table of partitions, which is itself a partition, followed by these partitions."""
    count = len(partitions) + 1
    entries, contents = [_entry(1, "part", 0, 1, _TABLE, BLOCK)], []
    first = 1
    for number, partition in enumerate(partitions, start=2):
        content = _padded(partition.content)
        blocks = len(content) // BLOCK
        entries.append(_entry(number, partition.name, first, blocks, _DATA, len(content)))
        contents.append(content)
        first += blocks
    header = _checked(_HEADER, 0x50415254, 1, 1, len(entries[0]), count, BLOCK, first)
    table = header + b"".join(entries)
    if len(table) > BLOCK:
        raise ValueError(f"{len(partitions)} partitions are more than a block's table has")
    return _padded(table) + b"".join(contents)


def by_version(content: bytes, versions: tuple[int, ...]) -> bytes:
    """A partition with one part, for CPUs of these versions."""
    header = struct.pack(">4sI", b"IMCA", 1) + b"".join(struct.pack(">3I", version, BLOCK, len(content)) for version in versions)
    return header.ljust(BLOCK, b"\0") + content


def compressed(tree: bytes) -> bytes:
    """A device tree compressed for skiboot, whose decoder only knows the check CRC32."""
    made = lzma.compress(tree, lzma.FORMAT_XZ, lzma.CHECK_CRC32)
    if max(len(tree), len(made) + BLOCK) > LARGEST:
        raise ValueError(f"the catalogue has {len(tree)} bytes, {len(made)} compressed: skiboot has memory for {LARGEST}")
    return made


def tree(pkg_config: Path, directory: Path) -> bytes:
    """The catalogue's device tree, as libvm_pmu writes it."""
    program = directory / "imc_catalogue"
    found = subprocess.run(
        ["pkg-config", "--static", "--cflags", "--libs", "vm_pmu"],
        env=os.environ | {"PKG_CONFIG_PATH": str(pkg_config)},
        capture_output=True,
        text=True,
    )
    if found.returncode:
        raise Failure(f"libvm_pmu is not found: {found.stderr.strip()}")
    for command in (["cc", "-O1", str(SOURCE), "-o", str(program), *found.stdout.split(), "-lfdt"], [str(program)]):
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            raise Failure(f"{Path(command[0]).name} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def place(base: Path) -> Path:
    """Where the flash is kept."""
    return base / "library" / "pnor.bin"


def make(base: Path, pkg_config: Path) -> None:
    """Make the flash with the library that is installed there."""
    content = by_version(compressed(tree(pkg_config, base / "library")), POWER9)
    place(base).write_bytes(flash([Partition("IMA_CATALOG", content)]))
