"""Which events of a part count in a guest: perf programs each of them, and programs run that must make it count.

`pmulab list --on qemu-time` says of each event whether QEMU supplies what it counts: such an event is live. A live event must count in one of the
programs at least, and another event in none.
"""

import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TypeVar

from kit import checks
from kit.build import ROOT
from kit.errors import Failure, say
from kit.guest import TIMED_OUT, Guest

LIVE = ("exact", "approximate")


@dataclass(frozen=True)
class Event:
    """An event as the list has it, and as perf's raw coding has it."""

    name: str
    config: int
    live: bool
    # The counters that can count it.
    counters: tuple[int, ...]
    # A second word of its coding.
    extra: int = 0
    # What the PMU has once: it is the same for all events that count at once.
    shares: tuple[tuple[str, int], ...] = ()
    # The code of another event that has to count at the same time.
    beside: int = 0

    @property
    def code(self) -> str:
        """The event in perf's words, without a name."""
        return f"r{self.config:x}" + (f" with {self.extra:x}" if self.extra else "")


@dataclass
class Batch:
    """Events that count at once, each in a counter of its own."""

    taken: dict[int, Event] = field(default_factory=dict)

    @property
    def events(self) -> list[Event]:
        """The events, in the order in which they came."""
        return list(self.taken.values())

    @property
    def held(self) -> dict[str, int]:
        """What its events share."""
        return {name: value for event in self.events for name, value in event.shares}

    def takes(self, event: Event) -> bool:
        """Add an event if there is a counter for it, and if it shares the same with the others."""
        free = [counter for counter in event.counters if counter not in self.taken]
        if not free or self.taken and dict(event.shares) != self.held:
            return False
        self.taken[free[0]] = event
        return True

    def words(self, numbered: dict[Event, int]) -> str:
        """The events in perf's words, each named by its number."""
        if BUS in self.held:
            return self._of_bus(numbered)
        extra = {event: f",config1={event.extra:#x}" if event.extra else "" for event in self.events}
        words = [f"cpu/config={event.config:#x}{extra[event]},name=n{numbered[event]}/" for event in self.events]
        return ",".join([*words, *(f"cpu/config={event.beside:#x},name=beside/" for event in self.events if event.beside)])

    def _of_bus(self, numbered: dict[Event, int]) -> str:
        """The same on a bus of POWER9: Linux takes such events only behind one in the last counter, and only if each says its counter."""
        codes = {counter: (event.config | counter << PLACE, f"n{numbered[event]}") for counter, event in self.taken.items()}
        codes.setdefault(LAST, (self.events[0].config & 0xFFFF | LAST << PLACE, "last"))
        return "'{" + ",".join(f"cpu/config={config:#x},name={name}/" for _, (config, name) in sorted(codes.items(), reverse=True)) + "}'"


# The last counter of POWER9 that is programmed, the place of the counter's number in a code, and what events on a bus share.
LAST = 4
PLACE = 16
BUS = "bus"


def batches(events: Iterable[Event]) -> list[Batch]:
    """All events in few batches; those that need a certain counter come first."""
    made: list[Batch] = []
    for event in sorted(events, key=lambda event: len(event.counters)):
        if not any(batch.takes(event) for batch in made):
            made.append(Batch())
            made[-1].takes(event)
    return made


# ---- How perf codes the events of each part ----


Said = TypeVar("Said")


def reason(table: dict[str, Said], name: str) -> Said | None:
    """What a table says of an event, if it has it."""
    return next((said for pattern, said in table.items() if fnmatchcase(name, pattern)), None)


# Each of these masks of E9h says one of three things about a request: between what, from where, to where. It counts those of which all are said.
REQUESTS = 0xE9
SAID = {0x01: 0xA1, 0x02: 0xA2, 0x04: 0xA4, 0x08: 0xA8, 0x10: 0x98, 0x20: 0xA8, 0x40: 0x64, 0x80: 0xA8}


def k8(row: dict) -> Event:
    """Eight bits of the event, its unit mask, and four more bits of the event above."""
    select, umask = row["select"], row["umask"] or 0
    config = select & 0xFF | (SAID[umask] if select == REQUESTS else umask) << 8 | select >> 8 << 32
    return Event(row["name"], config, row["fidelity"] in LIVE, tuple(row["counters"]))


# What Linux has for each fixed counter, by the unit masks of the manual's pseudo event.
FIXED = {1: 0xC0, 2: 0x3C, 3: 0x300}

