"""What a pipeline tells the people who keep it running."""

import json
import re

import boto3
import pytest

from tidemark.constructs.monitoring.dashboard import Shown, dashboard_body

pytestmark = pytest.mark.synth

STAGE = {
    "account": None,
    "region": None,
    "schedule": "cron(0 6 * * ? *)",
    "workerType": "G.2X",
    "numberOfWorkers": 4,
    "timeoutMinutes": 90,
    "terminationProtection": False,
    "metrics": True,
    "alertEmail": "oncall@example.com",
    "freshnessHours": 26,
    "dpuHoursPerDay": 40,
    "monthlyBudgetUsd": 100,
    "permissionsBoundary": "bounds",
    "tags": {"owner": "data"},
    "githubRepository": "acme/pipelines",
}


@pytest.fixture(scope="module")
def watched(synth):
    """Return the assembly of a stage with everything switched on."""
    return synth(stage="watched", **{"tidemark:stages": {"watched": STAGE}}).sample()


def alarms(assembly):
    return [alarm["Properties"] for alarm in assembly.resources("AWS::CloudWatch::Alarm").values()]


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


OF_THE_ACCOUNT = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
# SNS: conditions on the source are not supported where EventBridge publishes to encrypted topics.
PUBLISHERS = {"cloudwatch.amazonaws.com": OF_THE_ACCOUNT, "events.amazonaws.com": None}


def test_only_cloudwatch_and_eventbridge_may_publish_and_only_by_tls(watched):
    (policy,) = watched.resources("AWS::SNS::TopicPolicy").values()
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    (denied,) = (s for s in statements if s["Effect"] == "Deny")
    allowed = [s for s in statements if s["Effect"] == "Allow"]

    assert {s["Principal"]["Service"]: s.get("Condition") for s in allowed} == PUBLISHERS
    assert {s["Action"] for s in allowed} == {"sns:Publish"}
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_who_may_publish_may_use_the_key_of_the_topic(watched):
    (key,) = watched.resources("AWS::KMS::Key").values()
    services = {
        s["Principal"]["Service"]: s
        for s in key["Properties"]["KeyPolicy"]["Statement"]
        if isinstance(s["Principal"].get("Service"), str)
    }

    for service, condition in PUBLISHERS.items():
        assert services[service]["Action"] == ["kms:Decrypt", "kms:GenerateDataKey*"]
        assert services[service].get("Condition") == condition


def test_failed_and_late_runs_of_every_job_are_told_with_what_to_do(watched):
    rules = [rule["Properties"] for rule in watched.resources("AWS::Events::Rule").values()]
    told = {rule["EventPattern"]["detail-type"][0]: rule for rule in rules if rule.get("Targets")}

    failed, late = told["Glue Job State Change"], told["Glue Job Run Status"]
    assert failed["EventPattern"]["detail"]["state"] == ["FAILED", "TIMEOUT", "ERROR"]
    for rule in (failed, late):
        assert rule["EventPattern"]["source"] == ["aws.glue"]
        assert sorted(rule["EventPattern"]["detail"]["jobName"]) == sorted(watched.jobs())
    (target,) = failed["Targets"]
    text = json.loads(target["InputTransformer"]["InputTemplate"])
    assert "aws glue get-job-run --job-name <job> --run-id <run>" in text
    assert text.endswith("aws glue start-workflow-run --name flights")
    assert target["InputTransformer"]["InputPathsMap"]["job"] == "$.detail.jobName"


def test_what_is_told_in_aws_names_commands_that_look_there(watched, as_text):
    texts = [alarm["AlarmDescription"] for alarm in alarms(watched)]
    texts += [
        target["InputTransformer"]["InputTemplate"]
        for rule in watched.resources("AWS::Events::Rule").values()
        for target in rule["Properties"].get("Targets", [])
    ]
    (dashboard,) = watched.resources("AWS::CloudWatch::Dashboard").values()
    texts.append(as_text(dashboard["Properties"]["DashboardBody"]))

    # `tidemark status` and its like know the runs of this machine only.
    assert [text for text in texts if re.search(r"tidemark [a-z]", text)] == []
    named = {found for text in texts for found in re.findall(r"aws glue ([a-z-]+)", text)}
    operations = boto3.client("glue", region_name="eu-west-1").meta.method_to_api_mapping
    assert named
    assert {name.replace("-", "_") for name in named} <= operations.keys()


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


# CloudFormation has no tags for these; what they belong to has.
UNTAGGED = {
    "AWS::Glue::Database",
    "AWS::Glue::SecurityConfiguration",
    "AWS::Glue::Table",
    "AWS::KMS::Alias",
    "AWS::S3::BucketPolicy",
    "AWS::SQS::QueuePolicy",
    "AWS::Scheduler::Schedule",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
}


def tags_of(resource):
    properties = resource["Properties"]
    tags = properties.get("Tags", properties.get("ResourceTags", []))
    return tags if isinstance(tags, dict) else {tag["Key"]: tag["Value"] for tag in tags}


def test_everything_carries_the_tags_of_stage_and_pipeline(watched):
    stage = {"owner": "data", "tidemark:stage": "watched"}
    for id_, resource in watched.resources().items():
        if resource["Type"] in UNTAGGED:
            assert tags_of(resource) == {}
            continue
        of_pipeline = {"tidemark:pipeline": "flights"} if "-flights/" in id_ else {}
        assert tags_of(resource) == stage | of_pipeline, id_


