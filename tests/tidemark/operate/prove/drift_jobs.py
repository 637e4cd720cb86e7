"""Jobs that read files whose columns change, right and wrong by construction, with verdicts.

A job reads the four files of `jobs`; one of two sources reads `s3://lake/more/`, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.tidemark.operate.prove.jobs import COMMIT, HEAD, NEW
from tidemark.testing import iceberg_arguments

COLUMNS = "id BIGINT, day STRING, customer STRING, amount DOUBLE"
CONTRACT = f"""
from watermarks import Contract, SchemaContractError

contract = Contract("{COLUMNS}", %s)
"""
FREEZE = CONTRACT % 'columns="freeze", types="freeze", missing="freeze"'
RESCUE = CONTRACT % 'columns="rescue", types="rescue"'
DISCARD_ROW = CONTRACT % 'columns="discard", types="discard_row"'
APPEND = """
if rows.columns:
    %s.write.mode("append").parquet(OUT)
"""
FROZEN = {"schema": COLUMNS, "columns": "freeze", "types": "freeze", "missing": "freeze"}
TERMS = json.dumps(
    {
        "schema": COLUMNS,
        "columns": "rescue",
        "types": "discard_row",
        "quarantine": "s3://lake/quarantine/",
    }
)
MORE = """
more = glue.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://lake/more/"]}, "json", transformation_ctx="more"
).toDF()
if more.columns:
    more.write.mode("append").parquet("s3://lake/second/")
"""


@dataclass(frozen=True)
class DriftCase:
    """A job, and its verdicts on a column more, a column fewer, and a value of another type.

    Attributes:
        name: of the case.
        script: the program.
        verdicts: in this order; of two sources those of the first one, then those of the other.
        arguments: of the run, beside its name.
        has_two_sources: whether `s3://lake/more/` has files, too.
        format: of the files.
    """

    name: str
    script: str
    verdicts: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    has_two_sources: bool = False
    format: str = "json"


WINDOWS = (
    HEAD
    + """
from watermarks import Contract, Watermarks, newest, rows_of, write_window

own = getResolvedOptions(sys.argv, ["schema_of_target"])
contract = Contract.from_json(own["schema_of_target"])
rows = spark.read.json("s3://lake/in/")
for window in Watermarks().windows(
    args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="id", high=newest(rows)
):
    write_window(rows_of(rows, window), OUT, window, schema=contract)
"""
)
ICEBERG = (
    HEAD
    + f"""
from watermarks import Contract, Watermarks, append_window, newest, rows_of

spark.sql("CREATE DATABASE IF NOT EXISTS glue_catalog.sales")
spark.sql("CREATE TABLE IF NOT EXISTS glue_catalog.sales.log ({COLUMNS}) USING iceberg")
contract = Contract("{COLUMNS}", columns="evolve", types="rescue")
rows = spark.read.json("s3://lake/in/")
for window in Watermarks().windows(
    args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="id", high=newest(rows)
):
    append_window(rows_of(rows, window), "glue_catalog.sales.log", window, schema=contract)
"""
)
SETTINGS = " --conf ".join(
    f"{name}={text}" for name, text in iceberg_arguments("s3://lake/")["conf"].items()
)
OF_CSV = '"csv", format_options={"withHeader": True}, '
RIGHT = [
    DriftCase(
        "freeze",
        NEW + FREEZE + APPEND % "contract.apply(rows)" + COMMIT,
        ("equal", "equal", "equal"),
    ),
    DriftCase(
        "rescue",
        NEW + RESCUE + APPEND % "contract.apply(rows)" + COMMIT,
        ("equal", "equal", "equal"),
    ),
    DriftCase(
        "quarantine",
        NEW
        + DISCARD_ROW
        + """
if rows.columns:
    fit, aside = contract.split(rows)
    fit.write.mode("append").parquet(OUT)
    aside.write.mode("append").json("s3://lake/aside/")
"""
        + COMMIT,
        ("equal", "equal", "equal"),
    ),
    DriftCase(
        "windows",
        WINDOWS,
        ("equal", "equal", "equal"),
        ("--schema_of_target", TERMS, "--target", "s3://lake/out/"),
    ),
    DriftCase(
        "windows-that-freeze",
        WINDOWS,
        ("equal", "told", "equal"),
        ("--schema_of_target", json.dumps(FROZEN), "--target", "s3://lake/out/"),
    ),
    DriftCase(
        "evolve-of-iceberg",
        ICEBERG,
        ("equal", "equal", "equal"),
        ("--datalake-formats", "iceberg", "--conf", SETTINGS),
    ),
    DriftCase(
        "freeze-of-parquet",
        NEW.replace('"json"', '"parquet"') + FREEZE + APPEND % "contract.apply(rows)" + COMMIT,
        ("equal", "equal", "equal"),
        format="parquet",
    ),
    DriftCase(
        "rescue-of-csv",
        NEW.replace('"json", ', OF_CSV) + RESCUE + APPEND % "contract.apply(rows)" + COMMIT,
        ("equal", "equal", "equal"),
        format="csv",
    ),
    DriftCase(
        "fails-without-a-contract",
        NEW + APPEND % 'rows.select("id", "amount")' + COMMIT,
        ("told", "told", "told"),
    ),
    DriftCase(
        "no-contract",
        NEW + APPEND % "rows" + COMMIT,
        ("told", "told", "told"),
    ),
]
WRONG = [
    DriftCase(
        "swallows-the-refusal",
        NEW
        + FREEZE
        + """
try:
    if rows.columns:
        contract.apply(rows).write.mode("append").parquet(OUT)
except SchemaContractError as error:
    print(error)
"""
        + COMMIT,
        ("lost", "lost", "lost"),
    ),
    DriftCase(
        "drops-what-does-not-fit",
        NEW + RESCUE + APPEND % "contract.apply(rows).where('_rescued_data IS NULL')" + COMMIT,
        ("lost", "equal", "lost"),
    ),
    DriftCase(
        "one-of-two-sources",
        NEW + RESCUE + APPEND % "contract.apply(rows)" + MORE + COMMIT,
        ("equal", "equal", "equal", "equal", "equal", "changed"),
        has_two_sources=True,
    ),
    DriftCase(
        "argument-that-is-not-applied",
        NEW + APPEND % "rows" + COMMIT,
        ("changed", "told", "changed"),
        ("--schema_of_source", json.dumps(FROZEN), "--source", "s3://lake/in/"),
    ),
    DriftCase(
        "writes-before-it-is-refused",
        NEW
        + FREEZE
        + """
if rows.columns:
    rows.write.mode("append").json("s3://lake/second/")
    contract.apply(rows).write.mode("append").parquet(OUT)
"""
        + COMMIT,
        ("doubled", "doubled", "doubled"),
    ),
]
