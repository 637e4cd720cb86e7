"""Commands that start runs: they run the code on disk, or stop and report the changes."""

from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from tidemark.cli.progress import step
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.cli.where import Where
from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.deployment.deployed_apps import (
    DeployedApp,
    apps_with,
    changed_sources,
    deployed_apps,
    is_synthesized_again,
    render_changes,
)
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.synthesis import digest_of_assembly, synthesize

Deploy = Callable[[Path], object]
AS_DEPLOYED = "--as-deployed"


def deploy_what_changed(
    where: Where, kind: str, name: str | None, home: Home, deploy: Deploy | None
) -> None:
    """Bring the definitions of a home up to the code on disk, before a run of them is started."""
    console = Terminal(stderr=True)
    if where.app is not None or where.context:
        _deploy(assembly_folder(console, where.app, where.context), deploy)
        return
    for app in apps_with(deployed_apps(home), kind, name):
        changed = changed_sources(app)
        if where.as_deployed:
            _say(f"{AS_DEPLOYED}: the code of {app.deployed_at} runs{_since(app, changed)}")
        elif app.context is not None:
            _synthesize_again(console, app, changed, deploy)
        elif is_synthesized_again(app, changed):
            _deploy(Path(app.assembly), deploy)
            _say(f"{app.assembly} was synthesized again after {app.deployed_at}, and is deployed")
        elif changed:
            raise UsageError(
                f"the code has changed since {app.assembly} was deployed ({app.deployed_at}): "
                f"{render_changes(app, changed)}; synthesize it and give --app {app.assembly}, or "
                f"give {AS_DEPLOYED} to run the code of then"
            )


def _synthesize_again(
    console: Console, app: DeployedApp, changed: list[str], deploy: Deploy | None
) -> None:
    if not Path(app.project).is_dir():
        raise UsageError(
            f"the project {app.project}, whose code this home runs, is gone: give the folder of "
            f"its assembly with --app DIR, or {AS_DEPLOYED} to run the code of {app.deployed_at}"
        )
    try:
        with step(console, "Synthesizing the CDK app"):
            folder = synthesize(Path(app.project), app.context or {})
    except TidemarkError as error:
        raise type(error)(f"{error}\n{AS_DEPLOYED} runs the code of {app.deployed_at}") from error
    if deploy is not None or digest_of_assembly(folder) != app.digest:
        _deploy(folder, deploy, _since(app, changed))
    if changed:
        _say(f"deployed again: changed since {app.deployed_at}: {render_changes(app, changed)}")


def _deploy(folder: Path, deploy: Deploy | None, why: str = "") -> None:
    if deploy is None:
        raise UsageError(
            f"a `tidemark run` of this home is running with the code that it started with{why}; "
            f"wait until it has ended, or give {AS_DEPLOYED} to run that code"
        )
    deploy(folder)


class OldCode:
    """Reports that runs which a server starts use code that has changed on disk."""

    def __init__(self, home: Home) -> None:
        """Have said nothing."""
        self._home = home
        self._said: set[str] = set()

    def report(self, run: JobRun) -> None:
        """Print which files have changed, once for each change."""
        for app in apps_with(deployed_apps(self._home), "job", run.job_name):
            text = render_changes(app, changed_sources(app))
            if text and text not in self._said:
                self._said.add(text)
                click.echo(
                    f"{run.job_name} {run.run_id} has the code that was deployed at "
                    f"{app.deployed_at}; changed since: {text}; `tidemark serve --port 0 --app "
                    "DIR` in another terminal deploys the assembly DIR here"
                )


def _since(app: DeployedApp, changed: list[str]) -> str:
    return f"; changed since: {render_changes(app, changed)}" if changed else ""


def _say(sentence: str) -> None:
    click.echo(sentence, err=True)
