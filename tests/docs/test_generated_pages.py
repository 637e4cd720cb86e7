"""Pages that are made from the code say what the code says."""

from __future__ import annotations

import pytest

import watermarks
from tidemark import constructs, testing
from tidemark.glue_job.readers.databases.jdbc import DRIVERS
from tidemark.glue_job.readers.files.formats import READ_OPTIONS, SAME_AS
from tidemark.glue_job.readers.files.s3_options import FILE_CONNECTIONS
from tidemark.glue_job.writers.formats import WRITE_OPTIONS
from tidemark.model.awsglue_api import connections
from tidemark.model.awsglue_api.table import Coverage, entries
from tools import advice_doc, awsglue_coverage_doc, cli_doc, constructs_doc, library_doc, local_doc
from tools.constructs_doc import PROJECT, public_names
from tools.corpus.covered import covered, runs_here

OTHERS = {"dynamodb", "custom.spark", "marketplace.spark", "mongodb", "documentdb"}


@pytest.fixture(scope="module")
def text() -> str:
    """Return what docs/reference/constructs.md should say."""
    return constructs_doc.render(PROJECT)


def test_coverage_of_awsglue_is_what_the_data_say():
    shown = awsglue_coverage_doc.DOCUMENT.read_text(encoding="utf-8")

    assert shown == awsglue_coverage_doc.render(), "run `make docs`"


def test_all_advice_is_listed_by_its_id():
    assert advice_doc.DOCUMENT.read_text(encoding="utf-8") == advice_doc.render(), "run `make docs`"


def test_the_reference_of_commands_is_what_the_commands_say():
    shown = cli_doc.render()

    assert cli_doc.DOCUMENT.read_text(encoding="utf-8") == shown, "run `make docs`"
    assert "### tidemark prove\n" in shown
    assert "#### tidemark bookmark rewind\n" in shown
    assert "`tidemark serve --port 4566 --app cdk.out`" in shown
    assert "INTEGER RANGE" not in shown


def test_the_reference_of_the_libraries_is_what_the_docstrings_say():
    shown = library_doc.render()

    assert library_doc.DOCUMENT.read_text(encoding="utf-8") == shown, "run `make docs`"
    for name in (*watermarks.__all__, *testing.__all__):
        assert f"### {name}\n" in shown
    assert "| `glue_job` |" in shown


def test_connection_types_and_formats_are_those_of_readers_and_writers():
    types = {*FILE_CONNECTIONS, *DRIVERS, *OTHERS}

    assert (set(connections.READ_TYPES), set(connections.WRITE_TYPES)) == (types, types)
    assert set(connections.READ_FORMATS) == {*READ_OPTIONS, *SAME_AS}
    assert set(connections.WRITE_FORMATS) == {*WRITE_OPTIONS, *SAME_AS}


def test_every_name_is_there_once_and_says_what_differs():
    names = [one.full_name for one in entries()]

    assert len(names) == len(set(names)) == 524
    assert [one for one in entries() if (one.state is Coverage.FULL) == bool(one.note)] == []


def test_the_share_of_the_corpus_is_computed_from_the_data():
    found = covered()

    assert found.floor <= found.estimate
    assert found.estimate >= 92
    assert runs_here("GlueContext.getSink")
    assert runs_here("read:s3/CSV")
    assert not runs_here("read:kinesis")


def test_what_runs_here_is_what_the_code_refuses():
    text = local_doc.render()

    assert local_doc.DOCUMENT.read_text(encoding="utf-8") == text, "run `make docs`"
    assert "| `--class` | only Python scripts run here |" in text
    assert "`getStreamingSource`" in text
    assert "| 6.0 | 4.1.1 | 3.13 | yes | yes |" in text


def test_the_table_of_glues_arguments_is_the_one_of_the_code():
    _, _, table = local_doc.ARGUMENTS.read_text(encoding="utf-8").partition(local_doc.TABLE)

    assert table == local_doc.argument_table(), "run `make docs`"


def test_constructs_are_what_the_docstrings_say(text):
    shown = constructs_doc.DOCUMENT.read_text(encoding="utf-8")

    assert shown == text, "run `make docs`"


def test_every_argument_of_add_job_is_explained(text):
    add_job = text.split("### add_job")[1].split("## PipelineSet")[0]
    signature, _, prose = add_job.partition("```\n")

    for line in signature.split("(\n")[1].splitlines():
        name = line.strip().partition(":")[0]
        if name.isidentifier():
            assert f"- `{name}`:" in prose, name


def test_every_public_name_has_an_entry(text):
    assert set(constructs.__all__) <= set(public_names(PROJECT))
    for name in public_names(PROJECT):
        _, found, entry = text.partition(f"## {name}\n")
        assert found, name
        prose = entry.partition("\n## ")[0].splitlines()
        assert len([line for line in prose if line.strip()]) >= 1, name


def test_every_member_of_an_enumeration_is_named(text):
    for name in ("ShellCapacity", "MissingData", "BookmarkOption", "DateUnit"):
        entry = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert all(f"`{member.name}`" in entry for member in getattr(constructs, name)), name


def test_a_name_that_is_exported_tomorrow_has_an_entry_too(tmp_path):
    (tmp_path / "tidemark/constructs/jobs").mkdir(parents=True)
    source = "from tidemark.constructs.jobs.new import Later, Sooner\n"
    (tmp_path / "tidemark/constructs/__init__.py").write_text(source)
    (tmp_path / "tidemark/constructs/jobs/new.py").write_text(
        'class Later:\n    """Come later."""\n\n\nSooner: object = str | int\n"""Come now."""\n'
    )
    for path in ("constructs/security/security.py", "constructs/monitoring/monitoring.py"):
        copied = tmp_path / "tidemark" / path
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes((PROJECT / "tidemark" / path).read_bytes())

    text = constructs_doc.render(tmp_path)

    assert "## Later\n" in text
    assert "Come now.\n\n`str | int`" in text
