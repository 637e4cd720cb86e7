"""What the plan says of files is what the next run finds, whatever became of them since."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.local_state.bookmarks.conftest import (
    URI,
    glue,  # noqa: F401 (a fixture)
    home,  # noqa: F401 (a fixture)
)
from tests.tidemark.operate.rewind.model import past_run
from tidemark.local_state.bookmarks.versions import rewind_bookmark
from tidemark.local_state.store.checkpoints import stored_checkpoints
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import DatasetWritten
from tidemark.operate.rewind.cut import RewindTo
from tidemark.operate.rewind.facts import RewindFacts
from tidemark.operate.rewind.home_rewinds import bookmark_track
from tidemark.operate.rewind.planner import plan_rewind
from tidemark.operate.rewind.sources_now import with_current_sources


@pytest.fixture
def ran(glue):  # noqa: F811 (a fixture)
    """Return a job that has read two files in each of two runs, an hour apart."""
    for number in (1, 2):
        glue.land(f"a{number}", f"b{number}")
        glue.run(f"jr_{number}")
        glue.clock.now_ms += 3_600_000
    return glue


def plan_of(ran, mode):
    with Store(ran.home.database) as store:
        written = (DatasetWritten("s3://raw/", mode),)
        checkpoints = [replace(one, written=written) for one in stored_checkpoints(store)]
        runs = [past_run(one.run_id, "ingest", one.committed_at_ms) for one in checkpoints]
        facts = RewindFacts(
            ["ingest"],
            [],
            [bookmark_track(store, "ingest")],
            checkpoints,
            runs,
            now_ms=ran.clock.now_ms,
        )
        plan = plan_rewind(facts, ["ingest"], RewindTo("jr_1", "jr_1"), clears=True)
        return with_current_sources(ran.home, store, plan)


def read_of(ran):
    return plan_of(ran, "append").jobs[0].reads_again[0]


def deleted(ran):
    (ran.home.lake / "landing/weather/a2").unlink()


def replaced(ran):
    ran.land("a2")


def came_late(ran):
    ran.land("c2", minutes_ago=90)


def late_for_one_that_is_gone(ran):
    came_late(ran)
    deleted(ran)


def test_files_that_are_as_they_were_are_read_again(ran):
    read = read_of(ran)
    ran.change(rewind_bookmark, "jr_1")

    assert (read.files, read.why) == (2, "")
    assert ran.run("jr_3") == ["a2", "b2"]


@pytest.mark.parametrize(
    ("change", "there"),
    [(deleted, 1), (replaced, 1), (came_late, 3), (late_for_one_that_is_gone, 2)],
)
def test_files_that_are_not_as_they_were_make_the_numbers_about(ran, change, there):
    change(ran)

    read = read_of(ran)

    assert read.files == 2
    assert f": {there} file" in read.why


@pytest.mark.parametrize(
    ("mode", "verdict"),
    [
        ("append", "unknown"),
        ("overwrite_partitions", "unknown"),
        ("merge", "right"),
    ],
)
def test_rows_of_a_file_that_is_gone_do_not_come_back_where_they_are_deleted_first(
    ran, mode, verdict
):
    before = plan_of(ran, mode)
    deleted(ran)
    after = plan_of(ran, mode)

    assert [effect.verdict for effect in before.jobs[0].effects] == ["right"]
    assert [effect.verdict for effect in after.jobs[0].effects] == [verdict]
    assert after.is_right == (verdict == "right")
    said = f"2 files of {URI} once read, 1 unchanged"
    assert any(said in text for text in after.unknown) == (verdict != "right")


def test_a_bucket_that_is_gone_has_none_of_them(ran):
    (ran.home.lake / "landing").rename(ran.home.root / "elsewhere")

    assert ": 0 files, 0 bytes, " in read_of(ran).why
