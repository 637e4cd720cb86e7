"""What docs/security.md and docs/bank-checklist.md claim of templates, on an app with everything.

A paragraph or row of these pages names the tests that show it: `<!-- shown: file::test -->`.
"""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.everything import GROUP, SUBNET, declare_everything
from tests.fixtures.pipelines import ACCOUNT, REGION
from tests.projects import PROJECT
from tidemark.constructs.security.wildcards import Statement, statements_of, string_of

pytestmark = pytest.mark.synth
PAGES = ("docs/security.md", "docs/bank-checklist.md")
LOGS = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:"
IDENTITY = ("AWS::IAM::Role", "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
FOREIGN = (
    "/aws-glue/python-jobs/output",
    "/aws-glue/python-jobs/error",
    "/aws-glue/python-jobs/sales-role/sales/output",
    "/aws-glue/crawlers",
    "/aws-glue/crawlers-role/sales-sales",
    "/aws-glue/crawlers-role/tidemark-dev-kinds-sales",
    "/aws-glue/jobs/output",
    "/aws-glue/jobs/sales/sales-role/sales/output",
    "/aws/lambda/sales",
)


@pytest.fixture(scope="module")
def stacks(cdk: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the resources of each stack."""
    out = tmp_path_factory.mktemp("out")
    declare_everything(cdk, tmp_path_factory.mktemp("project"), str(out)).synth()
    return {
        path.name.removesuffix(".template.json"): json.loads(path.read_text())["Resources"]
        for path in Path(out).glob("*.template.json")
    }


def of_type(stacks: dict[str, dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [r for stack in stacks.values() for r in stack.values() if r["Type"] in kinds]


def documents(resource: dict[str, Any]) -> list[Any]:
    properties = resource["Properties"]
    found = [one["PolicyDocument"] for one in properties.get("Policies", ())]
    return found + [properties[k] for k in ("PolicyDocument", "KeyPolicy") if k in properties]


def allowed(resource: dict[str, Any]) -> list[Statement]:
    return [it for document in documents(resource) for it in statements_of(document)]


def test_no_action_of_a_role_has_a_wildcard_and_no_policy_of_aws_is_attached(stacks):
    resources = of_type(stacks, *IDENTITY)

    actions = [action for r in resources for it in allowed(r) for action in it.actions]
    attached = [arn for r in resources for arn in r["Properties"].get("ManagedPolicyArns", ())]
    assert actions
    assert not [action for action in actions if "*" in action]
    assert attached
    assert all(arn.keys() == {"Ref"} for arn in attached)  # a policy of the same stack


def test_a_role_that_anything_may_be_done_with_has_a_condition_or_is_glue_s(stacks):
    free = [
        (statement["Principal"]["Service"], bool(documents(role)))
        for role in of_type(stacks, "AWS::IAM::Role")
        for statement in role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        if "Condition" not in statement
    ]

    assert set(free) >= {("glue.amazonaws.com", True)}
    assert {service for service, may in free if may} == {"glue.amazonaws.com"}


def test_no_statement_lets_everybody_in(stacks):
    kinds = ("AWS::KMS::Key", "AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy")
    resources = of_type(stacks, *kinds, "AWS::SNS::TopicPolicy")

    statements = [one for r in resources for d in documents(r) for one in d["Statement"]]
    everybody = [one for one in statements if one["Principal"] in ("*", {"AWS": "*"})]
    assert everybody
    assert {one["Effect"] for one in everybody} == {"Deny"}


def test_a_role_writes_log_groups_of_its_pipeline_and_no_others(stacks):
    for name, resources in stacks.items():
        own = {
            it["Properties"]["LogGroupName"]
            if isinstance(it["Properties"]["LogGroupName"], str)
            else string_of(it["Properties"]["LogGroupName"])
            for it in resources.values()
            if it["Type"] == "AWS::Logs::LogGroup"
        }
        others = {
            string_of(it["Properties"]["LogGroupName"])
            for stack, found in stacks.items()
            for it in found.values()
            if it["Type"] == "AWS::Logs::LogGroup" and stack != name
        }
        written = set()
        for resource in resources.values():
            if resource["Type"] in IDENTITY:
                patterns = log_groups(resource)
                written |= {group for group in own if matches(patterns, group)}
                assert not [g for g in (*others, *FOREIGN) if matches(patterns, g)], patterns
        assert written == own


def log_groups(resource: dict[str, Any]) -> list[str]:
    """Return the patterns of the log groups that a role may write."""
    return [
        one
        for statement in allowed(resource)
        if any(action.startswith("logs:") for action in statement.actions)
        for one in statement.resources
    ]


def matches(patterns: list[str], group: str) -> bool:
    """Return whether a stream of a log group is one of the patterns."""
    stream = f"{LOGS}{group}:log-stream:jr_1"
    return any(fnmatchcase(stream, pattern.replace("[", "[[]")) for pattern in patterns)


def test_network_interfaces_are_bound_to_the_subnet_that_the_app_knows(stacks):
    made = {
        resource
        for r in of_type(stacks, *IDENTITY)
        if "fetch-prices" in r["Properties"].get("Description", "")
        for statement in allowed(r)
        if "ec2:CreateNetworkInterface" in statement.actions
        for resource in statement.resources
    }

    assert made == {
        f"arn:aws:ec2:{REGION}:{ACCOUNT}:network-interface/*",
        f"arn:aws:ec2:{REGION}:*:subnet/{SUBNET}",  # of the account that shares it
        f"arn:aws:ec2:{REGION}:*:security-group/{GROUP}",
    }


def test_one_key_is_rotated_and_kept_and_encrypts_data_bookmarks_logs_and_alerts(stacks):
    (key,) = of_type(stacks, "AWS::KMS::Key")
    buckets = [
        b for b in of_type(stacks, "AWS::S3::Bucket") if "aws:kms" in json.dumps(b["Properties"])
    ]
    logs = of_type(stacks, "AWS::Logs::LogGroup")
    topics = of_type(stacks, "AWS::SNS::Topic")
    configurations = of_type(stacks, "AWS::Glue::SecurityConfiguration")

    assert key["Properties"]["EnableKeyRotation"] is True
    assert key["DeletionPolicy"] == key["UpdateReplacePolicy"] == "Retain"
    assert len(buckets) >= 3
    assert all("LakeKey" in json.dumps(b["Properties"]["BucketEncryption"]) for b in buckets)
    assert all("LakeKey" in json.dumps(one["Properties"]["KmsKeyId"]) for one in logs)
    assert all("LakeKey" in json.dumps(one["Properties"]["KmsMasterKeyId"]) for one in topics)
    assert all(json.dumps(one).count("LakeKey") == 3 for one in configurations)


def test_the_key_lets_in_the_services_that_the_page_lists(stacks):
    (key,) = of_type(stacks, "AWS::KMS::Key")
    let_in = {}
    for statement in key["Properties"]["KeyPolicy"]["Statement"]:
        service = string_of(statement["Principal"].get("Service", "account")).partition(".")[0]
        actions = statement["Action"]
        named = tuple(sorted(actions)) if isinstance(actions, list) else (actions,)
        let_in.setdefault((service, named), []).append(statement.get("Condition"))

    groups = ("jobs/*", "python-jobs*", "crawlers-role*")
    assert let_in == {
        ("account", ("kms:*",)): [None],
        ("logs", ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*")): [
            {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": f"{LOGS}/aws-glue/{group}"}}
            for group in groups
        ],
        ("cloudwatch", ("kms:Decrypt", "kms:GenerateDataKey*")): [
            {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
        ],
        ("events", ("kms:Decrypt", "kms:GenerateDataKey*")): [None],
    }


def test_each_pipeline_has_a_security_configuration_of_its_own(stacks):
    pipelines = [stack for stack in stacks.values() if of_type({"": stack}, "AWS::Glue::Workflow")]
    made = [of_type({"": stack}, "AWS::Glue::SecurityConfiguration") for stack in pipelines]

    names = [one["Properties"]["Name"] for found in made for one in found]
    assert len(names) == len(set(names)) == len(pipelines) == 2


def test_watermarks_can_be_had_back_for_35_days_and_are_protected(stacks):
    (table,) = of_type(stacks, "AWS::DynamoDB::Table")
    properties = table["Properties"]

    recovery = properties["PointInTimeRecoverySpecification"]
    assert recovery["PointInTimeRecoveryEnabled"] is True
    assert recovery.get("RecoveryPeriodInDays", 35) == 35
    assert properties["DeletionProtectionEnabled"] is True
    assert "SSESpecification" not in properties  # DynamoDB's own key
    assert table["DeletionPolicy"] == "Retain"


def test_every_queue_is_encrypted_and_refuses_requests_without_tls(stacks):
    for stack in stacks.values():
        queues = {id_ for id_, r in stack.items() if r["Type"] == "AWS::SQS::Queue"}
        guarded = set()
        for r in stack.values():
            if r["Type"] == "AWS::SQS::QueuePolicy" and "aws:SecureTransport" in json.dumps(r):
                guarded |= {one["Ref"] for one in r["Properties"]["Queues"]}
        assert guarded == queues
        assert all(stack[id_]["Properties"]["SqsManagedSseEnabled"] is True for id_ in queues)


def test_buckets_keep_and_forget_what_the_reasons_say(stacks):
    storage = stacks["storage"]
    buckets = {
        id_[:-8]: r["Properties"] for id_, r in storage.items() if r["Type"] == "AWS::S3::Bucket"
    }

    versioned = {name for name, of in buckets.items() if "VersioningConfiguration" in of}
    own_keys = {name for name, of in buckets.items() if "AES256" in json.dumps(of)}
    rules = {name: json.dumps(of.get("LifecycleConfiguration", {})) for name, of in buckets.items()}
    logs, landing = "LakeAccessLogs", "LakeLanding"
    assert logs in buckets
    assert versioned == {landing}
    assert '"NoncurrentDays": 90' in rules[landing]
    assert own_keys == {logs}
    assert '"ExpirationInDays": 365' in rules[logs]


def test_twenty_datasets_fit_into_an_inline_policy():
    from tidemark.constructs.jobs.permissions import allow, use_data, use_key
    from tidemark.constructs.jobs.policies import fit

    bucket = "${Token[AWS.Bucket.1]}"  # a name that only a deployment knows
    places = [(bucket, f"orders-{number:02}/daily/") for number in range(20)]
    logs = ["logs:AssociateKmsKey", "logs:CreateLogGroup", "logs:CreateLogStream"]
    base = [allow(["s3:GetObject"], ["a" * 100] * 2), allow(logs, ["b" * 120]), *use_key("k" * 75)]

    assert fit([*base, *use_data([], places)])[1] == []
    assert fit([*base, *use_data([], [*places, *((it, f"new-{p}") for it, p in places)])])[1] != []


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_that_a_page_names_are_there(page):
    named = re.findall(r"<!-- shown: (.*?) -->", (PROJECT / page).read_text())

    tests = [one.strip() for found in named for one in found.split(",")]
    assert tests
    for one in tests:
        file, _, name = one.partition("::")
        assert re.search(rf"^def {name or 'test_'}", (PROJECT / file).read_text(), re.MULTILINE), (
            one
        )


def test_every_paragraph_on_roles_encryption_and_secrets_and_every_row_is_shown():
    security, checklist = ((PROJECT / page).read_text() for page in PAGES)
    told = [
        paragraph
        for heading in ("Roles", "Encryption", "Secrets")
        for paragraph in re.search(
            rf"^## {heading}\n(.*?)(?=^## )", security, re.MULTILINE | re.DOTALL
        )[1].split("\n\n")
        if re.match(r"[A-Z`]", paragraph)
    ]
    rows = re.findall(r"^\| (?!they ask|-).*", checklist, re.MULTILINE)

    assert len(told) > 10
    assert len(rows) > 10
    assert [one for one in (*told, *rows) if "<!-- shown: " not in one] == []
