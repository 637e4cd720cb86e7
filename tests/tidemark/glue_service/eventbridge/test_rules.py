"""Rules of EventBridge, as clients read them back, by boto3."""

from __future__ import annotations

import pytest

ARN = "arn:aws:events:us-east-1:000000000000:rule/"
PATTERN = '{"source": ["a"]}'


def test_a_rule_and_its_targets_are_returned_as_they_were_given(port):
    events = port.client("events")
    target = {
        "Id": "t",
        "Arn": "arn:aws:glue:us-east-1:000000000000:workflow/w",
        "RoleArn": "arn:aws:iam::000000000000:role/anyone",
        "InputTransformer": {"InputPathsMap": {"a": "$.detail.a"}, "InputTemplate": '{"a": <a>}'},
    }
    role = "arn:aws:iam::000000000000:role/rule"
    events.put_rule(Name="read-back", EventPattern=PATTERN, Description="d", RoleArn=role)
    events.put_targets(Rule="read-back", Targets=[target])

    rule = events.describe_rule(Name="read-back")

    del rule["ResponseMetadata"]
    assert rule == {
        "Name": "read-back",
        "Arn": f"{ARN}read-back",
        "EventPattern": PATTERN,
        "State": "ENABLED",
        "Description": "d",
        "RoleArn": role,
        "EventBusName": "default",
    }
    assert events.list_targets_by_rule(Rule="read-back")["Targets"] == [target]
    with pytest.raises(events.exceptions.ResourceNotFoundException):
        events.describe_rule(Name="read-back-none")


def test_tags_are_given_read_added_and_taken(port):
    events = port.client("events")
    arn = events.put_rule(Name="tagged", EventPattern=PATTERN, Tags=[{"Key": "a", "Value": "1"}])[
        "RuleArn"
    ]

    def tags():
        found = events.list_tags_for_resource(ResourceARN=arn)["Tags"]
        return {tag["Key"]: tag["Value"] for tag in found}

    events.put_rule(Name="tagged", EventPattern=PATTERN, Tags=[{"Key": "b", "Value": "2"}])
    assert tags() == {"a": "1"}  # AWS ignores the tags of a change
    events.tag_resource(ResourceARN=arn, Tags=[{"Key": "c", "Value": "3"}])
    events.untag_resource(ResourceARN=arn, TagKeys=["a", "none"])

    assert tags() == {"c": "3"}
    for wrong, why in (
        ([{"Key": "aws:a", "Value": "1"}], "reserved for AWS"),
        ([{"Key": str(n), "Value": ""} for n in range(50)], "51 tags"),
    ):
        with pytest.raises(events.exceptions.ClientError, match=why):
            events.tag_resource(ResourceARN=arn, Tags=wrong)
    with pytest.raises(events.exceptions.ResourceNotFoundException):
        events.list_tags_for_resource(ResourceARN=f"{arn}-none")
    with pytest.raises(events.exceptions.ClientError, match="names no rule"):
        events.list_tags_for_resource(ResourceARN="arn:aws:events:us-east-1:1:rule/tagged")
