"""Commands about this machine: its state, its catalog, its Sparks."""

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from tidemark.cli.commands import options
from tidemark.cli.commands.options import FILE, act, renamed
from tidemark.cli.group import OldGroup, Verbs
from tidemark.model.assembly.glue_versions import RUN_HERE

VERSION = click.Choice(RUN_HERE)


@click.command()
@options.table_or_json
@act("checkup.doctor")
def doctor() -> None:
    """Say what is missing on this machine, and which command cures it.

    It looks at Python, Spark, the libraries that AWS has in the version of Glue, Java, the DynamoDB
    engine, Node, the CDK, what makes reports, the state folder and its disk, memory, and whether
    editors find awsglue. The exit code is 1 if something is missing that runs on this machine need,
    or the app in this folder. Nothing is changed.
    """


@click.command()
@click.option("--jvms", "size", type=click.IntRange(0), metavar="NUMBER")
@click.option("--port", type=click.IntRange(0, 65535), metavar="NUMBER")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS")
@click.option("--allow-host", multiple=True, metavar="NAME")
@click.option("--any-user", is_flag=True)
@click.option("--any-key", is_flag=True)
@click.option("--on-event", metavar="COMMAND")
@click.option("--max-parallel", type=click.IntRange(1), metavar="NUMBER")
@click.option("--forward", multiple=True, metavar="SERVICE=URL")
@click.option("--task", multiple=True, metavar="STATE=python:FUNCTION", help=options.TASK_HELP)
@click.option("--lineage", metavar="FILE|URL", help=options.LINEAGE_HELP)
@options.app_and_context
@act("serve.up")
def serve() -> None:
    """Keep JVMs warm for the commands of this home, until Ctrl-C.

    Commands that run jobs borrow them: a job then starts in a second or two. With --port, clients
    of AWS Glue, such as boto3 and the AWS CLI, define and run jobs here; --app defines the jobs of
    an app first. While it runs, it alone runs jobs in this home.

    Args:
        size: How many; one per core if not given. 0, with --port: each run starts its own.
        port: Also serve the local Glue on this port; 0 takes a free one.
        host: Address of the port; beyond loopback, anyone with access and its key can run code.
        allow_host: Another name that clients use for the port of --host; repeatable.
        any_user: Answer other users of this machine too: who has the key can run code as you.
        any_key: Answer requests of every access key, also of none, for clients that have their own.
        on_event: Gets events of runs, and those that a rule matches, on its standard input.
        max_parallel: How many job runs have a process at once; one per core if not given.
        forward: Also answer for another service, by an emulator: lambda=http://127.0.0.1:3001;
            repeatable.
    """


@click.command()
@act("serve.env")
def env() -> None:
    """Print the lines that give a shell the port of this home, and its access key.

    `eval "$(tidemark env)"` does it: clients of AWS then ask the port.
    """


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@act("local.bucket")
def bucket() -> None:
    """Make buckets, folders of the local lake, for scripts that expect them to be there."""


@click.group(cls=Verbs)
def secret() -> None:
    """Keep secrets that jobs of this machine read from Secrets Manager."""


@secret.command("put")
@click.argument("name")
@click.option("--file", type=FILE, metavar="FILE")
@act("local.put_secret")
def secret_put() -> None:
    """Give the secret NAME a value, which is asked for, or read from a pipe or a file.

    The next run of a job reads it. It is kept in the home, readable by its owner only.

    Args:
        file: File with the value; without it, standard input is read.
    """


@click.group(cls=Verbs)
def home() -> None:
    """Keep the state of this machine: a backup, back to it, or begin anew."""


@home.command("reset")
@options.yes
@act("local.reset")
def home_reset() -> None:
    """Delete all local data, bookmarks, watermarks, runs and logs."""


@home.command("backup")
@click.argument("file", type=FILE)
@click.option("--with-lake", "lake", is_flag=True)
@renamed("--lake", "--with-lake", "lake", value=True)
@options.looks("local.backup")
def home_backup() -> None:
    """Write bookmarks, watermarks, runs and the Data Catalog into the new FILE.

    So are parameters of SSM, secrets, topics and queues: only you can read FILE. The logs of runs
    are not in it.

    Args:
        lake: Also the data: the buckets, and embedded databases.
    """


@home.command("restore")
@click.argument("file", type=FILE)
@click.option("--yes", is_flag=True)
@act("local.restore")
def home_restore() -> None:
    """Make the state what it was when the backup FILE was made.

    Data that are not in the backup stay as they are: what came after it is read again.

    Args:
        yes: Replace the existing state.
    """


@home.command("accept-loss")
@click.argument("file", metavar="FILE")
@options.yes
@act("local.accept_loss")
def home_accept_loss() -> None:
    """Continue although FILE of the state has lost what it had, as the error of a command says.

    What it still has stays; a file that cannot be read is kept under another name. Jobs whose
    bookmarks or watermarks are lost read everything again.
    """


