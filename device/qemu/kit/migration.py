"""Saves a guest in the middle of its command, and continues it in another QEMU."""

import json
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kit.errors import Failure
from kit.guest import BEGINS, ENDS, Guest


def _ask(monitor: socket.socket, name: str, **arguments: str) -> dict:
    """Give QEMU's monitor a command and return its answer; events are skipped."""
    monitor.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
    for line in monitor.makefile():
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(f"QEMU refuses {name}: {answer['error']['desc']}")
        if "return" in answer:
            return answer["return"]
    raise Failure(f"QEMU ended during {name}")


@contextmanager
def _monitor(place: Path) -> Iterator[socket.socket]:
    """QEMU's monitor, once it is available."""
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.settimeout(60)
        for _ in range(100):
            try:
                monitor.connect(str(place))
                break
            except OSError:
                time.sleep(0.1)
        _ask(monitor, "qmp_capabilities")
        yield monitor


def _save(place: Path, state: Path) -> None:
    """Stop the guest and write its state to a file."""
    with _monitor(place) as monitor:
        _ask(monitor, "stop")
        _ask(monitor, "migrate", uri=f"exec:cat > {state}")
        while (status := _ask(monitor, "query-migrate").get("status")) != "completed":
            if status == "failed":
                raise Failure("QEMU cannot save the guest")
            time.sleep(0.1)


def _go_on(place: Path) -> None:
    """Continue a loaded guest, which was saved while it was stopped."""
    with _monitor(place) as monitor:
        while _ask(monitor, "query-status")["status"] == "inmigrate":
            time.sleep(0.1)
        _ask(monitor, "cont")


def run(guest: Guest, command: str, after: float) -> list[str]:
    """Run a command, save the guest `after` seconds from its beginning, and return what it prints in the QEMU that loads it."""
    guest.log.parent.mkdir(parents=True, exist_ok=True)
    printed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="guest-") as folder, guest.log.open("wb", buffering=0) as log:
        initramfs, monitor, state = Path(folder) / "initramfs", Path(folder) / "monitor", Path(folder) / "state"
        initramfs.write_bytes(guest.initramfs(command))
        saver = [*guest.arguments(str(initramfs)), "-qmp", f"unix:{monitor},server=on,wait=off"]
        loader = [*saver, "-incoming", f"exec:cat {state}"]
        for arguments in (saver, loader):
            process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
            watch = threading.Timer(guest.timeout, process.kill)
            watch.start()
            try:
                if arguments is loader:
                    _go_on(monitor)
                for raw in process.stdout:
                    text = raw.strip()
                    if arguments is saver and text == BEGINS:
                        time.sleep(after)
                        _save(monitor, state)
                        process.kill()
                        if any(rest.strip().startswith(ENDS) for rest in process.stdout):
                            raise Failure(f"the command ended within {after:g} s, before the guest was saved: save it earlier")
                        break
                    if arguments is loader and text.startswith(ENDS):
                        return printed
                    if arguments is loader and text:
                        printed.append(text.decode(errors="replace"))
            finally:
                watch.cancel()
                process.kill()
                process.wait()
                process.stdout.close()
                monitor.unlink(missing_ok=True)
    raise Failure(f"the guest does not continue from where it was saved; its log is {guest.log}")
