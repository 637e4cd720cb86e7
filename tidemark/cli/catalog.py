"""The commands about the local Data Catalog: `catalog put|list|show|sync|crawl|drop`."""

import json
import sys
from pathlib import Path

import click

from tidemark.cli.bookmark import FORMAT, JSON_HELP
from tidemark.cli.group import Verbs
from tidemark.cli.terminal import Terminal
from tidemark.cli.where import only_looks
from tidemark.model.messages import plural

PIPE_WIDTH = 180  # a table outside a terminal is not folded
PREFIX_HELP = "Before the name of each table, as TablePrefix of a crawler."


@click.group(cls=Verbs)
def catalog() -> None:
    """Define, crawl and list the tables of the local Data Catalog."""


@catalog.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.json")
def put(file: Path) -> None:
    """Define a table, database or connection, by the JSON that `aws glue create-table` takes.

    That is the JSON of --cli-input-json, of create-table, create-database or create-connection.
    What the app defines (AWS::Glue::Table, AWS::Glue::Database, AWS::Glue::Connection) is there
    once it is deployed.
    """
    from tidemark.glue_service.commands import put_in_catalog
    from tidemark.local_state.home import Home

    name = put_in_catalog(file, Home.from_environment())
    click.echo(f"{name} is in the local Data Catalog")


@catalog.command(name="list")
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def list_tables(output: str) -> None:
    """List the tables, their formats and where their data are."""
    from tidemark.cli.views.catalog import catalog_json, catalog_table
    from tidemark.glue_service.commands import list_catalog
    from tidemark.local_state.home import Home

    if output == "json":
        found = catalog_json(list_catalog(Home.from_environment()))
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    home = Home.from_environment()
    if not (entries := list_catalog(home)):
        click.echo(f"no table is in the Data Catalog of {home.shown}")
        return
    console = Terminal() if sys.stdout.isatty() else Terminal(width=PIPE_WIDTH)
    console.print(catalog_table(entries), soft_wrap=True)


@catalog.command()
@click.argument("name", metavar="DATABASE.TABLE")
@only_looks
def show(name: str) -> None:
    """Show a table and its partitions as JSON, as `aws glue get-table` and get-partitions do."""
    from tidemark.local_state.catalog.edit import described
    from tidemark.local_state.home import Home

    click.echo(json.dumps(described(Home.from_environment(), name), indent=2, ensure_ascii=False))


@catalog.command()
@click.argument("name", required=False, metavar="[DATABASE.TABLE]")
def sync(name: str | None) -> None:
    """Register the folders key=value that are not partitions yet, as MSCK REPAIR TABLE does.

    Without a name: of every table that has partition keys and no partition projection. Until a
    table is synced, crawled or altered, all of its folders count.
    """
    from tidemark.local_state.catalog.edit import synced
    from tidemark.local_state.home import Home

    found = synced(Home.from_environment(), name)
    for table, count in found.items():
        click.echo(f"{table}: {plural(count, 'new partition')}")
    if not found:
        click.echo("no table has partition keys")


@catalog.command()
@click.argument("uri", metavar="S3_URI")
@click.option("--database", required=True, metavar="NAME", help="The database of the tables.")
@click.option("--table-prefix", default="", metavar="PREFIX", help=PREFIX_HELP)
def crawl(uri: str, database: str, table_prefix: str) -> None:
    """Make tables of the data in a folder: formats, columns and partitions, as a crawler does.

    Formats are csv, json, parquet, orc and avro. An existing table gets new columns and
    partitions.
    """
    from tidemark.extras import require
    from tidemark.glue_job.crawl.crawl import crawl as crawl_folder
    from tidemark.local_state.home import Home

    require("pyspark")
    for one in crawl_folder(Home.from_environment(), uri, database, table_prefix):
        table = one.table
        columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
        keys = ", ".join(name for name, _ in table.partition_keys)
        parts = f"; {plural(one.new_partitions, 'new partition')} by {keys}" if keys else ""
        what = "new" if one.is_new else "updated"
        click.echo(f"{table.full_name}: {what}, {table.classification}, {columns}{parts}")


@catalog.command()
@click.argument("name", metavar="DATABASE.TABLE")
def drop(name: str) -> None:
    """Forget a table and its partitions; its data stay."""
    from tidemark.local_state.catalog.edit import dropped
    from tidemark.local_state.home import Home

    click.echo(f"{dropped(Home.from_environment(), name)} is not a table any more; its data stay")
