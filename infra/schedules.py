"""Glue schedules: six cron fields in UTC.

Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-data-warehouse-schedule.html
"""

import re
from itertools import pairwise

FINEST_MINUTES = 5
NEVER = "cron(0 0 1 1 ? 2199)"  # the last year that the syntax knows
# Six fields; of day-of-month (third) and day-of-week (fifth) exactly one is "?".
_FIELD = r"[0-9A-Z*/,#-]+"
CRON = re.compile(
    rf"cron\({_FIELD} {_FIELD} (?:\? {_FIELD} {_FIELD}|{_FIELD} {_FIELD} \?) {_FIELD}\)"
)
_MINUTES = re.compile(r"(?P<low>\*|\d+)(?:-(?P<high>\d+))?(?:/(?P<step>\d+))?")


def finest_step(schedule: str) -> int | None:
    """Return the minutes between the two closest firings within an hour; None if it fires once.

    A minute field that is not understood gives None; Glue refuses it at deployment.
    """
    field = schedule.removeprefix("cron(").split(" ")[0]
    minutes: set[int] = set()
    for part in field.split(","):
        match = _MINUTES.fullmatch(part)
        if match is None:
            return None
        minutes |= _minutes(match["low"], match["high"], match["step"])
    ordered = sorted(minutes)
    return min((later - minute for minute, later in pairwise(ordered)), default=None)


def _minutes(low: str, high: str | None, step: str | None) -> set[int]:
    first = 0 if low == "*" else int(low)
    last = int(high) if high else 59 if low == "*" or step else first
    return set(range(first, last + 1, max(1, int(step or 1))))
