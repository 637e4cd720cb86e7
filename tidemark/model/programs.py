"""Parses scripts: what Python cannot parse for its depth is one kind of error."""

import ast


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
