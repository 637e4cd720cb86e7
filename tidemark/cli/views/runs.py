"""Shows job runs and workflow runs: as lists, as JSON, and line by line while in progress."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.text import Text

from tidemark.cli.progress import grouped, not_started, print_warnings, render_state, rows_of
from tidemark.cli.views.listing import GAP, Listing, short_ids_of_attempts
from tidemark.errors import UsageError
from tidemark.local_state.store.stored_warnings import ShowWarnings, StoredWarning
from tidemark.operate.job_runs import Run
from tidemark.operate.triggers import Trigger
from tidemark.operate.workflow_runs import WorkflowRun

SINCE = re.compile(r"(?P<count>[0-9]{1,6})(?P<unit>[mhd])")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def moment(at: datetime) -> str:
    """Return a time for people, to the minute."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}Z"


def took(run: Run) -> str:
    """Return how long a run took; ``-`` while it runs."""
    return "-" if run.seconds is None else f"{run.seconds:.1f} s"


def since_of(text: str | None, now: datetime) -> datetime | None:
    """Return the moment that --since means."""
    if text is None:
        return None
    try:
        if match := SINCE.fullmatch(text):
            return now - timedelta(**{UNITS[match["unit"]]: int(match["count"])})
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:  # also before the first year, or after the last
        raise UsageError(
            f"--since {text!r} is not a time; allowed: 30m, 12h, 7d, or a date in UTC such as "
            "2026-01-31 or 2026-01-31T06:00"
        ) from error


def runs_listing(runs: Sequence[Run], room: int = 80, *, has_rows: bool = False) -> Listing:
    """Return the list of `tidemark runs`, with rows read and written if there is room for them."""
    short = short_ids_of_attempts(run.run_id for run in runs)
    rows: list[tuple[str | Text, ...]] = [
        (run.job, moment(run.started_at), _state(run), took(run), short[run.run_id]) for run in runs
    ]
    headings: tuple[str, ...] = ("job", "started", "state", "took", "run")
    if not has_rows:
        return Listing(headings, rows)
    counted = [
        (*row[:4], grouped(run.rows_read), grouped(run.rows_written), row[4])
        for row, run in zip(rows, runs, strict=True)
    ]
    wide = (*headings[:4], "read", "wrote", "run")
    columns = zip(wide, *counted, strict=True)
    widths = [max(len(str(cell)) for cell in column) for column in columns]
    widths[2] = max(len(run.state) for run in runs)  # details of a success may fold
    if sum(widths) + GAP * (len(widths) - 1) > room:
        return Listing(headings, rows)
    return Listing(wide, counted)


def _state(run: Run) -> Text:
    text = render_state(run.state)
    is_told = run.state == "SUCCEEDED" and run.detail
    return text.append(f" {run.detail}", style="default") if is_told else text


def cause_lines(runs: Sequence[Run]) -> Iterator[str | Text]:
    """Yield a line for each job whose newest run failed, with the cause; runs are newest first."""
    seen = set[str]()
    for run in runs:
        is_newest = run.job not in seen
        seen.add(run.job)
        if is_newest and run.is_final and run.state != "SUCCEEDED" and run.message:
            cause = run.message.splitlines()[0]
            yield Text.assemble(
                render_state(run.state), f" {run.job}, run of {moment(run.started_at)}: {cause}"
            )


def warning_lines(runs: Sequence[Run], warnings: Sequence[StoredWarning]) -> Iterator[str | Text]:
    """Yield a line for each open warning of runs, the newest run first."""
    for run in runs:
        for text in _warning_texts(run, warnings):
            yield Text.assemble(
                ("warning", "yellow"), f" {run.job}, run of {moment(run.started_at)}: {text}"
            )


def _warning_texts(run: Run, warnings: Sequence[StoredWarning]) -> list[str]:
    return [warning.text for warning in warnings if warning.run_id == run.run_id]


