"""Alarms."""

import json

import pytest

from tests.tidemark.constructs.monitoring.watched import STAGE, alarms
from tidemark.constructs.monitoring.dashboard import DashboardContent, dashboard_body

pytestmark = pytest.mark.synth


def about(assembly, text):
    return [alarm for alarm in alarms(assembly) if text in alarm["AlarmDescription"]]


def metric(alarm, number=0):
    return alarm["Metrics"][number]["MetricStat"]


def jobs_with(assembly, argument, value=None):
    """Return the names of the jobs that get an argument, or that get it with a value."""
    return sorted(
        name
        for name, job in assembly.jobs().items()
        if argument in job["DefaultArguments"]
        and value in (None, job["DefaultArguments"][argument])
    )


def waited_for(assembly):
    """Return the names of the jobs that a trigger waits for."""
    names = {
        id_.split("/")[1]: job["Properties"]["Name"]
        for id_, job in assembly.resources("AWS::Glue::Job").items()
    }
    return {
        names[condition["JobName"]["Ref"]]
        for trigger in assembly.resources("AWS::Glue::Trigger").values()
        for condition in trigger["Properties"].get("Predicate", {}).get("Conditions", [])
    }


def test_one_encrypted_topic_gets_every_alarm_and_a_mail_address_gets_the_topic(watched):
    ((id_, topic),) = watched.resources("AWS::SNS::Topic").items()
    (subscription,) = watched.resources("AWS::SNS::Subscription").values()
    ref = {"Ref": id_.split("/")[1]}

    assert "KmsMasterKeyId" in topic["Properties"]
    assert all(alarm["AlarmActions"] == [ref] for alarm in alarms(watched))
    assert subscription["Properties"]["TopicArn"] == ref
    assert subscription["Properties"]["Endpoint"] == "oncall@example.com"


def test_a_run_is_late_after_half_its_timeout(watched):
    assert {job["NotificationProperty"]["NotifyDelayAfter"] for job in watched.jobs().values()} == {
        45
    }


def test_a_pipeline_has_stalled_when_no_last_job_succeeded_for_long(watched):
    (alarm,) = about(watched, "No run of flights reached its end")
    rule = metric(alarm)["Metric"]["Dimensions"][0]["Value"]["Ref"]
    pattern = watched.resources()[f"tidemark-watched-flights/{rule}"]["Properties"]["EventPattern"]

    assert pattern["detail"]["state"] == ["SUCCEEDED"]
    assert set(pattern["detail"]["jobName"]) == watched.jobs().keys() - waited_for(watched)
    assert metric(alarm)["Metric"]["MetricName"] == "MatchedEvents"
    assert (alarm["EvaluationPeriods"], metric(alarm)["Period"]) == (26, 3600)
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
    assert alarm["TreatMissingData"] == "breaching"


def test_a_watermark_is_stale_when_it_did_not_move(watched):
    found = about(watched, "did not move")

    metrics = [metric(alarm)["Metric"] for alarm in found]
    names = [dimension["Value"] for one in metrics for dimension in one.pop("Dimensions")]
    assert sorted(names) == jobs_with(watched, "--watermark_table")
    assert all(
        one == {"Namespace": "Tidemark", "MetricName": "WatermarkCommits"} for one in metrics
    )
    assert {alarm["TreatMissingData"] for alarm in found} == {"breaching"}


def test_unusual_bytes_are_an_alarm_for_every_bookmarked_job(watched):
    found = about(watched, "its bookmark may be stuck or lost")

    names = [metric(alarm)["Metric"]["Dimensions"][0]["Value"] for alarm in found]
    assert sorted(names) == jobs_with(watched, "--job-bookmark-option", "job-bookmark-enable")
    for alarm in found:
        assert metric(alarm)["Metric"]["MetricName"] == "glue.driver.aggregate.bytesRead"
        assert alarm["ThresholdMetricId"] == "band"
        assert alarm["Metrics"][1]["Expression"] == "ANOMALY_DETECTION_BAND(bytes, 3)"


