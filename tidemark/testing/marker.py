"""Reads ``@pytest.mark.glue(version=…, isolated=True, s3_semantics=True, executors=2)``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.model.assembly.glue_versions import RUN_HERE

ISOLATED = "the test is marked isolated"
ALLOWED = (
    "@pytest.mark.glue(version='5.1', isolated=True, s3_semantics=True, executors=2), each left "
    "out or given by name"
)
FLAGS = ("isolated", "s3_semantics")


@dataclass(frozen=True)
class Settings:
    """The settings of a test by its markers.

    Attributes:
        version: of Glue.
        why_isolated: why runs get their own processes; None if they need not.
        s3_semantics: whether the lake is as S3 is, and not as a folder.
        executors: on how many processes a run works; 0: on that of its driver.
    """

    version: str = field(default_factory=own_glue_version)
    why_isolated: str | None = None
    s3_semantics: bool = False
    executors: int = 0


def settings_of(marks: Iterable[Any]) -> Settings:
    """Return what markers say, the closest one first.

    Raises:
        UsageError: a marker has something else.
    """
    options: dict[str, Any] = {}
    for mark in marks:
        if mark.args or set(mark.kwargs) - {"version", "executors", *FLAGS}:
            raise UsageError(
                f"@pytest.mark.glue has {[*mark.args, *sorted(mark.kwargs)]}; allowed: {ALLOWED}"
            )
        options = {**mark.kwargs, **options}
    version = options.get("version") or own_glue_version()
    if str(version) not in RUN_HERE:
        raise UsageError(
            f"@pytest.mark.glue has version={version!r}; allowed: {', '.join(RUN_HERE)}"
        )
    for name in FLAGS:
        if not isinstance(value := options.get(name, False), bool):
            raise UsageError(f"@pytest.mark.glue has {name}={value!r}; allowed: True, False")
    executors = options.get("executors", 0)
    if isinstance(executors, bool) or not isinstance(executors, int) or executors < 0:
        raise UsageError(
            f"@pytest.mark.glue has executors={executors!r}; allowed: whole numbers from 0"
        )
    why = ISOLATED if options.get("isolated") else None
    return Settings(str(version), why, options.get("s3_semantics", False), executors)
