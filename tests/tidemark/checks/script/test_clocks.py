"""The lines of a script that read the clock."""

import pytest

from tidemark.checks.script.clocks import clock_lines, clocks_of


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("day = datetime.now(UTC)", True),
        ("day = datetime.datetime.utcnow()", True),
        ("day = date.today()", True),
        ("day = dt.date.today()", True),
        ("day = pd.Timestamp.today()", True),
        ("day = time.strftime('%Y-%m-%d')", True),
        ("day = time.strftime('%Y-%m-%d', began)", False),
        ("day = time.gmtime()", True),
        ("day = time.gmtime(at)", False),
        ("day = began.strftime('%Y-%m-%d')", False),
        ("rows = rows.where(F.col('day') == F.current_date())", True),
        ("rows = rows.where(current_date() > '2026-01-01')", True),
        ("rows = rows.withColumn('at', F.current_timestamp())", False),
        ("rows = rows.withColumn('day', F.to_date(F.current_timestamp()))", True),
        ("rows = rows.withColumn('h', date_format(current_timestamp(), 'yyyyMMddHH'))", True),
        ("rows = rows.withColumn('day', F.to_date(F.col('at')))", False),
        ("began = time.time()", False),
        ("day = datetime.fromisoformat(args['day'])", False),
        ("def (", False),
    ],
)
def test_a_line_that_reads_the_day_is_found(line: str, reads: bool) -> None:
    assert clock_lines(f"import this\n{line}\n") == ([2] if reads else [])


def test_lines_are_named_with_their_scripts(tmp_path) -> None:
    script = tmp_path / "job.py"
    script.write_text("x = 1\nday = date.today()\n", encoding="utf-8")

    assert list(clocks_of({"job.py": script})) == ["job.py line 2"]
