"""Chains of calls with the values of variables put in: `w.save(p)` where `w = df.write`."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from tidemark.checks.script.expressions import Scope, Value, attributes, literal
from tidemark.checks.script.reaching import Places
from tidemark.checks.script.script_names import (
    Function,
    Names,
    bound_arguments,
    called_functions,
    identifier,
    returned,
)
from tidemark.model.programs import nodes_of

DEEPEST = 6  # variables through which a chain is followed
WRITERS = {"write", "writeTo", "write_dynamic_frame"}  # what comes before them writes nothing
# What a statement of its own changes in a DataFrameWriter that a variable holds.
SETTERS = {"bucketBy", "format", "mode", "option", "options", "partitionBy", "sortBy"}
MAX_CHAINS = 30  # of one call, where its variables have several values


@dataclass(frozen=True)
class Link:
    """One name of a chain, its call if it is called, and what it is a member of."""

    name: str
    call: ast.Call | None = None
    owner: ast.expr | None = None


Chain: TypeAlias = tuple[Link, ...]
"""The links of a chain, the last first: save(), mode(), write, df."""


class Chains:
    """The chains of one script. A variable has every value that its scope ever gives it."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self.places = Places(tree)
        self._names = names
        self._attributes = attributes(tree)
        self._values = {key: [*values] for key, values in self.places.assigned.items()}
        # The calls of a DataFrameWriter that a variable holds, each a statement of its own.
        self._changes: dict[tuple[Function | None, str], list[Link]] = {}
        for node in nodes_of(tree):
            match node:
                case ast.Call():
                    for function in called_functions(node, names):
                        for name, value in bound_arguments(function, node, names).items():
                            self._values.setdefault((function, name), []).append(value)
                case ast.Expr(value=ast.Call(func=ast.Attribute()) as call):
                    *links, root = written_chain(call)
                    if SETTERS.issuperset(link.name for link in links):
                        key = (self.places.function_of(node), root.name)
                        self._changes.setdefault(key, []).extend(links)

    def values_of(self, name: ast.Name) -> list[ast.expr]:
        """Return the expressions that a variable may hold where it is used."""
        return self._values.get(self._key(name), [])

    def of(self, node: ast.expr) -> list[Chain]:
        """Return the chains that an expression may stand for, as far as its writer."""
        return list(islice(self._chains(node, None, 0), MAX_CHAINS))

    def _chains(self, node: ast.expr, call: ast.Call | None, depth: int) -> Iterator[Chain]:
        """Yield the chains of an expression that `call` calls."""
        links: list[Link] = []
        values: list[ast.expr] = []
        has_writer = False
        while has_writer or depth >= DEEPEST or not (values := self._values_at(node)):
            match node:
                case ast.Call(func=ast.Attribute() | ast.Name()):
                    call, node = node, node.func
                case ast.Attribute(value=owner, attr=name):
                    links.append(Link(name, call, owner))
                    has_writer = has_writer or name in WRITERS
                    node, call = owner, None
                case _:
                    yield (*links, Link(identifier(node) or "", call))
                    return
        changes = self._changes.get(self._key(node), []) if isinstance(node, ast.Name) else []
        for value in values:
            for rest in self._chains(value, call, depth + 1):
                yield (*links, *changes, *rest)

    def _values_at(self, node: ast.expr) -> list[ast.expr]:
        """Return what an expression may be in other words."""
        match node:
            case ast.Name():
                return self.values_of(node)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return [value for value in self._attributes.get(name, []) if value]
            case ast.Call():
                return list(returned(node, self._names))
            case ast.IfExp(body=body, orelse=orelse):
                return [body, orelse]
        return [node.value] if isinstance(node, ast.NamedExpr) else []

    def _key(self, name: ast.Name) -> tuple[Function | None, str]:
        own = (self.places.function_of(name), name.id)
        return own if own in self._values else (None, name.id)


def written_chain(node: ast.expr) -> Chain:
    """Return the links of a chain as it is written."""
    links: list[Link] = []
    call: ast.Call | None = None
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Call):
            call, node = node, node.func
        else:
            links.append(Link(node.attr, call, node.value))
            node, call = node.value, None
    return (*links, Link(identifier(node) or "", call))


def argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """Return an argument by its name or its position; -1: it has none. None if it is not given."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    plain = call.args[: position + 1] if position >= 0 else []
    is_open = any(isinstance(value, ast.Starred) for value in plain)
    return plain[position] if len(plain) > position >= 0 and not is_open else None


def given(call: ast.Call, name: str, position: int, scope: Scope) -> Value:
    """Return the constant value of an argument; None if it is not given or not known."""
    value = argument(call, name, position)
    return literal(value, scope) if value is not None else None


def chain_of(call: ast.Call) -> list[str]:
    """Return the names of a chain as it is written, last first: load(), format(), read, spark."""
    *links, root = written_chain(call)
    names = [f"{link.name}()" if link.call else link.name for link in links]
    return [*names, root.name] if root.name else names
