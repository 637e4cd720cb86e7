"""The columns that contracts keep beside watermarks, and the command `schema accept`."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tidemark.cli.progress import print_output
from tidemark.cli.target import open_target
from tidemark.cli.views.listing import Listing, Sentence
from tidemark.cli.watermark import opened, table_of
from tidemark.cli.where import Where
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.model.checkpoints.schema_changes import Change
from tidemark.model.messages import known
from watermarks import (
    HistoryEntry,
    RefusedSchema,
    TargetSchema,
    WatermarkAdmin,
    WatermarksError,
    WatermarkTableError,
)


@dataclass(frozen=True)
class Held:
    """What the watermarks of a job, or of one of its sources, have held of columns.

    Attributes:
        source: empty for the job itself.
        entries: the history, newest first.
        refused: what a contract has refused since, if anything.
    """

    source: str
    entries: list[HistoryEntry]
    refused: RefusedSchema | None


def held_of(job: str, where: Where) -> list[Held]:
    """Return what the watermarks of a job have held; nothing if there is no table of them."""
    with open_target(where) as target:
        known("job", job, target.known_jobs)
        try:
            with target.watermarks(table_of(target, job)) as admin:
                return [
                    Held(source, list(admin.history(job, source=source)), refused)
                    for source, refused in _refused(admin, job).items()
                ]
        except WatermarkTableError as error:
            if error.reason != "not_found":
                raise UsageError(str(error)) from error
            return []
        except WatermarksError as error:
            raise UsageError(str(error)) from error


def now_json(held: list[Held]) -> list[dict[str, Any]]:
    """Return the columns that are held now, by source and target."""
    return [
        {
            "source": of.source,
            "target": target,
            "version": of.entries[0].version,
            "run_id": of.entries[0].run_id,
            **asdict(schema),
        }
        for of in held
        if of.entries
        for target, schema in of.entries[0].schemas.items()
    ]


def now_shown(held: list[Held]) -> Iterator[Listing | Sentence]:
    """Yield the columns that are held now, and what was refused since, for people."""
    for row in now_json(held):
        by = f"version {row['version']}" + ", accepted" * row["is_accepted"]
        title = f"\nkept for {row['target']}{_of(row['source'])}, {by}"
        yield Listing(("column", "type"), list(row["columns"].items()), title)
    for of in held:
        if of.refused:
            yield Sentence(f"\nrefused{_of(of.source)}: {_told(of.refused)}")


def history_json(held: list[Held]) -> list[dict[str, Any]]:
    """Return the versions that have other columns than the one before, newest first."""
    rows = []
    for of in held:
        before = [entry.schemas for entry in of.entries[1:]] + [{}]
        for entry, old in zip(of.entries, before, strict=True):
            rows += [
                {
                    "source": of.source,
                    "target": target,
                    "version": entry.version,
                    "kind": entry.kind,
                    "run_id": entry.run_id,
                    "at": entry.committed_at,
                    "changes": list(map(str, _changes(old.get(target), entry.schemas.get(target)))),
                    "columns": entry.schemas[target].columns if target in entry.schemas else {},
                    "actor": entry.actor,
                    "reason": entry.reason,
                }
                for target in sorted({*old, *entry.schemas})
                if _columns(old.get(target)) != _columns(entry.schemas.get(target))
            ]
    return rows


def history_shown(held: list[Held]) -> list[Listing]:
    """Return the same for people."""
    rows = [
        (
            str(row["version"]),
            row["kind"],
            f"{row['at']:%Y-%m-%d %H:%M:%S}Z" if row["at"] else "-",
            f"{row['target']}{_of(row['source'])}",
            "; ".join(row["changes"]),
            f"{row['actor']}: {row['reason']}" if row["actor"] else "-",
        )
        for row in history_json(held)
    ]
    headings = ("version", "what", "at", "target", "changes", "who and why")
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
        refused = {
            name: was
            for name, was in _refused(admin, job, source).items()
            if was and (not target or was.target.rstrip("/") == target.rstrip("/"))
        }
        if not refused:
            check_job()
            raise EntityNotFoundError(
                f"no contract of {job} has refused anything{target and f' for {target}'} since its "
                "last commit, so there is nothing to accept; `tidemark schema show "
                f"{job}{where.option}` shows what was refused"
            )
        if len(refused) > 1:
            raise UsageError(
                f"several sources of {job} were refused columns: "
                f"{', '.join(map(repr, refused))}; say which one: --source, or --target"
            )
        ((source, was),) = refused.items()
        version = None
        if not dry_run:
            latest = admin.accept_schema(
                job, reason=reason, actor=actor, target=was.target, source=source
            )
            version = latest.version
    document = {"job": job, "source": source, **asdict(was), "accepted_as_version": version}
    rows = list(was.columns.items())
    done = f"accepted as version {version}" if version else "dry run, nothing was changed"
    more = "" if was.blocked else f"; the next run of {job} starts with these columns"
    title = f"\nkept for {was.target}{_of(source)}"
    columns = Listing(("column", "type"), rows, title)
    shown = (Sentence(_told(was)), columns, Sentence(f"\n{done}{more}"))
    print_output(output, document, shown)


def _refused(
    admin: WatermarkAdmin, job: str, source: str = ""
) -> Mapping[str, RefusedSchema | None]:
    sources = [source] if source else ["", *admin.sources(job)]
    return {name: admin.refused(job, source=name) for name in sources}


def _told(refused: RefusedSchema) -> str:
    told = f"run {refused.run_id} for {refused.target}: {refused.changes}"
    return f"{told}; it cannot be accepted: {refused.blocked}" if refused.blocked else told


def _of(source: str) -> str:
    return f" of source {source}" if source else ""


def _columns(schema: TargetSchema | None) -> Mapping[str, str]:
    return schema.columns if schema else {}


def _changes(old: TargetSchema | None, new: TargetSchema | None) -> Iterator[Change]:
    was, now = _columns(old), _columns(new)
    for name in dict.fromkeys([*was, *now]):
        if name not in was:
            yield Change("new", name, new=now[name])
        elif name not in now:
            yield Change("gone", name, old=was[name])
        elif was[name] != now[name]:
            yield Change("type", name, was[name], now[name])
