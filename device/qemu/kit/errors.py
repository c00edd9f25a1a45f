"""Failures of the kit's commands."""

import signal
import sys
from collections.abc import Callable


class Failure(Exception):
    """A reason in one line."""


class Unavailable(Failure):
    """The mirror is not reached, or what it sends is not complete."""


class Missing(Unavailable):
    """The mirror does not have a file."""


def say(what: str) -> None:
    """Report the next long step on standard error; standard output has only the results."""
    print(what, file=sys.stderr, flush=True)


def run(program: str, main: Callable[[], int]) -> None:
    """Run a command's `main` and exit with its status; a failure is one line and status 125."""
    # The machine that a command has started ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"{program}: {failure}", file=sys.stderr)
        sys.exit(125)
    except KeyboardInterrupt:
        sys.exit(130)
