from __future__ import annotations

from dataclasses import replace

import pytest

from tidemark.glue_service.workflows.nothing_new import (
    ARGUMENT,
    Inputs,
    LastRun,
    declared_inputs,
    own_arguments,
    reason_to_run,
)

ENABLE = "job-bookmark-enable"
NOW = Inputs({"s3://raw/flights/": "a"}, {"--x": "1"}, {"s3://assets/job.py": "c"})
LAST = LastRun("SUCCEEDED", NOW, is_in_force=True, read=("s3://raw/flights/",))


def test_a_run_that_would_find_what_the_last_one_found_has_no_reason():
    assert reason_to_run(ENABLE, LAST, NOW) == ""


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (None, "it has never run"),
        (replace(LAST, state="FAILED"), "its last run is FAILED"),
        (replace(LAST, state="RUNNING"), "its last run is RUNNING"),
        (replace(LAST, is_in_force=False), "its bookmark is not the one that its last run"),
        (replace(LAST, inputs=None), "the inputs of its last run are unknown"),
        (replace(LAST, inputs=replace(NOW, code={})), "its code has changed"),
        (replace(LAST, inputs=replace(NOW, arguments={})), "its arguments have changed"),
        (replace(LAST, inputs=replace(NOW, datasets={})), "s3://raw/flights/ has changed"),
        (replace(LAST, read=("s3://raw/weather/",)), "it reads s3://raw/weather/, which is not"),
        (replace(LAST, read=("s3://raw/flights2/",)), "it reads s3://raw/flights2/"),
        (replace(LAST, doubts=("a has 2 files",)), "a has 2 files"),
    ],
)
def test_every_difference_and_every_doubt_is_a_reason_to_run(last, reason):
    assert reason_to_run(ENABLE, last, NOW).startswith(reason)


@pytest.mark.parametrize("option", ["job-bookmark-pause", "job-bookmark-disable"])
def test_a_run_that_reads_beside_the_bookmark_is_never_skipped(option):
    assert f"bookmark option is {option}" in reason_to_run(option, LAST, NOW)


def test_a_folder_below_a_declared_input_is_part_of_it():
    last = replace(LAST, read=("s3://raw/flights/day=1/",))

    assert reason_to_run(ENABLE, last, NOW) == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ()),
        ("off", ()),
        ("", ()),
        ("s3://a/b/", ("s3://a/b/",)),
        ("s3://a/b/, s3://c/", ("s3://a/b/", "s3://c/")),
    ],
)
def test_the_argument_names_the_inputs(value, expected):
    arguments = {} if value is None else {ARGUMENT: value}

    assert declared_inputs(arguments) == expected


def test_the_id_of_a_workflow_run_is_no_argument_that_changes_anything():
    run = {"--WORKFLOW_NAME": "w", "--WORKFLOW_RUN_ID": "wr_1", "--x": "1"}

    assert own_arguments(run) == {"--x": "1"}
