"""A scaffolded job that dies after its write and is repeated doubles no row, and loses none."""

from __future__ import annotations

import pytest

from tidemark.scaffold.new_job import NewJob, script_of

pytestmark = pytest.mark.spark

COMMIT = "    job.commit()\n"
WINDOW = '        write_window(rows, args["target_path"], window)\n'
KILL = "__import__('os').kill(__import__('os').getpid(), 9)"
ROW = {"status": "open", "updated_at": "2013-01-01T10:00:00Z"}
RAW, CURATED, MART = "raw/orders/", "curated/orders/", "mart/orders/"
DATABASE = {
    "jdbc_url": "jdbc:derby:memory:killed-orders;create=true",
    "jdbc_driver": "org.apache.derby.jdbc.EmbeddedDriver",
    "jdbc_table": (
        "(VALUES (1, TIMESTAMP('2013-01-01 10:00:00')), (2, TIMESTAMP('2013-01-02 10:00:00')))"
        " AS orders(id, updated_at)"
    ),
    "backfill_from": "none",
    "backfill_to": "none",
}


@pytest.fixture
def dies_and_is_repeated(tmp_path, glue_job):
    """Return a function that runs a job of a kind with a line that ends it, and then without."""

    def run(kind, after, death, **arguments):
        text = script_of(NewJob("orders", kind, "shop"))
        assert text.count(after) == 1
        indent = after[: len(after) - len(after.lstrip())]
        dying = f"{indent}{death}\n"
        for folder, content in {
            "dying": text.replace(after, dying + after if after is COMMIT else after + dying),
            "right": text,
        }.items():
            script = tmp_path / folder / "orders.py"
            script.parent.mkdir()
            script.write_text(content, encoding="utf-8")
        options = {"bookmark": "disable" if kind == "watermark-jdbc" else "enable"}
        assert glue_job(tmp_path / "dying/orders.py", **options, **arguments).state == "FAILED"
        glue_job(tmp_path / "right/orders.py", **options, **arguments).check()

    return run


def test_a_bookmark_job_replaces_the_folders_of_the_files_that_it_reads_again(
    lake, dies_and_is_repeated
):
    lake.put("landing/orders/1.json", [ROW | {"id": 1}, ROW | {"id": 2}])
    lake.put("landing/orders/deep/1.json", [ROW | {"id": 3}])
    paths = {"source_path": "s3://landing/orders/", "target_path": f"s3://{RAW}"}

    dies_and_is_repeated("bookmark-files", COMMIT, "raise SystemExit('died')", **paths)

    assert sorted(row["id"] for row in lake.rows(RAW)) == [1, 2, 3]


@pytest.mark.nightly
@pytest.mark.glue(isolated=True)
@pytest.mark.parametrize("kind", ["bookmark-files", "merge", "publish"])
def test_a_job_that_sigkill_ends_before_its_commit_writes_each_row_once(
    lake, dies_and_is_repeated, kind
):
    source, target = {
        "bookmark-files": ("landing/orders/", RAW),
        "merge": (RAW, CURATED),
        "publish": (RAW, MART),
    }[kind]
    lake.put(
        f"{source}1{'.json' if target is RAW else '.parquet'}", [ROW | {"id": 1}, ROW | {"id": 2}]
    )
    paths = {"source_path": f"s3://{source}", "target_path": f"s3://{target}"}

    dies_and_is_repeated(kind, COMMIT, KILL, **paths)

    written = lake.rows(target)
    counts = [row["row_count"] for row in written if "row_count" in row]
    assert counts == [2] if kind == "publish" else sorted(row["id"] for row in written) == [1, 2]


@pytest.mark.nightly
@pytest.mark.glue(isolated=True)
@pytest.mark.parametrize("after", [WINDOW, COMMIT], ids=["in its window", "after its window"])
def test_a_watermark_job_that_sigkill_ends_writes_each_row_once(
    lake, watermarks, dies_and_is_repeated, after
):
    arguments = {"target_path": f"s3://{RAW}", "watermark_table": watermarks, **DATABASE}

    dies_and_is_repeated("watermark-jdbc", after, KILL, **arguments)

    assert sorted(row["id"] for row in lake.rows(RAW)) == [1, 2]
