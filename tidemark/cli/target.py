"""Opens the target of a command: a stage in an account, or the home of this machine."""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.cli.where import Where
from tidemark.errors import TidemarkError

if TYPE_CHECKING:
    from tidemark.local_state.store.database import JobRun
    from tidemark.model.assembly.cloud_assembly import Assembly
    from tidemark.operate.clients import Glue
    from tidemark.operate.target import Target

ASSET_KEY = re.compile(r"/([0-9a-f]{64}\.py)$")
ToStart: TypeAlias = tuple[str, str | None]
"""What a command starts: `job`, `workflow` or `trigger`, and its name; None for the only one."""
Observe: TypeAlias = "Callable[[JobRun | None], None]"


def assembly_of_stage(where: Where) -> "Assembly":
    """Return the app of the stage that --deployed names; its assets may be gone by then."""
    from tidemark.model.assembly.cloud_assembly import read_assembly

    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:  # cdk.out is of another stage
        stage = () if where.app else (f"stage={where.stage}",)
        context = (*where.context, *stage)
        return read_assembly(
            assembly_folder(Terminal(stderr=True), where.app, context, Path(folder))
        )


@contextmanager
def glue_of_stage(where: Where, assembly: "Assembly | None" = None) -> Iterator["Glue"]:
    """Yield the Glue of the stage that --deployed names."""
    from tidemark.glue_service.commands import region
    from tidemark.operate.app_names import names_of_stage
    from tidemark.operate.clients import of_stage

    assert where.stage is not None  # noqa: S101 (the caller has looked)
    console = Terminal(stderr=True)
    names = names_of_stage(assembly or assembly_of_stage(where), where.stage, region())
    with of_stage(names, lambda text: console.print(text)) as glue:
        yield glue


@contextmanager
def open_target(
    where: Where, to_start: ToStart | None = None, observe: Observe = lambda _: None
) -> Iterator["Target"]:
    """Yield what a command is to work on: a stage, or the home of this machine.

    A command that starts runs names what it starts, a kind and a name: here that is brought up to
    the code on disk first. On AWS the deployed code runs; a warning says where that differs.
    ``observe`` gets the runs that this command waits for at the end, as `glue_here` says.
    """
    if where.stage is not None:
        from tidemark.operate.account import Account
        from tidemark.operate.app_names import JOB

        assembly = assembly_of_stage(where)
        with glue_of_stage(where, assembly) as glue:
            glue.check_stage(JOB, glue.names.jobs[0])
            if to_start is not None:
                kind, name = to_start
                warn_of_other_code(glue, assembly, [name] if kind == "job" and name else [])
            yield Account(glue, assembly)
        return
    from tidemark.glue_service.commands import NO_APP, load_app
    from tidemark.local_state.home import Home
    from tidemark.operate.home import HomeTarget

    with ExitStack() as stack:
        served: AbstractContextManager[Glue] = _glue_here(where, to_start, observe)
        if to_start is not None:  # before anything is read: it deploys
            served = nullcontext(stack.enter_context(served))
        yield HomeTarget(
            Home.from_environment(),
            stack,
            served,
            lambda: NO_APP if _is_without_app(where) else load_app(_folder_of(where, stack)),
            reads_app=to_start is None and where.reads_app,
        )


def _is_without_app(where: Where) -> bool:
    synthesizes = "context" in where.takes and (bool(where.context) or Path("cdk.json").is_file())
    return where.app is None and not synthesizes and not Path("cdk.out").exists()


def _folder_of(where: Where, stack: ExitStack) -> Path:
    if "context" not in where.takes:
        return where.app or Path("cdk.out")
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tidemark-"))
    return assembly_folder(Terminal(stderr=True), where.app, where.context, Path(folder))


@contextmanager
def _glue_here(where: Where, to_start: ToStart | None, observe: Observe) -> Iterator["Glue"]:
    from tidemark.cli.code_on_disk import deploy_what_changed
    from tidemark.cli.here import glue_here

    before_runs = partial(deploy_what_changed, where, *to_start) if to_start else None
    with glue_here(before_runs, observe) as glue:
        yield glue


def warn_of_other_code(glue: "Glue", assembly: "Assembly", jobs: Sequence[str]) -> None:
    """Print a warning for each job whose deployed script is not an asset of the assembly."""
    from tidemark.operate.clients import translated

    keys = {asset.key for asset in assembly.assets}
    for job in jobs:
        try:
            with translated(glue.where):
                definition = glue.glue.get_job(JobName=job)["Job"]
        except TidemarkError:  # the command that needs the job says so
            continue
        location = definition.get("Command", {}).get("ScriptLocation", "")
        if is_other_script(location, keys):
            click.echo(
                f"warning: {glue.where} runs its deployed script of {job} ({location}), and that "
                "on disk is another one: `cdk deploy` sends it",
                err=True,
            )


def is_other_script(location: str, keys: set[str]) -> bool:
    """Return whether a script is an asset of the CDK that an app does not have.

    A script that no asset was made for has a name of its own, which tells nothing.
    """
    asset = ASSET_KEY.search(location)
    return asset is not None and not any(key.endswith(asset.group(1)) for key in keys)
