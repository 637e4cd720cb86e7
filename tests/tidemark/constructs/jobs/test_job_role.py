"""Roles that others made, or the app: what they get, what they lack, who may share one."""

import json

import pytest

from tests.fixtures.pipelines import ACCOUNT, Declared
from tests.fixtures.synthesis import as_list
from tidemark.constructs import Dataset
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.grants import grants_of

pytestmark = pytest.mark.synth
ROLE = f"arn:aws:iam::{ACCOUNT}:role/service-role/etl"


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


def imported(declared, id_="Theirs", arn=ROLE, **how):
    from aws_cdk import aws_iam as iam

    return iam.Role.from_role_arn(declared.stack, id_, arn, **how)


def made(declared, service="glue.amazonaws.com"):
    from aws_cdk import aws_iam as iam

    return iam.Role(declared.stack, "Ours", assumed_by=iam.ServicePrincipal(service))


def statements_for(declared, role):
    """Return the statements of the policies that the template attaches to a role."""
    return [
        statement
        for policy in declared.resources("AWS::IAM::Policy")
        if role in policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]


def allowed(statements):
    """Return pairs of an action and a resource, whatever statements say them."""
    return {
        (action, json.dumps(resource))
        for statement in statements
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    }


def data(declared):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset

    lake = declared.stack.node.try_find_child("Lake")
    lake = lake or s3.Bucket.from_bucket_name(declared.stack, "Lake", "lake")
    return {
        "reads": [Dataset(lake, "in/", delivered=True)],
        "writes": [Dataset(lake, "out/", published=True)],
    }


def test_an_imported_role_gets_exactly_what_a_role_of_the_jobs_own_would(cdk, tmp_path):
    own, given = Declared(cdk, tmp_path), Declared(cdk, tmp_path)
    own.add(own.pipeline(), **data(own))
    given.add(given.pipeline(), role=imported(given), **data(given))

    (job,) = given.resources("AWS::Glue::Job")
    (role,) = own.resources("AWS::IAM::Role")
    assert job["Role"] == ROLE
    assert given.resources("AWS::IAM::Role") == []
    statements = role["Policies"][0]["PolicyDocument"]["Statement"]
    # But for the logs, which begin with the job's own name where a role may have several jobs.
    got = {
        (a, r.replace("-orders/one/*", "-orders/*"))
        for a, r in allowed(statements_for(given, "etl"))
    }
    assert got == allowed(statements)
    assert given.warnings() == []


def test_the_job_is_made_after_the_policy_of_its_role(declared):
    declared.add(declared.pipeline(), role=imported(declared))

    (job,) = declared.template("AWS::Glue::Job").values()
    (policy,) = declared.template("AWS::IAM::Policy")
    assert policy in job["DependsOn"]


def test_a_role_of_the_app_gets_the_same(declared):
    declared.add(declared.pipeline(), role=made(declared), **data(declared))

    (role,) = declared.template("AWS::IAM::Role")
    assert ("s3:PutObject", '"arn:aws:s3:::lake/out/*"') in allowed(
        statements_for(declared, {"Ref": role})
    )
    (job,) = declared.template("AWS::Glue::Job").values()
    assert job["Properties"]["Role"] == {"Fn::GetAtt": [role, "Arn"]}
    assert set(declared.template("AWS::IAM::Policy")) <= set(job["DependsOn"])


def test_what_a_role_that_may_not_be_changed_lacks_is_told_and_printed(cdk, tmp_path):
    from aws_cdk.assertions import Template

    fixed, given = Declared(cdk, tmp_path), Declared(cdk, tmp_path)
    fixed.add(fixed.pipeline(), role=imported(fixed, mutable=False), **data(fixed))
    given.add(given.pipeline(), role=imported(given), **data(given))

    assert fixed.resources("AWS::IAM::Policy") == []
    (warning,) = fixed.warnings()
    assert "`tidemark grants one` prints the policy" in warning
    lacks = grants_of({"stack": Template.from_stack(fixed.stack).to_json()}, "one")
    has = grants_of({"stack": Template.from_stack(given.stack).to_json()}, "one")
    assert (lacks.role, lacks.is_missing, has.is_missing) == (ROLE, True, False)
    assert allowed(lacks.statements) == allowed(has.statements)
    assert ("s3:PutObject", '"arn:aws:s3:::lake/out/*"') in allowed(lacks.statements)
    assert lacks.unknown == ()  # the account is known, and nothing in it is made here


