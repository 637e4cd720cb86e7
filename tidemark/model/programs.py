"""Parses scripts: what Python cannot parse for its depth is one kind of error."""

import ast
from functools import lru_cache

# What a script raises that is not Python, or is nested too deeply to be read.
UNREADABLE = (SyntaxError, ValueError, RecursionError)


@lru_cache(maxsize=16)  # which many rules read, and none changes
def program_of(
    text: str, file: str = "<script>", version: tuple[int, int] | None = None
) -> ast.Module:
    """Return the program that a text is, in the syntax of a version of Python.

    Raises:
        SyntaxError: it is none.
        ValueError: it has a null byte.
        RecursionError: it is nested too deeply.
    """
    try:
        return ast.parse(text, file, feature_version=version)
    except MemoryError as error:  # so Python's parser calls it
        raise RecursionError("nested too deeply") from error


@lru_cache(maxsize=64)
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return a program, or a part of it, and all below it."""
    return tuple(ast.walk(tree))


def readable_program(text: str) -> ast.Module:
    """Return the program that a text is; one that does nothing for a text that is none."""
    try:
        return program_of(text)
    except UNREADABLE:
        return ast.Module([], [])
