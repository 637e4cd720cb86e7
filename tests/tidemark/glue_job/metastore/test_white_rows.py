"""Rows of text files of Hive that have no value at all are rows of Spark too."""

from __future__ import annotations

import gzip

import pytest

from tests.sampled import at_night
from tidemark.glue_job.metastore.storage import LAZY_SERDE_OPTIONS
from tidemark.glue_job.metastore.table_files import WhiteRows
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings


def table(sep, **options):
    return {
        "database": "db",
        "table": "t",
        "options": {"sep": sep, "nullValue": "\\N", **LAZY_SERDE_OPTIONS, **options},
    }


@pytest.mark.parametrize("end", ["\n", "\r\n", pytest.param("\r", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("sep", ["\t", " ", *at_night("\x01")])
@pytest.mark.parametrize("name", ["a.tsv", pytest.param("a.tsv.gz", marks=pytest.mark.nightly)])
def test_spark_reads_rows_without_a_value(glue_context, tmp_path, sep, end, name):
    lines = ["1{0}x{0}y", "{0}{0}", "2{0}x{0}", "{0}{0}y", "{0}{0}"]
    text = end.join(lines).format(sep) + end
    pack = gzip.compress if name.endswith(".gz") else bytes
    (tmp_path / name).write_bytes(pack(text.encode()))
    found = table(sep)

    options = WhiteRows().options_for(found, [tmp_path / name])

    reader = glue_context.spark_session.read.options(**found["options"], **options)
    rows = reader.schema("a string, b string, c string").csv(str(tmp_path))
    assert options == {"multiLine": "true", "lineSep": end}
    assert rows.count() == len(lines)
    assert rows.filter("a IS NULL AND b IS NULL AND c IS NULL").count() == 2


@pytest.mark.parametrize(
    ("sep", "text"),
    [("\t", "1\tx\n\n \n2\tx\n"), (",", "1,x\n,\n"), ("|", "|\n"), ("\t", ""), ("ab", "ab\n")],
)
def test_other_files_are_read_by_their_lines(tmp_path, sep, text):
    (tmp_path / "a.tsv").write_text(text)

    assert WhiteRows().options_for(table(sep), [tmp_path / "a.tsv"]) == {}


def test_a_row_is_found_anywhere_and_a_file_is_looked_at_again_once_it_changed(tmp_path):
    file, rows = tmp_path / "a.tsv", WhiteRows()
    file.write_text("1\tx\n" * 600_000)
    assert rows.options_for(table("\t"), [file]) == {}

    file.write_text("1\tx\n" * 600_000 + "\t")

    assert rows.options_for(table("\t"), [file]) == {"multiLine": "true", "lineSep": "\n"}


def test_files_that_end_their_lines_in_several_ways_are_warned_of(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    (tmp_path / "a.tsv").write_bytes(b"1\tx\n")
    (tmp_path / "b.tsv").write_bytes(b"\t\r\n")

    found = WhiteRows().options_for(table("\t"), [tmp_path / "a.tsv", tmp_path / "b.tsv"])

    assert found == {}
    [text] = read_warnings(tmp_path)
    assert text.startswith("the file b.tsv of the table db.t has rows without any value")
