"""Shows a workflow run while it happens: one line per job on a terminal, plain lines elsewhere."""

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from tidemark.cli.terminal import Terminal, hanging, print_json
from tidemark.cli.views.listing import Sentence
from tidemark.local_state.store.database import NOTHING_NEW, JobRun
from tidemark.local_state.store.stored_warnings import StoredWarning
from tidemark.model.advice import advice_of
from tidemark.model.clock import now_ms, time_of
from tidemark.operate.job_runs import Run

if TYPE_CHECKING:
    from tidemark.glue_service.one_run import NotRun
    from tidemark.glue_service.workflows.whole_run import WorkflowResult

FRAMES = 10  # a second, on a terminal
STATE_STYLES = {"SUCCEEDED": "green", "FAILED": "bold red", "TIMEOUT": "bold red"}


def grouped(number: int | None) -> str:
    """Return a number of rows or files for people, ``-`` if it is not known."""
    return "-" if number is None else f"{number:,}"


def rows_of(run: JobRun | Run) -> str:
    """Return how many rows a run has read and written, after a comma."""
    unit = "row" if run.rows_read == 1 else "rows"
    return f", {grouped(run.rows_read)} {unit} read, {grouped(run.rows_written)} written"


def duration(run: JobRun) -> str:
    """Return how long a job run took, or has been running; ``-`` if its end is unknown."""
    if run.completed_at_ms is None and run.state != "RUNNING":
        return "-"
    end_ms = run.completed_at_ms or now_ms()
    return f"{(end_ms - run.started_at_ms) / 1000:.1f} s"


def render_state(state: str) -> Text:
    """Return a job run state in its colour."""
    return Text(state, style=STATE_STYLES.get(state, "yellow"))


def finished_lines(run: JobRun) -> list[str]:
    """Return one line about a finished job run, and the location of its log if it failed."""
    took = f"{run.job_name}  {run.state} in {duration(run)}"
    log = f"log: {run.log_path}"
    if run.state == "SUCCEEDED":
        counts = f"{took}{rows_of(run)}"
        return [f"{counts}: {NOTHING_NEW}" if run.has_read_nothing else counts]
    if run.state == "STOPPED":
        return [took, f"  {log}"]
    cause = hanging(f"{run.job_name} {run.state}: {run.error_message}")
    return [cause, f"  after {duration(run)}, {log}"]


class RunConsole(Terminal):
    """A console of a run: where its reader leaves, such as `| head`, the run continues unseen."""

    def on_broken_pipe(self) -> None:
        """Print nothing more; rich would end the process, and with it the run."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.file.fileno())
        os.close(nowhere)


class JobProgress:
    """Shows job runs: the listener of a workflow; use it as a context manager.

    Attributes:
        lineage: sends the events of runs; nothing by default.
    """

    def __init__(self, console: Console) -> None:
        self.lineage: Callable[[JobRun], None] = lambda _: None
        self._console = console
        self._running: dict[str, JobRun] = {}
        self._known: set[str] = set()
        self._live = Live(
            console=console, get_renderable=self._lines, refresh_per_second=FRAMES, transient=True
        )
        self._spinner = Spinner("dots")

    def __enter__(self) -> "JobProgress":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def observe(self, run: JobRun | None) -> None:
        """Show a change of state; nothing for None."""
        if run is None:
            return
        if run.state == "RUNNING":
            self._running[run.run_id] = run
            self._known.add(run.run_id)
            if not self._console.is_terminal:
                self._console.print(Text(f"  {run.job_name}  started"))
        else:
            self._running.pop(run.run_id, None)
            mark = ("✓", "green") if run.state == "SUCCEEDED" else ("✗", "red")
            self._console.print(Text.assemble(mark, " ", "\n".join(finished_lines(run))))

    def warn(self, warnings: Sequence[StoredWarning]) -> None:
        """Show warnings: those of another command's run with the time of that run."""
        print_warnings(self._console, warnings, self._known)

    def recovered(self, runs: list[JobRun]) -> None:
        """Say which job runs a killed command had left unfinished."""
        names = ", ".join(run.job_name for run in runs)
        killed = ("The last run was killed", "yellow")
        text = f" while {names} ran; every job continues from what it had committed."
        self._print(Text.assemble(killed, text))

    def not_run(self, parts: "NotRun") -> None:
        """Say what does not run on this machine, before anything else runs."""
        for names, text in (
            (parts.streaming_jobs, "Streaming jobs do not run on this machine: "),
            (parts.crawlers, "Taken as SUCCEEDED, without a crawl: "),
            (parts.machines, "Left out: "),
        ):
            if names:
                self._print(Text.assemble((text, "yellow"), ", ".join(names)))

    def _print(self, text: Text) -> None:
        self._console.print(Sentence(text))

    def say(self, sentence: str) -> None:
        """Print a sentence of its own line."""
        self._console.print(sentence)

    def stop_animation(self) -> None:
        """Draw no more, for something else is to be written below."""
        self._live.stop()

    def _lines(self) -> RenderableType:
        lines = Table.grid(padding=(0, 1))
        for run in list(self._running.values()):  # rich calls this in a thread
            lines.add_row(self._spinner, run.job_name, Text(duration(run), style="dim"))
        return Group(lines)


