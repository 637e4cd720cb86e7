"""The columns that contracts keep beside watermarks, and the command `schema accept`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any, TypeAlias

from tidemark.cli.progress import print_output
from tidemark.cli.target import open_target
from tidemark.cli.views.listing import Listing, Sentence
from tidemark.cli.watermark import opened, table_of
from tidemark.cli.where import Where
from tidemark.errors import UsageError
from tidemark.model.checkpoints.schema_changes import Change
from tidemark.model.messages import known
from watermarks import HistoryEntry, TargetSchema, WatermarksError, WatermarkTableError

_TOLD = ("version", "kind", "run_id", "committed_at", "actor", "reason")
Kept: TypeAlias = list[dict[str, Any]]
"""What is kept of a job, and of each source: `columns` now, `refused` since, and `versions`."""


def kept_of(job: str, where: Where) -> Kept:
    """Return what is kept beside the watermarks of a job; nothing without a table of them."""
    with open_target(where) as target:
        known("job", job, target.known_jobs)
        try:
            with target.watermarks(table_of(target, job)) as admin:
                kept = []
                for source in ("", *admin.sources(job)):
                    entries = list(admin.history(job, source=source))
                    refused = admin.refused(job, source=source)
                    columns = entries[0].schemas if entries else {}
                    kept.append(
                        {
                            "source": source,
                            "version": entries[0].version if entries else 0,
                            "targets": {name: asdict(schema) for name, schema in columns.items()},
                            "refused": refused and asdict(refused),
                            "versions": [*_versions(entries)],
                        }
                    )
        except WatermarkTableError as error:
            if error.reason != "not_found":
                raise UsageError(str(error)) from error
            return []
        except WatermarksError as error:
            raise UsageError(str(error)) from error
    return [of for of in kept if of["versions"] or of["refused"]]


def _versions(entries: Sequence[HistoryEntry]) -> Iterator[dict[str, Any]]:
    """Yield the versions with other columns of a target than the one before, newest first."""
    schemas = [*(entry.schemas for entry in entries), {}]
    for entry, (now, before) in zip(entries, pairwise(schemas), strict=True):
        whole = asdict(entry)
        told = {name: whole[name] for name in _TOLD}
        for target in sorted({*before, *now}):
            if changes := _changes(before.get(target), now.get(target)):
                yield {**told, "target": target, "changes": changes}


def _changes(old: TargetSchema | None, new: TargetSchema | None) -> list[str]:
    # Columns that are not kept are those of the declaration.
    was = old.columns if old else new.declared if new else {}
    now = new.columns if new else old.declared if old else {}
    changes = [Change("gone", name, was[name]) for name in was if name not in now]
    changes += [Change("new", name, new=now[name]) for name in now if name not in was]
    both = [name for name in was if was[name] != now.get(name, was[name])]
    return [*map(str, changes + [Change("type", name, was[name], now[name]) for name in both])]


def columns_now(kept: Kept) -> Iterator[Listing | Sentence]:
    """Yield the columns that are kept now, and what was refused since, for people."""
    for of in kept:
        source = f", source {of['source']}" * bool(of["source"])
        for target, schema in of["targets"].items():
            title = f"\nkept for {target}{source}, version {of['version']}"
            title += ", accepted" * schema["is_accepted"]
            yield Listing(("column", "type"), list(schema["columns"].items()), title)
        if was := of["refused"]:
            why = f"; it cannot be accepted: {was['blocked']}" * bool(was["blocked"])
            told = (
                f"refused: run {was['run_id']} for {was['target']}{source}: {was['changes']}{why}"
            )
            yield Sentence(f"\n{told}")


def versions_listed(kept: Kept) -> list[Listing]:
    """Return the versions with other columns than the one before, for people."""
    rows = [
        (
            str(row["version"]),
            row["kind"],
            f"{row['target']} {of['source']}".rstrip(),
            "; ".join(row["changes"]),
            f"{row['actor']}: {row['reason']}" if row["actor"] else "-",
        )
        for of in kept
        for row in of["versions"]
    ]
    headings = ("version", "what", "target", "change", "who and why")
    return [Listing(headings, rows, "\nKept beside the watermark")] if rows else []


def accept(
    job: str,
    table: str | None,
    where: Where,
    target: str,
    source: str,
    reason: str,
    actor: str,
    dry_run: bool,
    output: str,
) -> None:
    with opened(where, job, table) as (admin, check_job):
        refused = admin.refused(job, source=source)
        if refused is None:
            check_job()
        latest = admin.accept_schema(
            job, reason=reason, actor=actor, target=target, source=source, dry_run=dry_run
        )
    schemas = {name: asdict(schema) for name, schema in latest.schemas.items()}
    of = {"source": source, "version": latest.version, "targets": schemas, "refused": None}
    changes = refused.changes if refused else ""
    document = {"job": job, "is_accepted": not dry_run, "changes": changes, **of}
    done = "dry run, nothing was changed" if dry_run else f"accepted as version {latest.version}"
    print_output(output, document, [Sentence(f"{done}: {changes}"), *columns_now([of])])
