"""A file arrives with a column more, a column fewer, or a value of another type."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from tidemark.local_state.home import Home
from tidemark.model.drift import DRIFTS
from tidemark.operate.prove.baselines import Baseline, Parts, Wanted
from tidemark.operate.prove.bench import Bench, Outcome
from tidemark.operate.prove.causes import Advice, Cause, Fault, advised
from tidemark.operate.prove.drift_facts import contracts_of, facts_of
from tidemark.operate.prove.drifted_files import drifted_file
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.judged import TargetRows, Verdict
from tidemark.operate.prove.kinds.kind import ExperimentKind, last_run
from tidemark.operate.prove.promises import WHAT, promise_of, verdict_of
from tidemark.operate.prove.sources import root_of
from tidemark.operate.versions.trial import Trial

NAME = "drift"
ADVICE = advised("hold-to-contract")


class OtherColumns(ExperimentKind):
    """A file arrives with other columns, in one source at a time."""

    name = NAME
    title = "a file with other columns"
    subject = "a file with other columns"
    needed_files = 1
    needs_parts = True
    writes_otherwise = True
    goes_by_promises = True
    causes: ClassVar[Mapping[Verdict, Advice]] = {
        "lost": (
            "what does not fit is neither in what {place} writes, nor in a quarantine",
            ADVICE,
        ),
        "doubled": ("{place} writes rows again when a file has other columns", ADVICE),
        "changed": ("{place} writes what came with other columns as it is", ADVICE),
    }

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Let it arrive, and run; if that fails, let the file be as it was."""
        base, home, drift = (
            wanted.of.base,
            linked_home(wanted.of.base, folder),
            wanted.experiment.drift,
        )
        for uri in _files_of(wanted):
            file, original = home.local_path(uri), base.local_path(uri)
            file.unlink()  # it is linked
            file.write_bytes(drifted_file(original, drift).content)
            shutil.copystat(original, file)
        trial = last_run(bench, home, folder)
        for uri in _files_of(wanted) if trial.failure else ():
            home.local_path(uri).unlink(missing_ok=True)
            shutil.copy2(base.local_path(uri), home.local_path(uri))
        return home, [trial]

    def next_jobs(self, wanted: Wanted, trials: Sequence[Trial]) -> Sequence[str | None]:
        """All of them, after a run that has failed."""
        return (None,) if trials[-1].failure else ()

    def judged(
        self, wanted: Wanted, outcome: Outcome, rows: Sequence[TargetRows]
    ) -> tuple[Verdict, str] | None:
        """What a contract promises is right."""
        experiment, sources = wanted.experiment, wanted.of.sources
        contracts = contracts_of(wanted.of.outcome)
        promise = promise_of(contracts, experiment.file, sources, experiment.drift)
        files = map(wanted.of.base.local_path, _files_of(wanted))
        count = sum(drifted_file(file, experiment.drift).rows for file in files)
        facts = facts_of(wanted, outcome, rows, contracts, count)
        return verdict_of(promise, experiment.drift, facts)

    def cause(self, fault: Fault) -> Cause:
        """Where the run fails, it is no output that is in the way."""
        if fault.verdict == "fails":
            return Cause("the run fails on what its contract promises to take", ADVICE)
        return super().cause(fault)


def drifts(first: Baseline, parts: Parts | None) -> list[Wanted]:
    """Return what is tried: the last file of each source is otherwise, in each of three ways.

    The run is the one over the later part of the files, which costs no other run before it.
    """
    last_files = {root_of(uri): uri for uri in first.sources}
    increment = parts.increment if parts else None
    wanted = []
    for root, uri in last_files.items():
        is_later = increment is not None and uri in increment.sources
        of = increment if increment and is_later else first
        where = f" in {root}/" if len(last_files) > 1 else ""
        for drift in DRIFTS:
            experiment = Experiment(NAME, f"{WHAT[drift]}{where}", drift=drift, file=uri)
            possible = Wanted(of, experiment, of.outcome if is_later else None)
            reason = _why_not(possible)
            wanted.append(replace(possible, experiment=replace(experiment, not_tried=reason)))
    return wanted


def _files_of(wanted: Wanted) -> list[str]:
    """Return the files that are otherwise: a frame lacks a column if all of its files do."""
    last = wanted.experiment.file
    if wanted.experiment.drift != "fewer":
        return [last]
    return [uri for uri in wanted.of.sources if root_of(uri) == root_of(last)]


def _why_not(wanted: Wanted) -> str:
    try:
        for uri in _files_of(wanted):
            drifted_file(wanted.of.base.local_path(uri), wanted.experiment.drift)
    except ValueError as error:
        return str(error)
    return ""