# A response of any kind to a request of any kind.
ANY_RESPONSE = 0x18000


def knl(row: dict) -> Event:
    """As K8; an event of a fixed counter is coded as the one that Linux gives that counter to."""
    config = FIXED[row["umask"]] if row["fixed"] else row["select"] | (row["umask"] or 0) << 8
    extra = ANY_RESPONSE if row["name"].startswith("OFFCORE_RESP") else 0
    return Event(row["name"], config, row["fidelity"] in LIVE, tuple(row["counters"]), extra)


# Samples loads, and compares the cycles of each, from when it is decoded until it completes, with 32.
LATENCY = 0x2015_3400_0000

# What is sampled for a marked event, by patterns of names; others are of any instruction.
SAMPLE = 24
LOADS_THAT_MISS = 0b00001
LOADS_AND_STORES = 0b00100
RESERVATIONS = 0b10001
STORES = 0b11100
SAMPLED = {
    "PM_MRK_DATA_FROM_*": LOADS_THAT_MISS,
    "PM_MRK_DPTEG_*": LOADS_THAT_MISS,
    "PM_MRK_FAB_RSP_RD_*": LOADS_THAT_MISS,
    # Linux knows these two to be wrong by their whole codes.
    "PM_MRK_DERAT_MISS_2M": 0,
    "PM_MRK_DERAT_MISS_1G": 0,
    "PM_MRK_DERAT_MISS*": LOADS_AND_STORES,
    "PM_MRK_FAB_RSP_*": STORES,
    "PM_MRK_ST_FWD": LOADS_AND_STORES,
    "PM_MRK_ST_*": STORES,
    "PM_LSU_FLUSH_LARX_STCX": RESERVATIONS,
    "PM_LSU_FLUSH_*": LOADS_AND_STORES,
}

# The bit of a code that says that the event is marked.
MARKED = 1 << 8

# Whether a counter keeps what it counts is itself an event, if that counter counts cycles of marked loads from one place: here from the second level,
# memory of another chip, the third level, and memory.
KEPT = {1: 0x101_4156, 2: 0x102_C12A, 3: 0x103_5154, 4: 0x104_D128}


def power9(row: dict) -> Event:
    """The code as the list has it; it says what Linux lets no two events differ in."""
    code = row["code"]
    # The buses of the second and third level, and of the translation unit.
    shares = ((BUS, code & 0xFF),) if 6 <= code >> 12 & 0xF <= 9 else ()
    name = row["name"]
    marked = (reason(SAMPLED, name) or 0) << SAMPLE if code & MARKED else 0
    sampling = LATENCY if name.startswith("PM_THRESH") else marked
    shares += (("sampling", sampling),) if sampling else ()
    kept = re.fullmatch(r"PM_PMC(\d)_(REWIND|SAVED)", name)
    # Alone with the other one.
    shares += (("kept", code),) if kept else ()
    beside = KEPT[int(kept[1])] if kept else 0
    return Event(name, code | sampling, row["fidelity"] in LIVE, tuple(row["counters"]), shares=shares, beside=beside)


@dataclass(frozen=True)
class Part:
    """A part, the guest that its events are tried in, and what runs there."""

    code: object
    units: tuple[str, ...]
    smp: str
    # In each batch of events; and, only for those that nothing has counted yet, with this option of perf.
    usual: str
    rare: str
    option: str = ""
    # For those that need CPUs that work at once.
    together: str = "share"
    memory: str = "1G"
    options: tuple[str, ...] = ()
    # Events that nothing in this guest can make count, with the reason.
    unreachable: dict[str, str] = field(default_factory=dict)
    # Events that the programs make count with some kernels only, with the reason.
    varying: dict[str, str] = field(default_factory=dict)
    # Events that Linux does not program, with the reason.
    refused: dict[str, str] = field(default_factory=dict)


# The guest's clock counts instructions. By the host's, a guest whose instructions are executed one by one, as while requests to Knights Landing's mesh
# are described, takes nothing but interrupts of its timer.
OPTIONS = (*checks.COMPANION_TIME, *checks.ICOUNT)

