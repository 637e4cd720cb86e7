"""The command `snapshot`."""

import sys
from pathlib import Path

import click

from tidemark.checks.snapshot import FOLDER, changed, read, snapshots, write
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.model.assembly.cloud_assembly import read_assembly


def snapshot(check: bool, app: Path | None, context: tuple[str, ...]) -> None:
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
