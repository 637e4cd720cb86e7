"""How the rows of two targets are compared."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.sampled import at_night
from tidemark.operate.versions.row_job import compared as compared_rows
from tidemark.operate.versions.targets import changed_targets, files_of

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("own_settings")]
NOW = datetime.now(UTC)


@pytest.fixture
def compare(spark, tmp_path):
    """Return what compares two lakes, each written by a function that gets its folder."""

    def compared(*writers):
        lakes = [tmp_path / name / "lake" for name in ("old", "new and last")]
        for write, lake in zip(writers, lakes, strict=True):
            (lake / "b").mkdir(parents=True)
            write(lake / "b")
        after = [files_of(lake, with_hidden=True) for lake in lakes]
        targets = changed_targets({}, *after)
        times = [[at.timestamp(), at.timestamp() + 5] for at in (NOW, NOW)]
        pairs = [
            {
                "format": target.format,
                "old": target.within(lakes[0], after[0]),
                "new": target.within(lakes[1], after[1]),
                "times": times,
            }
            for target in targets
        ]
        answers = [compared_rows(spark, pair) for pair in pairs]
        return {
            (target.folder, target.format): answer
            for target, answer in zip(targets, answers, strict=True)
        }

    return compared


@pytest.fixture
def of_sql(spark, compare):
    """Return what compares the rows of two queries, written in a format."""

    def compared(old, new, kind="parquet"):
        def writes(query):
            frame = spark.sql(query).coalesce(1)
            return lambda folder: frame.write.format(kind).save(str(folder / "t"))

        (answer,) = compare(writes(old), writes(new)).values()
        return answer

    return compared


def is_equal(answer):
    has_same_rows = answer["rows"][0] == answer["rows"][1]
    found = [answer.get(name) for name in ("problem", "schema", "columns", "only_old", "only_new")]
    return has_same_rows and not any(found)


@pytest.mark.nightly
def test_names_that_look_like_patterns_are_read_once(compare):
    def write(folder):
        (folder / "t").mkdir()
        for number, name in enumerate(("a[1]", "a1", "b{c", "d?", "plain")):
            (folder / "t" / f"{name}.json").write_text(json.dumps({"id": number}))
        (folder / "t" / "rest.txt").write_text("x")  # so that the folder is not read as a whole

    answers = compare(write, write)

    assert answers["b/t", "json"]["rows"] == [5, 5]


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("SELECT CAST(NULL AS INT) AS a", "SELECT CAST(NULL AS INT) AS a", "json"),
        (
            "SELECT array(struct(map('a', map(1, 2, 3, 4)) AS m, 1 AS n)) AS s",
            "SELECT array(struct(map('a', map(3, 4, 1, 2)) AS m, 1 AS n)) AS s",
            "parquet",
        ),
        *at_night(
            ("SELECT 1 AS a WHERE false", "SELECT 1 AS a WHERE false", "json"),
            ("SELECT map('a', 1, 'b', 2) AS m", "SELECT map('b', 2, 'a', 1) AS m", "parquet"),
        ),
    ],
)
def test_the_same_is_equal(of_sql, old, new, kind):
    assert is_equal(of_sql(old, new, kind))


HIDDEN_FILES = {
    "_manifest.json": (f'{{\n"rows": {number}, "at": "{NOW.isoformat()}"\n}}' for number in (1, 2)),
    ".offsets.csv": ("a,1\n", "a,2\n"),
    "day=1/_rows.txt": ("1\n", "2\n"),
    "_kept/part.json": ('{"a": 1}\n', '{"a": 2}\n'),
    "_state.bin": ("1", "2"),
}


@pytest.mark.nightly
def test_files_that_spark_hides_are_compared_but_for_those_of_its_committers(compare):
    texts = {name: tuple(two) for name, two in HIDDEN_FILES.items()}

    def writes(number, job):
        def write(folder):
            for name, two in texts.items():
                for below, text in (("same", two[0]), ("other", two[number])):
                    file = folder / below / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text, encoding="utf-8")
            (folder / f"_started_{job}").write_text(job)
            (folder / "same" / "_SUCCESS").write_text(job)
            (folder / "same" / f".part-{job}.json.crc").write_text(job)

        return write

    answers = compare(writes(0, "one"), writes(1, "two"))

    of_places = {
        (folder, kind, bool(is_equal(answer))) for (folder, kind), answer in answers.items()
    }
    assert of_places == {
        (f"b/{below}{folder}", kind, below == "same")
        for below in ("same", "other")
        for folder, kind in (("", "json"), ("", "lines"), ("", "bytes"), ("/_kept", "json"))
    }


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("SELECT '1' AS a", "SELECT 1 AS a", "json"),
        (
            "SELECT map('a', CAST(NULL AS INT)) AS m",
            "SELECT map('b', CAST(NULL AS INT)) AS m",
            "orc",
        ),
        (
            "SELECT array(timestamp'2024-01-01 00:00:00.000001') AS a",
            "SELECT array(timestamp'2024-01-01 00:00:00.000002') AS a",
            "parquet",
        ),
        *at_night(
            ("SELECT 1 AS a", "SELECT 1 AS b", "parquet"),
            ("SELECT 'true' AS a", "SELECT true AS a", "json"),
            (
                "SELECT struct(map('a', 1)) AS s",
                "SELECT CAST(NULL AS STRUCT<col1: MAP<STRING, INT>>) AS s",
                "parquet",
            ),
        ),
    ],
)
def test_what_differs_is_told(of_sql, old, new, kind):
    assert not is_equal(of_sql(old, new, kind))


def test_rows_are_shown_with_all_digits(of_sql):
    answer = of_sql(
        "SELECT timestamp'2024-01-01 00:00:00.000001' AS a",
        "SELECT timestamp'2024-01-01 00:00:00.000002' AS a",
    )

    assert answer["only_old"] != answer["only_new"]


@pytest.mark.parametrize(("elements", "by_order"), [("3, 1", ["a"]), ("3, 2", [])])
def test_arrays_in_another_order_are_named(of_sql, elements, by_order):
    answer = of_sql("SELECT array(1, 3) AS a", f"SELECT array({elements}) AS a")

    assert (answer["columns"], answer["by_order"]) == (["a"], by_order)


def test_names_that_differ_by_case_are_two_columns(spark, of_sql):
    spark.conf.set("spark.sql.caseSensitive", "true")

    assert is_equal(of_sql("SELECT 1 AS a, 2 AS A", "SELECT 1 AS a, 2 AS A"))


@pytest.mark.parametrize(
    "kind", ["parquet", *(pytest.param(it, marks=pytest.mark.nightly) for it in ("json", "csv"))]
)
def test_times_of_the_run_are_left_out_beside_older_ones(of_sql, kind):
    def rows(seconds):
        at = NOW + timedelta(seconds=seconds)
        return (
            f"SELECT 1 AS n, timestamp'{at:%Y-%m-%d %H:%M:%S.%f}' AS at"
            f" UNION ALL SELECT 2, timestamp'2024-01-01 00:00:00'"
        )

    answer = of_sql(rows(1), rows(2), kind)

    assert is_equal(answer)
    assert answer["by_time"] == ["line" if kind == "csv" else "at"]


def test_times_before_the_run_are_compared(of_sql):
    answer = of_sql(
        "SELECT timestamp'2024-01-01 00:00:00' AS at", "SELECT timestamp'2024-01-02 00:00:00' AS at"
    )

    assert (answer["columns"], answer["by_time"]) == (["at"], [])


@pytest.mark.nightly
def test_times_of_the_run_in_more_rows_are_not_named(of_sql):
    one = f"SELECT 1 AS n, timestamp'{NOW:%Y-%m-%d %H:%M:%S}' AS at"

    answer = of_sql(one, f"{one} UNION ALL {one}")

    assert (answer["rows"], answer["columns"], answer["by_time"]) == ([1, 2], ["n"], ["at"])


@pytest.mark.nightly
def test_files_of_several_formats_in_one_folder_are_compared_apart(spark, compare):
    def write(folder):
        spark.sql("SELECT 1 AS a, 'x' AS day").write.partitionBy("day").parquet(f"{folder}/t")
        (folder / "t" / "summary.json").write_text('{"rows": 1}\n')
        (folder / "t" / "report 100%[1].csv").write_text("a,b\n")
        (folder / "t" / "x.bin").write_bytes(b"\0")

    found = compare(write, write)

    assert {kind: answer["rows"] for (_, kind), answer in found.items()} == {
        "parquet": [1, 1],
        "json": [1, 1],
        "lines": [1, 1],
        "bytes": [1, 1],
    }
    assert all(map(is_equal, found.values()))


@pytest.mark.parametrize("n", [8, pytest.param(9, marks=pytest.mark.nightly)])
def test_what_is_no_table_is_compared_by_its_lines_or_bytes(compare, n):
    def writes(n):
        def write(folder):
            (folder / "summary.json").write_text(json.dumps([{"n": n}, "x"], indent=2))
            (folder / "broken.parquet").write_bytes(bytes(n))

        return write

    found = compare(writes(8), writes(n))

    assert len(found) == 2
    assert {is_equal(answer) for answer in found.values()} == {n == 8}
    assert bool(found["b", "parquet"].get("problem")) == (n != 8)
