"""Which Glue a command works on: that of this machine, or that of a deployed stage."""

import functools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from tidemark.cli.synth import APP_HELP, assembly_folder
from tidemark.errors import UsageError

if TYPE_CHECKING:
    from tidemark.model.assembly.cloud_assembly import Assembly
    from tidemark.operate.clients import Glue

DEPLOYED_HELP = (
    "On AWS instead of this machine: what the app of this stage has deployed, in its account and "
    "region, with your credentials."
)
CONTEXT_HELP = "With --deployed: CDK context for the synthesis, beside stage=STAGE."
START_CONTEXT_HELP = "CDK context for the synthesis; that of the last one if not given."
AS_DEPLOYED_HELP = "On this machine: run the code that was deployed last, not the code on disk."


@dataclass(frozen=True)
class Where:
    """What --deployed, --app, --context and --as-deployed say.

    A command that starts runs takes --app and --context on this machine too: what they name is
    deployed first. So does one that looks at a job: it is then as that app has it.
    """

    stage: str | None
    app: Path | None = None
    context: tuple[str, ...] = ()
    as_deployed: bool = False
    starts_runs: bool = False
    is_of_app: bool = False

    def __post_init__(self) -> None:
        """Refuse what would change nothing."""
        if self.as_deployed:
            self._check_as_deployed()
        if self.stage is None:
            takes_app = self.starts_runs or self.is_of_app
            if not takes_app and (self.app is not None or self.context):
                raise UsageError(
                    "--app and --context say what is deployed as a stage: give --deployed STAGE "
                    "too; on this machine the jobs that have run are known"
                )
        elif not self.stage:
            raise UsageError("--deployed '' is no stage; give its name, such as --deployed prod")
        elif other := [it for it in self.context if it.startswith("stage=")]:
            raise UsageError(
                f"--context {other[0]} and --deployed {self.stage}: give one of the two"
            )

    def _check_as_deployed(self) -> None:
        if self.stage is not None:
            raise UsageError("a stage on AWS runs what is deployed there: leave out --as-deployed")
        if self.app is not None or self.context:
            raise UsageError(
                "--as-deployed runs the code of the last deployment, and --app and --context name "
                "another one: give one of the two"
            )

    @property
    def option(self) -> str:
        """What to add to a command that is to work on the same Glue; begins with a blank."""
        return f" --deployed {self.stage}" if self.stage else ""


def where_options(command: Callable[..., None], *, is_of_app: bool = False) -> Callable[..., None]:
    """Add --deployed, --app and --context to a command, which gets them as ``where``."""

    @functools.wraps(command)
    def with_where(
        *args: Any, deployed: str | None, app: Path | None, context: tuple[str, ...], **kwargs: Any
    ) -> None:
        where = Where(deployed, app, context, is_of_app=is_of_app)
        command(*args, where=where, **kwargs)

    context_help = START_CONTEXT_HELP if is_of_app else CONTEXT_HELP
    options = (
        click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=context_help),
        click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP),
        click.option("--deployed", metavar="STAGE", help=DEPLOYED_HELP),
    )
    return functools.reduce(lambda it, option: option(it), options, with_where)


def look_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a command that looks at a job as an app has it, on this machine too."""
    return where_options(command, is_of_app=True)


def start_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a command that starts runs, which gets them as ``where``."""

    @functools.wraps(command)
    def with_where(
        *args: Any,
        deployed: str | None,
        app: Path | None,
        context: tuple[str, ...],
        as_deployed: bool,
        **kwargs: Any,
    ) -> None:
        where = Where(deployed, app, context, as_deployed, starts_runs=True)
        command(*args, where=where, **kwargs)

    options = (
        click.option("--as-deployed", is_flag=True, help=AS_DEPLOYED_HELP),
        click.option(
            "--context", "-c", multiple=True, metavar="KEY=VALUE", help=START_CONTEXT_HELP
        ),
        click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP),
        click.option("--deployed", metavar="STAGE", help=DEPLOYED_HELP),
    )
    return functools.reduce(lambda it, option: option(it), options, with_where)


def assembly_of_stage(where: Where) -> "Assembly":
    """Return the app of the stage that --deployed names; its assets may be gone by then."""
    from tidemark.model.assembly.cloud_assembly import read_assembly

    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:  # cdk.out is of another stage
        stage = () if where.app else (f"stage={where.stage}",)
        context = (*where.context, *stage)
        return read_assembly(
            assembly_folder(Console(stderr=True), where.app, context, Path(folder))
        )


@contextmanager
def glue_of_stage(where: Where, assembly: "Assembly | None" = None) -> Iterator["Glue"]:
    """Yield the Glue of the stage that --deployed names."""
    from tidemark.glue_service.commands import region
    from tidemark.operate.clients import of_stage
    from tidemark.operate.names import names_of_stage

    assert where.stage is not None  # noqa: S101 (the caller has looked)
    console = Console(stderr=True)
    names = names_of_stage(assembly or assembly_of_stage(where), where.stage, region())
    with of_stage(names, lambda text: console.print(text, highlight=False, soft_wrap=True)) as glue:
        yield glue


@contextmanager
def glue_of(where: Where) -> Iterator["Glue"]:
    """Yield the Glue that a command which only looks is to work on.

    On this machine that is the one which serves the home, or one of the command's own.
    """
    if where.stage is not None:
        with glue_of_stage(where) as glue:
            yield glue
        return
    from tidemark.cli.here import glue_here

    with glue_here() as glue:
        yield glue
