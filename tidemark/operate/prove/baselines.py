"""The runs that go well, whose rows the experiments are compared with."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    BOOKMARK,
    CATALOG,
    JDBC,
    WITHHELD,
    AwsRead,
    Operation,
    changes_items,
    count_looks,
    read_operations,
    read_requests,
    tables_changed,
)
from tidemark.local_state.reads import read_by_spark, read_opened
from tidemark.local_state.store.database import Store
from tidemark.operate.prove.arrivals import home_without, in_parts, let_arrive
from tidemark.operate.prove.bench import Bench, Outcome
from tidemark.operate.prove.changes import is_below, is_of, is_write, place_of, with_short_calls
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.items import tables_of, with_items
from tidemark.operate.prove.sources import sources_of
from tidemark.operate.prove.tables import (
    NO_OTHER_STORES,
    OtherStores,
    dump_tables,
    partitioned_tables,
)

ELSEWHERE = (
    "a database that is elsewhere cannot be put back, so nothing was changed there; give the job "
    "the address of an embedded one, jdbc:derby:NAME, to try it"
)
NO_STATE = "it keeps no bookmark or watermark"


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
        other_stores: what they changed beside objects.
        requests: the reads of boto3, in order, and the objects that Spark opens.
    """

    base: Home
    outcome: Outcome
    operations: Sequence[Operation]
    sources: Sequence[str]
    jobs: Mapping[str, str]
    opened: Sequence[tuple[str, str]]
    other_stores: OtherStores = NO_OTHER_STORES
    requests: Sequence[AwsRead] = ()

    @property
    def looks(self) -> int:
        """How often the run has listed the place of the newest file."""
        return count_looks(self.outcome.home, self.sources[-1]) if self.sources else 0

    @property
    def has_written(self) -> bool:
        """Whether the run has put an object or changed a table."""
        return any(
            is_write(operation) or operation.kind == CATALOG for operation in self.operations
        )

    @property
    def not_rewound(self) -> dict[str, str]:
        """Why `tidemark rewind` has nothing to take back; empty if the run keeps some state.

        A mark of the job's own does not count: `rewind` does not know it.
        """
        own = set(self.other_stores.items)
        is_kept = any(
            operation.kind == BOOKMARK
            or (changes_items(operation) and own.isdisjoint(tables_changed(operation)))
            for operation in self.operations
        )
        return {} if is_kept else {"rewind": NO_STATE}

    @property
    def withheld(self) -> list[str]:
        """The databases whose changes were not made, each with the line."""
        withheld = [operation for operation in self.operations if operation.kind == WITHHELD]
        return list(
            dict.fromkeys(
                f"{operation.places[-1]} ({place_of(operation)})" for operation in withheld
            )
        )

    def job_of(self, experiment: Experiment) -> str | None:
        """Return the job that a crash or an error ends; None for other experiments.

        A late file has all jobs run again, and is no late one in the runs that die after that.
        """
        is_late = experiment.is_late and experiment.deaths == 1
        made = None if is_late else experiment.operation or experiment.request
        return self.jobs.get(made.run_id) if made else None

    @property
    def has_several_jobs(self) -> bool:
        """Whether more than one job has changed something."""
        return len({self.jobs.get(made.run_id) for made in self.operations}) > 1

    @property
    def all_jobs(self) -> list[str | None]:
        """The jobs that ran, in order."""
        return list(dict.fromkeys(run.job for trial in self.outcome.trials for run in trial.runs))

    def jobs_from(self, job: str | None) -> list[str | None]:
        """Return a job and those that ran after it, as a workflow that is resumed runs them."""
        ran = self.all_jobs
        return ran[ran.index(job) :] if job in ran else [job]

    def around(self, experiment: Experiment, target: str) -> list[Operation]:
        """Return the operations of the run that crashed, or of those that wrote a target."""
        crashed = experiment.operation
        runs = {operation.run_id for operation in self.operations if is_of(operation, target)}
        runs = {crashed.run_id} if crashed else runs
        return [operation for operation in self.operations if operation.run_id in runs or not runs]

    def is_read_on(self, target: str) -> bool:
        """Return whether a run has read a target that another run has written."""
        writers = {operation.run_id for operation in self.operations if is_of(operation, target)}
        readers = {run_id for run_id, uri in self.opened if is_below(uri, target)}
        return bool(writers) and bool(readers - writers)


