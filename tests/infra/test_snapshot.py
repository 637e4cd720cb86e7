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


@pytest.mark.parametrize("stack", ["storage", "flights"])
def test_the_template_is_the_one_that_was_reviewed(synth, snapshot, stack):
    assembly = synth(stage="dev")
    name = f"tidemark-dev-{stack}"

    text = assembly.text(name)
    for digest, asset in assembly.assets(name).items():
        text = text.replace(digest, f"<asset {asset['displayName']}>")
    template = json.loads(text, object_hook=with_resources_sorted)
    del template["Parameters"], template["Rules"]  # the CDK's own check of its bootstrap stack

    assert re.findall(r"\b[0-9a-f]{64}\b", text) == []
    assert template == snapshot.use_extension(JSONSnapshotExtension)
