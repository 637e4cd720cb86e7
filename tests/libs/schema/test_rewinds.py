"""A rewind across a change of columns, and the rest again, is what a load from the start gives."""

from __future__ import annotations

import json
import uuid
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.sampled import at_night
from tests.tries import tries
from watermarks import SchemaContractError, WatermarkAdmin, read_committed, write_window
from watermarks.errors import WatermarkValueError
from watermarks.schema import Contract

pytestmark = pytest.mark.spark
WHY = {"reason": "a property", "actor": "hypothesis"}
VALUES = {
    "INT": "7",
    "BIGINT": "70000000000",
    "DOUBLE": "0.5",
    "STRING": "'x'",
    "DATE": "'2026-02-28'",
    "STRUCT<n: INT>": "named_struct('n', 1)",
    "STRUCT<n: BIGINT, m: STRING>": "named_struct('n', 70000000000, 'm', 'y')",
    "ARRAY<INT>": "array(1, 2)",
    "VOID": "NULL",
}
INCREMENT = st.dictionaries(st.sampled_from("abc"), st.sampled_from(sorted(VALUES)), max_size=3)


@st.composite
def stories(draw) -> dict[str, Any]:
    increments = draw(st.lists(INCREMENT, min_size=2, max_size=4))
    return {
        "increments": increments,
        "schema": draw(st.sampled_from([None, "id INT", "id INT, a INT"])),
        "columns": draw(st.sampled_from(["evolve", "evolve", "freeze", "rescue"])),
        "types": draw(st.sampled_from(["evolve", "evolve", "freeze", "rescue", "discard_row"])),
        "back_to": draw(st.integers(0, len(increments) - 1)),
        "until": draw(st.integers(1, len(increments))),
    }


class Load:
    """One job that loads increments into one folder, each in a run of its own."""

    def __init__(self, spark: SparkSession, watermarks: WatermarkAdmin, folder, story) -> None:
        self.spark, self.watermarks, self.job = spark, watermarks, uuid.uuid4().hex
        self.path, self.story, self.runs = str(folder / self.job), story, dict[int, str]()
        quarantine = f"{self.path}-aside" if story["types"] == "discard_row" else ""
        modes = {name: story[name] for name in ("schema", "columns", "types")}
        self.contract = Contract(**modes, quarantine=quarantine)

    def load(self, number: int) -> None:
        """Load an increment; what is refused is accepted, or if that cannot be, rescued."""
        columns = self.story["increments"][number - 1]
        if number == 1 and not self.contract.schema:  # which Parquet has no type for
            columns = {name: kind for name, kind in columns.items() if kind != "VOID"}
        named = [f"CAST({VALUES[kind]} AS {kind}) {name}" for name, kind in columns.items()]
        frame = self.spark.sql(f"SELECT {', '.join([f'{number} id', *named])}")
        rescuing = replace(self.contract, columns="rescue", types="rescue", quarantine="")
        for contract in (self.contract, self.contract, rescuing):
            self.runs[number] = f"jr_{uuid.uuid4().hex}"
            window = self.watermarks.open_window(
                self.job, run_id=self.runs[number], cursor="id", high=number
            )
            try:
                write_window(frame, self.path, window, schema=contract)
                break
            except SchemaContractError:
                with suppress(WatermarkValueError):  # what cannot be accepted is rescued
                    self.watermarks.accept_schema(self.job, **WHY)
        self.watermarks.commit_window(window)

    def result(self) -> tuple[Any, ...]:
        """Return the rows that count, those taken out, and the columns that are held."""
        committed = self.watermarks.committed_windows(self.job)
        rows = read_committed(self.spark, self.path, committed).drop("window", "attempt")
        aside: list[str] = []
        if self.contract.quarantine:
            kind = "id INT, _rescued_data STRING"
            taken = read_committed(self.spark, self.contract.quarantine, committed, "json", kind)
            aside = sorted(taken.drop("window", "attempt").toJSON().collect())
        schemas = self.watermarks.latest(self.job).schemas.values()
        held = [json.dumps(dict(schema.columns), sort_keys=False) for schema in schemas]
        return sorted(rows.toJSON().collect()), aside, held


@settings(
    max_examples=tries(30),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(story=stories())
def test_a_rewind_and_the_rest_again_is_what_a_load_from_the_start_gives(
    spark, watermarks, tmp_path_factory, story
):
    folder = tmp_path_factory.mktemp("rewinds")
    rewound, once = (Load(spark, watermarks, folder, story) for _ in range(2))
    every = range(1, len(story["increments"]) + 1)
    for number in range(1, story["until"] + 1):
        rewound.load(number)
    back_to = min(story["back_to"], story["until"] - 1)
    watermarks.rewind(rewound.job, to_run=rewound.runs[back_to] if back_to else None, **WHY)
    for number in range(back_to + 1, len(every) + 1):
        rewound.load(number)
    for number in every:
        once.load(number)

    assert rewound.result() == once.result()


@pytest.mark.parametrize("seeds", at_night(((1, 2),), ((3, 4, 5, 6, 7, 8),), ((9, 10, 11, 12),)))
def test_a_table_that_is_rewound_gets_the_rows_and_columns_of_one_load(on_iceberg, seeds):
    assert on_iceberg("schema_stories.py", *seeds) == []
