"""Finds in a script a commit of its Job that runs even when the script fails."""

import ast


def commits_in_finally(text: str) -> list[int]:
    """Return the lines of a script on which ``finally`` commits a Job; none if it does not parse.

    Committing there marks as read what a failed run did not process. `tidemark lint` follows more
    paths, such as functions that ``finally`` calls.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    jobs = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _makes_job(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return sorted(
        {
            call.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Try)
            for statement in node.finalbody
            for call in ast.walk(statement)
            if isinstance(call, ast.Call) and _commits(call, jobs)
        }
    )


def _makes_job(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id="Job") | ast.Attribute(attr="Job")):
            return True
    return False


def _commits(call: ast.Call, jobs: set[str]) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr="commit"):
            return name in jobs
    return False