@dataclass(frozen=True)
class Wanted:
    """An experiment, the run that it changes, and what arrives after a crash in it.

    Attributes:
        of: the run.
        experiment: what goes wrong.
        well: the run whose rows should come out; None: the first one.
        late: URIs of the files that arrive before the next run.
    """

    of: Baseline
    experiment: Experiment
    well: Outcome | None = None
    late: Sequence[str] = ()


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

    def outcome(self, experiment: Experiment) -> Outcome:
        """Return what all runs together have left."""
        runs = [step.outcome for step in self.steps]
        trials = [trial for run in runs for trial in run.trials]
        return Outcome(experiment, runs[-1].home, trials, sum(run.seconds for run in runs))

    @property
    def is_well(self) -> bool:
        """Whether every run succeeded."""
        return not any(step.outcome.failure for step in self.steps)


def run_well(bench: Bench, base: Home, name: str, turn: int = 0) -> Baseline:
    """Run once on a copy of a base, and return what is known of the run; `turn`: `Bench.run`."""
    began = time.monotonic()
    home = linked_home(base, bench.folder(name))
    trial = bench.run(home, turn=turn)
    outcome = Outcome(Experiment("again", name), home, [trial], time.monotonic() - began)
    opened, operations = read_opened(home), read_operations(home)
    databases = {operation.places[-1] for operation in operations if operation.kind == JDBC}
    other_stores = OtherStores(
        tables_of(home, operations), sorted(databases), partitioned_tables(base, home)
    )
    dump_tables(bench, home, other_stores)
    operations = with_short_calls(with_items(operations, other_stores.items))
    return Baseline(
        base,
        outcome,
        operations,
        sources_of(base, outcome),
        jobs_of_runs(home),
        opened,
        other_stores,
        [*read_requests(home), *read_by_spark(home)],
    )


def jobs_of_runs(home: Home) -> dict[str, str]:
    """Return the job of each run in a home, by the id of the run."""
    with Store(home.database) as store:
        return {run.run_id: run.job_name for run in store.all_job_runs()}


def run_after(of: Baseline, outcome: Outcome, start: Home) -> Baseline:
    """Return the last run of an experiment as a run to be changed; `start`: its home before."""
    earlier = jobs_of_runs(start)
    jobs = {
        run_id: job for run_id, job in jobs_of_runs(outcome.home).items() if run_id not in earlier
    }
    recorded = [made for made in read_operations(outcome.home) if made.run_id in jobs]
    operations = with_short_calls(with_items(recorded, of.other_stores.items))
    opened = [(run_id, uri) for run_id, uri in read_opened(outcome.home) if run_id in jobs]
    return replace(
        of,
        base=start,
        outcome=outcome,
        operations=operations,
        jobs=jobs,
        opened=opened,
        requests=(),
    )


def nothing_written_reason(run: Baseline) -> str:
    """Return why there is nothing to compare after a run that has written nothing."""
    if run.withheld:
        return f"it changes nothing but {', '.join(run.withheld)}: {ELSEWHERE}"
    return (
        "the run wrote no object and changed no table, so there is nothing to prove: let it read "
        "something; --lake DIR and --sample ROWS give it data"
    )


def run_in_parts(bench: Bench, sources: Sequence[str]) -> Parts:
    """Let files arrive part by part, and run after each, until a run fails."""
    parts, steps = in_parts(sources), list[Baseline]()
    base = home_without(bench.base, sources, bench.folder("part-0"))
    for number, part in enumerate(parts):
        let_arrive(bench.base, base, part)
        steps.append(run_well(bench, base, f"part-{number}-run"))
        if steps[-1].outcome.failure or number + 1 == len(parts):
            break
        base = linked_home(steps[-1].outcome.home, bench.folder(f"part-{number + 1}"))
    return Parts(steps, parts)
