"""The commands about the home as a whole: `local up|bucket|reset|backup|restore|salvage`."""

import os
from pathlib import Path

import click

from tidemark.errors import UsageError

LAKE_HELP = "Also the data: the buckets, and embedded databases."


@click.group()
def local() -> None:
    """Manage the local state."""


@local.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(yes: bool) -> None:
    """Delete all local data, bookmarks, watermarks, runs and logs."""
    from tidemark.local_glue.home import Home

    home = Home.from_environment()
    if not yes:
        click.confirm(f"Delete everything in {home.root}?", abort=True)
    home.reset()
    click.echo(f"{home.root} is empty")


@local.command()
@click.option("--jvms", "size", type=click.IntRange(1), help="How many; one per core if not given.")
def up(size: int | None) -> None:
    """Keep JVMs warm for the commands of this home, until Ctrl-C.

    Commands that run jobs borrow them: a job then starts in a second or two.
    """
    from tidemark.local_glue.home import Home
    from tidemark.local_glue.runs.jvms.warm_up import keep_warm, pool_for_home

    home = Home.from_environment()
    count = size or os.cpu_count() or 1
    with pool_for_home(home, count) as jvms:
        click.echo(f"commands that use {home.root} borrow JVMs from this one; Ctrl-C ends it")
        try:
            keep_warm(home, jvms, count, click.echo)
        except KeyboardInterrupt:
            click.echo("stopped")


@local.command()
@click.argument("name")
def bucket(name: str) -> None:
    """Make a bucket, a folder of the local lake, for scripts that expect it to be there."""
    from tidemark.local_glue.home import Home

    home = Home.from_environment()
    is_new = home.create_bucket(name)
    click.echo(f"{'created' if is_new else 'already there'}: s3://{name} is {home.lake / name}")


@local.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--lake", is_flag=True, help=LAKE_HELP)
def backup(file: Path, lake: bool) -> None:
    """Write bookmarks, watermarks, runs and the Data Catalog into the new FILE.

    The logs of runs are not in it.
    """
    from tidemark.local_glue.dynamodb import ENDPOINT_VARIABLE
    from tidemark.local_glue.home import Home
    from tidemark.local_glue.machine.disk import size_text
    from tidemark.local_glue.store.backups import back_up

    home = Home.from_environment()
    back_up(home, file, with_lake=lake)
    what = "the state and the data" if lake else "the state, without the data,"
    click.echo(f"{what} of {home.root} is in {file} ({size_text(file.stat().st_size)})")
    if endpoint := os.environ.get(ENDPOINT_VARIABLE):
        click.echo(f"watermarks are kept by {endpoint} ({ENDPOINT_VARIABLE}) and are not in it")


@local.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Replace the state that is there.")
def restore(file: Path, yes: bool) -> None:
    """Make the state what it was when the backup FILE was made.

    Data that are not in the backup stay as they are: what came after it is read again.
    """
    from tidemark.local_glue.home import Home
    from tidemark.local_glue.store.backups import read_backup, would_be_replaced
    from tidemark.local_glue.store.backups import restore as restore_backup

    facts = read_backup(file)
    home = Home.from_environment()
    replaced = would_be_replaced(home, facts)
    if replaced and not yes:
        raise UsageError(
            f"{home.root} is not empty: {', '.join(replaced)} would be replaced by the backup of "
            f"{facts.made_at}; back it up first, then give --yes"
        )
    restore_backup(home, file)
    what = "state and data are" if facts.has_lake else "the state is, and the data stay as they are"
    click.echo(f"{home.root}: {what}: as of {facts.made_at}")


@local.command()
def salvage() -> None:
    """Replace damaged databases by what can still be read of them; the damaged files are kept."""
    from tidemark.local_glue.home import Home
    from tidemark.local_glue.store.backups import salvage as salvage_home

    found = salvage_home(Home.from_environment())
    if not found:
        click.echo("no database is damaged: nothing was changed")
    for database, tables in found.items():
        click.echo(f"{database} is new; the damaged file is beside it")
        for table in tables:
            extent = "all" if table.is_complete else "what could be read:"
            click.echo(f"  {table.name}: {extent} {table.rows:,} rows")
    if any(not table.is_complete for tables in found.values() for table in tables):
        click.echo("rows are missing: `tidemark status` shows where every job continues; look")
        click.echo("before you run: a job without its bookmark or watermark reads everything again")
