"""Reads a job script for the sources of its state: bookmarked sources, watermarks."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tidemark.checks.script.operators import CTX, operator_of
from tidemark.checks.script.script_names import given_to, identifier, names_of
from tidemark.checks.script.values import ScriptValues, not_python
from tidemark.errors import UsageError
from tidemark.model.programs import program_of

# The parameters of what keeps a state in the bookmark, in order; AWS's own names.
PARAMETERS = {
    "from_options": ("connection_type", "connection_options", "format", "format_options", CTX),
    "from_catalog": ("database", "table_name", "redshift_tmp_dir", CTX),
    "getSource": ("connection_type", "format", CTX),
    "relationalize": ("root_table_name", "staging_path", "options", CTX),
    "apply": ("frame", "staging_path", "name", "options", CTX),
}
OPENS_WINDOWS = ("open_window", "window", "windows")  # methods of `Watermarks`


@dataclass(frozen=True, order=True)
class ScriptSource:
    """One source that a script reads through the job bookmark.

    Attributes:
        transformation_ctx: its name in the bookmark.
        kind: its kind: ``s3``, ``jdbc`` and so on, ``catalog``, ``relationalize``.
        places: what it reads: paths, or the table, sorted.
        keys: its jobBookmarkKeys, in order.
    """

    transformation_ctx: str
    kind: str
    places: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScriptState:
    """The sources of a script's state.

    Attributes:
        sources: its sources with a bookmark, sorted.
        cursors: the names of its watermarks, `source.cursor` if it has several, sorted.
    """

    sources: tuple[ScriptSource, ...] = ()
    cursors: tuple[str, ...] = ()


def state_of_script(text: str, name: str) -> ScriptState:
    """Return the sources of a script's state, as far as its code shows them."""
    try:
        return _state_in(text)
    except (SyntaxError, ValueError) as error:
        raise not_python(name, error) from error
    except RecursionError as error:
        raise UsageError(f"the script of job {name} is nested too deeply; split it") from error


@lru_cache(maxsize=64)  # many jobs may have one script
def _state_in(text: str) -> ScriptState:
    module = program_of(text)
    script = ScriptValues(module)
    sources, cursors = set(_sources(script, module)), set[str]()
    for call, place in script.calls:
        given = {word.arg: word.value for word in call.keywords}
        if identifier(call.func) in OPENS_WINDOWS and "cursor" in given:
            for bound in script.bindings(place):
                names = [given[name] for name in ("source", "cursor") if name in given]
                cursors.add(".".join(str(script.read(node, place, bound)) for node in names))
    return ScriptState(tuple(sorted(sources)), tuple(sorted(cursors)))


def _sources(script: ScriptValues, module: ast.Module) -> Iterator[ScriptSource]:
    """Yield every source that has a transformation_ctx."""
    names = names_of(module)
    for call, place in script.calls:
        operator = operator_of(call, names, {})
        if operator is None or not operator.is_bookmarked:
            continue
        method = identifier(call.func) or ""
        (parameters,) = (PARAMETERS[end] for end in PARAMETERS if method.endswith(end))
        given = given_to(parameters, call)
        unnamed = [word.value for word in call.keywords if word.arg is None]
        for bound in script.bindings(place):
            values: dict[str, Any] = {}
            for node in unnamed:
                options = script.read(node, place, bound)
                values |= options if isinstance(options, dict) else {}
            values |= {name: script.read(node, place, bound) for name, node in given.items()}
            if ctx := values.get(CTX):
                yield _source(operator.name, str(ctx), values)


def _source(operator: str, ctx: str, values: Mapping[str, Any]) -> ScriptSource:
    if operator == "relationalize":
        return ScriptSource(ctx, "relationalize")
    if operator.endswith("from_catalog"):
        database = values.get("database", values.get("name_space", ""))
        options = values.get("additional_options")
        place = f"{database}.{values.get('table_name', '')}"
        return ScriptSource(ctx, "catalog", (place,), _keys(options))
    kind = str(values.get("connection_type", "?"))
    options = values.get("connection_options", values)  # getSource takes them as keywords
    if not isinstance(options, dict):
        return ScriptSource(ctx, kind, (str(options),))
    named = options.get("paths") or options.get("path") or options.get("dbtable") or []
    places = named if isinstance(named, list) else [named]
    return ScriptSource(ctx, kind, tuple(sorted(map(str, places))), _keys(options))


def _keys(options: Any) -> tuple[str, ...]:
    keys = options.get("jobBookmarkKeys", []) if isinstance(options, dict) else []
    return tuple(map(str, keys if isinstance(keys, list) else [keys]))
