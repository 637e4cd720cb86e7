"""The script of a job that the cells of a notebook make."""

import ast
import re
from collections.abc import Iterator

from tidemark.checks.lint.facts import is_job_call
from tidemark.checks.script.script_names import Names, names_of
from tidemark.scaffold.magics import settings_of
from tidemark.scaffold.notebook import Notebook

# The names that cells find, each with what makes it; each needs the one before it.
OF_SESSION = {
    "sc": "sc = SparkContext.getOrCreate()",
    "glueContext": "glueContext = GlueContext(sc)",
    "spark": "spark = glueContext.spark_session",
}
# What is imported for the lines that are added, by a name in them.
IMPORTS = {
    "sys.argv": "import sys\n",
    "GlueContext(": "from awsglue.context import GlueContext",
    "Job(": "from awsglue.job import Job",
    "getResolvedOptions(": "from awsglue.utils import getResolvedOptions",
    "SparkContext.": "from pyspark.context import SparkContext",
}
FUTURE = "__future__"  # what is imported from it has to be first in a script
ADDRESS = re.compile(r"s3[an]?://[^\s'\"`,;(){}]+")


def script_of_cells(job: str, notebook: Notebook) -> str:
    """Return the source of a job that runs the cells in order, between init and commit.

    The names of a session are made where the cells do not make them; so is a Job.
    """
    cells = {number: f"# Cell {number}\n{code}\n" for number, code in notebook.code.items()}
    text = "\n".join(cells.values())
    first, text = _without_future(text)
    tree = ast.parse(text)
    names, calls = names_of(tree), [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = next(_jobs_made(tree, names), None)
    variable = made[0] if made else _free_name(tree)
    needed = _needed(tree, is_job_missing=made is None)
    begin = [line for name, line in OF_SESSION.items() if name in needed]
    begin += [] if made else [f"{variable} = Job(glueContext)"]
    init: list[str] = []
    if not any(is_job_call(call, "init", names) for call in calls):
        arguments = f"{variable}_arguments"
        init = [
            f'{arguments} = getResolvedOptions(sys.argv, ["JOB_NAME"])',
            f'{variable}.init({arguments}["JOB_NAME"], {arguments})',
            "",
        ]
    added = "\n".join([*begin, *init])
    imports = [line for name, line in IMPORTS.items() if name in added]
    lines = text.splitlines()
    place = made[1] if made else 0
    text = "\n".join([*lines[:place], *init, *lines[place:]])
    if not any(is_job_call(call, "commit", names) for call in calls):
        text += f"\n\n{variable}.commit()"
    name = notebook.name.replace("\\", "/").replace('"', "'")
    docstring = f'"""Glue job {job}: the cells of {name}."""'
    return "\n".join([docstring, "", *first, *imports, "", *begin, text, ""])


def addresses_in(script: str) -> list[str]:
    """Return the addresses in S3 that stand in a script, each once.

    Example:
        >>> addresses_in("spark.read.json('s3://lake/orders/')")
        ['s3://lake/orders/']
    """
    texts = (
        node.value
        for node in ast.walk(ast.parse(script))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return list(dict.fromkeys(place for text in texts for place in ADDRESS.findall(text)))


def left_of(notebook: Notebook, script: str, stack: str) -> str:
    """Return what the notebook has and its job has not, a line each."""
    lines = settings_of(notebook.magics).left_out()
    if places := addresses_in(script):
        lines.append(
            f"its role on AWS allows no data yet: {', '.join(places)}; declare each as a Dataset "
            f"in reads= or writes= in {stack}"
        )
    lines.append(
        "each run reads everything, as the notebook does: for new data only, give its sources a "
        "transformation_ctx, and the call BookmarkOption.ENABLE"
    )
    return "\n".join(f"- {line}" for line in lines)


def _without_future(text: str) -> tuple[list[str], str]:
    """Return the imports that have to be first in a script, and a text without them."""
    lines, first = text.splitlines(), list[str]()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.module == FUTURE:
            first.append(ast.unparse(node))
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
    return first, "\n".join(lines)


def _jobs_made(tree: ast.Module, names: Names) -> Iterator[tuple[str, int]]:
    """Yield the variables that get a Job, and the line on which their statement ends."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and names.makes_a_job(node.value):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.end_lineno or node.lineno


def _free_name(tree: ast.Module) -> str:
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return next(name for name in ("job", "glue_job", "glue_job_") if name not in taken)


def _needed(tree: ast.Module, *, is_job_missing: bool) -> set[str]:
    """Return the names of a session that the cells read before they make them, in a chain."""
    first: dict[tuple[str, bool], int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in OF_SESSION:
            key = (node.id, isinstance(node.ctx, ast.Load))
            first[key] = min(node.lineno, first.get(key, node.lineno))
    end = len(tree.body) and (tree.body[-1].end_lineno or 0) + 1
    needed = {
        name
        for name in OF_SESSION
        if (name, True) in first and first[name, True] <= first.get((name, False), end)
    }
    order = list(OF_SESSION)
    last = max((order.index(name) for name in needed), default=-1)
    return set(order[: max(last + 1, 2 if is_job_missing else 0)])
