"""Functions of this machine in the place of tasks that are on AWS only."""

import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError, show

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
