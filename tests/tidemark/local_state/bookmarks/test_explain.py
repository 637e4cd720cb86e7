"""Why a file is or was read or skipped, from the records of real sessions on real files."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_job.process import bookmark_session
from tidemark.glue_job.process.bookmark_session import files_to_read, start_session
from tidemark.local_state.bookmarks.explain import (
    OpenedSource,
    explain_file,
    explain_source,
    explain_table,
    sources_of_next_run,
    sources_of_run,
)
from tidemark.local_state.bookmarks.files import Limits
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.bookmarks.verdicts import Reason
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store

URI = "s3://landing/in/"
SOURCE = S3Source((URI,), "landing", "json")


class DaysFrom:
    """A predicate on the partition column day."""

    columns = frozenset({"day"})

    def __init__(self, first):
        self.first = first

    def select(self, partitions):
        return [values["day"] >= self.first for values in partitions]


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = Home.open(tmp_path / "home")
    (home.lake / "landing" / "in").mkdir(parents=True)
    monkeypatch.setenv("TIDEMARK_HOME", str(home.root))
    monkeypatch.setattr(bookmark_session, "_sessions", [])
    return home


@pytest.fixture
def put(home):
    def put(key, minutes_ago=60.0):
        path = home.lake / "landing" / "in" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(key, encoding="utf-8")
        at = time.time() - 60 * minutes_ago
        os.utime(path, (at, at))

    return put


def run(run_id, source=SOURCE, option="job-bookmark-enable", predicate=None, commits=True, **args):
    given = {"job_bookmark_option": option, "JOB_RUN_ID": run_id, **args}
    session = start_session("ingest", given)
    reading = files_to_read(source, predicate)
    if commits:
        session.commit()
    return [file.path.removeprefix(URI) for file in reading.files]


def verdicts(home, run_id=None, predicate=None, option=None):
    with Store(home.database) as store:
        if run_id:
            (opened,) = sources_of_run(store, "ingest", run_id)
        else:
            (opened,) = sources_of_next_run(store, "ingest", option)
    explained = explain_source(opened, home.existing_path, predicate)
    return {file.path.removeprefix(URI): (file.is_read, file.reason) for file in explained.files}


def verdict(home, key, run_id=None, predicate=None):
    with Store(home.database) as store:
        found = sources_of_run(store, "ingest", run_id) if run_id else None
        (opened,) = found or sources_of_next_run(store, "ingest", None)
    return explain_file(opened, f"{URI}{key}", home.existing_path, predicate)


def test_explanation_of_the_next_run_is_what_it_then_reads(home, put):
    put("old.json")
    put("recent.json", 5)
    run("jr_1")
    put("new.json", 0)
    put("late.json", 6)
    put("too_late.json", 90)

    explained = verdicts(home)

    assert explained == {
        "old.json": (False, Reason.OLDER),
        "too_late.json": (False, Reason.OLDER),
        "recent.json": (False, Reason.LISTED),
        "late.json": (True, Reason.NEW),
        "new.json": (True, Reason.NEW),
    }
    assert sorted(run("jr_2")) == ["late.json", "new.json"]


def test_explaining_writes_nothing(home, put):
    put("a.json")
    run("jr_1")
    put("b.json", 0)
    before = home.database.read_bytes()

    verdicts(home)

    assert home.database.read_bytes() == before
    assert run("jr_2") == ["b.json"]


def test_past_run_is_explained_as_it_was(home, put):
    put("a.json")
    run("jr_1")
    put("b.json", 0)
    run("jr_2")
    put("c.json", 0)

    assert verdicts(home, "jr_1") == {
        "a.json": (True, Reason.NEW),
        "b.json": (False, Reason.LATER),
        "c.json": (False, Reason.LATER),
    }
    assert verdicts(home, "jr_2") == {
        "a.json": (False, Reason.OLDER),
        "b.json": (True, Reason.NEW),
        "c.json": (False, Reason.LATER),
    }


def test_run_that_never_committed_is_explained_too_and_the_next_one_reads_the_same(home, put):
    put("a.json")
    run("jr_1", commits=False)

    assert verdicts(home, "jr_1") == verdicts(home) == {"a.json": (True, Reason.NEW)}


def test_bound_and_band_that_are_full_leave_files_to_the_next_run(home, put):
    for minutes, name in ((60, "a"), (50, "b"), (3, "c"), (2, "d")):
        put(name, minutes)
    bounded = replace(SOURCE, limits=Limits(bounded_files=1))
    run("jr_1", bounded)
    by_bound = verdicts(home, "jr_1")
    run("jr_2", replace(SOURCE, limits=Limits(max_files_in_band=1)))

    assert by_bound["a"] == (True, Reason.NEW)
    assert by_bound["b"] == (False, Reason.BOUND)
    assert verdicts(home, "jr_2") == {
        "a": (False, Reason.LISTED),
        "b": (True, Reason.NEW),
        "c": (True, Reason.NEW),
        "d": (False, Reason.BAND),
    }


def test_disabled_bookmark_and_missing_context_read_everything(home, put):
    put("a.json")
    run("jr_1")

    assert verdicts(home, option="job-bookmark-disable") == {"a.json": (True, Reason.MODE)}
    run("jr_2", replace(SOURCE, transformation_ctx=""))
    assert verdicts(home) == {"a.json": (True, Reason.MODE)}


def test_window_of_runs_leaves_what_came_after_it(home, put):
    put("a", 60)
    run("jr_1")
    put("b", 0)
    run("jr_2")
    put("c", 0)
    run("jr_3")

    window = {"job_bookmark_from": "jr_1", "job_bookmark_to": "jr_2"}
    read = run("jr_4", option="job-bookmark-pause", **window)

    assert read == ["b"]
    assert verdicts(home, "jr_4") == {
        "a": (False, Reason.OLDER),
        "b": (True, Reason.NEW),
        "c": (False, Reason.WINDOW),
    }


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("_SUCCESS", Reason.HIDDEN),
        ("day=1/.part.crc", Reason.HIDDEN),
        ("day=1_$folder$", Reason.HIDDEN),
        ("archive/a.json", Reason.NOT_RECURSED),
        ("day=1/a.tmp", Reason.EXCLUDED),
        ("day=1/a.json", Reason.PREDICATE),
        ("day=2/a.json", Reason.NEW),
        ("nowhere.json", Reason.MISSING),
    ],
)
def test_file_that_is_not_listed_has_its_reason(home, put, key, reason):
    source = replace(SOURCE, exclusions=("**.tmp",), push_down_predicate="day >= 2")
    if reason is not Reason.MISSING:
        put(key)
    put("day=2/b.json")
    run("jr_1", source, predicate=DaysFrom("2"), commits=False)

    found = verdict(home, key, predicate=DaysFrom("2"))

    assert (found.reason, found.is_read) == (reason, reason is Reason.NEW)
    assert found.text


def test_file_elsewhere_names_the_paths_of_the_source(home, put):
    put("a.json")
    run("jr_1")
    with Store(home.database) as store:
        (opened,) = sources_of_next_run(store, "ingest", None)

    found = explain_file(opened, "s3://landing/other/a.json", home.existing_path, None)

    assert found.reason is Reason.ELSEWHERE
    assert URI in found.text


def test_job_that_has_never_run_here_cannot_be_explained(home):
    with Store(home.database) as store:
        with pytest.raises(EntityNotFoundError, match="no run of job ingest has opened a source"):
            sources_of_next_run(store, "ingest", None)
        with pytest.raises(EntityNotFoundError, match="run 'jr_9' of job ingest has opened no"):
            sources_of_run(store, "ingest", "jr_9")


def test_table_is_explained_in_words():
    source = {
        "kind": "jdbc",
        "transformation_ctx": "orders",
        "table": "orders",
        "keys": ["id"],
        "order": "asc",
    }
    state = {"kind": "jdbc", "table": "orders", "keys": ["id"], "bound": [["long", "7"]]}
    opened = OpenedSource(source, "job-bookmark-enable", True, 0, state)

    assert explain_table(opened).rows == "rows of orders with id > 7"


@pytest.mark.rule(
    "transformation_ctx", source="BMS", choice="a ctx that changes its kind of source is refused"
)
def test_context_of_a_table_is_refused_for_files(home, put):
    put("a.json")
    session = start_session("ingest", {"job_bookmark_option": "job-bookmark-enable"})
    session.states["landing"] = {"kind": "jdbc", "bound": None}

    with pytest.raises(UsageError, match="was made by a source of kind 'jdbc'"):
        files_to_read(SOURCE)
