"""A second control run, where two runs that go well have written the same second."""

from __future__ import annotations

import time
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from tidemark.local_state.home import Home
from tidemark.operate.prove import anew
from tidemark.operate.prove.anew import at_another_second
from tidemark.operate.prove.bench import Outcome, OutOfTimeError
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.experiments import Experiment

BEGAN_S = 1_790_000_000.0
EXPIRY = int(BEGAN_S) + 90 * 86_400
WELL = Experiment("again", "well")


@pytest.fixture
def outcome_of(tmp_path):
    """Return what a run has left that has written a number."""

    def outcome_of(name: str, number: int) -> Outcome:
        home = Home.open(tmp_path / name)
        (home.lake / "lake").mkdir()
        (home.lake / "lake" / "mark").write_text(f"{number}")
        return Outcome(WELL, home)

    return outcome_of


@pytest.fixture
def control_of(tmp_path, outcome_of, monkeypatch):
    """Return the control run that is compared after a first run and another one."""
    monkeypatch.setattr(time, "sleep", lambda _: None)

    def control_of(numbers: tuple[int, int], run_well: Mock) -> Outcome:
        monkeypatch.setattr(anew, "run_well", run_well)
        base = Home.open(tmp_path / "base")
        first, control = map(outcome_of, ("first", "control"), numbers)
        baseline = SimpleNamespace(outcome=first)
        bench = SimpleNamespace(base=base)
        return at_another_second(bench, Contents(base, (), BEGAN_S), BEGAN_S, baseline, control)

    return control_of


@pytest.mark.parametrize("other", [EXPIRY + 1, 7], ids=["another second", "no time"])
def test_runs_that_write_no_second_twice_are_enough(control_of, other):
    run_well = Mock()

    assert control_of((EXPIRY, other), run_well).home.root.name == "control"
    run_well.assert_not_called()


def test_runs_of_one_second_are_followed_by_another_one(control_of, outcome_of):
    later = outcome_of("later", EXPIRY + 1)

    assert control_of((EXPIRY, EXPIRY), Mock(return_value=Mock(outcome=later))) is later


def test_a_budget_that_ends_then_leaves_the_control_run(control_of):
    run_well = Mock(side_effect=OutOfTimeError)

    assert control_of((EXPIRY, EXPIRY), run_well).home.root.name == "control"
