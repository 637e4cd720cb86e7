"""Scripts written as people write them for Glue, submitted unmodified: what they show and leave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tidemark.cli.processes import BOUND_S, started

pytestmark = [pytest.mark.spark, pytest.mark.stress]

SCRIPTS = Path(__file__).parents[1] / "data" / "scripts"


@pytest.fixture
def submit(home):
    """Return a function that submits a script and returns what it shows."""

    def submit(name: str) -> str:
        with started("submit", str(SCRIPTS / f"{name}.py")) as process:
            output, _ = process.communicate(timeout=BOUND_S)
        text = output.decode()
        assert process.returncode == 0, text
        return text

    return submit


@pytest.fixture
def land(home):
    """Return a function that puts a file into the local S3."""

    def land(key: str, *lines: object) -> None:
        path = home / "lake" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")

    return land


def test_a_mapping_of_nested_json(submit, land, home):
    land(
        "landing/orders/a.json",
        {"id": 1, "customer": {"name": "Ann"}, "amount": 1.5, "nothing": None},
        {"id": 2, "customer": None, "amount": 2.25, "nothing": None},
    )

    (home / "lake" / "lake").mkdir()

    shown = submit("mapping_of_nested_json")

    assert (
        "root\n|-- order_id: long\n|-- customer_name: string\n|-- amount: decimal(10,2)\n"
    ) in shown
    assert '{"order_id": 1, "customer_name": "Ann", "amount": 1.5}' in shown
    assert "the source gone, which is not in the frame" in shown
    files = list((home / "lake" / "lake" / "orders").glob("*.json"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert sorted(rows, key=lambda row: row["order_id"]) == [
        {"order_id": 1, "customer_name": "Ann", "amount": 1.5},
        {"order_id": 2, "amount": 2.25},
    ]


def test_a_join_with_functions(submit, land):
    land("landing/customers/a.csv", "customerId,name,share", "1,Ann,2024", "2,Bob,", "3,Cyd,2023")

    shown = submit("joins_filters_and_drops")

    assert '{"name": "Ann", "customerId": "1", "n": 7, "label": "ANN"}' in shown
    assert "rows 2 errors 0" in shown


def test_nested_data_as_tables(submit, land):
    land(
        "landing/people/a.json",
        {"id": 1, "address": {"city": "x"}, "contacts": [{"type": "fax", "value": "1"}]},
        {"id": 2, "address": None, "contacts": []},
    )

    shown = submit("nested_data_as_tables")

    assert "['root', 'root_contacts']" in shown
    assert "root\n|-- kind: string\n|-- value: string\n" in shown
    assert "root\n|-- address.city: string\n|-- id: long\n" in shown
