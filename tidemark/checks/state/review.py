"""Finds the decisions of the carry-over plan that cover the losses by a change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.checks.state.losses import Loss, LossKind, losses_of
from tidemark.checks.state.manifest import MANIFEST, Manifest
from tidemark.checks.state.plan import (
    PLAN,
    REREAD,
    Discard,
    Entry,
    PlanEntry,
    RenameCtx,
    RenameJob,
    Reread,
    final_name,
)
from tidemark.errors import TidemarkError

_REREAD_JOB = {LossKind.BOOKMARK_DISABLED, LossKind.BOOKMARK_RENAMED, LossKind.JOB_REPLACED}
_REREAD_JOB |= {LossKind.CHECKPOINT_GONE}
_REREAD_CTX = {LossKind.CTX_GONE, LossKind.SOURCE_MOVED, LossKind.CURSOR_GONE}
_DISCARD_JOB = {
    LossKind.BOOKMARK_GONE,
    LossKind.BOOKMARK_DISABLED,
    LossKind.JOB_REPLACED,
    LossKind.WATERMARK_GONE,
    LossKind.WATERMARK_MOVED,
    LossKind.CHECKPOINT_GONE,
}
_DISCARD_RESOURCE = {
    LossKind.RESOURCE_GONE,
    LossKind.RESOURCE_REPLACED,
    LossKind.RESOURCE_NOT_RETAINED,
    LossKind.COLUMNS_CHANGED,
}


@dataclass(frozen=True)
class Review:
    """What comes of comparing an app with its manifest.

    Attributes:
        unacknowledged: losses that no one has decided about.
        acknowledged: what would be lost, each with the entry that covers it.
        unused: entries that cover nothing, each with the reason.
        recorded: the current manifest.
        written: the manifest that is right for the app and the plan.
    """

    unacknowledged: tuple[Loss, ...]
    acknowledged: tuple[tuple[Loss, PlanEntry], ...]
    unused: tuple[tuple[PlanEntry, str], ...]
    recorded: Manifest
    written: Manifest

    @property
    def is_current(self) -> bool:
        """Whether the manifest is the one that is right."""
        return self.recorded == self.written

    @property
    def is_safe(self) -> bool:
        """Whether somebody has decided about everything that is lost, and about nothing else."""
        return not self.unacknowledged and not self.unused


def review(old: Manifest, app: Manifest, plan: Sequence[PlanEntry]) -> Review:
    """Return the losses of an app by its manifest, and those that the plan covers.

    An entry that the manifest has recorded has done that work: it covers nothing else, and stays
    in the plan until it has been carried out in every stage.
    """
    renames = {e.entry.from_job: e.entry.to_job for e in plan if isinstance(e.entry, RenameJob)}
    problems = {entry.text: why for entry in plan if (why := _problem(entry, old, app, renames))}
    usable = [
        entry
        for entry in plan
        if entry.text not in problems and entry.document not in old.carry_over
    ]
    losses = losses_of(old, app, [entry.entry for entry in usable])
    covering = {loss: next((e for e in usable if covers(e.entry, loss)), None) for loss in losses}
    used = {entry.text for entry in covering.values() if entry}
    for entry in usable:
        # A rename tells which job is which, even if AWS keeps nothing that it could carry.
        if entry.text not in used and not isinstance(entry.entry, RenameJob):
            problems[entry.text] = "nothing that it speaks of would be lost"
    return Review(
        unacknowledged=tuple(f for f, entry in covering.items() if entry is None),
        acknowledged=tuple((f, entry) for f, entry in covering.items() if entry),
        unused=tuple((entry, problems[entry.text]) for entry in plan if entry.text in problems),
        recorded=old,
        written=replace(app, carry_over=tuple(entry.document for entry in plan)),
    )


def covers(entry: Entry, loss: Loss) -> bool:
    """Return whether a decision is about this very loss."""
    match entry:
        case RenameJob(to_job=job):
            if loss.kind is LossKind.BOOKMARK_RENAMED:
                return loss.subject == job and entry.bookmark_on_aws == REREAD
            return loss.kind is LossKind.WATERMARK_RENAMED and loss.subject == job
        case RenameCtx(job=job, from_ctx=ctx):
            return (loss.kind, loss.subject, loss.ctx) == (LossKind.CTX_RENAMED, job, ctx)
        case Reread(job=job, ctx=ctx):
            kinds = _REREAD_CTX if ctx else _REREAD_JOB
            return loss.kind in kinds and (loss.subject, loss.ctx) == (job, ctx)
        case Discard(job=job, ctx=ctx, resource=resource):
            if resource:
                return loss.kind in _DISCARD_RESOURCE and loss.subject == resource
            kinds = _REREAD_CTX if ctx else _DISCARD_JOB
            return loss.kind in kinds and (loss.subject, loss.ctx) == (job, ctx)


def check_writable(found: Review) -> None:
    """Raise unless the manifest may be replaced by the one that is right now."""
    if not found.is_safe:
        raise TidemarkError(
            f"{MANIFEST} is not changed: losses that no one acknowledged: "
            f"{len(found.unacknowledged)}, entries that cover nothing: {len(found.unused)}; "
            "`tidemark state check` lists them with what to do"
        )


def changes(old: Manifest, new: Manifest) -> list[str]:
    """Return in words how two manifests differ, one line for each job, resource and entry."""
    lines = []
    for what, before, after in (
        ("job", old.jobs, new.jobs),
        ("resource", old.resources, new.resources),
    ):
        for name in sorted({*before, *after}):
            if name not in after:
                lines.append(f"{what} {name}: gone")
            elif before.get(name) != after[name]:
                lines.append(f"{what} {name}: {'changed' if name in before else 'added'}")
    if old.carry_over != new.carry_over:
        lines.append(
            f"{PLAN}: {len(new.carry_over)} entries, and the manifest has {len(old.carry_over)}"
        )
    return lines


def _problem(entry: PlanEntry, old: Manifest, app: Manifest, renames: Mapping[str, str]) -> str:
    """Return why an entry cannot be true, empty if it may be."""
    match entry.entry:
        case RenameCtx(job=job, from_ctx=ctx):
            now = app.jobs.get(final_name(job, renames))
            if now and ctx in now.ctxs:
                return f"job {job!r} has the ctx {ctx!r} still, whose position would be taken away"
        case RenameJob(from_job=name) if name in app.jobs:
            return f"the app has a job {name!r}, whose state would be taken away"
        case RenameJob(from_job=name, to_job=job) if entry.document not in old.carry_over:
            if name not in old.jobs:
                return f"the manifest has no job {name!r}"
            if job not in app.jobs:
                return f"the app has no job {job!r}"
            if job in old.jobs:
                return f"the manifest has a job {job!r} already, with its own state"
    return ""
