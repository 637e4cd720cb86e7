"""The templates of the dev stage as they are meant to be, logical ids included.

A change of a template shows here. When it is meant: `tidemark snapshot -c stage=dev`, and read the
difference before you commit it. A logical id that changes replaces its resource.
"""

import pytest

from tests.fixtures.synthesis import ROOT
from tidemark.checks.snapshot import FOLDER, UNKNOWN, read, snapshots
from tidemark.model.assembly.cloud_assembly import read_assembly

pytestmark = pytest.mark.synth


def test_the_templates_are_those_that_were_reviewed(synth):
    found = snapshots(read_assembly(synth(stage="dev").folder))
    reviewed = read(ROOT / FOLDER, found)

    assert found.keys() == reviewed.keys()
    for name, text in found.items():
        assert UNKNOWN not in text, name
        assert text == reviewed[name], f"{name}: `tidemark snapshot -c stage=dev` if it is meant"