@contextmanager
def step(console: Console, text: str) -> Iterator[None]:
    """Show ``text`` while a step runs, and its seconds at the end."""
    begin = time.monotonic()
    if console.is_terminal:
        with console.status(Text(text)):
            yield
    else:
        console.print(f"{text} …")
        yield
    took = f" {text} ({time.monotonic() - begin:.1f} s)"
    console.print(Text.assemble(("✓", "green"), took))


def not_started(job: str, conditions: Iterable[str]) -> Text:
    """Return that a job was not started, and why."""
    waits = ", ".join(conditions) or "a trigger that is not active"
    return Text.assemble((f"{job} was not started", "yellow"), f": it waits for {waits}")


def print_outcome(console: Console, result: "WorkflowResult") -> None:
    """Print which jobs failures held back, which were deleted, and who started the run."""
    if result.begun_by == "EVENT":
        console.print("On AWS, events start this workflow; this run was started by hand.")
    for job_name in result.deleted_jobs:
        console.print(
            Text.assemble(
                (f"{job_name} is gone from its stack", "yellow"),
                ": its bookmark was deleted, as AWS deletes it with the job",
            )
        )
    for job_name, conditions in result.blocked.items():
        console.print(not_started(job_name, conditions))


def print_warnings(
    console: Console, warnings: Sequence[StoredWarning], known: Collection[str] = ()
) -> None:
    """Print warnings of job runs; of runs that are not known with their time."""
    for warning in warnings:
        when = "" if warning.run_id in known else f", run of {_moment(warning.started_at_ms)}"
        line = Text.assemble(
            ("warning", "yellow"), f" {warning.job_name}{when}: {hanging(warning.text)}"
        )
        console.print(line)
    console.file.flush()
    if console.quiet:
        raise BrokenPipeError("the reader of the output has left")


def _moment(epoch_ms: int) -> str:
    return f"{time_of(epoch_ms):%Y-%m-%d %H:%M}Z"


def print_killed(console: Console, runs: Collection[Run]) -> None:
    """Print a line for each of some runs that was killed with its command."""
    from tidemark.glue_service.runs.killed import KILLED

    for run in runs:
        if run.message == KILLED:
            when = _moment(run.started_at_ms)
            text = f"{run.job}, run of {when}: its next run continues from what was committed."
            console.print(Text.assemble(("killed", "yellow"), f" {text}"))


def print_refused(console: Console, runs: Collection[Run]) -> None:
    """Print a line for each of some runs that a contract has refused, with what to do."""
    for run in runs:
        if run.state == "FAILED" and "SchemaContractError" in run.message:
            remedy = advice_of("failures")["contract-refused"].says()
            told = run.message if remedy in run.message else f"{run.message}; {remedy}"
            text = f"{run.job}, run of {_moment(run.started_at_ms)}: {told}"
            console.print(Sentence(Text.assemble(("refused", "yellow"), f" {text}")))


def print_unserved(console: Console, tables: Sequence[str]) -> None:
    """Say which tables a run will stop at, before anything runs."""
    for text in tables:
        console.print(Sentence(Text.assemble((text, "yellow"), "; the run stops there")))


def console_for_tables() -> Console:
    """Return a console whose tables are not folded if the output is not a terminal.

    Where its reader leaves, such as `| head`, the command continues unseen.
    """
    return RunConsole() if sys.stdout.isatty() else RunConsole(width=180)


def print_output(
    output: str,
    document: Any,
    parts: Iterable[RenderableType],
    default: Callable[[Any], str] | None = None,
) -> None:
    """Print a document as JSON, or its parts for people."""
    if output == "json":
        print_json(document, default)
        return
    console = console_for_tables()
    for part in parts:
        console.print(part)
