"""A rewind takes tables of Iceberg back with everything else, or not at all."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.catalog.table_metadata import put_metadata, table_of
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.records import RewindCause, Steps, TableStep, open_rewind
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetWritten
from tidemark.operate.rewind.carry_out import CarryOut
from tidemark.operate.rewind.clear import snapshots_to_clear
from tidemark.operate.rewind.facts import RewindFacts
from tidemark.operate.rewind.home_rewinds import table_step
from tidemark.operate.rewind.plan import Clear
from tidemark.operate.rewind.undoing import undo

OLD, NEW = (f"s3://lake/t/metadata/0000{number}-x.metadata.json" for number in (1, 2))
STEP = TableStep("db.t", OLD, NEW, "1")
ASKED = RewindCause("ada", "a bad day", 7)


def no_table(_):
    raise AssertionError("no watermark moves")


@pytest.fixture
def work(tmp_path):
    home = Home.open(tmp_path / "home")
    file = home.lake / "lake" / "t" / "metadata" / Path(OLD).name
    file.parent.mkdir(parents=True)
    snapshots = [{"snapshot-id": 1}, {"snapshot-id": 2, "parent-snapshot-id": 1}]
    metadata = {
        "snapshots": snapshots,
        "current-snapshot-id": 2,
        "last-updated-ms": 2,
        "table-uuid": "u",
    }
    file.write_text(json.dumps(metadata))
    parameters = {"table_type": "ICEBERG", "metadata_location": OLD, "mine": "kept"}
    with Store(home.database) as store:
        put_tables(store, [CatalogTable("db", "t", {"Name": "t", "Parameters": parameters})])
        yield CarryOut(home, store, no_table)


def place(work):
    return table_of(work.store, "db.t").parameters["metadata_location"]


def stopped(work, step):
    """Carry a rewind out up to a step; return its record."""

    def stop(name):
        if name.startswith(step):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CarryOut(work.home, work.store, no_table, stop).do(Steps(tables=(STEP,)), ASKED, "x")
    return open_rewind(work.store)


def test_a_table_goes_back_and_comes_again(work):
    work.do(Steps(tables=(STEP,)), ASKED, "x")

    assert place(work) == NEW
    parameters = table_of(work.store, "db.t").parameters
    assert (parameters["previous_metadata_location"], parameters["mine"]) == (OLD, "kept")
    assert json.loads(work.home.local_path(NEW).read_text())["current-snapshot-id"] == 1

    undo(work, None, ASKED)

    assert place(work) == OLD


@pytest.mark.parametrize("step", ["table", "bookmarks"])
def test_an_interrupted_rewind_of_a_table_is_finished(work, step):
    record = stopped(work, step)
    assert place(work) == OLD

    work.finish(record, 8)

    assert place(work) == NEW


@pytest.mark.parametrize("step", ["table", "bookmarks", "unmark"])
def test_a_killed_rewind_of_a_table_is_finished_by_the_next_process(work, step):
    def die(name):
        if name.startswith(step):
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        with Store(work.home.database) as store:
            CarryOut(work.home, store, no_table, die).do(Steps(tables=(STEP,)), ASKED, "x")
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL

    if record := open_rewind(work.store):
        work.finish(record, 8)

    assert place(work) == NEW
    undo(work, None, ASKED)
    assert place(work) == OLD


@pytest.mark.parametrize("step", ["table", "bookmarks"])
def test_an_interrupted_rewind_of_a_table_is_taken_back(work, step):
    stopped(work, step)

    undo(work, None, ASKED)

    assert place(work) == OLD
    assert not work.home.local_path(NEW).exists()


def test_a_table_that_another_writer_has_changed_stays_with_everything_else(work):
    record = stopped(work, "bookmarks")
    assert put_metadata(work.store, "db.t", OLD, "s3://lake/t/metadata/other.json")

    with pytest.raises(UsageError, match=r"another writer has changed db\.t"):
        work.finish(record, 8)

    assert place(work) == "s3://lake/t/metadata/other.json"
    assert open_rewind(work.store) is None


CLEAR = Clear("j", "table:db.t", "append", ("jr_1", "jr_2"))


def facts_of(*snapshots):
    written = [DatasetWritten("table:db.t", "append", snapshots=one) for one in snapshots]
    checkpoints = [
        Checkpoint("j", f"jr_{number}", number, written=(one,))
        for number, one in enumerate(written, 1)
    ]
    return RewindFacts(["j"], (), (), checkpoints)


def test_the_snapshots_to_clear_are_those_that_the_undone_runs_have_made():
    facts = facts_of(("11",), ("12", "13"), ("14",))

    assert sorted(snapshots_to_clear(facts, CLEAR)) == ["11", "12", "13"]


def test_a_run_whose_snapshots_nobody_knows_is_not_cleared():
    with pytest.raises(UsageError, match="which snapshots run jr_2 made is not known"):
        snapshots_to_clear(facts_of(("11",), ()), CLEAR)


def test_two_jobs_of_one_table_are_taken_back_by_one_step(work):
    facts = RewindFacts(
        ["a", "b"],
        (),
        (),
        [
            Checkpoint(job, "jr_1", 1, written=(DatasetWritten("table:db.t", snapshots=(made,)),))
            for job, made in (("a", "1"), ("b", "2"))
        ],
    )
    clears = [Clear(job, "table:db.t", "append", ("jr_1",)) for job in ("a", "b")]

    step = table_step(work.home, facts, clears)

    assert (step.table, step.expected, step.snapshot) == ("db.t", OLD, "")
