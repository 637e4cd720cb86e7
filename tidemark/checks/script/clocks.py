"""Where a script reads the day or the time: what it does on another day, no repetition shows."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tidemark.checks.script.script_names import identifier
from tidemark.model.programs import readable_program

CLOCK_CALLS = {
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "Timestamp": {"now", "utcnow", "today"},
}
# Functions of Spark that make a day or an hour of the time: two equal runs agree.
COARSE = {"date_format", "date_trunc", "dayofmonth", "hour", "month", "to_date", "trunc", "year"}
OF_NOW = {"gmtime": 0, "localtime": 0, "strftime": 1}  # of `time`: with how many arguments


def clock_lines(text: str) -> list[int]:
    """Return the lines of a script that read the clock, in order.

    `current_timestamp` is among them only as a day, an hour and the like: else it says when a row
    was loaded, and two equal runs show it.

    Example:
        `clock_lines("day = datetime.date.today()")` returns `[1]`.
    """
    lines = set[int]()
    for call in ast.walk(readable_program(text)):
        if isinstance(call, ast.Call):
            of = identifier(call.func.value) if isinstance(call.func, ast.Attribute) else None
            name = identifier(call.func)
            is_now = of == "time" and OF_NOW.get(name or "") == len(call.args)
            arguments = (given.func for given in call.args if isinstance(given, ast.Call))
            is_day = name in COARSE and "current_timestamp" in map(identifier, arguments)
            if is_now or is_day or name in ("current_date", *CLOCK_CALLS.get(of or "", ())):
                lines.add(call.lineno)
    return sorted(lines)


def clocks_of(scripts: Mapping[str, Path]) -> Iterator[str]:
    """Yield such lines of several scripts, as `job.py line 2`."""
    for name, script in scripts.items():
        text = script.read_text(encoding="utf-8", errors="replace")
        yield from (f"{name} line {line}" for line in clock_lines(text))
