"""What may be declared of a job beyond the sample pipeline, and what may not."""

import json
from dataclasses import replace

import pytest

from tests.fixtures.synthesis import as_list
from tidemark.errors import JobDefinitionError
from tidemark.model.stage.runtime import JobRuntime

pytestmark = pytest.mark.synth


def statement_about(add, action):
    statements = [
        statement
        for role in add.properties("AWS::IAM::Role")
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    return [s for s in statements if action in json.dumps(s["Action"])]


def test_a_job_may_have_a_runtime_of_its_own(add):
    big = replace(
        add.pipeline._stage.runtime,
        worker_type="R.4X",
        number_of_workers=20,
        auto_scaling=True,
        timeout_minutes=600,
        max_retries=2,
        glue_version="6.0",
    )

    add("one", runtime=big)

    (job,) = add.properties("AWS::Glue::Job")
    assert (job["WorkerType"], job["NumberOfWorkers"], job["Timeout"]) == ("R.4X", 20, 600)
    assert (job["MaxRetries"], job["GlueVersion"]) == (2, "6.0")
    assert job["DefaultArguments"]["--enable-auto-scaling"] == "true"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"worker_type": "G.025X"}, "worker_type is 'G.025X'; allowed: G.1X, G.2X"),
        ({"number_of_workers": 1}, "number_of_workers is 1; allowed: an integer from 2 to 299"),
        ({"number_of_workers": True}, "number_of_workers is True"),
        ({"timeout_minutes": 0}, "timeout_minutes is 0; allowed"),
        ({"max_retries": 11}, "max_retries is 11; allowed"),
        ({"worker_type": "G.2X", "number_of_workers": 150}, "from 2 to 149"),
        ({"auto_scaling": "yes"}, "auto_scaling is 'yes'; allowed: True, False"),
        ({"flex": 1}, "flex is 1; allowed: True, False"),
        ({"glue_version": "4.0"}, "glue_version is '4.0'; allowed: 5.0, 5.1, 6.0, auto"),
        ({"glue_version": "Auto"}, "glue_version is 'Auto'; allowed: 5.0, 5.1, 6.0, auto"),
        ({"glue_version": "auto"}, "max_retries is 0 and glue_version 'auto'.* set max_retries=1"),
        ({"flex": True, "worker_type": "G.4X"}, "flexible execution class has G.1X and G.2X only"),
    ],
)
def test_a_runtime_that_glue_does_not_have_is_refused(wrong, text):
    with pytest.raises(JobDefinitionError, match=text):
        replace(JobRuntime(), **wrong)


@pytest.mark.parametrize("flag", ["delivered", "published"])
def test_a_dataset_with_other_flags_is_told_with_what_differs(add, data, flag):
    one, other = data("in/"), replace(data("in/"), **{flag: False})

    with pytest.raises(JobDefinitionError, match=rf"differs .* in {flag} \(True and False\)"):
        add("orders", reads=[other], arguments={"source_path": one})


