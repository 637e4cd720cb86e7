"""A template of CloudFormation is a source: its functions are resolved, the rest is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.tidemark.adopt.apps import HERE
from tidemark.adopt.adoption import adopt
from tidemark.adopt.sources.cloudformation import read_templates
from tidemark.adopt.sources.contents import found_in
from tidemark.adopt.sources.template_file import read_template_file, template_of
from tidemark.adopt.sources.template_values import Values
from tidemark.errors import UsageError

TEMPLATE = HERE / "orders.template.yaml"
LANDING = {"LandingBucket": "acme-landing"}


def adopted(given, workflow="Nightly", jobs=()):
    return adopt(found_in(read_templates(TEMPLATE, given), jobs, workflow))


def test_jobs_are_what_the_functions_of_a_template_say():
    ingest, report = adopted(LANDING | {"Report": "nightly-Report-1A2B"}).jobs

    assert (ingest.old, report.old) == ("orders_ingest_prod", "nightly-Report-1A2B")
    assert (ingest.bookmark, ingest.connections) == ("ENABLE", ("office",))
    runtime = ingest.runtime
    assert (runtime.number_of_workers, runtime.timeout_minutes, runtime.max_retries) == (4, 120, 1)
    assert ingest.arguments == {
        "source_path": "s3://acme-landing/orders/",
        "target_path": "s3://acme-raw-prod/orders/",
        "limit": "1000",
        "subnet": "subnet-2",
    }
    assert ingest.script_location == "s3://acme-raw-prod/code/ingest.py"
    assert ingest.started == {"timeout_minutes": 60}
    assert report.arguments["orders"] == "s3://acme-raw-prod/orders/"
    assert report.wait.conditions == (("orders_ingest_prod", "SUCCEEDED"),)


def test_parameters_choose_what_a_template_makes():
    (job,) = adopted({**LANDING, "Stage": "dev", "Workers": "2"}, None, ["orders_ingest_dev"]).jobs

    assert (job.bookmark, job.runtime.timeout_minutes) == ("DISABLE", 30)
    assert "limit" not in job.arguments
    with pytest.raises(UsageError, match="only_dev"):
        found_in(read_templates(TEMPLATE, {}), ["only_dev"], None)
    assert adopted({"Stage": "dev"}, None, ["only_dev"]).jobs


def test_what_only_a_deployment_knows_is_named():
    adoption = adopted({})

    listed = {(one.of, one.path): one for one in adoption.differences}
    assert listed["job orders_ingest_prod", ("DefaultArguments",)].value == "{LandingBucket}"
    assert "--parameter Report=NAME" in listed["job Report", ("Name",)].do
    assert ("trigger then", ("StartOnCreation",)) in listed
    assert any("{LandingBucket}" in one.what for one in adoption.guesses)
    assert adoption.jobs[0].reads == ()


@pytest.mark.parametrize(
    ("value", "given"),
    [
        ({"Ref": "Option"}, "Option"),
        ({"Fn::Join": ["", [{"Fn::GetAtt": ["Made", "Option"]}, {"Ref": "Option"}]]}, "Option"),
        ({"Fn::GetAtt": ["Bucket", "Arn"]}, "Bucket"),
        ({"Ref": "Made"}, "Made"),
        ({"Fn::GetAtt": ["Made", "Option"]}, None),
        ("{{resolve:ssm:/option}}", None),
        ({"Fn::Transform": {"Name": "AWS::Include"}}, None),
    ],
)
def test_only_what_can_be_given_is_asked_for(tmp_path, value, given):
    job = {"Name": "one", "Command": {"Name": "glueetl"}, "DefaultArguments": {"--x": value}}
    resources = {
        "One": {"Type": "AWS::Glue::Job", "Properties": job},
        "Made": {"Type": "Custom::Option"},
        "Bucket": {"Type": "AWS::S3::Bucket"},
    }
    path = tmp_path / "t.json"
    parameters = {"Option": {"Type": "String"}}
    path.write_text(json.dumps({"Parameters": parameters, "Resources": resources}))

    adoption = adopt(found_in(read_templates(path, {}), ["one"], None))

    (listed,) = (one for one in adoption.differences if "is in braces" in one.why)
    assert ("--parameter" in listed.do) == (given is not None)
    if given:
        assert f"--parameter {given}=VALUE" in listed.do
        read_templates(path, {given: "x"})


def test_starts_and_secrets_of_a_template_are_read():
    adoption = adopted(LANDING)

    assert adoption.schedules == (
        ("cron(0 3 * * ? *)", "UTC"),
        ("cron(15 * * * ? *)", "Europe/Zurich"),
    )
    assert [(one.kind, one.name) for one in adoption.switches] == [("schedule", "hourly")]
    assert adoption.jobs[0].secrets == ("orders/reader",)
    assert adoption.run_properties == {"region": "emea"}


def test_a_role_is_kept_where_its_account_is_given():
    found = found_in(
        read_templates(TEMPLATE, LANDING | {"AWS::AccountId": "111122223333"}),
        [], "Nightly", with_roles=True,
    )  # fmt: skip

    roles = {job.role for job in adopt(found, keep_roles=True).jobs}

    assert roles == {"arn:aws:iam::111122223333:role/glue-orders"}


@pytest.mark.parametrize("given", [{"Stages": "dev"}, {"AWS::Regoin": "eu-west-1"}])
def test_a_parameter_that_nothing_has_is_refused_with_those_there_are(given):
    with pytest.raises(UsageError, match="LandingBucket, Stage"):
        read_templates(TEMPLATE, given)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{}", "no Resources"),
        ("[1]", "no Resources"),
        ("Resources: {A: {Kind: x}}", "'A' has no Type"),
        ("Resources: {A: 1}", "'A' has no Type"),
        ("Resources: {A: {Type: x, Properties: 5}}", "'A' has Properties that are not a map"),
        ("Parameters: 5\nResources: {}", "Parameters is not a map"),
        ("a: [", "neither JSON nor YAML"),
        ("a: !!python/object/apply:os.system [ls]", "neither JSON nor YAML"),
        ("&a [*a]", "neither JSON nor YAML"),
    ],
)
def test_what_is_no_template_is_refused(tmp_path, text, named):
    file = tmp_path / "a.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=named) as told:
        read_template_file(file)

    assert "\n" not in str(told.value)


RESOLVED = [
    ('!Sub "a-${B}-${!C}"', "a-b-${C}"),
    ('!Sub ["${X}${B}", {X: !Ref B}]', "bb"),
    ('!Join ["-", [!Ref B, c, !Ref "AWS::NoValue"]]', "b-c"),
    ("!Select [1, !Split [',', 'x,y']]", "y"),
    ("!FindInMap [M, !Ref B, k]", "v"),
    ("!If [Yes, 1, 2]", 1),
    ("!If [No, 1, 2]", 2),
    ("!If [Either, 1, 2]", 1),
    ("!If [Late, 1, 2]", "{If:Late}"),
    ("!Ref Absent", "{Absent}"),
    ("!GetAtt Bucket.Arn", "arn:aws:s3:::own"),
    ("!GetAtt Unnamed.Arn", "{Unnamed.Arn}"),
    ("!Ref Bucket", "own"),
    ("!ImportValue elsewhere", "{import:elsewhere}"),
    ("!ImportValue here", "there"),
    ("!Base64 a", "YQ=="),
    ("!ToJsonString {a: !Ref B}", '{"a": "b"}'),
    ("!Length [1, 2]", 2),
    ("!GetAZs ''", "{GetAZs}"),
    ("!Cidr [a, 1, 2]", "{Cidr}"),
    ("!Transform {Name: x}", "{Transform}"),
    ("!FindInMap [M, absent, k]", "{FindInMap}"),
    ("!Select [9, [a]]", "{Select}"),
    ("!Ref OfSsm", "{OfSsm}"),
    ("!Ref On", "true"),
    ("{a: !Ref 'AWS::NoValue', b: 2026-01-02}", {"b": "2026-01-02"}),
    ("!Ref Self", "{Self}"),
]
AROUND = """
Parameters: {B: {Type: String, Default: b}, On: {Type: String, Default: true},
  OfSsm: {Type: "AWS::SSM::Parameter::Value<String>", Default: /a/b}}
