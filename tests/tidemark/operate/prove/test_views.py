"""What a job of a workflow sees of a state, and which second deaths that makes new."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.local_state.home import Home
from tidemark.local_state.operations import AwsRead, Operation, Recorder, record_operations
from tidemark.local_state.store.database import JobRun, Store
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.identity import Equality, Piece
from tidemark.operate.prove.states import State, States
from tidemark.operate.prove.views import readers_of, views_of

RAW, STAGED = "lake/raw/day=1/part-0.json", "lake/raw/day=1/part-1.json"
CURATED = "lake/curated/part-0.json"
PIECES = [
    Piece("lake/in/a.json", "1"),
    Piece(RAW, "2"),
    Piece(STAGED, "3"),
    Piece(CURATED, "4"),
    Piece("tags lake/raw/day=1/part-1.json", "5"),
    Piece("uncommitted", "lake/raw/_temporary"),
    Piece("tables", "marks"),
    Piece("marks", "6"),
    Piece("bookmark ingest", "7"),
    Piece("bookmark curate", "8"),
    Piece("catalog_table", "9"),
]


@pytest.fixture
def workflow(tmp_path) -> Baseline:
    """Return a run of two jobs: the second one reads an object of the first."""
    home = Home(tmp_path)
    operations = [
        Operation(1, "jr_1", "put", (f"s3://{RAW}",)),
        Operation(2, "jr_1", "put", ("s3://lake/raw/_temporary/0/part-1.json",)),
        Operation(3, "jr_1", "request", ("dynamodb PutItem marks",)),
        Operation(4, "jr_2", "put", (f"s3://{CURATED}",)),
    ]
    jobs = {"jr_1": "ingest", "jr_2": "curate"}
    outcome = Outcome(Experiment("again", "well"), home)
    return Baseline(home, outcome, operations, (), jobs, [("jr_2", f"s3://{RAW}")])


def test_a_job_sees_what_it_writes_opens_and_uses_and_what_no_other_job_writes(workflow):
    views = views_of(workflow, workflow)

    of_ingest = [piece for piece in PIECES if piece.name not in (CURATED, "bookmark curate")]
    assert views["ingest"].seen(PIECES) == of_ingest
    of_curate = {"lake/in/a.json", RAW, CURATED, "tables", "bookmark curate", "catalog_table"}
    assert {piece.name for piece in views["curate"].seen(PIECES)} == of_curate


@pytest.mark.parametrize(
    "request_",
    ["ssm GetParameter mark", "s3 GetObjectTagging lake/raw/a", "dynamodb ExecuteStatement"],
)
def test_a_job_that_asks_for_something_else_sees_everything(workflow, request_):
    asks = AwsRead(1, "jr_2", request_, 0)
    workflow = replace(
        workflow, requests=[asks, replace(asks, run_id="jr_1", place="s3 GetObject a")]
    )

    assert views_of(workflow, workflow).keys() == {"ingest"}


def test_a_job_sees_what_its_script_lists(workflow):
    home = workflow.outcome.home
    record_operations(home)
    Recorder(home, "jr_2").note_listed("s3://lake/raw/", is_deep=True, by_script=True)
    Recorder(home, "jr_2").note_listed("s3://lake/", is_deep=True)  # by Spark, which opens it, too

    seen = views_of(workflow, workflow)["curate"].seen(PIECES)

    assert STAGED in {piece.name for piece in seen}


def test_a_run_of_one_job_leaves_out_what_the_others_of_the_workflow_write(workflow):
    resumed = replace(workflow, operations=workflow.operations[3:], opened=())

    seen = views_of(resumed, workflow)["curate"].seen(PIECES)

    assert RAW not in {piece.name for piece in seen}


@pytest.mark.parametrize(
    "opened", ["dynamodb:other, marks", "dynamodb:arn:aws:dynamodb:x:1:table/marks"]
)
def test_a_job_sees_each_table_of_a_request(workflow, opened):
    workflow = replace(workflow, opened=[("jr_2", opened)])

    seen = views_of(workflow, workflow)["curate"].seen(PIECES)

    assert "marks" in {piece.name for piece in seen}


def test_a_job_sees_what_it_writes_below_a_folder_of_another_job(workflow):
    tries = Operation(5, "jr_2", "put", ("s3://lake/raw/tries/1",))
    workflow = replace(workflow, operations=[*workflow.operations, tries])
    own = Piece("lake/raw/tries/2", "a dead run has left it")

    assert views_of(workflow, workflow)["curate"].seen([own]) == [own]


def test_a_second_death_is_no_new_state_if_its_job_repairs_what_it_sees(tmp_path):
    states = States(Contents(Home.open(tmp_path), (), 0), Equality(0))
    first, second = State("1", "1", "curate a"), State("2", "2", "curate a")
    crash = Experiment("crash", "crash", 1)

    def tried(state: State, deaths: int) -> bool:
        return bool(states.new([replace(crash, deaths=deaths)], {1: state}))

    assert tried(first, 1)
    assert tried(second, 2)  # other jobs may go by what differs
    states.repaired.add("curate a")
    assert not tried(State("3", "3", "curate a"), 2)
    assert tried(State("4", "4", "curate a"), 1)


def test_what_was_written_after_the_last_run_of_a_reader_counts(workflow, tmp_path):
    home, old = Home.open(tmp_path / "home"), Path("lake/raw/day=1/part-0.json")
    (home.lake / old).parent.mkdir(parents=True)
    (home.lake / old).write_text("{}")
    with Store(home.database) as store:
        began_ms = int((home.lake / old).stat().st_mtime * 1000) + 1000
        store.put_job_run(JobRun("jr_1", "curate", None, None, 0, "SUCCEEDED", began_ms, "", ""))
    contents = Contents(home, (), 0)
    contents.readers = readers_of(workflow)
    assert contents.readers["lake/raw/"] == {"curate"}
    read = contents.of(home)

    os.utime(home.lake / old, (began_ms / 1000 + 1,) * 2)

    anew = Piece(old.as_posix(), "written after runs of curate")
    assert anew in contents.of(home)
    assert anew not in read
    views = views_of(workflow, workflow)
    assert [name for name, view in views.items() if view.seen([anew])] == ["curate"]
