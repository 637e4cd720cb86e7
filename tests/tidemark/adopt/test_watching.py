"""What names the old jobs, and sees nothing of them once they have moved, is in every plan."""

from __future__ import annotations

import json

import boto3
import pytest
from moto import mock_aws

from tests.tidemark.adopt.finds import PLAIN, found, trigger
from tidemark.adopt.adoption import adopt
from tidemark.adopt.jobs.scripts import written_arguments
from tidemark.adopt.plan.report import as_markdown
from tidemark.adopt.sources.account_surroundings import read_around
from tidemark.adopt.watching import is_named
from tidemark.errors import UsageError

ARN = "arn:aws:glue:eu-west-1:111122223333:job/"
NAMED = {
    "a dimension": {"Dimensions": [{"Name": "JobName", "Value": "load"}]},
    "an expression": {"Metrics": [{"Expression": "SEARCH('{Glue,JobName} JobName=\"load\"')"}]},
    "a pattern": {"EventPattern": {"detail": {"jobName": ["load"], "state": ["FAILED"]}}},
    "a pattern as text": {"event_pattern": '{"detail": {"jobName": [{"prefix": "loa"}]}}'},
    "an ARN": {"PolicyDocument": {"Statement": [{"Resource": f"{ARN}load"}]}},
    "a policy as text": {"policy": json.dumps({"Statement": [{"Resource": [f"{ARN}loa?"]}]})},
    "a definition": {"DefinitionString": '{"States": {"A": {"Parameters": {"JobName": "load"}}}}'},
    "code": {"InlineCode": "glue.start_job_run(JobName='load')"},
}
NOT_NAMED = {
    "its own name": {"Name": "load", "Description": "load the orders", "Tags": {"of": "load"}},
    "a word of a text": {"Text": "alerts if the load is high"},
    "a part of a name": {"Dimensions": [{"Name": "JobName", "Value": "load_eu"}]},
    "a pattern of both": {"EventPattern": {"detail": {"jobName": [{"wildcard": "*load*"}]}}},
    "a pattern of all": {"EventPattern": {"source": ["aws.glue"]}},
    "a pattern that is wrong": {"EventPattern": {"detail": {"jobName": [{"nope": 1}]}}},
    "a wildcard for both": {"policy": {"Statement": [{"Resource": f"{ARN}*"}]}},
    "other values": {"Threshold": 1, "Flags": [True, None], "Text": "{not JSON"},
    "JSON that is too deep": {"Text": "[" * 100_000},
}


@pytest.mark.parametrize("what", NAMED)
def test_whoever_names_a_job_by_its_old_name_alone_is_found(what):
    assert is_named("load", "new-load", NAMED[what])


@pytest.mark.parametrize("what", NOT_NAMED)
def test_what_means_something_else_or_the_new_name_too_is_left_alone(what):
    assert not is_named("load", "new-load", NOT_NAMED[what])


def plan_of(*around, triggers=()):
    start = trigger("start", "load", Type="SCHEDULED", Schedule="cron(0 1 * * ? *)")
    world = found({"load": PLAIN}, start, *triggers, around=around, taken=frozenset({"load"}))
    return {one.job: (one.why, one.do) for one in adopt(world).others}


def test_the_plan_names_what_goes_blind_and_the_name_to_put_there():
    plan = plan_of(
        ("alarm", "rows", NAMED["a dimension"]),
        ("rule", "failed", NAMED["a pattern"]),
        ("policy of role", "airflow", NAMED["an ARN"]),
        ("statemachine", "night", NAMED["a definition"]),
        ("dashboard", "glue", NAMED["an expression"]),
        ("alarm", "other", NOT_NAMED["a part of a name"]),
    )

    assert set(plan) == {
        "alarm rows",
        "rule failed",
        "policy of role airflow",
        "statemachine night",
        "dashboard glue",
    }
    assert all("load" in why and "load-v2" in do for why, do in plan.values())


