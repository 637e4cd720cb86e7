"""The command `submit`: one script as a job run, whose output is passed on as it is written."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tidemark.local_state.store.database import JobRun

ISOLATED_HELP = "Start a JVM for each job run; borrow none that ran another before."


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--isolated", is_flag=True, help=ISOLATED_HELP)
def submit(script: Path, arguments: tuple[str, ...], isolated: bool) -> None:
    """Run SCRIPT once as a job run, with any ARGUMENTS of Glue (--job-bookmark-option …).

    Buckets are the folders of the home's lake. The job is named as --JOB_NAME says, or after the
    script. What the script uses and this machine does not run is named before it starts.
    """
    from tidemark.checks.lint.linter import local_notes
    from tidemark.cli.progress import JobProgress, RunConsole
    from tidemark.glue_service.runs.jvms.supply import jvms_of
    from tidemark.glue_service.submit import read_submission
    from tidemark.glue_service.submit import submit as run_script
    from tidemark.local_state.home import Home

    submission = read_submission(script, arguments)
    for found in local_notes(script):
        click.echo(f"{found.file}:{found.place.line}: {found.text}", err=True)
    home = Home.from_environment()
    with JobProgress(RunConsole()) as progress:
        output = ScriptOutput(progress.stop_animation)

        def observe(run: "JobRun | None") -> None:
            if run is not None:
                output.end_line()
            progress.observe(run)

        with jvms_of(home, is_isolated=isolated, say=progress.say) as jvms:
            finished, _ = run_script(submission, home, observe, progress.warn, output.write, jvms)
    if finished.state != "SUCCEEDED":
        sys.exit(1)


class ScriptOutput:
    """Writes to this process's own stdout and stderr; a reader that leaves stops nothing."""

    def __init__(self, before_first: Callable[[], None]) -> None:
        """Call ``before_first`` before anything is written."""
        self._before_first: Callable[[], None] | None = before_first
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
            stream = sys.stdout if name == "stdout" else sys.stderr
            stream.flush()
            stream.buffer.write(data)
            stream.buffer.flush()
        except BrokenPipeError:  # such as `| head`: the run continues
            self._left.add(name)
        if name == "stdout":
            self._is_within_line = not data.endswith(b"\n")

    def end_line(self) -> None:
        """End the line that the script left open, for another is to follow."""
        if self._is_within_line:
            self.write("stdout", b"\n")
