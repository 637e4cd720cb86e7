"""From equal states the next runs do the same, so they are made once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.waiting import BOUND_S
from tidemark.local_state.home import Home
from tidemark.local_state.operations import PUT, Operation
from tidemark.model.messages import JVM_GONE
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.next_runs import Following, NextRuns
from tidemark.operate.versions.outcomes import RunOutcome
from tidemark.operate.versions.trial import Trial

JOBS = ("load", "curate", "publish")


@dataclass
class Runs:
    """A bench whose jobs append their names to the state of a home, a text."""

    base: Home
    failing: str = ""
    why: str | None = None
    made: list[tuple[str, str]] = field(default_factory=list)

    @property
    def subject(self):
        return self

    def only(self, job):
        return job

    def run(self, home: Home, start: str | None = None) -> Trial:
        job = start or "all"
        self.made.append((home.root.name, job))
        state(home).write_text(f"{state(home).read_text()} {job}")
        if job == self.failing:
            return trial(home, job, "FAILED", self.why)
        return trial(home, job)


def state(home: Home) -> Path:
    return home.root / "state"


@pytest.fixture
def bench(tmp_path) -> Runs:
    return Runs(Home.open(tmp_path / "base"))


def trial(home: Home, job: str, ended: str = "SUCCEEDED", why: str | None = None) -> Trial:
    return Trial(home, (RunOutcome(job, ended, why, None, None),), 0, 1)


@pytest.fixture
def home_of(tmp_path):
    def made(name: str, text: str) -> Home:
        home = Home.open(tmp_path / name)
        state(home).write_text(text)
        return home

    return made


@pytest.fixture
def next_runs() -> NextRuns:
    return NextRuns(lambda home: state(home).read_text())


def jobs_of(following: Following) -> list[str]:
    return [run.job for trial in following.trials for run in trial.runs]


def test_jobs_run_until_a_state_that_is_known(home_of, next_runs, bench):
    first = next_runs.follow(bench, home_of("first", "a"), JOBS)
    again = next_runs.follow(bench, home_of("again", "a"), JOBS)
    later = next_runs.follow(bench, home_of("later", "a load"), JOBS[1:])
    other = next_runs.follow(bench, home_of("other", "b"), JOBS)

    assert [run.made for run in (first, again, later, other)] == [3, 0, 0, 3]
    assert [run.home.root.name for run in (first, again, later, other)] == [
        *("first", "first", "first", "other")
    ]
    assert jobs_of(first) == jobs_of(again) == list(JOBS)
    assert jobs_of(later) == ["curate", "publish"]


def test_a_job_that_fails_is_the_last_one_and_known_as_such(home_of, next_runs, bench):
    bench.failing = "curate"
    first = next_runs.follow(bench, home_of("first", "a"), JOBS)
    again = next_runs.follow(bench, home_of("again", "a"), JOBS)

    assert jobs_of(first) == jobs_of(again) == ["load", "curate"]
    assert again.trials[-1].failure.startswith("curate")
    assert [job for _, job in bench.made] == ["load", "curate"]


def test_a_run_that_the_machine_has_ended_is_made_again(home_of, next_runs, bench):
    bench.failing, bench.why = "curate", JVM_GONE
    next_runs.follow(bench, home_of("first", "a"), JOBS)
    bench.failing = ""

    again = next_runs.follow(bench, home_of("again", "a"), JOBS)

    assert (again.made, again.trials[-1].failure) == (3, "")


def test_all_runs_are_made_from_a_state_that_no_identity_tells(home_of, next_runs, bench):
    next_runs.follow(bench, home_of("first", "a"), JOBS)
    unseen = next_runs.follow(bench, home_of("unseen", "a"), JOBS, is_unseen=True)

    assert (unseen.made, unseen.home.root.name) == (3, "unseen")


def test_two_at_once_make_the_runs_once(home_of, next_runs, bench):
    homes = [home_of(f"{number}", "a") for number in range(8)]
    with ThreadPoolExecutor(len(homes)) as threads:
        runs = [threads.submit(next_runs.follow, bench, home, JOBS) for home in homes]
        following = [run.result(BOUND_S) for run in runs]

    assert len(bench.made) == len(JOBS)
    assert {run.home.root.name for run in following} == {bench.made[0][0]}


def test_what_a_run_that_went_well_has_done_follows_its_states(home_of, next_runs, bench):
    """The states along it are those before and after each change; a job begins after another."""
    well = home_of("well", "a load load curate")
    runs = tuple(run for job in JOBS[:2] for run in trial(well, job).runs)
    of_runs = Outcome(Experiment("again", "well"), well, [Trial(well, runs, 0, 1)])
    changes = [
        Operation(number, run_id, PUT, ("s3://lake/out",))
        for number, run_id in enumerate(("jr_1", "jr_1", "jr_2"), 1)
    ]
    job_names = {"jr_1": "load", "jr_2": "curate"}
    run = Baseline(home_of("base", "a"), of_runs, changes, (), job_names, ())
    states = {0: "a", 1: "a load", 2: "a load load", 3: "a load load curate"}
    next_runs.note_run(run, states)

    everything = next_runs.follow(bench, home_of("1", "a"), (None,))
    from_begin = next_runs.follow(bench, home_of("2", "a"), ("load", "curate"))
    from_curate = next_runs.follow(bench, home_of("3", "a load load"), ("curate",))
    within_load = next_runs.follow(bench, home_of("4", "a load"), ("load", "curate"))

    assert [jobs_of(known) for known in (everything, from_begin, from_curate)] == [
        *(["load", "curate"], ["load", "curate"], ["curate"])
    ]
    assert {known.home for known in (everything, from_begin, from_curate)} == {well}
    assert (within_load.made, within_load.home) == (1, well)  # it leads to where curate begins
