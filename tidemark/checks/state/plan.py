"""The carry-over plan: what people decided about state that a change would lose.

A JSON list; each entry is one decision, in any order.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.checks.state.manifest import parse_json
from tidemark.errors import UsageError

PLAN = "state-carry-over.json"
REREAD = "reread"


@dataclass(frozen=True)
class RenameJob:
    """The state under one job name continues under another."""

    from_job: str
    to_job: str
    bookmark_on_aws: str = ""
    reason: str = ""


@dataclass(frozen=True)
class RenameCtx:
    """The position of one transformation_ctx of a job continues under another."""

    job: str
    from_ctx: str
    to_ctx: str
    bookmark_on_aws: str
    reason: str = ""


@dataclass(frozen=True)
class Reread:
    """A job, or one of its sources, may read everything again."""

    job: str
    reason: str
    ctx: str = ""


@dataclass(frozen=True)
class Discard:
    """The state of a job, of one of its sources, or a resource is not needed any more."""

    reason: str
    job: str = ""
    ctx: str = ""
    resource: str = ""


Entry: TypeAlias = RenameJob | RenameCtx | Reread | Discard

_KINDS: Mapping[str, type[Entry]] = {
    "rename_job": RenameJob,
    "rename_ctx": RenameCtx,
    "reread": Reread,
    "discard": Discard,
}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "rename_job": ("from", "to"),
    "rename_ctx": ("job", "from", "to", "bookmark_on_aws"),
    "reread": ("job", "reason"),
    "discard": ("reason",),
}
_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "rename_job": ("bookmark_on_aws", "reason"),
    "rename_ctx": ("reason",),
    "reread": ("ctx",),
    "discard": ("job", "ctx", "resource"),
}
_FIELD = {
    ("rename_job", "from"): "from_job",
    ("rename_job", "to"): "to_job",
    ("rename_ctx", "from"): "from_ctx",
    ("rename_ctx", "to"): "to_ctx",
}
_AWS_REASONS = (
    "no API of AWS writes a bookmark, so that there everything is read again; "
    f"allowed is {REREAD!r}, if the job may do so, else keep the old name"
)


@dataclass(frozen=True)
class PlanEntry:
    """One entry and the JSON value that it was read from."""

    entry: Entry
    document: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The entry in the form of the file."""
        return json.dumps(self.document, ensure_ascii=False)


def entry_document(kind: str, **values: str) -> dict[str, dict[str, str]]:
    """Return the JSON value of an entry; ``from_`` stands for ``from``."""
    return {kind: {name.rstrip("_"): value for name, value in values.items()}}


