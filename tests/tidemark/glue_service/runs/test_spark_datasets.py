"""Which datasets Spark's event log says were written and scanned."""

from __future__ import annotations

import pytest

from tidemark.glue_service.runs.row_counts import read_row_counts
from tidemark.glue_service.runs.spark_datasets import Scan, SparkDatasets
from tidemark.model.checkpoints.checkpoint import DatasetWritten

BY_DAY = "[__partition_columns=[day], path=s3://b/o/]"
BEGIN = "Execute InsertIntoHadoopFsRelationCommand"


def events(described, name=BEGIN, text="", error="", **conf):
    metrics = [("number of written files", 1), ("number of output rows", 2)]
    plan = {
        "nodeName": name,
        "simpleString": described,
        "metrics": [{"name": name, "accumulatorId": key} for name, key in metrics],
        "children": [],
    }
    begin = "org.apache.spark.sql.execution.ui."
    return [
        {
            "Event": f"{begin}SparkListenerSQLExecutionStart",
            "executionId": 4,
            "sparkPlanInfo": plan,
            "physicalPlanDescription": text,
            "modifiedConfigs": conf,
        },
        {
            "Event": f"{begin}SparkListenerDriverAccumUpdates",
            "executionId": 4,
            "accumUpdates": [[1, 3], [2, 40]],
        },
        {
            "Event": f"{begin}SparkListenerSQLExecutionEnd",
            "executionId": 4,
            "errorMessage": error,
        },
    ]


def writes_of(seen):
    datasets = SparkDatasets()
    for event in seen:
        datasets.see(event)
    return datasets.writes()


@pytest.mark.parametrize(
    ("described", "written"),
    [
        (f"{BEGIN} s3a://b/o, false, Parquet, [path=s3a://b/o], Append, [id]", ("b/o", "append")),
        (
            f"{BEGIN} s3://b/o, x é, false, JSON, [path=s3://b/o], Overwrite, [Append, id]",
            ("b/o, x é", "overwrite"),
        ),
        (f"{BEGIN} s3://b/o, false, CSV, [p=s3://b/o], ErrorIfExists, [id]", ("b/o", "unknown")),
        (
            f"{BEGIN} s3://b/w/window=2026-a/attempt=0000000001, false, Parquet, [], Overwrite, []",
            ("b/w", "window"),
        ),
        (
            f"{BEGIN} s3://b/o, false, [day#1], Parquet, {BY_DAY}, Overwrite, [id, day]",
            ("b/o", "overwrite"),
        ),
        (
            f"{BEGIN} s3://b/o, false, [day#1], Parquet, [partitionOverwriteMode=dynamic, "
            "path=s3://b/o/], Overwrite, [id, day]",
            ("b/o", "overwrite_partitions"),
        ),
        (
            f"{BEGIN} s3://b/o, [day=1], false, [day#1], Parquet, {BY_DAY}, Overwrite, "
            "`spark_catalog`.`d`.`t`, org.apache.CatalogFileIndex(s3://b/o), [id, day]",
            ("b/o", "overwrite_partitions", "d.t"),
        ),
    ],
)
def test_a_write_of_files_has_its_folder_and_its_mode(described, written):
    path, mode, *table = written

    assert writes_of(events(described)) == (
        DatasetWritten(f"s3://{path}/", mode, "".join(table), 40, 3),
    )


def test_the_session_may_say_that_only_partitions_are_replaced():
    described = f"{BEGIN} s3://b/o, false, [day#1], Parquet, {BY_DAY}, Overwrite, [id, day]"
    flat = f"{BEGIN} s3://b/o, false, Parquet, [path=s3://b/o/], Overwrite, [id, day]"
    conf = {"spark.sql.sources.partitionOverwriteMode": "DYNAMIC"}

    assert writes_of(events(described, **conf))[0].mode == "overwrite_partitions"
    assert writes_of(events(flat, **conf))[0].mode == "overwrite"


def test_a_write_that_failed_or_never_ended_is_none():
    described = f"{BEGIN} s3://b/o, false, Parquet, [path=s3://b/o], Append, [id]"

    assert writes_of(events(described, error="no")) == ()
    assert writes_of(events(described)[:2]) == ()


def test_a_write_to_a_table_of_iceberg_has_the_name_of_the_table():
    described = "AppendData org.Lambda$1, IcebergWrite(table=lake.d.t, format=PARQUET)"

    assert writes_of(events(described, "AppendData")) == (
        DatasetWritten("table:d.t", "append", "d.t", 0, 3),
    )


def test_a_merge_has_the_name_of_its_table_in_the_description_and_no_rows():
    text = "(9) ReplaceData\nArguments: IcebergWrite(table=lake.d.t, format=PARQUET)"

    (found,) = writes_of(events("ReplaceData", "ReplaceData", text))

    assert (found.dataset, found.mode) == ("table:d.t", "merge")


def test_a_merge_on_read_is_of_the_table_whose_positions_it_scans():
    seen = events("WriteDelta", "WriteDelta", "Arguments: SparkPositionDeltaWrite@6754fdec")
    seen[0]["sparkPlanInfo"]["children"] = [
        {"nodeName": f"BatchScan {scan}", "simpleString": columns, "metrics": [], "children": []}
        for scan, columns in (("lake.d.s", "[id#6]"), ("lake.d.t", "[id#7, _file#8, _pos#9L]"))
    ]

    (found,) = writes_of(seen)

    assert (found.dataset, found.table, found.mode) == ("table:d.t", "d.t", "merge")


