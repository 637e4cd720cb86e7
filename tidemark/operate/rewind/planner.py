"""Plans a rewind: what moves, what is read again, and the effect on everything downstream."""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import FROM, TO, is_filling
from tidemark.operate.job_runs import Run
from tidemark.operate.rewind.advice import advice_on, half_written, unknowns
from tidemark.operate.rewind.amounts import rereads
from tidemark.operate.rewind.cut import Cut, RewindTo, cuts, first_start, previous
from tidemark.operate.rewind.datasets import (
    FAILS,
    Datasets,
    datasets_of,
    downstream_of,
    goes_back,
    is_by_snapshots,
)
from tidemark.operate.rewind.effects import ADDING, REPLACING, Effect, effects, how_read
from tidemark.operate.rewind.facts import RewindFacts
from tidemark.operate.rewind.plan import Clear, JobPlan, RewindPlan, StateMove
from tidemark.operate.rewind.refusals import (
    check_fits,
    check_graph,
    check_jobs,
    check_request,
    resolve_run,
)
from tidemark.operate.rewind.window_reads import window_reads

BEGINNING, PREVIOUS = "beginning", "previous"
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")


def plan_request(facts: RewindFacts, names: Sequence[str], to: str, **options: bool) -> RewindPlan:
    """Return the plan of a rewind whose target is named as people do: see `tidemark rewind --to`.

    The options are those of `plan_rewind`.
    """
    check_jobs(facts, names)
    jobs = list(dict.fromkeys(names))
    plan = plan_rewind(facts, jobs, _target(facts, jobs, to), **options)
    check_fits(plan)
    return plan


