"""Row counts from Spark's event log."""

from __future__ import annotations

import json

from tidemark.glue_service.runs.row_counts import RowCounts, count_rows, read_row_counts


def plan(node, accumulator, *children, metric="number of output rows"):
    metrics = [{"name": metric, "accumulatorId": accumulator, "metricType": "sum"}]
    return {"nodeName": node, "metrics": metrics, "children": list(children)}


def started(info):
    return {"Event": "org.apache.spark.sql.SparkListenerSQLExecutionStart", "sparkPlanInfo": info}


def task(written=0, **updates):
    accumulables = [
        {"ID": int(key[1:]), "Update": value, "Metadata": "sql"} for key, value in updates.items()
    ]
    return {
        "Event": "SparkListenerTaskEnd",
        "Task Info": {"Accumulables": accumulables},
        "Task Metrics": {"Output Metrics": {"Records Written": written}},
    }


def test_rows_of_scans_and_of_writers_are_summed_over_tasks():
    events = [
        started(plan("Project", 1, plan("Scan csv ", 2), plan("BatchScan jdbc", 3))),
        task(_1=50, _2="5", _3=10),
        task(_2="7", written=4),
        task(written=5),
    ]

    assert count_rows(events) == RowCounts(rows_read=22, rows_written=9)


def test_other_metrics_of_a_scan_are_no_rows():
    events = [started(plan("Scan csv ", 2, metric="size of files read")), task(_2=1000)]

    assert count_rows(events) == RowCounts(0, 0)


def test_scan_that_appears_in_a_later_adaptive_plan_is_counted_once():
    scan = plan("Scan json ", 2)
    update = {"Event": "SparkListenerSQLAdaptiveExecutionUpdate", "sparkPlanInfo": scan}

    assert count_rows([started(scan), task(_2=3), update]) == RowCounts(3, 0)


def test_task_without_metrics_or_updates_counts_nothing():
    failed = {
        "Event": "SparkListenerTaskEnd",
        "Task Info": {"Accumulables": [{"ID": 2, "Metadata": "sql"}, {"ID": 2, "Update": 3}]},
        "Task Metrics": None,
    }

    events = [{"Event": "SparkListenerApplicationStart"}, started(plan("Scan csv ", 2)), failed]
    assert count_rows(events) == RowCounts(0, 0)


def test_log_of_a_killed_application_counts_up_to_its_truncated_last_line(tmp_path):
    lines = [json.dumps(event) for event in (started(plan("Scan ü ", 2)), task(_2=3), task(_2=4))]
    (tmp_path / "app-1").write_text("\n".join(lines)[:-20], encoding="utf-8")

    assert read_row_counts(tmp_path) == RowCounts(3, 0)


def test_log_cut_within_a_character_counts_up_to_there(tmp_path):
    whole = json.dumps(task(written=2)) + "\n" + json.dumps({"Event": "ü"}, ensure_ascii=False)
    (tmp_path / "app-1").write_bytes(whole.encode()[: whole.encode().index(b"\xc3") + 1])

    assert read_row_counts(tmp_path) == RowCounts(0, 2)


def test_applications_of_one_run_are_added(tmp_path):
    (tmp_path / "app-1").write_text(json.dumps(task(written=2)), encoding="utf-8")
    (tmp_path / "app-2.inprogress").write_text(json.dumps(task(written=3)), encoding="utf-8")

    assert read_row_counts(tmp_path) == RowCounts(0, 5)


def test_without_a_log_there_are_no_counts(tmp_path):
    assert read_row_counts(tmp_path) is None
    assert read_row_counts(tmp_path / "missing") is None


def test_a_plan_that_is_too_deep_to_be_read_is_not_counted_and_stops_no_other(tmp_path):
    scan = json.dumps(started(plan("Scan csv ", 2)))
    step = '{"nodeName": "Project", "metrics": [], "children": ['
    deep = f'{{"Event": "Start", "sparkPlanInfo": {step * 5000}{"]}" * 5000}}}'
    (tmp_path / "app").write_text(f"{scan}\n{deep}\n{json.dumps(task(_2=7))}\n", encoding="utf-8")

    counts = read_row_counts(tmp_path)

    assert (counts.rows_read, counts.is_whole) == (7, False)
