"""What a job of a workflow sees of a state, and which second deaths that makes new."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tidemark.local_state.home import Home
from tidemark.local_state.operations import AwsRead, Operation, Recorder, record_operations
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.identity import Equality, Piece
from tidemark.operate.prove.states import State, States
from tidemark.operate.prove.views import views_of

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


@pytest.mark.parametrize("request_", ["ssm GetParameter mark", "s3 GetObjectTagging lake/raw/a"])
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


def test_a_second_death_is_new_if_its_job_sees_another_state(tmp_path):
    states = States(Contents(Home.open(tmp_path), (), 0), Equality(0))
    first, second, other = (
        State("1", "1", "curate a"),
        State("2", "2", "curate a"),
        State("3", "3", "curate b"),
    )
    crash = Experiment("crash", "crash", 1)

    def tried(state: State, deaths: int) -> bool:
        return bool(states.new([replace(crash, deaths=deaths)], {1: state}))

    assert tried(first, 1)
    assert not tried(second, 2)
    assert tried(other, 2)
    assert tried(State("4", "4", "curate b"), 1)  # all may go by it, after one death
