"""What docs/state.md shows is what the guard does."""

from __future__ import annotations

import json

from tests.pages import Page
from tidemark.checks.state.plan import parse_plan


def test_plan_of_the_document_can_be_carried_out():
    plan = parse_plan(json.loads(Page("docs/state.md").blocks["plan"]), "docs/state.md")

    kinds = [next(iter(entry.document)) for entry in plan]
    assert kinds == ["rename_job", "rename_ctx", "reread", "discard", "discard"]
