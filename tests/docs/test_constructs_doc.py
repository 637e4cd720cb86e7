"""docs/constructs.md says what the docstrings say."""

from __future__ import annotations

from tidemark import constructs
from tools.constructs_doc import DOCUMENT, PROJECT, public_names, render


def test_document_is_what_the_docstrings_say():
    assert DOCUMENT.read_text(encoding="utf-8") == render(PROJECT), "run `make constructs`"


def test_every_argument_of_add_job_is_explained():
    text = render(PROJECT)
    add_job = text.split("### add_job")[1].split("## PipelineSet")[0]
    signature, _, prose = add_job.partition("```\n")

    for line in signature.split("(\n")[1].splitlines():
        name = line.strip().partition(":")[0]
        if name.isidentifier():
            assert f"- `{name}`:" in prose, name


def test_every_public_name_has_an_entry():
    text = render(PROJECT)

    assert set(constructs.__all__) <= set(public_names(PROJECT))
    for name in public_names(PROJECT):
        _, found, entry = text.partition(f"## {name}\n")
        assert found, name
        prose = entry.partition("\n## ")[0].splitlines()
        assert len([line for line in prose if line.strip()]) >= 2, name  # more than its import


def test_every_member_of_an_enumeration_is_named():
    text = render(PROJECT)

    for name in ("ShellCapacity", "MissingData", "BookmarkOption", "DateUnit"):
        entry = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert all(f"`{member.name}`" in entry for member in getattr(constructs, name)), name


def test_a_name_that_is_exported_tomorrow_has_an_entry_too(tmp_path):
    for folder in ("tidemark/constructs/jobs", "tidemark/checks/graph"):
        (tmp_path / folder).mkdir(parents=True)
    source = "from tidemark.constructs.jobs.new import Later, Sooner\n"
    (tmp_path / "tidemark/constructs/__init__.py").write_text(source)
    (tmp_path / "tidemark/constructs/jobs/new.py").write_text(
        'class Later:\n    """Come later."""\n\n\nSooner: object = str | int\n"""Come now."""\n'
    )
    for path in ("checks/graph/rules.py", "constructs/security/security.py",
                 "constructs/monitoring/monitoring.py"):  # fmt: skip
        copied = tmp_path / "tidemark" / path
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes((PROJECT / "tidemark" / path).read_bytes())

    text = render(tmp_path)

    assert "## Later\n" in text
    assert "Come now.\n\n`str | int`" in text
