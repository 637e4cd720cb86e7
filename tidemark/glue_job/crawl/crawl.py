"""Crawls a folder of the lake into tables of the local Data Catalog, as a crawler of Glue does.

Source: https://docs.aws.amazon.com/glue/latest/dg/add-crawler.html
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError
from tidemark.glue_job.crawl.classify import BYTES, csv_kind, format_of, json_kind
from tidemark.glue_job.crawl.layout import (
    FoundTable,
    Kind,
    Leaf,
    found_tables,
    table_name,
)
from tidemark.glue_job.metastore.storage import STORED_AS
from tidemark.glue_job.readers.files.compression import OTHER_CODECS, open_file
from tidemark.local_state.bookmarks.hidden import is_hidden
from tidemark.local_state.catalog.partitions import (
    Partition,
    register_partitions,
    registered_partitions,
)
from tidemark.local_state.catalog.tables import catalog_tables, put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.hive_types import common_type, known_type

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2"}
CRAWLER = "tidemark catalog crawl"
COLUMNAR = ("parquet", "orc", "avro")
KindOf = Callable[[str, Path, str], Kind]


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


def crawl(home: Home, uri: str, database: str, prefix: str = "") -> list[Crawled]:
    """Create or update the tables of a folder and their partitions."""
    from tidemark.glue_job.crawl.classify import Columnar  # with Spark

    root = uri.rstrip("/")
    with closing(Columnar()) as columnar:
        leaves = list(_leaves(home.existing_path(uri), root, columnar.kind))
    if not leaves:
        raise UsageError(f"there is no file with data in {uri} ({home.existing_path(uri)})")
    with Store(home.database) as store:
        return [
            _store(home, store, root, found, (database.lower(), prefix))
            for found in found_tables(leaves)
        ]


def _leaves(
    place: Path, uri: str, kind_of: KindOf, folders: tuple[str, ...] = ()
) -> Iterator[Leaf]:
    """Yield each folder that has files, with the format and columns of its files."""
    if place.is_file():
        yield Leaf(folders, _kind_of_file(place, uri, kind_of))
        return
    if next(place.glob("metadata/*.metadata.json"), None):
        raise UsageError(
            f"{uri} is a table of Iceberg, which a crawl would read with the rows that were "
            "deleted: its job or register_table makes the table; crawl other folders"
        )
    entries = sorted(entry for entry in place.iterdir() if not is_hidden(entry.name))
    files = [entry for entry in entries if entry.is_file() and entry.stat().st_size]
    if files:
        looked_at = dict.fromkeys((files[0], files[-1]))
        kinds = [_kind_of_file(file, f"{uri}/{file.name}", kind_of) for file in looked_at]
        if other := next((one for one in kinds if one.format != kinds[0].format), None):
            raise UsageError(
                f"{uri} has files of the formats {kinds[0].format} and {other.format}; a table "
                "has one format: move the files of one format into a separate folder"
            )
        yield Leaf(folders, _united(kinds))
    for entry in entries:
        if entry.is_dir():
            yield from _leaves(entry, f"{uri}/{entry.name}", kind_of, (*folders, entry.name))


def _united(kinds: list[Kind]) -> Kind:
    columns: dict[str, str] = {}
    for kind in kinds:
        for name, of in kind.columns:
            columns[name] = common_type(columns.get(name, of), of)
    first = kinds[0]
    return Kind(first.format, tuple(columns.items()), first.parameters, first.serde_parameters)


def _kind_of_file(file: Path, uri: str, kind_of: KindOf) -> Kind:
    if file.suffix in OTHER_CODECS:
        raise UsageError(f"{uri} is compressed with {file.suffix}, which crawls do not support")
    with open_file(str(file)) as opened:
        head = opened.read(BYTES)
    name, is_whole = format_of(head), len(head) < BYTES
    if name in COLUMNAR:
        return kind_of(name, file, uri)
    compression = {"compressionType": COMPRESSIONS.get(file.suffix, "none")}
    kind = None
    if name == "csv":
        kind = csv_kind(head, is_whole=is_whole)
    elif name == "json":
        kind = json_kind(head, is_whole=is_whole)
    if kind is None:
        raise UsageError(
            f"{uri} is {name or 'of an unknown format'}; crawls support csv, json, parquet, orc "
            "and avro: define its table with `tidemark catalog put FILE.json`"
        )
    parameters = (*kind.parameters, *compression.items())
    return Kind(kind.format, kind.columns, parameters, kind.serde_parameters)


def _store(
    home: Home, store: Store, root: str, found: FoundTable, names: tuple[str, str]
) -> Crawled:
    database, prefix = names
    location = "/".join([root, *found.folders])
    if not home.existing_path(location).is_file():
        location += "/"
    known = catalog_tables(store, database)
    old = next((one for one in known if _location(one) == location.rstrip("/")), None)
    folder = location.rstrip("/").rpartition("/")[2]
    name = old.name if old else table_name(prefix, folder, location, {one.name for one in known})
    table = CatalogTable(database, name, _definition(name, location, found, old))
    put_tables(store, [table])
    return Crawled(table, old is None, _register(home, store, table, location, found))


def _location(table: CatalogTable) -> str:
    storage: Mapping[str, Any] = table.definition.get("StorageDescriptor") or {}
    return str(storage.get("Location") or "").rstrip("/")


def _definition(
    name: str, location: str, found: FoundTable, old: CatalogTable | None
) -> dict[str, Any]:
    """Return the TableInput of a table; keeps the other fields of an older definition."""
    kind = found.leaves[0].kind
    serde, inputs, outputs = STORED_AS[kind.format]
    columns = dict(found.columns)
    if old:
        columns = {**{name: columns.get(name) or of for name, of in old.columns}, **columns}
    before = old.definition if old else {}
    return {
        **before,
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [{"Name": key, "Type": "string"} for key in found.partition_keys],
        "Parameters": {
            **(before.get("Parameters") or {}),
            "classification": kind.format,
            "typeOfData": "file",
            "UPDATED_BY_CRAWLER": CRAWLER,
            **dict(kind.parameters),
        },
        "StorageDescriptor": {
            "Columns": [
                {"Name": name.lower(), "Type": known_type(of)} for name, of in columns.items()
            ],
            "Location": location,
            "InputFormat": inputs,
            "OutputFormat": outputs,
            "SerdeInfo": {
                "SerializationLibrary": serde,
                "Parameters": dict(kind.serde_parameters),
            },
        },
    }


def _register(
    home: Home, store: Store, table: CatalogTable, location: str, found: FoundTable
) -> int:
    if not found.partition_keys:
        return 0
    depth = len(found.folders)
    known = {one.values for one in registered_partitions(store, table) or ()}
    partitions = [
        Partition(found.values(leaf), "/".join([location.rstrip("/"), *leaf.folders[depth:]]) + "/")
        for leaf in found.leaves
    ]
    new = [one for one in partitions if one.values not in known]
    register_partitions(store, table, new, home.existing_path)
    return len(new)
