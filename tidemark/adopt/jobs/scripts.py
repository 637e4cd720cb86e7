"""Reads the resources of a job, and the arguments that it writes to, out of its script: pure."""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tidemark.adopt.model import Folder, Guess
from tidemark.adopt.places import place_of
from tidemark.checks.script.chains import Chains
from tidemark.checks.script.operators import is_write
from tidemark.checks.script.script_names import identifier, names_of
from tidemark.checks.script.values import ScriptValues
from tidemark.checks.state.script_sources import state_of_script
from tidemark.errors import UsageError
from tidemark.model.programs import UNREADABLE, program_of

TABLE = re.compile(r"[a-z0-9_-]{1,255}\.[a-z0-9_-]{1,255}")
CLIENT = re.compile(r"""\b(?:client|resource)\(\s*["']([a-z0-9-]+)["']""")
# What writes to tables and databases, whatever folder an argument names.
WRITES_ELSEWHERE = re.compile(
    r"saveAsTable|insertInto|\.writeTo\(|from_jdbc_conf|write_dynamic_frame(\.|_)from_catalog|"
    r"enableUpdateCatalog|setCatalogInfo|\.write\.jdbc\(|(?i:merge\s+into|insert\s+(into|overwrite))"
)
ADDRESS = re.compile(r"""["'](s3[an]?://[^"'{}\s]+)["']""")


@dataclass(frozen=True)
class ScriptResources:
    """The resources of a script, as far as its code shows them.

    Attributes:
        tables: tables of the catalog that it reads, each as `database.table`.
        reads: folders of S3 that it reads, from addresses in its source.
        run_properties: a member of `RunProperties`, by name, or None.
        writes_elsewhere: whether it writes to tables or databases.
        written: arguments with which the address of a write begins.
        guesses: uncertain facts, and what else to declare.
    """

    tables: tuple[str, ...] = ()
    reads: tuple[Folder, ...] = ()
    run_properties: str | None = None
    writes_elsewhere: bool = False
    written: frozenset[str] = frozenset()
    guesses: tuple[Guess, ...] = ()


def facts_of(text: str, of: str) -> ScriptResources:
    """Return the resources of a script."""
    try:
        sources = state_of_script(text, of.removeprefix("job ")).sources
    except UsageError as error:
        problem = f"its script cannot be read: {error}"
        return ScriptResources(guesses=(Guess(of, problem, "correct it before the first run"),))
    named = [place for source in sources for place in source.places]
    tables = tuple(dict.fromkeys(name for name in named if TABLE.fullmatch(name)))
    places = tuple(dict.fromkeys(p for name in named if (p := place_of(name))))
    properties = "READ" if "get_workflow_run_properties" in text else None
    properties = "READ_AND_PUT" if "put_workflow_run_properties" in text else properties
    guesses = _guesses(text, of, tables, places)
    elsewhere = WRITES_ELSEWHERE.search(text)
    if elsewhere:
        what = f"its script writes to a table or a database ({elsewhere[0]})"
        do = "declare what the role needs for that; no run can build its bookmark elsewhere"
        guesses.append(Guess(of, what, do))
    written = written_arguments(text)
    return ScriptResources(tables, places, properties, bool(elsewhere), written, tuple(guesses))


def _guesses(
    text: str, of: str, tables: tuple[str, ...], places: tuple[Folder, ...]
) -> list[Guess]:
    guesses = []
    if tables or places:
        what = f"its script reads {', '.join((*tables, *(place.uri for place in places)))}"
        guesses.append(Guess(of, what, "see whether it reads more, or writes to one"))
    do = "declare a Dataset of it in reads= or writes=, or better, pass it as an argument"
    others = [uri for uri in dict.fromkeys(ADDRESS.findall(text)) if place_of(uri) not in places]
    guesses += (Guess(of, f"its script names {uri}, but not how it uses it", do) for uri in others)
    do = (
        "its role allows none of that yet: declare it (secrets=, reads=, run_properties=), or add "
        "a statement with job.role.add_to_policy(...)"
    )
    called = dict.fromkeys(CLIENT.findall(text))
    return [*guesses, *(Guess(of, f"its script calls AWS ({name})", do) for name in called)]


WRITERS = {"getSink", "to_csv", "to_json", "to_orc", "to_parquet"}  # of Glue, pandas, awswrangler
BEGINNING = re.compile(r"\{--([^}]+)\}")


def written_arguments(text: str) -> frozenset[str]:
    """Return the arguments of a run with which the address of a write begins: ``target_path``.

    Example:
        >>> sorted(written_arguments("df.write.parquet(args['dst'] + '/orders/')"))
        ['dst']
    """
    with suppress(*UNREADABLE):
        return frozenset(_written(program_of(text)))
    return frozenset()


def _written(tree: ast.Module) -> Iterator[str]:
    script, chains = ScriptValues(tree), Chains(tree, names_of(tree))
    for call, place in script.calls:
        is_held = any(link.name == "write" for _, *rest in chains.of(call) for link in rest)
        if not (is_held or is_write(call) or identifier(call.func) in WRITERS):
            continue
        for bound in script.bindings(place):
            for node in (*call.args, *(word.value for word in call.keywords)):
                yield from _beginnings(script.read(node, place, bound))


def _beginnings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _beginnings(part)
    elif isinstance(value, str) and (begin := BEGINNING.match(value)):
        yield begin[1]