NO_TRANSACTIONS = "QEMU's translator has no transactional memory"
ONE_GROUP = "all chips here are one group"
ALL_ON = "the cores of both chips are all on"
NO_COPIES = "no device here writes memory"
NESTED = "it needs a guest under a host; `check` has one on powernv9"
NO_GIGABYTES = "Linux on pseries maps no page of 1 GiB"
NEVER = "it never counts, by its definition"
ONE_MARK = "one instruction is marked at a time, and each comes to its end"
WRONG_HERE = "Linux knows it to be wrong on the revision that QEMU's CPU is"

# Patterns of names, as a shell has them.
UNREACHABLE = {
    "k8": {
        "CPU_IO_REQUESTS_TO_MEMORY_IO.I_O_TO_I_O": "no device here accesses another one",
        "SIZED_COMMANDS.READ_MODIFY_WRITE": "no device of QEMU has atomic operations",
        "PROBE.UPSTREAM_DISPLAY_REFRESH_READS": "there is no display",
        "GART.*": "QEMU's machines have no graphics aperture",
        "HYPERTRANSPORT_LINK2.*": "two sockets need one link, devices another, and the third leads nowhere",
    },
    "power9": {
        "PM_*_FROM_[LRD]L4*": "nothing here has a buffer in front of its memory",
        "PM_*_FROM_DL2L3_*": ONE_GROUP,
        "PM_*_FROM_DMEM*": ONE_GROUP,
        "PM_*_FROM_L31_ECO_*": ALL_ON,
        "PM_LSU?_TM_L1_*": NO_TRANSACTIONS,
        "PM_DISP_HELD_TBEGIN": NO_TRANSACTIONS,
        "PM_ICT_NOSLOT_DISP_HELD_TBEGIN": NO_TRANSACTIONS,
        "PM_CMPLU_STALL_NESTED_T*": NO_TRANSACTIONS,
        "PM_CMPLU_STALL_TEND": NO_TRANSACTIONS,
        "PM_TM_*": NO_TRANSACTIONS,
        "PM_TEND_PEND_CYC": NO_TRANSACTIONS,
        "PM_PMC?_OVERFLOW": "a counter of perf stat overflows after 2^31 events",
        "PM_SUSPENDED": NEVER,
        "PM_DUMMY?_REMOVE_ME": NEVER,
        "PM_MULT_MRK": ONE_MARK,
        "PM_MRK_INST_TIMEO": ONE_MARK,
        "PM_*_SYS_PUMP*": ONE_GROUP,
        "PM_SYS_PUMP_*": ONE_GROUP,
        "PM_L?_SYS_GUESS_*": ONE_GROUP,
        "PM_L3_P?_SYS_PUMP": ONE_GROUP,
        "PM_L2_SYS_PUMP": ONE_GROUP,
        "PM_L3_GRP_GUESS_WRONG_HIGH": ONE_GROUP,
        "PM_L3_CO_L31": ALL_ON,
        "PM_L3_CO_LCO": ALL_ON,
        "PM_L3_P?_LCO_*": ALL_ON,
        "PM_L3_P?_CO_L31": ALL_ON,
        "PM_RD_FORMING_SC": NO_TRANSACTIONS,
        "PM_CMPLU_STALL_PASTE": "QEMU's translator has no paste",
        "PM_CMPLU_STALL_SLB": "Linux has radix tables",
        "PM_RDXTLB_*_NSTD_*": NESTED,
        "PM_RDXTLB_*_HST_HITHIT": NESTED,
        "PM_RDXTLB_*_GST_HITMISS": NESTED,
        "PM_RDXPWC_*_NSTD_*": NESTED,
        "PM_RDXWALK_*": NESTED,
        "PM_XLATE_HPT_MODE": "Linux has radix tables",
        "PM_THRD_PRIO_6_7_CYC": "Linux raises no priority",
        "PM_LSU_FLUSH_CI": "no program here loads from a device",
        "PM_LSU_DTLB_MISS_16G_1G": NO_GIGABYTES,
        "PM_DERAT_MISS_16G_1G": NO_GIGABYTES,
        "PM_RADIX_PWC_L2_PTE_FROM_*": NO_GIGABYTES,
        "PM_MRK_DERAT_MISS_16?": "radix tables have no such pages",
        "PM_L3_CINJ": NO_COPIES,
        "PM_L3_WI*": NO_COPIES,
        "PM_HV_CYC": "the guest has no hypervisor in it",
        "PM_RUN_CYC_ST_MODE": "the cores have two threads",
        "PM_RUN_CYC_SMT4_MODE": "the cores have two threads",
    },
}
# A page of 4 KiB or of 64.
PAGES = "the kernel chooses the size of a program's pages"
VARYING = {
    "power9": {
        "PM_IERAT_RELOAD_4K": PAGES,
        "PM_IERAT_RELOAD_64K": PAGES,
        "PM_DERAT_MISS_4K": PAGES,
        "PM_DERAT_MISS_64K": PAGES,
        "PM_LSU_DTLB_MISS_4K": PAGES,
        "PM_LSU_DTLB_MISS_64K": PAGES,
        "PM_MRK_DERAT_MISS_4K": PAGES,
        "PM_MRK_DERAT_MISS_64K": PAGES,
    },
}
REFUSED = {
    "power9": {
        "PM_DTLB_MISS_4K": WRONG_HERE,
        "PM_MRK_DTLB_MISS_*": WRONG_HERE,
        "PM_MRK_DERAT_MISS_2M": WRONG_HERE,
        "PM_MRK_DERAT_MISS_1G": WRONG_HERE,
    },
}


