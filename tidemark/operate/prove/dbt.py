"""Proves a dbt project: kills it between statements, runs it again, and compares its models."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tidemark.errors import NotProvedError
from tidemark.local_state.catalog.tables import catalog_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.operate.prove.bench import Bench, Outcome, OutOfTimeError
from tidemark.operate.prove.causes import Cause, advised
from tidemark.operate.prove.crash_points import CRASH
from tidemark.operate.prove.dbt_runs import DbtRun, DbtStatement, DbtTrial, run_dbt
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.findings import BAD, Finding, Proof, Wish
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.judge import judge
from tidemark.operate.prove.judged import TargetRows, worst
from tidemark.operate.prove.pointers import run_folders
from tidemark.operate.prove.tables import OtherStores, dump_tables, partitioned_tables

REMEDY = advised("dbt-repeatable")
MODELS = ("model", "seed", "snapshot")
FIRST, CONTROL = Experiment("again", "the first run"), Experiment("again", "an equal run")
Say = Callable[[str, int, int], None]


def prove_dbt(bench: Bench, run: DbtRun, wish: Wish, say: Say) -> Proof:
    """Return what deaths of dbt between two statements lose or double of its models.

    Raises:
        NotProvedError: the run fails by itself, or changes nothing.
    """
    begun = time.monotonic()
    first, control = _well(bench, run, "first", say), _well(bench, run, "control", say)
    states = [*(statement.state for statement in first.statements), first.state]
    experiments = [
        Experiment(CRASH, _title(first.statements, number), after=number)
        for number in changing(states)
    ]
    if not experiments:
        raise NotProvedError("dbt changes no object of the lake, and no table: nothing can be lost")
    outcomes, findings = [], []
    trials: dict[int, DbtTrial] = {}
    for number, experiment in enumerate(experiments):
        say(experiment.title, number, len(experiments))
        at = time.monotonic()
        try:
            trials[number] = trial = _run(bench, run, str(number), experiment.after)
        except OutOfTimeError as error:
            late = replace(experiment, is_open=True)
            findings.append(Finding(late, "not tried", reason=str(error)))
            continue
        outcomes.append(Outcome(experiment, trial.home, seconds=time.monotonic() - at))
    partitioned = OtherStores(partitioned=partitioned_tables(bench.base, first.home))
    for trial in (first, control, *trials.values()):
        dump_tables(bench, trial.home, partitioned)
    rows, by_time = judge(
        bench,
        Outcome(FIRST, first.home),
        Outcome(CONTROL, control.home),
        outcomes,
        wish,
        {},
        folders=run_folders(bench.base, first.home, control.home),
        batches=0,
    )
    with Store(first.home.database) as store:
        tables = [(table.full_name, table.location) for table in catalog_tables(store)]
    manifest = json.loads((first.target / "manifest.json").read_text(encoding="utf-8"))
    models = models_of(manifest, tables)
    judged = [
        _finding(outcome, trial, targets, models, run.project)
        for outcome, trial, targets in zip(outcomes, trials.values(), rows, strict=True)
    ]
    scripts = {model.file: run.project / model.file for model in models.values()}
    seconds = time.monotonic() - begun
    found = [*judged, *findings]
    return Proof([], found, by_time, seconds, scripts=scripts, states=len(experiments))


@dataclass(frozen=True)
class Model:
    """A node of a project that makes a table: its id, its file, and the ids that it reads."""

    id: str
    file: str
    reads: frozenset[str]


def changing(states: Sequence[str]) -> list[int]:
    """Return the places, from 1 on, before which a state is a new one.

    Example:
        >>> changing(["x", "x", "y"])
        [3]
    """
    return [place for place, (one, other) in enumerate(pairwise(states), 2) if one != other]


def models_of(manifest: Mapping[str, Any], tables: Iterable[tuple[str, str]]) -> dict[str, Model]:
    """Return the model of each target, by what a proof calls it; `tables` are names and places."""
    models = {
        f"{node['schema']}.{node['alias']}".lower(): Model(
            str(node["unique_id"]),
            str(node["original_file_path"]),
            frozenset(node.get("depends_on", {}).get("nodes", ())),
        )
        for node in manifest["nodes"].values()
        if node["resource_type"] in MODELS
    }
    named = [(name, place) for name, place in tables if name in models]
    of_places = {f"{place.rstrip('/')}/": models[name] for name, place in named if place}
    return of_places | {f"table {name}": models[name] for name, _ in named}


def at_fault(model: Model, wrong: Sequence[Model]) -> Model:
    """Return the first of the wrong models that a wrong model reads, or itself."""
    for other in wrong:
        if other.id in model.reads and other != model:
            return at_fault(other, [each for each in wrong if each != model])
    return model


def _well(bench: Bench, run: DbtRun, name: str, say: Say) -> DbtTrial:
    """Return a run that nothing kills."""
    say("dbt runs as it should", 0, 0)
    try:
        trial = _run(bench, run, name)
    except OutOfTimeError as error:
        raise NotProvedError(f"nothing was tried: {error}") from error
    if trial.code or not trial.statements:
        raise NotProvedError(
            f"dbt ended with exit code {trial.code} and sent {len(trial.statements)} statements, "
            f"so nothing can be proved; it said at the end:\n{trial.said}"
        )
    return trial


def _run(bench: Bench, run: DbtRun, name: str, killed_before: int | None = None) -> DbtTrial:
    home: Home = linked_home(bench.base, bench.folder(name))
    return run_dbt(bench, home, run, killed_before)


def _title(statements: Sequence[DbtStatement], number: int) -> str:
    nodes = [statement.node or "dbt" for statement in statements[number - 2 : number]]
    if number > len(statements):
        return f"dbt is killed after {nodes[0]}, its last statement"
    return f"dbt is killed before statement {number} of {len(statements)}, after {nodes[0]}"


def _finding(
    outcome: Outcome,
    trial: DbtTrial,
    targets: Sequence[TargetRows],
    models: Mapping[str, Model],
    project: Path,
) -> Finding:
    verdict = worst([rows.verdict for rows in targets])
    wrong = [rows for rows in targets if rows.verdict in BAD]
    of_targets = {rows.target: _model(rows.target, models) for rows in wrong}
    bad = [model for model in of_targets.values() if model]
    causes = {
        target: _cause(at_fault(model, bad) if model else None, project)
        for target, model in of_targets.items()
    }
    reason = next((rows.problem for rows in targets if rows.problem), "")
    cause = next(iter(causes.values()), None)
    if trial.code and not wrong:
        verdict, reason = "fails", (trial.said.splitlines() or ["dbt failed"])[-1]
        cause = Cause("dbt fails on what the run that died has left", REMEDY)
    return Finding(outcome.experiment, verdict, targets, reason, cause, outcome.seconds, causes)


def _model(target: str, models: Mapping[str, Model]) -> Model | None:
    return next((model for name, model in models.items() if target.startswith(name)), None)


def _cause(model: Model | None, project: Path) -> Cause:
    if model is None:
        return Cause("dbt writes this again, and no model of the project is of this name", REMEDY)
    text = "the next run writes again what the run that died had written, or replaces more of it"
    lines = (project / model.file).read_text(encoding="utf-8").splitlines()
    line = next((place for place, code in enumerate(lines, 1) if "config(" in code), 1)
    return Cause(text, REMEDY, model.file, line)
