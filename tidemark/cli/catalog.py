"""The commands about the local Data Catalog: `catalog put|list|show|sync|crawl|drop`."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from tidemark.cli.terminal import Terminal
from tidemark.cli.views.listing import Listing
from tidemark.extras import require
from tidemark.local_state.catalog.edit import described, dropped, synced
from tidemark.local_state.home import Home
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.messages import plural

PIPE_WIDTH = 180  # a table outside a terminal is not folded


def put(file: Path) -> None:
    from tidemark.glue_service.commands import put_in_catalog

    name = put_in_catalog(file, Home.from_environment())
    click.echo(f"{name} is in the local Data Catalog")


def list_tables(output: str) -> None:
    from tidemark.glue_service.commands import list_catalog

    home = Home.from_environment()
    entries = list_catalog(home)
    if output == "json":
        click.echo(json.dumps(catalog_json(entries), indent=2, ensure_ascii=False))
        return
    if not entries:
        click.echo(f"no table is in the Data Catalog of {home.shown}")
        return
    console = Terminal() if sys.stdout.isatty() else Terminal(width=PIPE_WIDTH)
    console.print(catalog_table(entries))


def show(name: str) -> None:
    click.echo(json.dumps(described(Home.from_environment(), name), indent=2, ensure_ascii=False))


def sync(name: str | None) -> None:
    counts = synced(Home.from_environment(), name)
    for table, count in counts.items():
        click.echo(f"{table}: {plural(count, 'new partition')}")
    if not counts:
        click.echo("no table has partition keys")


def crawl(uri: str, database: str, table_prefix: str) -> None:
    from tidemark.glue_job.crawl.crawl import crawl as crawl_folder

    require("pyspark")
    for crawled in crawl_folder(Home.from_environment(), uri, database, table_prefix):
        click.echo(str(crawled))


def drop(name: str) -> None:
    click.echo(f"{dropped(Home.from_environment(), name)} is not a table any more; its data stay")


def catalog_table(tables: Iterable[CatalogTable]) -> Listing:
    """Return one row per table of the Data Catalog."""
    rows = []
    for table in tables:
        columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
        keys = ", ".join(f"{name} {kind}" for name, kind in table.partition_keys)
        location = "" if table.is_view or table.is_jdbc else table.location
        kind = "view" if table.is_view else table.classification
        rows.append((table.full_name, kind, columns, keys, location))
    return Listing(("table", "format", "columns", "partition keys", "location"), rows)


def catalog_json(tables: Iterable[CatalogTable]) -> list[dict[str, Any]]:
    """Return the same as plain JSON values."""
    return [
        {
            "table": table.full_name,
            "format": "view" if table.is_view else table.classification,
            "columns": dict(table.columns),
            "partition_keys": dict(table.partition_keys),
            "location": None if table.is_view or table.is_jdbc else table.location,
        }
        for table in tables
    ]
