"""The page of a proof: every change with its crash, every cause once, and nothing unescaped."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tidemark.local_state.operations import Operation
from tidemark.operate.prove.causes import Cause
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.findings import Finding, Proof
from tidemark.operate.prove.judged import TargetRows
from tidemark.operate.prove.words import lines_of, to_json
from tidemark.report.prove_page import proof_page, steps_of

OUT = "s3://lake/<b>out</b>/"
PUT = Operation(1, "jr_1", "put", (f"{OUT}part-0",), "job.py", 7)
COMMIT = Operation(2, "jr_1", "bookmark", ("",), "job.py", 8)
CAUSE = Cause("job.py line 7 has written rows", "write windows", "job.py", 7)
ROWS = TargetRows(
    OUT, 4, 2, doubled=2, key=("id",), examples={"doubled": ['{"id":1,"note":"<script>"}']}
)


def crash(operation: Operation, *, later: bool = False) -> Experiment:
    title = f"crash after {operation.kind}{' later' if later else ''}"
    return Experiment("crash", title, operation.number, operation, is_in_increment=later)


@pytest.fixture
def proof() -> Proof:
    findings = [
        Finding(crash(PUT), "doubled", [ROWS], cause=CAUSE),
        Finding(crash(COMMIT), "equal"),
        Finding(crash(PUT, later=True), "doubled", [ROWS], cause=CAUSE),
        Finding(replace(crash(PUT), title="crash, and a file", is_late=True), "equal"),
        Finding(Experiment("error", "it fails once", 1, PUT), "equal"),
        Finding(Experiment("again", "nothing new"), "equal"),
        Finding(Experiment("twice", "a file twice"), "accepted", [ROWS], "readers know", CAUSE),
        *(
            Finding(Experiment("parts", f"part {number}"), "not tried", reason="the budget")
            for number in range(5)
        ),
    ]
    withheld = ["jdbc:postgresql://db/shop (job.py line 9)"]
    return Proof([PUT, COMMIT], findings, {OUT: ["at"]}, 12.4, withheld=withheld)


class Page(HTMLParser):
    """What a page has: tags, and text that people see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.seen.append(data)


def test_the_page_shows_changes_crashes_causes_and_rows_and_runs_nothing(proof):
    page = Page(proof_page(proof, "<i>job</i>.py"))
    text = " ".join(page.seen)

    assert "script" not in page.tags
    assert "b" not in page.tags  # that of the name of a bucket is text
    for shown in ("<i>job</i>.py", f"{OUT}part-0", '"note":"<script>"', "write windows", "at"):
        assert shown in text
    assert "jdbc:postgresql://db/shop (job.py line 9): a database that is elsewhere" in text
    assert text.count("job.py line 7 has written rows") == 1  # once for both crashes


def test_a_change_has_the_crash_of_the_first_run_only(proof):
    found = [(one.operation.number, one.finding and one.finding.verdict) for one in steps_of(proof)]

    assert found == [(1, "doubled"), (2, "equal")]  # not those of the error and of the late file


def test_the_lines_name_each_cause_once_and_fold_what_was_not_tried(proof):
    lines = list(lines_of(proof))

    assert sum("job.py line 7 has written rows" in line for line in lines) == 1
    assert [line for line in lines if "the budget" in line] == [
        "- not tried 5 experiments (parts 5): the budget"
    ]
    elsewhere = "- not tried the rows of jdbc:postgresql://db/shop (job.py line 9): a database"
    assert any(line.startswith(elsewhere) for line in lines)
    assert "~ accepted  a file twice: readers know" in lines
    assert any(line.startswith(f"{OUT}: left out: at (") for line in lines)


def test_the_json_has_every_experiment_with_its_cause(proof):
    found = to_json(proof)

    assert (found["verdict"], found["differs_by_time"]) == ("doubled", {OUT: ["at"]})
    assert len(found["experiments"]) == len(proof.findings)
    first = found["experiments"][0]
    assert (first["after"], first["cause"]["line"]) == (1, 7)
    assert first["targets"][0]["verdict"] == "doubled"


@pytest.mark.parametrize(
    ("verdicts", "is_bad"),
    [
        (["equal", "accepted", "not tried"], False),
        (["equal", "fails"], True),
        (["not tried"], True),  # nothing was proved
    ],
)
def test_a_proof_is_bad_if_rows_differ_or_nothing_was_tried(verdicts, is_bad):
    findings = [Finding(Experiment("again", "again"), verdict) for verdict in verdicts]

    assert Proof([], findings).is_bad is is_bad
