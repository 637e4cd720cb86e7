"""Where the JSON of a command has values of rows, they are withheld, and the rest stays."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from tidemark.agents.withheld import (
    QUOTING,
    WITHHELD,
    lines_without_rows,
    messages_without_rows,
    without_messages,
    without_rows,
)
from tidemark.local_state.bookmarks.keys import JdbcSource, describe
from tidemark.local_state.run_warnings import RunWarning
from tidemark.operate.diff.outcomes import Diff, TargetDiff
from tidemark.operate.prove.judged import TargetRows
from tidemark.operate.versions.outcomes import RunOutcome, StateOutcome, TargetOutcome

VALUE = "Jane"


def of_prove() -> object:
    rows = TargetRows("s3://lake/", 2, 3, lost=1, key=("id",), examples={"lost": [VALUE]})
    return {"experiments": [{"targets": [asdict(rows)], "reason": f"job: ValueError: {VALUE}"}]}


def of_diff() -> object:
    target = TargetDiff(
        rows=(2, 3),
        key=("id",),
        twice_example={"id": VALUE},
        examples={"old": [VALUE]},
        target="s3://lake/",
        problem=f"it failed: IllegalArgumentException: {VALUE}",
    )
    runs = ([RunOutcome("load", "FAILED", f"ValueError: {VALUE}", 1, 1)], [])
    state = StateOutcome("bookmark", "load", (VALUE, None), {"after": (VALUE, None)})
    return Diff("a", "b", [target], [state], runs).to_json()


def of_versions() -> object:
    target = TargetOutcome("s3://lake/", (2, 3), only_old=(VALUE,), only_new=(VALUE,))
    return {"targets": [asdict(target)], "jobs": [{"differences": ["rows read: 2 before"]}]}


def of_state() -> object:
    states = {"orders": {"kind": "keys", "keys": ["email"], "values": {"email": VALUE}}}
    return {
        "JobBookmarkEntry": {"JobName": "load", "JobBookmark": json.dumps({"states": states})},
        "watermarks": {"email": VALUE},
        "open_windows": [{"cursor": "email", "low": VALUE, "high": VALUE}],
        "checkpoint": {"read": [{"dataset": "s3://lake/", "after": {"values": [VALUE]}}]},
        "log": [VALUE],
        "executions": [{"input": VALUE, "output": {"name": VALUE}, "cause": VALUE}],
        "message": f"{VALUE} is no name (load.py, line 4)",
    }


@pytest.mark.parametrize("document", [of_prove(), of_diff(), of_versions(), of_state()])
def test_no_value_of_a_row_is_left(document: object) -> None:
    left = json.dumps(without_rows(document))

    assert VALUE in json.dumps(document)
    assert VALUE not in left
    assert WITHHELD in left


def test_counts_columns_places_and_classes_of_errors_stay() -> None:
    (target,) = without_rows(of_diff())["targets"]
    (run,), _ = without_rows(of_diff())["runs"]

    assert target["rows"] == [2, 3]
    assert target["key"] == ["id"]
    assert run["error"] == f"ValueError: {WITHHELD}"
    assert without_rows(of_versions())["jobs"] == [{"differences": ["rows read: 2 before"]}]
    assert without_rows(of_state())["message"] == f"{WITHHELD} (load.py, line 4)"


@pytest.mark.parametrize(
    "value", [18, "17", "2026-11-30T17:12:55.313+00:00", "s3://lake/in/b ü.json", "jr_0a1", None]
)
def test_a_position_keeps_numbers_times_and_files(value: object) -> None:
    assert without_rows({"watermarks": {"at": value}}) == {"watermarks": {"at": value}}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("ValueError: Jane (a.py, line 4)", f"ValueError: {WITHHELD} (a.py, line 4)"),
        (
            "AnalysisException: [PATH_NOT_FOUND] Jane",
            f"AnalysisException: [PATH_NOT_FOUND]: {WITHHELD}",
        ),
        ("a FAILED: BadRow: Jane\nDoe", f"a FAILED: BadRow: {WITHHELD}"),
        ("org.apache.SparkException: Jane", f"org.apache.SparkException: {WITHHELD}"),
        ("error: it fails: a: Bad: Jane (a.py, line 2)", f"error: {WITHHELD} (a.py, line 2)"),
        ("there is no job lod; did you mean load?", "there is no job lod; did you mean load?"),
    ],
)
def test_of_a_message_the_class_and_the_line_stay(text: str, left: str) -> None:
    assert without_messages(text) == left


def test_of_a_log_the_frames_and_classes_stay() -> None:
    texts = [
        "Jane",
        "Traceback (most recent call last):",
        '  File "/a/load.py", line 4, in <module>',
        "    raise ValueError('Jane')",
        "ValueError: Jane",
        '  File "/a/load.py", line 4, in <module> Jane',
    ]

    left = lines_without_rows([{"stream": "stderr", "text": text} for text in texts])

    assert [line["text"] for line in left] == [texts[1], texts[2], f"ValueError: {WITHHELD}"]


def test_what_a_script_prints_is_no_class_of_an_error() -> None:
    texts = ["McJane: 55", "Traceback (most recent call last):", "  x", "bad: Jane", "McJane: 55"]

    left = lines_without_rows([{"stream": "stdout", "text": text} for text in texts])

    assert [line["text"] for line in left] == [texts[1]]


@pytest.mark.parametrize("place", ["watermarks", "values", "before", "after"])
@pytest.mark.parametrize("column", ["cursor", "format", "job", "keys", "kind", "order", "table"])
def test_a_column_may_have_the_name_of_a_field(place: str, column: str) -> None:
    state = {"states": {column: {"kind": "keys", "keys": [column], place: {column: VALUE}}}}

    left = without_rows(
        {"watermarks": {"orders": {column: VALUE}}, "JobBookmark": json.dumps(state)}
    )

    assert VALUE not in json.dumps(left)
    assert json.loads(left["JobBookmark"])["states"][column]["keys"] == [column]


@pytest.mark.parametrize(
    ("kind", "low"), [("string", VALUE), ("string", "Jane's"), ("bigint", "7")]
)
def test_the_rows_of_a_table_are_told_by_numbers_and_not_by_texts(kind: str, low: str) -> None:
    source = JdbcSource("people", keys=("email",)).to_json()
    rows = describe(source, {"bound": [[kind, low]]})
    assert low in rows

    told = without_rows({"sources": [{"rows": rows}]})["sources"][0]["rows"]

    assert told == (rows if kind == "bigint" else WITHHELD)


def test_the_states_of_a_bookmark_on_aws_are_positions() -> None:
    states = {"people": {"kind": "jdbc", "upTo": {"email": VALUE}}}

    assert VALUE not in json.dumps(without_rows({"contexts": states}))


def test_the_moves_of_a_watermark_keep_what_names_them() -> None:
    move = {"table": "glue-watermarks", "after": {"table": VALUE}, "windows": [{"cursor": "id"}]}

    (left,) = without_rows({"watermarks": [move]})["watermarks"]

    assert left == {**move, "after": {"table": WITHHELD}}


def test_lines_that_only_look_as_ours_are_withheld_where_scripts_print() -> None:
    lines = ["error: Jane", "warning Jane", "note: Jane", "error: it has no workflow b", "  Jane"]

    assert messages_without_rows(lines, scripts_print=True, is_answer=True) == []
    assert messages_without_rows(lines, scripts_print=True, is_answer=False) == [lines[3]]


def test_later_lines_of_a_message_are_withheld_with_it() -> None:
    lines = [
        "warning: a is late",
        "error: a FAILED: ValueError: bad",
        "  row Jane",
        "  ",
        "note: b",
    ]

    left = messages_without_rows(lines, scripts_print=False, is_answer=False)

    assert left == [lines[0], f"error: a FAILED: ValueError: {WITHHELD}", lines[4]]


@pytest.mark.parametrize("name", sorted(QUOTING))
def test_a_warning_that_may_quote_a_row_keeps_what_it_says_of_it(name: str) -> None:
    kind = RunWarning(name)
    text = kind.message.format(f"2 lines, the first one in s3://in/a: '{VALUE} (TM201)'")

    (left,) = without_rows({"warnings": [text]})["warnings"]

    assert VALUE not in left
    assert left == kind.message.format(WITHHELD)


def test_a_warning_of_names_stays() -> None:
    text = RunWarning.SCHEMA_CHANGED.message.format("the source in has the new column email")

    assert without_rows({"warnings": [text]}) == {"warnings": [text]}
