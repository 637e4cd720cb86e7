"""Cases of a test that differ in values only: a sample at every change, the others at night."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

ONE_OF = 3  # cases of a table that starts a JVM or Node
OF_APPS = {"app", "stage"}  # each is synthesized once for all tests: more cases cost nothing


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


def leave_cases_to_the_night(items: Iterable[pytest.Item]) -> None:
    """Leave two of three cases of each long table that starts a JVM or Node to the night.

    A sample that a table names itself stays if it is small. Of several tables together, each value
    of each one runs.
    """
    tables = defaultdict[str, list[Any]](list)
    for item in items:
        is_dear = {"spark", "synth"} & set(item.keywords)
        indices = item.callspec.indices if hasattr(item, "callspec") else {}
        if is_dear and indices and OF_APPS.isdisjoint(indices):
            tables[item.nodeid.partition("[")[0]].append(item)
    for every_case in tables.values():
        cases = [case for case in every_case if not case.get_closest_marker("nightly")]
        if len(cases) <= ONE_OF:
            continue
        kept, met = cases[::ONE_OF], set[tuple[int, str]]()
        if len(_values_of(cases[0])) > 1:
            kept = []
            for case in cases:
                values = _values_of(case)
                kept += [case] if values - met else []
                met |= values
        for case in set(cases) - set(kept):
            case.add_marker(pytest.mark.nightly)


def _values_of(case: Any) -> set[tuple[int, str]]:
    """Return the values of a case, each with the number of its table."""
    left, tables = dict(case.callspec.params), list[tuple[Any, ...]]()
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0]
        names = names.split(",") if isinstance(names, str) else names
        tables.append(tuple(left.pop(name.strip(), None) for name in names))
    tables += [(value,) for value in left.values()]  # of fixtures
    return {(number, repr(values)) for number, values in enumerate(tables)}
