"""What all experiments share, and what one has left."""

import re
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tidemark.errors import NotProvedError, TidemarkError
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.local_state.home import Home
from tidemark.local_state.operations import record_operations, records_operations
from tidemark.local_state.store.database import JobRun, Store
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.subject import Subject
from tidemark.operate.versions.outcomes import RunOutcome
from tidemark.operate.versions.trial import Start, Trial, run_trial

# What Derby says if another process has a database open, or makes it at the same time.
NOT_OPENED = re.compile(
    r"(?:booted the database |database directory '|start database ')(/[^' ]*?)[.']?(?:[\s,]|$)"
)

ENDLESS = "the run had not ended"


@dataclass(frozen=True)
class Outcome:
    """What an experiment has left.

    Attributes:
        experiment: what was tried.
        home: as it is afterwards.
        trials: the runs, in order.
        seconds: how long it took.
        start: the home as it was before the last run; None where that is not kept.
        rows: the home whose rows are those after the last run, where another experiment has made
            it from an equal state; None: `home`.
        repairs: how many runs have followed in `home` what went wrong.
        is_repaired: whether one run has led back to a state of a run that went well.
    """

    experiment: Experiment
    home: Home
    trials: Sequence[Trial] = ()
    seconds: float = 0.0
    start: Home | None = None
    rows: Home | None = None
    repairs: int = 0
    is_repaired: bool = False

    @property
    def failure(self) -> str:
        """Why the last run failed; empty if it succeeded."""
        return self.trials[-1].failure if self.trials else ""


class OutOfTimeError(Exception):
    """A run was stopped because the budget had ended, or the proof was interrupted."""


class _EndlessError(Exception):
    """A run takes so long that it may wait for ever."""


def is_endless(failure: str) -> bool:
    """Return whether a run was stopped because it may wait for ever."""
    return ENDLESS in failure


def _endless(home: Home, seconds: float) -> Trial:
    """Return a run that was stopped."""
    with Store(home.database) as store:
        last = max(store.all_job_runs(), key=lambda run: run.started_at_ms)
    error = f"{ENDLESS} after {seconds:.0f} s, many times as long as the first run, and was stopped"
    return Trial(home, (RunOutcome(last.job_name, "STOPPED", error, None, None),), 0, 0)


@dataclass(frozen=True)
class Bench:
    """What all experiments share.

    Attributes:
        subject: what is run.
        jvms: where the runs get their JVMs.
        scratch: the folder of the homes.
        base: the home before the runs.
        is_over: stops the runs of all threads once it is set.
        is_interrupted: stops the runs of what is proved once it is set; what was found counts.
        deadline: when the budget ends, which stops runs, on the clock of `time.monotonic`.
        home: keeps the states from which runs go wrong; None: nobody does.
        answers: what was said of rows that were compared, by what was compared.
        command: what is proved, for a replay.
        reserve: how many seconds before the deadline runs are stopped.
        patience_s: how long a run may take, before it is taken for one that waits for ever.
    """

    subject: Subject
    jvms: Jvms
    scratch: Path
    base: Home
    is_over: threading.Event = field(default_factory=threading.Event)
    is_interrupted: threading.Event = field(default_factory=threading.Event)
    deadline: float | None = None
    reserve: float = 0.0
    patience_s: float | None = None
    home: Home | None = None
    answers: dict[Any, Any] = field(default_factory=dict)
    command: Mapping[str, Any] = field(default_factory=dict)

    def observe(self, _: JobRun | None = None) -> None:
        """Raise if all is over; jobs of the proof's own call this."""
        if self.is_over.is_set():
            raise KeyboardInterrupt

    def observe_run(self, _: JobRun | None = None) -> None:
        """Raise if all is over, or only the trying; runs of what is proved call this."""
        self.observe()
        if self.is_interrupted.is_set():
            raise OutOfTimeError("the proof was interrupted while it ran, and it was stopped")
        if self.deadline is not None and time.monotonic() > self.deadline - self.reserve:
            raise OutOfTimeError("the budget ended while it ran, and it was stopped")

    def run(
        self, home: Home, start: Start | None = None, version: str = "", *, turn: int = 0
    ) -> Trial:
        """Run once in a home of experiments.

        A run and the next one have different seeds of `hash()`, whatever else runs; `turn` 1 gives
        a run that of the next one.
        """
        earlier = 0  # runs of the job with most
        if home.database.is_file():
            with Store(home.database) as store:
                counts = Counter(run.job_name for run in store.all_job_runs())
            earlier = max(counts.values(), default=0)
        if not records_operations(home):  # which keeps the messages that runs send, too
            record_operations(home)
        since = time.monotonic()

        def observe(run: JobRun | None) -> None:
            self.observe_run(run)
            if self.patience_s is not None and time.monotonic() - since > self.patience_s:
                raise _EndlessError

        try:
            trial = run_trial(
                home,
                start or self.subject.start,
                version or self.subject.version,
                replace(self.jvms, turn=turn + earlier),
                observe=observe,
            )
        except _EndlessError:
            return _endless(home, time.monotonic() - since)
        not_opened = NOT_OPENED.search(trial.failure)
        if not_opened and Path(not_opened[1]).is_relative_to(self.scratch):
            raise TidemarkError(
                f"the job could not open {not_opened[1]}, which another process has open: Derby "
                "opens a database in one process"
            )
        if not_opened:
            raise NotProvedError(
                f"the job could not open {not_opened[1]}: a proof runs it in several processes at "
                "once, and Derby opens a database in one; copy that folder into the folder derby "
                "of the home, and give the job jdbc:derby:NAME"
            )
        return trial

    def folder(self, name: str) -> Path:
        """Return the folder of a home."""
        return self.scratch / f"home-{name}"
