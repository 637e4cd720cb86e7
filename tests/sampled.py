"""Cases of a test that differ in values only: a sample at every change, the others at night."""

from collections.abc import Iterable
from typing import Any

import pytest


def at_night(*cases: Any) -> list[Any]:
    """Return cases, each a tuple if there are several arguments, as those of the night."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly)
        for case in cases
    ]


def sampled(cases: Iterable[str], *kept: str) -> list[Any]:
    """Return cases in their order: those that are kept run at every change, the others at night."""
    found = list(cases)
    assert set(kept) < set(found), (kept, found)
    return [case if case in kept else at_night(case)[0] for case in found]


def every_nth(number: int, cases: Iterable[Any]) -> list[Any]:
    """Return parameters in their order: every so many runs at every change, the others at night."""
    sets = [case if hasattr(case, "marks") else pytest.param(case) for case in cases]
    return [
        parameters
        if position % number == 0
        else parameters._replace(marks=[*parameters.marks, pytest.mark.nightly])
        for position, parameters in enumerate(sets)
    ]
