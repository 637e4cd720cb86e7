"""A file arrives with a column more, a column fewer, or a value of another type."""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.model.drift import DRIFTS, Drift
from tidemark.operate.prove.baselines import Baseline, Parts, Wanted
from tidemark.operate.prove.bench import Bench, Outcome
from tidemark.operate.prove.causes import Cause, Fault, why, whys
from tidemark.operate.prove.drift_facts import contracts_of, facts_of
from tidemark.operate.prove.drifted_files import drifted_file
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import linked, linked_home
from tidemark.operate.prove.judged import TargetRows, Verdict
from tidemark.operate.prove.kinds.kind import ExperimentKind, last_run
from tidemark.operate.prove.promises import WHAT, promise_of, verdict_of
from tidemark.operate.prove.sources import all_sources_of, root_of
from tidemark.operate.versions.trial import Trial

NAME = "drift"


class OtherColumns(ExperimentKind):
    """A file arrives with other columns, in one source at a time."""

    name = NAME
    title = "a file with other columns"
    subject = "a file with other columns"
    needed_files = 1
    needs_parts = True
    writes_otherwise = True
    goes_by_promises = True
    causes = whys(
        lost="fits-nowhere", doubled="written-again-for-columns", changed="written-as-it-is"
    )

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Let it arrive, and run; if that fails, let the file be as it was."""
        home, experiment = linked_home(wanted.of.base, folder), wanted.experiment
        pairs = [(wanted.of.base.local_path(u), home.local_path(u)) for u in experiment.files]
        for original, file in pairs:
            file.unlink()  # it is linked
            file.write_bytes(drifted_file(original, experiment.drift).content)
            shutil.copystat(original, file)
        trial = last_run(bench, home, folder)
        for original, file in pairs if trial.failure else ():
            file.unlink(missing_ok=True)
            linked(str(original), str(file))
        return home, [trial]

    def next_jobs(self, wanted: Wanted, trials: Sequence[Trial]) -> Sequence[str | None]:
        """All of them, after a run that has failed."""
        return (None,) if trials[-1].failure else ()

    def judged(
        self, wanted: Wanted, outcome: Outcome, rows: Sequence[TargetRows]
    ) -> tuple[Verdict, str] | None:
        """What a contract promises is right."""
        of, experiment = wanted.of, wanted.experiment
        contracts, drift = contracts_of(wanted), experiment.drift
        sources = all_sources_of(of.base, of.outcome)
        files = [drifted_file(of.base.local_path(uri), drift) for uri in experiment.files]
        last, column = experiment.files[-1], files[-1].column
        promise = promise_of(contracts, last, sources, drift, column)
        count = sum(file.rows for file in files)
        return verdict_of(promise, drift, facts_of(wanted, outcome, rows, contracts, count))

    def cause(self, fault: Fault) -> Cause:
        """Where the run fails, it is no output that is in the way."""
        if fault.verdict == "fails":
            return Cause(*why("fails-on-what-is-promised"))
        return super().cause(fault)


def drifts(first: Baseline, parts: Parts | None) -> list[Wanted]:
    """Return what is tried: the last file of each source is otherwise, in each of three ways.

    A frame lacks a column if all of its files do. Where it can, the run is the one over the later
    part of the files, which costs no other run before it.
    """
    increment = parts.increment if parts else None
    later = set(increment.sources) if increment else set()
    by_source = defaultdict[str, list[str]](list)
    for uri in all_sources_of(first.base, first.outcome):
        by_source[root_of(uri)].append(uri)
    wanted = []
    for root, files in by_source.items():
        is_later = files[-1] in later
        of = increment if increment and is_later else first
        new = [uri for uri in files if uri in later] if is_later else files
        where = f" in {root}/" if len(by_source) > 1 else ""
        for drift in DRIFTS:
            chosen = tuple(new if drift == "fewer" else new[-1:])
            reason = _why_not(map(of.base.local_path, chosen), drift)
            title = f"{WHAT[drift]}{where}"
            experiment = Experiment(NAME, title, drift=drift, files=chosen, not_tried=reason)
            wanted.append(Wanted(of, experiment, of.outcome if is_later else None))
    return wanted


def _why_not(files: Iterable[Path], drift: Drift) -> str:
    try:
        for file in files:
            drifted_file(file, drift)
    except ValueError as error:
        return str(error)
    return ""
