"""The commands about the home as a whole: `local up|env|engine|bucket|table|secret|…`."""

import os
import sys
from pathlib import Path

import click

from tidemark.cli.group import Verbs
from tidemark.cli.local_engine import engine
from tidemark.cli.local_table import table
from tidemark.cli.synth import APP_HELP, CONTEXT_HELP, assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.cli.where import only_looks
from tidemark.errors import DamagedDatabaseError, UsageError

LOOPBACK = "127.0.0.1"
JVMS_HELP = "How many; one per core if not given. 0, with --port: each run starts its own."
PORT_HELP = "Also serve the local Glue on this port; 0 takes a free one."
HOST_HELP = "Address of the port; beyond loopback, anyone with access and its key can run code."
ANY_USER_HELP = "Answer other users of this machine too: who has the key can run code as you."
ANY_KEY_HELP = "Answer requests of every access key, also of none, for clients that have their own."
ALLOW_HOST_HELP = "Another name that clients use for the port of --host; repeatable."
EVENT_HELP = "Gets events of runs, and those that a rule matches, on its standard input."
PARALLEL_HELP = "How many job runs have a process at once; one per core if not given."
FORWARD_HELP = (
    "Also answer for another service, by an emulator: lambda=http://127.0.0.1:3001; repeatable."
)
LINEAGE_HELP = "Send an OpenLineage event of each job run that starts or ends there."
VALUE_HELP = "File with the value; without it, standard input is read."
LAKE_HELP = "Also the data: the buckets, and embedded databases."


@click.group(cls=Verbs)
def local() -> None:
    """Manage the local state."""


local.add_command(engine)
local.add_command(table)


@local.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(yes: bool) -> None:
    """Delete all local data, bookmarks, watermarks, runs and logs."""
    from tidemark.local_state.engine.kept_by import kept_by
    from tidemark.local_state.home import Home
    from tidemark.local_state.home_folder import folder_of_home

    home = Home.open(folder_of_home())
    if not yes:
        click.confirm(f"Delete everything in {home.root}?", abort=True)
    mark = kept_by(home)
    home.reset()
    click.echo(f"{home.root} is empty")
    if mark is not None:
        click.echo(f"its watermarks in the DynamoDB at {mark.url} stay: delete the tables there")


@local.command()
@click.option("--jvms", "size", type=click.IntRange(0), metavar="NUMBER", help=JVMS_HELP)
@click.option("--port", type=click.IntRange(0, 65535), metavar="NUMBER", help=PORT_HELP)
@click.option("--host", default=LOOPBACK, metavar="ADDRESS", help=HOST_HELP)
@click.option("--allow-host", multiple=True, metavar="NAME", help=ALLOW_HOST_HELP)
@click.option("--any-user", is_flag=True, help=ANY_USER_HELP)
@click.option("--any-key", is_flag=True, help=ANY_KEY_HELP)
@click.option("--on-event", metavar="COMMAND", help=EVENT_HELP)
@click.option("--max-parallel", type=click.IntRange(1), metavar="NUMBER", help=PARALLEL_HELP)
@click.option("--forward", multiple=True, metavar="SERVICE=URL", help=FORWARD_HELP)
@click.option("--lineage", metavar="FILE|URL", help=LINEAGE_HELP)
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
def up(
    size: int | None,
    port: int | None,
    host: str,
    allow_host: tuple[str, ...],
    any_user: bool,
    any_key: bool,
    on_event: str | None,
    max_parallel: int | None,
    forward: tuple[str, ...],
    lineage: str | None,
    app: Path | None,
    context: tuple[str, ...],
) -> None:
    """Keep JVMs warm for the commands of this home, until Ctrl-C.

    Commands that run jobs borrow them: a job then starts in a second or two. With --port, clients
    of AWS Glue, such as boto3 and the AWS CLI, define and run jobs here; --app defines those of an
    app first. While it runs, it alone runs jobs in this home.
    """
    from tidemark.cli.serve import serve_until_interrupted, warm_until_interrupted
    from tidemark.glue_service.http.forward import read_forwards
    from tidemark.glue_service.http.routes import names_of_port
    from tidemark.glue_service.http.serving import Options
    from tidemark.local_state.home import Home

    is_at_host = host != LOOPBACK or bool(allow_host) or any_user or any_key
    of_port = (app is not None, context, is_at_host, on_event is not None, forward, lineage)
    if port is None and (max_parallel is not None or any(of_port)):
        raise UsageError(
            "--app, --context, --host, --allow-host, --any-user, --any-key, --on-event, "
            "--max-parallel, --forward and --lineage are for a port: give --port NUMBER too"
        )
    names = names_of_port(host, allow_host)
    forwards = read_forwards(forward)
    home = Home.from_environment()
    count = (os.cpu_count() or 1) if size is None else size
    if port is None:
        if count == 0:
            raise UsageError("--jvms 0 keeps nothing: give at least 1, or --port NUMBER")
        warm_until_interrupted(home, count)
        return
    assembly = None
    if app is not None or context:
        assembly = assembly_folder(Terminal(stderr=True), app, context)
    options = Options(
        host,
        port,
        names,
        any_user,
        any_key,
        on_event=on_event,
        max_parallel=max_parallel,
        forwards=forwards,
    )
    serve_until_interrupted(home, count, options, assembly, lineage)


