"""What docs/state.md shows is what the guard does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tidemark.checks.state.plan import parse_plan

DOCUMENT = (Path(__file__).parents[2] / "docs" / "state.md").read_text(encoding="utf-8")
SNIPPET = re.compile(r"<!-- test: (?P<name>[^>]+) -->\n```\w+\n(?P<text>.*?)```", re.DOTALL)
SNIPPETS = {found["name"]: found["text"] for found in SNIPPET.finditer(DOCUMENT)}


def test_plan_of_the_document_can_be_carried_out():
    plan = parse_plan(json.loads(SNIPPETS["plan"]), "docs/state.md")

    kinds = [next(iter(entry.document)) for entry in plan]
    assert kinds == ["rename_job", "rename_ctx", "reread", "discard", "discard"]
