"""The facts of `tidemark report` as JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from tidemark.report.model import Report

TIME_SUFFIX = "_at_ms"


def report_json(report: Report) -> dict[str, Any]:
    """Return what the page of a report shows as plain JSON values, moments in UTC."""
    document: dict[str, Any] = _plain(asdict(report))
    return document


def moment_json(at_ms: int) -> str:
    """Return epoch milliseconds as ISO 8601, in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(_entry(name, member) for name, member in value.items())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, frozenset):
        return sorted(value)
    return value


def _entry(name: str, value: Any) -> tuple[str, Any]:
    if name.endswith(TIME_SUFFIX):
        return name.removesuffix("_ms"), None if value is None else moment_json(value)
    return name, _plain(value)
