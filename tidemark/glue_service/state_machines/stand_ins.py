"""Functions of this machine in the place of tasks that are on AWS only."""

import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError, show
from tidemark.glue_service.protocol.json_protocol import parsed
from tidemark.glue_service.state_machines.live import Changes

PREFIX = "python:"
ALLOWED = "STATE=python:MODULE.FUNCTION, such as Notify=python:jobs.notify"


def read_tasks(words: Iterable[str]) -> dict[str, str]:
    """Return the functions for tasks, by the name of their state; each can be imported.

    Modules of the current folder are found too.
    """
    tasks = {}
    for word in words:
        name, _, target = word.partition("=")
        if not name or not target.startswith(PREFIX):
            raise UsageError(f"--task is {show(word)}; allowed: {ALLOWED}")
        tasks[name] = target
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.insert(0, here)
        function_of(name, target)
    return tasks


def function_of(name: str, target: str) -> Callable[[Any], Any]:
    """Return the function that stands in for a task, such as `python:jobs.notify`.

    It gets the input of the task, and returns its output.
    """
    module, _, function = target.removeprefix(PREFIX).rpartition(".")
    try:
        stand_in: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"the task {name} has the stand-in {target!r}, which cannot be imported: {error}; "
            f"allowed: {ALLOWED}, on Python's path"
        ) from error
    return stand_in


def answer_of(function: Callable[[str, Any], Any], name: str, given: Any) -> dict[str, Any]:
    """Return the output of a stand-in for a state, or its error by the name of its class.

    >>> answer_of(lambda name, given: {"got": given}, "A", 1)
    {'output': {'got': 1}}
    >>> answer_of(lambda name, given: float("nan"), "A", 1)["error"]
    'States.TaskFailed'
    """
    try:
        output = function(name, given)
    except BaseException as error:  # noqa: BLE001 (code of somebody else, which may even exit)
        return {"error": type(error).__name__, "cause": str(error)}
    try:
        return {"output": parsed(json.dumps(output, allow_nan=False))}
    except (TypeError, ValueError, RecursionError) as error:
        cause = f"the stand-in of {name} returned a {type(output).__name__} that is not JSON"
        return {"error": "States.TaskFailed", "cause": f"{cause}: {error}; return plain data"}


def in_thread(
    function: Callable[[str, Any], Any], name: str, given: Any, changes: Changes
) -> Callable[[], dict[str, Any] | None]:
    """Return what looks for the answer of a stand-in, and starts it at the first look.

    It runs in a thread of its own, which a timeout leaves behind: Python cannot end one.
    """
    answers: list[dict[str, Any]] = []

    def call() -> None:
        answers.append(answer_of(function, name, given))
        changes.note()

    thread = threading.Thread(target=call, name=f"stand-in of {name}", daemon=True)

    def look() -> dict[str, Any] | None:
        if thread.ident is None:
            thread.start()
        return answers[0] if answers else None

    return look
