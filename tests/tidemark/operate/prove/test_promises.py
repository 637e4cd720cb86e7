"""What contracts promise of a file with other columns, and the verdict on what a run has left."""

import pytest

from tidemark.model.drift import Drift
from tidemark.operate.prove.judged import Verdict
from tidemark.operate.prove.promises import DriftFacts, Promise, promise_of, verdict_of

FILE, OTHER = "s3://lake/in/4.json", "s3://lake/more/4.json"
REFUSED = "load: SchemaContractError: the column tip (string) is new"
FREEZE = {"schema": "id INT", "columns": "freeze", "types": "freeze", "place": ""}
OF_FILE = {"schema": "id INT", "columns": "rescue", "place": "s3://lake/in"}


@pytest.mark.parametrize(
    ("contracts", "file", "promise"),
    [
        ([], FILE, Promise(unknown="no contract")),
        ([FREEZE], FILE, Promise("freeze")),
        ([FREEZE, OF_FILE], FILE, Promise("rescue")),
        ([OF_FILE, {**OF_FILE, "place": ""}], OTHER, Promise(unknown="no contract")),
        ([{**OF_FILE, "place": "s3://lake/out/"}], FILE, Promise("rescue")),
        ([{"place": "", "schema": "id INT"}], FILE, Promise("evolve")),
        (
            [{**FREEZE, "schema": ""}],
            FILE,
            Promise(unknown="a contract without columns of its own"),
        ),
        ([{**FREEZE, "schema": ""}, FREEZE], FILE, Promise("freeze")),
        (
            [FREEZE, {**OF_FILE, "place": ""}],
            FILE,
            Promise(unknown="contracts of columns freeze and rescue"),
        ),
    ],
    ids=["none", "script", "own", "other source", "target", "default", "no columns", "kept", "two"],
)
def test_the_contract_of_the_own_data_counts_then_that_of_targets_and_of_the_script(
    contracts, file, promise
):
    assert promise_of(contracts, file, [FILE, OTHER], "more", "tip") == promise


def test_a_contract_promises_nothing_of_a_column_that_it_does_not_have():
    unknown = Promise(unknown="a contract without the column amt")

    assert promise_of([FREEZE], FILE, [FILE], "type", "amt") == unknown
    assert promise_of([FREEZE], FILE, [FILE], "fewer", "ID") == Promise("null")


CASES: list[tuple[str, Drift, DriftFacts, Verdict]] = [
    ("freeze", "more", DriftFacts(REFUSED), "equal"),
    ("freeze", "more", DriftFacts("load: ValueError: no"), "told"),
    ("freeze", "more", DriftFacts(REFUSED, written=["load.py line 3"]), "changed"),
    ("freeze", "more", DriftFacts(REFUSED, after="lost"), "lost"),
    ("freeze", "more", DriftFacts(short=3), "lost"),
    ("freeze", "more", DriftFacts(), "changed"),
    ("freeze", "fewer", DriftFacts(), "told"),
    ("freeze", "type", DriftFacts(REFUSED, problem="no column is left"), "not tried"),
    ("rescue", "type", DriftFacts(REFUSED), "fails"),
    ("rescue", "type", DriftFacts(), "equal"),
    ("rescue", "type", DriftFacts(is_kept=False), "lost"),
    ("rescue", "type", DriftFacts(over=1), "doubled"),
    ("discard", "more", DriftFacts(is_kept=False), "equal"),
    ("discard_row", "type", DriftFacts(short=1), "lost"),
    ("evolve", "type", DriftFacts(REFUSED), "equal"),
    ("evolve", "type", DriftFacts(unreadable={"n": ["int", "string"]}), "changed"),
    ("null", "fewer", DriftFacts(is_kept=False), "equal"),
    ("null", "fewer", DriftFacts(problem="no column is left"), "not tried"),
    ("", "more", DriftFacts("load: ValueError: no"), "told"),
    ("", "more", DriftFacts("load: ValueError: no", after="doubled"), "doubled"),
    ("", "more", DriftFacts("load: ValueError: no", after="fails"), "fails"),
    ("", "type", DriftFacts(short=3, drifted_rows=3, is_kept=False), "told"),
    ("", "type", DriftFacts(short=4, drifted_rows=3), "lost"),
    ("", "type", DriftFacts(unreadable={"n": ["int", "string"]}), "told"),
    ("", "fewer", DriftFacts(drifted_rows=3), "told"),
]


@pytest.mark.parametrize(("mode", "drift", "facts", "verdict"), CASES)
def test_the_verdict_is_what_the_contract_promises(mode, drift, facts, verdict):
    promise = Promise(mode) if mode else Promise(unknown="no contract")

    assert verdict_of(promise, drift, facts)[0] == verdict


def test_the_reason_says_what_is_promised_and_what_has_happened():
    facts = DriftFacts(REFUSED, written=["load.py line 3"], after="doubled")

    assert verdict_of(Promise("freeze"), "type", facts)[1] == (
        'types="freeze", and the run is refused after a write or a commit by load.py line 3; '
        "with the file as it was, the next run does not put it right"
    )
    told = verdict_of(Promise(unknown="no contract"), "type", DriftFacts(short=1, drifted_rows=3))
    assert told[1] == "no contract, and the run SUCCEEDED: 1 of the 3 rows are left out"
