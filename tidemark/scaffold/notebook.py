"""A notebook of Jupyter for AWS's kernel, as plain data: nothing of it is run.

Source: https://docs.aws.amazon.com/glue/latest/dg/interactive-sessions-magics.html
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.checks.script.script_names import identifier
from tidemark.errors import UsageError
from tidemark.model.programs import UNREADABLE, program_of
from tidemark.scaffold.magics import CELL_MAGICS, LINE_MAGICS, PICTURES, Magic

TAG = "job"
OLDEST_FORMAT = 4
PYTHON = re.compile(r"python", re.IGNORECASE)
CELL_MAGIC = "%%"
SQL = "sql"


@dataclass(frozen=True)
class Notebook:
    """The parts of a notebook that make a job.

    Attributes:
        name: its file name.
        code: the code of each cell of the job, by the number of the cell, from 1 on.
        magics: what sets up the session, in order.
    """

    name: str
    code: Mapping[int, str]
    magics: tuple[Magic, ...] = ()


def read_notebook(path: Path) -> Notebook:
    """Return the parts of a notebook file that make a job.

    Raises:
        UsageError: it is no notebook in Python that a job can be made of.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the notebook {path}: {error}; name another file") from error
    return notebook_of(text, path.name)


def notebook_of(text: str, name: str) -> Notebook:
    """Return the parts of the text of a notebook that make a job.

    Cells with the tag `job` do; without any, all cells of code do. Magics count in every cell.

    Raises:
        UsageError: it is no notebook in Python, or a cell is not what a job can run.

    Example:
        >>> cell = {"cell_type": "code", "source": "print(1)"}
        >>> notebook_of(json.dumps({"nbformat": 4, "cells": [cell]}), "a.ipynb").code
        {1: 'print(1)'}
    """
    cells = dict(_cells(text, name))
    tagged = {number for number, cell in cells.items() if _is_tagged(cell)}
    code, magics = {}, []
    for number, cell in cells.items():
        is_of_job = not tagged or number in tagged
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(map(str, source))
        if not isinstance(source, str):
            raise UsageError(
                f"{name}, cell {number} has no text as its source; save it in JupyterLab"
            )
        parts = _Parts(number, source, is_strict=is_of_job)
        magics += parts.magics
        if is_of_job and parts.code.strip():
            code[number] = parts.code.strip("\n")
    if not code:
        raise UsageError(f"{name} has no code for a job; write a cell of code, or tag one {TAG!r}")
    return Notebook(name, code, tuple(magics))


