"""The command `init`."""

from pathlib import Path

import click

from tidemark.model.messages import plural

FROM_HELP = "Write the sample pipeline, with its data, instead of one job."


@click.command()
@click.argument("name")
@click.option("--from", "sample", type=click.Choice(["flights"]), help=FROM_HELP)
def init(name: str, sample: str | None) -> None:
    """Write a new project into the folder NAME: an app, a stack, a job with its test, CI.

    NAME is part of the names of stacks and buckets: lower case letters and digits, in words joined
    by hyphens.
    """
    from tidemark.scaffold.project import plan_project, plan_sample, write_project

    folder = Path(name)
    files = plan_sample(name) if sample else plan_project(name)
    write_project(folder, files)
    click.echo(f"wrote {plural(len(files), 'file')} into {folder}/")
    click.echo(f"\nNext, in a virtual environment: cd {name}, then as its README.md says:")
    run = "python -m sample demo" if sample else "tidemark run"
    for command in ("pip install -r requirements.txt", "npm install", "pytest", run):
        click.echo(f"  {command}")
