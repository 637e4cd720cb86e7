"""Shows a workflow run while it happens: one line per job on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from local_glue.store import JobRun
from local_glue.workflow import WorkflowResult
from ops.listing import Sentence

STATE_STYLES = {"SUCCEEDED": "green", "FAILED": "bold red", "TIMEOUT": "bold red"}


def rows(count: int | None) -> str:
    """Return a number of rows for people."""
    return "-" if count is None else f"{count:,}"


def duration(run: JobRun) -> str:
    """Return how long a job run took, or has been running, in seconds."""
    end_ms = run.completed_at_ms or time.time() * 1000
    return f"{(end_ms - run.started_at_ms) / 1000:.1f} s"


def state_text(state: str) -> Text:
    """Return a job run state in its colour."""
    return Text(state, style=STATE_STYLES.get(state, "yellow"))


def finished_line(run: JobRun) -> str:
    """Return one line about a finished job run."""
    line = f"{run.job_name}  {run.state} in {duration(run)}"
    if run.state == "SUCCEEDED":
        return f"{line}, {rows(run.rows_read)} rows read, {rows(run.rows_written)} written"
    return f"{line}: {run.error_message}"


class JobProgress:
    """Observer of job runs; use it as a context manager and pass `observe` on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._running: dict[str, JobRun] = {}
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._spinner = Spinner("dots")

    def __enter__(self) -> "JobProgress":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: TracebackType | None,
    ) -> None:
        self._live.stop()

    def observe(self, run: JobRun | None) -> None:
        """Show a change of state; None only moves the clocks of running jobs."""
        if run is not None and run.state == "RUNNING":
            self._running[run.run_id] = run
            if not self._console.is_terminal:
                self._console.print(f"  {run.job_name}  started", highlight=False)
        elif run is not None:
            self._running.pop(run.run_id, None)
            mark = "[green]✓[/]" if run.state == "SUCCEEDED" else "[red]✗[/]"
            self._console.print(f"{mark} {escape(finished_line(run))}", highlight=False)
        if self._live.is_started:
            self._live.update(self._lines(), refresh=True)

    def _lines(self) -> RenderableType:
        lines = Table.grid(padding=(0, 1))
        for run in self._running.values():
            lines.add_row(self._spinner, run.job_name, Text(duration(run), style="dim"))
        return Group(lines)


@contextmanager
def step(console: Console, text: str) -> Iterator[None]:
    """Show ``text`` while a step runs and its seconds when it is done."""
    begin = time.monotonic()
    if console.is_terminal:
        with console.status(text):
            yield
    else:
        console.print(f"{text} …", highlight=False)
        yield
    console.print(f"[green]✓[/] {text} ({time.monotonic() - begin:.1f} s)", highlight=False)


def print_failures(console: Console, result: WorkflowResult) -> None:
    """Print what each failed job says and holds back, and which jobs were deleted."""
    for run in result.job_runs:
        if run.state != "SUCCEEDED":
            print_failed_run(console, run)
    for job_name in result.deleted_jobs:
        console.print(
            f"[yellow]{job_name} is gone from its stack[/]: its bookmark was deleted, as AWS "
            "deletes it with the job",
            highlight=False,
            soft_wrap=True,
        )
    for job_name, conditions in result.blocked.items():
        console.print(
            f"[yellow]{job_name} was not started[/]: it waits for {', '.join(conditions)}",
            highlight=False,
            soft_wrap=True,
        )


def print_failed_run(console: Console, run: JobRun) -> None:
    """Print the error and the log of a failed job run."""
    console.print(f"[bold red]{run.job_name} {run.state}[/]: ", end="")
    console.print(run.error_message or "", markup=False, highlight=False, soft_wrap=True)
    console.print(f"  log: {run.log_path}", markup=False, highlight=False, soft_wrap=True)


def print_warnings(console: Console, job_name: str, warnings: list[str]) -> None:
    """Print the warnings of a job run."""
    for warning in warnings:
        console.print(f"[yellow]warning[/] {job_name}: ", end="")
        console.print(warning, markup=False, highlight=False, soft_wrap=True)


def print_recovered(console: Console, runs: list[JobRun]) -> None:
    """Say which job runs a killed command had left unfinished."""
    names = ", ".join(run.job_name for run in runs)
    text = Text.assemble(
        ("The last run was killed", "yellow"),
        f" while {names} ran; every job continues from what it had committed.",
    )
    console.print(Sentence(text), highlight=False, soft_wrap=True)
