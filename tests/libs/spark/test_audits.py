"""What audits let through, and what they keep back: files of windows."""

from __future__ import annotations

import sys

import numpy
import pytest

from tests.sampled import at_night
from watermarks import AuditFailedError, WatermarkValueError, Window, read_committed, write_window
from watermarks.spark import files

pytestmark = pytest.mark.spark
NEGATIVE = "SELECT * FROM new_state WHERE n < 0"
RULES = 'Rules = [IsComplete "id", ColumnValues "n" >= 0]'


def window(attempt=1):
    return Window("j", f"jr_{attempt}", "c", "w-1", attempt, 1, 2)


@pytest.fixture
def write(spark, s3):
    """Return what writes rows as an attempt at a window, with audits."""

    def write(rows, audit, attempt=1, **options):
        frame = spark.createDataFrame(rows, "id INT, n INT")
        return write_window(frame, s3.uri, window(attempt), audit=audit, **options)

    return write


def names_in(s3):
    return {name.rpartition("/")[0] for name in s3.names() if "part-" in name}


def raises(_):
    raise ValueError("no reference data")


def test_rows_that_audits_let_through_are_published_as_without(spark, s3, write):
    audits = ["n >= 0", NEGATIVE, lambda rows: rows.count() == 2]

    write([(1, 1), (2, 0)], audits)

    assert names_in(s3) == {"window=w-1/attempt=0000000001"}
    rows = read_committed(spark, s3.uri, [("w-1", 1)]).select("id", "n").collect()
    assert sorted(map(tuple, rows)) == [(1, 1), (2, 0)]


@pytest.mark.parametrize(
    ("audit", "told"),
    [
        (["id > 0", "n >= 0"], "the audit 'n >= 0' does not hold: 1 rows are wrong, such as {"),
        *at_night(
            (NEGATIVE, '{"id":2,"n":-5}'),
            ("n > no_column", "it cannot be carried out (AnalysisException"),
            (lambda rows: rows.where("n < 0"), "1 rows are wrong"),
            (lambda rows: "too few rows", "does not hold: too few rows"),
            (lambda rows: False, "it returned False"),
            (lambda rows: numpy.bool_(False), "does not hold: it returned False"),
            (lambda rows: sys.exit(0), "it cannot be carried out (SystemExit: 0)"),
            (lambda rows: 7, "it returned int; allowed: None"),
            (
                raises,
                "the audit 'raises' does not hold: it cannot be carried out (ValueError: no ref",
            ),
            (
                "WITH a AS (SELECT 1) INSERT INTO t SELECT 1",
                "it cannot be carried out (ParseException",
            ),
        ),
    ],
)
def test_rows_that_break_an_audit_stay_where_no_reader_looks(spark, s3, write, audit, told):
    with pytest.raises(AuditFailedError) as failed:
        write([(1, 1), (2, -5)], audit)

    assert told in str(failed.value)
    assert "window w-1 of job 'j' was not published" in str(failed.value)
    assert names_in(s3) == {"_audit/window=w-1/attempt=0000000001"}
    assert spark.read.parquet(failed.value.place).count() == 2
    assert read_committed(spark, s3.uri, [("w-1", 1)], schema="id INT, n INT").count() == 0


@pytest.mark.nightly
def test_the_next_attempt_deletes_what_an_audit_has_kept(s3, write):
    with pytest.raises(AuditFailedError):
        write([(1, -1)], "n >= 0")

    write([(1, 1)], None, attempt=2)

    assert names_in(s3) == {"window=w-1/attempt=0000000002"}


@pytest.mark.nightly
def test_an_audit_that_writes_is_refused(spark, s3, write):
    def writes(_):
        folder = f"{s3.uri}/_audit/window=w-1/attempt=0000000001"
        spark.range(1).write.mode("append").parquet(folder)

    with pytest.raises(AuditFailedError, match="has written to what it checks"):
        write([(1, 1)], writes)


def test_what_is_no_audit_is_refused_before_anything_is_written(s3, write):
    for audit in (7, [" "], [None]):
        with pytest.raises((WatermarkValueError, TypeError)):
            write([(1, 1)], audit)

    assert names_in(s3) == set()


@pytest.mark.nightly
@pytest.mark.parametrize("file_format", ["csv", "json", "orc"])
def test_audits_read_every_format_as_readers_do(s3, write, file_format):
    write([(1, None)], "n IS NULL", file_format=file_format)

    assert len(names_in(s3)) == 1


def test_rules_of_data_quality_are_audits(glue_context, s3, write):
    with pytest.raises(AuditFailedError) as failed:
        write([(1, 1), (2, -5)], RULES)

    assert 'ColumnValues "n" >= 0' in str(failed.value)
    assert '{"id":2,"n":-5}' in str(failed.value)
    write([(1, 1)], f"# of orders\n{RULES}")
    for audit in ("Rules = []", "Analyzers = [RowCount]"):
        with pytest.raises(AuditFailedError):
            write([(1, 1)], audit)


class Died(BaseException):
    """Ends an attempt, as a kill does: nothing of the library handles it."""


@pytest.mark.parametrize("step", ["_audit", "_files_in", "_publish"])
def test_the_attempt_after_one_that_died_publishes_once(spark, s3, write, monkeypatch, step):
    def dies(*_):
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(files, step, dies)
        with pytest.raises(Died):
            write([(1, 1)], "n >= 0")
    assert names_in(s3) == {"_audit/window=w-1/attempt=0000000001"}

    write([(1, 1)], "n >= 0", attempt=2)

    assert names_in(s3) == {"window=w-1/attempt=0000000002"}
