"""Which arguments of Glue can be declared, without a job; and how they are merged."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.constructs import GlueArguments
from tidemark.constructs.jobs.glue_arguments import merged, pipeline_arguments
from tidemark.errors import JobDefinitionError
from tidemark.glue_service.runs.arguments import spark_settings, variables
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS, Here
from tidemark.model.assembly.glue_versions import DECLARABLE

# The documented list, as it is on the page.
DOCUMENTED = [
    "additional-python-modules",
    "auto-scale-within-microbatch",
    "class",
    "continuous-log-conversionPattern",
    "continuous-log-logGroup",
    "continuous-log-logStreamPrefix",
    "customer-driver-env-vars",
    "customer-executor-env-vars",
    "datalake-formats",
    "disable-proxy-v2",
    "enable-auto-scaling",
    "enable-continuous-cloudwatch-log",
    "enable-continuous-log-filter",
    "enable-glue-datacatalog",
    "enable-job-insights",
    "enable-lakeformation-fine-grained-access",
    "enable-metrics",
    "enable-observability-metrics",
    "enable-rename-algorithm-v2",
    "enable-s3-parquet-optimized-committer",
    "enable-spark-ui",
    "executor-cores",
    "extra-files",
    "extra-jars",
    "extra-py-files",
    "job-bookmark-option",
    "job-bookmark-from",
    "job-bookmark-to",
    "job-language",
    "python-modules-installer-option",
    "scriptLocation",
    "auto-upgrade-metadata-kms-key-arn",  # on the page of automatic upgrades
    "spark-event-logs-path",
    "TempDir",
    "use-postgres-driver",
    "user-jars-first",
    "conf",
    "encryption-type",
    "debug",
    "mode",
    "JOB_NAME",
    "endpoint",
]


def test_the_table_has_every_documented_argument():
    assert {f"--{name}" for name in DOCUMENTED} <= GLUE_ARGUMENTS.keys()


def test_every_argument_has_a_field_or_a_reason_and_every_field_an_argument():
    for one in GLUE_ARGUMENTS.values():
        assert bool(one.field) != bool(one.instead), one.name
        assert bool(one.remedy) == (one.here is Here.REFUSED), one.name
    names = {one.name for one in fields(GlueArguments)} - {"other"}
    assert names == {one.field for one in GLUE_ARGUMENTS.values() if one.field}


def test_every_field_can_be_used_in_some_version_that_can_be_declared():
    for one in GLUE_ARGUMENTS.values():
        if one.field:
            assert any(one.is_known_by(version) for version in DECLARABLE), one.name


@pytest.mark.parametrize(
    ("since", "until", "known"),
    [("5.0", "", {"5.0", "5.1", "6.0", "10.0"}), ("", "5.1", {"2.0", "5.0", "5.1"})],
)
def test_versions_are_numbers_and_no_texts(since, until, known):
    one = GLUE_ARGUMENTS["--conf"].__class__("--x", since=since, until=until)

    versions = ("2.0", "5.0", "5.1", "6.0", "10.0")
    assert {version for version in versions if one.is_known_by(version)} == known


FLAG = [1, 0, "true", "yes", []]
WRONG = [
    *(("glue_datacatalog", value) for value in FLAG),
    *(("observability_metrics", value) for value in FLAG),
    ("conf", "spark.a=1"),
    ("conf", ["spark.a"]),
    ("conf", {"spark.a": 1}),
    ("conf", {"spark.a": "two words"}),
    ("conf", {"spark.a": "x --conf spark.b=1"}),
    ("conf", {"spark.a": "'x'"}),
    ("conf", {"spark.a": ""}),
    ("conf", {"": "x"}),
    ("conf", {"spark a": "x"}),
    ("conf", {"--conf": "x"}),
    ("conf", {1: "x"}),
    ("datalake_formats", "iceberg"),
    ("datalake_formats", ["Iceberg"]),
    ("datalake_formats", ["iceberg", "iceberg"]),
    ("datalake_formats", [["iceberg"]]),
    ("datalake_formats", ["paimon"]),
    ("auto_upgrade_metadata_kms_key", "alias/mine"),
    ("auto_upgrade_metadata_kms_key", "1234abcd-12ab-34cd-56ef-1234567890ab"),
    ("auto_upgrade_metadata_kms_key", "arn:aws:kms:us-west-2:111122223333:alias/mine"),
    ("spark_ui", True),
    ("spark_ui", "s3://logs/spark/"),
    ("python_virtual_env_cache", "s3://venvs/"),
    ("extra_jars", "s3://b/a.jar"),
    ("extra_jars", ["a.jar"]),
    ("extra_jars", ["s3://b/"]),
    ("extra_jars", ["s3://b"]),
    ("extra_jars", ["s3://b/jars/"]),
    ("extra_jars", ["s3://b/*.jar"]),
    ("extra_jars", ["s3://b/a.jar,s3://b/b.jar"]),
    ("extra_jars", ["s3a://b/a.jar"]),
    ("extra_jars", ["https://repo.example.org/a.jar"]),
    ("extra_jars", [None]),
    ("extra_jars", Path("a.jar")),
    ("extra_files", ["config/rates.json"]),
    ("extra_files", {"a": "s3://b/a"}),
    ("extra_py_files", [b"s3://b/m.py"]),
    ("python_virtual_env", "env.tar.gz"),
    ("python_virtual_env", 1),
    ("python_virtual_env_version", 2),
    ("python_virtual_env_version", "a b"),
    ("log_stream_prefix", ""),
    ("log_stream_prefix", "a:b"),
    ("log_stream_prefix", "a" * 401),
    ("python_modules_installer_option", "no-deps"),
    ("python_modules_installer_option", ["--no-deps"]),
    ("python_modules_installer_option", "--a\n--b"),
    ("executor_cores", 0),
    ("executor_cores", True),
    ("executor_cores", 2.0),
    ("executor_cores", "4"),
    ("driver_variables", {"KEY": "1"}),
    ("driver_variables", {"CUSTOMER_": "1"}),
    ("driver_variables", {"CUSTOMER_A": 'say "x"'}),
    ("executor_variables", {"CUSTOMER_A": "1\n2"}),
    ("executor_variables", [("CUSTOMER_A", "1")]),
    ("other", {"new": "1"}),
    ("other", {"-new": "1"}),
    ("other", {"--new": 1}),
    ("other", {"--new": None}),
    ("other", {"--new arg": "1"}),
    ("other", "--new"),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=repr)
def test_what_glue_would_not_understand_is_refused_in_one_line(name, value):
    with pytest.raises(JobDefinitionError, match=rf"{name} .*; allowed: .*; correct {name}=") as no:
        GlueArguments(**{name: value})

    assert "\n" not in str(no.value).replace(repr(value), "")


@pytest.mark.parametrize("name", sorted(GLUE_ARGUMENTS))
def test_no_documented_argument_goes_around_its_parameter(name):
    with pytest.raises(JobDefinitionError, match=re.escape(repr(name))) as refused:
        GlueArguments(other={name: "x"})

    known = GLUE_ARGUMENTS[name]
    assert (f"with {known.field}=" if known.field else known.instead) in str(refused.value)


def test_a_secret_in_a_wrong_value_is_not_repeated():
    with pytest.raises(JobDefinitionError) as refused:
        GlueArguments(conf={"spark.password": "hunter 2"})

    assert "hunter" not in str(refused.value)


FLAGS = st.sampled_from([None, True, False])
CONF = st.none() | st.dictionaries(
    st.sampled_from(["spark.a", "spark.b", "spark.c"]), st.sampled_from(["1", "2"])
)
SOME = st.builds(GlueArguments, conf=CONF, job_insights=FLAGS, glue_datacatalog=FLAGS)


@given(SOME, SOME)
def test_what_a_job_says_counts_and_what_it_does_not_say_its_pipeline_says(base, own):
    both = merged(base, own)

    for one in ("job_insights", "glue_datacatalog"):
        mine, theirs = getattr(own, one), getattr(base, one)
        assert getattr(both, one) is (theirs if mine is None else mine)
    assert (both.conf or {}) == {**(base.conf or {}), **(own.conf or {})}


@given(SOME)
def test_nothing_is_merged_with_nothing(some):
    assert merged(some, None) == merged(None, some) == merged(some, GlueArguments()) == some
    assert merged(None, None) == GlueArguments()


def test_a_kind_of_job_gets_of_the_default_only_what_it_knows():
    base = GlueArguments(conf={"spark.a": "1"}, python_modules_installer_option="--no-deps")

    assert pipeline_arguments(base, "glueetl") == base
    assert pipeline_arguments(base, "pythonshell") == GlueArguments(
        python_modules_installer_option="--no-deps"
    )
    assert pipeline_arguments(None, "glueetl") is None


TEXT = st.text(st.characters(codec="ascii", exclude_categories=["C", "Z"]), min_size=1).filter(
    lambda text: not set(text) & set("'\"\\")
)


@given(st.dictionaries(st.from_regex(r"spark\.[a-z.]{1,9}[a-z]", fullmatch=True), TEXT))
def test_the_local_glue_reads_the_settings_that_were_declared(conf):
    GlueArguments(conf=conf)  # is taken

    assert spark_settings({"--conf": " --conf ".join(f"{k}={v}" for k, v in conf.items())}) == conf


@given(
    st.dictionaries(
        st.from_regex(r"CUSTOMER_[A-Z]{1,5}", fullmatch=True),
        st.text(st.sampled_from("ab =,.")),
        max_size=4,
    )
)
def test_the_local_glue_reads_the_variables_that_were_declared(given_variables):
    from tidemark.constructs.jobs.own_arguments import variables_text

    GlueArguments(driver_variables=given_variables)  # is taken
    text = variables_text(given_variables)

    assert variables({"--v": text}, "--v") == given_variables
