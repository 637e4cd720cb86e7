"""docs/local.md says what the tables of the code say."""

from __future__ import annotations

from tools.local_doc import ARGUMENTS, DOCUMENT, TABLE, argument_table, render


def test_document_is_what_the_code_refuses():
    assert DOCUMENT.read_text(encoding="utf-8") == render(), "run `make local`"


def test_table_of_glues_arguments_is_the_one_of_the_code():
    _, _, table = ARGUMENTS.read_text(encoding="utf-8").partition(TABLE)

    assert table == argument_table(), "run `make local`"


def test_what_is_refused_is_named():
    text = render()

    assert "| `--class` | only Python scripts run here |" in text
    assert "`getStreamingSource`" in text
    assert "| 6.0 | 4.1.1 | 3.13 | yes | no |" in text
