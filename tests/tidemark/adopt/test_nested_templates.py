"""Nested stacks are read where their templates are at hand; what macros make is named."""

from __future__ import annotations

import json

import pytest

from tests.tidemark.adopt.test_adopt_template import JOB, assembly
from tidemark.adopt.adoption import adopt
from tidemark.adopt.sources.cloudformation import read_templates
from tidemark.adopt.sources.contents import found_in
from tidemark.errors import UsageError

INNER = {
    "Parameters": {"Bucket": {"Type": "String"}, "Size": {"Type": "Number", "Default": 2}},
    "Resources": {
        "J": {
            "Type": "AWS::Glue::Job",
            "Properties": {
                "Name": "inner",
                "Command": {"Name": "glueetl", "ScriptLocation": "s3://code/x.py"},
                "NumberOfWorkers": {"Ref": "Size"},
                "WorkerType": "G.1X",
                "DefaultArguments": {"--data": {"Fn::Sub": "s3://${Bucket}/x/"}},
            },
        }
    },
    "Outputs": {"Made": {"Value": {"Ref": "J"}}},
}


def nested(url="https://s3/x", path=None, **parameters):
    resource = {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"TemplateURL": url, "Parameters": parameters},
    }
    return resource | ({"Metadata": {"aws:asset:path": path}} if path else {})


OUTER = {
    "Resources": {
        "B": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "own"}},
        "N": nested(path="inner.nested.template.json", Bucket={"Ref": "B"}),
        "T": {
            "Type": "AWS::Glue::Trigger",
            "Properties": {
                "Name": "start",
                "Type": "ON_DEMAND",
                "Actions": [{"JobName": {"Fn::GetAtt": ["N", "Outputs.Made"]}}],
            },
        },
    }
}


def of_app(tmp_path, outer=OUTER, inner=INNER):
    folder = assembly(tmp_path, ("orders", outer))
    (folder / "inner.nested.template.json").write_text(json.dumps(inner))
    return folder


def adopted(path, given=None, jobs=("inner",)):
    return adopt(found_in(read_templates(path, given or {}), list(jobs), None))


def test_a_nested_stack_of_an_app_is_read_with_its_parameters_and_outputs(tmp_path):
    adoption = adopted(of_app(tmp_path))

    (job,) = adoption.jobs
    assert job.arguments == {"data": "s3://own/x/"}
    assert job.runtime.number_of_workers == 2
    assert adoption.start_triggers == ("start",)
    assert not [one for one in adoption.differences if one.of.startswith("nested stack")]


@pytest.mark.parametrize("url", ["./inner.json", "inner.json"])
def test_a_template_that_names_another_file_has_it_read(tmp_path, url):
    (tmp_path / "inner.json").write_text(json.dumps(INNER))
    outer = {"Resources": {"N": nested(url, Bucket="own")}}
    (tmp_path / "t.json").write_text(json.dumps(outer))

    assert adopted(tmp_path / "t.json").jobs[0].arguments == {"data": "s3://own/x/"}


def test_nested_stacks_in_nested_stacks_are_read_and_names_of_several_kept_apart(tmp_path):
    plain = {"Type": "AWS::Glue::Job", "Properties": {"Command": {"Name": "glueetl"}}}
    inner = {"Resources": {"J": plain}}
    middle = {"Resources": {"M": nested("./inner.json"), "J": plain}}
    (tmp_path / "inner.json").write_text(json.dumps(inner))
    (tmp_path / "middle.json").write_text(json.dumps(middle))
    outer = {"Resources": {"J": plain, "A": nested("./middle.json"), "B": nested("./inner.json")}}
    (tmp_path / "t.json").write_text(json.dumps(outer))

    assert set(read_templates(tmp_path / "t.json", {}).kinds["AWS::Glue::Job"]) == {
        "J",
        "A.J",
        "A.M.J",
        "B.J",
    }
    named = read_templates(tmp_path / "t.json", {"A.M.J": "deep", "B.J": "other"})
    assert set(named.kinds["AWS::Glue::Job"]) == {"J", "A.J", "deep", "other"}
    with pytest.raises(UsageError, match=r"A\.X"):
        read_templates(tmp_path / "t.json", {"A.X": "x"})


