"""The command `init`."""

from pathlib import Path

import click


@click.command()
@click.argument("name")
def init(name: str) -> None:
    """Write a new project into the folder NAME: an app, a stack, a job with its test, CI.

    NAME is part of the names of stacks and buckets: lower case letters and digits, in words joined
    by hyphens.
    """
    from tidemark.scaffold.project import plan_project, write_project

    folder = Path(name)
    files = plan_project(name)
    write_project(folder, files)
    click.echo(f"wrote {len(files)} files into {folder}/")
    click.echo(f"\nNext, in a virtual environment: cd {name}, then as its README.md says:")
    for command in ("pip install -r requirements.txt", "npm install", "pytest", "tidemark run"):
        click.echo(f"  {command}")
