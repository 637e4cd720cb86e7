"""The rules, and the comments that acknowledge a finding."""

import re
from pathlib import Path

import pytest

from tidemark.checks.lint.findings import RULES
from tidemark.checks.lint.linter import lint_source

SOURCE = "gc.getSource('s3')"


def rules(text: str) -> list[str]:
    return [finding.rule for finding in lint_source(text, "job.py", None).findings]


def test_a_comment_with_a_reason_acknowledges_a_finding():
    assert rules(SOURCE) == ["ctx-missing"]
    assert rules(f"{SOURCE}  # tidemark: ignore[ctx-missing] a small lookup") == []


def test_a_comment_may_name_the_id_of_a_rule():
    assert rules(f"{SOURCE}  # tidemark: ignore[TM308, TM310] a small lookup") == []
    assert rules(f"{SOURCE}  # tidemark: ignore[TM310] a small lookup") == ["ctx-missing"]


def test_a_comment_counts_on_every_line_of_a_call():
    call = "gc.getSource(\n    's3',\n)  # tidemark: ignore[ctx-missing] a small lookup"

    assert rules(call) == []


def test_a_comment_acknowledges_only_its_rules_and_its_line():
    other = f"{SOURCE}  # tidemark: ignore[ctx-duplicate] on purpose"
    above = f"# tidemark: ignore[ctx-missing] a small lookup\n{SOURCE}"

    assert rules(other) == ["ctx-missing"]
    assert rules(above) == ["ctx-missing"]


def test_one_comment_names_several_rules():
    comment = "# tidemark: ignore[ctx-missing, ctx-duplicate]: a small lookup"

    assert rules(f"{SOURCE}  {comment}") == []


@pytest.mark.parametrize(
    ("comment", "mistake"),
    [
        ("ignore[ctx-missing]", "the comment gives no reason"),
        ("ignore[] it is fine", "the comment names no rule"),
        ("ignore it is fine", "the comment names no rule"),
        ("ignore[ctx-mising] it is fine", "there is no rule 'ctx-mising'; the rules are init-"),
    ],
)
def test_a_comment_that_does_not_count_is_an_error(comment, mistake):
    found = lint_source(f"{SOURCE}  # tidemark: {comment}", "job.py", None).findings

    assert [finding.rule for finding in found] == ["ctx-missing", "ignore-invalid"]
    assert found[1].severity == "error"
    assert found[1].text.startswith(mistake)


def test_a_text_that_looks_like_a_comment_is_none():
    assert rules("x = '# tidemark: ignore[ctx-missing]'") == []


def test_every_rule_is_in_the_document_and_no_other():
    document = Path(__file__).parents[4] / "docs" / "lint.md"

    rules_there = re.findall(
        r"^\| (TM3\d\d) \| `([a-z-]+)` \|", document.read_text(encoding="utf-8"), re.MULTILINE
    )

    assert rules_there == [(rule.id, rule.name) for rule in RULES.values()]
