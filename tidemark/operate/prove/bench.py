"""Carries experiments out: each in a home of its own, with runs of the same script or app."""

import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.home import Home
from tidemark.local_state.lost_executor import (
    Moment,
    has_lost,
    lose_executor,
    lose_no_executor,
)
from tidemark.local_state.operations import (
    CATALOG,
    COPY,
    PUT,
    Operation,
    let_arrive_meanwhile,
    let_fail_once,
    record_operations,
)
from tidemark.local_state.store.database import JobRun
from tidemark.operate.prove.experiments import Experiment, in_parts
from tidemark.operate.prove.homes import home_after, linked_home, put_databases
from tidemark.operate.prove.subject import Subject
from tidemark.operate.versions.targets import Files, changed_targets, files_of
from tidemark.operate.versions.trial import Start, Trial, run_trial


@dataclass(frozen=True)
class Outcome:
    """What an experiment has left.

    Attributes:
        experiment: what was tried.
        home: as it is afterwards.
        trials: the runs, in order.
        seconds: how long it took.
    """

    experiment: Experiment
    home: Home
    trials: Sequence[Trial] = ()
    seconds: float = 0.0

    @property
    def failure(self) -> str:
        """Why the last run failed; empty if it succeeded."""
        return self.trials[-1].failure if self.trials else ""


@dataclass(frozen=True)
class Bench:
    """What all experiments share.

    Attributes:
        subject: what is run.
        jvms: where the runs get their JVMs.
        scratch: the folder of the homes.
        base: the home before the runs.
        is_over: stops the runs of all threads once it is set.
    """

    subject: Subject
    jvms: Jvms
    scratch: Path
    base: Home
    is_over: threading.Event = field(default_factory=threading.Event)

    def observe(self, _: JobRun | None = None) -> None:
        """Raise if all is over; runs call this."""
        if self.is_over.is_set():
            raise KeyboardInterrupt

    def run(self, home: Home, start: Start | None = None, version: str = "") -> Trial:
        """Run once in a home of experiments."""
        return run_trial(
            home,
            start or self.subject.start,
            version or self.subject.version,
            self.jvms,
            observe=self.observe,
        )

    def folder(self, name: str) -> Path:
        """Return the folder of a home."""
        return self.scratch / f"home-{name}"


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
        """Return the job that a crash ends; None for other experiments."""
        operation = experiment.operation if experiment.kind == "crash" else None
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


NONE_LOST = "no executor has written an object"


def run_well(bench: Bench, base: Home, name: str, *, is_recorded: bool) -> Outcome:
    """Run once on a copy of a base; record its operations."""
    began = time.monotonic()
    home = linked_home(base, bench.folder(name))
    if is_recorded:
        record_operations(home)
    trial = bench.run(home)
    return Outcome(Experiment("again", name), home, [trial], time.monotonic() - began)


def carry_out(bench: Bench, baseline: Baseline, experiment: Experiment, number: int) -> Outcome:
    """Carry out an experiment."""
    began = time.monotonic()
    prepare = _PREPARED[experiment.kind]
    home, trials = prepare(bench, baseline, experiment, bench.folder(f"{number}"))
    if experiment.kind == "executors" and not has_lost(home):
        experiment = replace(experiment, not_tried=NONE_LOST)
    return Outcome(experiment, home, trials, time.monotonic() - began)