def run_json(
    run: Run, *, has_rows: bool = False, warnings: Sequence[StoredWarning] | None = None
) -> dict[str, Any]:
    """Return a job run as plain JSON values, with its rows and open warnings where known."""
    known: dict[str, Any] = {}
    if has_rows:
        known |= {"rows_read": run.rows_read, "rows_written": run.rows_written}
    if warnings is not None:
        known["warnings"] = _warning_texts(run, warnings)
    return {
        "job": run.job,
        "run_id": run.run_id,
        "state": run.state,
        "detail": run.detail or None,
        "started_at": run.started_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "seconds": run.seconds,
        "trigger": run.trigger or None,
        "message": run.message or None,
        **known,
    }


def workflow_run_json(run: WorkflowRun, *, has_rows: bool = False) -> dict[str, Any]:
    """Return a workflow run as plain JSON values, with the rows of its job runs where known."""
    return {
        "workflow": run.workflow,
        "run_id": run.run_id,
        "status": run.status,
        "is_success": run.is_success,
        "message": run.message or None,
        "runs": [run_json(job_run, has_rows=has_rows) for job_run in run.runs],
        "not_started": {name: list(conditions) for name, conditions in run.waiting.items()},
    }


def render_end(run: Run, logs: str) -> Text:
    """Return what to say of a job run that has ended; where its log is, if it did not succeed."""
    if run.state == "SUCCEEDED":
        detail = f": {run.detail}" if run.detail else ""
        rows = "" if (run.rows_read, run.rows_written) == (None, None) else rows_of(run)
        return Text.assemble(("✓", "green"), f" {run.job}  SUCCEEDED in {took(run)}{rows}{detail}")
    cause = f": {run.message}" if run.message else ""
    return Text.assemble(
        ("✗", "red"), f" {run.job} {run.state}{cause}\n  after {took(run)}, log: {logs}"
    )


class Changes:
    """Reports the changes of a workflow run from one poll to the next."""

    def __init__(
        self,
        option: str = "",
        seen: Sequence[Run] = (),
        with_rows: Callable[[Run], Run] = lambda run: run,
        show_unseen: Callable[[ShowWarnings], None] = lambda show: None,
    ) -> None:
        """Have seen some runs; ``with_rows`` adds the rows of one, where they are known.

        ``show_unseen`` shows the warnings of runs that another process has had.
        """
        self._option = option
        self.with_rows = with_rows
        self._show_unseen = show_unseen
        self._states = {run.run_id: run.state for run in seen}

    def show(self, console: Console, runs: Sequence[Run]) -> None:
        """Print what has changed since the last call, and the warnings of the runs that ended."""
        lines = self.lines(runs)
        for line in lines:
            console.print(line)
        if lines:
            self._show_unseen(lambda unseen: print_warnings(console, unseen, self._states))

    def lines(self, runs: Sequence[Run]) -> list[Text]:
        """Return a line for each job run that has started or ended since the last call."""
        lines_of_runs = []
        for run in sorted(runs, key=lambda run: run.ended_at or run.started_at):
            before = self._states.get(run.run_id)
            self._states[run.run_id] = run.state
            if before is None and not run.is_final:
                lines_of_runs.append(
                    Text(f"  {run.job}  {'waits' if run.state == 'WAITING' else 'started'}")
                )
            elif run.is_final and before != run.state:
                logs = f"tidemark logs {run.job} --run {run.run_id[:11]}{self._option}"
                lines_of_runs.append(render_end(self.with_rows(run), logs))
        return lines_of_runs


def not_started_lines(run: WorkflowRun) -> list[Text]:
    """Return a line for each job that was not started, and one for an error of the run itself."""
    lines = [not_started(name, conditions) for name, conditions in run.waiting.items()]
    if run.message:
        lines.append(Text(f"{run.workflow} {run.status}: {run.message}"))
    return lines


def triggers_listing(triggers: Sequence[Trigger]) -> Listing:
    """Return the list of `tidemark trigger`."""
    rows = [
        (
            trigger.name,
            trigger.type,
            trigger.state,
            trigger.workflow or "-",
            ", ".join(trigger.starts),
        )
        for trigger in triggers
    ]
    return Listing(("trigger", "type", "state", "workflow", "starts"), rows)
