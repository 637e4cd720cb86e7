"""Which run a text means: an id, its beginning, and of a retry also that with its end."""

from __future__ import annotations

import pytest

from tidemark.cli.views.listing import short_ids_of_attempts
from tidemark.operate.run_ids import ids_meant

ONE, OTHER = f"jr_{'ab' * 32}", f"jr_{'ac' * 32}"
FIRST, SECOND = f"{ONE}_attempt_1", f"{ONE}_attempt_2"
KNOWN = [SECOND, FIRST, ONE, OTHER]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (ONE, [ONE]),
        (FIRST, [FIRST]),
        ("jr_ab", [ONE]),
        ("ab", [ONE]),
        ("jr_ab_attempt_2", [SECOND]),
        ("jr_a_attempt_2", [SECOND]),
        ("jr_ab_attempt_3", []),
        ("jr_a", KNOWN),
        ("jr_", []),
        ("", []),
        (f"{ONE}_att", [SECOND, FIRST]),
    ],
)
def test_a_text_means_the_runs_that_begin_so(text, meant):
    assert ids_meant(text, KNOWN) == meant


def test_of_a_retry_whose_first_attempt_is_not_there_the_beginning_is_enough():
    assert ids_meant("jr_ab", [SECOND, OTHER]) == [SECOND]
    assert ids_meant("jr_ab", [SECOND, FIRST]) == [SECOND, FIRST]


def test_what_a_list_shows_of_a_run_means_that_run():
    short = short_ids_of_attempts(KNOWN)

    assert short == {
        ONE: "jr_abababab",
        OTHER: "jr_acacacac",
        FIRST: "jr_abababab_attempt_1",
        SECOND: "jr_abababab_attempt_2",
    }
    assert [ids_meant(shown, KNOWN) for shown in short.values()] == [[id_] for id_ in short]