def _crash(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    done = [one for one in baseline.operations if one.number <= experiment.after]
    home = home_after(baseline.base, baseline.outcome.home, done, folder)
    job = baseline.job_of(experiment)
    return home, [bench.run(home, bench.subject.only(job) if job else None)]


def _error(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    """Let one write fail, whatever the job makes of it, and run again."""
    home = linked_home(baseline.base, folder)
    record_operations(home)
    let_fail_once(home, experiment.after)
    return home, [bench.run(home), bench.run(home)]


def _again(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    home = linked_home(baseline.outcome.home, folder)
    return home, [bench.run(home)]


def _parts(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    return _delivered(bench, in_parts(baseline.sources), folder)


def _order(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    return _delivered(bench, in_parts(baseline.sources)[::-1], folder)


def _delivered(
    bench: Bench, parts: Sequence[Sequence[str]], folder: Path
) -> tuple[Home, list[Trial]]:
    """Let files arrive part by part, and run after each."""
    home = _without(bench, [uri for part in parts for uri in part], folder)
    trials = []
    for part in parts:
        _let_arrive(bench, home, part)
        trials.append(bench.run(home))
        if trials[-1].failure:
            break
    return home, trials


def _without(bench: Bench, uris: Sequence[str], folder: Path) -> Home:
    """Return a home like the base in which some files have not arrived."""
    home = linked_home(bench.base, folder)
    for uri in uris:
        home.local_path(uri).unlink()
    return home


def _let_arrive(bench: Bench, home: Home, uris: Sequence[str]) -> None:
    for uri in uris:
        _arrive(bench.base.local_path(uri), home.local_path(uri))


def before_increment(bench: Bench, sources: Sequence[str]) -> Home | None:
    """Return a home in which all but the last files are loaded, and these have arrived now.

    None if the run before them fails.
    """
    last = in_parts(sources)[-1]
    home = _without(bench, last, bench.folder("before-increment"))
    if bench.run(home).failure:
        return None
    _let_arrive(bench, home, last)
    return home


def _arrive(file: Path, target: Path) -> None:
    """Put a copy of a file in place, as new as an object that arrives now."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.arriving")
    shutil.copyfile(file, unfinished)
    unfinished.replace(target)


def _meanwhile(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    """Let a file arrive when the run has written its first object; run again after it."""
    home = linked_home(bench.base, folder)
    record_operations(home)
    let_arrive_meanwhile(home, baseline.sources[-1])
    return home, [bench.run(home), bench.run(home)]


def _twice(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    home = linked_home(baseline.outcome.home, folder)
    uri = baseline.sources[-1]
    file = home.local_path(uri)
    _arrive(bench.base.local_path(uri), file.with_name(f"again-{file.name}"))
    return home, [bench.run(home)]


def _replaced(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    home = linked_home(baseline.outcome.home, folder)
    uri = baseline.sources[-1]
    _arrive(bench.base.local_path(uri), home.local_path(uri))
    return home, [bench.run(home)]


def _rewind(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    """Take bookmarks, watermarks and catalog back to before the run, and run again.

    Folders to which the run has only added files are cleared of these, as by `rewind --clear`.
    """
    home = linked_home(baseline.outcome.home, folder)
    put_databases(bench.base, home)
    before, after = files_of(bench.base.lake), files_of(home.lake)
    cleared = tuple(
        f"{target.uri}"
        for target in changed_targets(before, after)
        if _is_only_added_to(f"{target.folder}/", before, after)
    )
    for one in baseline.operations:
        if one.kind in (PUT, COPY) and one.places[-1].startswith(cleared):
            _clear(home.local_path(one.places[-1]), home.lake)
    return home, [bench.run(home)]


def _is_only_added_to(folder: str, before: Files, after: Files) -> bool:
    return all(after.get(path) == before[path] for path in before if path.startswith(folder))


def _clear(file: Path, lake: Path) -> None:
    """Delete a file, and the folders of its bucket that are empty then."""
    file.unlink(missing_ok=True)
    folder = file.parent
    while folder.parent != lake and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _together(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    home = linked_home(bench.base, folder)
    return home, [bench.run(home, bench.subject.both)]


def _executors(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    """Kill an executor; run again, as a retry does, if the run fails by it."""
    home = linked_home(bench.base, folder)
    record_operations(home)
    lose_executor(home, Moment())
    trials = [bench.run(home)]
    if trials[0].failure and has_lost(home):
        lose_no_executor(home)
        trials.append(bench.run(home))
    return home, trials


def _versions(
    bench: Bench, baseline: Baseline, experiment: Experiment, folder: Path
) -> tuple[Home, list[Trial]]:
    home = linked_home(bench.base, folder)
    return home, [bench.run(home, bench.subject.newer, bench.subject.newest)]


_PREPARED: dict[str, Callable[[Bench, Baseline, Experiment, Path], tuple[Home, list[Trial]]]] = {
    "crash": _crash,
    "error": _error,
    "again": _again,
    "parts": _parts,
    "order": _order,
    "meanwhile": _meanwhile,
    "twice": _twice,
    "replaced": _replaced,
    "rewind": _rewind,
    "together": _together,
    "executors": _executors,
    "versions": _versions,
}
