"""The edge of this machine: reads the facts of a home, and makes steps of a plan."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_service.runs.run_requests import run_requests
from tidemark.local_state.bookmarks.versions import bookmark_versions
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.steps import BookmarkStep, Steps, WatermarkStep
from tidemark.local_state.store.database import FINAL_STATES, JobRun, Store
from tidemark.local_state.watermark_tables import ARGUMENT
from tidemark.model.assembly.definitions import Deployment
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.rewind.clear import FileSeen, files_to_clear
from tidemark.operate.rewind.facts import BOOKMARK, Facts, KnownRun, Move, Start, Track
from tidemark.operate.rewind.plan import Plan
from tidemark.operate.rewind.refusals import check_none_in_flight

Windows: TypeAlias = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Open windows as they are stored, by table, job and source."""


def tables_of(deployment: Deployment, checkpoints: Iterable[Checkpoint]) -> dict[str, list[str]]:
    """Return the jobs that keep watermarks, by table: of their argument, or as they have run."""
    found: dict[str, dict[str, None]] = {}
    for name, job in deployment.jobs.items():
        arguments = {**job.default_arguments, **job.non_overridable_arguments}
        if table := arguments.get(ARGUMENT):
            found.setdefault(table, {})[name] = None
    for one in checkpoints:
        for move in one.watermarks if one.job_name in deployment.jobs else ():
            found.setdefault(move.table, {})[one.job_name] = None
    return {table: list(jobs) for table, jobs in found.items()}


def facts_of_home(
    home: Home,
    store: Store,
    deployment: Deployment,
    checkpoints: Sequence[Checkpoint],
    watermark_tracks: Sequence[Track],
    now_ms: int,
) -> Facts:
    """Return what is known of the jobs of an app in a home."""
    jobs = list(deployment.jobs)
    known = store.all_job_runs()
    requests = run_requests(store, [run.run_id for run in known])
    runs = [_known(run, requests[run.run_id].arguments) for run in known]
    in_flight = store.unfinished_job_runs() if home.is_held() else []
    bookmarks = [track for job in jobs if (track := bookmark_track(store, job))]
    return Facts(
        jobs=jobs,
        starts=[
            Start(
                trigger.name,
                tuple(action.job_name for action in trigger.actions),
                tuple(condition.job_name for condition in trigger.conditions),
                trigger.workflow_name or "",
            )
            for trigger in deployment.triggers
        ],
        tracks=[*bookmarks, *watermark_tracks],
        checkpoints=sorted(checkpoints, key=lambda one: one.committed_at_ms),
        runs=runs,
        now_ms=now_ms,
        in_flight=[_known(run) for run in in_flight if run.job_name in deployment.jobs],
        schedules=schedules_of(deployment),
        others=_others(store, jobs),
    )


def schedules_of(deployment: Deployment) -> list[str]:
    """Return what starts the workflows by the clock, each as one line."""
    return [
        f"{one.workflow_name} is started by {one.expression} ({one.time_zone}) on AWS, not here"
        for one in deployment.schedules
    ]


def bookmark_track(store: Store, job: str) -> Track | None:
    """Return the bookmark of a job with its history, None if it has none."""
    moves = [
        Move(one.version, one.kind, one.run_id, one.committed_at_ms)  # type: ignore[arg-type]
        for one in bookmark_versions(store, job)
    ]
    return Track(job, BOOKMARK, moves) if moves else None


def _known(run: JobRun, arguments: Mapping[str, str] = MappingProxyType({})) -> KnownRun:
    state = run.state if run.state in FINAL_STATES else "RUNNING"
    return KnownRun(
        run.run_id,
        run.job_name,
        run.started_at_ms,
        state,
        run.completed_at_ms,
        arguments=arguments,
    )


def _others(store: Store, jobs: Sequence[str]) -> dict[str, str]:
    rows = store.query("SELECT job_name, stack_name FROM deployed_job")
    stacks = {row["job_name"]: f"stack {row['stack_name']}" for row in rows}
    ran = store.query("SELECT DISTINCT job_name FROM job_run")
    others = {row["job_name"]: "another app or a script of its own" for row in ran}
    return {job: where for job, where in {**others, **stacks}.items() if job not in jobs}


def steps_of(home: Home, facts: Facts, plan: Plan, windows: Windows) -> Steps:
    """Return the steps of a plan, with every file that is to go."""
    states = plan.states
    files = [
        (path, "")
        for clear in plan.clears
        for path in _paths(home, files_to_clear(facts, clear, _files(home, clear.dataset)))
    ]
    return Steps(
        tuple(
            BookmarkStep(state.job, state.from_version, state.to_version)
            for state in states
            if state.kind == BOOKMARK
        ),
        tuple(
            WatermarkStep(
                state.kind,
                state.job,
                state.source,
                state.from_version,
                state.from_run,
                state.to_run,
                restores=windows.get((state.kind, state.job, state.source), {}),
            )
            for state in states
            if state.kind != BOOKMARK
        ),
        tuple(dict.fromkeys(files)),
    )


def _files(home: Home, dataset: str) -> list[FileSeen]:
    """Return the files of a dataset in the lake."""
    if "://" not in dataset or not dataset.startswith("s3"):
        raise UsageError(
            f"--clear deletes files, and {dataset} is no folder; nothing was changed: delete its "
            "rows yourself, and leave out --clear"
        )
    try:
        folder = home.existing_path(dataset)
    except EntityNotFoundError:
        return []
    base = dataset.rstrip("/")
    return [
        FileSeen(f"{base}/{path.relative_to(folder).as_posix()}", path.stat().st_mtime_ns / 1e6)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    ]


def _paths(home: Home, uris: Iterable[str]) -> list[str]:
    paths = [home.local_path(uri) for uri in uris]
    check_same_disk(home, paths)
    return [path.relative_to(home.root).as_posix() for path in paths]


def check_same_disk(home: Home, paths: Iterable[Path]) -> None:
    """Refuse files that cannot be moved into the home in one step."""
    disk = home.root.stat().st_dev
    for path in paths:
        if path.stat().st_dev != disk:
            raise UsageError(
                f"--clear: {path} is on another disk than {home.root}, to which it cannot be moved "
                "in one step; nothing was changed: leave out --clear, and delete the partitions "
                "that are written again yourself"
            )


def check_no_run(home: Home, store: Store) -> None:
    """Refuse while runs go on."""
    runs = store.unfinished_job_runs() if home.is_held() else []
    check_none_in_flight([_known(run) for run in runs])
