"""What `tidemark run` does where a port serves the home: it deploys there, and runs as a client."""

import click

from tidemark.cli.deployed import run_job
from tidemark.cli.runs import watch
from tidemark.cli.where import Where
from tidemark.errors import UsageError
from tidemark.glue_service.commands import App, region
from tidemark.glue_service.one_run import chosen_workflow
from tidemark.glue_service.served import ServedPort, deploy
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.operate.clients import of_port
from tidemark.operate.workflow_runs import start_workflow_run


def run_served(
    home: Home,
    served: ServedPort,
    app: App,
    workflow: str | None,
    only: str | None,
    begin: str | None,
) -> int:
    """Deploy an app on the port of a home, run a workflow of it, and watch it."""
    if begin is not None:
        raise UsageError(
            f"process {served.pid} serves {home.root}: there a workflow run begins at a job only "
            f"by resuming an earlier run: `tidemark resume --from {begin}`"
        )
    name = chosen_workflow(app.deployment, workflow)
    click.echo(f"process {served.pid} serves {home.root}, and runs this")
    click.echo(deploy(served, app.folder))
    with of_port(served.url, str(home.root), region(), access_key(home).arguments) as glue:
        where = Where(None)
        if only is not None:
            return run_job(glue, name, glue.names.job(only), where, "table")
        return watch(glue, name, start_workflow_run(glue, name), where, "table")
