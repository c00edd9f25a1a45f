"""The options that all commands with a guest have."""

import argparse
import re
from pathlib import Path

from kit import image, pnor
from kit.build import PLAIN
from kit.debian import NEWER, SUITES
from kit.errors import Failure, say
from kit.guest import Guest
from kit.machines import MACHINES

# The most statements of a recording.
RECORD_MOST = 1_000_000

TARGET = Path(__file__).resolve().parents[3] / "target" / "qemu"


def add(parser: argparse.ArgumentParser, machines: list[str]) -> None:
    """Add the options of a guest to a command's."""
    parser.add_argument("machine", metavar="MACHINE", choices=machines, help=", ".join(machines))
    parser.add_argument("--qemu", type=Path, metavar="PATH", help="QEMU's program; without it the newest that the kit has built")
    parser.add_argument("--plain", action="store_true", help="this QEMU does not have the PMU: pass no option for it")
    parser.add_argument("--pmu", choices=("on", "off"), default="on", help="whether the machine has the PMU (on)")
    parser.add_argument("--smp", default="1", metavar="N", help="how many CPUs, or what QEMU's -smp takes (1)")
    parser.add_argument("--memory", default="1G", help="the guest's memory (1G)")
    parser.add_argument("--accel", default="tcg", help="what QEMU's -accel takes (tcg)")
    add_suite(parser)
    parser.add_argument("--append", default="", metavar="WORDS", help="more for the kernel's command line")
    parser.add_argument("--qemu-option", action="append", default=[], metavar="WORD", help="one more argument of QEMU, as --qemu-option=-d")
    parser.add_argument("--dir", type=Path, default=TARGET, help="where everything downloaded and built is kept (target/qemu)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write what is done with the PMUs into a litmus file")
    parser.add_argument("--record-most", type=int, default=RECORD_MOST, metavar="N", help="at most so many statements of it (%(default)s)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="where the kernel's messages go (log/MACHINE.log in that directory)")


def add_suite(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses the guest's packages."""
    choices = (*SUITES, *NEWER)
    what = f"whose kernel and perf: {', '.join(choices)} ({SUITES[0]}, or {SUITES[1]} if the mirror lacks some of it)"
    parser.add_argument("--suite", metavar="SUITE", choices=choices, help=what)


def _jobs(word: str) -> int:
    """How many guests run at once."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word} is not a number of guests: 1 or more")
    return int(word)


def add_jobs(parser: argparse.ArgumentParser, default: int) -> None:
    """Add the option of a command that runs several guests."""
    parser.add_argument("--jobs", type=_jobs, default=default, metavar="N", help="how many guests at once (%(default)s)")


def newest(base: Path, program: str, plain: bool) -> Path:
    """The kit's own build of a program of QEMU, of the highest version: without the PMU if `plain`, or with it."""

    def version(path: Path) -> list[int]:
        """The numbers in the name of the build's directory."""
        return [int(number) for number in re.findall(r"\d+", path.parent.name)]

    builds = (base / "build").glob(f"*/{program}")
    found = sorted((path for path in builds if path.parent.name.endswith(PLAIN) == plain), key=version)
    if not found:
        what = f"{program} without the PMU" if plain else program
        raise Failure(f"no {what} below {base / 'build'}: build it with the kit, or give its path")
    return found[-1]


def flash(options: argparse.Namespace) -> Path | None:
    """The content of the machine's flash for the PMU, if it has flash and the PMU is on."""
    if options.plain or options.pmu != "on" or not MACHINES[options.machine].with_flash:
        return None
    made = pnor.place(options.dir)
    if made.exists():
        return made
    say(f"there is no {made}, which `build` makes: the guest finds no PMU of the nest")
    return None


def guest(options: argparse.Namespace, timeout: float) -> Guest:
    """The guest that the options describe; its image is built if need be."""
    chosen = MACHINES[options.machine]
    if options.record and (options.plain or options.pmu != "on"):
        raise Failure("--record writes what is done with the PMU: leave out --plain and --pmu off")
    qemu = options.qemu or newest(options.dir, chosen.qemu, options.plain)
    return Guest(
        machine=chosen,
        image=image.available(options.dir, options.suite, chosen.architecture),
        firmware=image.firmware(options.dir),
        qemu=qemu,
        log=options.log or options.dir / "log" / f"{chosen.name}.log",
        pmu=None if options.plain else options.pmu,
        smp=options.smp,
        memory=options.memory,
        accel=options.accel,
        append=options.append,
        options=options.qemu_option,
        flash=flash(options),
        record=options.record,
        record_most=options.record_most,
        timeout=timeout,
    )
