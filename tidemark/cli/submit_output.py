"""Shows a script that is submitted: what is known of it before, its run, and its output."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

import click

from tidemark.cli.engines import prepared_spark
from tidemark.cli.progress import JobProgress, RunConsole
from tidemark.cli.terminal import Terminal, behind
from tidemark.glue_service.submission import EXTRA_MODULES, Echo, Submission, imports_library
from tidemark.glue_service.submit_served import Observe
from tidemark.local_state.store.database import JobRun


def say_notes(submission: Submission) -> None:
    """Say what of a script is otherwise on AWS, or does not run on this machine."""
    from tidemark.checks.lint.linter import local_notes  # slow: a Glue that serves runs it by now

    if imports_library(submission.script) and EXTRA_MODULES not in submission.arguments:
        click.echo(
            "the library watermarks comes with the script, as a Pipeline ships it; a job on AWS "
            f"that no Pipeline makes needs its zip in {EXTRA_MODULES}",
            err=True,
        )
    for note in local_notes(submission.script):
        click.echo(f"{note.file}:{note.place.line}: {note.text}", err=True)


@contextmanager
def shown(submission: Submission, output: str) -> Iterator[tuple[JobProgress, Observe, Echo]]:
    """Prepare the Spark of a script; yield what shows its run and its output."""
    prepared_spark(submission.glue_version)
    is_json = output == "json"  # then stdout has nothing but the run
    with JobProgress(Terminal(stderr=True) if is_json else RunConsole()) as progress:
        of_script = ScriptOutput(progress.stop_animation, is_all_stderr=is_json)

        def observe(run: JobRun | None) -> None:
            if run is not None:
                of_script.end_line()
            progress.observe(run)

        yield progress, observe, of_script.write


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
