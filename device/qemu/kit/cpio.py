"""Archives in the format that Linux unpacks as its first file system: `cpio` with the header `newc`."""

import stat
from dataclasses import dataclass, field

_DIRECTORY = stat.S_IFDIR | 0o755
_LINK = stat.S_IFLNK | 0o777


@dataclass
class Writer:
    """Collects files, with the directories above them; everything belongs to root, and no clock is read."""

    _blocks: list[bytes] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)

    def _add(self, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)) -> None:
        """Append one member."""
        number = 0 if name == "TRAILER!!!" else len(self._names) + 1
        self._names.add(name)
        encoded = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        header = b"070701" + b"".join(b"%08X" % value for value in fields) + encoded
        self._blocks += [header, bytes(-len(header) % 4), data, bytes(-len(data) % 4)]

    def directory(self, name: str) -> None:
        """Add a directory, and those above it, unless they are there."""
        parts = name.strip("/").split("/")
        for end in range(1, len(parts) + 1):
            path = "/".join(parts[:end])
            if path and path not in self._names:
                self._add(path, _DIRECTORY, b"")

    def _parent(self, name: str) -> None:
        """Add the directories above a file."""
        if "/" in name:
            self.directory(name.rpartition("/")[0])

    def file(self, name: str, data: bytes, executable: bool = False) -> None:
        """Add a regular file."""
        self._parent(name)
        self._add(name, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        self._parent(name)
        self._add(name, _LINK, target.encode())

    def device(self, name: str, major: int, minor: int) -> None:
        """Add a character device."""
        self._parent(name)
        self._add(name, stat.S_IFCHR | 0o600, b"", (major, minor))

    def finish(self) -> bytes:
        """The archive, padded so that another may follow."""
        self._add("TRAILER!!!", 0, b"")
        archive = b"".join(self._blocks)
        return archive + bytes(-len(archive) % 512)