@click.group(cls=Verbs)
def engine() -> None:
    """Manage the Sparks that run jobs here, one for each line of Glue versions."""


@engine.command("list")
@options.output_format()
@options.looks("engines.list_engines")
def engine_list() -> None:
    """Show the versions of Glue that run here, and the Spark and the Python of each."""


@engine.command("add")
@click.argument("version", type=VERSION)
@act("engines.add")
def engine_add() -> None:
    """Make the environment of Glue VERSION: a Python with its PySpark, by uv, with hashes.

    It is made once, about 600 MB, in the folder of this installation. A run that needs it makes it
    too.
    """


@engine.command("remove")
@click.argument("version", type=VERSION)
@act("engines.remove")
def engine_remove() -> None:
    """Delete the environment of Glue VERSION; what jobs have written stays."""


@click.command()
@click.argument("name", default="glue-watermarks")
@act("local.table")
def table() -> None:
    """Create the DynamoDB table NAME for watermarks; glue-watermarks if not given.

    `tidemark run` creates the tables of its app. A script that is submitted without an app needs
    this one. A table that exists stays as it is.
    """


@click.group(cls=Verbs)
def catalog() -> None:
    """Define, crawl and list the tables of the local Data Catalog."""


@catalog.command("put")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.json")
@act("catalog.put")
def catalog_put() -> None:
    """Define a table, database or connection, by the JSON that `aws glue create-table` takes.

    That is the JSON of --cli-input-json, of create-table, create-database or create-connection.
    What the app defines (AWS::Glue::Table, AWS::Glue::Database, AWS::Glue::Connection) is there
    once it is deployed.
    """


@catalog.command("list")
@options.shows("catalog.list_tables")
def catalog_list() -> None:
    """List the tables, their formats and where their data are."""


@catalog.command("show")
@click.argument("name", metavar="DATABASE.TABLE")
@options.looks("catalog.show")
def catalog_show() -> None:
    """Show a table and its partitions as JSON, as `aws glue get-table` and get-partitions do."""


@catalog.command("sync")
@click.argument("name", required=False, metavar="[DATABASE.TABLE]")
@act("catalog.sync")
def catalog_sync() -> None:
    """Register the folders key=value that are not partitions yet, as MSCK REPAIR TABLE does.

    Without a name: of every table that has partition keys and no partition projection. Until a
    table is synced, crawled or altered, all of its folders count.
    """


@catalog.command("crawl")
@click.argument("uri", metavar="S3_URI")
@click.option("--database", required=True, metavar="NAME")
@click.option("--table-prefix", default="", metavar="PREFIX")
@act("catalog.crawl")
def catalog_crawl() -> None:
    """Make tables of the data in a folder: formats, columns and partitions, as a crawler does.

    Formats are csv, json, parquet, orc and avro. An existing table gets new columns and
    partitions.

    Args:
        database: The database of the tables.
        table_prefix: Before the name of each table, as TablePrefix of a crawler.
    """


@catalog.command("drop")
@click.argument("name", metavar="DATABASE.TABLE")
@act("catalog.drop")
def catalog_drop() -> None:
    """Forget a table and its partitions; its data stay."""


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what lets SHELL complete commands, options, jobs, runs, workflows and stages.

    In bash, put `eval "$(tidemark completion bash)"` into ~/.bashrc; in zsh, the same with zsh into
    ~/.zshrc; for fish, save the output as ~/.config/fish/completions/tidemark.fish.
    """
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 (click has each of the choices)
    command = context.find_root().command
    click.echo(made(command, {}, "tidemark", "_TIDEMARK_COMPLETE").source())


@click.command()
@click.option("--allow-actions", is_flag=True)
@click.option("--allow-rows", is_flag=True)
@options.where_options
@act("mcp.mcp")
def mcp() -> None:
    """Serve these commands to an agent as tools, by the Model Context Protocol on stdin and stdout.

    A program that works with an agent starts it, in the folder of the project: docs/agents.md.
    Without an option the tools look, prove and plan, and withhold what may be of rows. It ends
    when that program leaves, and ends what runs for it.

    Args:
        allow_actions: Also offer run, submit, resume and rewind; each needs the plan that was shown
            before.
        allow_rows: Let answers have values of rows, messages of errors, and what scripts print.
    """


local = OldGroup(
    "local",
    {
        "up": ("serve", serve),
        "env": ("env", env),
        "engine": ("engine", engine),
        "bucket": ("bucket", bucket),
        "secret": ("secret", secret),
        "table": ("table", table),
        **{name: (f"home {name}", command) for name, command in home.commands.items()},
    },
)
