"""docs/constructs.md says what the docstrings say."""

from __future__ import annotations

from tools.constructs_doc import DOCUMENT, PROJECT, PUBLIC, render


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


def test_every_public_thing_has_an_entry():
    text = render(PROJECT)

    assert all(f"## {name}\n" in text for name in PUBLIC)
