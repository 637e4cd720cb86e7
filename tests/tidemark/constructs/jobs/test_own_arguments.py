"""Glue's own arguments of a job: what the template says, and what the role then allows."""

import json
import re
from pathlib import Path

import pytest

from tests.e2e.simulation import is_allowed
from tests.fixtures.synthesis import as_list
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.errors import JobDefinitionError
from tidemark.local_state.deployment.deployed_apps import publish
from tidemark.local_state.home import Home
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS
from tidemark.model.plain_secrets import NotSecret
from tidemark.model.stage.runtime import JobRuntime

pytestmark = pytest.mark.synth
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


def arguments_of(add, number=0):
    return add.properties("AWS::Glue::Job")[number]["DefaultArguments"]


def statements_of(add, as_text):
    """Return the statements of the one role, with texts for what a deployment knows."""
    return [
        {
            "Effect": "Allow",
            "Action": as_list(statement["Action"]),
            "Resource": [as_text(arn).replace("${", "{") for arn in as_list(statement["Resource"])],
            **({"Condition": statement["Condition"]} if "Condition" in statement else {}),
        }
        for role in add.properties("AWS::IAM::Role")
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]


def actions_on(statements, text):
    return {a for s in statements if text in json.dumps(s["Resource"]) for a in s["Action"]}


def test_settings_of_spark_are_chained_as_glue_reads_them(add):
    add("one", glue_arguments=GlueArguments(conf={"spark.a": "1", "spark.b": "x=y"}))

    assert arguments_of(add)["--conf"] == "spark.a=1 --conf spark.b=x=y"


def test_every_field_is_an_argument_by_the_name_that_glue_documents(add, data, as_text):
    add("plain")
    add(
        "one",
        runtime=JobRuntime(glue_version="5.1", number_of_workers=4),
        glue_arguments=GlueArguments(
            conf={"spark.a": "1"},
            datalake_formats=["iceberg", "delta"],
            glue_datacatalog=True,
            observability_metrics=True,
            job_insights=False,
            spark_ui=data("logs/"),
            log_stream_prefix="orders/",
            extra_jars=["s3://theirs/a.jar", "s3://theirs/b.jar"],
            extra_files=["s3://theirs/rules.json", data("config/")],
            extra_py_files=["s3://theirs/m.py"],
            user_jars_first=True,
            python_modules_installer_option="--no-deps --prefer-binary",
            s3_parquet_optimized_committer=False,
            executor_cores=8,
            disable_proxy=True,
            driver_variables={"CUSTOMER_A": "1", "CUSTOMER_B": "2, 3"},
            executor_variables={"CUSTOMER_C": ""},
            other={"--brand-new": "x"},
        ),
    )

    plain, given = arguments_of(add), arguments_of(add, 1)
    libs = plain["--extra-py-files"]
    modules = given.pop("--extra-py-files")
    assert given == {k: v for k, v in plain.items() if k != "--extra-py-files"} | {
        "--conf": "spark.a=1",
        "--datalake-formats": "iceberg,delta",
        "--enable-glue-datacatalog": "true",
        "--enable-observability-metrics": "true",
        "--enable-job-insights": "false",
        "--enable-spark-ui": "true",
        "--spark-event-logs-path": "s3://lake/logs/",
        "--custom-logStream-prefix": "orders/",
        "--extra-jars": "s3://theirs/a.jar,s3://theirs/b.jar",
        "--extra-files": "s3://theirs/rules.json,s3://lake/config/",
        "--user-jars-first": "true",
        "--python-modules-installer-option": "--no-deps --prefer-binary",
        "--enable-s3-parquet-optimized-committer": "false",
        "--executor-cores": "8",
        "--disable-proxy-v2": "true",
        "--customer-driver-env-vars": 'CUSTOMER_A=1,CUSTOMER_B="2, 3"',
        "--customer-executor-env-vars": "CUSTOMER_C=",
        "--brand-new": "x",
    }
    assert as_text(modules) == f"{as_text(libs)},s3://theirs/m.py"
    assert given.keys() - {"--brand-new", "--TempDir"} <= GLUE_ARGUMENTS.keys()


def test_an_environment_that_glue_builds_is_of_glue_6(add, data):
    add(
        "one",
        runtime=JobRuntime(glue_version="6.0"),
        python_modules=["pyarrow==21.0.0"],
        glue_arguments=GlueArguments(
            python_virtual_env_cache=data("venvs/"), python_virtual_env_version="2"
        ),
    )

    given = arguments_of(add)
    assert given["--python-virtual-env-storage-prefix"] == "s3://lake/venvs/"
    assert given["--python-virtual-env-version"] == "2"