def test_an_argument_may_be_a_dataset_or_what_another_job_writes(add, data):
    first = add("first", writes=[data("raw/")], arguments={"target_path": data("raw/")})
    second = add("second", after=[first], arguments={"source_path": first})

    first_job, second_job = add.properties("AWS::Glue::Job")
    assert first_job["DefaultArguments"]["--target_path"] == "s3://lake/raw/"
    assert second_job["DefaultArguments"]["--source_path"] == "s3://lake/raw/"
    assert second.reads == first.writes


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (lambda first, data: {"arguments": {"a": first}}, "from 'first', but does not wait"),
        (lambda first, data: {"arguments": {"a": data("in/")}}, "neither reads nor writes; add it"),
        (lambda first, data: {"arguments": {"JOB_NAME": "x"}}, "'JOB_NAME'; allowed: letters"),
        (lambda first, data: {"arguments": {"TempDir": "x"}}, "'TempDir'; allowed: letters"),
        (lambda first, data: {"python_modules": ["pandas"]}, "'pandas' in python_modules; allowed"),
        (
            lambda first, data: {"tables": ["orders"]},
            "'orders' in tables; allowed: each database.t",
        ),
        (lambda first, data: {"max_watermark_age_hours": 3}, "keeps no watermark; set"),
        (lambda first, data: {"arguments": {"conf": "x"}}, "'conf'; allowed: letters"),
        (
            lambda first, data: {"connections": ["*"]},
            r"connections \['\*'\]; allowed: a list of names",
        ),
        (lambda first, data: {"secrets": ["*"]}, r"'\*' in secrets; allowed: each the name"),
        (
            lambda first, data: {"max_watermark_age_hours": 0, "watermark": True},
            "max_watermark_age_hours 0; allowed: an integer, hours from 1",
        ),
        (lambda first, data: {"arguments": {"a": ""}}, "'a' with the value '', which .*leave it o"),
        (lambda first, data: {"arguments": {"a": "--b"}}, "value '--b', which getResolvedOptions"),
        (lambda first, data: {"arguments": {"a": "-b"}}, "value '-b', which getResolvedOptions"),
        (
            lambda first, data: {"arguments": {"watermark_table": "t"}},
            "argument 'watermark_table'; allowed: letters",
        ),
        (lambda first, data: {"python_modules": ["s3://lake/*.whl"]}, "allowed: each name==ver"),
        (lambda first, data: {"python_modules": ["s3://lake/a.whl,s3://lake/b.whl"]}, "allowed"),
        (lambda first, data: {"python_modules": ["s3:///a.whl"]}, "allowed: each name==version"),
        (lambda first, data: {"tables": ["a" * 256 + ".b"]}, "in tables; allowed: each database"),
        (
            lambda first, data: {"watermark": True, "max_watermark_age_hours": 2**70},
            "max_watermark_age_hours .*; allowed: an integer, hours from 1 to",
        ),
        (lambda first, data: {"reads": [data("x" * 900 + "/")]}, "is not a folder; .* up to 900"),
        (
            lambda first, data: {"python_modules": ["Py_Arrow==1.0", "py-arrow[all]==2.0"]},
            "'Py_Arrow==1.0' and .* in python_modules; allowed: each package once",
        ),
        (
            lambda first, data: {"python_modules": ["mine==1", "s3://b/mine-2-py3-none-any.whl"]},
            "'mine==1' and .* in python_modules; allowed: each package once",
        ),
        (
            lambda first, data: {"writes": [data("../x/")]},
            r"'../x/' is not a folder; .* \.\.",
        ),
        (lambda first, data: {"writes": [data("x/./")]}, r"'x/\./' is not a folder; allowed"),
    ],
    ids=range(25),
)
def test_what_cannot_be_deployed_is_refused_before_anything_is_created(add, data, declared, text):
    first = add("first", writes=[data("raw/")])

    with pytest.raises(JobDefinitionError, match=text):
        add("second", **declared(first, data))

    assert len(add.properties("AWS::Glue::Job")) == 1


@pytest.mark.parametrize("value", ["-1", "-.5", "a--b", " ", "-1.5"])
def test_what_argparse_takes_for_a_value_is_taken(add, value):
    add("one", arguments={"a": value})


@pytest.mark.parametrize("prefix", ["a..b/", ".hidden/", "x/...dots/", "day=2026-01-01/"])
def test_a_name_with_dots_is_a_folder(data, prefix):
    assert data(prefix).uri == f"s3://lake/{prefix}"


@pytest.mark.parametrize(
    ("path", "content", "text"),
    [
        ("../outside.py", b"print(1)\n", "outside.py', which is outside the project; move it"),
        ("/etc/hostname", None, "'/etc/hostname', which is outside the project; move it there"),
        ("x" * 300 + ".py", None, "which is not a file; create it"),
        ("job.scala", b"object Job", "is not a Python file, which ends in .py"),
        ("empty.py", b"# later\n", "is empty; write the job"),
        (
            "wrong.py",
            b"x = 1\ndef f(:\n",
            r"is not Python 3.11 \(in line 2: invalid syntax\); correct",
        ),
        ("binary.py", b"\x00\x01", r"is not Python 3.11 \(.*null bytes.*\); correct it"),
        ("latin.py", b"# \xe9\nx = 1\n", r"is not Python 3.11 \(.*\); correct it"),
    ],
)
def test_a_script_that_glue_cannot_run_is_refused(add, path, content, text):
    root = add.pipeline._root
    if content is not None:
        (root / path).write_bytes(content)

    with pytest.raises(JobDefinitionError, match=text):
        add.pipeline.add_job("one", script=path, bookmark=add.bookmark)