@local.command()
def env() -> None:
    """Print the lines that give a shell the port of this home, and its access key.

    `eval "$(tidemark local env)"` does it: clients of AWS then ask the port.
    """
    from tidemark.cli.serve import print_variables
    from tidemark.glue_service.served import find_port
    from tidemark.local_state.home import Home

    home = Home.from_environment()
    port = find_port(home)
    if port is None:
        raise UsageError(
            f"no command serves {home.root}: `tidemark local up --port 4566` serves it, until "
            "Ctrl-C; or set TIDEMARK_HOME to the home of the port"
        )
    print_variables(home, port.url, port.region)


@local.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def bucket(names: tuple[str, ...]) -> None:
    """Make buckets, folders of the local lake, for scripts that expect them to be there."""
    from tidemark.local_state.home import Home

    home = Home.from_environment()
    for name in names:
        is_new = home.create_bucket(name)
        click.echo(f"{'created' if is_new else 'already there'}: s3://{name} is {home.lake / name}")


@local.group(cls=Verbs)
def secret() -> None:
    """Keep secrets that jobs of this machine read from Secrets Manager."""


@secret.command("put")
@click.argument("name")
@click.option("--file", type=click.Path(path_type=Path), help=VALUE_HELP)
def put_secret(name: str, file: Path | None) -> None:
    """Give the secret NAME a value, which is asked for, or read from a pipe or a file.

    The next run of a job reads it. It is kept in the home, readable by its owner only.
    """
    from tidemark.emulated.secrets import put_secret as put
    from tidemark.glue_service.commands import region
    from tidemark.local_state.home import Home

    home = Home.from_environment()
    is_new = put(home.root, region(), name, read_value(file))
    click.echo(f"{'created' if is_new else 'changed'}: the secret {name} of {home.root}")


@local.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--lake", is_flag=True, help=LAKE_HELP)
@only_looks
def backup(file: Path, lake: bool) -> None:
    """Write bookmarks, watermarks, runs and the Data Catalog into the new FILE.

    So are parameters of SSM, secrets, topics and queues: only you can read FILE. The logs of runs
    are not in it.
    """
    from tidemark.glue_service.backups import back_up
    from tidemark.local_state.engine.kept_by import kept_by
    from tidemark.local_state.home import Home
    from tidemark.local_state.machine.disk import render_size

    home = Home.from_environment()
    back_up(home, file, with_lake=lake)
    what = "the state and the data" if lake else "the state, without the data,"
    click.echo(f"{what} of {home.shown} is in {file} ({render_size(file.stat().st_size)})")
    if mark := kept_by(home):
        click.echo(f"watermarks are kept by the DynamoDB at {mark.url} and are not in it")


@local.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Replace the existing state.")
def restore(file: Path, yes: bool) -> None:
    """Make the state what it was when the backup FILE was made.

    Data that are not in the backup stay as they are: what came after it is read again.
    """
    from tidemark.glue_service.backups import read_backup, would_be_replaced
    from tidemark.glue_service.backups import restore as restore_backup
    from tidemark.local_state.home import Home
    from tidemark.local_state.home_folder import folder_of_home

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


@local.command("accept-loss")
@click.argument("file", metavar="FILE")
@click.option("--yes", is_flag=True, help="Do not ask.")
def accept_loss(file: str, yes: bool) -> None:
    """Continue although FILE of the state has lost what it had, as the error of a command says.

    What it still has stays; a file that cannot be read is kept under another name. Jobs whose
    bookmarks or watermarks are lost read everything again.
    """
    from tidemark.local_state.home import Home
    from tidemark.local_state.home_folder import folder_of_home
    from tidemark.local_state.store.state_record import STATE, accept, refuse_loss
    from tidemark.model.messages import known

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
