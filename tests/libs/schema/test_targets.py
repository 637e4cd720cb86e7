"""Windows that are written under a contract: evolved targets, refusals, and a quarantine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.iceberg import run_with_iceberg
from watermarks import Window, read_committed, write_window
from watermarks.errors import SchemaContractError, WatermarksError, WatermarkValueError
from watermarks.schema import Contract

pytestmark = pytest.mark.spark


def window(number: int, attempt: int = 1) -> Window:
    return Window("j", f"jr_{attempt}", "id", f"{number:04d}", attempt, number - 1, number)


def rows_of(frame) -> list[tuple[object, ...]]:
    return sorted(map(tuple, frame.drop("window", "attempt").collect()), key=str)


def test_three_increments_that_drift_leave_one_readable_target(spark, tmp_path):
    path, contract = (
        str(tmp_path / "out"),
        Contract("id INT, amt INT", columns="rescue", types="rescue"),
    )
    increments = ["1 id, 10 amt", "2 id, '20 EUR' amt", "3 id, 30 amount"]
    for number, columns in enumerate(increments, 1):
        write_window(spark.sql(f"SELECT {columns}"), path, window(number), schema=contract)

    committed = [(window(number).window_id, 1) for number in (1, 2, 3)]
    assert rows_of(read_committed(spark, path, committed)) == [
        (1, 10, None),
        (2, None, '{"amt":"20 EUR"}'),
        (3, None, '{"amount":30}'),
    ]


def test_what_is_refused_leaves_no_file(spark, tmp_path):
    frame = spark.createDataFrame([(1, "x"), (2, "3")], "id INT, amt STRING")
    with pytest.raises(SchemaContractError, match="1 row does not fit"):
        write_window(
            frame,
            str(tmp_path / "out"),
            window(1),
            schema=Contract("id INT, amt INT", types="freeze"),
        )

    assert not list(tmp_path.iterdir())


def test_rows_that_do_not_fit_are_quarantined_once_as_a_part_of_their_window(spark, tmp_path):
    path, aside = str(tmp_path / "out"), str(tmp_path / "aside")
    contract = Contract("id INT, amt INT", types="discard_row", quarantine=aside)
    frame = spark.createDataFrame([(1, "x"), (2, "3"), (3, None)], "id INT, amt STRING")

    for attempt in (1, 2):  # the first run dies before its commit
        write_window(frame, path, window(1, attempt), schema=contract)

    committed = [(window(1).window_id, 2)]
    assert rows_of(read_committed(spark, path, committed)) == [(2, 3), (3, None)]
    (taken,) = read_committed(spark, aside, committed, "json").collect()
    assert (taken["id"], taken["amt"], taken["_rescued_data"]) == (1, "x", '{"amt":"x"}')
    assert read_committed(spark, aside, [(window(1).window_id, 1)], "json", "id INT").count() == 0


@pytest.mark.parametrize(
    ("quarantine", "told"),
    [
        ("", "give the contract quarantine="),
        ("{}/out/aside", "one within the other"),
        ("file://{}//out/../out", "one within the other"),
        ("FILE:{}/", "one within the other"),
    ],
)
def test_a_quarantine_has_a_folder_of_its_own(spark, tmp_path, quarantine, told):
    place = quarantine.format(tmp_path)
    contract = Contract("id INT", types="discard_row", quarantine=place)
    with pytest.raises(WatermarkValueError, match=told):
        write_window(spark.range(1), f"{tmp_path}/out", window(1), schema=contract)
    with pytest.raises(WatermarkValueError, match="takes no row out"):
        Contract("id INT", quarantine="s3://lake/aside/")


def test_two_targets_have_two_quarantines_however_one_is_written(spark, tmp_path):
    def write(place: str, target: str) -> None:
        contract = Contract("id INT", types="discard_row", quarantine=place)
        write_window(spark.sql("SELECT 'x' id"), target, window(7), schema=contract)

    write(f"{tmp_path}/aside", f"{tmp_path}/one")
    with pytest.raises(WatermarksError, match="give each target, and each part"):
        write(f"file://{tmp_path}/aside/", f"{tmp_path}/two")


def lines_of(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def test_rescued_and_quarantined_rows_are_counted_while_they_are_written(spark, tmp_path, capfd):
    path, aside = str(tmp_path / "out"), str(tmp_path / "aside")
    reads = spark.sparkContext.accumulator(0)

    def read(row):
        reads.add(1)
        return row

    rows = [(1, "x"), (2, "3"), (3, "y"), (4, None)]
    frame = spark.createDataFrame(
        spark.sparkContext.parallelize(rows, 2).map(read), "id INT, amt STRING"
    )
    contract = Contract("id INT, amt INT", columns="rescue", types="rescue")
    write_window(frame, path, window(1), schema=contract)

    (line,) = lines_of(capfd.readouterr().out)
    assert (line["JobName"], line["RescuedRows"], line["Target"]) == ("j", 2, path)
    assert line["_aws"]["CloudWatchMetrics"][0]["Metrics"] == [
        {"Name": "RescuedRows", "Unit": "Count"}
    ]
    assert reads.value == len(rows)

    contract = Contract("id INT, amt INT", types="discard_row", quarantine=aside)
    write_window(frame, path, window(2), schema=contract)
    (line,) = lines_of(capfd.readouterr().out)
    assert (line["QuarantinedRows"], line["Target"]) == (2, path)


@pytest.mark.parametrize("condition", ["amt = '3'", "id < 0", "false"])
def test_rows_that_all_fit_tell_nothing(spark, tmp_path, capfd, condition):
    path, aside = str(tmp_path / "out"), str(tmp_path / "aside")
    frame = spark.createDataFrame([(2, "3")], "id INT, amt STRING").where(condition)
    for number, contract in enumerate(
        [
            Contract("id INT, amt INT", types="rescue"),
            Contract("id INT, amt INT", types="discard_row", quarantine=aside),
            Contract("id INT, amt STRING", types="discard_row", quarantine=aside),
        ]
    ):
        write_window(frame, path, window(number), schema=contract)

    assert lines_of(capfd.readouterr().out) == []


PROGRAMS = Path(__file__).parents[1] / "spark" / "programs"


def program(name):
    return "\n".join((PROGRAMS / file).read_text("utf-8") for file in ("contract_helpers.py", name))


def test_a_table_of_iceberg_gets_what_evolves(tmp_path):
    *told, facts = lines_of("\n".join(run_with_iceberg(program("iceberg_contracts.py"), tmp_path)))

    counts = [(line.get("RescuedRows"), line.get("QuarantinedRows")) for line in told]
    assert counts[:2] == [(1, None), (None, 1)]
    assert [line["Target"] for line in told][:2] == ["s.log", "s.log a"]
    assert facts["evolved"] == [
        "struct<id:int,amt:bigint,tip:double>",
        [[1, 10, None], [2, 20000000000, 0.5], [3, 30, None]],
    ]
    assert facts["rescued"][0] == "struct<id:int,amt:bigint,tip:double,_rescued_data:string>"
    assert facts["rescued"][1][-1][:3] == [4, None, None]
    assert json.loads(facts["rescued"][1][-1][3]) == {"amt": "n/a", "extra": 1}
    assert facts["not promoted"].startswith("SchemaContractError: the frame breaks its contract: ")
    assert facts["of text"].startswith("WatermarkValueError: s.log would have to change")
    assert facts["frozen"].startswith("WatermarkValueError: s.log would have to change")
    assert "twice" not in facts["after"]
    assert facts["of two parts"].startswith("WatermarksError: the quarantine")
    assert facts["attempts"] == [True, False]
    assert "its contract was another one" in facts["another contract"]
    assert facts["as it was"] == [False, [[1, None]]]
    assert "(1 row does not fit" in facts["must"]
    assert "a column without nulls" in facts["must"]
    assert "one within the other" in facts["inside"]
    assert facts["raced"] == "struct<id:int,x:int,y:int>"


def test_a_merge_takes_what_its_contract_lets_in(tmp_path):
    lines = run_with_iceberg(program("iceberg_merge_contracts.py"), tmp_path)
    *told, facts = lines_of("\n".join(lines))

    rescued = [(line["Target"], line["RescuedRows"]) for line in told if "RescuedRows" in line]
    assert rescued == [("s.now", 1), ("s.flag", 1)]

    assert facts["evolved"] == [
        "struct<id:bigint,at:int,v:bigint,tip:double>",
        [[1, 3, 30, 0.5], [2, 2, 1, 1.0]],
    ]
    assert facts["rescued"] == [
        "struct<id:bigint,at:int,v:bigint,tip:double,_rescued_data:string>",
        [[1, 4, None, 0.5, '{"v":"n/a"}']],
    ]
    for name in ("key", "cursor"):
        assert facts[name].startswith("SchemaContractError: "), facts[name]
        assert "a key, the cursor and a column" in facts[name]
    assert facts["frozen"].startswith("SchemaContractError: the frame breaks its contract: the ")
    assert facts["no key"].startswith("WatermarkValueError: the schema of the contract has no colu")
    assert facts["after"] == [[1, 4, None, 0.5, '{"v":"n/a"}'], [5, 5, 1, None, None]]
    assert facts["kept"] == [1, 8]
    (row,) = facts["aside"]
    assert (row["id"], row["op"], row["_rescued_data"]) == ("x", "U", '{"id":"x"}')
    assert "_tidemark_deleted" not in row
    assert facts["history"] == [
        "struct<id:bigint,v:int,since:int,until:int,w:string>",
        [[1, 10, 1, 2, None], [1, 20, 2, 3, "a"]],
    ]
    assert facts["strict"].startswith("SchemaContractError: ")
    assert facts["flag"] == [
        "struct<id:bigint,at:int,v:int,gone:boolean,_rescued_data:string>",
        [[1, 2, None, True, '{"v":"x"}'], [2, 1, 1, True, None]],
    ]
    assert facts["newer"] == [1, 3, 7, False, None]
