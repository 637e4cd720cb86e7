"""Runs the examples of a docstring."""

import doctest
from collections.abc import Mapping
from typing import Any

FINDER = doctest.DocTestFinder(recurse=False)
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def assert_examples_run(name: str, shown: Any, names: Mapping[str, Any]) -> None:
    """Run the examples of one object with some names, and check what they print."""
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in FINDER.find(shown, name, globs=dict(names)):
        runner.run(test, out=said.append)

    assert runner.tries > 0, f"{name} has no example"
    assert not runner.failures, "".join(said)
