"""Which Glue a command works on: this machine or a deployed stage; and whether it only looks."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from tidemark.errors import UsageError
from tidemark.local_state.home import ONLY_LOOKS


@dataclass(frozen=True)
class Where:
    """What --deployed, --app, --context and --as-deployed say.

    On this machine a command that reads the app takes --app too; one that starts runs, or shows a
    job as the app has it, also --context: what they name is synthesized first.
    """

    stage: str | None
    app: Path | None = None
    context: tuple[str, ...] = ()
    as_deployed: bool = False
    takes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what would change nothing."""
        if self.as_deployed and self.stage is not None:
            raise UsageError("a stage on AWS runs what is deployed there: leave out --as-deployed")
        if self.as_deployed and (self.app is not None or self.context):
            raise UsageError(
                "--as-deployed runs the code of the last deployment, and --app and --context name "
                "another one: give one of the two"
            )
        if self.stage is None:
            if self.context and self.takes == ("app",):
                raise UsageError("--context goes with --deployed STAGE: leave it out")
            if (self.app is not None or self.context) and not self.takes:
                raise UsageError(
                    "--app and --context say what is deployed as a stage: give --deployed STAGE "
                    "too; on this machine the jobs that have run are known"
                )
        elif not self.stage:
            raise UsageError("--deployed '' is not a stage; give its name, such as --deployed prod")
        elif stages := [item for item in self.context if item.startswith("stage=")]:
            raise UsageError(
                f"--context {stages[0]} and --deployed {self.stage}: give one of the two"
            )

    @property
    def reads_app(self) -> bool:
        """Whether the command reads an app, not the deployed state."""
        return self.takes == ("app",) or bool(self.app or self.context)

    @property
    def option(self) -> str:
        """What to add to a command that is to work on the same Glue; begins with a blank."""
        return f" --deployed {self.stage}" if self.stage else ""


def ask_on_aws(where: Where, what: str, *, is_sure: bool) -> None:
    """Ask before something is done on AWS, if a person is there who can answer."""
    if where.stage and not is_sure and sys.stdin.isatty():
        click.confirm(f"{what} on AWS, stage {where.stage}?", abort=True, err=True)


def leave_output() -> None:
    """Send what is still written to stdout nowhere: its reader has left, or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def looking() -> Iterator[None]:
    """Look at a copy of the home where that cannot be written.

    The block ends where the reader of its output leaves, such as `| head`, who has seen enough.
    """
    token = ONLY_LOOKS.set(True)
    try:
        yield
    except BrokenPipeError:
        leave_output()
    finally:
        ONLY_LOOKS.reset(token)
