"""Crawls a folder of the lake into tables of the local Data Catalog, as a crawler of Glue does.

Source: https://docs.aws.amazon.com/glue/latest/dg/add-crawler.html
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError
from tidemark.glue_job.crawl.classify import BYTES, csv_schema, format_of, json_schema
from tidemark.glue_job.crawl.layout import (
    CrawledTable,
    DataFolder,
    FileSchema,
    crawled_tables,
    table_name,
)
from tidemark.glue_job.metastore.storage import storage_of
from tidemark.glue_job.readers.files.compression import OTHER_CODECS, open_file
from tidemark.local_state.bookmarks.hidden import is_hidden
from tidemark.local_state.catalog.partitions import (
    Partition,
    register_partitions,
    registered_partitions,
)
from tidemark.local_state.catalog.tables import catalog_tables, put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.job_run import job_home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.hive_types import common_type, known_type
from tidemark.model.messages import plural

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2"}
CRAWLER = "tidemark catalog crawl"
SchemaOf = Callable[[str, Path, str], FileSchema]


@dataclass(frozen=True)
class Crawled:
    """A table after a crawl.

    Attributes:
        table: its current definition in the Data Catalog.
        is_new: whether the crawl created it.
        new_partitions: how many partitions were registered.
    """

    table: CatalogTable
    is_new: bool
    new_partitions: int

    def __str__(self) -> str:
        columns = ", ".join(f"{name} {kind}" for name, kind in self.table.columns)
        keys = ", ".join(name for name, _ in self.table.partition_keys)
        parts = f"; {plural(self.new_partitions, 'new partition')} by {keys}" if keys else ""
        what = "new" if self.is_new else "updated"
        return f"{self.table.full_name}: {what}, {self.table.classification}, {columns}{parts}"


def crawl_targets() -> None:
    """Crawl what the argument ``--crawl`` of a job run says, as JSON; print the tables."""
    asked = json.loads(sys.argv[sys.argv.index("--crawl") + 1])
    home = job_home()
    for path in asked["paths"]:
        for crawled in crawl(home, path, asked["database"], asked["prefix"], asked["crawler"]):
            print(crawled)  # noqa: T201 (the log of the run)


def crawl(
    home: Home, uri: str, database: str, prefix: str = "", crawler: str = CRAWLER
) -> list[Crawled]:
    """Create or update the tables of a folder and their partitions."""
    from tidemark.glue_job.crawl.classify import columnar_schemas  # with Spark

    root, folder = uri.rstrip("/"), home.existing_path(uri)
    with columnar_schemas() as schema_of:
        leaves = list(_leaves(folder, root, schema_of)) if folder.exists() else []
    if not leaves:
        raise UsageError(f"there is no file with data in {uri} ({folder})")
    with Store(home.database) as store:
        names = database.lower(), prefix, crawler
        return [_store(home, store, root, table, names) for table in crawled_tables(leaves)]


def _leaves(
    place: Path, uri: str, schema_of: SchemaOf, folders: tuple[str, ...] = ()
) -> Iterator[DataFolder]:
    if place.is_file():
        yield DataFolder(folders, _schema_of_file(place, uri, schema_of))
        return
    if next(place.glob("metadata/*.metadata.json"), None):
        raise UsageError(
            f"{uri} is a table of Iceberg, which a crawl would read with the rows that were "
            "deleted: its job or register_table makes the table; crawl other folders"
        )
    entries = sorted(entry for entry in place.iterdir() if not is_hidden(entry.name))
    files = [entry for entry in entries if entry.is_file() and entry.stat().st_size]
    if files:
        # Two files stand for all: a crawler samples them, too.
        looked_at = dict.fromkeys((files[0], files[-1]))
        kinds = [_schema_of_file(file, f"{uri}/{file.name}", schema_of) for file in looked_at]
        if other := next((kind for kind in kinds if kind.format != kinds[0].format), None):
            raise UsageError(
                f"{uri} has files of the formats {kinds[0].format} and {other.format}; a table "
                "has one format: move the files of one format into a separate folder"
            )
        yield DataFolder(folders, _united(kinds))
    for entry in entries:
        if entry.is_dir():
            yield from _leaves(entry, f"{uri}/{entry.name}", schema_of, (*folders, entry.name))


def _united(kinds: list[FileSchema]) -> FileSchema:
    columns: dict[str, str] = {}
    for kind in kinds:
        for name, of in kind.columns:
            columns[name] = common_type(columns.get(name, of), of)
    return replace(kinds[0], columns=tuple(columns.items()))


def _schema_of_file(file: Path, uri: str, schema_of: SchemaOf) -> FileSchema:
    if file.suffix in OTHER_CODECS:
        raise UsageError(f"{uri} is compressed with {file.suffix}, which crawls do not support")
    with open_file(str(file)) as opened:
        head = opened.read(BYTES)
    name, is_whole = format_of(head), len(head) < BYTES
    if name in ("parquet", "orc", "avro"):
        return schema_of(name, file, uri)
    compression = {"compressionType": COMPRESSIONS.get(file.suffix, "none")}
    kind = None
    if name == "csv":
        kind = csv_schema(head, is_whole=is_whole)
    elif name == "json":
        kind = json_schema(head, is_whole=is_whole)
    if kind is None:
        raise UsageError(
            f"{uri} is {name or 'of an unknown format'}; crawls support csv, json, parquet, orc "
            "and avro: define its table with `tidemark catalog put FILE.json`"
        )
    return replace(kind, parameters=(*kind.parameters, *compression.items()))


def _store(
    home: Home, store: Store, root: str, crawled: CrawledTable, names: tuple[str, str, str]
) -> Crawled:
    database, prefix, crawler = names
    location = "/".join([root, *crawled.folders])
    if not home.existing_path(location).is_file():
        location += "/"
    tables = catalog_tables(store, database)
    old = next((table for table in tables if _location(table) == location.rstrip("/")), None)
    folder = location.rstrip("/").rpartition("/")[2]
    taken = {table.name for table in tables}
    name = old.name if old else table_name(prefix, folder, location, taken)
    table = CatalogTable(database, name, _definition(name, location, crawled, old, crawler))
    put_tables(store, [table])
    return Crawled(table, old is None, _register(home, store, table, location, crawled))


def _location(table: CatalogTable) -> str:
    storage: Mapping[str, Any] = table.definition.get("StorageDescriptor") or {}
    return str(storage.get("Location") or "").rstrip("/")


def _definition(
    name: str, location: str, crawled: CrawledTable, old: CatalogTable | None, crawler: str
) -> dict[str, Any]:
    kind = crawled.leaves[0].kind
    # The other fields of an older definition stay.
    columns = dict(crawled.columns)
    if old:
        columns = {**{name: columns.get(name) or of for name, of in old.columns}, **columns}
    before = old.definition if old else {}
    return {
        **before,
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [{"Name": key, "Type": "string"} for key in crawled.partition_keys],
        "Parameters": {
            **(before.get("Parameters") or {}),
            "classification": kind.format,
            "typeOfData": "file",
            "UPDATED_BY_CRAWLER": crawler,
            **dict(kind.parameters),
        },
        "StorageDescriptor": storage_of(
            kind.format,
            [(name.lower(), known_type(of)) for name, of in columns.items()],
            location,
            dict(kind.serde_parameters),
        ),
    }


def _register(
    home: Home, store: Store, table: CatalogTable, location: str, crawled: CrawledTable
) -> int:
    if not crawled.partition_keys:
        return 0
    depth = len(crawled.folders)
    registered = {partition.values for partition in registered_partitions(store, table) or ()}
    partitions = [
        Partition(
            crawled.values(leaf), "/".join([location.rstrip("/"), *leaf.folders[depth:]]) + "/"
        )
        for leaf in crawled.leaves
    ]
    new = [partition for partition in partitions if partition.values not in registered]
    register_partitions(store, table, new, home.existing_path)
    return len(new)
