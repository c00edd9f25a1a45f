"""Runs one command in a guest, and reads its output from the guest's console."""

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kit.cpio import Writer
from kit.errors import Failure
from kit.image import Image
from kit.machines import Machine

BEGINS = b"@guest begins"
ENDS = b"@guest ends "
DONE = b"@guest is done"

# How many seconds QEMU has to end, and how many if it writes a recording of a million statements.
ENDS_WITHIN = 5
WRITES = 120

# The same as timeout(1) returns.
TIMED_OUT = 124


@dataclass
class Guest:
    """A machine with all of its options on the command line."""

    machine: Machine
    image: Image
    firmware: Path
    qemu: Path
    log: Path
    pmu: str | None = "on"
    smp: str = "1"
    memory: str = "1G"
    accel: str = "tcg"
    append: str = ""
    options: list[str] = field(default_factory=list)
    # The content of the machine's flash.
    flash: Path | None = None
    # The file for a recording of the PMUs, and the most statements in it.
    record: Path | None = None
    record_most: int = 0
    # Files for the guest, by their paths there.
    files: dict[str, Path] = field(default_factory=dict)
    # The guest counts as hanging after this many seconds; if `patient`, since its last line.
    timeout: float = 120.0
    patient: bool = False
    # Seconds until the command began, and until it ended.
    booted: float = 0.0
    ended: float = 0.0

    def initramfs(self, command: str) -> bytes:
        """The image's archives followed by one with the command and the files for it."""
        last = Writer()
        last.file("host/command", command.encode() + b"\n", executable=True)
        for name, path in self.files.items():
            try:
                last.file(name, path.read_bytes(), executable=os.access(path, os.X_OK))
            except OSError as error:
                raise Failure(f"{path}: {error.strerror}") from None
        # In the order in which they are loaded.
        for number, name in enumerate(self.machine.modules):
            last.file(f"host/modules/{number}-{name}.ko", self.image.module(name).read_bytes())
        return self.image.archive + last.finish()

    def arguments(self, initramfs: str) -> list[str]:
        """QEMU's command line."""
        machine = self.machine
        cpu = machine.cpu
        if self.pmu:
            cpu += "," + (machine.pmu_on if self.pmu == "on" else machine.pmu_off)
        flash = [*machine.with_flash, "-drive", f"if=mtd,format=raw,readonly=on,file={self.flash}"] if self.flash else []
        record = []
        if self.record:
            # QEMU's own folder may be another one.
            record = ["-global", f"tcg-pmu.record={self.record.resolve()}", "-global", f"tcg-pmu.record-most={self.record_most}"]
        append = f"console={machine.console} panic=-1 {machine.append} {self.append}"
        return [
            *(str(self.qemu), "-L", str(self.firmware)),
            *("-M", machine.machine, "-cpu", cpu, "-accel", self.accel, "-smp", self.smp, "-m", self.memory),
            *("-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"),
            *("-kernel", str(self.image.kernel), "-initrd", initramfs, "-append", " ".join(append.split())),
            *machine.options,
            *flash,
            *record,
            *self.options,
        ]

    def run(self, command: str, line: Callable[[bytes], None]) -> int:
        """Run a shell command in the guest, give each line of its output to `line`, and return its exit status."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(prefix="guest-") as initramfs, self.log.open("wb", buffering=0) as log:
            initramfs.write(self.initramfs(command))
            initramfs.flush()
            arguments = self.arguments(initramfs.name)
            log.write(" ".join(arguments).encode() + b"\n")
            try:
                process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
            except OSError as error:
                raise Failure(f"{self.qemu}: {error.strerror}") from None
            try:
                return self._listen(process, log, line)
            finally:
                process.terminate()
                try:
                    process.wait(WRITES if self.record else ENDS_WITHIN)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                process.stdout.close()
                if self.record:
                    self._tell_of_recording()

    def _tell_of_recording(self) -> None:
        """Pass on what QEMU says of the recording."""
        for text in self.log.read_text(errors="replace").splitlines():
            if " recording" in text and "pmu: " in text:
                print(text.partition("pmu: ")[2], file=sys.stderr)

    def _listen(self, process: subprocess.Popen, log, line: Callable[[bytes], None]) -> int:
        """Read the console until the guest is done, ends too early, or takes too long."""
        state = "boots"
        status = None
        empty = 0
        start = time.monotonic()
        for text in self._lines(process):
            if text is None:
                at = "while it boots" if state == "boots" else "in the command" if status is None else "at its end"
                what = "nothing more comes in" if self.patient else "no end after"
                print(f"the guest hangs {at}: {what} {self.timeout:g} s; its log is {self.log}", file=sys.stderr)
                return TIMED_OUT
            if state == "boots" and text == BEGINS:
                state = "runs"
                self.booted = time.monotonic() - start
            elif state == "runs" and text.startswith(ENDS):
                state = "ends"
                self.ended = time.monotonic() - start
                status = int(text.removeprefix(ENDS))
                for _ in range(empty - 1):
                    line(b"")
            elif state == "ends" and text == DONE:
                return status
            elif state == "runs" and not text:
                # The last empty line is not the command's: its last output may lack the end of a line.
                empty += 1
            elif state == "runs":
                for shown in [b""] * empty + [text]:
                    line(shown)
                empty = 0
            else:
                log.write(text + b"\n")
        if status is not None:
            return status
        code = process.wait()
        raise Failure(f"{self.qemu.name} ended with status {code} before the guest's command did: {self._reason()}; its log is {self.log}")

    def _reason(self) -> str:
        """The last line of the log that has the reason of a machine's end: the kernel's panic, or QEMU's message."""
        marks = ("Kernel panic", f"{self.qemu.name}: ")
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if any(mark in line for mark in marks)]
        return lines[-1].strip() if lines else "it gave no reason"

    def _lines(self, process: subprocess.Popen):
        """The console's lines until QEMU ends; None, as the last, when time is up."""
        deadline = time.monotonic() + self.timeout
        descriptor = process.stdout.fileno()
        rest = b""
        while True:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                yield None
                return
            block = os.read(descriptor, 1 << 16)
            if not block:
                return
            *complete, rest = (rest + block).split(b"\n")
            if self.patient:
                deadline = time.monotonic() + self.timeout
            for text in complete:
                yield text.rstrip(b"\r")
