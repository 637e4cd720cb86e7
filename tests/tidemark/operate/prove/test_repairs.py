"""What a failing request leaves in a known state has the next run of what had led there."""

import pytest

from tidemark.local_state.home import Home
from tidemark.operate.prove.baselines import Baseline, Known, Wanted
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.explore import ITSELF, with_repairs
from tidemark.operate.versions.trial import Trial

CRASH, ERROR = Experiment("crash", "crash after a", 1), Experiment("error", "b is refused", 2)


@pytest.fixture
def run(tmp_path):
    return Baseline(Home(tmp_path / "base"), outcome("well", ERROR, tmp_path), (), (), {}, ())


def outcome(name, experiment, folder, like=None):
    home = Home(folder / name)
    return Outcome(experiment, home, [Trial(home, [], 0, 1)], like=like)


def test_the_state_of_a_home_is_that_of_an_experiment_or_new(tmp_path):
    known = Known(lambda home: home.root.name, {"a": CRASH})

    assert known.like(Home(tmp_path / "a")) == CRASH
    assert known.like(Home(tmp_path / "b")) is None


@pytest.mark.parametrize(("like", "rows"), [(CRASH, "crash"), (ITSELF, "well")])
def test_the_rows_are_those_after_the_next_run_of_what_led_to_the_state(run, tmp_path, like, rows):
    crashed = Wanted(run, CRASH), outcome("crash", CRASH, tmp_path)
    failed = Wanted(run, ERROR), outcome("error", ERROR, tmp_path, like)

    complete, left = with_repairs([failed, crashed])

    (_, error), crash = complete
    assert (crash, left) == (crashed, [])
    assert error.rows == Home(tmp_path / rows)
    assert [trial.home.root.name for trial in error.trials] == ["error", rows]
    assert with_repairs(complete) == (complete, [])  # once more


def test_what_a_crash_that_was_not_tried_leaves_is_not_known(run, tmp_path):
    failed = Wanted(run, ERROR), outcome("error", ERROR, tmp_path, CRASH)

    complete, (left,) = with_repairs([failed])

    assert complete == []
    assert (left.title, left.is_open) == ("b is refused", True)
    assert "crash after a" in left.not_tried