PARTS = {
    "k8": Part(
        code=k8,
        units=("core", "nb"),
        smp="2,sockets=2",
        usual="rare 20",
        rare="rare 64; share 5; nodes; taskset 1 dma 1 32; taskset 1 dma 1 3; taskset 2 dma 1; taskset 1 dma 1",
        option="-a ",
        together="share; taskset 2 dma 1",
        unreachable=UNREACHABLE["k8"],
        options=(*OPTIONS, *checks.TWO_NODES, *checks.DMA_DEVICE),
    ),
    "knl": Part(
        code=knl,
        units=("tile",),
        smp="16",
        usual="rare 20",
        rare="kinds 500; branches 500; rare 64; share 3",
        options=OPTIONS,
    ),
    "power9": Part(
        code=power9,
        units=("core",),
        # Two pairs of cores and a node of memory on each chip.
        smp="16,sockets=2,cores=4,threads=2",
        usual="rare 20",
        rare="rare 64; places",
        together="share 2 1; share 2 4",
        memory="2G",
        unreachable=UNREACHABLE["power9"],
        varying=VARYING["power9"],
        refused=REFUSED["power9"],
        options=(*OPTIONS, *checks.two_nodes("1G")),
    ),
}


def events(name: str) -> list[Event]:
    """The events of a part, as the list has them now."""
    command = ["cargo", "run", "--quiet", "--locked", "--package", "vm-pmu-lab", "--bin", "pmulab", "--"]
    command += ["list", "--pmu", name, "--on", "qemu-time", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"pmulab list: {(done.stderr.strip().splitlines() or ['no reason'])[-1]}")
    return coded(PARTS[name], json.loads(done.stdout))


def coded(part: Part, rows: list[dict]) -> list[Event]:
    """The events of the part's units. One with unit masks is left out, as each of its masks is an event."""
    masked = {row["select"] for row in rows if row["umask"] is not None and not row["fixed"]}
    rows = [row for row in rows if row["unit"] in part.units]
    rows = [row for row in rows if row["umask"] is not None or row["select"] not in masked and not row["fixed"]]
    return [part.code(row) for row in rows]


# ---- What runs in the guest ----


def script(numbered: dict[Event, int], groups: list[Batch], program: str, option: str = "") -> str:
    """Commands that count each batch in the programs, and print each event's number, count, and share of the time in percent."""
    lines = ["cat > /tmp/programs <<'END'", *program.split("; "), "END"]
    command = "sh /tmp/programs" if ";" in program else program
    for number, batch in enumerate(groups):
        lines.append(f"echo '{checks.MARK}{number}'")
        lines.append(f"perf stat {option}-x, -o /tmp/stat -e {batch.words(numbered)} {command} >/tmp/output 2>&1; grep ,n /tmp/stat | cut -d, -f1,3,5")
    return "\n".join(lines)


# Events of a northbridge leave a counter while another CPU has it, so they count a few percent less than the whole time; events that exclude each
# other, half of it.
WHOLE = 60.0


@dataclass(frozen=True)
class Reading:
    """What perf reported of an event; no count if Linux does not program it."""

    count: int | None
    whole: bool


