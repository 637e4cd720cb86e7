"""Scripts as they are written in the field: what they do right is never found."""

from pathlib import Path

import pytest

from tidemark.checks.lint.linter import lint_file

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
ENABLE = "job-bookmark-enable"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_good_script_has_no_finding(script: Path) -> None:
    found = lint_file(script, ENABLE).findings

    assert [one for one in found if one.severity != "note"] == []


# In a module, or of a source without a bookmark, a commit changes nothing.
COMMITS = [path for path in SCRIPTS if path.stem not in ("kinesis_stream", "shared_framework")]


@pytest.mark.parametrize("script", COMMITS, ids=lambda path: path.stem)
def test_a_good_script_without_its_commits_has_one_finding(script: Path, tmp_path: Path) -> None:
    text = script.read_text(encoding="utf-8")
    receivers = ("self.job", "this_job", "job")
    for receiver in receivers:
        text = text.replace(f"{receiver}.commit()", "pass")
    (tmp_path / script.name).write_text(text, encoding="utf-8")

    found = lint_file(tmp_path / script.name, ENABLE).findings
    (finding,) = [one for one in found if one.severity != "note"]

    assert (finding.rule, finding.severity) == ("commit-missing", "error")
