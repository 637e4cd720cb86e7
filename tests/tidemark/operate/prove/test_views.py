"""What a job of a workflow sees of a state, and which second deaths that leaves out."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tidemark.local_state.home import Home
from tidemark.local_state.operations import Recorder, record_operations
from tidemark.local_state.store.database import JobRun, Store
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.identity import Equality, Piece
from tidemark.operate.prove.states import State, States
from tidemark.operate.prove.views import Views

RAW, STAGED = "lake/raw/day=1/part-0.json", "lake/raw/day=1/part-1.json"
CURATED = "lake/curated/part-0.json"
PIECES = [
    Piece("lake/in/a.json", "1"),
    Piece(RAW, "2"),
    Piece(STAGED, "3"),
    Piece(CURATED, "4"),
    Piece(f"tags {STAGED}", "5"),
    Piece("uncommitted", "lake/raw/_temporary"),
    Piece("tables", "marks"),
    Piece("marks", "6"),
    Piece("bookmark ingest", "7"),
    Piece("bookmark curate", "8"),
    Piece("catalog_table", "9"),
]
JOBS = {"jr_1": "ingest", "jr_2": "curate"}


class Workflow:
    """The runs of two jobs in a home: the second one reads an object of the first."""

    def __init__(self, home: Home) -> None:
        self.home = home
        with Store(home.database) as store:
            for run_id, job in JOBS.items():
                store.put_job_run(JobRun(run_id, job, None, None, 0, "SUCCEEDED", 7, "", ""))
        record_operations(home)

    def put(self, run_id: str, path: str) -> None:
        file = self.home.lake / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
        Recorder(self.home, run_id).record("put", (f"s3://{path}",))

    def ask(self, run_id: str, request: str) -> None:
        Recorder(self.home, run_id).note_request(request, (), False)

    def open(self, run_id: str, uri: str) -> None:
        Recorder(self.home, run_id).note_opened(uri)

    def list(self, run_id: str, prefix: str, *, by_script: bool = True) -> None:
        Recorder(self.home, run_id).note_listed(prefix, is_deep=True, by_script=by_script)

    def views(self) -> Views:
        views = Views()
        views.note(self.home)
        views.usual = {"curate": {"lake/in/", "lake/raw/"}}
        return views

    def seen(self, job: str) -> set[str]:
        view = self.views().of_job(job)
        assert view is not None
        return {piece.name for piece in view.seen(PIECES)}


@pytest.fixture
def workflow(tmp_path) -> Workflow:
    made = Workflow(Home.open(tmp_path / "home"))
    made.put("jr_1", RAW)
    made.put("jr_1", "lake/raw/_temporary/0/part-1.json")
    Recorder(made.home, "jr_1").record("request", ("dynamodb PutItem marks",))
    made.open("jr_2", f"s3://{RAW}")
    made.put("jr_2", CURATED)
    return made


def test_a_job_sees_what_it_writes_opens_and_uses_and_what_no_other_job_writes(workflow):
    of_ingest = {piece.name for piece in PIECES} - {CURATED, "bookmark curate"}

    assert workflow.seen("ingest") == of_ingest
    of_curate = {"lake/in/a.json", RAW, CURATED, "tables", "bookmark curate", "catalog_table"}
    assert workflow.seen("curate") == of_curate


@pytest.mark.parametrize(
    "request_",
    ["ssm GetParameter mark", "s3 GetObjectTagging lake/raw/a", "dynamodb ExecuteStatement"],
)
def test_a_job_that_asks_for_something_else_sees_everything(workflow, request_):
    workflow.ask("jr_1", "s3 GetObject a")
    workflow.ask("jr_2", request_)

    assert workflow.views().of_job("curate") is None
    assert workflow.views().of_job("ingest") is not None


def test_a_job_sees_what_its_script_lists(workflow):
    workflow.list("jr_2", "s3://lake/", by_script=False)  # by Spark, which opens what it reads
    assert STAGED not in workflow.seen("curate")

    workflow.list("jr_2", "s3://lake/raw/")

    assert STAGED in workflow.seen("curate")


def test_a_job_sees_what_is_in_a_folder_that_it_has_looked_for(workflow):
    workflow.open("jr_2", "s3://lake/raw/")

    assert STAGED in workflow.seen("curate")


def test_a_job_sees_all_of_a_folder_in_which_it_does_not_read_when_all_goes_well(workflow):
    workflow.put("jr_1", "lake/flags/redo")
    flag = Piece("lake/flags/other", "a run that repairs goes by it")
    view = workflow.views().of_job("curate")
    assert view is not None
    assert view.seen([flag]) == []

    workflow.open("jr_2", "s3://lake/flags/redo")

    view = workflow.views().of_job("curate")
    assert view is not None
    assert view.seen([flag]) == [flag]


def test_a_job_sees_what_it_writes_below_a_folder_of_another_job(workflow):
    workflow.put("jr_2", "lake/raw/tries/1")
    own = Piece("lake/raw/tries/2", "a dead run has left it")
    view = workflow.views().of_job("curate")

    assert view is not None
    assert view.seen([own]) == [own]


def states_of(home: Home, views: Views | None = None) -> States:
    return States(Contents(home, (), 0), Equality(0), views)


def test_a_second_death_is_no_new_state_if_its_job_repairs_what_it_sees(tmp_path):
    states = states_of(Home.open(tmp_path))
    crash = Experiment("crash", "crash", 1)

    def is_tried(name: str, deaths: int) -> bool:
        state = State(name, name, "curate a")
        return bool(states.new([replace(crash, deaths=deaths)], {1: state}))

    assert is_tried("1", 1)
    assert is_tried("2", 2)  # other jobs may go by what differs
    states.repaired = {"curate a"}
    assert not is_tried("3", 2)
    assert is_tried("4", 1)


def test_what_a_repair_looks_at_counts_in_the_states_that_were_repaired_before(workflow):
    views = workflow.views()
    workflow.put("jr_1", "lake/flags/redo")
    views.note(workflow.home)
    states = states_of(workflow.home, views)
    states.learn([], [(workflow.home, "curate")])
    (flag,) = (workflow.home.lake / "lake/flags").iterdir()
    seen = states.of(workflow.home, "curate").view
    assert states.repaired == {seen}

    workflow.open("jr_2", "s3://lake/flags/redo")
    states.learn([workflow.home], [])
    (with_flag,) = states.repaired
    flag.unlink()

    assert with_flag != seen
    assert states.of(workflow.home, "curate").view != with_flag


def test_what_was_written_after_the_last_run_of_a_reader_counts(workflow):
    readers = workflow.views().readers()
    assert readers["lake/raw/"] == {"curate"}
    file = workflow.home.lake / RAW
    os.utime(file, (0, 0))
    contents = Contents(workflow.home, (), 0, readers)
    anew = Piece(RAW, "written after runs of curate")
    assert anew not in contents.of(workflow.home)

    os.utime(file)

    assert anew in contents.of(workflow.home)
    views = {job: workflow.views().of_job(job) for job in JOBS.values()}
    assert [job for job, view in views.items() if view and view.seen([anew])] == ["curate"]


def test_what_dead_runs_have_staged_counts_once_a_script_lists_there(workflow):
    states = states_of(workflow.home, workflow.views())
    readers = workflow.views().readers()
    before = states.of(workflow.home).identity
    workflow.put("jr_1", "lake/raw/.spark-staging-1/day=1/part-0.parquet")
    anew = Contents(workflow.home, (), 0, readers).of(workflow.home)

    assert states.of(workflow.home).identity == before
    assert not [piece for piece in anew if ".spark-staging-1" in piece.name]

    workflow.list("jr_2", "s3://lake/raw/")
    states.learn([workflow.home], [])

    assert states.of(workflow.home).identity != before
