"""Carrying a local bookmark over to another job name or transformation_ctx."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tidemark.local_state.bookmarks.conftest import URI, Clock, Glue
from tidemark.errors import BookmarkVersionMismatchError, TidemarkError
from tidemark.glue_job.process import bookmark_session
from tidemark.local_state.bookmarks.carry_bookmarks import carry_bookmark, forget_ctx, rename_ctx
from tidemark.local_state.bookmarks.versions import (
    bookmark_versions,
    delete_bookmark,
    latest_bookmark,
    rewind_bookmark,
)
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store


def carry(glue, old="ingest", new="load"):
    with Store(glue.home.database) as store:
        return carry_bookmark(store, old, new)


def rename(glue, ctx="weather", to="rain"):
    with Store(glue.home.database) as store:
        return rename_ctx(store, "ingest", ctx, to, glue.clock.now_ms)


def forget(glue, *places):
    with Store(glue.home.database) as store:
        return forget_ctx(store, "ingest", "weather", places, (), glue.clock.now_ms)


def test_renamed_job_reads_only_what_is_new(glue):
    glue.land("a")
    glue.run("jr_1")
    glue.land("b")

    assert carry(glue) == "carried over up to version 1"

    assert glue.run("jr_2", job="load") == ["b"]
    assert glue.bookmark("load").version == 2


def test_renamed_job_can_be_rewound_to_runs_of_its_old_name(glue):
    for name in ("a", "b"):
        glue.land(name)
        glue.run(f"jr_{name}")
    carry(glue)

    with Store(glue.home.database) as store:
        rewind_bookmark(store, "load", "jr_a", glue.clock.now_ms)

    assert glue.run("jr_3", job="load") == ["b"]


def test_carrying_a_bookmark_again_changes_nothing(glue):
    glue.land("a")
    glue.run("jr_1")
    carry(glue)
    glue.land("b")
    glue.run("jr_2", job="load")
    before = glue.bookmark("load")

    assert carry(glue) == "done before"
    assert glue.bookmark("load") == before
    with Store(glue.home.database) as store:
        delete_bookmark(store, "ingest")
    assert carry(glue) == "nothing to do: the old name has no bookmark"
    assert glue.bookmark("load") == before


def test_what_the_old_name_read_meanwhile_is_carried_by_doing_it_again(glue):
    glue.land("a")
    glue.run("jr_1")
    carry(glue)
    glue.land("b")
    glue.run("jr_2")

    carry(glue)

    assert glue.run("jr_3", job="load") == []


def test_bookmark_of_the_new_name_is_never_replaced(glue):
    glue.land("a")
    glue.run("jr_1")
    glue.run("jr_2", job="load")
    before = glue.bookmark("load")

    with pytest.raises(TidemarkError, match="load has its own bookmark, version 1"):
        carry(glue)

    assert glue.bookmark("load") == before


def test_renamed_ctx_reads_only_what_is_new(glue):
    glue.land("a")
    glue.run("jr_1", ctxs=["weather", "other"])
    glue.land("b")

    assert rename(glue) == "carried over as version 2"

    assert glue.bookmark().kind == "carry-over"
    assert sorted(glue.bookmark().states) == ["other", "rain"]
    assert glue.run("jr_2", ctxs=["rain", "other"]) == ["b", "b"]


def test_renaming_a_ctx_again_changes_nothing(glue):
    glue.land("a")
    glue.run("jr_1")
    rename(glue)
    glue.run("jr_2", ctxs=["rain"])

    assert rename(glue) == "nothing to do: the old ctx has no position"
    assert glue.bookmark().version == 3


def test_position_of_the_new_ctx_is_never_replaced(glue):
    glue.land("a")
    glue.run("jr_1", ctxs=["weather", "rain"])

    with pytest.raises(TidemarkError, match="rain of job ingest has its own position"):
        rename(glue)

    assert glue.bookmark().version == 1


def test_run_that_is_going_on_meanwhile_fails_at_its_commit(glue):
    glue.land("a")
    glue.run("jr_1")
    script = glue.start("jr_2")
    script.read()
    rename(glue)

    with pytest.raises(BookmarkVersionMismatchError):
        script.session.commit()

    assert sorted(glue.bookmark().states) == ["rain"]


def test_rename_of_a_ctx_can_be_undone_by_a_rewind(glue):
    glue.land("a")
    glue.run("jr_1")
    rename(glue)

    glue.change(rewind_bookmark, "jr_1")

    assert sorted(glue.bookmark().states) == ["weather"]


def test_position_at_another_place_is_forgotten_once(glue):
    glue.land("a")
    glue.run("jr_1", ctxs=["weather", "other"])

    assert forget(glue, "s3://landing/new/") == "forgotten as version 2"
    assert sorted(glue.bookmark().states) == ["other"]
    assert glue.run("jr_2", ctxs=["weather", "other"]) == ["a"]
    assert forget(glue, URI) == "nothing to do: its position is that of its new place"
    assert glue.bookmark().version == 3


def test_job_that_never_ran_has_nothing_to_carry(glue):
    assert carry(glue).startswith("nothing to do")
    assert rename(glue).startswith("nothing to do")
    assert forget(glue, URI).startswith("nothing to do")
    assert glue.bookmark("load") is None


class ProcessKilled(BaseException):
    """Ends a carry-over between two of its statements, as kill -9 does."""


@pytest.mark.parametrize("statements", range(6))
def test_carry_over_that_dies_anywhere_has_done_all_or_nothing(glue, monkeypatch, statements):
    glue.land("a")
    glue.run("jr_1")
    glue.run("jr_2")
    left = [statements]
    query = Store.query

    def die(self, statement, values=()):
        if left[0] == 0:
            raise ProcessKilled
        left[0] -= 1
        return query(self, statement, values)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "query", die)
        with suppress(ProcessKilled):
            carry(glue)

    with Store(glue.home.database) as store:
        assert len(bookmark_versions(store, "load")) in (0, 2)
    carry(glue)
    assert glue.run("jr_3", job="load") == []


STEPS = st.lists(st.sampled_from(["land", "run", "die", "job", "ctx"]), max_size=12)


@pytest.mark.nightly
@given(steps=STEPS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_file_is_read_once_whatever_is_renamed_between_runs(
    tmp_path_factory, monkeypatch, steps
):
    home = Home.open(tmp_path_factory.mktemp("home"))
    monkeypatch.setenv("TIDEMARK_HOME", str(home.root))
    monkeypatch.setattr(bookmark_session, "_sessions", [])
    clock = Clock()
    monkeypatch.setattr(bookmark_session, "now_ms", lambda: clock.now_ms)
    (home.lake / "landing").mkdir()
    glue = Glue(home, clock)
    job, ctx, read = "job-0", "ctx-0", []
    for number, step in enumerate([*steps, "land", "run"], start=1):
        if step == "land":
            glue.land(f"file-{number}")
        elif step == "run":
            read += glue.run(f"jr_{number}", job=job, ctxs=[ctx])
        elif step == "die":
            glue.run(f"jr_{number}", job=job, ctxs=[ctx], commits=False, state="FAILED")
        elif step == "job":
            carry(glue, job, f"job-{number}")
            job = f"job-{number}"
        else:
            with Store(home.database) as store:
                rename_ctx(store, job, ctx, f"ctx-{number}", clock.now_ms)
            ctx = f"ctx-{number}"

    assert sorted(read) == sorted(glue.made)
    with Store(home.database) as store:
        assert sorted(latest_bookmark(store, job).states) == [ctx]
