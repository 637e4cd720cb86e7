"""A test's values as the arguments of a job run: plain Python values become Glue's strings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import BOOKMARK_OPTIONS
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS
from tidemark.model.assembly.iceberg import CATALOG, FORMAT, iceberg_settings

BOOKMARK = "--job-bookmark-option"
PREFIX = "job-bookmark-"


def arguments_of(bookmark: object, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments of a run, each with the leading ``--``.

    Args:
        bookmark: enable, pause or disable, with or without ``job-bookmark-``; True and False are
            enable and disable, None leaves the argument out.
        values: by name; ``enable_glue_datacatalog`` is ``--enable-glue-datacatalog``. None leaves
            one out, a list is its values with commas, a dict (of ``conf``) its settings.

    Raises:
        UsageError: a job cannot get a value.
    """
    rendered = {
        _name(name): _render(name, value) for name, value in values.items() if value is not None
    }
    option = _bookmark_option(bookmark)
    return ({BOOKMARK: option} if option and BOOKMARK not in rendered else {}) | rendered


def _bookmark_option(bookmark: object) -> str | None:
    if bookmark is None:
        return None
    if isinstance(bookmark, bool):
        return f"{PREFIX}{'enable' if bookmark else 'disable'}"
    text = str(getattr(bookmark, "value", bookmark))
    option = text if text.startswith(PREFIX) else f"{PREFIX}{text.lower()}"
    if option not in BOOKMARK_OPTIONS:
        allowed = ", ".join(option.removeprefix(PREFIX) for option in BOOKMARK_OPTIONS)
        near = get_close_matches(option, BOOKMARK_OPTIONS, 1)
        hint = f"; did you mean {near[0].removeprefix(PREFIX)!r}?" if near else ""
        raise UsageError(f"bookmark is {bookmark!r}; allowed: {allowed}{hint}")
    return option


def _name(name: str) -> str:
    plain = name.removeprefix("--")
    hyphened = f"--{plain.replace('_', '-')}"
    return hyphened if hyphened in GLUE_ARGUMENTS else f"--{plain}"


def _render(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return " --conf ".join(f"{key}={_render(key, member)}" for key, member in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(_render(name, member) for member in value)
    if callable(value) or isinstance(value, bytes | timedelta):
        raise UsageError(f"the argument {name} is {value!r}; arguments of a job are strings")
    return str(value)


def iceberg_arguments(warehouse: str, catalog: str = CATALOG) -> dict[str, Any]:
    """Return the arguments that a declared table of Iceberg gives its jobs.

    Args:
        warehouse: where new tables are put, each in `<database>.db/<table>/`: `s3://curated/`.
        catalog: name of the catalog in Spark.

    Example:
        >>> iceberg_arguments("s3://curated/")["datalake_formats"]
        'iceberg'
    """
    return {"datalake_formats": FORMAT, "conf": iceberg_settings(catalog, warehouse)}
