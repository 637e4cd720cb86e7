"""Arguments of a job run: precedence, what cannot be honoured, argv, Spark properties."""

from __future__ import annotations

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_service.runs.arguments import (
    UNSUPPORTED,
    command_line,
    listed,
    merge_arguments,
    spark_settings,
)
from tidemark.model.assembly.definitions import JobDefinition, bookmark_option


def job(default=None, non_overridable=None):
    return JobDefinition(
        name="ingest",
        script_location="s3://b/ingest.py",
        glue_version="5.1",
        default_arguments=default or {},
        non_overridable_arguments=non_overridable or {},
    )


@pytest.mark.rule("Arguments", source="ARG, TRG")
def test_arguments_merge_key_by_key_in_the_order_of_aws():
    default = {"--a": "default", "--b": "default", "--c": "default"}
    merged = merge_arguments(
        job(default, non_overridable={"--c": "fixed", "--e": "fixed"}),
        {"--b": "run", "--c": "run", "--d": "run"},
    )

    assert merged == {
        "--a": "default",
        "--b": "run",
        "--c": "fixed",
        "--d": "run",
        "--e": "fixed",
    }


@pytest.mark.rule("Arguments", source="ARG", choice="refused where it would change a result")
@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_parameter_that_cannot_be_honoured_is_refused_by_name(name):
    with pytest.raises(UnsupportedError, match=f"^job ingest has the argument {name}, which"):
        merge_arguments(job({name: "x"}), {})


def test_unsupported_parameter_is_refused_wherever_it_comes_from():
    for default, run, fixed in (({}, {"--class": "x"}, {}), ({}, {}, {"--class": "x"})):
        with pytest.raises(UnsupportedError, match="--class"):
            merge_arguments(job(default, fixed), run)


def test_scala_job_is_refused():
    with pytest.raises(UnsupportedError, match="written in scala; only python runs locally"):
        merge_arguments(job({"--job-language": "scala"}), {})


def test_wrong_bookmark_option_is_refused_with_the_allowed_ones():
    with pytest.raises(UnsupportedError, match="'enable'; allowed are job-bookmark-enable, job-"):
        merge_arguments(job({"--job-bookmark-option": "enable"}), {})


def test_wrong_legacy_bookmark_option_is_refused_with_the_allowed_ones():
    with pytest.raises(UnsupportedError, match="'enabled'; allowed are continuation-enabled, "):
        merge_arguments(job({"--continuation-option": "enabled"}), {})


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ({}, "job-bookmark-disable"),
        ({"--continuation-option": "continuation-enabled"}, "job-bookmark-enable"),
        (
            {
                "--continuation-option": "continuation-enabled",
                "--job-bookmark-option": "job-bookmark-pause",
            },
            "job-bookmark-pause",
        ),
    ],
    ids=["none", "legacy", "both"],
)
def test_record_of_a_run_has_the_option_that_its_script_will_see(arguments, option):
    assert bookmark_option(merge_arguments(job(arguments), {})) == option


@pytest.mark.parametrize("value", [5, True, None, ["a"]], ids=repr)
def test_argument_that_is_not_text_is_refused(value):
    with pytest.raises(UsageError, match=r"job ingest has the argument --rows .*; .* are strings"):
        merge_arguments(job({"--rows": value}), {})


@pytest.mark.rule("Arguments", source="ARG", choice="they tune, log or measure")
def test_parameters_without_effect_on_the_result_are_passed_on():
    arguments = {"--enable-metrics": "true", "--TempDir": "s3://b/tmp/", "--job-language": "python"}

    assert merge_arguments(job(arguments), {}) == arguments


@pytest.mark.rule("Arguments", source="COMM", choice="in this order")
def test_argv_begins_with_the_names_that_glue_adds():
    argv = command_line(job(), "j_1", "jr_1", {"--source": "s3://b/in/", "--empty": ""})

    assert argv == [
        "--JOB_NAME",
        "ingest",
        "--JOB_ID",
        "j_1",
        "--JOB_RUN_ID",
        "jr_1",
        "--source",
        "s3://b/in/",
        "--empty",
        "",
    ]


def test_value_that_begins_with_dashes_is_joined_to_its_name():
    argv = command_line(job(), "j_1", "jr_1", {"--conf": "--x", "--number": "-5"})

    assert argv[6:] == ["--conf=--x", "--number", "-5"]


@pytest.mark.parametrize(
    ("conf", "settings"),
    [
        ("spark.a=1", {"spark.a": "1"}),
        ("spark.a=1 --conf spark.b=2", {"spark.a": "1", "spark.b": "2"}),
        ("--conf spark.a=1", {"spark.a": "1"}),
        ("spark.a=x=y", {"spark.a": "x=y"}),
        ("spark.a='two words'", {"spark.a": "two words"}),
        ("spark.a=", {"spark.a": ""}),
        ("", {}),
    ],
    ids=["one", "two", "leading --conf", "= in the value", "quoted", "empty value", "empty"],
)
def test_conf_holds_spark_properties(conf, settings):
    assert spark_settings({"--conf": conf}) == settings


def test_without_conf_there_are_no_spark_properties():
    assert spark_settings({}) == {}


@pytest.mark.parametrize(
    "conf",
    ["spark.a", "spark.a=1 spark.b", "spark.a='open", "=1", "spark.a = 1"],
    ids=["no =", "second without =", "open quote", "no name", "spaces around ="],
)
def test_malformed_conf_is_refused_with_its_text_and_the_form_that_works(conf):
    with pytest.raises(UsageError, match=r"--conf spark\.b=2") as raised:
        spark_settings({"--conf": conf})

    assert repr(conf) in str(raised.value)


def test_extra_py_files_are_split_at_commas_in_order():
    assert listed({"--extra-py-files": "s3://b/2.zip,s3://b/1.py,"}, "--extra-py-files") == [
        "s3://b/2.zip",
        "s3://b/1.py",
    ]
    assert listed({}, "--extra-py-files") == []
