"""Carries an experiment out: in a home of its own, with runs of the same script or app."""

import time
from collections.abc import Sequence
from dataclasses import replace

from tidemark.errors import TidemarkError
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import MARKER
from tidemark.model.messages import JVM_GONE
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench, Outcome, OutOfTimeError
from tidemark.operate.prove.homes import without_scratch
from tidemark.operate.prove.kinds.every import kind_of
from tidemark.operate.prove.kinds.kind import keep_start, start_of
from tidemark.operate.prove.kinds.machines import NewestVersion
from tidemark.operate.prove.next_runs import Following, NextRuns
from tidemark.operate.prove.tables import dump_tables
from tidemark.operate.versions.trial import Trial


def carry_out(bench: Bench, wanted: Wanted, next_runs: NextRuns, number: int) -> Outcome:
    """Carry an experiment out, in the home with a number."""
    began = time.monotonic()
    experiment, folder = wanted.experiment, bench.folder(f"{number}")
    home, trials, is_open = Home(folder), list[Trial](), True
    kind, following, jobs = kind_of(experiment), Following(home), tuple[str | None, ...]()
    try:
        home, trials = kind.carry_out(bench, wanted, folder)
        following = Following(home)
        jobs = () if kind.why_unknown(wanted, home) else tuple(kind.next_jobs(wanted, trials))
        if jobs:
            keep_start(home, folder)
            is_unseen, stores = kind.is_unseen(experiment), wanted.of.other_stores
            following = next_runs.follow(bench, home, jobs, stores, is_unseen=is_unseen)
            trials += following.trials
    except OutOfTimeError as error:
        why_not = str(error)
    except TidemarkError as error:  # the other experiments continue
        why_not = without_scratch(str(error), bench.scratch)
    else:
        why_not = without_scratch(_why_unknown(wanted, home, trials), bench.scratch)
        if not why_not and (why_not := kind.why_impossible(wanted, home)):
            is_open = False
        if not jobs:
            why_not = why_not or _make_comparable(bench, wanted, home)
    experiment = replace(experiment, not_tried=why_not, is_open=bool(why_not) and is_open)
    start = Home(start_of(folder))
    is_kept = (start.root / MARKER).exists()
    seconds = time.monotonic() - began
    return Outcome(
        experiment,
        home,
        trials,
        seconds,
        start if is_kept else None,
        rows=None if following.home == home else following.home,
        repairs=following.made,
        is_repaired=following.made == 1 and (following.is_well or len(jobs) == 1),
    )


def _why_unknown(wanted: Wanted, home: Home, trials: Sequence[Trial]) -> str:
    """Return why an experiment has not shown what the job does; empty if it has."""
    # The machine took the JVM away: the script has run well without any experiment.
    gone = next((trial.failure for trial in trials if JVM_GONE in trial.failure), "")
    return gone or kind_of(wanted.experiment).why_unknown(wanted, home)


def _make_comparable(bench: Bench, wanted: Wanted, home: Home) -> str:
    """Make the rows of a home ready to be compared; return why that cannot be."""
    has_newer = wanted.experiment.kind == NewestVersion.name and wanted.of.other_stores.databases
    version = bench.subject.newest if has_newer else ""  # no older Derby opens what one has
    try:
        dump_tables(bench, home, wanted.of.other_stores, version)
    except TidemarkError as error:
        return without_scratch(str(error), bench.scratch)
    return ""
