"""Glue's operations on tags, by boto3."""

from __future__ import annotations

import pytest

ARN = "arn:aws:glue:us-east-1:000000000000:"
COMMAND = {"Name": "glueetl", "ScriptLocation": "s3://scripts/a.py", "PythonVersion": "3"}
NETWORK = {"ConnectionType": "NETWORK", "ConnectionProperties": {}}


def create_job(glue, name, tags):
    glue.create_job(Name=name, Role="anyone", Command=COMMAND, Tags=tags)


def create_workflow(glue, name, tags):
    glue.create_workflow(Name=name, Tags=tags)


def create_trigger(glue, name, tags):
    create_job(glue, "of-a-trigger", {})
    actions = [{"JobName": "of-a-trigger"}]
    glue.create_trigger(Name=name, Type="ON_DEMAND", Actions=actions, Tags=tags)


def create_database(glue, name, tags):
    glue.create_database(DatabaseInput={"Name": name}, Tags=tags)


def create_connection(glue, name, tags):
    glue.create_connection(ConnectionInput={"Name": name, **NETWORK}, Tags=tags)


CREATE = {
    "job": create_job,
    "workflow": create_workflow,
    "trigger": create_trigger,
    "database": create_database,
    "connection": create_connection,
}


@pytest.mark.parametrize("kind", CREATE)
def test_tags_are_added_and_taken(port, kind):
    glue = port.glue
    CREATE[kind](glue, f"tagged_{kind}", {"a": "1", "b": "2"})
    arn = f"{ARN}{kind}/tagged_{kind}"

    glue.tag_resource(ResourceArn=arn, TagsToAdd={"b": "3", "c": "4"})
    glue.untag_resource(ResourceArn=arn, TagsToRemove=["a", "none"])

    assert glue.get_tags(ResourceArn=arn)["Tags"] == {"b": "3", "c": "4"}
    for tags, why in (
        ({"AWS:a": "1"}, "reserved for AWS"),
        ({str(n): "" for n in range(49)}, "51 tags"),
    ):
        with pytest.raises(glue.exceptions.InvalidInputException, match=why):
            glue.tag_resource(ResourceArn=arn, TagsToAdd=tags)
    glue.untag_resource(ResourceArn=arn, TagsToRemove=["b", "c"])
    assert glue.get_tags(ResourceArn=arn)["Tags"] == {}
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_tags(ResourceArn=f"{arn}_none")


def test_a_key_of_aws_and_another_account_are_refused(port):
    glue = port.glue
    create_job(glue, "of-aws", {})

    with pytest.raises(glue.exceptions.InvalidInputException, match="reserved for AWS"):
        glue.untag_resource(ResourceArn=f"{ARN}job/of-aws", TagsToRemove=["aws:a"])
    for arn in ("arn:aws:glue:us-east-1:1:job/of-aws", f"{ARN}classifier/of-aws", f"{ARN}job"):
        with pytest.raises(glue.exceptions.InvalidInputException, match="not an ARN of this"):
            glue.get_tags(ResourceArn=arn)


@pytest.mark.parametrize("kind", ["database", "connection"])
def test_what_has_no_tags_and_a_reserved_key(port, kind):
    glue = port.glue
    with pytest.raises(glue.exceptions.InvalidInputException, match="reserved for AWS"):
        CREATE[kind](glue, f"bare_{kind}", {"aws:a": "1"})
    CREATE[kind](glue, f"bare_{kind}", {})

    assert glue.get_tags(ResourceArn=f"{ARN}{kind}/bare_{kind}")["Tags"] == {}


def test_an_update_keeps_tags_and_a_new_one_of_the_name_has_none(port):
    glue = port.glue
    create_database(glue, "kept", {"team": "data"})
    create_connection(glue, "kept", {"team": "data"})

    glue.update_database(Name="kept", DatabaseInput={"Name": "kept", "Description": "new"})
    glue.update_connection(Name="kept", ConnectionInput={"Name": "kept", **NETWORK})

    for kind in ("database", "connection"):
        assert glue.get_tags(ResourceArn=f"{ARN}{kind}/kept")["Tags"] == {"team": "data"}
    assert "Tags" not in glue.get_database(Name="kept")["Database"]
    assert "Tags" not in glue.get_connection(Name="kept")["Connection"]
    glue.delete_database(Name="kept")
    glue.delete_connection(ConnectionName="kept")
    create_database(glue, "kept", {})
    create_connection(glue, "kept", {})
    for kind in ("database", "connection"):
        assert glue.get_tags(ResourceArn=f"{ARN}{kind}/kept")["Tags"] == {}
