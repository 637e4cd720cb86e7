"""The state manifest: the state that an app keeps outside of its code, as plain data and a file.

It does not depend on an account, a stage or a machine, and changes only if the state does.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.checks.state.script_sources import ScriptSource
from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import DISABLE

MANIFEST = "state-manifest.json"
VERSION = 1
ABOUT = (
    "What this app keeps outside of its code. Written by `tidemark state write`; see docs/state.md."
)
GLUE_TABLE = "AWS::Glue::Table"
ICEBERG_TABLE = "Iceberg table"  # which jobs create: no resource of a template
CONTRACT = "Schema contract"  # of data that jobs write; likewise


@dataclass(frozen=True)
class JobState:
    """The state under the name of a job.

    Attributes:
        resource: stack and logical id of the job: another one means another job.
        bookmark: its job-bookmark-option.
        watermark_table: the table of its watermarks; empty without watermarks.
        sources: the bookmarked sources of its script; None if the script is not known.
        cursors: the names of its watermarks, as far as its script shows them.
        checkpoint: checkpoint location of a streaming job; empty for other jobs.
    """

    resource: str
    bookmark: str = DISABLE
    watermark_table: str = ""
    sources: tuple[ScriptSource, ...] | None = ()
    cursors: tuple[str, ...] = ()
    checkpoint: str = ""

    @property
    def has_bookmark(self) -> bool:
        """Whether the job reads through a bookmark."""
        return self.bookmark != DISABLE

    def places_of(self, ctx: str) -> frozenset[tuple[str, str, tuple[str, ...]]]:
        """Return the sources of a transformation_ctx: kind, place and keys, once for each place."""
        return frozenset(
            (source.kind, place, source.keys)
            for source in self.sources or ()
            if source.transformation_ctx == ctx
            for place in source.places or ("",)
        )

    @property
    def ctxs(self) -> list[str]:
        """The transformation_ctxs of its sources, sorted."""
        return sorted({source.transformation_ctx for source in self.sources or ()})


@dataclass(frozen=True)
class StatefulResource:
    """A table, database, bucket or key.

    Attributes:
        type: its CloudFormation type, ICEBERG_TABLE, or CONTRACT.
        name: the physical name that the template states; empty if AWS makes one.
        keys: of a table, its key attributes, or its partition keys, as ``name type``; of a table of
            Iceberg its folder; of a contract its columns, also as ``name type``.
        is_retained: whether it stays when its stack goes, or when it is replaced.
    """

    type: str
    name: str = ""
    keys: tuple[str, ...] = ()
    is_retained: bool = True


@dataclass(frozen=True)
class Manifest:
    """The state of an app.

    Attributes:
        jobs: by job name.
        resources: by stack and logical id.
        carry_over: the entries of the carry-over plan that have been recorded, as JSON values.
    """

    jobs: Mapping[str, JobState] = field(default_factory=dict)
    resources: Mapping[str, StatefulResource] = field(default_factory=dict)
    carry_over: tuple[Mapping[str, Any], ...] = ()

    def render(self) -> str:
        """Return the content of the file: JSON, sorted, one line for each fact."""
        document = {
            "about": ABOUT,
            "version": VERSION,
            "jobs": {
                name: {
                    "resource": it.resource,
                    "bookmark": it.bookmark,
                    "watermark_table": it.watermark_table or None,
                    **({"cursors": list(it.cursors)} if it.cursors else {}),
                    **({"checkpoint": it.checkpoint} if it.checkpoint else {}),
                    "sources": None
                    if it.sources is None
                    else [_source_json(source) for source in it.sources],
                }
                for name, it in sorted(self.jobs.items())
            },
            "resources": {
                name: {
                    "type": it.type,
                    **({"name": it.name} if it.name else {}),
                    **({"keys": list(it.keys)} if it.keys else {}),
                    "retained": it.is_retained,
                }
                for name, it in sorted(self.resources.items())
            },
            "carry_over": list(self.carry_over),
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def parse(cls, text: str, name: str) -> "Manifest":
        """Return the manifest of a file's content."""
        try:
            document = parse_json(text)
            if document["version"] != VERSION:
                raise UsageError(
                    f"{name} has version {document['version']!r}, this Tidemark knows {VERSION}; "
                    "use the Tidemark that wrote it"
                )
            return cls(
                jobs={key: _job(value) for key, value in document["jobs"].items()},
                resources={key: _resource(value) for key, value in document["resources"].items()},
                carry_over=tuple(document["carry_over"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{name} is not a state manifest ({type(error).__name__}: {error}); restore that "
                "of the last commit, after a merge that of the branch you merge into, and run "
                "`tidemark state write`"
            ) from error


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest of a file; None if the file is missing."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", error)
        raise UsageError(f"cannot read {path}: {reason}; restore the file") from error
    return Manifest.parse(text, path.name)


def parse_json(text: str) -> Any:
    """Return JSON values; refuse a repeated key, as after a merge, because none may be dropped."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for name, count in Counter(name for name, _ in pairs).items():
            if count > 1:
                raise ValueError(f"the key {name!r} occurs {count} times in one object")
        return dict(pairs)

    return json.loads(text, object_pairs_hook=unique)


def _job(document: Mapping[str, Any]) -> JobState:
    sources: Sequence[Mapping[str, Any]] | None = document["sources"]
    return JobState(
        resource=document["resource"],
        bookmark=document["bookmark"],
        watermark_table=document["watermark_table"] or "",
        sources=None if sources is None else tuple(_source(source) for source in sources),
        cursors=tuple(document.get("cursors", ())),
        checkpoint=document.get("checkpoint", ""),
    )


def _source_json(source: ScriptSource) -> dict[str, Any]:
    document: dict[str, Any] = {
        "transformation_ctx": source.transformation_ctx,
        "kind": source.kind,
        "places": list(source.places),
    }
    return document | ({"keys": list(source.keys)} if source.keys else {})


def _source(document: Mapping[str, Any]) -> ScriptSource:
    return ScriptSource(
        document["transformation_ctx"],
        document["kind"],
        tuple(document["places"]),
        tuple(document.get("keys", ())),
    )


def _resource(document: Mapping[str, Any]) -> StatefulResource:
    return StatefulResource(
        document["type"],
        document.get("name", ""),
        tuple(document.get("keys", ())),
        document["retained"],
    )