@pytest.mark.parametrize(
    ("name", "dataset"),
    [
        ("lake.d.t", "table:d.t"),
        ("lake.d.files", "table:d.files"),
        ("lake.d.t.changes", "table:d.t"),
        ("lake.d.t.snapshots", None),
        ("lake.d.t.all_data_files", None),
        ("s3://b/metadata.json#all_manifests", None),
    ],
)
def test_what_iceberg_keeps_about_a_table_is_not_a_dataset(name, dataset):
    begin, *_ = events("")
    metric = {"name": "number of output rows", "accumulatorId": 7}
    node = {"nodeName": f"BatchScan {name}", "simpleString": "", "children": []}
    seen = SparkDatasets()
    seen.see({**begin, "sparkPlanInfo": {**node, "metrics": [metric]}})

    assert [one.dataset for one in seen.scans({7: 3})] == [one for one in [dataset] if one]


def test_a_setting_of_the_job_may_say_that_only_partitions_are_replaced():
    described = f"{BEGIN} s3://b/o, false, [day#1], Parquet, {BY_DAY}, Overwrite, [id, day]"
    settings = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
    begin = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings}

    assert writes_of([begin, *events(described)])[0].mode == "overwrite_partitions"


def test_an_adaptive_plan_may_count_a_write_by_other_metrics():
    described = f"{BEGIN} s3://b/o, false, Parquet, [path=s3://b/o], Append, [id]"
    begin, _, end = events(described)
    metric = {"name": "number of output rows", "accumulatorId": 7}
    plan = {**begin["sparkPlanInfo"], "metrics": [metric]}
    update = {
        "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate",
        "executionId": 4,
        "sparkPlanInfo": plan,
    }
    counted = {
        "Event": "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates",
        "executionId": 4,
        "accumUpdates": [[7, 40]],
    }

    assert writes_of([begin, update, counted, end]) == (
        DatasetWritten("s3://b/o/", "append", rows=40),
    )


def test_a_table_that_is_made_from_a_query_is_not_made_again():
    made, append = (
        events("AtomicCreateTableAsSelect c, d.t", "AtomicCreateTableAsSelect"),
        events("AppendData x, IcebergWrite(table=d.t, format=PARQUET)", "AppendData"),
    )
    inner = [{**event, "executionId": 5, "rootExecutionId": 4} for event in append]

    assert [(one.dataset, one.mode) for one in writes_of([*made, *inner])] == [
        ("table:d.t", "unknown")
    ]


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_tells_of_what_scripts_write_and_scan(spark, s3, logged, tmp_path):
    s3.put("in/a.json", '{"id": 1, "day": "x"}\n{"id": 2, "day": "y"}\n')
    s3.put("other/a.json", '{"id": 1, "day": "x"}\n')
    folders = [f"{s3.uri}{'long' * 20}{number}/" for number in range(5)]
    for folder in folders:
        s3.put(f"{folder.removeprefix(s3.uri)}a.json", '{"id": 1, "day": "x"}\n')
    address = "jdbc:derby:memory:written;create=true"
    options = {"url": address, "driver": "org.apache.derby.jdbc.EmbeddedDriver"}

    def act():
        frame = spark.read.json(f"{s3.uri}in/")
        frame.write.mode("append").csv(f"{s3.uri}out")
        frame.count()
        spark.read.json([f"{s3.uri}in/", f"{s3.uri}other/", *folders]).collect()
        by_day = frame.write.mode("overwrite").partitionBy("day")
        by_day.option("partitionOverwriteMode", "dynamic").parquet(f"{s3.uri}days")
        frame.write.format("jdbc").options(dbtable="t", **options).mode("append").save()
        for what in ({"dbtable": "t"}, {"query": "select * from t"}):
            spark.read.format("jdbc").options(**options, **what).load().collect()

    (tmp_path / "log").write_text(logged(act), encoding="utf-8")
    counts = read_row_counts(tmp_path)

    assert counts.scans == (
        Scan(f"{s3.uri}in/", "", 10, 8, (f"{s3.uri}other/", folders[0], "s3:#more")),
        Scan("jdbc:#t", "", 2, None),
        Scan("jdbc:#query", "", 2, None),
    )
    files, days, table = counts.writes
    assert files.dataset == f"{s3.uri}out/"
    assert (files.mode, files.rows) == ("append", 2)
    assert days == DatasetWritten(f"{s3.uri}days/", "overwrite_partitions", "", 2, 2)
    assert (table.mode, table.rows, table.dataset[-2:]) == ("append", 2, "#t")


@pytest.mark.spark
def test_folders_of_windows_are_told_from_the_folder_around_them(spark, s3, logged, tmp_path):
    names = [f"day=1/{'long' * 20}/window=w{number}/attempt=0000000001/" for number in range(3)]
    for name in names:
        s3.put(f"{name}part=1/a.json", '{"id": 1}\n')
    around = names[0].partition("window=")[0]

    def scans(*paths):
        read = spark.read.schema("id INT").option("basePath", f"{s3.uri}{around}")
        log = logged(lambda: read.json([f"{s3.uri}{path}" for path in paths]).collect())
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        (folder / "log").write_text(log, encoding="utf-8")
        return read_row_counts(folder).scans

    windows = Scan(f"{s3.uri}{around}", "", 3, 3, ("s3:#more",), is_of_windows=True)
    assert scans(*names) == (windows,)
    (whole,) = scans(around)
    assert not whole.is_of_windows
