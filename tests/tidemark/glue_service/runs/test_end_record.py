"""What the end of a run adds to its checkpoint, and which runs have one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tidemark.glue_job.process.commit_record import code_of, open_arguments
from tidemark.glue_service.runs.end_record import (
    record_end,
    with_committed,
    with_known_rows,
    with_library,
    with_scans,
    with_snapshots,
)
from tidemark.glue_service.runs.row_counts import RowCounts
from tidemark.glue_service.runs.run_effects import LibraryRecords, RunEffects, read_effects
from tidemark.glue_service.runs.spark_datasets import Scan
from tidemark.local_state.observed_schemas import SchemasOfRun, note_schema, schemas_of_job
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.local_state.store.checkpoints import checkpoint_of_run, put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.checkpoint import (
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.model.checkpoints.schemas import Column, Schema

WRITTEN = DatasetWritten("s3://b/out/", "append", "", 3, 1)
MOVE = WatermarkMove("glue-watermarks", after={"id": "7"}, after_version=1)


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "runs" / "jr_1"
    folder.mkdir(parents=True)
    log = str(folder / "stderr.log")
    return JobRun("jr_1", "ingest", "wr_1", None, 0, "SUCCEEDED", 5, log, "none", 9)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "glue.sqlite") as store:
        yield store


def test_a_run_that_has_committed_gets_what_it_wrote_whatever_its_end(store, run):
    put_checkpoint(store, Checkpoint("ingest", "jr_1", 7, arguments={"--a": "1"}))

    record_end(store, replace(run, state="FAILED"), RunEffects(RowCounts(writes=(WRITTEN,))))

    found = checkpoint_of_run(store, "jr_1")
    assert found == Checkpoint("ingest", "jr_1", 7, written=(WRITTEN,), arguments={"--a": "1"})


def test_a_run_has_the_columns_that_its_process_noted_but_of_targets_that_got_no_row(
    store, run, monkeypatch, tmp_path
):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path / "runs/jr_1"))
    read = Schema("read", "s3://b/in/", "orders", "json", (Column("id", "int"),))
    written = replace(read, role="written", source="", dataset="s3://b/out/", partitions=("id",))
    for schema in (read, written, replace(written, dataset="s3://b/none/")):
        note_schema(schema)
    counts = RowCounts(writes=(WRITTEN, replace(WRITTEN, dataset="s3://b/none/", rows=0)))

    record_end(store, run, read_effects(store, run, counts))

    assert checkpoint_of_run(store, "jr_1").schemas == (read, written)
    assert schemas_of_job(store, "ingest") == [SchemasOfRun("jr_1", 9, (read, written))]


def test_a_run_has_the_snapshots_that_it_added_to_tables_of_iceberg():
    merge = DatasetWritten("table:d.t", "merge", "d.t")
    noted = [{"table": "d.t", "id": "1"}, {"table": "d.u", "id": "2"}, {"table": "d.t", "id": "3"}]

    found = with_snapshots([WRITTEN, merge], noted)

    assert found == (
        WRITTEN,
        replace(merge, snapshots=("1", "3")),
        DatasetWritten("table:d.u", "unknown", "d.u", snapshots=("2",)),
    )
    whole = Checkpoint("ingest", "jr_1", 7, written=found)
    assert Checkpoint.from_json(json.loads(json.dumps(whole.to_json()))) == whole


@pytest.mark.parametrize(("total", "mode"), [("9", "overwrite_partitions"), ("4", "overwrite")])
def test_an_overwrite_that_has_kept_rows_has_not_replaced_the_table(total, mode):
    write = DatasetWritten("table:d.t", "overwrite", "d.t")
    summary = {"total-records": total, "added-records": "4"}

    (found,) = with_snapshots([write], [{"table": "d.t", "id": "1", "summary": summary}])

    assert found.mode == mode


@pytest.mark.parametrize(
    ("state", "moves", "has_one"),
    [("SUCCEEDED", (), True), ("FAILED", (), False), ("FAILED", (MOVE,), True)],
)
def test_a_run_without_a_commit_has_one_if_it_succeeded_or_moved_a_watermark(
    store, run, state, moves, has_one
):
    facts = {"arguments": {"--a": "1"}, "code": {"script": "ab"}}

    record_end(
        store, replace(run, state=state), RunEffects(facts=facts, library=LibraryRecords(moves))
    )

    found = checkpoint_of_run(store, "jr_1")
    assert (found is not None) == has_one
    if found:
        assert (found.committed_at_ms, found.workflow_run_id, found.code) == (
            9,
            "wr_1",
            {"script": "ab"},
        )


def test_an_end_that_is_recorded_again_changes_nothing(store, run):
    effects = RunEffects(RowCounts(5, 3, (Scan("s3://b/in/x.json", "", 5, 1),), (WRITTEN,)))
    record_end(store, run, effects)
    before = checkpoint_of_run(store, "jr_1")

    record_end(store, run, effects)

    assert checkpoint_of_run(store, "jr_1") == before
    assert before.read == (DatasetRead("s3://b/in/x.json", files=1, rows=5),)


def test_files_that_a_script_broke_do_not_keep_a_run_from_its_end(store, run, tmp_path):
    (tmp_path / "runs/jr_1/tidemark-datasets.jsonl").write_text("no json\n", encoding="utf-8")

    effects = read_effects(store, run)
    record_end(store, run, effects)

    assert effects.problem.startswith("JSONDecodeError")
    (warning,) = store.query("SELECT text FROM run_warning")
    assert "not all of what the run has done is in its checkpoint" in warning["text"]


def test_what_others_than_spark_wrote_is_found(store, run, tmp_path):
    line = json.dumps({"written": {"dataset": "dynamodb:t", "mode": "merge", "rows": 2}})
    (tmp_path / "runs/jr_1/tidemark-datasets.jsonl").write_text(f"{line}\n", encoding="utf-8")

    assert read_effects(store, run).written == [DatasetWritten("dynamodb:t", "merge", rows=2)]


@pytest.mark.parametrize("strange", [{"snapshots": [{"id": "1"}]}, {"facts": []}])
def test_notes_of_another_form_are_a_warning_and_no_end_of_the_run(store, run, strange):
    record_end(
        store, replace(run, state="FAILED"), RunEffects(library=LibraryRecords((MOVE,)), **strange)
    )

    assert checkpoint_of_run(store, "jr_1").watermarks == (MOVE,)  # a rewind must know it
    (warning,) = store.query("SELECT text FROM run_warning")
    assert "not all of what the run has done is in its checkpoint" in warning["text"]


def test_a_folder_of_a_run_that_cannot_be_looked_at_keeps_no_run_from_its_end(store, run):
    nowhere = "x" * 300  # an error, as a folder is that nobody may read

    effects = read_effects(store, replace(run, log_path=f"{nowhere}/stderr.log"))

    assert effects.problem.startswith("OSError")


def test_a_run_that_was_never_started_has_nothing(store, run):
    assert read_effects(store, replace(run, log_path="/nowhere/jr_1/stderr.log")) == RunEffects()


def test_rows_of_scans_are_those_of_the_source_that_they_lie_in():
    reads = (
        DatasetRead("s3://b/in/", "a", files=2),
        DatasetRead("s3://b/in/late/", "b", files=1),
        DatasetRead("s3://b/empty/", "c", files=0),
        DatasetRead("jdbc:x#t", "d", rows=7),
    )
    scans = [
        Scan("s3://b/in/a.json", "", 4, 1),
        Scan("s3://b/in/late/x", "", 5, 1),
        Scan("s3://b/other/", "d.t", 6, 2),
    ]

    found = with_scans(reads, scans, 15)

    assert [read.rows for read in found] == [4, 5, 0, 7, 6]
    assert found[-1] == DatasetRead("s3://b/other/", table="d.t", files=2, rows=6)


def test_rows_of_two_sources_of_one_folder_are_not_known():
    reads = (DatasetRead("s3://b/in/", "a", files=2), DatasetRead("s3://b/in/", "b", files=2))

    found = with_scans(reads, [Scan("s3://b/in/x", "", 4, 1)], 4)

    assert [read.rows for read in found] == [None, None]


def test_rows_that_spark_names_no_place_of_are_those_of_the_only_source():
    read = DatasetRead("s3://b/in/", "a", files=2)

    assert with_scans((read,), [], 8) == (replace(read, rows=8),)
    assert with_scans((read, replace(read, dataset="s3://c/")), [], 8)[0].rows is None
    assert with_scans((read,), [], None)[0].rows is None


NEW, OLD = DatasetRead("s3://b/in/", files=2), DatasetRead("s3://b/in/", files=0, rows=0)
ITEMS = DatasetRead("dynamodb:orders", rows=2)
PUT = DatasetWritten("dynamodb:copies", "append", "", None, None)


@pytest.mark.parametrize(
    ("read", "written", "is_whole", "rows"),
    [
        ([OLD], [], False, (0, 0)),
        ([NEW], [], True, (0, 0)),
        ([NEW], [], False, (None, None)),
        ([], [], True, (None, None)),
        ([OLD], [PUT], False, (0, None)),
        ([ITEMS], [PUT], False, (2, None)),
        ([ITEMS, NEW], [], False, (None, None)),
    ],
)
def test_a_run_has_read_nothing_only_where_that_is_known(run, read, written, is_whole, rows):
    counted = replace(run, rows_read=0, rows_written=0)
    checkpoint = Checkpoint("ingest", "jr_1", 7, read=tuple(read), written=tuple(written))

    found = with_known_rows(counted, checkpoint, is_whole=is_whole)

    assert (found.rows_read, found.rows_written) == rows
    assert found.has_read_nothing is (rows == (0, 0))


def test_rows_that_spark_saw_stay_in_a_run(run):
    counted = replace(run, rows_read=0, rows_written=3)

    assert with_known_rows(counted, Checkpoint("ingest", "jr_1", 7), is_whole=False) == counted


def test_arguments_are_without_secrets_and_without_those_that_every_run_has():
    argv = ["--JOB_NAME", "x", "--JOB_RUN_ID", "jr_1", "--day", "1", "--db_password", "hidden"]
    argv += ["--url=jdbc:mysql://u:p@h/d", "--opt=--x"]

    assert open_arguments(argv) == {"--day": "1", "--opt": "--x"}


def test_code_is_that_of_the_script_and_of_the_zips(tmp_path):
    script, libs = tmp_path / "a.py", tmp_path / "libs.zip"
    script.write_bytes(b"1")
    libs.write_bytes(b"2")

    one = code_of(script, f"{tmp_path}:{libs}")
    libs.write_bytes(b"3")
    two = code_of(script, f"{tmp_path}:{libs}")

    assert one["script"] == two["script"]
    assert one["libs"] != two["libs"]
    assert code_of(tmp_path / "none.py", "") == {}


def test_the_library_says_how_it_wrote_and_spark_how_much():
    staged = "jdbc:postgresql://h/d#tidemark_0123456789abcdef0123456789abcdef_1"
    writes = (
        DatasetWritten("table:d.t", "overwrite", "d.t", 4, 1),
        DatasetWritten(staged, "append", "", 6),
        WRITTEN,
    )
    noted = (
        DatasetWritten("table:d.t", "merge"),
        DatasetWritten("jdbc:postgresql://h/d#sales.t", "merge"),
    )

    assert with_library(writes, noted) == (
        DatasetWritten("table:d.t", "merge", "d.t", 4, 1),
        WRITTEN,
        DatasetWritten("jdbc:postgresql://h/d#sales.t", "merge", rows=6),
    )


def test_a_scan_of_the_whole_folder_is_none_of_the_source_that_reads_new_files():
    read = DatasetRead("s3://b/in/", "a", files=8)
    scans = [Scan("s3://b/in/day=1/x.json", "", 60, 8), Scan("s3://b/in/", "", 99, 20)]

    found = with_scans((read,), scans, 159)

    assert found == (replace(read, rows=60), DatasetRead("s3://b/in/", files=20, rows=99))


def test_a_scan_of_a_database_is_of_the_source_with_its_table():
    reads = (DatasetRead("jdbc:derby:x#sales.t", "a"), DatasetRead("s3://b/", "b", rows=1))
    scans = [Scan("jdbc:#sales.t", "", 7, None), Scan("jdbc:#u", "", 2, None)]

    found = with_scans(reads, scans, 10)

    assert [(read.dataset, read.rows) for read in found] == [
        ("jdbc:derby:x#sales.t", 7),
        ("s3://b/", 1),
        ("jdbc:#u", 2),
    ]


def test_a_scan_of_several_places_has_read_each_of_them():
    read = DatasetRead("s3://b/in/", "a", files=9)
    of_source = Scan("s3://b/in/1", "", 4, 1, ("s3://b/in/2", "s3:#more"))
    of_script = Scan("s3://c/", "", 5, 2, ("s3://d/", "s3://b/in/3", "s3:#more"))

    found = with_scans((read,), [of_source, of_script], 9)

    assert found == (
        replace(read, rows=4),
        DatasetRead("s3://c/", files=2, rows=5),
        DatasetRead("s3://d/"),
        DatasetRead("s3:#more"),
    )


def test_a_query_is_that_of_the_source_that_reads_a_database_or_else_a_read_of_its_own():
    file = DatasetRead("s3://b/in/", "a", files=0, rows=0)
    table = DatasetRead("jdbc:postgresql://h/d#sales.t", "b")
    scans = [Scan("jdbc:#query", "", 7, None)]

    assert with_scans((file,), scans, 7) == (file, DatasetRead("jdbc:#query"))
    assert with_scans((file, table), scans, 7) == (file, table)


def test_a_read_is_of_committed_windows_if_the_library_says_so_and_spark_has_read_nothing_else():
    windows = Scan("s3://l/raw/", "", 7, 2, is_of_windows=True)
    reads = with_scans((), [windows], 7)

    assert [one.is_committed for one in with_committed(reads, [windows], {"s3://l/raw/": ""})] == [
        True
    ]
    assert reads == with_committed(reads, [windows], {})  # a pattern, or a list of its own
    beside = [windows, Scan("s3://l/raw/", "d.t", 9, 3)]
    both = with_scans((), beside, 16)
    assert not any(
        one.is_committed for one in with_committed(both, beside, {"s3://l/raw/": "read_committed"})
    )
