"""Reads ``@pytest.mark.glue(version=…, isolated=True)``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.assembly.glue_versions import DEFAULT_GLUE_VERSION, GLUE_VERSIONS

ISOLATED = "the test is marked isolated"
ALLOWED = "@pytest.mark.glue(version='5.1', isolated=True), each left out or given by name"


@dataclass(frozen=True)
class Settings:
    """The settings of a test by its markers.

    Attributes:
        version: of Glue.
        why_isolated: why runs get their own processes; None if they need not.
    """

    version: str = DEFAULT_GLUE_VERSION
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
    version, isolated = (
        str(given.get("version", DEFAULT_GLUE_VERSION)),
        given.get("isolated", False),
    )
    if version not in GLUE_VERSIONS:
        raise UsageError(
            f"@pytest.mark.glue has version={version!r}; allowed: {', '.join(GLUE_VERSIONS)}"
        )
    if not isinstance(isolated, bool):
        raise UsageError(f"@pytest.mark.glue has isolated={isolated!r}; allowed: True, False")
    return Settings(version, ISOLATED if isolated else None)