def test_every_role_has_the_boundary_of_the_stage(watched, as_text):
    roles = watched.resources("AWS::IAM::Role").values()

    assert len(roles) == len(watched.jobs()) + 3  # and those for GitHub and the schedule
    boundaries = {as_text(role["Properties"]["PermissionsBoundary"]) for role in roles}
    assert boundaries == {"arn:{AWS::Partition}:iam::{AWS::AccountId}:policy/bounds"}


def test_github_may_assume_the_roles_of_the_bootstrap_for_its_stage_and_nothing_else(
    watched, as_text
):
    roles = {
        id_.split("/")[1][:4]: role["Properties"]
        for id_, role in watched.resources("AWS::IAM::Role").items()
        if "tidemark-watched-github" in id_
    }
    trusts = {}
    assumed = {}
    for name, role in roles.items():
        (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Action"] == "sts:AssumeRoleWithWebIdentity"
        provider = as_text(trust["Principal"]["Federated"])
        assert provider.endswith(":oidc-provider/token.actions.githubusercontent.com")
        trusts[name] = trust["Condition"]
        (policy,) = role["Policies"]
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert statement["Action"] == "sts:AssumeRole"
        arns = statement["Resource"]
        texts = [as_text(arn) for arn in (arns if isinstance(arns, list) else [arns])]
        assert "*" not in "".join(texts)
        assumed[name] = [re.findall(r":role/cdk-hnb659fds-([a-z-]+-role)-", arn) for arn in texts]

    issuer = "token.actions.githubusercontent.com"
    assert trusts == {
        name: {"StringEquals": {f"{issuer}:aud": "sts.amazonaws.com", f"{issuer}:sub": subject}}
        for name, subject in {
            "Depl": "repo:acme/pipelines:environment:watched",
            "Diff": "repo:acme/pipelines:pull_request",
        }.items()
    }
    # Who may assume deploy-role may pass the role that creates everything.
    assert assumed == {
        "Depl": [["deploy-role"], ["file-publishing-role"], ["lookup-role"]],
        "Diff": [["lookup-role"]],
    }


def test_the_identity_provider_of_the_account_is_not_part_of_a_stage(watched):
    assert watched.resources("AWS::IAM::OIDCProvider") == {}


def test_the_dashboard_shows_runs_alarms_jobs_watermarks_and_errors():
    shown = Shown(
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
        *("Runs by result", "Alarms", "Bytes read", "Duration, ms", "Executors"),
        *("Watermark age, s", "Errors"),
    ]
    places = [(widget["x"], widget["y"]) for widget in widgets]
    assert len(set(places)) == len(places)
    (read,) = (w for w in widgets if w["properties"].get("title") == "Bytes read")
    assert [row[3] for row in read["properties"]["metrics"]] == ["a", "b"]
    query = widgets[-1]["properties"]["query"]
    assert query.startswith("SOURCE '/logs/a/error' | SOURCE '/logs/b/error' | fields ")


def test_a_dashboard_of_many_jobs_stays_within_what_a_widget_can_show():
    jobs = [f"job-{number}" for number in range(99)]
    shown = Shown(
        pipeline="flights",
        region="eu-west-1",
        jobs=jobs,
        watermark_jobs=jobs,
        succeeded_rule="good",
        failed_rule="bad",
        alarms=[f"arn:{number}" for number in range(250)],
        error_logs=jobs,
        has_metrics=True,
    )

    widgets = json.loads(dashboard_body(shown))["widgets"]

    alarms = [w["properties"]["alarms"] for w in widgets if w["type"] == "alarm"]
    queries = [w["properties"]["query"] for w in widgets if w["type"] == "log"]
    assert [len(part) for part in alarms] == [100, 100, 50]
    assert [arn for part in alarms for arn in part] == list(shown.alarms)
    assert [query.count("SOURCE") for query in queries] == [50, 49]
    assert all(widget.get("x", 0) + widget["width"] <= 24 for widget in widgets)


def test_the_logs_of_a_job_are_where_glue_writes_them_encrypted_and_not_kept_for_ever(
    watched, as_text
):
    groups = {
        as_text(group["Properties"]["LogGroupName"]): group["Properties"]
        for group in watched.resources("AWS::Logs::LogGroup").values()
    }
    # Glue: <prefix>/<security configuration>-role/<role>/error, and output.
    expected = set()
    for job in watched.jobs().values():
        prefix = job["DefaultArguments"]["--custom-logGroup-prefix"]
        configuration = watched.resources()[
            f"tidemark-watched-flights/{job['SecurityConfiguration']['Ref']}"
        ]["Properties"]["Name"]
        role = f"{{{job['Role']['Fn::GetAtt'][0]}}}"
        expected |= {f"{prefix}/{configuration}-role/{role}/{kind}" for kind in ("error", "output")}

    assert groups.keys() == expected
    assert {group["RetentionInDays"] for group in groups.values()} == {30}
    assert all("KmsKeyId" in group for group in groups.values())
    (dashboard,) = watched.resources("AWS::CloudWatch::Dashboard").values()
    body = as_text(dashboard["Properties"]["DashboardBody"])
    assert all(f"SOURCE '{name}'" in body for name in expected if name.endswith("/error"))


def test_a_job_is_created_after_its_log_groups(watched):
    for id_, job in watched.resources("AWS::Glue::Job").items():
        stack = id_.split("/")[0]
        types = [watched.resources()[f"{stack}/{other}"]["Type"] for other in job["DependsOn"]]
        assert types.count("AWS::Logs::LogGroup") == 2
