"""Which cause a finding gets, where several experiments go wrong for one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.local_state.home import Home
from tidemark.local_state.operations import Operation
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.causes import Cause, or_no_data
from tidemark.operate.prove.comparison import (
    Marks,
    _accepted,
    _with_cause_before,
    with_first_causes,
    with_own_causes,
    with_plain_causes,
)
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.findings import Finding, Proof, Wish
from tidemark.operate.prove.judged import TargetRows, Verdict
from tidemark.operate.prove.prove import _not_made
from tidemark.operate.prove.words import lines_of

REPLACES = Cause("it replaces all", "append")
LATE = Cause("it arrived late", "read up to a mark")


def finding(kind: str, verdict: Verdict, cause: Cause | None) -> Finding:
    return Finding(Experiment(kind, kind), verdict, cause=cause)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["parts", "again"])
@pytest.mark.parametrize("late", ["order", "meanwhile"])
def test_a_late_file_is_no_cause_of_what_goes_wrong_without_one(kind: str, late: str) -> None:
    found = with_plain_causes([finding(kind, "lost", REPLACES), finding(late, "lost", LATE)])

    assert [one.cause for one in found] == [REPLACES, REPLACES]


def test_a_late_file_is_the_cause_where_the_files_in_parts_are_right() -> None:
    found = with_plain_causes([finding("parts", "equal", None), finding("order", "lost", LATE)])

    assert [one.cause for one in found] == [None, LATE]


def test_a_run_that_fails_names_the_changes_that_were_not_made(tmp_path: Path) -> None:
    url = "jdbc:postgresql://shop/orders"
    withheld = Operation(1, "jr_1", "withheld", (url,), "job.py", 7)
    outcome = Outcome(Experiment("again", "again"), Home.open(tmp_path))
    nothing, some = (
        Baseline(outcome.home, outcome, operations, (), {}, ()) for operations in ([], [withheld])
    )

    assert _not_made(nothing) == ""
    assert f"it changed nothing in {url} (job.py line 7), which it may expect" in _not_made(some)


def test_each_target_that_is_wrong_has_its_cause_and_the_worst_comes_first() -> None:
    def rows(target: str, lost: int = 0, doubled: int = 0) -> TargetRows:
        return TargetRows(target, 9, 9, lost, doubled, examples={"lost": [target]})

    adds = Cause("line 16 adds", "merge", "job.py", 16)
    wrong = Finding(
        Experiment("crash", "crash after line 21"),
        "lost",
        [rows("a", doubled=3), rows("b", lost=2), rows("c", doubled=1), rows("d")],
        cause=REPLACES,
        causes={"a": adds, "b": REPLACES, "c": adds},
    )
    fails = replace(wrong, verdict="fails")

    assert [
        (one.verdict, one.cause, [it.target for it in one.targets]) for one in wrong.wrongs
    ] == [
        ("lost", REPLACES, ["b"]),
        ("doubled", adds, ["a", "c"]),
    ]
    assert [one.cause for one in fails.wrongs] == [REPLACES]
    text = "\n".join(lines_of(Proof((), [wrong])))
    assert (text.count("why: line 16 adds"), text.count("why: it replaces all")) == (1, 1)
    assert text.count("lost: b") == 1


@pytest.mark.parametrize("read", [{"s3://lake/out/done.json"}, set()])
def test_only_a_target_that_runs_look_at_may_be_a_note(tmp_path: Path, read: set[str]) -> None:
    home = Home(tmp_path)
    written = Operation(1, "jr_1", "put", ("s3://lake/out/done.json",))
    outcome = Outcome(Experiment("again", "well"), home)
    run = Baseline(home, outcome, [written], (), {}, ())
    marks = Marks(read, set(), set(), {})

    assert marks.has(run, "s3://lake/out/") is bool(read)
    assert not marks.has(run, "s3://lake/other/")


@pytest.mark.parametrize(
    ("written", "what"),
    [
        (["s3://lake/x/done.json"], "if it is a mark of how far the job has got and no data"),
        (["s3://lake/x/run-20261130.json"], "if it is a log of runs and no data"),
        (["s3://lake/x/total.json"], ""),
        (["s3://lake/x/part-00000-1.json"], ""),
        (["s3://lake/x/run-1.json", "s3://lake/x/run-2.json"], ""),
    ],
)
def test_what_may_be_no_data_is_named_with_the_option_that_leaves_it_out(
    written: list[str], what: str
) -> None:
    adds = Cause("adds rows", "merge")

    cause = or_no_data(adds, "s3://lake/x/", written, {"s3://lake/x/done.json"})

    assert cause.remedy == (f"merge; or, {what}: --ignore s3://lake/x/" if what else "merge")


def test_what_crashes_change_has_one_cause_at_the_write_of_its_target() -> None:
    written = Operation(1, "jr_1", "put", ("s3://out/total/a",), "job.py", 16)
    own, of_others = Cause("adds", "merge", "job.py", 16), Cause("notes", "move", "job.py", 20)

    def crash(verdict: Verdict, cause: Cause) -> Finding:
        lost = int(verdict == "lost")
        rows = TargetRows("s3://out/total/", 9, 9, lost, doubled=1 - lost)
        return replace(
            finding("crash", verdict, cause), targets=[rows], causes={rows.target: cause}
        )

    found = with_own_causes(
        [crash("doubled", own), crash("doubled", of_others), crash("lost", of_others)], [written]
    )

    assert [list(one.causes.values()) for one in found] == [[own], [own], [of_others]]


def test_what_a_second_death_shows_is_not_the_cause_of_what_the_first_one_does() -> None:
    written = Operation(1, "jr_1", "put", ("s3://out/a",), "job.py", 16)
    first, second = Cause("adds", "merge", "job.py", 16), Cause("repairs", "move", "job.py", 16)
    rows = TargetRows("s3://out/", 9, 8, doubled=1)

    def crash(deaths: int, cause: Cause) -> Finding:
        plain = replace(finding("crash", "doubled", cause), targets=[rows])
        experiment = replace(plain.experiment, deaths=deaths)
        return replace(plain, experiment=experiment, causes={rows.target: cause})

    caused = with_own_causes([crash(1, first), crash(2, second), crash(2, second)], [written])

    assert [[*crash.causes.values()] for crash in caused] == [[first]] * 3


def test_what_is_accepted_after_one_death_is_accepted_after_two() -> None:
    first, second = Cause("adds", "merge", "job.py", 16), Cause("repairs", "move", "job.py", 20)
    rows = TargetRows("s3://out/", 9, 8, doubled=1)
    wish = Wish(accepted={("job.py", 16): "readers keep the newest row"})

    def crash(deaths: int, cause: Cause) -> Finding:
        plain = replace(finding("crash", "doubled", cause), targets=[rows])
        experiment = replace(plain.experiment, deaths=deaths)
        return _accepted(replace(plain, experiment=experiment, causes={rows.target: cause}), wish)

    crashes = [crash(1, first), crash(2, second)]
    assert [crash.verdict for crash in crashes] == ["accepted", "doubled"]

    caused = [_accepted(crash, wish) for crash in with_first_causes(crashes)]

    assert [crash.verdict for crash in caused] == ["accepted", "accepted"]


@pytest.mark.parametrize("has_order", [True, False])
def test_what_a_mark_of_the_rows_loses_is_not_laid_to_the_times_of_files(has_order: bool) -> None:
    of_rows, of_times = Cause("below the mark", "look back"), Cause("whole seconds", "keep names")
    tied, order = finding("tied", "lost", of_times), finding("order", "lost", of_rows)

    [told, *_] = with_plain_causes([tied, *([order] if has_order else [])])

    assert told.cause == (of_rows if has_order else of_times)


@pytest.mark.parametrize("is_wrong", [True, False])
def test_a_mark_that_a_crash_has_changed_is_not_said_to_be_left_out(is_wrong: bool) -> None:
    mark = "s3://lake/_state/total.json"
    rows = [TargetRows(mark, 1, 1, lost=1, added=1, same_key=1)] if is_wrong else []
    crash = replace(finding("crash", "changed", REPLACES), targets=rows)

    lines = list(lines_of(Proof((), [crash], marks=[mark])))

    assert any(line.startswith(f"left out: {mark}") for line in lines) is not is_wrong


@pytest.mark.parametrize(("is_open", "told"), [(False, "1 crash"), (True, "0 of 1 failing")])
def test_what_cannot_be_tried_is_not_counted_as_left_out(is_open: bool, told: str) -> None:
    error = Experiment("error", "requests that fail", not_tried="why", is_open=is_open)
    proof = Proof((), [finding("crash", "equal", None), Finding(error, "not tried", reason="why")])

    last = list(lines_of(proof))[-1]

    assert told in last
    assert ("failing request" in last) is is_open


def test_without_crashes_and_errors_the_experiments_that_were_tried_are_counted() -> None:
    proof = Proof((), [finding("again", "equal", None), finding("twice", "equal", None)])

    assert list(lines_of(proof))[-1] == "tried: 2 experiments"


def test_what_a_later_job_makes_of_wrong_rows_has_the_cause_of_these(tmp_path: Path) -> None:
    writes = [
        Operation(1, "jr_1", "put", ("s3://lake/raw/1",), "a.py", 7),
        Operation(2, "jr_2", "put", ("s3://lake/out/1",), "b.py", 9),
    ]
    outcome = Outcome(Experiment("again", "again"), Home.open(tmp_path))
    run = Baseline(outcome.home, outcome, writes, (), {}, ())
    of_raw, of_out = Cause("no key", "a key", "a.py", 7), Cause("other rows", "repeat")
    causes = {"s3://lake/out/": of_out, "s3://lake/raw/": of_raw}

    def after(operation: Operation) -> dict[str, Cause]:
        crash = Experiment("crash", "crash", operation.number, operation=operation)
        return _with_cause_before(causes, run, crash)

    assert after(writes[0]) == {"s3://lake/out/": of_raw, "s3://lake/raw/": of_raw}
    assert after(writes[1])["s3://lake/out/"] == of_out