def test_syntax_that_only_the_python_of_the_job_knows_is_left_to_it(add):
    (add.pipeline._root / "new.py").write_text("type Row = dict[str, int]\n")  # since 3.12
    new = replace(JobRuntime(), glue_version="6.0")

    add.pipeline.add_job("one", script="new.py", bookmark=add.bookmark, runtime=new)
    with pytest.raises(JobDefinitionError, match="is not Python"):
        add.pipeline.add_job("two", script="new.py", bookmark=add.bookmark)


def test_the_output_of_a_job_that_writes_two_datasets_is_not_one(add, data):
    first = add("first", writes=[data("a/"), data("b/")])

    with pytest.raises(JobDefinitionError, match="writes 2 datasets, so its output is not one"):
        add("second", after=[first], arguments={"source_path": first})


def test_modules_temp_connections_and_secrets_become_arguments_and_permissions(add, data):
    add(
        "one",
        temp=data("temp/"),
        python_modules=["pyarrow==21.0.0", "s3://lake/mine-1.0-py3-none-any.whl"],
        connections=["network", "other"],
        secrets=["air/reader", "air/writer"],
    )

    (job,) = add.properties("AWS::Glue::Job")
    arguments = job["DefaultArguments"]
    assert arguments["--TempDir"] == "s3://lake/temp/"
    modules = "pyarrow==21.0.0,s3://lake/mine-1.0-py3-none-any.whl"
    assert arguments["--additional-python-modules"] == modules
    assert job["Connections"] == {"Connections": ["network", "other"]}
    (connections,) = statement_about(add, "glue:GetConnection")
    assert len(connections["Resource"]) == 3  # the catalog and both
    read = [arn for s in statement_about(add, "s3:GetObject") for arn in as_list(s["Resource"])]
    wheel = ["arn:", {"Ref": "AWS::Partition"}, ":s3:::lake/mine-1.0-py3-none-any.whl"]
    assert {"Fn::Join": ["", wheel]} in read
    (writes,) = statement_about(add, "s3:PutObject")
    assert "lake/temp/*" in json.dumps(writes["Resource"])


def test_a_job_may_decrypt_what_it_reads_and_encrypt_what_it_writes_with_the_keys_of_the_buckets(
    add,
):
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset

    def bucket(name):
        arn = f"arn:aws:kms:eu-west-1:123456789012:key/{name}"
        return s3.Bucket.from_bucket_attributes(
            add.stack,
            name,
            bucket_arn=f"arn:aws:s3:::{name}",
            encryption_key=kms.Key.from_key_arn(add.stack, f"{name}-key", arn),
        )

    add(
        "one",
        reads=[Dataset(bucket("theirs"), "in/", delivered=True)],
        writes=[Dataset(bucket("ours"), "out/", published=True)],
    )

    allowed = {
        (action, statement["Resource"].rpartition("/")[2])
        for statement in statement_about(add, "kms:")
        for action in as_list(statement["Action"])
    }
    assert allowed == {
        *(("kms:Decrypt", key) for key in ("k", "ours", "theirs")),
        *(("kms:GenerateDataKey", key) for key in ("k", "ours")),
        ("kms:Encrypt", "k"),
    }


def test_a_job_reads_the_tables_it_declares_and_no_other(add):
    add("one", tables=["sales.orders", "sales.returns"])

    (read,) = statement_about(add, "glue:GetTable")
    text = json.dumps(read["Resource"])
    assert all(
        f":{end}" in text
        for end in ("catalog", "database/sales", "table/sales/orders", "table/sales/returns")
    )
    assert "*" not in text
    assert len(read["Resource"]) == 4


@pytest.mark.parametrize("may_put", [False, True])
def test_run_properties_of_the_workflow_are_read_or_put_by_those_who_declare_it(add, may_put):
    from tidemark.constructs.jobs.job_props import RunProperties

    add("one", run_properties=RunProperties.READ_AND_PUT if may_put else RunProperties.READ)

    (workflow,) = add.properties("AWS::Glue::Workflow")
    assert workflow["DefaultRunProperties"] == {"day": "today"}
    (read,) = statement_about(add, "glue:GetWorkflowRunProperties")
    assert ("glue:PutWorkflowRunProperties" in read["Action"]) == may_put
    assert "workflow/orders" in json.dumps(read["Resource"])


