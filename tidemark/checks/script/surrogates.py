"""Which columns a script numbers itself: their values say nothing of the row.

What is not certain, such as a name that an argument gives, is not found.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tidemark.checks.script.chains import written_chain
from tidemark.checks.script.script_names import identifier
from tidemark.checks.script.sql import NUMBERING, numbered_columns, query_of
from tidemark.model.programs import nodes_of, readable_program

RELATIONALIZE_KEYS = ("id", "index")  # of the tables that it makes of arrays


def surrogates_in(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the columns that a script numbers itself: each with those that must be there, too.

    Example:
        `surrogates_in("df.withColumn('k', F.monotonically_increasing_id())")` returns `(("k",),)`.
    """
    tree = readable_program(text)
    nodes = list(nodes_of(tree))
    names = {
        name for node in nodes for name, value in _named(node) if _has(value, NUMBERING | {"uuid4"})
    }
    names |= {
        name
        for node in nodes
        if isinstance(node, ast.expr)
        for name in numbered_columns(query_of(node))
    }
    numbered = [(name,) for name in sorted(names)]
    more = [RELATIONALIZE_KEYS] if _has(tree, {"relationalize", "Relationalize"}) else []
    return (*numbered, *more)


def surrogates_of(scripts: Iterable[Path]) -> list[tuple[str, ...]]:
    """Return the same for several scripts."""
    texts = [script.read_text(encoding="utf-8", errors="replace") for script in scripts]
    return list(dict.fromkeys(group for text in texts for group in surrogates_in(text)))


def _named(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the columns that a call names, each with its expression."""
    if not isinstance(node, ast.Call):
        return
    match identifier(node.func), node.func, node.args:
        case "withColumn", _, [ast.Constant(value=str(name)), value]:
            yield name, value
        case "alias", ast.Attribute(value=value), [ast.Constant(value=str(name))]:
            yield name, value
        case "withColumns", _, [ast.Dict(keys=keys, values=values)]:
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant):
                    yield str(key.value), value


def _has(node: ast.AST, methods: set[str]) -> bool:
    """Return whether there is a call of a method or a function in a part of a script."""
    calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
    return any(link.name in methods for call in calls for link in written_chain(call))
