"""The rows of tables of Iceberg as files, read in a home that shares the files of another one."""

import json
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home
from tidemark.local_state.store.sqlite_files import STATE_FILES, put_state_file
from tidemark.model.assembly.iceberg import CATALOG, DATALAKE_FORMATS, FORMAT, iceberg_settings
from tidemark.operate.diff.places import TABLE, HomeAt, Pair, Side, key_of, metadata_of
from tidemark.operate.prove.tables import WAREHOUSE, folders_of_tables
from tidemark.operate.versions.trial import CONF

TABLE_JOB = Path(__file__).with_name("table_job.py")


def table_pairs(
    states: tuple[HomeAt, HomeAt], names: Collection[str], scratch: Path, jvms: Jvms
) -> list[Pair]:
    """Return tables of Iceberg with the rows of both sides, each written as Parquet."""
    if not names:
        return []
    known = [metadata_of(state.home, names) for state in states]
    keys = {name: key_of(metadata) for of_home in known for name, metadata in of_home.items()}
    old, new = (
        _sides(state, known[number], scratch / f"tables-{number}", jvms)
        for number, state in enumerate(states)
    )
    return [
        Pair(
            f"{TABLE}{name}", "parquet", (old.get(name, Side()), new.get(name, Side())), keys[name]
        )
        for name in sorted(keys)
    ]


def _sides(
    state: HomeAt, known: Mapping[str, Mapping[str, Any]], folder: Path, jvms: Jvms
) -> dict[str, Side]:
    sides, asked = dict[str, Side](), []
    for name, metadata in known.items():
        out = folder / name
        try:
            snapshot = state.snapshot(metadata)
        except LookupError:
            sides[name] = Side(problem=f"its snapshot after {state.label} has expired")
            continue
        if snapshot is None and state.until_ms is not None:
            continue
        asked.append({"table": f"{CATALOG}.{name}", "snapshot": snapshot, "out": str(out)})
        sides[name] = Side(str(out))
    if asked:
        _dump(state.home, asked, folder, jvms)
    files = {name: sorted(map(str, (folder / name).glob("[!_.]*"))) for name in sides}
    return {name: replace(side, files=files[name]) for name, side in sides.items()}


def _dump(home: Home, asked: Sequence[object], folder: Path, jvms: Jvms) -> None:
    folder.mkdir(parents=True)
    file = folder / "_asked.json"
    file.write_text(json.dumps(asked), encoding="utf-8")
    settings = f" {CONF} ".join(f"{k}={v}" for k, v in iceberg_settings(CATALOG, WAREHOUSE).items())
    arguments = {"--tables": str(file), DATALAKE_FORMATS: FORMAT, CONF: settings}
    linked = _linked(home, folder / "_home")
    run, _ = submit(
        Submission(TABLE_JOB, "diff-tables", arguments), linked, lambda _: None, jvms=jvms
    )
    if run.state != "SUCCEEDED":
        raise TidemarkError(f"the tables could not be read: {run.error_message}")


def _linked(home: Home, folder: Path) -> Home:
    """Return a home with the state of another one, and the files of its tables of Iceberg."""
    linked = Home.open(folder)
    for name in STATE_FILES:
        put_state_file(home.root / name, linked.root / name)
    for table in folders_of_tables(home):
        if (home.lake / table).is_dir():
            shutil.copytree(
                home.lake / table, linked.lake / table, copy_function=_link, dirs_exist_ok=True
            )
    return linked


def _link(source: str, target: str) -> str:
    with suppress(OSError):  # on another disk
        os.link(source, target)
        return target
    return str(shutil.copy2(source, target))
