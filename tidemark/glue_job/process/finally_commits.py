"""Finds in a script a commit of its Job that runs even when the script fails."""

import ast


def commits_in_finally(text: str) -> list[int]:
    """Return the lines of a script on which ``finally`` commits a Job; none if it does not parse.

    Committing there marks as read what a failed run did not process. Functions that ``finally``
    calls count too; `tidemark lint`, which no job process loads, follows more paths.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    jobs = {
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _makes_job(node.value)
        for target in node.targets
    }
    commits = {
        function.name: _commits(function, jobs)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
    }
    found: set[int] = set()
    for node in ast.walk(tree):
        for statement in node.finalbody if isinstance(node, ast.Try) else ():
            found |= _commits(statement, jobs)
            for call in (it for it in ast.walk(statement) if isinstance(it, ast.Call)):
                found |= commits.get(ast.unparse(call.func).rpartition(".")[2], set())
    return sorted(found)


def _makes_job(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "Job"


def _commits(node: ast.AST, jobs: set[str]) -> set[int]:
    """Return the lines below a node on which one of the jobs is committed."""
    calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
    return {
        call.lineno
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "commit"
        and ast.unparse(call.func.value) in jobs
    }
