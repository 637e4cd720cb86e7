"""Glue schedules: six cron fields in UTC.

Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-data-warehouse-schedule.html
"""

import re

FINEST_MINUTES = 5
NEVER = "cron(0 0 1 1 ? 2199)"  # the last year that the syntax knows
CRON_FORM = "six Glue cron fields with one ? for a day, such as cron(0 6 * * ? *) for 06:00 UTC"


def _numbers(number: str) -> str:
    """Return the pattern of a field of numbers: lists of one, of a range, of steps."""
    part = rf"(?:\*|(?:{number})(?:-(?:{number}))?)(?:/[1-9]\d?)?"
    return rf"{part}(?:,{part})*"


# Of day-of-month (third) and day-of-week (fifth) exactly one is "?".
_FIELD = r"[0-9A-Z*/,#-]+"
_MINUTE, _HOUR = _numbers(r"[0-5]?\d"), _numbers(r"[01]?\d|2[0-3]")
CRON = re.compile(
    rf"cron\((?P<minute>{_MINUTE}) (?P<hour>{_HOUR}) "
    rf"(?:\? {_FIELD} {_FIELD}|{_FIELD} {_FIELD} \?) {_FIELD}\)",
    re.ASCII,
)
_PART = re.compile(r"(?P<low>\*|\d+)(?:-(?P<high>\d+))?(?:/(?P<step>\d+))?")


def finest_step(schedule: str) -> int | None:
    """Return the minutes between the two closest firings of a day, up to an hour.

    None if they are further apart, or if the text is not a schedule.
    """
    fields = CRON.fullmatch(schedule)
    if fields is None:
        return None
    hours = _values(fields["hour"], 24)
    minutes = sorted(
        60 * hour + minute for hour in hours for minute in _values(fields["minute"], 60)
    )
    following = [*minutes[1:], minutes[0] + 24 * 60]  # the first of the next day
    step = min(later - minute for minute, later in zip(minutes, following, strict=True))
    return step if step <= 60 else None


def _values(field: str, count: int) -> set[int]:
    found: set[int] = set()
    for part in _PART.finditer(field):
        low, high, step = part["low"], part["high"], part["step"]
        first = 0 if low == "*" else int(low)
        last = int(high) if high else count - 1 if low == "*" or step else first
        found |= set(range(first, last + 1, int(step or 1)))
    return found
