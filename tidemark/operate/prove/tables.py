"""The tables of a home whose rows are not what files of the lake hold, written as files.

They are those of Iceberg, of embedded databases and of DynamoDB, and the partitions of tables.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.catalog.partitions import registered_partitions
from tidemark.local_state.catalog.tables import catalog_tables
from tidemark.local_state.home import S3_SCHEMES, Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.iceberg import (
    CATALOG,
    DATALAKE_FORMATS,
    FORMAT,
    METADATA,
    iceberg_settings,
)
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.changes import OF_PARTITIONS
from tidemark.operate.prove.items import KEY_FILE, dump_items, write_rows
from tidemark.operate.versions.trial import CONF, Observe, run_own_job

DUMP_JOB = Path(__file__).with_name("dump_job.py")
WAREHOUSE = "s3://aws-glue-warehouse-local/"  # of no table: nothing is created
FOLDER = "tables-as-files"
DERBY = "jdbc:derby:"
CATALOGUED, LOCATION = "catalog", " location"  # no column has such a name


def iceberg_tables(home: Home) -> dict[str, str]:
    """Return the metadata file of each table of Iceberg, by `database.table`."""
    with Store(home.database) as store:
        return {
            table.full_name: str(table.parameters.get(METADATA))
            for table in catalog_tables(store)
            if table.is_iceberg
        }


def folders_of_tables(home: Home) -> list[str]:
    """Return the folders of tables of Iceberg in the lake, each with a slash at its end."""
    with Store(home.database) as store:
        locations = [table.location for table in catalog_tables(store) if table.is_iceberg]
    return [f"{home.local_path(uri).relative_to(home.lake).as_posix()}/" for uri in locations]


def table_locations(home: Home) -> list[str]:
    """Return the folders of other tables of the Data Catalog in the lake, with a slash each."""
    with Store(home.database) as store:
        locations = [table.location for table in catalog_tables(store) if not table.is_iceberg]
    parts = [uri.partition("://") for uri in locations]
    return sorted(f"{path.rstrip('/')}/" for scheme, _, path in parts if scheme in S3_SCHEMES)


@dataclass(frozen=True)
class OtherStores:
    """What a run has changed beside objects and tables of the Data Catalog.

    Attributes:
        items: names of tables in DynamoDB.
        databases: URLs of embedded databases.
        partitioned: tables of the Data Catalog whose partitions were registered or removed.
    """

    items: Sequence[str] = ()
    databases: Sequence[str] = ()
    partitioned: Sequence[str] = ()

    def __or__(self, other: "OtherStores") -> "OtherStores":
        """Return what one or the other has changed."""
        return OtherStores(
            sorted({*self.items, *other.items}),
            sorted({*self.databases, *other.databases}),
            sorted({*self.partitioned, *other.partitioned}),
        )


NO_OTHER_STORES = OtherStores()


def dump_tables(bench: Bench, home: Home, other_stores: OtherStores, version: str = "") -> None:
    """Write the tables of a home that a run may have changed as files, for `dumped`."""
    dump_items(home, home.root / FOLDER, other_stores.items)
    _dump_partitions(home, other_stores.partitioned)
    before = iceberg_tables(bench.base)
    after = iceberg_tables(home).items()
    tables = dict.fromkeys(sorted(name for name, at in after if before.get(name) != at))
    databases = [database.removeprefix(DERBY) for database in other_stores.databases]
    databases = [database for database in databases if (home.derby / database).is_dir()]
    asked = {"tables": tables, "databases": databases, "out": str(home.root / FOLDER)}
    if tables or databases:
        version = version or bench.subject.version
        dump_as_parquet(home, asked, bench.jvms, version, bench.observe)


def dump_as_parquet(
    home: Home,
    asked: Mapping[str, Any],
    jvms: Jvms,
    version: str = "",
    observe: Observe = lambda _: None,
) -> None:
    """Write tables of Iceberg and of embedded databases as Parquet; `asked` as of `dump_job`."""
    settings = f" {CONF} ".join(f"{k}={v}" for k, v in iceberg_settings(CATALOG, WAREHOUSE).items())
    arguments = {DATALAKE_FORMATS: FORMAT, CONF: settings} if asked["tables"] else {}
    run_own_job(
        DUMP_JOB,
        asked,
        home,
        jvms,
        "the tables could not be read",
        version=version,
        arguments=arguments,
        observe=observe,
    )


def partitioned_tables(base: Home, home: Home) -> list[str]:
    """Return the tables whose registered partitions differ; where folders count, none is."""
    before, after = _partitions(base), _partitions(home)
    return sorted(table for table in after if after[table] != before.get(table, []))


def _dump_partitions(home: Home, tables: Sequence[str]) -> None:
    of_tables = _partitions(home) if tables else {}
    for table in tables:
        rows = of_tables.get(table, [])
        keys = [name for name in rows[0] if name != LOCATION] if rows else []
        write_rows(home.root / FOLDER / f"{CATALOGUED}.{table}", rows, keys)


def _partitions(home: Home) -> dict[str, list[dict[str, str]]]:
    """Return the registered partitions of each table, which readers by its name go by."""
    rows = {}
    with Store(home.database) as store:
        for table in catalog_tables(store):
            if not table.is_iceberg and table.partition_keys:
                names = [*(name for name, _ in table.partition_keys), LOCATION]
                rows[table.full_name] = [
                    dict(zip(names, (*partition.values, partition.location), strict=True))
                    for partition in registered_partitions(store, table) or ()
                ]
    return rows


def dumped_others(home: Home) -> dict[str, tuple[str, str]]:
    """Return the dumped tables that are not of Iceberg: folder and format, by their names."""
    tables = {}
    for folder in sorted((home.root / FOLDER).glob("*")):
        kind, _, name = folder.name.partition(".")
        if kind == "derby":
            database, schema, table = name.rsplit(".", 2)
            tables[f"{DERBY}{database} {schema}.{table}"] = (folder.name, "parquet")
        elif kind == "dynamodb":
            tables[f"dynamodb:{name}"] = (folder.name, "json")
        elif kind == CATALOGUED:
            tables[f"table {name}{OF_PARTITIONS}"] = (folder.name, "json")
    return tables


def dumped(home: Home, name: str) -> Mapping[str, Any]:
    """Return the rows of a dumped table as a side of a comparison."""
    folder = home.root / FOLDER / name
    files = sorted(str(file) for file in folder.glob("[!_.]*") if file.stat().st_size)
    return {"folder": str(folder), "files": files, "all": True}


def key_of(home: Home, name: str) -> list[str]:
    """Return the columns that identify a row of a dumped table; empty if it does not say."""
    file = home.root / FOLDER / name / KEY_FILE
    names: list[str] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return names
