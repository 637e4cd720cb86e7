"""The command `submit`: one script as a job run, whose output is passed on as it is written."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO, cast

import click

from tidemark.checks.lint.linter import local_notes
from tidemark.cli.engines import prepared_spark
from tidemark.cli.environment import with_executors
from tidemark.cli.progress import JobProgress, RunConsole
from tidemark.cli.script_or_app import refuse_own_options
from tidemark.cli.target import open_target
from tidemark.cli.terminal import Terminal, behind, print_json
from tidemark.cli.views.runs import run_json
from tidemark.cli.where import Where
from tidemark.errors import UsageError
from tidemark.glue_job.cluster.asked import asked_for
from tidemark.glue_job.process.lake_fs.semantics import VARIABLE
from tidemark.glue_service.runs.jvms.supply import jvms_of
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.glue_service.served import ServedPort, find_port
from tidemark.glue_service.submission import (
    EXTRA_MODULES,
    Echo,
    Submission,
    imports_library,
    read_submission,
)
from tidemark.glue_service.submit import submit as run_script
from tidemark.glue_service.submit_served import Observe, submit_to
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import installed_spark, own_glue_version
from tidemark.local_state.store.database import JobRun


def submit(
    script: Path,
    arguments: tuple[str, ...],
    engine: str | None,
    isolated: bool,
    timeout: int | None,
    output: str,
    executors: str | None,
    master: str | None,
) -> None:
    version = engine or own_glue_version()
    with with_executors(executors, master):
        submission = replace(
            read_submission(script, arguments), glue_version=version, timeout_minutes=timeout
        )
        refuse_own_options(script, arguments)
        home = Home.from_environment()
        served = find_port(home)
        if served is None or served.is_of_command:
            run = _submit_here(submission, home, output, isolated=isolated)
        else:
            _check_served(served, home, isolated=isolated)
            click.echo(f"process {served.pid} serves {home.root}, and runs this", err=True)
            with _shown(submission, output) as (progress, observe, write):
                run = submit_to(served, submission, home, observe, progress.warn, write)
    if output == "json":
        _print_run(run)
    if run.state != "SUCCEEDED":
        sys.exit(1)


def _print_run(record: JobRun) -> None:
    with open_target(Where(None)) as target:
        run = next(run for run in target.runs([record.job_name]) if run.run_id == record.run_id)
        document = run_json(run, has_rows=True, warnings=target.warnings())
    print_json(document)


def _check_served(served: ServedPort, home: Home, *, isolated: bool) -> None:
    if isolated or asked_for(os.environ) or os.environ.get(VARIABLE):
        raise UsageError(
            f"process {served.pid} serves {home.root}, and runs the script: leave out --executors, "
            "--isolated, --master and --s3-semantics, or stop that process first"
        )


@contextmanager
def _lending_terminal() -> Iterator[None]:
    """Let `breakpoint()` of the script have the terminal that this command is on, if any."""
    from tidemark.glue_job.process.job_process import TERMINAL_VARIABLE

    if sys.stdin is None or not sys.stdin.isatty():  # None: it was closed
        yield
        return
    os.environ[TERMINAL_VARIABLE] = os.ttyname(sys.stdin.fileno())
    try:
        yield
    finally:
        os.environ.pop(TERMINAL_VARIABLE, None)


def _submit_here(submission: Submission, home: Home, output: str, *, isolated: bool) -> JobRun:
    with closing(Pythons(refills=False)) as pythons:
        if not isolated and (spark := installed_spark(submission.glue_version)):
            pythons.want(1, spark)  # it imports while this command does
        with _lending_terminal(), _shown(submission, output) as (progress, observe, write):
            lent = None if isolated else pythons
            with jvms_of(home, is_isolated=isolated, pythons=lent, say=progress.say) as jvms:
                run, _ = run_script(submission, home, observe, progress.warn, write, jvms)
    return run


@contextmanager
def _shown(submission: Submission, output: str) -> Iterator[tuple[JobProgress, Observe, Echo]]:
    """Prepare the Spark of a script; yield what shows its run and its output."""
    if imports_library(submission.script) and EXTRA_MODULES not in submission.arguments:
        click.echo(
            "the library watermarks comes with the script, as a Pipeline ships it; a job on AWS "
            f"that no Pipeline makes needs its zip in {EXTRA_MODULES}",
            err=True,
        )
    for note in local_notes(submission.script):
        click.echo(f"{note.file}:{note.place.line}: {note.text}", err=True)
    prepared_spark(submission.glue_version)
    is_json = output == "json"  # then stdout has nothing but the run
    with JobProgress(Terminal(stderr=True) if is_json else RunConsole()) as progress:
        shown = ScriptOutput(progress.stop_animation, is_all_stderr=is_json)

        def observe(run: JobRun | None) -> None:
            if run is not None:
                shown.end_line()
            progress.observe(run)

        yield progress, observe, shown.write


class ScriptOutput:
    """Writes to this process's own stdout and stderr; a reader that leaves stops nothing."""

    def __init__(self, before_first: Callable[[], None], *, is_all_stderr: bool = False) -> None:
        """Call ``before_first`` before anything is written; all may go to stderr."""
        self._before_first: Callable[[], None] | None = before_first
        self._is_all_stderr = is_all_stderr
        self._is_within_line = False
        self._left: set[str] = set()

    def write(self, name: str, data: bytes) -> None:
        """Write bytes to ``stdout`` or ``stderr``; they need not be text of any encoding."""
        if self._before_first is not None:
            self._before_first()
            self._before_first = None
        if name in self._left:
            return
        try:
            is_out = name == "stdout" and not self._is_all_stderr
            stream = cast(TextIO, behind(sys.stdout if is_out else sys.stderr))
            stream.flush()
            # Past the buffer, which would keep what a full disk has refused, for the end.
            raw, rest = getattr(stream.buffer, "raw", stream.buffer), data
            while rest:
                rest = rest[raw.write(rest) :]
        except BrokenPipeError:  # such as `| head`: the run continues
            self._left.add(name)
        if name == "stdout":
            self._is_within_line = not data.endswith(b"\n")

    def end_line(self) -> None:
        """End the line that the script left open, for another is to follow."""
        if self._is_within_line:
            self.write("stdout", b"\n")
