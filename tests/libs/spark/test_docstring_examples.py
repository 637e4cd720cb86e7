"""The examples in the docstrings of the library run, and show what is printed there."""

from __future__ import annotations

import inspect
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import watermarks as library
from tests.examples import assert_examples_run
from watermarks import WatermarkAdmin, create_table_request

# Nothing to call: constants, errors, and values that other calls return.
WITHOUT_EXAMPLE = {
    "CommittedWindow",
    "Dialect",
    "EXPIRES_AT",
    "HistoryEntry",
    "Latest",
    "OpenWindow",
    "RefusedSchema",
    "RunRecord",
    "SchemaChange",
    "TABLE_NAME",
    "TargetSchema",
    "Window",
}
# Shown by docs/ and run by its tests: they need a database, an Iceberg table or a run of Glue.
SHOWN_IN_DOCS = {
    "append_window",
    "end_if_nothing_new",
    "merge_window",
    "newest_jdbc",
    "newest_snapshot",
    "read_jdbc",
    "read_snapshots",
    "upsert_jdbc",
}


def public() -> list[tuple[str, Any]]:
    """Return what the library gives, and the methods of its classes that have an example."""
    found = []
    for name in library.__all__:
        value = getattr(library, name)
        found.append((name, value))
        if inspect.isclass(value):
            found += [(f"{name}.{it}", member) for it, member in vars(value).items()]
    return [(name, it) for name, it in found if ">>>" in (inspect.getdoc(it) or "")]


def test_what_a_script_calls_has_an_example():
    shown = {name.partition(".")[0] for name, _ in public()}
    errors = {name for name in library.__all__ if name.endswith("Error")}

    assert shown >= set(library.__all__) - errors - WITHOUT_EXAMPLE - SHOWN_IN_DOCS


@pytest.mark.spark
@pytest.mark.usefixtures("table_name")  # an example has the table of jobs
@pytest.mark.parametrize(("name", "shown"), public())
def test_example_runs(name, shown, client, spark, tmp_path):
    table = f"examples-{uuid.uuid4().hex}"
    client.create_table(**create_table_request(table))
    admin = WatermarkAdmin(table, client)
    names = {name: getattr(library, name) for name in library.__all__}
    ours = {"client": client, "admin": admin, "watermarks": admin, "spark": spark}
    times = {"UTC": UTC, "datetime": datetime, "timedelta": timedelta}
    given = {**names, **ours, **times, "path": str(tmp_path)}

    assert_examples_run(name, shown, given)