def test_a_nested_stack_whose_template_is_not_at_hand_is_named(tmp_path):
    outer = {"Resources": {"N": nested("https://bucket.s3.amazonaws.com/x.json"), "J": JOB}}
    (tmp_path / "t.json").write_text(json.dumps(outer))

    adoption = adopted(tmp_path / "t.json", jobs=["orders"])

    assert [one.of for one in adoption.differences if one.path == ("TemplateURL",)] == [
        "nested stack N"
    ]


def test_a_nested_stack_that_holds_itself_is_refused(tmp_path):
    outer = {"Resources": {"N": nested("./t.json")}}
    (tmp_path / "t.json").write_text(json.dumps(outer))

    with pytest.raises(UsageError, match="holds itself"):
        read_templates(tmp_path / "t.json", {})


def test_a_nested_stack_whose_condition_does_not_hold_is_left_out(tmp_path):
    (tmp_path / "inner.json").write_text(json.dumps(INNER))
    outer = {
        "Conditions": {"Never": {"Fn::Equals": ["a", "b"]}},
        "Resources": {"N": nested("./inner.json") | {"Condition": "Never"}, "J": JOB},
    }
    (tmp_path / "t.json").write_text(json.dumps(outer))

    assert set(read_templates(tmp_path / "t.json", {}).kinds["AWS::Glue::Job"]) == {"orders"}


def test_resources_that_a_macro_makes_are_named_with_it(tmp_path):
    api = {"Type": "AWS::Serverless::Api", "Properties": {"StageName": "x"}}
    function = {"Type": "AWS::Serverless::Function", "Properties": {"FunctionName": "load"}}
    document = {
        "Transform": ["AWS::Serverless-2016-10-31", "Mine"],
        "Resources": {"J": JOB, "Api": api, "Go": function},
    }
    (tmp_path / "t.json").write_text(json.dumps(document))

    adoption = adopted(tmp_path / "t.json", jobs=["orders"])

    sam, mine = (one for one in adoption.differences if one.path == ("Transform",))
    assert "Api, Go" in sam.why
    assert "J, Api, Go" in mine.why
    assert {one.job for one in adoption.others} == {
        "AWS::Serverless::Api Api",
        "AWS::Serverless::Function load",
    }


def test_an_application_of_sam_is_a_nested_stack(tmp_path):
    (tmp_path / "inner.json").write_text(json.dumps(INNER))
    application = {
        "Type": "AWS::Serverless::Application",
        "Properties": {"Location": "./inner.json", "Parameters": {"Bucket": "own"}},
    }
    (tmp_path / "t.json").write_text(json.dumps({"Resources": {"A": application}}))

    assert adopted(tmp_path / "t.json").jobs[0].arguments == {"data": "s3://own/x/"}


def test_what_only_a_deployment_knows_of_a_nested_stack_is_named_with_how_to_give_it(tmp_path):
    job = json.loads(json.dumps(INNER["Resources"]["J"]))
    job["Properties"]["DefaultArguments"] = {"--data": {"Fn::Sub": "s3://${Own}/x/"}}
    inner = {"Resources": {"J": job, "Own": {"Type": "AWS::S3::Bucket", "Properties": {}}}}
    folder = of_app(tmp_path, inner=inner)

    (told,) = (one for one in adopted(folder).differences if one.path == ("DefaultArguments",))

    assert (told.value, "--parameter N.Own=VALUE" in told.do) == ("{Own}", True)
    assert adopted(folder, {"N.Own": "mine"}).jobs[0].arguments == {"data": "s3://mine/x/"}


@pytest.mark.parametrize("way", ["../inner.yaml", "{whole}", "link.yaml"])
def test_a_template_outside_of_the_folder_that_was_given_is_not_read(tmp_path, way):
    folder = tmp_path / "given"
    folder.mkdir()
    inner = tmp_path / "inner.yaml"
    inner.write_text(json.dumps(INNER))
    (folder / "link.yaml").symlink_to(inner)
    document = {"Resources": {"N": nested(url=way.format(whole=inner), Bucket="own"), "J": JOB}}
    (folder / "t.json").write_text(json.dumps(document))

    contents = read_templates(folder / "t.json", {})

    assert list(contents.kinds["AWS::Glue::Job"]) == ["orders"]
