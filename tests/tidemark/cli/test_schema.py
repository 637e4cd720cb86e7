"""`tidemark schema`: the columns of each source and target, and which runs have changed them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tests.fixtures.commands import TABLE
from tests.tidemark.cli.test_cli import tidemark
from tests.tidemark.cli.test_watermark_cli import put_run
from tidemark.cli.main import main
from tidemark.glue_service.commands import region
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.observed_schemas import CONTRACTS_FILE, LOOK_BACK
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.model.checkpoints.schemas import Column, Schema
from watermarks import RefusedSchema, TargetSchema, WatermarkAdmin
from watermarks.windows.held import hold_schema, note_refused

RUN = JobRun("jr_a", "orders", None, None, 0, "SUCCEEDED", 7, "stderr.log", "job-bookmark-enable")


def schemas(**types: str) -> tuple[Schema, ...]:
    columns = tuple(Column(name, kind) for name, kind in types.items())
    return (
        Schema("read", "s3://lake/in/", "orders", "json", columns),
        Schema("written", "s3://lake/out/", "", "parquet", columns, ("id",)),
    )


@pytest.fixture
def ran(home):
    """Return what records a run of the job that has seen columns."""
    place = Home.open(home)

    def ran(name: str, at_ms: int, state: str = "SUCCEEDED", seen=(), **types: str) -> None:
        run_id = f"jr_{name * 16}"
        checkpoint = Checkpoint("orders", run_id, at_ms, schemas=seen or schemas(**types))
        with Store(place.database) as store, store.transaction():
            store.put_job_run(replace(RUN, run_id=run_id, state=state, started_at_ms=at_ms))
            put_checkpoint(store, checkpoint if types or seen else replace(checkpoint, schemas=()))

    return ran


def changes(*command: str) -> list[tuple[str, str, str, str]]:
    result = tidemark("schema", *command, "--format", "json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["changes"]
    return [(row["run_id"][3], row["role"], row["kind"], row["path"]) for row in rows]


def test_each_source_and_target_is_shown_with_its_columns(ran):
    ran("a", 1, id="int", amt="int")
    ran("b", 2, id="int", amt="string")

    shown = tidemark("schema", "show", "orders")
    assert "read orders (s3://lake/in/), json" in shown.stdout
    assert "written s3://lake/out/, parquet" in shown.stdout

    document = json.loads(tidemark("schema", "show", "orders", "--format", "json").stdout)
    source, target = document["schemas"]
    assert source["columns"][1] == {"path": "amt", "type": "string", "is_nullable": True}
    assert (source["source"], target["partitions"]) == ("orders", ["id"])


def test_the_history_and_the_difference_leave_runs_out_that_failed_or_read_nothing(ran):
    ran("a", 1, id="int", amt="int")
    ran("b", 2, id="int", amt="string")
    ran("c", 3, "FAILED", id="date")
    ran("d", 4)
    ran("e", 5, id="int", amount="int")

    of_amount = [("e", "read", "new", "amount"), ("e", "read", "gone", "amt")]
    of_amount += [("e", "written", kind, path) for _, _, kind, path in of_amount]
    of_type = [("b", role, "type", "amt") for role in ("read", "written")]
    assert changes("history", "orders") == [*of_amount, *of_type]
    assert changes("diff", "orders") == of_amount
    assert changes("diff", "orders", "--to", "jr_bb") == of_type
    assert changes("diff", "orders", "--from", "jr_ee", "--to", "jr_ee") == []
    assert (
        "amt was int and is string" in tidemark("schema", "diff", "orders", "--to", "jr_b").stdout
    )


FROZEN = {"schema": "id INT, amt INT", "columns": "freeze", "types": "freeze"}
REFUSED = (
    "SchemaContractError: the frame breaks its contract: the column tip (bigint) is new "
    "(first in s3://lake/in/2.json); nothing was written: columns=... (load.py, line 3)"
)


@pytest.fixture
def coming(ran, home):
    """Return what lets a job run with a contract, and a file arrive; it returns what is told."""
    place = Home.open(home)

    def coming(contract, line, seen="", **run) -> tuple[dict[str, object], str]:
        ran("a", 1, seen=seen, id="int", amt="int")
        source = json.dumps(S3Source(("s3://lake/in/",), "orders", "json").to_json())
        (place.lake / "lake/in").mkdir(parents=True, exist_ok=True)
        (place.lake / "lake/in/2.json").write_text(f"{line}\n", encoding="utf-8")
        folder = place.runs / "jr_last"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONTRACTS_FILE).write_text(f"{json.dumps(contract)}\n", encoding="utf-8")
        last = {"run_id": "jr_last", "started_at_ms": 9, "log_path": str(folder / "log"), **run}
        with Store(place.database) as store:
            store.put_job_run(replace(RUN, **last))
            store.change(
                "INSERT INTO source_read (run_id, job_name, transformation_ctx, opened_at_ms, "
                "option, version, source) VALUES "
                "('jr_last', 'orders', 'orders', 2, 'job-bookmark-enable', 0, ?)",
                (source,),
            )
        document = json.loads(tidemark("explain", "orders", "--format", "json").stdout)
        return document, " ".join(tidemark("explain", "orders").output.split())

    return coming


@pytest.mark.parametrize(
    ("contract", "line", "wanted"),
    [
        (
            FROZEN,
            '{"id": 1, "amt": 2, "tip": 3}',
            "tip is new (int), in {place}: {refuses} a new column",
        ),
        ({}, '{"id": 1, "amt": 2, "tip": 3}', "tip is new (int), in {place}"),
        (
            {**FROZEN, "schema": "id INT, amt INT, tip INT"},
            '{"id": 1, "tip": 3}',
            "tip is new (int), in {place}",
        ),
        (
            FROZEN,
            '{"amt": "x"}',
            "amt was int and is string, in {place}: {refuses} a value that does not fit",
        ),
        ({"types": "rescue"}, '{"amt": "x"}', "amt was int and is string, in {place}"),
        (
            {"missing": "freeze"},
            '{"id": 1}',
            "no record of this run has amt (int): {refuses} a missing",
        ),
        (FROZEN, '{"id": 1}', ""),
        (
            FROZEN,
            '{"id": 1, "amt": 2.5}',
            "amt was int and is double, in {place}: {refuses} a value that",
        ),
        ({}, '{"id": 1, "amt": 2.5}', ""),
        (FROZEN, '{"id": 1, "amt": null, "tip": null}', ""),
        (FROZEN, '{"items": [{"id": 1, "tip": 2}]}', ""),
    ],
)
def test_explain_says_what_new_files_have_otherwise_and_what_a_contract_refuses(
    coming, contract, line, wanted
):
    document, told = coming(contract, line)

    place, refuses = "s3://lake/in/2.json (1 row)", "the contract of the job refuses"
    wanted = wanted.format(place=place, refuses=refuses)
    changes = document["column_changes"]
    assert [text.startswith(f"source orders: {wanted}") for text in changes] == [True] * bool(
        wanted
    )
    assert (refuses in told) == (refuses in wanted)
    assert (wanted in told) == bool(wanted) or not wanted


def test_explain_says_what_was_refused_without_the_values_of_rows(coming):
    fits = REFUSED.replace("first in", "2 rows do not fit, such as {'tip': 'Jane'}")
    for message in (REFUSED, fits):
        document, told = coming(FROZEN, '{"id": 1}', state="FAILED", error_message=message)
        wanted = "a contract has refused the last run: the column tip (bigint) is new; the next run"
        assert document["refused"] == f"{wanted} meets the same"
        assert wanted in told

    document, _ = coming(FROZEN, '{"id": 1}', state="FAILED", error_message="ValueError: no")
    assert document["refused"] is None


def test_runs_of_nothing_new_do_not_make_known_columns_new(ran):
    ran("a", 1, id="int")
    for number in range(LOOK_BACK + 1):
        ran("b", 2 + number)
    ran("c", 100, id="int", tip="int")

    assert {path for _, _, _, path in changes("diff", "orders")} == {"tip"}


def test_a_job_without_columns_or_an_unknown_run_is_an_error_with_what_to_do(ran):
    ran("a", 1)
    assert "no run of orders has recorded columns" in tidemark("schema", "show", "orders").output
    ran("b", 2, id="int")

    result = tidemark("schema", "diff", "orders", "--from", "jr_zz")
    assert result.exit_code == 2
    assert "there is no run 'jr_zz' of job orders with columns" in result.output
    assert "there is no job 'nope'" in tidemark("schema", "history", "nope").output


JOB = "ingest-orders"


@pytest.fixture
def refused(home):
    """Return the watermarks of a job whose contract has evolved once, and refused once since."""
    put_run(home, JOB)
    with (
        dynamodb_endpoint(Home.from_environment()) as endpoint,
        dynamodb_client(endpoint, region()) as dynamodb,
    ):
        create_tables(dynamodb, [TABLE])
        admin = WatermarkAdmin(TABLE.name, dynamodb)
        for number, columns in enumerate(({"id": "int"}, {"id": "bigint", "tip": "double"}), 1):
            with admin.window(JOB, run_id=f"jr_{number}", cursor="id", high=number) as window:
                hold_schema(window, "s3://lake/out/", TargetSchema(columns))
        window = admin.open_window(JOB, run_id="jr_3", cursor="id", high=3)
        more = {"id": "bigint", "tip": "double", "more": "int"}
        new = "the column more (int) is new"
        note_refused(window, RefusedSchema("s3://lake/out/", more, changes=new))
        yield admin


def test_what_a_contract_keeps_and_has_refused_is_shown_beside_what_was_seen(refused, ran):
    shown = tidemark("schema", "show", JOB)
    assert shown.exit_code == 0, shown.output
    assert "kept for s3://lake/out/, version 2" in shown.stdout
    assert "refused: run jr_3 for s3://lake/out/: the column more (int) is new" in shown.stdout
    document = json.loads(tidemark("schema", "show", JOB, "--format", "json").stdout)
    (kept,) = document["kept"]
    columns = {"id": "bigint", "tip": "double"}
    assert (kept["version"], kept["targets"]["s3://lake/out/"]["columns"]) == (2, columns)
    assert kept["refused"]["run_id"] == "jr_3"

    told = tidemark("schema", "history", JOB)
    assert "tip is new (double); id was int and is bigint" in " ".join(told.stdout.split())
    (kept,) = json.loads(tidemark("schema", "history", JOB, "--format", "json").stdout)["kept"]
    versions = [(row["version"], row["kind"], row["run_id"]) for row in kept["versions"]]
    assert versions == [(2, "commit", "jr_2"), (1, "commit", "jr_1")]


def test_what_was_refused_is_accepted_with_who_and_why(refused):
    why = ("--reason", "more is welcome", "--actor", "ana")
    tried = tidemark("schema", "accept", JOB, *why, "--dry-run")
    assert "dry run, nothing was changed" in tried.stdout
    assert refused.refused(JOB) is not None

    done = tidemark("schema", "accept", JOB, *why, "--target", "s3://lake/out", "--format", "json")

    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["targets"]["s3://lake/out/"]["columns"]["more"] == "int"
    assert (document["version"], document["is_accepted"]) == (3, True)
    told = tidemark("schema", "history", JOB)
    assert "ana: more is welcome" in " ".join(told.stdout.split())
    assert "accept" in CliRunner().invoke(main, ["watermark", "history", JOB]).stdout
    assert "version 3, accepted" in tidemark("schema", "show", JOB).stdout
    again = tidemark("schema", "accept", JOB, *why)
    assert (again.exit_code, "has refused anything since its last commit" in again.output) == (
        2,
        True,
    )


def test_an_acceptance_names_what_it_is_of(refused):
    why = ("--reason", "why")
    other = tidemark("schema", "accept", JOB, *why, "--target", "table:db.other")
    assert "nothing of 'table:db.other' was refused last" in other.output
    assert tidemark("schema", "accept", JOB).exit_code == 2
    assert "there is no job 'nope'" in tidemark("schema", "accept", "nope", *why).output
    window = refused.open_window(JOB, run_id="jr_4", cursor="id", high=1, source="returns")
    new = RefusedSchema("s3://lake/r/", {"a": "int"}, changes="new", blocked="no type holds both")
    note_refused(window, new)
    blocked = tidemark("schema", "accept", JOB, *why, "--source", "returns")
    assert (blocked.exit_code, "no type holds both" in blocked.output) == (2, True)