def test_the_key_of_automatic_upgrades_is_an_argument_that_the_role_may_use(add, as_text):
    add(
        "one",
        runtime=JobRuntime(glue_version="auto", max_retries=1),
        glue_arguments=GlueArguments(auto_upgrade_metadata_kms_key=KEY),
    )

    assert arguments_of(add)["--auto-upgrade-metadata-kms-key-arn"] == KEY
    found = statements_of(add, as_text)
    assert actions_on(found, KEY) == {"kms:Decrypt", "kms:GenerateDataKey"}


def test_the_role_may_use_what_the_arguments_name_and_nothing_beside_it(add, data, as_text):
    add(
        "one",
        tables=["sales.orders"],
        glue_arguments=GlueArguments(
            glue_datacatalog=True,
            observability_metrics=True,
            spark_ui=data("logs/"),
            extra_jars=["s3://theirs/a.jar"],
            extra_files=[data("config/")],
            python_virtual_env="s3://theirs/env.tar.gz",
        ),
    )

    found = statements_of(add, as_text)
    s3 = "arn:aws:s3:::"
    for action, arn, expected in (
        ("s3:GetObject", f"{s3}theirs/a.jar", True),
        ("s3:GetObject", f"{s3}theirs/env.tar.gz", True),
        ("s3:GetObject", f"{s3}theirs/b.jar", False),
        ("s3:PutObject", f"{s3}theirs/a.jar", False),
        ("s3:PutObject", f"{s3}lake/logs/run", True),
        ("s3:DeleteObject", f"{s3}lake/logs/run", True),
        ("s3:PutObject", f"{s3}lake/other/run", False),
        ("s3:GetObject", f"{s3}lake/config/rates.json", True),
        ("s3:PutObject", f"{s3}lake/config/rates.json", False),
    ):
        partition = as_text({"Ref": "AWS::Partition"})
        arn = arn.replace("arn:aws", f"arn:{partition}")
        assert is_allowed(found, action, arn, {}) is expected, (action, arn)
    assert "glue:CreateDatabase" in actions_on(found, "database/default")
    assert actions_on(found, "database/global_temp") == {"glue:GetDatabase"}
    assert "glue:GetUserDefinedFunctions" in actions_on(found, "userDefinedFunction/sales/*")
    assert "glue:GetTables" in actions_on(found, "table/sales/orders")
    assert not any(a.startswith(("glue:Update", "glue:Delete")) for s in found for a in s["Action"])
    (metrics,) = (s for s in found if "cloudwatch:PutMetricData" in s["Action"])
    assert metrics["Condition"] == {"StringEquals": {"cloudwatch:namespace": "Glue"}}


def test_lake_formation_is_asked_for_data_only_where_it_decides(add, as_text):
    four = JobRuntime(number_of_workers=4)
    add("one", runtime=four, glue_arguments=GlueArguments(lakeformation_fine_grained_access=True))

    assert actions_on(statements_of(add, as_text), '"*"') == {"lakeformation:GetDataAccess"}


def test_files_of_the_project_are_uploaded_under_their_own_names(add, as_text):
    for name in ("rates.json", "helpers.py", "driver.jar", "env.tar.gz"):
        (add.root / name).write_text("x = 1\n")
    add(
        "one",
        glue_arguments=GlueArguments(
            extra_files=[Path("rates.json")],
            extra_py_files=[add.root / "helpers.py"],
            extra_jars=[Path("driver.jar")],
            python_virtual_env=Path("env.tar.gz"),
        ),
    )

    given = {name: as_text(value) for name, value in arguments_of(add).items()}
    for name, file in (
        ("--extra-files", "rates.json"),
        ("--extra-py-files", "helpers.py"),
        ("--extra-jars", "driver.jar"),
        ("--python-virtual-env", "env.tar.gz"),
    ):
        assert re.search(rf"s3://[^,]*/[0-9a-f]{{64}}/{re.escape(file)}(,|$)", given[name])
    read = [
        arn
        for statement in statements_of(add, as_text)
        if statement["Action"] == ["s3:GetObject"]
        for arn in statement["Resource"]
    ]
    assert len([arn for arn in read if re.search(r"[0-9a-f]{64}/\w", arn)]) == 4


def test_what_is_uploaded_is_what_a_local_run_finds_by_its_name(add, as_text, tmp_path):
    (add.root / "rates.json").write_text('{"EUR": 1}')
    add("one", glue_arguments=GlueArguments(extra_files=[Path("rates.json")]))
    assembly = read_assembly(Path(add.stack.node.root.synth().directory))
    home = Home.open(tmp_path / "home")

    (asset,) = (one for one in assembly.assets if one.key.endswith("/rates.json"))
    published = publish(asset, "assets", home)

    assert as_text(arguments_of(add)["--extra-files"]).endswith(f"/{asset.key}")
    assert published.name == "rates.json"
    assert published.read_text() == '{"EUR": 1}'


