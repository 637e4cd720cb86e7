"""Times, ages and amounts for people."""

from tidemark.model.clock import time_of
from tidemark.report.commits import SUCCEEDED

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
SHORT = 12  # characters of an id
WHOLE = 100  # from which on a mean has no decimals


def age(ms: float) -> str:
    """Return how long ago something was: `40 s`, `12 min`, `5 h`, `3 days`; a future is `0 s`."""
    seconds = max(ms, 0) / 1000
    if seconds < 2 * MINUTE_S:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR_S:
        return f"{seconds // MINUTE_S:.0f} min"
    if seconds < 2 * DAY_S:
        return f"{seconds // HOUR_S:.0f} h"
    return f"{seconds // DAY_S:.0f} days"


def short(run_id: str) -> str:
    """Return the beginning of an id, of which commands and pages take it."""
    return run_id[:SHORT]


def took(seconds: float | None) -> str:
    """Return a duration: `2.4 s`, `12 min`, `3 h 20 min`; a dash if it is not known."""
    if seconds is None:
        return "\N{EN DASH}"
    if seconds < 2 * MINUTE_S:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 2 * 60 else f"{minutes // 60} h {minutes % 60} min"


def iso(at_ms: int) -> str:
    """Return a time in UTC, to the second, for programs: `2026-01-30T08:00:00Z`."""
    return f"{time_of(at_ms):%Y-%m-%dT%H:%M:%SZ}"


def moment(at_ms: int | None) -> str:
    """Return a time in UTC, to the minute; a dash for none."""
    if at_ms is None:
        return "\N{EN DASH}"
    return f"{time_of(at_ms):%Y-%m-%d %H:%M}"


def amount(number: float | None) -> str:
    """Return a number with its thousands, a small mean with one decimal; a dash for none."""
    if number is None:
        return "\N{EN DASH}"
    is_whole = number == round(number) or number >= WHOLE
    return f"{number:,.0f}" if is_whole else f"{number:,.1f}"


def usd(value: float) -> str:
    """Return an amount of money with as many digits as are meaningful."""
    return f"{value:.4f}" if value and value < 0.01 else f"{value:,.2f}"


NEVER = "never ran"
OK, BAD, STOPPED, ACTIVE, NONE = "ok", "bad", "stopped", "active", "none"
WARN = "warn"  # no state of a run
SIGNS = {WARN: "!", OK: "✓", BAD: "✗", STOPPED: "■", ACTIVE: "▶", NONE: "○"}
# Of runs, and of executions of state machines with their steps.
STOPPING = ("STOPPED", "STOPPING", "ABORTED", "CAUGHT")
FAILED = ("FAILED", "TIMEOUT", "ERROR", "EXPIRED", "TIMED_OUT")


def kind_of(state: str) -> str:
    """Return which of the kinds that have a look of their own a state is of."""
    if state == SUCCEEDED:
        return OK
    if state in FAILED:
        return BAD
    if state in STOPPING:
        return STOPPED
    return NONE if state == NEVER else ACTIVE


def with_sign(state: str) -> str:
    """Return a state for people, such as `✓ SUCCEEDED`."""
    return f"{SIGNS[kind_of(state)]} {state}"
