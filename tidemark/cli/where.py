"""Which Glue a command works on: this machine or a deployed stage; and whether it only looks."""

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import click

from tidemark.cli.known_names import STAGE
from tidemark.cli.synth import APP_HELP
from tidemark.cli.synth import CONTEXT_HELP as RUN_CONTEXT_HELP
from tidemark.errors import UsageError
from tidemark.local_state.home import ONLY_LOOKS

DEPLOYED_HELP = (
    "On AWS instead of this machine: what the app of this stage has deployed, in its account and "
    "region, with your credentials."
)
CONTEXT_HELP = "With --deployed: CDK context for the synthesis, in addition to stage=STAGE."
START_CONTEXT_HELP = "CDK context for the synthesis; that of the last one if not given."
LAST_APP_HELP = (
    "Cloud assembly to use instead of cdk.out, which the last run left here, or with --deployed "
    "instead of synthesizing the app."
)
AS_DEPLOYED_HELP = "On this machine: run the code that was deployed last, not the code on disk."


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
        elif other := [it for it in self.context if it.startswith("stage=")]:
            raise UsageError(
                f"--context {other[0]} and --deployed {self.stage}: give one of the two"
            )

    @property
    def reads_app(self) -> bool:
        """Whether the command reads an app, not the deployed state."""
        return self.takes == ("app",) or bool(self.app or self.context)

    @property
    def option(self) -> str:
        """What to add to a command that is to work on the same Glue; begins with a blank."""
        return f" --deployed {self.stage}" if self.stage else ""


Command: TypeAlias = Callable[..., None]


def _options(
    *takes: str, app_help: str = APP_HELP, context_help: str = CONTEXT_HELP
) -> Callable[[Command], Command]:
    """Return what adds --deployed, --app and --context to a command, which gets a ``where``."""

    def with_options(command: Command) -> Command:
        @functools.wraps(command)
        def with_where(
            *args: Any,
            deployed: str | None,
            app: Path | None,
            context: tuple[str, ...],
            as_deployed: bool = False,
            **kwargs: Any,
        ) -> None:
            command(*args, where=Where(deployed, app, context, as_deployed, takes), **kwargs)

        options = (
            click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=context_help),
            click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=app_help),
            click.option("--deployed", metavar="STAGE", type=STAGE, help=DEPLOYED_HELP),
        )
        return functools.reduce(lambda it, option: option(it), options, with_where)

    return with_options


where_options = _options()
app_options = _options("app", app_help=LAST_APP_HELP)
run_options = _options("app", "context", context_help=RUN_CONTEXT_HELP)
look_options = _options("app", "context", context_help=START_CONTEXT_HELP)


def start_options(command: Command) -> Command:
    """Add the options of a command that starts runs, which gets them as ``where``."""
    return look_options(click.option("--as-deployed", is_flag=True, help=AS_DEPLOYED_HELP)(command))


def leave_output() -> None:
    """Send what is still written to stdout nowhere: its reader has left, or its disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def only_looks(command: Command) -> Command:
    """Return a command that looks at a copy of the home where that cannot be written.

    It ends where the reader of its output leaves, such as `| head`, who has seen enough.
    """

    @functools.wraps(command)
    def looking(*args: Any, **kwargs: Any) -> None:
        token = ONLY_LOOKS.set(True)
        try:
            command(*args, **kwargs)
        except BrokenPipeError:
            leave_output()
        finally:
            ONLY_LOOKS.reset(token)

    return looking
