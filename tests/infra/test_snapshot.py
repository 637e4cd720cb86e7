"""The templates of the dev stage as they are meant to be, logical ids included.

A change of a template shows here. When it is meant: `pytest tests/infra --snapshot-update`, and
read the difference before you commit it. A logical id that changes replaces its resource.
"""

import json
import re

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

pytestmark = pytest.mark.synth


def with_resources_sorted(node):
    """Undo that the CDK orders the resources of a statement by the hashes in them."""
    if isinstance(node.get("Resource"), list):
        node["Resource"].sort(key=json.dumps)
    return node


def test_the_template_is_the_one_that_was_reviewed(synth, snapshot, subtests):
    assembly = synth(stage="dev")

    for stack in assembly.stacks():
        text = assembly.text(stack)
        for digest, asset in assembly.assets(stack).items():
            text = text.replace(digest, f"<asset {asset['displayName']}>")
        template = json.loads(text, object_hook=with_resources_sorted)
        del template["Parameters"], template["Rules"]  # the CDK's own check of its bootstrap stack
        name = stack.removeprefix("tidemark-dev-")
        reviewed = snapshot(name=name, extension_class=JSONSnapshotExtension)

        with subtests.test(stack):
            assert re.findall(r"\b[0-9a-f]{64}\b", text) == []
            assert template == reviewed
