"""A run that is killed at any step of what a contract does, and the run after it: exactly once."""

from __future__ import annotations

import itertools

import pytest

from tests.sampled import at_night

pytestmark = pytest.mark.spark
OF_ALL = ("the change", "the publication", "the opening or the note", "the commit")
STEPS = {
    "evolve": OF_ALL,
    "freeze": (*OF_ALL, "the acceptance"),
    "quarantine": (*OF_ALL, "the quarantine"),
}
EVERY = [
    (how, f"{when} {step}")
    for how, steps in STEPS.items()
    for when, step in itertools.product(("before", "after"), steps)
]
OFTEN = ("freeze", "after the acceptance")
UNDISTURBED = {
    "evolve": {
        "state": [
            "struct<id:int,amt:bigint,tip:double>",
            [[1, 1, None], [2, 20000000000, 0.5]],
            {"id": "int", "amt": "bigint", "tip": "double"},
        ],
        "kinds": ["commit", "commit"],
    },
    "freeze": {
        "state": [
            "struct<id:int,amt:int,tip:double>",
            [[1, 1, None], [2, 20, 0.5]],
            {"id": "int", "amt": "int", "tip": "double"},
        ],
        "kinds": ["commit", "accept", "commit"],
    },
    "quarantine": {
        "state": [
            "struct<id:int,amt:int,tip:double>",
            [[1, 1, None], [2, 20, 0.5]],
            {"id": "int", "amt": "int", "tip": "double"},
        ],
        "kinds": ["commit", "commit"],
        "aside": [[3, "x", '{"amt":"x"}']],
    },
}


@pytest.mark.parametrize(("how", "step"), [OFTEN, *at_night(*(c for c in EVERY if c != OFTEN))])
def test_the_run_after_a_killed_one_leaves_what_an_undisturbed_one_does(on_iceberg, how, step):
    with pytest.raises(AssertionError):
        on_iceberg("schema_kills.py", how, step)

    facts = on_iceberg("schema_kills.py", how, None)

    assert facts == {**UNDISTURBED[how], "windows": 2, "refused": False}
