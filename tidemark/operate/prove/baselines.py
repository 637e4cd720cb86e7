"""The runs that go well, whose rows the experiments are compared with."""

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    CATALOG,
    COPY,
    PUT,
    Operation,
    read_opened,
    read_operations,
    record_operations,
)
from tidemark.local_state.store.database import Store
from tidemark.operate.prove.bench import Bench, Outcome
from tidemark.operate.prove.experiments import TITLES, Experiment, in_parts
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.sources import sources_of
from tidemark.operate.prove.tables import dump_tables


@dataclass(frozen=True)
class Baseline:
    """The run that goes well, and what is known of it.

    Attributes:
        base: the home before the run.
        outcome: of the run whose operations were recorded.
        operations: what it changed outside its processes, in order.
        sources: URIs of the files that it read as new ones, the oldest first.
        jobs: the job of each run, by its id.
        opened: what the runs read, as run ids and URIs.
    """

    base: Home
    outcome: Outcome
    operations: Sequence[Operation]
    sources: Sequence[str]
    jobs: Mapping[str, str]
    opened: Sequence[tuple[str, str]]

    @property
    def has_written(self) -> bool:
        """Whether the run has put an object or changed a table."""
        return any(one.kind in (PUT, COPY, CATALOG) for one in self.operations)

    def job_of(self, experiment: Experiment) -> str | None:
        """Return the job that a crash or an error ends; None for other experiments."""
        operation = None if experiment.is_late else experiment.operation
        return self.jobs.get(operation.run_id) if operation else None

    def written_by(self, job: str) -> list[str]:
        """Return the places that a job changed: URIs of objects, and tables of the catalog."""
        own = [one for one in self.operations if self.jobs.get(one.run_id) == job]
        return [f"table {one.places[0]}" if one.kind == CATALOG else one.places[-1] for one in own]

    def around(self, experiment: Experiment, target: str) -> list[Operation]:
        """Return the operations of the run that crashed, or of those that wrote a target."""
        crashed = experiment.operation
        runs = {one.run_id for one in self.operations if one.places[-1].startswith(target)}
        runs = {crashed.run_id} if crashed else runs
        return [one for one in self.operations if one.run_id in runs or not runs]

    def is_read_on(self, target: str) -> bool:
        """Return whether a run has read a target that another run has written."""
        writers = {one.run_id for one in self.operations if one.places[-1].startswith(target)}
        readers = {run_id for run_id, uri in self.opened if uri.startswith(target)}
        return bool(writers) and bool(readers - writers)


@dataclass(frozen=True)
class Parts:
    """Runs over the new files in parts, each after the last.

    Attributes:
        steps: the runs, in order; the last one may have failed.
        files: the URIs of the files of each.
    """

    steps: Sequence[Baseline]
    files: Sequence[Sequence[str]]

    @property
    def increment(self) -> Baseline | None:
        """The last run, which adds to what earlier runs have made; None if one failed."""
        return self.steps[-1] if len(self.steps) == len(self.files) and self.is_well else None

    @property
    def before(self) -> Baseline | None:
        """The run before the last one; None without an increment."""
        return self.steps[-2] if self.increment else None

    @property
    def outcome(self) -> Outcome:
        """What all runs together have left."""
        runs = [one.outcome for one in self.steps]
        trials = [one for run in runs for one in run.trials]
        experiment = Experiment("parts", TITLES["parts"])
        return Outcome(experiment, runs[-1].home, trials, sum(one.seconds for one in runs))

    @property
    def is_well(self) -> bool:
        """Whether every run succeeded."""
        return not any(one.outcome.failure for one in self.steps)


def run_well(bench: Bench, base: Home, name: str, *, is_recorded: bool) -> Outcome:
    """Run once on a copy of a base; record its operations."""
    began = time.monotonic()
    home = linked_home(base, bench.folder(name))
    if is_recorded:
        record_operations(home)
    trial = bench.run(home)
    dump_tables(bench, home)
    return Outcome(Experiment("again", name), home, [trial], time.monotonic() - began)


def baseline_of(base: Home, outcome: Outcome) -> Baseline:
    """Return what is known of a run that was recorded."""
    with Store(outcome.home.database) as store:
        jobs = {run.run_id: run.job_name for run in store.all_job_runs()}
    sources = sources_of(base, outcome)
    opened = read_opened(outcome.home)
    return Baseline(base, outcome, read_operations(outcome.home), sources, jobs, opened)


def run_in_parts(bench: Bench, sources: Sequence[str]) -> Parts:
    """Let files arrive part by part, and run after each, until a run fails."""
    parts, steps = in_parts(sources), list[Baseline]()
    base = home_without(bench, sources, bench.folder("part-0"))
    for number, part in enumerate(parts):
        let_arrive(bench, base, part)
        outcome = run_well(bench, base, f"part-{number}-run", is_recorded=True)
        steps.append(baseline_of(base, outcome))
        if outcome.failure or number + 1 == len(parts):
            break
        base = linked_home(outcome.home, bench.folder(f"part-{number + 1}"))
    return Parts(steps, parts)


def home_without(bench: Bench, uris: Sequence[str], folder: Path) -> Home:
    """Return a home like the base in which some files have not arrived."""
    home = linked_home(bench.base, folder)
    for uri in uris:
        home.local_path(uri).unlink()
    return home


def let_arrive(bench: Bench, home: Home, uris: Sequence[str]) -> None:
    """Put files of the base in place, as new as objects that arrive now."""
    for uri in uris:
        arrive(bench.base.local_path(uri), home.local_path(uri))


def arrive(file: Path, target: Path) -> None:
    """Put a copy of a file in place, as new as an object that arrives now."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.arriving")
    shutil.copyfile(file, unfinished)
    unfinished.replace(target)
