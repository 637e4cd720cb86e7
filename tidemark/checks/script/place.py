"""A position in a script."""

import ast
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """The lines of a script that one call or statement covers, from 1."""

    line: int
    end_line: int


def place_of(node: ast.expr | ast.stmt | ast.excepthandler) -> Place:
    """Return the lines that a call or a statement covers."""
    return Place(node.lineno, node.end_lineno or node.lineno)