Mappings: {M: {b: {k: v}}}
Conditions: {Yes: !Equals [!Ref B, b], No: !Not [!Condition Yes],
  Late: !Equals [!Ref "AWS::Region", x], Either: !Or [!Condition Late, !Condition Yes]}
Resources:
  Bucket: {Type: AWS::S3::Bucket, Properties: {BucketName: own}}
  Unnamed: {Type: AWS::S3::Bucket}
  Self: {Type: AWS::S3::Bucket, Properties: {BucketName: !Sub "x-${Self}"}}
"""


@pytest.mark.parametrize(("text", "value"), RESOLVED)
def test_a_function_is_resolved_or_stands_in_braces(text, value):
    document = template_of(f"{AROUND}\nValue: {text}\n", "x")
    values = Values(document, {}, {"here": "there"})

    assert values.resolve(document["Value"]) == value


@pytest.mark.parametrize(("text", "value"), RESOLVED)
def test_long_functions_of_json_are_the_same(text, value):
    document = json.loads(json.dumps(template_of(f"{AROUND}\nValue: {text}\n", "x")))

    assert Values(document, {}, {"here": "there"}).resolve(document["Value"]) == value


def assembly(folder: Path, *stacks: tuple[str, dict[str, object]]) -> Path:
    """Write a cloud assembly as the CDK does, with the script as an asset."""
    artifacts = {
        name: {
            "type": "aws:cloudformation:stack",
            "environment": "aws://111122223333/eu-west-1",
            "properties": {"templateFile": f"{name}.template.json"},
        }
        for name, _ in stacks
    }
    artifacts["assets"] = {"type": "cdk:asset-manifest", "properties": {"file": "x.assets.json"}}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    for name, template in stacks:
        (folder / f"{name}.template.json").write_text(json.dumps(template))
    bucket = "cdk-assets-${AWS::AccountId}-${AWS::Region}"
    destinations = {"x": {"bucketName": bucket, "objectKey": "abc.py"}}
    files = {"abc": {"source": {"path": "asset.abc.py"}, "destinations": destinations}}
    (folder / "x.assets.json").write_text(json.dumps({"files": files}))
    (folder / "asset.abc.py").write_text("print('orders')\n")
    return folder


JOB = {
    "Type": "AWS::Glue::Job",
    "Properties": {
        "Name": "orders",
        "Command": {
            "Name": "glueetl",
            "ScriptLocation": {
                "Fn::Sub": "s3://cdk-assets-${AWS::AccountId}-${AWS::Region}/abc.py"
            },
        },
        "DefaultArguments": {
            "--data": {"Fn::Join": ["", ["s3://", {"Fn::ImportValue": "b"}, "/x/"]]}
        },
    },
}  # fmt: skip


def test_the_folder_of_a_cdk_app_is_read_with_its_scripts_and_exports(tmp_path):
    shared = {
        "Resources": {"B": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "own"}}},
        "Outputs": {"O": {"Value": {"Ref": "B"}, "Export": {"Name": "b"}}},
    }
    folder = assembly(tmp_path, ("shared", shared), ("orders", {"Resources": {"J": JOB}}))

    found = found_in(read_templates(folder, {}), ["orders"], None)
    (job,) = adopt(found).jobs

    assert found.scripts == {"orders": "print('orders')\n"}
    assert [place.uri for _, place in job.reads] == ["s3://own/x/"]


def test_two_jobs_of_one_name_are_refused_with_what_to_do(tmp_path):
    folder = assembly(tmp_path, ("a", {"Resources": {"J": JOB}}), ("b", {"Resources": {"J": JOB}}))

    with pytest.raises(UsageError, match=r"two AWS::Glue::Job named .orders.*assembly-STAGE"):
        read_templates(folder, {})


def test_resources_of_two_stacks_may_have_one_logical_id_and_no_name(tmp_path):
    plain = {"Type": "AWS::Glue::Job", "Properties": {"Command": {"Name": "glueetl"}}}
    folder = assembly(
        tmp_path, ("a", {"Resources": {"J": plain}}), ("b", {"Resources": {"J": plain}})
    )

    assert set(read_templates(folder, {}).kinds["AWS::Glue::Job"]) == {"a.J", "b.J"}
    assert set(read_templates(folder, {"a.J": "one"}).kinds["AWS::Glue::Job"]) == {"one", "b.J"}


def test_what_makes_resources_later_is_named(tmp_path):
    file = tmp_path / "t.json"
    resources = {"J": JOB, "Fn::ForEach::Jobs": ["X", ["a"], {}]}
    included = {"Name": "AWS::Include", "Parameters": {"Location": "s3://code/more.yaml"}}
    resources |= {"Fn::Transform": included, "More": {"Fn::Transform": included}}
    resources["N"] = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "x"}}
    document = {"Transform": ["AWS::LanguageExtensions", "Mine"], "Resources": resources}
    file.write_text(json.dumps(document))

    adoption = adopt(found_in(read_templates(file, {}), ["orders"], None))

    listed = [(one.of, *one.path) for one in adoption.differences]
    assert listed.count(("template t", "Transform")) == 2
    for later in ("Fn::ForEach::Jobs", "Fn::Transform", "More"):
        assert ("template t", "Resources", later) in listed
    assert ("nested stack N", "TemplateURL") in listed


def test_a_function_that_has_the_name_of_a_job_is_named_and_another_is_not(tmp_path):
    file = tmp_path / "t.json"
    variables = {"Environment": {"Variables": {"JOB": {"Ref": "J"}}}}
    starter = {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "go", **variables}}
    other = {"Type": "AWS::Lambda::Function", "Properties": {"Handler": "a.b"}}
    file.write_text(json.dumps({"Resources": {"J": JOB, "Go": starter, "Other": other}}))

    adoption = adopt(found_in(read_templates(file, {}), ["orders"], None))

    assert [one.job for one in adoption.others] == ["AWS::Lambda::Function go"]


@pytest.mark.parametrize(
    "value", [None, 5, "x", "${Later}", [1], {"a": {"b": 1}}, {"Ref": "Later"}]
)
@pytest.mark.parametrize(
    "key", ["Command", "Connections", "DefaultArguments", "MaxRetries", "Timeout", "Tags"]
)
def test_a_value_of_another_form_is_named_and_the_rest_goes_on(tmp_path, key, value):
    file = tmp_path / "t.json"
    job = {"Type": "AWS::Glue::Job", "Properties": JOB["Properties"] | {key: value}}
    other = {"Type": "AWS::Glue::Job", "Properties": JOB["Properties"] | {"Name": "other"}}
    file.write_text(json.dumps({"Resources": {"J": job, "O": other}}), encoding="utf-8")

    adoption = adopt(found_in(read_templates(file, {}), ["orders"], None))

    assert [one.old for one in adoption.nodes] == ["orders"]
    if value is not None and (key, value) not in (("Timeout", 5), ("MaxRetries", 5)):
        assert any(one.path[:1] == (key,) for one in adoption.differences)


CONDITIONS = {
    f"A{number}": {"Fn::And": [{"Condition": f"A{number + 1}"}] * 2} for number in range(40)
}


@pytest.mark.parametrize(
    "conditions",
    [{"A0": {"Condition": "B"}, "B": {"Condition": "A0"}}, CONDITIONS],
    ids=["circle", "doubled"],
)
def test_functions_that_need_each_other_or_double_are_one_line(tmp_path, conditions):
    file = tmp_path / "t.json"
    file.write_text(
        json.dumps({"Conditions": conditions, "Resources": {"J": JOB | {"Condition": "A0"}}})
    )

    with pytest.raises(UsageError, match="need each other"):
        read_templates(file, {})


def test_names_that_double_are_one_line(tmp_path):
    def bucket(name):
        return {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}}

    twice = {f"B{step}": bucket({"Fn::Sub": f"${{B{step + 1}}}" * 2}) for step in range(40)}
    job = {"Type": "AWS::Glue::Job", "Properties": JOB["Properties"] | {"Role": {"Ref": "B0"}}}
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"Resources": {"J": job, "B40": bucket("x"), **twice}}))

    with pytest.raises(UsageError, match="or double"):
        read_templates(file, {})


def test_a_script_keeps_its_ends_of_lines(tmp_path):
    folder = assembly(tmp_path, ("orders", {"Resources": {"J": JOB}}))
    (folder / "asset.abc.py").write_bytes(b"a = 1\r\n")

    assert found_in(read_templates(folder, {}), ["orders"], None).scripts == {"orders": "a = 1\r\n"}


def test_a_script_that_is_a_pipe_or_too_large_is_left_for_the_plan(tmp_path):
    folder = assembly(tmp_path, ("orders", {"Resources": {"J": JOB}}))
    script = folder / "asset.abc.py"
    with script.open("r+b") as file:
        file.truncate(2**40)
    assert found_in(read_templates(folder, {}), ["orders"], None).scripts == {}

    script.unlink()
    os.mkfifo(script)
    assert found_in(read_templates(folder, {}), ["orders"], None).scripts == {}
