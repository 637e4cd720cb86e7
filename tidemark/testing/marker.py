"""Reads ``@pytest.mark.glue(version=…, isolated=True)``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.model.assembly.glue_versions import RUN_HERE

ISOLATED = "the test is marked isolated"
ALLOWED = "@pytest.mark.glue(version='5.1', isolated=True), each left out or given by name"


@dataclass(frozen=True)
class Settings:
    """The settings of a test by its markers.

    Attributes:
        version: of Glue.
        why_isolated: why runs get their own processes; None if they need not.
    """

    version: str = field(default_factory=own_glue_version)
    why_isolated: str | None = None


def settings_of(marks: Iterable[Any]) -> Settings:
    """Return what markers say, the closest one first.

    Raises:
        UsageError: a marker has something else.
    """
    given: dict[str, Any] = {}
    for mark in marks:
        if mark.args or set(mark.kwargs) - {"version", "isolated"}:
            raise UsageError(
                f"@pytest.mark.glue has {[*mark.args, *sorted(mark.kwargs)]}; allowed: {ALLOWED}"
            )
        given = {**mark.kwargs, **given}
    version, isolated = given.get("version") or own_glue_version(), given.get("isolated", False)
    if str(version) not in RUN_HERE:
        raise UsageError(
            f"@pytest.mark.glue has version={version!r}; allowed: {', '.join(RUN_HERE)}"
        )
    if not isinstance(isolated, bool):
        raise UsageError(f"@pytest.mark.glue has isolated={isolated!r}; allowed: True, False")
    return Settings(str(version), ISOLATED if isolated else None)