def test_a_trigger_outside_that_waits_for_a_moving_job_is_named_with_what_it_starts():
    plan = plan_of(triggers=[trigger("after", "elsewhere", after=("load",))])

    why, do = plan["trigger after"]
    assert "waits for load" in why
    assert "give elsewhere another start" in do


@mock_aws
def test_an_account_is_asked_for_alarms_rules_machines_and_policies(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    session = boto3.Session(region_name="eu-west-1")
    alarm = {"Namespace": "Glue", "MetricName": "m", "EvaluationPeriods": 1, "Threshold": 1.0}
    session.client("cloudwatch").put_metric_alarm(
        AlarmName="rows",
        ComparisonOperator="LessThanThreshold",
        Period=60,
        Statistic="Sum",
        **alarm,
        **NAMED["a dimension"],
    )
    pattern = json.dumps(NAMED["a pattern"]["EventPattern"])
    session.client("events").put_rule(Name="failed", EventPattern=pattern)
    iam = session.client("iam")
    allowed = {"Effect": "Allow", "Action": "glue:StartJobRun", "Resource": f"{ARN}load"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    iam.create_policy(PolicyName="managed", PolicyDocument=document)
    iam.create_role(RoleName="airflow", AssumeRolePolicyDocument="{}")
    iam.put_role_policy(RoleName="airflow", PolicyName="p", PolicyDocument=document)
    session.client("stepfunctions").create_state_machine(
        name="night",
        roleArn="arn:aws:iam::111122223333:role/x",
        definition=json.dumps({"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}),
    )

    around, unread = read_around(session)

    named = {(kind, name) for kind, name, values in around if is_named("load", "new", values)}
    assert named == {
        ("alarm", "rows"),
        ("rule", "failed"),
        ("policy", "managed"),
        ("policy of role", "airflow"),
    }
    assert ("statemachine", "night") in {(kind, name) for kind, name, _ in around}
    assert not unread


@pytest.mark.parametrize(
    ("script", "written"),
    [
        ("df.write.parquet(args['dst'])", {"dst"}),
        ("df.write.mode('append').save(path=f\"{args['dst']}/orders\")", {"dst"}),
        ("out = args['dst'] + '/x/'\nw = df.write.mode('append')\nw.parquet(out)", {"dst"}),
        (
            "gc.write_dynamic_frame.from_options(frame=f, connection_type='s3',"
            " connection_options={'path': args['dst']}, format='json')",
            {"dst"},
        ),
        ("sink = gc.getSink(connection_type='s3', path=args['dst'])", {"dst"}),
        ("def save(df, to):\n    df.write.csv(to)\nsave(df, args['dst'])", {"dst"}),
        ("wr.s3.to_parquet(df, path=args.get('dst'))", {"dst"}),
        ("df = spark.read.parquet(args['src'])\ndf.write.saveAsTable('t')", set()),
        ("df = spark.read.parquet(args['src'])\nwr.s3.to_parquet(df, path='s3://b/')", set()),
        ("def (", set()),
    ],
)
def test_the_arguments_that_a_script_writes_to_are_known(script, written):
    assert written_arguments(script) == written


@pytest.mark.parametrize("name", ["x\ntouch pwned #", "x\x1b[2J", "x\u202ey"])
def test_a_name_that_glue_cannot_have_comes_into_no_line_for_a_shell(name):
    start = trigger("start", name, Type="SCHEDULED", Schedule="cron(0 1 * * ? *)")

    with pytest.raises(UsageError, match="has control characters"):
        adopt(found({name: PLAIN}, start))


def test_values_of_others_are_text_in_the_tables_of_a_plan():
    start = trigger("start", "load", Type="SCHEDULED", Schedule="cron(\x1b[31m)")
    world = found({"load": PLAIN}, start, taken=frozenset({"load"}))

    assert as_markdown(adopt(world), world, []).replace("\n", "").isprintable()
