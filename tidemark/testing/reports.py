"""The report of failed job runs in a failed test, in pytest's style."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tidemark.testing.run import LAST_LINES, GlueRun

if TYPE_CHECKING:
    import pytest

CONTEXT_LINES = 4
WHERE = re.compile(r"\((.+), line (\d+)\)$")
WIDEST = 2000


def sections_of(runs: Iterable[GlueRun], config: pytest.Config) -> list[tuple[str, str]]:
    """Return a section for each run that did not succeed: title and content."""
    return [
        (f"glue job {run.job_name}: {run.state} ({run.where})", describe(run, config))
        for run in runs
        if not run.is_success
    ]


def describe(run: GlueRun, config: pytest.Config) -> str:
    """Return the script's own lines, the last lines of its log, and the frames it had in hand."""
    parts = [_own_lines(run, config)]
    if lines := last_lines(run.stderr, run.script):
        parts.append("last lines of the log:\n" + "\n".join(f"    {line}" for line in lines))
    if frames := list(_frames(run)):
        parts.append("frames in the script:\n" + "\n".join(f"    {line}" for line in frames))
    return "\n\n".join(filter(None, parts))


def last_lines(log: str, script: str) -> list[str]:
    """Return the last lines of a log, without the traceback of the script that is shown already."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("Traceback (most recent") and any(
            script in line for line in lines[number : number + 3]
        ):
            lines = lines[:number]
            break
    shown = [line for line in lines if line.strip() and not line.startswith("\tat ")]
    return [line[:WIDEST] for line in shown[-LAST_LINES:]]


def _own_lines(run: GlueRun, config: pytest.Config) -> str:
    error = run.exception
    if error is None:
        return _excerpt(run.script, _line_of(run), run.error or "")
    lines = [at for at in _lines(error.__traceback__, run.script) if at[0] != "<module>"]
    if not lines:  # a script without functions: pytest would show all of it
        at = next((line for _, line in _lines(error.__traceback__, run.script)), 0)
        return _excerpt(run.script, at, f"{type(error).__name__}: {error}")
    from _pytest._code import ExceptionInfo
    from _pytest._io import TerminalWriter

    style = config.getoption("tbstyle", "auto")
    shown = ExceptionInfo.from_exception(error).getrepr(
        style="long" if style in ("auto", "no") else style,
        showlocals=bool(config.getoption("showlocals", False)),
        tbfilter=lambda info: info.traceback.filter(
            lambda entry: str(entry.path) == run.script and entry.name != "<module>"
        ),
        truncate_locals=True,
    )
    text = StringIO()
    shown.toterminal(TerminalWriter(text))
    return text.getvalue().strip("\n")


def _lines(trace: TracebackType | None, script: str) -> Iterator[tuple[str, int]]:
    """Yield the functions and lines of a script that an error came through, innermost last."""
    for frame, line in walk_tb(trace):
        if frame.f_code.co_filename == script:
            yield frame.f_code.co_name, line


def _line_of(run: GlueRun) -> int:
    match = WHERE.search((run.error or "").partition("; ")[0])
    return int(match[2]) if match and match[1] == Path(run.script).name else 0


def _excerpt(script: str, number: int, error: str) -> str:
    """Return the lines before the one that failed, and the error, as pytest shows them."""
    shown = [f"E   {line}" for line in error[:WIDEST].splitlines()]
    if not number:
        return "\n".join(shown)
    lines = [
        f"{'>' if at == number else ' '}   {linecache.getline(script, at).rstrip()}"
        for at in range(max(1, number - CONTEXT_LINES), number + 1)
    ]
    return "\n".join([*lines, *shown, "", f"{script}:{number}"])


def _frames(run: GlueRun) -> Iterator[str]:
    trace = run.exception.__traceback__ if run.exception is not None else None
    seen = set()
    for name, value in _locals(trace, run.script):
        if id(value) not in seen and type(value).__name__ in ("DataFrame", "DynamicFrame"):
            seen.add(id(value))
            try:
                frame = value._frame if type(value).__name__ == "DynamicFrame" else value
                columns = ", ".join(f"{column} {kind}" for column, kind in frame.dtypes)
            except Exception as error:  # noqa: BLE001 (a JVM that is gone, a function that fails)
                columns = f"nothing computed its rows ({type(error).__name__})"
            yield f"{name}: {type(value).__name__}[{columns}]"[:WIDEST]


def _locals(trace: TracebackType | None, script: str) -> Iterator[tuple[str, Any]]:
    if "pyspark" not in sys.modules:
        return
    for frame, _ in walk_tb(trace):
        if frame.f_code.co_filename == script:
            yield from frame.f_locals.items()
