"""A table of a database, and items of DynamoDB, that get other columns: told, and kept whole."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from decimal import Decimal

import pytest

from tests.tidemark.glue_job.readers.databases.derby import DERBY
from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.observed_schemas import noted_schemas
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.checkpoint import Checkpoint
from watermarks import Contract, SchemaContractError

pytestmark = pytest.mark.spark
RESCUE = Contract("id INT, amt INT, note STRING", columns="rescue", types="rescue")


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Return what reads a source as the next run of a job, and returns what that run tells."""
    home = Home.open(tmp_path / "home of runs")
    monkeypatch.setenv("TIDEMARK_HOME", str(home.root))
    run = JobRun("", "load", None, None, 0, "RUNNING", 1, "log", "none")
    number = iter(range(99))

    def told(read) -> list[str]:
        run_id, at_ms = f"jr_{next(number)}", next(number)
        folder = home.runs / run_id
        monkeypatch.setenv(RUN_ID_VARIABLE, run_id)
        monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(folder))
        with Store(home.database) as store, store.transaction():
            store.put_job_run(replace(run, run_id=run_id))
        folder.mkdir(parents=True)
        read()
        with Store(home.database) as store, store.transaction():
            store.put_job_run(replace(run, run_id=run_id, state="SUCCEEDED"))
            put_checkpoint(store, Checkpoint("load", run_id, at_ms, schemas=noted_schemas(folder)))
        changed = [text for text in read_warnings(folder) if "(TM277)" in text]
        return [
            text.partition("source orders: ")[2].partition("; `tidemark")[0] for text in changed
        ]

    return told


@pytest.fixture
def read_jdbc(make_table, glue_context):
    """Return what reads a table of Derby that has columns and one row."""

    def read(columns, row):
        table = make_table(columns)
        table.insert(row)
        options = {**DERBY, "dbTable": table.name}
        return glue_context.create_dynamic_frame.from_options(
            "custom.jdbc", options, transformation_ctx="orders"
        )

    return read


@pytest.fixture
def read_items(dynamodb, glue_context):
    """Return what reads a table of DynamoDB that has items."""

    def read(*items):
        name = f"t{uuid.uuid4().hex}"
        dynamodb.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "N"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for item in items:
            dynamodb.put_item(TableName=name, Item=item)
        return glue_context.create_dynamic_frame.from_options(
            "dynamodb", {"dynamodb.input.tableName": name}, transformation_ctx="orders"
        )

    return read


def kept(frame) -> list[tuple[object, ...]]:
    """Return the rows of a frame, with what was rescued as an object."""
    rows = [row.asDict() for row in frame.toDF().collect()]
    lowered = [{name.lower(): value for name, value in row.items()} for row in rows]
    for row in lowered:
        row["_rescued_data"] = json.loads(row["_rescued_data"] or "{}", parse_float=Decimal)
    return sorted(tuple(row.values()) for row in lowered)


COLUMNS = "id INT, amt INT, note VARCHAR(9)"
JDBC = [
    ("ID INT, AMT VARCHAR(9), NOTE VARCHAR(9)", "1, '20 EUR', 'x'", "AMT was int and is string"),
    ("ID INT, AMT BIGINT, NOTE VARCHAR(9)", "1, 3000000000, 'x'", "AMT was int and is bigint"),
    (
        "ID INT, AMT DECIMAL(9,2), NOTE VARCHAR(9)",
        "1, 7.00, 'x'",
        "AMT was int and is decimal(9,2)",
    ),
    ("ID INT, AMT INT, NOTE VARCHAR(9), TIP DOUBLE", "1, 7, 'x', 0.5", "TIP is new (double)"),
    ("ID INT, NOTE VARCHAR(9)", "1, 'x'", "AMT is gone (int)"),
]
OF_JDBC = [
    (1, None, "x", {"amt": "20 EUR"}),
    (1, None, "x", {"amt": 3000000000}),
    (1, 7, "x", {}),
    (1, 7, "x", {"TIP": Decimal("0.5")}),
    (1, None, "x", {}),
]


@pytest.mark.parametrize(
    ("columns", "row", "change", "wanted"),
    [(*drift, row) for drift, row in zip(JDBC, OF_JDBC, strict=True)],
)
def test_a_table_of_a_database_is_observed_and_kept_whole(
    read_jdbc, told, columns, row, change, wanted
):
    assert told(lambda: read_jdbc(COLUMNS, "1, 10, 'x'")) == []
    assert told(lambda: read_jdbc(columns, row)) == [change]

    assert kept(RESCUE.apply(read_jdbc(columns, row))) == [wanted]


def test_a_contract_that_freezes_refuses_each_drift_of_a_table_by_its_column(read_jdbc):
    frozen = replace(RESCUE, columns="freeze", types="freeze", missing="freeze")
    assert frozen.apply(read_jdbc(COLUMNS, "1, 10, 'x'")).count() == 1
    assert frozen.apply(read_jdbc(*JDBC[2][:2])).count() == 1  # 7.00 is the int 7
    for (columns, row, _), name in zip(
        [*JDBC[:2], *JDBC[3:]], ("amt", "amt", "TIP", "amt"), strict=True
    ):
        with pytest.raises(SchemaContractError, match=f"the column {name} "):
            frozen.apply(read_jdbc(columns, row))


ITEM = {"id": {"N": "1"}, "amt": {"N": "10"}, "note": {"S": "x"}}
ITEMS = [
    ({**ITEM, "amt": {"S": "20 EUR"}}, "amt was bigint and is string", {"amt": "20 EUR"}),
    ({**ITEM, "amt": {"N": "3000000000"}}, None, {"amt": 3000000000}),
    ({**ITEM, "amt": {"N": "1.5"}}, None, {"amt": Decimal("1.5")}),
    ({**ITEM, "tip": {"N": "0.5"}}, "tip is new (double)", {"tip": Decimal("0.5")}),
    ({**ITEM, "by": {"M": {"a": {"S": "b"}}}}, "by is new (struct)", {"by": {"a": "b"}}),
    ({"id": {"N": "1"}, "note": {"S": "x"}}, None, {}),
]


@pytest.mark.parametrize(("item", "change", "rescued"), ITEMS)
def test_items_of_dynamodb_are_observed_and_kept_whole(read_items, told, item, change, rescued):
    assert told(lambda: read_items(ITEM)) == []
    assert told(lambda: read_items(item)) == ([change] if change else [])

    amount = 10 if item.get("amt") == ITEM["amt"] else None
    assert kept(RESCUE.apply(read_items(item))) == [(1, amount, "x", rescued)]


def test_a_choice_of_dynamodb_is_fitted_value_by_value(read_items, told):
    other = {"id": {"N": "2"}, "amt": {"S": "20 EUR"}}
    digits = {"id": {"N": "3"}, "amt": {"S": "30"}}
    assert told(lambda: read_items(ITEM)) == []
    assert told(lambda: read_items(ITEM, other)) == ["amt was bigint and is choice<long,string>"]

    assert kept(RESCUE.apply(read_items(ITEM, other, digits))) == [
        (1, 10, "x", {}),
        (2, None, None, {"amt": "20 EUR"}),
        (3, 30, None, {}),
    ]
    right, wrong = replace(RESCUE, types="discard_row").split(read_items(ITEM, other, digits))
    assert (right.count(), wrong.count()) == (2, 1)
    with pytest.raises(SchemaContractError, match=r"1 row does not fit, such as .*20 EUR"):
        Contract("id INT, amt INT, note STRING").apply(read_items(ITEM, other))