def _target(facts: RewindFacts, jobs: Sequence[str], text: str) -> RewindTo:
    if text == BEGINNING:
        return RewindTo(text)
    if text == PREVIOUS:
        return previous(facts, jobs)
    if not DATE.fullmatch(text):
        return RewindTo(text, resolve_run(facts, jobs, text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"--to {text} is not a moment ({error}); write it as 2026-11-20 or 2026-11-20T06:00"
        ) from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return RewindTo(f"{moment:%Y-%m-%d %H:%M:%S%z}", at_ms=int(moment.timestamp() * 1000))


def plan_rewind(
    facts: RewindFacts,
    jobs: Sequence[str],
    to: RewindTo,
    *,
    with_downstream: bool = False,
    clears: bool = False,
    accepts_changes: bool = False,
) -> RewindPlan:
    """Return the plan of a rewind."""
    check_request(facts, jobs, to)
    datasets = datasets_of(facts)
    following = downstream_of(facts, datasets, jobs)
    movable = [job for job in following if facts.tracks_of(job)] if with_downstream else []
    all_cuts = cuts(facts, datasets, jobs, movable, to)
    moved = [cut for cut in all_cuts if cut.is_change]
    names = list(dict.fromkeys(cut.track.job for cut in moved))
    if not accepts_changes:
        check_graph(facts, names, following, moved)
    left = [job for job in following if job not in names]
    unmoved = set(jobs) - set(names)
    new_to = _new_to(facts, moved, left)
    filled = _filled_downstream(facts, moved, left)
    filled |= _filled_since(facts, [cut for cut in all_cuts if cut.track.job not in left])
    again = _reading_again(facts, datasets, moved, filled)
    half = {job: half_written(facts, job, at_ms) for job, at_ms in _since(moved).items()}
    seen = effects(
        datasets,
        again,
        [*names, *left],
        new_to=new_to,
        clears=clears,
        staying={job: why or _filled(facts, job) for job, why in half.items()},
        doubtful=_doubtful(facts, moved, half),
        filled=filled,
        windows=window_reads(facts, datasets, moved),
    )
    cleared = _clears(facts, moved) if clears else []
    rewritten = _rewritten(facts, datasets, seen)
    plans = []
    for job in facts.jobs:
        own = [cut for cut in moved if cut.track.job == job]
        if own:
            states = tuple(_move(cut) for cut in own)
            reads = tuple(rereads(facts, own, rewritten))
            targets = tuple(seen[job])
            plans.append(JobPlan(job, True, states, reads, effects=targets, is_known=bool(targets)))
        elif job in left and names:
            sees = _sees(facts, datasets, seen, job, again if clears else ())
            is_known = bool(seen[job] or facts.checkpoints_of(job))
            plans.append(
                JobPlan(job, False, sees=sees, effects=tuple(seen[job]), is_known=is_known)
            )
    return RewindPlan(
        to.text,
        tuple(plans),
        tuple(cleared),
        tuple(advice_on(plans, with_downstream=with_downstream, clears=clears)),
        (*unknowns(facts, plans), *(f"{job}: {filled[job]}" for job in filled if job in unmoved)),
        tuple(facts.schedules),
    )


def _reading_again(
    facts: RewindFacts, datasets: Datasets, moved: Sequence[Cut], filled: Container[str]
) -> list[str]:
    """Return the jobs that read something again, as far as known."""
    # The undone runs of the others have found nothing, no backfill has written since, and no
    # upstream job that goes back gives them anything.
    undone = list(dict.fromkeys(cut.track.job for cut in moved if cut.undone))
    again = []
    for job in undone:
        own = [cut for cut in moved if cut.track.job == job]
        is_given = any(flow.writer in undone for flow in datasets.into(job))
        has_found = half_written(facts, job, _since(own)[job]) or not _have_read_nothing(facts, own)
        if job in filled or is_given or has_found:
            again.append(job)
    return again


def _doubtful(facts: RewindFacts, moved: Sequence[Cut], half: Mapping[str, str]) -> dict[str, str]:
    """Return by job whose undone runs have read nothing which failed run may have left rows."""
    return {
        job: why
        for job, why in half.items()
        if why and _have_read_nothing(facts, [cut for cut in moved if cut.track.job == job])
    }


def _have_read_nothing(facts: RewindFacts, own: Sequence[Cut]) -> bool:
    reads = rereads(facts, own, {})
    return bool(reads) and all(not read.why and not read.files and read.rows == 0 for read in reads)


def _since(moved: Sequence[Cut]) -> dict[str, int]:
    since: dict[str, int] = {}
    for cut in moved:
        at_ms = cut.to.at_ms if cut.to else 0
        since[cut.track.job] = min(since.get(cut.track.job, at_ms), at_ms)
    return since


def _filled_since(facts: RewindFacts, moved: Sequence[Cut]) -> dict[str, str]:
    """Return by rewound job the backfills that have written since then, and are kept."""
    filled: dict[str, str] = {}
    for job, at_ms in _since(moved).items():
        for run, arguments in _fills(facts, job, at_ms):
            filled[job] = (
                f"run {run.run_id} of a backfill has written since, and no rewind undoes that: "
                f"fill from {arguments[FROM]} to before {arguments.get(TO, 'its end')} again"
            )
    return filled


def _filled_downstream(
    facts: RewindFacts, moved: Sequence[Cut], jobs: Sequence[str]
) -> dict[str, str]:
    """Return by job whose state stays the backfills that may have read undone data."""
    since = _first_undone(facts, moved)
    return {
        job: (
            f"run {run.run_id} of a backfill may have read undone data, and its output "
            "stays: delete that, or check that rows are not duplicated"
        )
        for job in jobs
        for run, _ in _fills(facts, job, since)
    }


def _fills(facts: RewindFacts, job: str, since_ms: int) -> Iterator[tuple[Run, Mapping[str, str]]]:
    arguments = {record.run_id: record.arguments for record in facts.checkpoints_of(job)}
    for run in facts.runs_of(job):
        of_run = run.arguments or arguments.get(run.run_id, {})
        if (run.ended_at_ms or run.started_at_ms) > since_ms and is_filling(of_run):
            yield run, of_run


def _filled(facts: RewindFacts, job: str) -> str:
    """Return which run of a backfill has loaded rows that no rewind deletes; empty for none."""
    for record in reversed(facts.checkpoints_of(job)):
        if is_filling(record.arguments) and record.written:
            return (
                f"what run {record.run_id} of a backfill has loaded stays: rows of it that are "
                "read again are there twice"
            )
    return ""


def _rewritten(
    facts: RewindFacts, datasets: Datasets, seen: Mapping[str, Sequence[Effect]]
) -> dict[tuple[str, str], str]:
    """Return why it is not known how much of a dataset a job finds, by dataset and reader."""
    reasons = {
        (read.dataset, reader): f"{job} has never committed: what it has left is unknown"
        for start in facts.starts
        for job in start.after
        if facts.runs_of(job) and not facts.checkpoints_of(job)
        for reader in start.jobs
        for read in datasets.read.get(reader, ())
    }
    for flow in datasets.flows:
        key = (flow.read.dataset, flow.reader)
        if flow.written.mode in REPLACING:
            reasons[key] = f"{flow.writer} replaces what it has written there: what is there now"
    for flow in datasets.flows:
        effects_ = seen.get(flow.writer, ())
        if any(effect.is_written and effect.dataset == flow.written.dataset for effect in effects_):
            key = (flow.read.dataset, flow.reader)
            reasons[key] = f"{flow.writer} writes there first: how much is known only then"
    return reasons


def _new_to(facts: RewindFacts, moved: Sequence[Cut], jobs: Sequence[str]) -> list[str]:
    # What has not run since the first undone run began sees all of it as new.
    since = _first_undone(facts, moved)
    incremental = [record for record in facts.checkpoints if not is_filling(record.arguments)]
    last = {record.job_name: record.committed_at_ms for record in incremental}
    for track in facts.tracks:
        at_ms = next((move.at_ms for move in track.in_force()), 0)
        last[track.job] = max(last.get(track.job, 0), at_ms)
    return [job for job in jobs if last.get(job, 0) < since]


def _first_undone(facts: RewindFacts, moved: Sequence[Cut]) -> int:
    starts = [first_start(facts, cut) for cut in moved]
    return min((start for start in starts if start is not None), default=facts.now_ms)


def _move(cut: Cut) -> StateMove:
    track, to = cut.track, cut.to
    return StateMove(
        track.job,
        track.kind,
        track.source,
        track.latest.version,
        track.latest.run_id,
        to.run_id if to else "",
        to.version if to else 0,
        None if track.is_bookmark else track.latest.value,
        None if track.is_bookmark else (to.value if to else {}),
        track.open_windows,
        tuple(dict.fromkeys(move.run_id for move in reversed(cut.undone))),
    )


def _clears(facts: RewindFacts, moved: Sequence[Cut]) -> list[Clear]:
    runs: dict[tuple[str, str, str], dict[str, None]] = {}
    for cut in moved:
        undone = {move.run_id for move in cut.undone}
        for checkpoint in facts.checkpoints_of(cut.track.job):
            for written in checkpoint.written if checkpoint.run_id in undone else ():
                if written.mode in ADDING:
                    key = (cut.track.job, written.dataset, written.mode)
                    runs.setdefault(key, {})[checkpoint.run_id] = None
    return [Clear(*key, tuple(ids)) for key, ids in runs.items()]


def _sees(
    facts: RewindFacts,
    datasets: Datasets,
    seen: Mapping[str, Sequence[Effect]],
    job: str,
    cleared: Collection[str],
) -> str:
    reads = [
        flow
        for flow in datasets.into(job)
        if any(
            effect.is_written and effect.dataset == flow.written.dataset
            for effect in seen.get(flow.writer, [])
        )
    ]
    if not facts.checkpoints_of(job) and not datasets.read[job]:
        return "it has no checkpoint: what it reads is unknown"
    if not reads:
        return "only a trigger puts it downstream: it reads none of the rewritten data"
    texts = {
        "files": "sees the files that are written again as new, and reads them",
        "snapshots": "sees the rows that are written again as new snapshots, and reads them",
        "keys": "does not see rewritten data: its own state would have to go back too",
        "whole": "reads everything in every run",
    }
    if any(
        is_by_snapshots(flow_read.read) and goes_back(flow_read.writer, flow_read.written, cleared)
        for flow_read in reads
    ):
        return FAILS
    hows = dict.fromkeys((flow.writer, how_read(flow.read)) for flow in reads)
    return "; ".join(f"{texts[how]} (of {writer})" for writer, how in hows)
