"""The tables of Iceberg in a home: their rows are what their snapshot says, not what files hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.catalog.tables import catalog_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.iceberg import CATALOG, FORMAT, METADATA, iceberg_settings
from tidemark.operate.prove.bench import Bench
from tidemark.operate.versions.trial import CONF

DUMP_JOB = Path(__file__).with_name("dump_job.py")
WAREHOUSE = "s3://aws-glue-warehouse-local/"  # of no table: nothing is created
FOLDER = "tables-as-files"


def iceberg_tables(home: Home) -> dict[str, str]:
    """Return the metadata file of each table of Iceberg, by `database.table`."""
    with Store(home.database) as store:
        return {
            one.full_name: str(one.parameters.get(METADATA))
            for one in catalog_tables(store)
            if one.is_iceberg
        }


def folders_of_tables(home: Home) -> list[str]:
    """Return the folders of tables of Iceberg in the lake, each with a slash at its end."""
    with Store(home.database) as store:
        found = [one.location for one in catalog_tables(store) if one.is_iceberg]
    return [f"{home.local_path(uri).relative_to(home.lake).as_posix()}/" for uri in found]


def dump_tables(bench: Bench, home: Home) -> None:
    """Write the tables of a home that differ from the base as files, for `dumped`."""
    before = iceberg_tables(bench.base)
    names = sorted(name for name, at in iceberg_tables(home).items() if before.get(name) != at)
    if not names:
        return
    settings = f" {CONF} ".join(f"{k}={v}" for k, v in iceberg_settings(CATALOG, WAREHOUSE).items())
    arguments = {
        "--tables": ",".join(names),
        "--out": str(home.root / FOLDER),
        "--datalake-formats": FORMAT,
        CONF: settings,
    }
    wanted = Submission(DUMP_JOB, "dump-tables", arguments, bench.subject.version)
    run, _ = submit(wanted, home, bench.observe, jvms=bench.jvms)
    if run.state != "SUCCEEDED":
        raise TidemarkError(f"the tables of Iceberg could not be read: {run.error_message}")


def dumped(home: Home, name: str) -> Mapping[str, Any]:
    """Return the rows of a table as a side of a comparison."""
    folder = home.root / FOLDER / name
    files = sorted(str(file) for file in folder.glob("*.parquet"))
    return {"folder": str(folder), "files": files, "all": True}