@pytest.mark.parametrize(
    "arguments",
    [{"jdbc_password": "hunter2"}, {"url": "jdbc:postgresql://db/air?user=me&password=hunter2"}],
)
def test_a_secret_in_an_argument_is_refused_and_not_repeated(add, arguments):
    from tidemark.model.plain_secrets import NotSecret

    (name,) = arguments
    with pytest.raises(
        JobDefinitionError, match=f"'one' has the argument '{name}' .*secrets="
    ) as e:
        add("one", arguments=arguments)
    assert "hunter2" not in str(e.value)

    add("one", arguments={name: NotSecret(arguments[name], reason="a test database")})

    (job,) = add.properties("AWS::Glue::Job")  # and its graph has no problem
    assert job["DefaultArguments"][f"--{name}"] == arguments[name]


@pytest.mark.parametrize(("text", "reason"), [("hunter2", ""), ("hunter2", None), (7, "a number")])
def test_what_is_no_secret_has_a_text_and_a_reason(add, text, reason):
    from tidemark.model.plain_secrets import NotSecret

    with pytest.raises(JobDefinitionError, match=r"'password' as a NotSecret with .* allowed: a s"):
        add("one", arguments={"password": NotSecret(text, reason)})


def test_a_connection_may_be_known_at_deployment_only(add, cdk):
    connection = cdk.CfnParameter(add.stack, "Connection")

    add("one", connections=[connection.value_as_string])

    (job,) = add.properties("AWS::Glue::Job")
    assert job["Connections"] == {"Connections": [{"Ref": "Connection"}]}


def test_a_job_may_read_its_secrets_however_they_are_named_and_no_others(add, cdk):
    from aws_cdk import aws_secretsmanager as secretsmanager

    made, other = (secretsmanager.Secret(add.stack, id_) for id_ in ("Made", "Other"))
    by_name = secretsmanager.Secret.from_secret_name_v2(add.stack, "Named", "air/named")
    arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:air/whole-a1b2c3"
    late = cdk.CfnParameter(add.stack, "Late").value_as_string

    add("one", secrets=["air/reader", arn, made, other.secret_arn, by_name, late])

    (read,) = statement_about(add, "secretsmanager:GetSecretValue")
    joined, whole, of_made, of_other, named, at_deployment = read["Resource"]
    assert joined["Fn::Join"][1][-1] == ":secret:air/reader-??????"
    assert whole == arn
    assert (of_made, of_other) == tuple(
        {"Ref": add.stack.resolve(secret.node.default_child.logical_id)} for secret in (made, other)
    )
    assert named["Fn::Join"][1][-1] == ":secret:air/named-??????"
    assert at_deployment["Fn::Join"][1][-3:] == [":secret:", {"Ref": "Late"}, "-??????"]


def test_an_old_watermark_is_an_alarm_where_a_job_asks_for_it(add):
    add("one", watermark=True, max_watermark_age_hours=6)

    (alarm,) = add.properties("AWS::CloudWatch::Alarm")
    assert alarm["Threshold"] == 6 * 3600
    assert alarm["Metrics"][0]["MetricStat"]["Metric"]["MetricName"] == "WatermarkAge"


def test_the_end_of_a_run_is_the_last_job_of_a_good_one(add):
    from tidemark.constructs.jobs.conditions import JobState
    from tidemark.constructs.predicates import all_of, any_of

    first = add("first")
    second = add("second", after=[first])
    tidy = add("tidy", after=all_of(second, on=JobState.FAILED))
    add("report", after=[tidy])
    add("either", after=any_of(first, second.on(JobState.FAILED)))

    (pattern,) = (
        rule["EventPattern"]["detail"]
        for rule in add.properties("AWS::Events::Rule")
        if rule["EventPattern"]["detail"].get("state") == ["SUCCEEDED"]
    )
    # second ends a good run, although tidy waits for its failure.
    assert pattern["jobName"] == ["second", "either"]


def test_more_names_than_an_event_pattern_holds_are_refused(add):
    for number in range(24):
        add(f"{'long-' * 15}{number}")

    with pytest.raises(JobDefinitionError, match=r"25 jobs.* 2048 characters in a pattern; split"):
        add(f"{'long-' * 15}24")
