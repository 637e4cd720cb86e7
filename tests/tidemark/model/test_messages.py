"""Which run a string means: an id, its beginning, and of a retry also that with its end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tidemark
from tidemark.cli.views.listing import short_ids_of_attempts
from tidemark.errors import UsageError
from tidemark.model.messages import ids_meant, known, known_run, listed, plural

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


JOBS = {"jr_ab12": "load", "jr_ab34": "report", "jr_cd56": "load"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jr_ab", "2 runs here begin with 'jr_ab': jr_ab12 of load, jr_ab34 of report; give more"),
        ("jr_", "3 runs here begin with 'jr_': jr_ab12 of load, .*; give more of the id"),
        ("j", "3 runs here begin with 'j'"),
        ("jr_cd57", "no run 'jr_cd57' here; the nearest: jr_cd56 of load; look there"),
        ("zzzzzzzzzz", "the nearest: jr_ab12 of load;"),
        ("", "no run '' here"),
    ],
)
def test_a_run_that_is_not_known_is_refused_with_the_nearest(text, said):
    with pytest.raises(UsageError, match=said):
        known_run(text, JOBS, "here", "look there", JOBS)


def test_what_every_id_begins_with_means_no_run_even_if_there_is_one():
    with pytest.raises(UsageError, match="1 run here begins with 'jr_': jr_ab12; give more"):
        known_run("jr_", ["jr_ab12"], "here", "look there")


@pytest.mark.parametrize("text", ["jr_1", "jr_"])
def test_where_nothing_has_run_that_is_said(text):
    with pytest.raises(UsageError, match="nothing has run yet"):
        known_run(text, [], "here", "look there")


def test_a_message_names_the_nearest_names_or_the_first_of_all():
    names = [f"job-{number:02}" for number in range(20)]

    assert known("job", "job-07", names) == "job-07"
    with pytest.raises(UsageError, match="there is no job 'jb-07'; did you mean job-07 or "):
        known("job", "jb-07", names)
    with pytest.raises(UsageError, match=r"allowed: job-00, .*, job-11, and 8 more"):
        known("job", "zzz", names)
    with pytest.raises(UsageError, match="there is no job 'a'; none is known yet"):
        known("job", "a", [])
    assert listed([]) == "none"


NOUNS = "rows|runs|files|jobs|tables|windows|events|partitions|bytes|fields|columns|records|tags"
COUNT = r"len\(|\b(?:count|amount|size|files|rows|left)\b"
COUNTED = re.compile(rf"\{{[^{{}}]*(?:{COUNT})[^{{}}]*\}} (?:\w+ )?(?:{NOUNS})\b")
LIMIT = re.compile(r"MAX_|allowed|most|plural\(")  # what is refused is more than one
SEVERAL = (
    "glue_job/",
    "model/messages.py",
    "constructs/jobs/job_arguments.py",
    "constructs/monitoring/alerts.py",
)


def test_one_of_something_is_no_plural():
    assert [plural(number, "file") for number in (0, 1, 2000)] == [
        "0 files",
        "1 file",
        "2,000 files",
    ]
    assert plural(2, "guess") == "2 guesses"
    root = Path(tidemark.__file__).parent
    found = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in sorted(root.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if COUNTED.search(line) and not LIMIT.search(line)
    ]
    assert [one for one in found if not one.startswith(SEVERAL)] == []