def _cells(text: str, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the cells of code, each with its number among all cells."""
    try:
        document = json.loads(text)
        cells, version = document.get("cells"), document.get("nbformat")
    except (ValueError, AttributeError) as error:
        raise UsageError(f"{name} is not a notebook, which is JSON: {error}") from error
    if not isinstance(version, int) or version < OLDEST_FORMAT or not isinstance(cells, list):
        raise UsageError(
            f"{name} is a notebook of nbformat {version!r}; allowed: {OLDEST_FORMAT} or later; "
            f"open it in JupyterLab and save it, or: jupyter nbconvert --to notebook {name}"
        )
    metadata = _object(document.get("metadata"))
    language = _object(metadata.get("language_info")).get("name")
    language = language or _object(metadata.get("kernelspec")).get("language") or "python"
    if not PYTHON.search(str(language)):
        raise UsageError(
            f"{name} is a notebook in {language}; allowed: Python, since jobs are scripts of it"
        )
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            yield number, cell


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_tagged(cell: Mapping[str, Any]) -> bool:
    tags = _object(cell.get("metadata")).get("tags")
    return isinstance(tags, list) and TAG in tags


class _Parts:
    """The magics and the code of one cell, as AWS's kernel takes it apart."""

    def __init__(self, number: int, source: str, *, is_strict: bool) -> None:
        self.magics: list[Magic] = []
        self.code = ""
        self._cell, self._is_strict = number, is_strict
        lines = source.splitlines()
        for place, line in enumerate(lines):
            if line.startswith(CELL_MAGIC):
                self._cell_magic(place, line, "\n".join(lines[place + 1 :]))
                return
            if line.startswith(("%", "!")):
                self._line_magic(place, line)
            elif line.strip() and not line.startswith("#"):
                break  # from here on it is all code
        taken = {magic.line - 1 for magic in self.magics}
        lines = ["" if place in taken else line for place, line in enumerate(lines)]
        if not _is_python("\n".join(lines)):  # else such a line is a part of a string
            for place, line in enumerate(lines):
                if line.startswith(PICTURES):  # Glue itself takes these, between the code
                    self._line_magic(place, line)
                    lines[place] = ""
        self._keep("\n".join(lines))

    def _line_magic(self, place: int, line: str) -> None:
        name, _, value = line[1:].strip().partition(" ")
        if line.startswith("!") or name not in LINE_MAGICS:
            self._refuse(place, line)
            return
        self.magics.append(Magic(name, value.strip(), self._cell, place + 1))

    def _cell_magic(self, place: int, line: str, body: str) -> None:
        name = line[len(CELL_MAGIC) :].split(" ")[0].strip()
        if name == SQL:
            self._keep(f'spark.sql("""{body.rstrip()}""").show()')  # what the kernel makes of it
        elif name in CELL_MAGICS:
            self.magics.append(Magic(name, body, self._cell, place + 1))
        else:
            self._refuse(place, line)

    def _refuse(self, place: int, line: str) -> None:
        if not self._is_strict:
            return  # a cell to explore with
        is_shell = line.startswith(("!", "%%bash", "%%sh", "%pip", "%conda"))
        remedy = (
            "a job has no shell: name packages with %additional_python_modules"
            if is_shell
            else f"a job is Python: write it as code, or tag the cells of the job {TAG!r}"
        )
        known = ", ".join(
            [*(f"%{name}" for name in LINE_MAGICS), *(f"%%{name}" for name in (*CELL_MAGICS, SQL))]
        )
        raise UsageError(
            f"cell {self._cell}, line {place + 1}: {line.split()[0]!r} is for notebooks only; "
            f"{remedy}; magics that are known: {known}"
        )

    def _keep(self, code: str) -> None:
        if not self._is_strict:
            return
        try:
            program = program_of(code)
        except SyntaxError as error:
            line = (code.splitlines() or [""])[min(error.lineno or 1, code.count("\n") + 1) - 1]
            if line.lstrip().startswith(("%", "!")) or line.rstrip().endswith("?"):
                self._refuse((error.lineno or 1) - 1, line.strip())
            raise UsageError(
                f"cell {self._cell}, line {error.lineno}: {error.msg}: {line.strip()!r} is not "
                f"Python; correct it, or tag the cells of the job {TAG!r}"
            ) from error
        except (ValueError, RecursionError) as error:
            raise UsageError(f"cell {self._cell} is not Python: {error}; correct it") from error
        for node in _of_notebooks(program):
            line = code.splitlines()[node.lineno - 1].strip()
            raise UsageError(
                f"cell {self._cell}, line {node.lineno}: {line!r} is for notebooks only; a script "
                "has no await outside of a function, and no display(): write asyncio.run(...), and "
                "frame.show()"
            )
        self.code = code


def _is_python(code: str) -> bool:
    try:
        program_of(code)
    except UNREADABLE:
        return False
    return True


def _of_notebooks(program: ast.Module) -> Iterator[ast.expr]:
    """Yield what runs in a notebook alone: await outside of a function, and display()."""
    left: list[ast.AST] = [program]
    while left:
        node = left.pop(0)
        is_display = isinstance(node, ast.Call) and identifier(node.func) == "display"
        if isinstance(node, ast.Await) or (is_display and isinstance(node, ast.Call)):
            yield node
        if not isinstance(node, (ast.AsyncFunctionDef, ast.FunctionDef, ast.Lambda)):
            left += ast.iter_child_nodes(node)
