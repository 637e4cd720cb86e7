"""Commands that change what is on AWS by the CDK: `deploy` and `destroy`."""

import click

from tidemark.cli.commands.known_names import STAGE
from tidemark.cli.commands.options import SCRIPT_ARGUMENTS, act


@click.command(context_settings=SCRIPT_ARGUMENTS)
@click.option("--dry-run", is_flag=True)
@click.argument("stage", type=STAGE)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE CDK]...")
@act("deploy.deploy")
def deploy() -> None:
    """Deploy STAGE by the CDK, unless that would lose bookmarks or watermarks.

    It is `cdk deploy --all` after `tidemark state check`: exit code 1 if a position would be lost,
    or state-manifest.json is not that of the app. What follows STAGE goes to the CDK, such as
    --require-approval never.

    Args:
        dry_run: Compare the templates with what is deployed, as `cdk diff` does; change nothing.
    """


@click.command(context_settings=SCRIPT_ARGUMENTS)
@click.option("--dry-run", is_flag=True)
@click.argument("stage", type=STAGE)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE CDK]...")
@act("deploy.destroy")
def destroy() -> None:
    """Remove the pipelines of STAGE by the CDK: jobs and triggers, and nothing that keeps data.

    A stack with a bucket, a table, a key or a database stays, and so does one that may hold any.

    Args:
        dry_run: Print the names of the stacks, and remove nothing.
    """
