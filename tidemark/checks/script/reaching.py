"""Which assignments of a variable reach a place of a script."""

import ast
from collections.abc import Iterator
from typing import TypeAlias

from tidemark.checks.script.expressions import bindings
from tidemark.checks.script.script_names import FUNCTION, Function, identifier
from tidemark.model.programs import nodes_of

BRANCHING = (ast.If, ast.Match, ast.Try, ast.For, ast.AsyncFor, ast.While)
LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
Position: TypeAlias = tuple[int, int]
"""A line and a column."""


class Places:
    """Where the expressions of a script stand: their function, and the branches around them."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(nodes_of(tree))
        self._parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self._loops = [node for node in nodes if isinstance(node, LOOPS)]
        # Asked for each pair of calls: a script of 200 reads has 40,000 of them.
        self._branches: dict[ast.AST, dict[ast.AST, str]] = {}
        self._functions: dict[ast.AST, Function | None] = {}
        # What variables and `.attributes` are assigned, by the function, or None for the module.
        self.assigned: dict[tuple[Function | None, str], list[ast.expr]] = {}
        functions = [node for node in nodes if isinstance(node, FUNCTION)]
        for scope in (None, *functions):
            for name, value in bindings(tree.body if scope is None else scope.body):
                self.assigned.setdefault((scope, name), []).extend([value] if value else [])
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
                    for scope in {self.function_of(node), None}:
                        self.assigned.setdefault((scope, f".{name}"), []).append(value)

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the innermost function around a node."""
        if node not in self._functions:
            above: ast.AST | None = self._parents.get(node)
            while above is not None and not isinstance(above, FUNCTION):
                above = self._parents.get(above)
            self._functions[node] = above
        return self._functions[node]

    def branches(self, node: ast.AST) -> dict[ast.AST, str]:
        """Return the statements around a node that may leave it out, each with its branch."""
        if node not in self._branches:
            inner, branches = node, dict[ast.AST, str]()
            for parent in self.around(node):
                # A test, or what a loop goes through, is of no branch.
                if isinstance(parent, BRANCHING) and (arm := _arm(parent, inner)):
                    branches[parent] = arm
                inner = parent
            self._branches[node] = branches
        return self._branches[node]

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what is around a node within its function, the innermost first."""
        while (parent := self._parents.get(node)) is not None and not isinstance(parent, FUNCTION):
            yield parent
            node = parent

    def is_either_or(self, node: ast.AST, other: ast.AST) -> bool:
        """Return whether one run comes to one of two nodes only."""
        mine, theirs = self.branches(node), self.branches(other)
        return any(
            isinstance(at, ast.If | ast.Match) and theirs.get(at, arm) != arm
            for at, arm in mine.items()
        )

    def looped(self, name: ast.Name) -> list[ast.expr]:
        """Return what the loops with a variable go through."""
        targets = ((loop, map(identifier, ast.walk(loop.target))) for loop in self._loops)
        return [loop.iter for loop, names in targets if name.id in names]

    def values(
        self, name: str, function: Function | None, use: ast.AST, at: Position
    ) -> list[ast.expr]:
        """Return what a variable, or a `.attribute`, may hold: its last assignments before."""
        known = self.assigned.get((function, name))
        if known is None:  # a variable of the module
            known = self.assigned.get((None, name), [])
            return known if function is None or len(known) == 1 else []
        held: list[ast.expr] = []
        for value in sorted(known, key=position, reverse=True):
            if position(value) >= at or self.is_either_or(value, use):
                continue
            held.append(value)
            if self.branches(value).items() <= self.branches(use).items():
                break  # it comes before the place on every way
        return held


def position(node: ast.expr) -> Position:
    """Return where an expression begins."""
    return node.lineno, node.col_offset


def _arm(statement: ast.AST, node: ast.AST) -> str:
    """Return the branch of a statement that a node is in."""
    for name, part in ast.iter_fields(statement):
        if isinstance(part, list) and node in part:
            return f"{name} {part.index(node)}" if isinstance(statement, ast.Match) else name
    return ""