def readings(lines: Iterable[str]) -> dict[int, Reading]:
    """The readings in a guest's output, by the numbers of the events."""
    found = {}
    for line in lines:
        words = line.strip().split(",")
        if len(words) == 3 and words[1].startswith("n") and words[1][1:].isdigit():
            refused = words[0] == "<not supported>"
            count = int(words[0]) if words[0].isdigit() else 0
            found[int(words[1][1:])] = Reading(None if refused else count, float(words[2]) >= WHOLE)
    return found


def begun(lines: list[str]) -> int:
    """How many batches have begun."""
    return sum(line.startswith(checks.MARK) for line in lines)


# ---- What is wrong ----


def again(part: Part, found: dict[int, Reading], listed: list[Event]) -> list[Event]:
    """The live events that nothing has counted yet, of those that Linux programs and that something can make count."""
    zero = [event for number, event in enumerate(listed) if event.live and found.get(number, Reading(0, False)).count == 0]
    return [event for event in zero if not reason(part.unreachable, event.name)]


def total(first: Reading | None, second: Reading | None) -> Reading | None:
    """Two readings of an event as one."""
    if first is None or second is None:
        return first or second
    return Reading(None if second.count is None else (first.count or 0) + second.count, first.whole or second.whole)


def judge(part: Part, event: Event, reading: Reading | None) -> str | None:
    """What is wrong with what was read of an event, or None."""
    if reading is None:
        return "the guest hangs while it is counted"
    if reading.count is None:
        return "Linux does not program it" if event.live and not reason(part.refused, event.name) else None
    if reason(part.refused, event.name):
        return "Linux programs it, though the kit's table says that it does not"
    if reading.count and not event.live:
        return f"counts {reading.count}, though the list does not call it live"
    if reading.count and reason(part.unreachable, event.name):
        return f"counts {reading.count}, though the kit's table says that nothing here can make it count"
    if event.live and not reading.count and not reason(part.unreachable | part.varying, event.name):
        return "is 0 in all programs" if reading.whole else "is 0 in all programs, but counted only part of the time"
    return None


def summary(part: Part, listed: list[Event], found: dict[int, Reading]) -> str:
    """How many events do what."""
    live = [event for event in listed if event.live]
    count = sum(bool(found.get(number, Reading(0, False)).count) for number, event in enumerate(listed) if event.live)
    refused = sum(reason(part.refused, event.name) is not None for event in live)
    zero = [event for number, event in enumerate(listed) if event.live and not found.get(number, Reading(0, False)).count]
    unreachable = sum(reason(part.unreachable | part.varying, event.name) is not None for event in zero)
    others = f"nothing here can make {unreachable} count, and Linux refuses {refused}; {len(listed) - len(live)} are not live"
    return f"{count} of {len(live)} live events count; {others}"


def counted(guest: Guest, numbered: dict[Event, int], groups: list[Batch], program: str, option: str = "") -> dict[int, Reading]:
    """Count these batches in a guest; if it hangs in one of them, the others in another guest."""
    found: dict[int, Reading] = {}
    while groups:
        say(f"{sum(len(batch.events) for batch in groups)} events, {len(groups)} times the programs")
        lines: list[str] = []
        status = guest.run(script(numbered, groups, program, option), lambda line: lines.append(line.decode(errors="replace")))
        found |= readings(lines)
        groups = groups[max(begun(lines), 1) :] if status == TIMED_OUT else []
    return found


def at_once(guest: Guest) -> Guest:
    """The same guest with its CPUs at work at once, which they are not while its clock counts instructions."""
    return replace(guest, options=[word for word in guest.options if word not in checks.ICOUNT])


def results(name: str, guest: Guest) -> list[tuple[str, str | None]]:
    """Try all events of a part in a guest: each that is wrong with the reason, and a summary."""
    part, listed = PARTS[name], events(name)
    numbered = {event: number for number, event in enumerate(listed)}
    # On a busy host a batch of events may take long.
    guest.patient = True
    first = counted(guest, numbered, batches(listed), part.usual)
    second = counted(guest, numbered, batches(again(part, first, listed)), part.rare, part.option)
    found = {number: total(first.get(number), second.get(number)) for number in first.keys() | second.keys()}
    third = counted(at_once(guest), numbered, batches(again(part, found, listed)), part.together, "-a ")
    found = {number: total(found.get(number), third.get(number)) for number in found.keys() | third.keys()}
    judged = [(f"{event.name} ({event.code})", judge(part, event, found.get(number))) for number, event in enumerate(listed)]
    return [*((event, reason) for event, reason in judged if reason), (summary(part, listed, found), None)]
