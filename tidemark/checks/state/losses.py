"""Finds the state that a change of an app would lose, with remedies."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from tidemark.checks.state.manifest import (
    CONTRACT,
    GLUE_TABLE,
    ICEBERG_TABLE,
    JobState,
    Manifest,
    StatefulResource,
)
from tidemark.checks.state.plan import REREAD, Entry, RenameCtx, RenameJob, entry_document
from tidemark.model.column_types import is_promotion


class LossKind(Enum):
    """What happens to state."""

    BOOKMARK_GONE = "bookmark gone"
    BOOKMARK_RENAMED = "bookmark left under the old job name"
    BOOKMARK_DISABLED = "bookmark disabled"
    JOB_REPLACED = "job replaced"
    CTX_GONE = "transformation_ctx gone"
    CTX_RENAMED = "transformation_ctx renamed"
    SOURCE_MOVED = "source moved"
    WATERMARK_GONE = "watermark gone"
    WATERMARK_RENAMED = "watermark left under the old job name"
    WATERMARK_MOVED = "watermark table changed"
    CHECKPOINT_GONE = "checkpoint gone"
    CURSOR_GONE = "watermark gone for cursor"
    RESOURCE_GONE = "resource gone"
    RESOURCE_REPLACED = "resource replaced"
    RESOURCE_NOT_RETAINED = "resource not retained"
    COLUMNS_CHANGED = "declared columns changed"


@dataclass(frozen=True)
class Loss:
    """State that a change would lose.

    Attributes:
        kind: what happens to it.
        subject: the job, by its new name if it was renamed; or the resource.
        ctx: the transformation_ctx, by its old name, or the cursor of the watermark; empty if it
            concerns neither.
        lost: the loss, in words.
        remedy: what to do, in words.
    """

    kind: LossKind
    subject: str
    lost: str
    remedy: str
    ctx: str = ""


def losses_of(old: Manifest, app: Manifest, plan: Sequence[Entry] = ()) -> list[Loss]:
    """Return the losses of an app by its recorded manifest; additions lose nothing."""
    return [*_of_jobs(old, app, plan), *_of_resources(old, app)]


def _of_jobs(old: Manifest, app: Manifest, plan: Sequence[Entry]) -> Iterator[Loss]:
    renamed = {e.from_job: e.to_job for e in plan if isinstance(e, RenameJob)}
    for name, was in sorted(old.jobs.items()):
        job = renamed.get(name, name)
        now = app.jobs.get(job)
        yield from _of_checkpoint(name if now is None else job, was, app)
        if now is None:
            yield from _gone(name, was, old, app)
            continue
        yield from _of_watermark(name, job, was, now)
        if not was.has_bookmark:
            continue
        if not now.has_bookmark:
            yield Loss(
                LossKind.BOOKMARK_DISABLED,
                job,
                "every run reads everything, and the stored position no longer moves",
                f"enable the bookmark again, or {_add('reread', job=job, reason='...')}",
            )
            continue
        if job != name:
            yield _bookmark_renamed(name, job)
        elif was.resource != now.resource:
            yield Loss(
                LossKind.JOB_REPLACED,
                job,
                f"the job of this name is another resource ({was.resource}, now {now.resource}): "
                "CloudFormation deletes the old one, and AWS its bookmark with it",
                "keep the construct's id and its stack, or "
                + _add("reread", job=job, reason="..."),
            )
        ctxs = {e.from_ctx: e.to_ctx for e in plan if isinstance(e, RenameCtx) and e.job == job}
        yield from _of_sources(job, was, now, ctxs)


def _of_checkpoint(subject: str, was: JobState, app: Manifest) -> Iterator[Loss]:
    """Yield a checkpoint that no streaming job uses any more; its job may have another name."""
    if was.checkpoint and all(now.checkpoint != was.checkpoint for now in app.jobs.values()):
        remedy = "reread" if subject in app.jobs else "discard"
        yield Loss(
            LossKind.CHECKPOINT_GONE,
            subject,
            f"how far it has come is in {was.checkpoint}, which no job uses any more: it starts "
            "where its options say, and skips or repeats the rows in between",
            f"keep the checkpoint, or {_add(remedy, job=subject, reason='...')}",
        )


def _gone(name: str, was: JobState, old: Manifest, app: Manifest) -> Iterator[Loss]:
    """Yield the losses by a job that the app no longer has, or has under another name."""
    candidate = _successor(was, old, app)
    discard = _add("discard", job=name, reason="...")
    if was.watermark_table:
        rename = _add("rename_job", from_=name, to=candidate or "NEW-NAME")
        yield Loss(
            LossKind.WATERMARK_GONE,
            name,
            f"its watermarks in {was.watermark_table} stay under a name that nothing runs under; "
            "a renamed job starts over and loads everything",
            f"keep the job's name, or {rename}, or {discard}",
        )
    if was.has_bookmark:
        rename = _add("rename_job", from_=name, to=candidate or "NEW-NAME", bookmark_on_aws=REREAD)
        yield Loss(
            LossKind.BOOKMARK_GONE,
            name,
            "AWS deletes the bookmark with the job, and a job of another name starts over: it "
            "reads everything again",
            f"keep the job's name, or {rename}, or {discard}",
        )


def _bookmark_renamed(name: str, job: str) -> Loss:
    whole = _entry("rename_job", from_=name, to=job, bookmark_on_aws=REREAD)
    return Loss(
        LossKind.BOOKMARK_RENAMED,
        job,
        f"no API of AWS writes a bookmark: what {name} has read cannot be carried over there, and "
        f"{job} reads everything again",
        f"keep the job's name, or say that it may, with {whole}",
    )


def _of_watermark(name: str, job: str, was: JobState, now: JobState) -> Iterator[Loss]:
    if not was.watermark_table:
        return
    discard = _add("discard", job=job, reason="...")
    if not now.watermark_table:
        yield Loss(
            LossKind.WATERMARK_GONE,
            job,
            f"the job no longer uses its watermarks in {was.watermark_table}",
            f"give the job its watermarks back, or {discard}",
        )
    elif now.watermark_table != was.watermark_table:
        yield Loss(
            LossKind.WATERMARK_MOVED,
            job,
            f"its watermarks are in {was.watermark_table}, and it looks in {now.watermark_table}: "
            "it starts over and loads everything",
            f"keep the table, or copy the rows of the job before its next run and {discard}",
        )
    elif name != job:
        yield Loss(
            LossKind.WATERMARK_RENAMED,
            job,
            f"its watermarks in {was.watermark_table} are those of {name}",
            "run `tidemark state carry-over` before the job runs",
        )
    for cursor in was.cursors if now.watermark_table else ():
        if cursor not in now.cursors:
            reread = _add("reread", job=job, ctx=cursor, reason="...")
            yield Loss(
                LossKind.CURSOR_GONE,
                job,
                f"the script opens windows of {', '.join(now.cursors) or 'no cursor'}, and the "
                f"watermark of {cursor} is no longer used: another cursor starts over and loads "
                "everything",
                f"keep the cursor's name, or {reread}",
                cursor,
            )


def _of_sources(
    job: str, was: JobState, now: JobState, renamed: Mapping[str, str]
) -> Iterator[Loss]:
    for ctx in was.ctxs:
        became = renamed.get(ctx, ctx)
        if became not in now.ctxs:
            yield _ctx_gone(job, ctx, was, now)
            continue
        if became != ctx:
            yield Loss(
                LossKind.CTX_RENAMED,
                job,
                f"on AWS {became} starts over and reads everything again: no API writes a bookmark",
                "run `tidemark state carry-over`, which carries the local bookmark over",
                ctx,
            )
        if added := now.places_of(became) - was.places_of(ctx):
            places = ", ".join(sorted(f"{kind} {place}" for kind, place, _ in added))
            reread = _add("reread", job=job, ctx=became, reason="...")
            discard = _add("discard", job=job, ctx=became, reason="...")
            yield Loss(
                LossKind.SOURCE_MOVED,
                job,
                f"{became} now reads {places} with the position of another place: older data "
                "there is never read, without an error",
                "give the new place its own transformation_ctx; or, to start over there, "
                f"{reread}; or, if there is nothing older, {discard}",
                became,
            )


def _ctx_gone(job: str, ctx: str, was: JobState, now: JobState) -> Loss:
    fresh = [c for c in now.ctxs if c not in was.ctxs]
    same = [c for c in fresh if now.places_of(c) == was.places_of(ctx)]
    rename = ""
    if same or len(fresh) == 1:
        to = (same or fresh)[0]
        entry = _add("rename_ctx", job=job, from_=ctx, to=to, bookmark_on_aws=REREAD)
        rename = f"if it is {to} now, {entry}; "
    return Loss(
        LossKind.CTX_GONE,
        job,
        f"the position of {ctx} is no longer used; the same source under another ctx is read from "
        "the beginning",
        f"keep the ctx; {rename}if its data may be read again, "
        f"{_add('reread', job=job, ctx=ctx, reason='...')}; if they are not read any more, "
        + _add("discard", job=job, ctx=ctx, reason="..."),
        ctx,
    )


def _successor(was: JobState, old: Manifest, app: Manifest) -> str:
    """Return the one new job that may be an old one by another name, empty if none is likely."""

    def likeness(name: str) -> tuple[int, int]:
        now = app.jobs[name]
        places = sum(was.places_of(ctx) == now.places_of(ctx) for ctx in was.ctxs)
        is_alike = (now.watermark_table, now.has_bookmark) == (
            was.watermark_table,
            was.has_bookmark,
        )
        return places, int(is_alike)

    ranked = sorted(((likeness(n), n) for n in app.jobs if n not in old.jobs), reverse=True)
    best = [name for rank, name in ranked if rank == ranked[0][0] and any(rank)]
    return best[0] if len(best) == 1 else ""


def _of_resources(old: Manifest, app: Manifest) -> Iterator[Loss]:
    for id_, was in sorted(old.resources.items()):
        discard = _add("discard", resource=id_, reason="...")
        now = app.resources.get(id_)
        if was.type == CONTRACT:
            yield from _of_contract(id_, was, now, discard)
        elif now is None:
            yield Loss(
                LossKind.RESOURCE_GONE,
                id_,
                f"the {was.type} is no longer part of the app: "
                + ("it stays, but nothing uses it" if was.is_retained else "it is deleted"),
                f"keep its id and its stack, or import it under the new id, or {discard}",
            )
        elif differences := list(_replacing(was, now)):
            yield Loss(
                LossKind.RESOURCE_REPLACED,
                id_,
                f"{', '.join(differences)}: {_consequence(was, now)}",
                f"undo that change, or {discard}",
            )
        elif was.is_retained and not now.is_retained:
            yield Loss(
                LossKind.RESOURCE_NOT_RETAINED,
                id_,
                f"the {now.type} is deleted, with all that it holds, when its stack goes or when "
                "it is replaced",
                f"keep DeletionPolicy and UpdateReplacePolicy Retain, or {discard}",
            )


def _of_contract(
    id_: str, was: StatefulResource, now: StatefulResource | None, discard: str
) -> Iterator[Loss]:
    """Yield the columns that a contract has no more; without a contract nothing is promised."""
    columns = dict(column.split(" ", 1) for column in now.keys) if now else {}
    wrong = [
        f"{name} was {kind} and is {columns.get(name, 'gone')}"
        for name, kind in (column.split(" ", 1) for column in was.keys if now)
        if not is_promotion(kind, columns.get(name, ""))
    ]
    if wrong:
        yield Loss(
            LossKind.COLUMNS_CHANGED,
            id_,
            f"{', '.join(wrong)}: a reader of the files that exist fails, or loses values",
            f"keep these columns, add others or make types wider, write elsewhere, or {discard}",
        )


def _replacing(was: StatefulResource, now: StatefulResource) -> Iterator[str]:
    keys = "folder" if was.type == ICEBERG_TABLE else "keys"
    for name, before, after in (
        ("type", was.type, now.type),
        ("name", was.name, now.name),
        (keys, ", ".join(was.keys), ", ".join(now.keys)),
    ):
        if before != after:
            yield f"its {name} was {before or 'created by AWS'} and is {after or 'created by AWS'}"


def _consequence(was: StatefulResource, now: StatefulResource) -> str:
    """Return what CloudFormation does; a Glue table with other partition keys it changes."""
    if now.type == GLUE_TABLE and (was.type, was.name) == (now.type, now.name):
        return "the partitions that are registered have other keys, and are not found"
    if now.type == ICEBERG_TABLE:
        return "the table stays in its folder, where its jobs may no longer read and write"
    return f"CloudFormation creates a new, empty {now.type}"


def _add(kind: str, **values: str) -> str:
    return f"add {_entry(kind, **values)}"


def _entry(kind: str, **values: str) -> str:
    return json.dumps(entry_document(kind, **values))
