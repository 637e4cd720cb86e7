"""Which cases of a table run at every change."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from tests.sampled import ONE_OF, leave_cases_to_the_night


class Case:
    """A case of tables, as pytest collects it."""

    def __init__(self, params: dict[str, object], keyword: str = "spark", mark: str = "") -> None:
        self.nodeid = f"test_it[{params}]"
        self.keywords = {keyword: True}
        self.callspec = SimpleNamespace(params=params, indices=dict.fromkeys(params, 0))
        self._tables = [pytest.mark.parametrize(name, []).mark for name in params]
        self._marks = {mark}

    def iter_markers(self, _: str) -> list[pytest.Mark]:
        return self._tables

    def get_closest_marker(self, name: str) -> bool:
        return name in self._marks

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self._marks.add(mark.name)


def kept(cases: list[Case]) -> list[dict[str, object]]:
    leave_cases_to_the_night(cases)  # type: ignore[arg-type]
    return [case.callspec.params for case in cases if not case.get_closest_marker("nightly")]


def test_every_third_case_of_a_long_table_that_starts_a_jvm_runs():
    cases = [{"value": number} for number in range(8)]

    assert kept([Case(case) for case in cases]) == cases[::ONE_OF]
    assert kept([Case(case, "other") for case in cases]) == cases
    assert kept([Case(case) for case in cases[:ONE_OF]]) == cases[:ONE_OF]


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (4, 5), (1, 9)])
def test_each_value_of_tables_that_stand_together_runs(sizes):
    pairs = list(product(*map(range, sizes)))

    left = kept([Case({"one": one, "two": two}) for one, two in pairs])

    for name, size in zip(("one", "two"), sizes, strict=True):
        assert {case[name] for case in left} == set(range(size))
    assert len(left) < len(pairs) or 1 in sizes


def test_a_small_sample_that_a_table_names_itself_stays():
    cases = [Case({"value": at}, mark="" if at in (1, 2) else "nightly") for at in range(9)]

    assert kept(cases) == [{"value": 1}, {"value": 2}]