def read_plan(path: Path) -> tuple[PlanEntry, ...]:
    """Return the entries of a plan; empty if the file is missing."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", error)
        raise UsageError(f"cannot read {path}: {reason}; restore the file") from error
    try:
        document = parse_json(text)
    except ValueError as error:
        raise UsageError(f"{path.name} is not JSON: {error}; correct it") from error
    return parse_plan(document, path.name)


def parse_plan(document: object, name: str) -> tuple[PlanEntry, ...]:
    """Return the entries of a plan that was read as JSON."""
    if not isinstance(document, list):
        raise UsageError(
            f"{name} is not a JSON list; write it as [ENTRY, ...], with entries such as "
            f"{json.dumps(entry_document('rename_job', from_='old-name', to='new-name'))}"
        )
    entries = []
    for number, item in enumerate(document, start=1):
        try:
            entries.append(PlanEntry(_entry(item), item))
        except ValueError as error:
            raise UsageError(f"{name}, entry {number}: {error}") from error
    try:
        _check_together([entry.entry for entry in entries])
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error
    return tuple(entries)


def _entry(item: object) -> Entry:
    """Return an entry; raise a ValueError if it is not one."""
    if not isinstance(item, dict) or len(item) != 1:
        raise ValueError(f"{json.dumps(item)} is not an object with one of {', '.join(_KINDS)}")
    kind, values = str(next(iter(item))), next(iter(item.values()))
    if kind not in _KINDS:
        raise ValueError(f"{kind!r} is unknown; allowed are {', '.join(_KINDS)}")
    if not isinstance(values, dict):
        raise ValueError(f"{kind} is {json.dumps(values)}; give an object of strings")
    _check_values(kind, values)
    fields = {_FIELD.get((kind, str(name)), str(name)): value for name, value in values.items()}
    entry = _KINDS[kind](**fields)
    _check(entry)
    return entry


def _check_values(kind: str, values: Mapping[str, object]) -> None:
    allowed = (*_REQUIRED[kind], *_OPTIONAL[kind])
    for name, value in values.items():
        if name not in allowed:
            raise ValueError(f"{kind} has {name!r}; allowed are {', '.join(allowed)}")
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{kind} has {name} {json.dumps(value)}; give a string")
    for name in _REQUIRED[kind]:
        if name not in values:
            why = f": {_AWS_REASONS}" if name == "bookmark_on_aws" else ""
            raise ValueError(f"{kind} has no {name!r}{why}; it needs {', '.join(_REQUIRED[kind])}")


def _check(entry: Entry) -> None:
    match entry:
        case RenameJob(from_job=old, to_job=new) | RenameCtx(from_ctx=old, to_ctx=new):
            if old == new:
                raise ValueError(f"from and to are both {old!r}; give two names")
            if entry.bookmark_on_aws not in ("", REREAD):
                raise ValueError(f"bookmark_on_aws is {entry.bookmark_on_aws!r}: {_AWS_REASONS}")
        case Discard(job=job, ctx=ctx, resource=resource):
            if bool(job) == bool(resource) or (ctx and not job):
                raise ValueError(
                    "discard has a job, a job and a ctx, or a resource; give one of these"
                )


def _check_together(entries: Sequence[Entry]) -> None:
    """Raise unless the entries can be carried out one after the other, again and again."""
    for entry in entries:
        if entries.count(entry) > 1:
            raise ValueError(f"the entry {entry} is repeated; leave one out")
    jobs = [(e.from_job, e.to_job) for e in entries if isinstance(e, RenameJob)]
    _check_renames(jobs)
    following = dict(jobs)
    ctxs = [
        (f"{name}: {e.from_ctx}", f"{name}: {e.to_ctx}")
        for e in entries
        if isinstance(e, RenameCtx)
        for name in [final_name(e.job, following)]
    ]
    _check_renames(ctxs)


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries in the order to carry them out: jobs, their ctxs, the rest.

    Of renames one after the other, that of the oldest name comes first.
    """
    following = {e.from_job: e.to_job for e in entries if isinstance(e, RenameJob)}
    jobs = {new: old for old, new in following.items()}
    ctxs = {
        (final_name(e.job, following), e.to_ctx): (final_name(e.job, following), e.from_ctx)
        for e in entries
        if isinstance(e, RenameCtx)
    }

    def rank(entry: Entry) -> tuple[int, int]:
        match entry:
            case RenameJob(from_job=name):
                return 0, _length(name, jobs)
            case RenameCtx(job=job, from_ctx=ctx):
                return 1, _length((final_name(job, following), ctx), ctxs)
        return 2, 0

    return sorted(entries, key=rank)


def _length(name: Hashable, origins: Mapping[Any, Any]) -> int:
    """Return how many renames led to a name."""
    count = 0
    while name in origins:
        name, count = origins[name], count + 1
    return count


def _check_renames(renames: Sequence[tuple[str, str]]) -> None:
    for names in zip(*renames, strict=True):
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two renames have {name!r} on the same side; leave one out")
    following = dict(renames)
    for first in following:
        if final_name(first, following) in following:
            raise ValueError(
                f"the renames lead from {first!r} back to it; once the first of them is carried "
                "out in every stage, leave it out"
            )


def final_name(name: str, renames: Mapping[str, str]) -> str:
    """Return the new name after renames; a name on the circle if they form one."""
    seen = set()
    while name in renames and name not in seen:
        seen.add(name)
        name = renames[name]
    return name