def test_jobs_that_share_a_role_have_log_groups_and_watermarks_of_their_own(declared):
    from tidemark.constructs import WatermarkTable

    table = WatermarkTable.from_table_name(declared.stack, "Watermarks", "theirs")
    role = imported(declared)
    pipeline = declared.pipeline(watermarks=table)
    declared.add(pipeline, "one", role=role, watermark=True)
    declared.add(pipeline, "two", role=role, watermark=True)

    names = [group["LogGroupName"] for group in declared.resources("AWS::Logs::LogGroup")]
    assert len(set(names)) == 4
    prefixes = {
        job["Name"]: job["DefaultArguments"]["--custom-logGroup-prefix"]
        for job in declared.resources("AWS::Glue::Job")
    }
    assert prefixes["one"] == "/aws-glue/jobs/tidemark-dev-orders/one"
    for name, prefix in prefixes.items():
        own = [group for group in names if group.startswith(f"{prefix}/")]
        assert [group.rpartition("/")[2] for group in own] == ["error", "output"], name
        assert all("/tidemark-dev-orders-role/etl/" in group for group in own)
    keys = [
        statement["Condition"]["ForAllValues:StringEquals"]["dynamodb:LeadingKeys"]
        for statement in statements_for(declared, "etl")
        if "dynamodb:Query" in statement["Action"]
    ]
    assert sorted(key for leading in keys for key in as_list(leading)) == ["one", "two"]


def test_a_role_of_another_account_is_refused_as_glue_refuses_it(declared):
    role = imported(declared, arn="arn:aws:iam::999999999999:role/etl")

    with pytest.raises(JobDefinitionError, match="a role of the account 999999999999, and Glue"):
        declared.add(declared.pipeline(), role=role)


def test_a_role_that_glue_cannot_assume_is_refused(declared):
    role = made(declared, "lambda.amazonaws.com")

    with pytest.raises(JobDefinitionError, match="a role that does not trust Glue"):
        declared.add(declared.pipeline(), role=role)


def test_a_role_for_more_than_its_policies_hold_is_refused(declared):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset

    lake = s3.Bucket.from_bucket_name(declared.stack, "Lake", "lake")
    pipeline, role = declared.pipeline(), imported(declared)
    wide = [Dataset(lake, f"{'x' * 60}{n}/", delivered=True) for n in range(25)]
    declared.add(pipeline, "one", role=role, reads=wide)
    more = [Dataset(lake, f"{'y' * 60}{n}/", delivered=True) for n in range(25)]

    with pytest.raises(JobDefinitionError, match=r"job 'two' makes the policy .* IAM takes 10240"):
        declared.add(pipeline, "two", role=role, reads=more)


def test_every_kind_of_node_takes_a_role_and_jobs_that_share_log_groups_make_them_once(declared):
    role, pipeline = imported(declared), declared.pipeline()
    source = data(declared)["reads"][0]
    for name in ("one", "two"):
        pipeline.add_shell_job(name, script="job.py", role=role)
    state = Dataset(source.bucket, "checkpoint/")
    pipeline.add_streaming_job("three", script="job.py", checkpoint=state, role=role)
    pipeline.add_crawler("four", targets=[source], database="sales", role=role)

    nodes = declared.resources("AWS::Glue::Job") + declared.resources("AWS::Glue::Crawler")
    assert [node["Role"] for node in nodes] == [ROLE] * 4
    assert declared.resources("AWS::IAM::Role") == []
    names = [group["LogGroupName"] for group in declared.resources("AWS::Logs::LogGroup")]
    assert len(names) == len(set(names)) == 5  # two of the shells, two of the stream, one
    waiting = [job.get("DependsOn", []) for job in declared.template("AWS::Glue::Job").values()]
    assert all(len(found) >= 3 for found in waiting)  # two log groups, and the policy


def test_of_a_crawler_it_is_printed_too_what_its_role_lacks(declared):
    from aws_cdk.assertions import Template

    source = data(declared)["reads"][0]
    pipeline = declared.pipeline()
    declared.add(pipeline)
    pipeline.add_crawler(
        "four", targets=[source], database="sales", role=imported(declared, mutable=False)
    )

    lacks = grants_of({"stack": Template.from_stack(declared.stack).to_json()}, "four")
    assert lacks.is_missing
    assert ("s3:GetObject", '"arn:aws:s3:::lake/in/*"') in allowed(lacks.statements)


def test_jobs_with_one_role_do_not_keep_one_log_group_for_two_times(declared):
    from tidemark.constructs import JobOptions

    role, pipeline = imported(declared), declared.pipeline()
    pipeline.add_shell_job("one", script="job.py", role=role)

    with pytest.raises(JobDefinitionError, match=r"keep the log group .* for 30 and 7 days"):
        pipeline.add_shell_job(
            "two", script="job.py", role=role, options=JobOptions(log_retention_days=7)
        )


def test_two_pipelines_do_not_make_one_log_group(declared):
    from tidemark.constructs import ExistingSecurity, LogGroups

    role, security = imported(declared), ExistingSecurity("bank-standard")
    first, second = (declared.pipeline(name, security=security) for name in ("orders", "returns"))
    third = declared.pipeline("claims", security=security, log_groups=LogGroups.EXISTING)
    first.add_shell_job("one", script="job.py", role=role)

    with pytest.raises(JobDefinitionError, match=r"is created by stack/Orders.* already"):
        second.add_shell_job("two", script="job.py", role=role)
    third.add_shell_job("three", script="job.py", role=role)
