"""The runs that follow what went wrong: from equal states they do the same, so one makes them."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TypeAlias

from tidemark.local_state.home import Home
from tidemark.model.messages import JVM_GONE
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.tables import NO_OTHER_STORES, OtherStores, dump_tables
from tidemark.operate.versions.trial import Trial

Jobs: TypeAlias = tuple[str | None, ...]
"""What runs, one after the other; None is all of a workflow, or a script."""


@dataclass(frozen=True)
class Following:
    """Runs that have followed a state, one after the other, until one failed.

    Attributes:
        home: the rows after them.
        trials: the runs, in order.
        made: how many of them were made here; the others were made from an equal state before.
        is_well: whether that was a state of a run that went well.
    """

    home: Home
    trials: Sequence[Trial] = ()
    made: int = 0
    is_well: bool = False


@dataclass
class NextRuns:
    """The runs that have followed states, by the identity of the state and the jobs.

    Attributes:
        identity_of: returns what tells the state of a home from others.
    """

    identity_of: Callable[[Home], str]
    _known: dict[tuple[str, Jobs], Following] = field(default_factory=dict)
    _locks: defaultdict[tuple[str, Jobs], Lock] = field(default_factory=lambda: defaultdict(Lock))

    def note(self, identity: str, jobs: Jobs, following: Following) -> None:
        """Know the runs that have followed a state; those of an earlier call stay."""
        self._known.setdefault((identity, jobs), following)

    def note_run(self, run: Baseline, identities: Mapping[int, str]) -> None:
        """Know what followed the beginning of each job in a run that went well.

        `identities` are those of the states along the run, by the numbers of its operations.
        """
        home, (trial,) = run.outcome.home, run.outcome.trials[-1:]
        self.note(identities[0], (None,), Following(home, [trial], is_well=True))
        before, begun = 0, set[str]()
        for operation in run.operations:
            if operation.run_id not in begun:
                begun.add(operation.run_id)
                jobs = run.jobs_from(run.jobs.get(operation.run_id))
                runs = tuple(job_run for job_run in trial.runs if job_run.job in jobs)
                following = Following(home, [replace(trial, runs=runs)], is_well=True)
                self.note(identities[before], tuple(jobs), following)
            before = operation.number

    def follow(
        self,
        bench: Bench,
        home: Home,
        jobs: Jobs,
        stores: OtherStores = NO_OTHER_STORES,
        *,
        is_unseen: bool = False,
    ) -> Following:
        """Run jobs in a home until one fails, or until what follows is known.

        The tables in `stores` are written as files then, to be compared. A state that is unseen may
        differ in what no identity tells: all jobs run.
        """
        trials, keys = list[Trial](), list[tuple[str, Jobs]]()
        made = Following(home)
        with ExitStack() as held:
            for number, job in enumerate(jobs):
                if not is_unseen:
                    key = self.identity_of(home), jobs[number:]
                    # Who waits for a key holds only keys of more jobs: there is no circle.
                    held.enter_context(self._locks[key])
                    if known := self._known.get(key):
                        made = replace(made, home=known.home, is_well=known.is_well)
                        trials += known.trials
                        break
                    keys.append(key)
                trials.append(bench.run(home, bench.subject.only(job) if job else None))
                made = replace(made, made=len(trials))
                if trials[-1].failure:
                    break
            if made.home == home:
                dump_tables(bench, home, stores)
            if any(JVM_GONE in trial.failure for trial in trials):
                keys.clear()  # the machine has ended it: the next one runs again
            for number, key in enumerate(keys):
                self.note(*key, Following(made.home, trials[number:]))
        return replace(made, trials=trials)
