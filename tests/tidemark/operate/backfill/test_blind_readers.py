"""Which jobs downstream of a backfill do not see what it loads, by their checkpoints."""

from __future__ import annotations

import pytest

from tidemark.model.checkpoints.checkpoint import (
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.operate.backfill.plan import blind_readers, plan
from tidemark.operate.backfill.ranges import Span, Unit

FILES = {"kind": "files", "until_ms": 1}
KEYS = {"kind": "keys", "values": {"id": 9}}
RAW, CLEAN, MART = (f"s3://lake/{name}/" for name in ("raw", "clean", "mart"))
FILLS = {"--backfill_from": "1", "--backfill_to": "2"}


def run(job, read, written, after=None, at=1, **members):
    reads = (DatasetRead(read, after=after),)
    writes = (DatasetWritten(written, "append"),)
    return Checkpoint(job, f"jr_{job}_{at}", at, read=reads, written=writes, **members)


def blind(*checkpoints, jobs=("ingest", "clean", "mart")):
    return [(it.reader, it.read.dataset) for it in blind_readers("ingest", jobs, checkpoints)]


INGEST = run("ingest", "s3://landing/in/", RAW, FILES)


@pytest.mark.parametrize(("after", "found"), [(KEYS, [("clean", RAW)]), (FILES, []), (None, [])])
def test_a_job_that_reads_by_a_key_is_blind(after, found):
    assert blind(INGEST, run("clean", RAW, CLEAN, after)) == found


def test_a_job_with_a_watermark_is_blind_for_what_no_bookmark_keeps():
    moved = (WatermarkMove("marks", after={"id": "9"}),)

    assert blind(INGEST, run("clean", RAW, CLEAN, watermarks=moved)) == [("clean", RAW)]
    assert blind(INGEST, run("clean", RAW, CLEAN, FILES, watermarks=moved)) == []


def test_who_sees_the_rows_passes_them_on_to_one_who_does_not():
    last = run("mart", CLEAN, MART, KEYS)

    assert blind(INGEST, run("clean", RAW, CLEAN, FILES), last) == [("mart", CLEAN)]
    assert blind(INGEST, run("clean", RAW, CLEAN, KEYS), last) == [("clean", RAW)]


def test_jobs_that_read_each_other_in_a_circle_end_and_the_filled_one_is_not_told():
    circle = run("ingest", CLEAN, RAW, KEYS)

    assert blind(circle, run("clean", RAW, CLEAN, FILES)) == []


def test_the_last_incremental_run_of_a_job_that_is_still_there_counts():
    by_key = run("clean", RAW, CLEAN, KEYS)
    filled = run("clean", RAW, CLEAN, None, at=2, arguments=FILLS)

    assert blind(filled, by_key, INGEST) == [("clean", RAW)]
    assert blind(run("clean", RAW, CLEAN, FILES, at=3), by_key, INGEST) == []
    assert blind(by_key, INGEST, jobs=("ingest",)) == []


def test_the_plan_tells_it_once_and_not_where_nothing_is_run():
    two = blind_readers("ingest", ("ingest", "clean"), [INGEST, run("clean", RAW, CLEAN, KEYS)])

    (told,) = plan("ingest", Unit.NUMBER, Span(1, 4), 1, [], blind=[*two, *two]).warnings
    assert told.startswith(f"clean reads {RAW} by a key and sees no row before its position")
    nothing = plan("ingest", Unit.NUMBER, Span(1, 4), 1, [], blind=two, only_missing=True)
    assert nothing.warnings == ()
