"""The acts about the home as a whole: `home reset|bucket|table|secret|backup|restore|…`.

Each needs another wing of the local Glue, so these are imported where they are used.
"""

import re
import sys
from pathlib import Path

import click

from tidemark.errors import DamagedDatabaseError, UsageError
from tidemark.local_state.engine.kept_by import kept_by
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import folder_of_home
from tidemark.local_state.machine.disk import render_size
from tidemark.local_state.store.state_record import STATE, accept, refuse_loss
from tidemark.local_state.watermark_tables import watermark_table
from tidemark.model.messages import known

# Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
NAMES = "3 to 255 letters, digits, hyphens, underscores and dots"


def reset(yes: bool) -> None:
    home = Home.open(folder_of_home())
    if not yes:
        click.confirm(f"Delete everything in {home.root}?", abort=True)
    mark = kept_by(home)
    home.reset()
    click.echo(f"{home.root} is empty")
    if mark is not None:
        click.echo(f"its watermarks in the DynamoDB at {mark.url} stay: delete the tables there")


def bucket(names: tuple[str, ...]) -> None:
    home = Home.from_environment()
    for name in names:
        is_new = home.create_bucket(name)
        click.echo(f"{'created' if is_new else 'already there'}: s3://{name} is {home.lake / name}")


def table(name: str) -> None:
    from tidemark.glue_service.commands import region
    from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint

    if not TABLE_NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a DynamoDB table; allowed: {NAMES}")
    home = Home.from_environment()
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, region()) as dynamodb:
        created = create_tables(dynamodb, [watermark_table(name)])
    click.echo(f"{'created' if created else 'already there'}: the table {name} of {home.root}")


def put_secret(name: str, file: Path | None) -> None:
    from tidemark.emulated.secrets import put_secret as put
    from tidemark.glue_service.commands import region

    home = Home.from_environment()
    is_new = put(home.root, region(), name, read_value(file))
    click.echo(f"{'created' if is_new else 'changed'}: the secret {name} of {home.root}")


def backup(file: Path, lake: bool) -> None:
    from tidemark.glue_service.backups import back_up

    home = Home.from_environment()
    back_up(home, file, with_lake=lake)
    what = "the state and the data" if lake else "the state, without the data,"
    click.echo(f"{what} of {home.shown} is in {file} ({render_size(file.stat().st_size)})")
    if mark := kept_by(home):
        click.echo(f"watermarks are kept by the DynamoDB at {mark.url} and are not in it")


def restore(file: Path, yes: bool) -> None:
    from tidemark.glue_service.backups import read_backup, would_be_replaced
    from tidemark.glue_service.backups import restore as restore_backup

    facts = read_backup(file)
    home = Home.open(folder_of_home())
    replaced = would_be_replaced(home, facts)
    if replaced and not yes:
        raise UsageError(
            f"{home.root} is not empty: {', '.join(replaced)} would be replaced by the backup of "
            f"{facts.made_at}; back it up first, then give --yes"
        )
    restore_backup(home, file)
    what = "state and data are" if facts.has_lake else "the state is, and the data is not changed"
    click.echo(f"{home.root}: {what}: as of {facts.made_at}")


def accept_loss(file: str, yes: bool) -> None:
    name = {Path(name).name: name for name in STATE}.get(file, file)
    known("file", name, STATE)
    home = Home.open(folder_of_home())
    try:
        refuse_loss(home.root, name)
    except DamagedDatabaseError as loss:
        click.echo(str(loss), err=True)
    else:
        raise UsageError(
            f"{home.root / name} has lost nothing; to start without it, move it away first"
        )
    if not yes:
        click.confirm(f"Continue without what was in {name}?", abort=True)
    with home.exclusive():
        rest = accept(home.root, name)
    click.echo(f"{home.root} continues without it" + (f"; the rest is {rest}" if rest else ""))


def read_value(file: Path | None) -> str:
    """Return the text of a file, of a pipe without its last line break, or what is typed."""
    try:
        if file is not None:
            value = file.read_text(encoding="utf-8")
        elif sys.stdin.isatty():
            value = str(click.prompt("value", hide_input=True))
        else:
            value = sys.stdin.buffer.read().decode().removesuffix("\n")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the value is not UTF-8: {error}") from error
    if not value:
        raise UsageError("the value is empty; type it, pipe it, or name a file with --file")
    return value
