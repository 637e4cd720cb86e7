"""getResolvedOptions as in Glue 5.1, quirks included."""

from __future__ import annotations

import argparse

import pytest

from awsglue.utils import GlueArgumentError, getResolvedOptions
from tidemark.local_state.sparks.installed import own_spark

HAS_PREFIXES = own_spark().major < 4
ALWAYS = {
    "job_bookmark_option": "job-bookmark-disable",
    "job_bookmark_from": None,
    "job_bookmark_to": None,
    "JOB_ID": None,
    "JOB_RUN_ID": None,
    "SECURITY_CONFIGURATION": None,
    "encryption_type": None,
    "enable_data_lineage": None,
    "RedshiftTempDir": None,
    "TempDir": None,
}


def resolve(argv: str, *names: str) -> dict:
    return getResolvedOptions(["job.py", *argv.split()], list(names))


def test_result_holds_what_was_asked_for_and_what_glue_always_adds():
    assert resolve("--source s3://b/in/", "source") == {**ALWAYS, "source": "s3://b/in/"}


def test_argv_of_a_real_run_is_understood():
    argv = (
        "--JOB_NAME ingest --JOB_ID j_1 --JOB_RUN_ID jr_1 --enable-metrics true "
        "--job-bookmark-option job-bookmark-enable --TempDir s3://b/tmp/ --source s3://b/in/"
    )

    assert resolve(argv, "JOB_NAME", "source") == {
        **ALWAYS,
        "JOB_NAME": "ingest",
        "JOB_ID": "j_1",
        "JOB_RUN_ID": "jr_1",
        "job_bookmark_option": "job-bookmark-enable",
        "TempDir": "s3://b/tmp/",
        "RedshiftTempDir": "s3://b/tmp/",
        "source": "s3://b/in/",
    }


@pytest.mark.rule("Arguments", source="LIB")
def test_arguments_that_are_not_requested_are_left_out():
    assert "other" not in resolve("--other 1 positional --x 2", "x")


@pytest.mark.rule("Arguments", source="LIB")
def test_every_requested_argument_is_required():
    with pytest.raises(GlueArgumentError, match="the following arguments are required: --a, --b"):
        resolve("--c 1", "a", "b", "c")


@pytest.mark.rule("Arguments", source="LIB")
@pytest.mark.parametrize("argv", ["--x", "--x --y 1", "--x -abc"], ids=["end", "name", "dash"])
def test_argument_without_a_value_is_refused(argv):
    with pytest.raises(GlueArgumentError, match="argument --x: expected one argument"):
        resolve(argv, "x", "y")


@pytest.mark.rule("Arguments", source="LIB")
def test_dashes_in_names_become_underscores():
    assert resolve("--start-date 2013-01-01", "start-date")["start_date"] == "2013-01-01"


@pytest.mark.rule("Arguments", source="LIB")
@pytest.mark.parametrize(
    ("argv", "value"),
    [
        ("--x true", "true"),
        ("--x 7", "7"),
        ("--x -5", "-5"),
        ("--x=--v", "--v"),
        ("--x=-abc", "-abc"),
        ("--x=a=b", "a=b"),
        ("--x=", ""),
        ("--x 1 --x 2", "2"),
    ],
    ids=["true", "number", "negative", "dashes", "dash", "equals sign", "empty", "repeated"],
)
def test_value_is_a_string_and_the_last_one_wins(argv, value):
    assert resolve(argv, "x")["x"] == value


@pytest.mark.rule("Arguments", source="RAN, M60")
def test_unambiguous_prefix_of_a_name_is_accepted_up_to_5_1():
    if HAS_PREFIXES:
        assert resolve("--sour s3://b/", "source")["source"] == "s3://b/"
        return
    with pytest.raises(GlueArgumentError, match="arguments are required: --source"):
        resolve("--sour s3://b/", "source")
    found = getResolvedOptions(["job.py", "--sour", "s3://b/"], ["source"], allow_abbrev=True)
    assert found["source"] == "s3://b/"


@pytest.mark.rule("Arguments", source="RAN")
def test_prefix_of_an_internal_name_is_swallowed():
    assert resolve("--TempD s3://b/tmp/")["TempDir"] == ("s3://b/tmp/" if HAS_PREFIXES else None)


@pytest.mark.skipif(not HAS_PREFIXES, reason="on 6.0 a prefix is another name")
def test_ambiguous_prefix_is_an_error_even_if_nobody_asked_for_it():
    with pytest.raises(GlueArgumentError, match="ambiguous option: --JOB"):
        resolve("--JOB x --source 1", "source")


