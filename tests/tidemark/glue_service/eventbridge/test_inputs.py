"""What targets of rules are told."""

from __future__ import annotations

import json

import pytest

from tidemark.errors import UsageError
from tidemark.glue_service.eventbridge.bus import message_of

EVENT = {
    "detail-type": "Closed",
    "resources": ["a", "b"],
    "detail": {"state": 'FAILED "x"\n', "n": 2, "list": [1]},
}


def transformed(template, **paths):
    transformer = {"InputPathsMap": paths, "InputTemplate": template}
    return message_of({"InputTransformer": transformer}, EVENT, "closed")


def test_a_target_gets_the_event_a_part_of_it_or_a_text():
    assert json.loads(message_of({}, EVENT, "r")) == EVENT
    assert message_of({"InputPath": "$.detail.list"}, EVENT, "r") == "[1]"
    assert message_of({"Input": '{"a": 1}'}, EVENT, "r") == '{"a": 1}'


@pytest.mark.rule(
    "The API on a port", source="SILENT", choice="strings keep the template valid JSON"
)
@pytest.mark.parametrize(
    ("template", "told"),
    [
        ('"It is <state>: <n>"', '"It is FAILED \\"x\\"\\n: 2"'),
        ('{"s": <state>, "l": <list>}', '{"s": "FAILED \\"x\\"\\n", "l": [1]}'),
        ('"<none>|<other>|\\" <n>"', '"||\\" 2"'),
        ("<aws.events.rule-name> <n>", '"closed" 2'),
        ('{"type": "<type>", "second": <second>}', '{"type": "Closed", "second": "b"}'),
    ],
)
def test_a_template_is_filled_with_values_of_the_event(template, told):
    paths = {
        "state": "$.detail.state",
        "n": "$.detail.n",
        "list": "$.detail.list",
        "none": "$.detail.x.y",
        "type": "$.detail-type",
        "second": "$.resources[1]",
    }

    assert transformed(template, **paths) == told


@pytest.mark.parametrize("path", ["detail.state", "$.a[*]", "$..state", "$.a."])
def test_a_path_that_is_not_known_is_refused(path):
    with pytest.raises(UsageError, match=r"allowed: such as \$\.detail"):
        transformed("<x>", x=path)
