"""The steps of a carry-over plan, here or on AWS: plain data, nothing is done."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tidemark.checks.script.values import is_certain
from tidemark.checks.state.manifest import Manifest
from tidemark.checks.state.plan import (
    Discard,
    PlanEntry,
    RenameCtx,
    RenameJob,
    Reread,
    final_name,
    in_order,
)

# Places that a local position names by the same string as the script.
_PLAIN = ("jdbc", "mysql", "oracle", "postgresql", "sqlserver")
_NO_API = "AWS has no API that writes a bookmark"


class Action(Enum):
    """The action of a step."""

    CARRY_WATERMARKS = "carry watermarks"
    CARRY_BOOKMARK = "carry bookmark"
    RENAME_CTX = "rename transformation_ctx"
    FORGET_CTX = "forget transformation_ctx"
    NOTHING = "nothing"


@dataclass(frozen=True)
class StateStep:
    """One step.

    Attributes:
        action: its action.
        text: that in words; for a step that does nothing, why.
        job: the job it is about, by its old name if it is renamed.
        to_job: the new name of the job; empty if it keeps its name.
        table: of watermarks, their table.
        ctx: the transformation_ctx, by its old name.
        to_ctx: its new name.
        places: the current places of a ctx.
        keys: its jobBookmarkKeys, as far as the script states them.
    """

    action: Action
    text: str
    job: str
    to_job: str = ""
    table: str = ""
    ctx: str = ""
    to_ctx: str = ""
    places: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()


def steps_of(plan: Sequence[PlanEntry], app: Manifest, *, on_aws: bool) -> list[StateStep]:
    """Return the steps of a plan, in an order that may be repeated at any point.

    Jobs are renamed first, then their ctxs, oldest names first; all other steps use the new names.
    """
    entries = in_order([entry.entry for entry in plan])
    renames = {e.from_job: e.to_job for e in entries if isinstance(e, RenameJob)}
    steps: list[StateStep] = []
    for entry in entries:
        match entry:
            case RenameJob():
                steps += _rename_job(entry, app, final_name(entry.to_job, renames), on_aws)
            case RenameCtx(from_ctx=ctx, to_ctx=to_ctx):
                job = final_name(entry.job, renames)
                if on_aws:
                    text = f"{_NO_API}: {job} reads all of {to_ctx} again"
                    steps.append(StateStep(Action.NOTHING, text, job))
                else:
                    text = f"the position of {ctx} of {job} continues under {to_ctx}"
                    steps.append(StateStep(Action.RENAME_CTX, text, job, ctx=ctx, to_ctx=to_ctx))
            case Reread():
                steps.append(_reread(entry, final_name(entry.job, renames), app, on_aws))
            case Discard(job=job, ctx=ctx, resource=resource, reason=reason):
                subject = resource or (f"{ctx} of {job}" if ctx else job)
                steps.append(StateStep(Action.NOTHING, f"{subject} is given up: {reason}", job))
    return steps


def _rename_job(entry: RenameJob, app: Manifest, name: str, on_aws: bool) -> Iterator[StateStep]:
    """Yield the steps of a rename to a job whose name in the app is `name`."""
    old, new = entry.from_job, entry.to_job
    now = app.jobs.get(name)
    if now is None:
        yield StateStep(Action.NOTHING, f"the app has no job {name} any more", old, new)
        return
    if now.watermark_table:
        text = f"the watermarks of {old} in {now.watermark_table} become those of {new}"
        yield StateStep(Action.CARRY_WATERMARKS, text, old, new, now.watermark_table)
    if now.has_bookmark and on_aws:
        text = (
            f"{_NO_API}: {new} reads everything again, unless its bookmark is built by a run that "
            "writes elsewhere; see docs/state.md"
        )
        yield StateStep(Action.NOTHING, text, old, new)
    elif now.has_bookmark:
        text = f"the bookmark of {old} becomes that of {new}"
        yield StateStep(Action.CARRY_BOOKMARK, text, old, new)


def _reread(entry: Reread, job: str, app: Manifest, on_aws: bool) -> StateStep:
    """Return the step of an entry about a job whose name in the app is `job`."""
    ctx = entry.ctx
    state = app.jobs.get(job)
    if not ctx or state is None or ctx not in state.ctxs:
        return StateStep(
            Action.NOTHING, f"{ctx or job} is read again automatically: {entry.reason}", job
        )
    if on_aws:
        text = (
            f"AWS forgets {ctx} only together with all other sources of {job}; if that is right, "
            f"once, before the next run: aws glue reset-job-bookmark --job-name {job}"
        )
        return StateStep(Action.NOTHING, text, job)
    read = state.places_of(ctx)
    if not all(_is_known(kind, place) for kind, place, _ in read):
        text = (
            f"where {ctx} of {job} reads is known to its runs only; once, before the next run: "
            f"tidemark bookmark reset {job}"
        )
        return StateStep(Action.NOTHING, text, job)
    text = f"the position of {ctx} of {job} at another place is forgotten"
    places = frozenset(place for _, place, _ in read)
    keys = next((keys for _, _, keys in read if keys), ())
    return StateStep(Action.FORGET_CTX, text, job, ctx=ctx, places=places, keys=keys)


def _is_known(kind: str, place: str) -> bool:
    """Return whether a local position, created at this place, has the same name for it."""
    is_plain = kind in _PLAIN or place.startswith("s3://")
    return is_plain and is_certain(place) and "{--" not in place
