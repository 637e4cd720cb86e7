"""What runs leave in the table about themselves: read, written, code; and how it is read back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.libs.test_known_surface import original_reader
from watermarks import AmbiguousWatermarkError, WatermarkAdmin, Watermarks, run_notes
from watermarks.run_notes import (
    attribute,
    database,
    folder,
    note_read,
    note_written,
    size_of,
    table,
)


def commit(watermarks, job, run_id, high, source=""):
    window = watermarks.open_window(job, run_id=run_id, cursor="id", high=high, source=source)
    note_read(window, "jdbc:postgresql://h/d#orders")
    note_written(window, "s3://lake/orders/", "window")
    watermarks.commit_window(window)
    return window


@pytest.fixture(autouse=True)
def _no_notes(monkeypatch):
    monkeypatch.setattr(run_notes, "_notes", {})
    monkeypatch.setattr(run_notes, "_committed", {})


def test_a_record_has_what_a_run_moved_and_what_it_noted(watermarks, job):
    commit(watermarks, job, "jr_1", 10)
    window = commit(watermarks, job, "jr_2", 20)
    commit(watermarks, job, "jr_2", 30)

    second, first = watermarks.run_records(job)

    assert (first.before, first.before_version, first.watermarks) == (None, 0, {"id": 10})
    assert (second.before, second.before_version) == ({"id": 10}, 1)
    assert (second.watermarks, second.version) == ({"id": 30}, 3)
    assert [(one.low, one.high) for one in second.windows] == [(10, 20), (20, 30)]
    assert second.windows[0].window_id == window.window_id
    assert second.notes["read"] == ["jdbc:postgresql://h/d#orders"]
    assert second.notes["written"] == {"s3://lake/orders/": "window"}
    assert watermarks.run_records(job, "jr_2") == [second]
    assert watermarks.run_records(job, "jr_9") == []


def test_a_record_names_what_the_run_has_read_by_its_committed_windows(watermarks, job):
    run_notes.note_committed("s3://lake/raw/")
    watermarks.commit_window(watermarks.open_window(job, run_id="jr_1", cursor="id", high=1))

    records = watermarks.run_records(job, "jr_1")

    assert records[0].notes["committed"] == ["s3://lake/raw/"]


def test_each_source_of_a_run_has_a_record(watermarks, job):
    commit(watermarks, job, "jr_1", 10, "orders")
    commit(watermarks, job, "jr_1", 7, "items")

    found = watermarks.run_records(job, "jr_1")

    assert sorted((one.source, one.watermarks["id"]) for one in found) == [
        ("items", 7),
        ("orders", 10),
    ]
    assert sorted(found, key=str) == sorted(watermarks.run_records(job), key=str)


def test_many_windows_of_one_run_are_one_record(watermarks, job):
    for high in range(1, 8):
        commit(watermarks, job, "jr_1", high)

    (found,) = watermarks.run_records(job, "jr_1")

    assert [window.high for window in found.windows] == list(range(1, 8))
    assert (found.before, found.watermarks, found.version) == (None, {"id": 7}, 7)


def test_after_a_rewind_a_run_begins_with_what_the_rewind_made(watermarks, job):
    commit(watermarks, job, "jr_1", 10)
    commit(watermarks, job, "jr_2", 20)
    watermarks.rewind(job, to_run="jr_1", reason="bad day", actor="me")
    commit(watermarks, job, "jr_3", 20)

    newest = watermarks.run_records(job)[0]

    assert (newest.run_id, newest.before, newest.before_version) == ("jr_3", {"id": 10}, 3)


def test_a_job_without_watermarks_records_its_runs_by_one_write_each(watermarks, job, rows):
    for _ in range(2):
        watermarks.checkpoint(
            job, "jr_1", read=["s3://raw/a/"], written={"s3://lake/a/": "overwrite"}
        )

    (name,) = rows()
    (found,) = watermarks.run_records(job)

    assert name == "~CHECKPOINT#jr_1"
    assert (found.run_id, found.version, found.watermarks) == ("jr_1", 0, {})
    assert found.notes["read"] == ["s3://raw/a/"]
    assert found.notes["written"] == {"s3://lake/a/": "overwrite"}
    assert watermarks.run_records(job, "jr_1") == [found]


def test_checkpoints_are_no_watermarks_to_any_reader(watermarks, client, table_name, job):
    watermarks.checkpoint(job, "jr_1")
    assert watermarks.latest(job) is None
    assert list(watermarks.history(job)) == []
    assert watermarks.sources(job) == []

    watermarks.add_watermark(watermarks.create_watermark_item(job, "jr_2", high=1))
    watermarks.checkpoint(job, "jr_3")

    assert original_reader(client, table_name, job)["watermarks"] == {"high": 1}
    assert watermarks.get_most_recent_run_id(job) == "jr_2"
    assert watermarks.latest(job).watermarks == {"high": 1}
    watermarks.rename_job(job, f"{job}-new")
    assert {one.run_id for one in watermarks.run_records(f"{job}-new")} == {"jr_1", "jr_2", "jr_3"}


def test_rows_of_the_v1_class_stay_ambiguous_beside_a_checkpoint(
    watermarks, client, table_name, job
):
    for run_id in ("jr_1", "jr_2"):
        client.put_item(
            TableName=table_name,
            Item={"jobName": {"S": job}, "runId": {"S": run_id}, "watermarks": {"M": {}}},
        )
    watermarks.checkpoint(job, "jr_3")

    with pytest.raises(AmbiguousWatermarkError):
        watermarks.latest(job)
    assert [one.run_id for one in watermarks.run_records(job)] == ["jr_3"]


def test_a_checkpoint_that_has_expired_is_gone(client, table_name, job):
    early = Watermarks(table_name, client, now=lambda: datetime(2020, 1, 1, tzinfo=UTC))
    early.checkpoint(job, "jr_1")

    assert WatermarkAdmin(table_name, client).run_records(job) == []


@pytest.mark.parametrize(
    ("run_id", "written", "message"),
    [("", {}, "run_id is ''"), ("jr_1", {"s3://a/": "upsert"}, "'upsert': allowed are append")],
)
def test_what_cannot_be_recorded_is_refused(watermarks, job, run_id, written, message):
    with pytest.raises(ValueError, match=message):
        watermarks.checkpoint(job, run_id, written=written)


def test_a_row_stays_within_one_write_unit_whatever_was_noted(watermarks, job, rows):
    base = None
    for number in range(1, 4):
        window = watermarks.open_window(job, run_id="jr_1", cursor="id", high=number)
        for other in range(20):
            note_read(window, f"s3://some-bucket/a-rather-long-folder/{other}/")
            note_written(window, f"s3://another-bucket/ü/{number}/{other}/", "window")
        base = watermarks.commit_window(window)

    row = rows()["jr_1"]
    assert base.version == 3
    assert size_of({"M": row}) <= 1024


@pytest.mark.parametrize(
    ("room", "kept"),
    [
        (5000, {"read", "written", "code"}),
        (260, {"read", "written", "code", "cut"}),
        (170, {"read", "written", "cut"}),
        (80, {"written", "cut"}),
        (30, {"cut"}),
        (0, set()),
    ],
)
def test_what_has_no_room_is_left_out_least_important_first(monkeypatch, room, kept):
    code = {"script": "a" * 64, "libs": "b" * 64}
    monkeypatch.setattr(run_notes, "code_digests", lambda: code)
    monkeypatch.setattr(run_notes, "_ROW_BYTES", room + 15)  # beside its name and an empty row

    found = attribute("job", "jr_1", {}, {"s" * 90: None}, {"w": "append"})

    assert (json.loads(found["wmCheckpoint"]["S"]).keys() if found else set()) == kept


def test_notes_of_other_runs_are_forgotten_in_the_end(watermarks, job):
    for number in range(150):
        window = watermarks.open_window(f"{job}{number % 2}", run_id="x", cursor="id", high=1)
        object.__setattr__(window, "run_id", f"jr_{number}")
        note_read(window, "s3://a/")

    assert len(run_notes._notes) == 100


def test_datasets_are_named_as_the_toolkit_names_them():
    assert table("lake.`sales`.orders") == "table:sales.orders"
    assert folder("s3a://b/in") == "s3://b/in/"
    assert database({"URL": "jdbc:mysql://u:p@h/d?password=x"}, "t") == "jdbc:mysql://h/d#t"
    assert database({}, object()) == "#query"
