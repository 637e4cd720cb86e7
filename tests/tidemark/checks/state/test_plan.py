"""Which carry-over plans can be carried out."""

from __future__ import annotations

import pytest

from tidemark.checks.state.plan import Discard, RenameCtx, RenameJob, Reread, parse_plan, read_plan
from tidemark.errors import UsageError


def rename(old, new, **more):
    return {"rename_job": {"from": old, "to": new, **more}}


def rename_ctx(job, old, new):
    return {"rename_ctx": {"job": job, "from": old, "to": new, "bookmark_on_aws": "reread"}}


def test_entries_are_read_in_order():
    ctx = {"job": "b", "from": "x", "to": "y", "bookmark_on_aws": "reread"}
    plan = parse_plan(
        [
            rename("a", "b", bookmark_on_aws="reread"),
            {"rename_ctx": ctx},
            {"reread": {"job": "b", "ctx": "z", "reason": "cheap"}},
            {"discard": {"resource": "s/Bucket", "reason": "empty"}},
        ],
        "plan",
    )

    assert [entry.entry for entry in plan] == [
        RenameJob("a", "b", "reread"),
        RenameCtx("b", "x", "y", "reread"),
        Reread("b", "cheap", "z"),
        Discard("empty", resource="s/Bucket"),
    ]


def test_missing_file_is_an_empty_plan(tmp_path):
    assert read_plan(tmp_path / "state-carry-over.json") == ()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, r"plan is not a JSON list; write it as \[ENTRY, ...\]"),
        (["x"], r'plan, entry 1: "x" is not an object with one of rename_job'),
        ([{"rename_job": {}, "discard": {}}], "is not an object with one of"),
        ([{"rename": {}}], "'rename' is unknown; allowed are rename_job, rename_ctx"),
        ([{"discard": "a"}], 'discard is "a"; give an object of strings'),
        ([rename("a", "b", why="x")], "rename_job has 'why'; allowed are from, to"),
        ([rename("a", "")], 'rename_job has to ""; give a string'),
        ([rename("a", 3)], "rename_job has to 3; give a string"),
        ([{"rename_job": {"from": "a"}}], "rename_job has no 'to'; it needs from, to"),
        ([{"reread": {"job": "a"}}], "reread has no 'reason'; it needs job, reason"),
        (
            [{"rename_ctx": {"job": "a", "from": "x", "to": "y"}}],
            "rename_ctx has no 'bookmark_on_aws': no API of AWS writes a bookmark",
        ),
        ([rename("a", "b", bookmark_on_aws="keep")], "bookmark_on_aws is 'keep': no API of AWS"),
        ([rename("a", "a")], "from and to are both 'a'"),
        ([{"discard": {"reason": "x"}}], "discard has a job, a job and a ctx, or a resource"),
        ([{"discard": {"reason": "x", "ctx": "c"}}], "discard has a job"),
        ([{"discard": {"reason": "x", "job": "a", "resource": "r"}}], "discard has a job"),
        ([rename("a", "b"), rename("a", "c")], "two renames have 'a' on the same side"),
        ([rename("a", "c"), rename("b", "c")], "two renames have 'c' on the same side"),
        ([rename("a", "b"), rename("b", "a")], "lead from 'a' back to it"),
        ([rename("x", "a"), rename("a", "b"), rename("b", "a")], "two renames|back to it"),
        ([rename("a", "b"), rename("a", "b")], "is repeated"),
        (
            [rename_ctx("a", "x", "y"), rename("a", "b"), rename_ctx("b", "y", "x")],
            "lead from 'b: x' back to it",
        ),
    ],
)
def test_entry_that_cannot_be_carried_out_is_refused_with_what_is_allowed(document, message):
    with pytest.raises(UsageError, match=message):
        parse_plan(document, "plan")


def test_file_that_is_no_json_is_refused(tmp_path):
    path = tmp_path / "state-carry-over.json"
    path.write_text("[", encoding="utf-8")

    with pytest.raises(UsageError, match=r"state-carry-over.json is not JSON"):
        read_plan(path)


def test_entry_that_is_hidden_by_another_of_its_kind_is_refused(tmp_path):
    path = tmp_path / "state-carry-over.json"
    path.write_text('[{"discard": {"job": "a"}, "discard": {"job": "b"}}]', encoding="utf-8")

    with pytest.raises(UsageError, match="the key 'discard' occurs 2 times"):
        read_plan(path)


def test_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "state-carry-over.json"
    path.write_bytes(b"\xff")

    with pytest.raises(UsageError, match=r"cannot read .*; restore the file"):
        read_plan(path)


def test_chain_of_renames_may_stay_in_the_plan():
    assert len(parse_plan([rename("b", "c"), rename("a", "b")], "plan")) == 2
