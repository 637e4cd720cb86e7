"""Starts the job runs of a backfill and follows them until they have ended."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.errors import TidemarkError, UsageError
from tidemark.operate.backfill.contract import Fillable, filled_range
from tidemark.operate.backfill.plan import BackfillPlan
from tidemark.operate.backfill.ranges import Span, Unit
from tidemark.operate.clients import Glue
from tidemark.operate.job_runs import Run, read_run, start_run, stop_runs


@dataclass
class Filling:
    """How far a backfill is.

    Attributes:
        done: by part, the run that SUCCEEDED.
        failed: by part, the run that did not.
        open: by part, the run in progress.
    """

    done: dict[Span, Run] = field(default_factory=dict)
    failed: dict[Span, Run] = field(default_factory=dict)
    open: dict[Span, Run] = field(default_factory=dict)


def room_for(job: Fillable, unit: Unit, span: Span, open_runs: Sequence[Run]) -> int:
    """Return how many runs may be started at once."""
    for run in open_runs:
        filled = filled_range(run.arguments)
        if filled and filled[0] is unit and span.common(filled[1]):
            raise UsageError(
                f"the run {run.run_id} of {job.name} fills {filled[1].text(unit)} now: wait for "
                f"it, or `tidemark stop {job.name}`"
            )
    room = job.max_runs - len(open_runs)
    if room < 1:
        ids = ", ".join(run.run_id for run in open_runs[:3])
        raise UsageError(
            f"{job.name} runs now ({ids}), and {job.max_runs} of its runs may run at once: wait "
            f"for it, or `tidemark stop {job.name}`"
        )
    return room


def fill(
    glue: Glue,
    job: Fillable,
    plan: BackfillPlan,
    arguments: Mapping[str, str],
    room: int,
    tell: Callable[[Run, Span], None],
) -> Filling:
    """Run the parts of a plan in order; after one that fails no other is started."""
    state, waiting = Filling(), list(plan.parts)
    try:
        while waiting or state.open:
            while waiting and len(state.open) < room and not state.failed:
                part = waiting[0]
                run = _started(glue, job, {**arguments, **job.arguments(part, plan.unit)}, state)
                if run is None:
                    break
                state.open[waiting.pop(0)] = run
                tell(run, part)
            if not state.open:
                break
            time.sleep(glue.poll_s)
            _look(glue, state, tell)
    except BaseException:  # Ctrl-C too: started runs must not continue unseen
        for run in state.open.values():
            stop_runs(glue, job.name, run)
        raise
    return state


def _started(glue: Glue, job: Fillable, arguments: Mapping[str, str], state: Filling) -> Run | None:
    from botocore.exceptions import ClientError

    try:
        return start_run(glue, job.name, arguments)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ConcurrentRunsExceededException":
            raise
        if state.open:
            return None
        raise TidemarkError(
            f"another run of {job.name} was started meanwhile, and no more may run at once; give "
            "the command again with --only-missing when it has ended"
        ) from error


def _look(glue: Glue, state: Filling, tell: Callable[[Run, Span], None]) -> None:
    for part, run in list(state.open.items()):
        now = read_run(glue, run)
        if not now.is_final:
            continue
        del state.open[part]
        (state.done if now.state == "SUCCEEDED" else state.failed)[part] = now
        tell(now, part)


def arguments_of_trigger(glue: Glue, job: str) -> dict[str, str]:
    """Return the arguments that the first trigger of a job starts it with; none without one."""
    for page in glue.glue.get_paginator("get_triggers").paginate(DependentJobName=job):
        for trigger in page["Triggers"]:
            for action in trigger.get("Actions", []):
                if action.get("JobName") == job:
                    return dict(action.get("Arguments") or {})
    return {}
