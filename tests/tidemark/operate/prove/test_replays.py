"""States that went wrong are kept until the next proof, and a run goes on from a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.findings import Finding
from tidemark.operate.prove.judged import Verdict
from tidemark.operate.prove.replays import keep, kept_command, kept_state

COMMAND = {"what": "job.py", "arguments": ["--day", "1"]}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.open(tmp_path / "home")


def kept(home: Home, tmp_path: Path, verdict: Verdict, title: str = "crash") -> Finding:
    start = Home.open(tmp_path / "start")
    (start.lake / "lake").mkdir(parents=True, exist_ok=True)
    (start.lake / "lake" / "rows").write_text(title)
    experiment = Experiment("crash", title)
    outcome = Outcome(experiment, Home(tmp_path / "end"), start=start)
    found = {"end": Finding(experiment, verdict)}
    return keep(home, COMMAND, found, {"end": (outcome, "load")})[0]


def test_a_run_goes_on_from_a_copy_of_the_state(home, tmp_path):
    name = kept(home, tmp_path, "doubled").replay

    for _ in range(2):
        replay = kept_state(home, name)
        rows = replay.home.lake / "lake" / "rows"
        assert (replay.title, replay.job, rows.read_text()) == ("crash", "load", "crash")
        rows.unlink()
        rows.write_text("changed")

    assert (home.root / "replays" / name / "lake/lake/rows").read_text() == "crash"
    assert kept_command(home, name) == COMMAND


@pytest.mark.parametrize("verdict", ["equal", "accepted", "not tried"])
def test_what_is_right_is_not_kept(home, tmp_path, verdict):
    assert kept(home, tmp_path, verdict).replay == ""


def test_the_states_of_an_earlier_proof_are_gone(home, tmp_path):
    first = kept(home, tmp_path, "lost").replay
    second = kept(home, tmp_path, "lost", "another crash").replay

    with pytest.raises(UsageError, match=rf"--replay {first}: .*allowed are {second}"):
        kept_command(home, first)


@pytest.mark.parametrize("name", ["../replays", ".", "", "000000"])
def test_another_name_is_refused(home, tmp_path, name):
    kept(home, tmp_path, "lost")

    with pytest.raises(UsageError, match="allowed are"):
        kept_command(home, name)


def test_two_states_that_a_line_in_a_loop_leaves_have_names_of_their_own(home, tmp_path):
    experiments = [Experiment("crash", "crash", after) for after in (1, 2)]
    outcomes = {}
    for experiment in experiments:
        start = Home.open(tmp_path / f"start-{experiment.after}")
        (start.lake / "lake").mkdir(parents=True)
        (start.lake / "lake" / "rows").write_text(f"{experiment.after}")
        outcome = Outcome(experiment, Home(tmp_path / f"{experiment.after}"), start=start)
        outcomes[f"{experiment.after}"] = outcome, None
    findings = {f"{crash.after}": Finding(crash, "lost") for crash in experiments}

    names = [finding.replay for finding in keep(home, COMMAND, findings, outcomes)]

    rows = [(home.root / "replays" / name / "lake/lake/rows").read_text() for name in names]
    assert rows == ["1", "2"]
