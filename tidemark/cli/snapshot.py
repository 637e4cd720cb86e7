"""The command `snapshot`."""

import sys
from pathlib import Path

import click

from tidemark.cli.synth import APP_HELP, CONTEXT_HELP, assembly_folder
from tidemark.cli.terminal import Terminal

CHECK_HELP = "Write nothing; exit with 1 if a file would change."


@click.command()
@click.option("--check", is_flag=True, help=CHECK_HELP)
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
def snapshot(check: bool, app: Path | None, context: tuple[str, ...]) -> None:
    """Write the templates as a reviewer reads them: a file per job and stack in tests/snapshots.

    A new job adds a file. Commit them: what a change of the app does to AWS is in the difference.
    """
    from tidemark.checks.snapshot import FOLDER, changed, read, snapshots, write
    from tidemark.model.assembly.cloud_assembly import read_assembly

    files = snapshots(read_assembly(assembly_folder(Terminal(stderr=True), app, context)))
    folder = Path(FOLDER)
    if not check:
        for name, done in write(folder, files).items():
            click.echo(f"{done} {folder / name}: read the difference before you commit it")
        return
    names = changed(read(folder, files), files)
    for name in names:
        there = (folder / name).is_file()
        click.echo(f"{folder / name} is {'not what the app synthesizes' if there else 'missing'}")
    if names:
        click.echo("when the change is meant: tidemark snapshot, then read the difference")
        sys.exit(1)