def test_a_job_has_what_its_pipeline_has_and_may_say_otherwise(declare):
    add = declare(
        glue_arguments=GlueArguments(
            conf={"spark.a": "1", "spark.b": "1"},
            datalake_formats=["iceberg"],
            observability_metrics=True,
            extra_jars=["s3://theirs/a.jar"],
        )
    )
    add("one")
    add(
        "two",
        glue_arguments=GlueArguments(
            conf={"spark.b": "2"}, datalake_formats=[], observability_metrics=False
        ),
    )

    one, two = arguments_of(add), arguments_of(add, 1)
    assert one["--conf"] == "spark.a=1 --conf spark.b=1"
    assert two["--conf"] == "spark.a=1 --conf spark.b=2"
    assert one["--datalake-formats"] == "iceberg"
    assert {"--datalake-formats", "--enable-observability-metrics"}.isdisjoint(two)
    assert one["--extra-jars"] == two["--extra-jars"] == "s3://theirs/a.jar"


def test_what_only_looks_like_a_secret_is_told_to_the_rule_that_looks_for_them(add):
    from aws_cdk.assertions import Template

    add(
        "one",
        glue_arguments=GlueArguments(
            conf={"spark.token": NotSecret("none", "a name of the tokenizer")}
        ),
    )

    (job,) = Template.from_stack(add.stack).find_resources("AWS::Glue::Job").values()
    assert job["Metadata"]["Tidemark"]["notSecret"] == {"--conf": "a name of the tokenizer"}


@pytest.mark.parametrize(
    ("given", "runtime", "parts"),
    [
        ({"auto_scale_within_microbatch": False}, {}, ["gluestreaming"]),
        ({"python_virtual_env_version": "1"}, {}, ["Glue 5.1", "from 6.0"]),
        ({"s3_parquet_optimized_committer": True}, {"glue_version": "6.0"}, ["Glue 6.0", "to 5.1"]),
        ({"executor_cores": 9}, {}, ["executor_cores 9", "G.1X", "up to 8"]),
        ({"executor_cores": 65}, {"worker_type": "R.8X"}, ["R.8X", "up to 64"]),
        ({"user_jars_first": True}, {}, ["no extra_jars"]),
        ({"auto_upgrade_metadata_kms_key": KEY}, {}, ["glue_version '5.1'", "only 'auto'"]),
        ({"lakeformation_fine_grained_access": True}, {}, ["number_of_workers 2", "4 workers"]),
        (
            {"lakeformation_fine_grained_access": True, "extra_jars": ["s3://b/a.jar"]},
            {"number_of_workers": 4},
            ["extra_jars"],
        ),
        ({"conf": {"spark.password": "hunter2"}}, {}, ["'spark.password'", "secret"]),
        ({"other": {"--api_token": "hunter2"}}, {}, ["--api_token", "secret"]),
        ({"driver_variables": {"CUSTOMER_PASSWORD": "hunter2"}}, {}, ["CUSTOMER_PASSWORD"]),
        (
            {"python_modules_installer_option": "--index-url https://me:hunter2@pypi.acme.org/"},
            {},
            ["python_modules_installer_option"],
        ),
        ({"other": {"--watermark_table": "t"}}, {}, ["--watermark_table"]),
        ({"other": {"--help": "me"}}, {}, ["--help"]),
        ({"extra_files": [Path("gone.json")]}, {}, ["'gone.json'", "not a file"]),
        ({"extra_files": [Path("/etc/hostname")]}, {}, ["outside the project"]),
        ({"extra_files": [Path("a,b.json")]}, {}, ["a comma"]),
        ({"extra_files": [Path("LICENSE")]}, {}, ["extension"]),
    ],
)
def test_what_glue_does_not_do_is_refused_with_what_it_does(add, given, runtime, parts):
    for name in ("a,b.json", "LICENSE"):
        (add.root / name).write_text("{}")

    with pytest.raises(JobDefinitionError) as refused:
        add("one", runtime=JobRuntime(**runtime), glue_arguments=GlueArguments(**given))

    assert all(part in str(refused.value) for part in parts), str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_argument_of_the_script_never_replaces_one_of_glue(add):
    with pytest.raises(JobDefinitionError, match="'fresh'"):
        add("one", arguments={"fresh": "a"}, glue_arguments=GlueArguments(other={"--fresh": "b"}))