def test_a_bookmarked_job_that_runs_and_reads_nothing_is_an_alarm(watched):
    found = about(watched, "ran and read nothing for 2 days")

    names = [metric(alarm)["Metric"]["Dimensions"][0]["Value"] for alarm in found]
    assert set(names) >= {"curate-flights", "ingest-weather", "publish-delays"}
    assert "ingest-flights" not in names
    for alarm in found:
        assert metric(alarm)["Metric"]["MetricName"] == "glue.driver.aggregate.bytesRead"
        assert (alarm["EvaluationPeriods"], metric(alarm)["Period"]) == (2, 86_400)
        assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)
        assert alarm["TreatMissingData"] == "notBreaching"


@pytest.mark.nightly
def test_no_alarm_looks_back_further_than_cloudwatch_does(synth):
    longest = {**STAGE, "freshnessHours": 168}
    assembly = synth(stage="watched", **{"tidemark:stages": {"watched": longest}})

    for alarm in alarms(assembly):
        seconds = alarm["EvaluationPeriods"] * metric(alarm)["Period"]
        assert seconds <= 7 * 86_400
        assert metric(alarm)["Period"] >= 3_600  # shorter ones may look back for a day only


def test_dpu_hours_count_executors_and_driver_by_the_size_of_a_worker(watched):
    found = about(watched, "DPU-hours in a day")

    assert len(found) == len(watched.jobs())
    # Two DPUs for half a minute per report.
    hours = {alarm["Metrics"][2]["Expression"] for alarm in found}
    assert hours == {"(executors + drivers) * 0.0166667"}
    assert {alarm["Threshold"] for alarm in found} == {40}


def test_a_stage_without_metrics_has_no_alarms_but_is_told_of_failures(synth):
    dev = synth(stage="dev").sample()

    assert alarms(dev) == []
    assert len(dev.resources("AWS::Events::Rule")) == 3
    assert len(dev.resources("AWS::CloudWatch::Dashboard")) == 1


def test_the_budget_is_mailed_when_it_is_passed_or_will_be(watched):
    (budget,) = watched.resources("AWS::Budgets::Budget").values()
    properties = budget["Properties"]

    assert properties["Budget"]["BudgetLimit"] == {"Amount": 100, "Unit": "USD"}
    assert properties["Budget"]["CostFilters"] == {
        "TagKeyValue": ["user:tidemark:pipeline$flights"]
    }
    kinds = [
        n["Notification"]["NotificationType"] for n in properties["NotificationsWithSubscribers"]
    ]
    assert kinds == ["ACTUAL", "FORECASTED"]


def test_the_dashboard_shows_runs_alarms_jobs_watermarks_and_errors():
    shown = DashboardContent(
        pipeline="flights",
        region="eu-west-1",
        jobs=["a", "b"],
        watermark_jobs=["a"],
        succeeded_rule="good",
        failed_rule="bad",
        alarms=["arn:alarm"],
        error_logs=["/logs/a/error", "/logs/b/error"],
        has_metrics=True,
    )

    widgets = json.loads(dashboard_body(shown))["widgets"]

    titles = [widget["properties"].get("title") for widget in widgets[1:]]
    assert titles == [
        "Runs by result",
        "Alarms",
        "Bytes read",
        "Duration, ms",
        "Executors",
        "Watermark age, s",
        "Errors",
    ]
    places = [(widget["x"], widget["y"]) for widget in widgets]
    assert len(set(places)) == len(places)
    (read,) = (w for w in widgets if w["properties"].get("title") == "Bytes read")
    assert [row[3] for row in read["properties"]["metrics"]] == ["a", "b"]
    query = widgets[-1]["properties"]["query"]
    assert query.startswith("SOURCE '/logs/a/error' | SOURCE '/logs/b/error' | fields ")