def test_help_in_argv_ends_the_script_normally(capsys):
    with pytest.raises(SystemExit) as raised:
        resolve("--help")

    assert raised.value.code == 0
    assert "--job-bookmark-option" in capsys.readouterr().out


@pytest.mark.rule("Arguments", source="LIB")
@pytest.mark.parametrize(
    "name",
    ["job-bookmark-option", "job-bookmark-from", "job-bookmark-to", "continuation-option"],
)
def test_reserved_name_cannot_be_requested(name):
    with pytest.raises(RuntimeError, match=f"Using reserved arguments .*{name}"):
        resolve("--x 1", "x", name)


@pytest.mark.rule("Arguments", source="RAN")
@pytest.mark.parametrize(
    "name",
    ["JOB_ID", "JOB_RUN_ID", "SECURITY_CONFIGURATION", "encryption-type", "enable-data-lineage"],
)
def test_internal_name_conflicts_with_glues_own(name):
    with pytest.raises(argparse.ArgumentError, match=f"conflicting option string: --{name}"):
        resolve("--x 1", "x", name)


def test_job_name_is_not_reserved():
    assert resolve("--JOB_NAME ingest", "JOB_NAME")["JOB_NAME"] == "ingest"


@pytest.mark.rule("Arguments", source="RAN")
@pytest.mark.parametrize("name", ["TempDir", "RedshiftTempDir"])
def test_temporary_folder_is_never_required_and_fills_its_twin(name):
    assert resolve("", name) == ALWAYS

    resolved = resolve(f"--{name} s3://b/tmp/")

    assert resolved["TempDir"] == resolved["RedshiftTempDir"] == "s3://b/tmp/"


def test_temp_dir_wins_over_its_older_twin():
    resolved = resolve("--RedshiftTempDir s3://b/old/ --TempDir s3://b/new/")

    assert resolved["TempDir"] == resolved["RedshiftTempDir"] == "s3://b/new/"


@pytest.mark.parametrize(
    "option", ["job-bookmark-enable", "job-bookmark-pause", "job-bookmark-disable"]
)
def test_bookmark_option_is_returned(option):
    assert resolve(f"--job-bookmark-option {option}")["job_bookmark_option"] == option


@pytest.mark.rule("Modes", source="LIB")
def test_wrong_bookmark_option_is_refused():
    with pytest.raises(GlueArgumentError, match="--job-bookmark-option: invalid choice: 'enable'"):
        resolve("--job-bookmark-option enable")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("continuation-enabled", "job-bookmark-enable"),
        ("continuation-readonly", "job-bookmark-pause"),
        ("continuation-ignore", "job-bookmark-disable"),
    ],
)
def test_option_of_the_first_glue_is_translated(old, new):
    resolved = resolve(f"--continuation-option {old}")

    assert resolved["job_bookmark_option"] == new
    assert "continuation_option" not in resolved


def test_bookmark_option_wins_over_the_older_one():
    argv = "--job-bookmark-option job-bookmark-pause --continuation-option continuation-enabled"

    assert resolve(argv)["job_bookmark_option"] == "job-bookmark-pause"


@pytest.mark.rule("Windows of runs", source="BM, RAN")
@pytest.mark.parametrize(
    ("given", "missing"),
    [("from", "--job-bookmark-to"), ("to", "--job-bookmark-from")],
)
def test_paused_window_needs_both_ends(given, missing):
    argv = f"--job-bookmark-option job-bookmark-pause --job-bookmark-{given} jr_1"

    with pytest.raises(RuntimeError, match=f"^Missing option or value for {missing}$"):
        resolve(argv)


def test_paused_window_with_both_ends_is_returned():
    argv = "--job-bookmark-option job-bookmark-pause"
    resolved = resolve(f"{argv} --job-bookmark-from jr_1 --job-bookmark-to jr_2")

    assert (resolved["job_bookmark_from"], resolved["job_bookmark_to"]) == ("jr_1", "jr_2")


@pytest.mark.rule("Windows of runs", source="RAN")
@pytest.mark.parametrize(
    "argv",
    ["", "--job-bookmark-option job-bookmark-enable", "--job-bookmark-option job-bookmark-disable"],
    ids=["no option", "enable", "disable"],
)
def test_window_outside_pause_is_refused_only_with_both_ends(argv):
    window = "--job-bookmark-from jr_1 --job-bookmark-to jr_2"
    with pytest.raises(RuntimeError, match=r"^Invalid option\(s\)--job-bookmark-from --job-book"):
        resolve(f"{argv} {window}")

    assert resolve(f"{argv} --job-bookmark-from jr_1")["job_bookmark_from"] == "jr_1"
