"""Scripts written as people write them for Glue, submitted unmodified: what they show and leave."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.tidemark.cli.processes import started
from tests.waiting import BOUND_S

pytestmark = [pytest.mark.spark, pytest.mark.stress]

SCRIPTS = Path(__file__).parents[1] / "data" / "scripts"


@pytest.fixture
def submit(home):
    """Return a function that submits a script and returns what it shows."""

    def submit(name: str, *arguments: str) -> str:
        with started("submit", str(SCRIPTS / f"{name}.py"), *arguments) as process:
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


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_join_with_functions(submit, land):
    land("landing/customers/a.csv", "customerId,name,share", "1,Ann,2024", "2,Bob,", "3,Cyd,2023")

    shown = submit("joins_filters_and_drops")

    assert '{"name": "Ann", "customerId": "1", "n": 7, "label": "ANN"}' in shown
    assert "rows 2 errors 0" in shown


@pytest.mark.nightly
def test_nested_data_as_tables(submit, land):
    land(
        "landing/people/a.json",
        {"id": 1, "address": {"city": "x"}, "contacts": [{"type": "fax", "value": "1"}]},
        {"id": 2, "address": None, "contacts": []},
    )

    shown = submit("nested_data_as_tables")

    assert "['root', 'root_contacts']" in shown
    assert "root\n|-- kind: string\n|-- value: string\n" in shown
    assert "root\n|-- id: int\n|-- address.city: string\n" in shown


SALES = (
    "id,amount,sold at,price,name",
    "1,1.5,2020-01-01 10:00:00,12.345,apple",
    '2,2.5,2020-01-02 10:00:00,9.99,"ban,ana"',
    '2,2.5,2020-01-02 10:00:00,9.99,"ban,ana"',
    "3,,,,cherry",
)


@pytest.mark.nightly
def test_nodes_of_studio_with_a_custom_transform_and_sql(submit, land, home):
    land("landing/sales/a.csv", *SALES)
    (home / "lake" / "lake").mkdir()

    shown = submit("studio_nodes")

    assert (
        "root\n|-- id: int\n|-- amount: double\n|-- sold_at: timestamp\n"
        "|-- price: decimal(10,2)\n|-- name: string\n"
    ) in shown
    assert (
        '{"name": "apple", "n": 1, "total": 1.5}\n{"name": "ban,ana", "n": 1, "total": 2.5}\n'
    ) in shown
    assert "|  1|12.35|  apple|\n|  2| 9.99|ban,ana|\n" in shown
    assert "the function of a filter raised TypeError" in shown
    assert "format_options['inferSchema'] of the format csv: Glue does not know it" in shown


@pytest.mark.nightly
def test_three_frames_joined_and_made_flat(submit, land, home):
    phones = [{"kind": "fax", "number": "1"}, {"kind": "tel", "number": "2"}]
    land(
        "landing/people/a.json",
        {"id": "p1", "name": "Ann", "phones": phones},
        {"id": "p2", "name": "Bob", "phones": []},
    )
    land(
        "landing/posts/a.json",
        {"person_id": "p1", "holder_of": "o1", "since": "2000"},
        {"person_id": "p1", "holder_of": "o2", "since": "2001"},
        {"person_id": "p2", "holder_of": "o9"},
    )
    land(
        "landing/offices/a.json",
        {"id": "o1", "name": "House", "seats": 435, "aliases": [{"lang": "fr"}]},
        {"id": "o2", "name": "Senate", "seats": 100},
    )
    (home / "lake" / "lake").mkdir()

    shown = submit("three_frames_joined")

    assert "people: 2\nhistory: 2\n" in shown
    names = ["office_name", "seats", "holder_of", "since", "id", "name", "phones"]
    columns = next(line for line in shown.splitlines() if line.startswith("root 2 "))
    assert sorted(names) == sorted(ast.literal_eval(columns.removeprefix("root 2 ")))
    assert "root_phones 4 ['id', 'index', 'phones.val.kind', 'phones.val.number']" in shown
    assert "|2|1|tel|2|" in shown.replace(" ", "")
    folders = sorted(path.name for path in (home / "lake" / "lake" / "history").glob("*=*"))
    assert folders == ["office_name=House", "office_name=Senate"]
    assert sorted(path.name for path in (home / "lake" / "lake" / "tables").iterdir()) == [
        "root",
        "root_phones",
    ]


def test_several_contexts_and_arguments_in_all_spellings(submit, land, home):
    land("landing/sales/a.csv", *SALES)
    (home / "lake" / "lake").mkdir()

    shown = submit(
        "contexts_and_arguments",
        "--TempDir",
        "s3://temp/t/",
        "--ENV=dev",
        "--n_rows",
        "5",
        "--source-path",
        "s3://landing/sales/",
        "--conf",
        "spark.sql.session.timeZone=UTC",
        "--conf",
        "spark.sql.ansi.enabled=true",
    )

    assert "s3://landing/sales/ 5 dev s3://temp/t/ False\n" in shown
    assert "GlueArgumentError: the following arguments are required: --missing\n" in shown
    assert "UTC true\n[Row(n=4)]\n['sales0', 'sales1', 'sales2', 'sales3']\n4\n" in shown
