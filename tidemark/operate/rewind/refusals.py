"""What a rewind refuses before anything is changed, each with one message."""

from collections import Counter
from collections.abc import Iterable, Sequence

from tidemark.errors import UsageError
from tidemark.model.messages import known, known_run, listed
from tidemark.operate.rewind.cut import Cut, RewindTo
from tidemark.operate.rewind.facts import BOOKMARK, RewindFacts
from tidemark.operate.rewind.plan import RewindPlan

MAX_WATERMARKS = 50  # of a table: what `WatermarkAdmin.rewind_together` takes


def check_request(facts: RewindFacts, jobs: Sequence[str], to: RewindTo) -> None:
    """Refuse jobs and targets that cannot be."""
    check_jobs(facts, jobs)
    pipelines = {facts.workflow_of(job) for job in jobs} - {""}
    if len(pipelines) > 1:
        raise UsageError(
            f"the jobs {', '.join(jobs)} are of several pipelines, {', '.join(sorted(pipelines))}; "
            "rewind one pipeline after the other"
        )
    if to.at_ms is not None and to.at_ms > facts.now_ms:
        raise UsageError(f"--to {to.text} is in the future; give a past moment, or a run")
    if to.run_id:
        run = facts.run(to.run_id)
        moved = (
            track.job for track in facts.tracks for move in track.moves if move.run_id == to.run_id
        )
        job = run.job if run else next(moved, None)
        if job is not None and job not in jobs:
            raise UsageError(
                f"run {to.run_id} is of job {job}, not of {listed(jobs)}; name a run of one of "
                f"these jobs, or rewind {job} --with-downstream"
            )
    check_none_in_flight((run.job, run.run_id) for run in facts.in_flight)


def check_jobs(facts: RewindFacts, jobs: Sequence[str]) -> None:
    """Refuse jobs that the app does not have."""
    for job in jobs:
        if job not in facts.jobs and job in facts.others:
            raise UsageError(
                f"job {job} is of {facts.others[job]}, not of this app; go to the folder of that "
                "app, or name it with --app"
            )
        known("job", job, facts.jobs)


def resolve_run(facts: RewindFacts, jobs: Sequence[str], text: str) -> str:
    """Return the id of the run that an id or a prefix of one means; the last ones first."""
    of_moves = {
        move.run_id: track.job for track in facts.tracks for move in track.moves if move.run_id
    }
    job_of_run = {**of_moves, **{run.run_id: run.job for run in facts.runs}}
    ids = [run_id for run_id in reversed(job_of_run) if job_of_run[run_id] in jobs]
    return known_run(
        text, [*ids, *job_of_run], "here", f"`tidemark runs {jobs[0]}` lists all", job_of_run
    )


def check_none_in_flight(runs: Iterable[tuple[str, str]]) -> None:
    """Refuse while runs are in progress, each a job and an id: they would commit undone data."""
    if going := [f"{job} {run_id}" for job, run_id in runs]:
        raise UsageError(
            f"runs in progress: {listed(going)}; wait until they end, or `tidemark stop`, then "
            "rewind"
        )


def check_fits(plan: RewindPlan) -> None:
    """Refuse more watermarks of one table than a transaction of DynamoDB moves."""
    for table, count in Counter(state.kind for state in plan.states).items():
        if table != BOOKMARK and count > MAX_WATERMARKS:
            raise UsageError(
                f"{count} watermarks of table {table} would go back, and one transaction of "
                f"DynamoDB moves {MAX_WATERMARKS}: rewind fewer jobs at once"
            )


def check_graph(
    facts: RewindFacts, names: Sequence[str], following: Sequence[str], moved: Sequence[Cut]
) -> None:
    """Refuse if other jobs than today's ran since the cut, or some of today's ran only then."""
    starts = [facts.started_at_ms(move) for cut in moved for move in cut.undone]
    if not starts or not names:
        return
    since = min(starts)
    connected = {*names, *following}
    flows = {
        checkpoint.workflow_run_id
        for checkpoint in facts.checkpoints
        if checkpoint.job_name in connected
    } - {""}
    gone = sorted(
        {
            checkpoint.job_name
            for checkpoint in facts.checkpoints
            if checkpoint.job_name not in facts.jobs
            and checkpoint.committed_at_ms >= since
            and checkpoint.workflow_run_id in flows
        }
    )
    kept_at_ms = max((cut.to.at_ms for cut in moved if cut.to is not None), default=None)
    added = []
    if kept_at_ms is not None:
        added = [job for job in following if facts.is_newer(job, since, kept_at_ms)]
    if not gone and not added:
        return
    changes = [f"{job} is gone or has another name" for job in gone]
    changes += [f"{job} was added" for job in added]
    raise UsageError(
        f"the jobs have changed since that run: {listed(changes)}; what the plan says of those is "
        "not all: choose a later run, or give --accept-changes"
    )
