"""The rows of tables of Iceberg as files, read in a home that shares the files of another one."""

import os
import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.home import Home
from tidemark.local_state.store.sqlite_files import STATE_FILES, put_state_file
from tidemark.operate.diff.places import TABLE, HomeAt, Pair, Side, key_of, metadata_of
from tidemark.operate.prove.tables import dump_as_parquet, folders_of_tables


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
    sides, snapshots = dict[str, Side](), dict[str, int | None]()
    for name, metadata in known.items():
        try:
            snapshot = state.snapshot(metadata)
        except LookupError:
            sides[name] = Side(problem=f"its snapshot after {state.label} has expired")
            continue
        if snapshot is None and state.until_ms is not None:
            continue
        snapshots[name] = snapshot
        sides[name] = Side(str(folder / name))
    if snapshots:
        asked = {"tables": snapshots, "databases": (), "out": str(folder)}
        dump_as_parquet(_linked(state.home, folder / "_home"), asked, jvms)
    files = {name: sorted(map(str, (folder / name).glob("[!_.]*"))) for name in sides}
    return {name: replace(side, files=files[name]) for name, side in sides.items()}


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
