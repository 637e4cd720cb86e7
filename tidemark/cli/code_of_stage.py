"""Reports jobs whose script on AWS differs from that of the app on disk."""

import re
from collections.abc import Sequence

import click

from tidemark.errors import TidemarkError
from tidemark.model.assembly.cloud_assembly import Assembly
from tidemark.operate.clients import Glue, translated

ASSET_KEY = re.compile(r"/([0-9a-f]{64}\.py)$")


def say_code_of_stage(glue: Glue, assembly: Assembly, jobs: Sequence[str]) -> None:
    """Print a warning for each job whose deployed script is not an asset of the assembly."""
    keys = {asset.key for asset in assembly.assets}
    for job in jobs:
        try:
            with translated(glue.where):
                definition = glue.glue.get_job(JobName=job)["Job"]
        except TidemarkError:  # the command that needs the job reports it
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
    found = ASSET_KEY.search(location)
    return found is not None and not any(key.endswith(found.group(1)) for key in keys)
