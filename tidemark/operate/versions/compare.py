"""Compares two versions of Glue: two copies of a home, the same runs, and their results."""

import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.glue_service.runs.jvms.supply import Jvms, jvms_of
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.make import spark_for
from tidemark.local_state.store.database import JobRun
from tidemark.operate.versions.causes import OLD_SETTINGS
from tidemark.operate.versions.copies import copy_home, copy_of_copy
from tidemark.operate.versions.outcomes import Comparison, TargetOutcome
from tidemark.operate.versions.states import States, compared_states, read_states
from tidemark.operate.versions.targets import ComparedTarget, Files, changed_targets, files_of
from tidemark.operate.versions.trial import Start, Trial, answers_of_job, run_trial, threads_until

ROW_JOB = Path(__file__).with_name("row_job.py")
Say = Callable[[str], None]


@dataclass(frozen=True)
class Experiment:
    """What is compared, and where.

    Attributes:
        start: what is run, as `script_start` or `app_start` returns it.
        versions: of Glue, before and after.
        scratch: the folder of the copies.
        jvms: where the runs get their JVMs.
        files: the files of the lake before the runs.
        states: the bookmarks, watermarks and tables before them.
    """

    start: Start
    versions: tuple[str, str]
    scratch: Path
    jvms: Jvms
    files: Files
    states: States


def compare_versions(
    home: Home,
    start: Start,
    versions: tuple[str, str],
    scratch: Path,
    say: Say = lambda _: None,
    *,
    finds_settings: bool = False,
) -> Comparison:
    """Run the same on two versions of Glue, at the same time, and compare the results.

    The home is copied and not changed. Settings that bring an old result back are looked for on
    demand.
    """
    say("copying the home")
    old = copy_home(home, scratch / f"home-{versions[0]}")
    new = copy_of_copy(old, scratch / f"home-{versions[1]}")
    base = copy_of_copy(old, scratch / "home") if finds_settings else None
    with jvms_of(old) as jvms:
        experiment = Experiment(
            start, versions, scratch, jvms, files_of(old.lake, with_hidden=True), read_states(old)
        )
        for version in versions:
            jvms.want(1, spark_for(version))
        say(f"running on Glue {versions[0]} and {versions[1]}")
        done = _both(experiment, (old, new))
        if not done[0].runs and not done[1].runs:
            raise TidemarkError("no job ran on either version, so there is nothing to compare")
        comparison = _comparison(experiment, done)
        if base is not None and comparison.verdict != "equal":
            say("looking for settings that bring the old result back")
            comparison = replace(
                comparison, settings=_settings(experiment, base, done[0], comparison.differing)
            )
    return comparison


def _both(experiment: Experiment, homes: tuple[Home, Home]) -> tuple[Trial, Trial]:
    is_over = threading.Event()

    def observe(_: JobRun | None) -> None:
        if is_over.is_set():
            raise KeyboardInterrupt  # in the threads, which stop their runs

    with threads_until(is_over) as threads:
        trials = [
            threads.submit(
                run_trial, home, experiment.start, version, experiment.jvms, observe=observe
            )
            for home, version in zip(homes, experiment.versions, strict=True)
        ]
        return trials[0].result(), trials[1].result()


def _settings(experiment: Experiment, base: Home, old: Trial, differing: int) -> tuple[str, ...]:
    """Return the settings with the fewest differences."""

    def left_with(settings: Sequence[str]) -> int:
        home = copy_of_copy(base, experiment.scratch / "home-of-settings")
        new = run_trial(home, experiment.start, experiment.versions[1], experiment.jvms, settings)
        left = _comparison(experiment, (old, new)).differing
        shutil.rmtree(home.root)
        return left

    return find_settings(left_with, differing)


def _comparison(experiment: Experiment, trials: tuple[Trial, Trial]) -> Comparison:
    after = [files_of(trial.home.lake, with_hidden=True) for trial in trials]
    targets = changed_targets(experiment.files, *after)
    left = [read_states(trial.home, trial.interval, experiment.states) for trial in trials]
    outcomes = _compared(experiment, targets, trials, after)
    seconds = [(trial.ended_ms - trial.began_ms) / 1000 for trial in trials]
    old, new = trials
    return Comparison(
        *experiment.versions,
        old.runs,
        new.runs,
        outcomes,
        (seconds[0], seconds[1]),
        states=compared_states(experiment.states, *left),
    )


def _compared(
    experiment: Experiment,
    targets: list[ComparedTarget],
    trials: tuple[Trial, Trial],
    after: Sequence[Files],
) -> list[TargetOutcome]:
    """Compare the rows by a job on the newer Spark, which reads what both have written."""
    if not targets:
        return []
    times = [[trial.began_ms / 1000, trial.ended_ms / 1000] for trial in trials]
    lakes = [trial.home.lake for trial in trials]
    pairs = [
        {
            "format": target.format,
            "old": target.within(lakes[0], after[0]),
            "new": target.within(lakes[1], after[1]),
            "times": times,
        }
        for target in targets
    ]
    answers = answers_of_job(
        ROW_JOB, pairs, experiment.scratch, experiment.jvms, experiment.versions[1]
    )
    return [_outcome(target, answer) for target, answer in zip(targets, answers, strict=True)]


def _outcome(target: ComparedTarget, answer: dict[str, object]) -> TargetOutcome:
    fields = {
        name: tuple(value) if isinstance(value, list) else value for name, value in answer.items()
    }
    schema = fields.pop("schema", None)
    types = {name: tuple(pair) for name, pair in schema.items()} if isinstance(schema, dict) else {}
    return TargetOutcome(target.uri, format=target.format, schema=types or None, **fields)  # type: ignore[arg-type]


def find_settings(
    left_with: Callable[[Sequence[str]], int], differing: int, known: Sequence[str] = OLD_SETTINGS
) -> tuple[str, ...]:
    """Return the settings with the fewest differences, as few as are found; none if none helps.

    The known settings are given with the one that explains most first.
    """
    left = {known[0]: left_with(known[:1])}
    if left[known[0]] == 0:
        return (known[0],)
    least = min(left[known[0]], left_with(known))
    if least >= differing:
        return ()
    for setting in known:
        if setting not in left:
            left[setting] = left_with([setting])
        if left[setting] <= least:
            return (setting,)
    helpful = tuple(setting for setting in known if left[setting] < differing)
    if 1 < len(helpful) < len(known) and left_with(helpful) <= least:
        return helpful
    return tuple(known)
