"""Finds the arguments of a job that its script writes to: pure, nothing is run."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from tidemark.checks.script.chains import Chains
from tidemark.checks.script.operators import is_write
from tidemark.checks.script.script_names import identifier, names_of
from tidemark.checks.script.values import ScriptValues
from tidemark.model.programs import program_of

WRITERS = {"getSink", "to_csv", "to_json", "to_orc", "to_parquet"}  # of Glue, pandas, awswrangler
BEGINNING = re.compile(r"\{--([^}]+)\}")


def written_arguments(text: str) -> frozenset[str]:
    """Return the arguments of a run with which the address of a write begins: ``target_path``.

    Example:
        >>> sorted(written_arguments("df.write.parquet(args['dst'] + '/orders/')"))
        ['dst']
    """
    try:
        return frozenset(_written(program_of(text)))
    except (SyntaxError, ValueError, RecursionError):
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
