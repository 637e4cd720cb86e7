"""Tags, boundaries, the role of GitHub, logs, the dashboard."""

import json
import re

import pytest

from tidemark.constructs.monitoring.dashboard import DashboardContent, dashboard_body

pytestmark = pytest.mark.synth

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


def test_a_dashboard_of_many_jobs_stays_within_what_a_widget_can_show():
    jobs = [f"job-{number}" for number in range(99)]
    shown = DashboardContent(
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
