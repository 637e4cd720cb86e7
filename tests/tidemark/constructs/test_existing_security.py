"""Security configurations and log groups that others made."""

import pytest

from tests.fixtures.pipelines import ACCOUNT, REGION, Declared
from tidemark import constructs
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth
LOGS = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/logs"
BOOKMARKS = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/bookmarks"


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


def key(declared, id_, arn):
    from aws_cdk import aws_kms as kms

    return kms.Key.from_key_arn(declared.stack, id_, arn)


def test_a_security_configuration_of_others_is_used_and_none_is_made(declared):
    pipeline = declared.pipeline(security=constructs.ExistingSecurity("bank-standard"))
    declared.add(pipeline)

    (job,) = declared.resources("AWS::Glue::Job")
    assert declared.resources("AWS::Glue::SecurityConfiguration") == []
    assert job["SecurityConfiguration"] == "bank-standard"
    names = [str(group["LogGroupName"]) for group in declared.resources("AWS::Logs::LogGroup")]
    assert len(names) == 2
    assert all("/aws-glue/jobs/tidemark-dev-orders/bank-standard-role/" in name for name in names)


def test_jobs_may_use_the_keys_of_the_configuration_and_logs_have_theirs(declared):
    security = constructs.ExistingSecurity(
        "bank-standard",
        logs_key=key(declared, "Logs", LOGS),
        bookmarks_key=key(declared, "Bookmarks", BOOKMARKS),
    )
    declared.add(declared.pipeline(security=security))

    (role,) = declared.resources("AWS::IAM::Role")
    used = {
        arn
        for statement in role["Policies"][0]["PolicyDocument"]["Statement"]
        if "kms:Encrypt" in statement["Action"]
        for arn in ([statement["Resource"]], statement["Resource"])[
            isinstance(statement["Resource"], list)
        ]
    }
    assert used == {f"arn:aws:kms:{REGION}:{ACCOUNT}:key/k", LOGS, BOOKMARKS}
    assert {g["KmsKeyId"] for g in declared.resources("AWS::Logs::LogGroup")} == {LOGS}
    assert any("key of the logs is imported" in warning for warning in declared.warnings())


def test_shell_jobs_and_crawlers_write_the_log_groups_of_that_configuration(declared):
    pipeline = declared.pipeline(security=constructs.ExistingSecurity("bank-standard"))
    fetch = pipeline.add_shell_job("fetch", script="job.py")
    targets = [constructs.CrawledDatabase("office", "shop/%")]
    pipeline.add_crawler("crawl", targets=targets, database="sales", after=[fetch])

    written = {
        str(statement["Resource"]).partition("log-group:")[2]
        for role in declared.resources("AWS::IAM::Role")
        for statement in role["Policies"][0]["PolicyDocument"]["Statement"]
        if "logs:PutLogEvents" in statement["Action"]
    }
    assert written == {
        "/aws-glue/python-jobs/bank-standard-role/*",
        "/aws-glue/crawlers-role/*-bank-standard:*",
    }


def test_log_groups_that_are_there_are_neither_made_nor_waited_for(declared):
    pipeline = declared.pipeline(log_groups=constructs.LogGroups.EXISTING)
    job = declared.add(pipeline)

    assert declared.resources("AWS::Logs::LogGroup") == []
    (template,) = declared.template("AWS::Glue::Job").values()
    assert "DependsOn" not in template
    assert job.logs.error.endswith("/error")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"name": ""}, "a security configuration is named ''"),
        ({"name": "a*"}, "no * ? : /"),
    ],
)
def test_a_security_configuration_that_cannot_be_is_refused(wrong, text):
    with pytest.raises(JobDefinitionError) as error:
        constructs.ExistingSecurity(**wrong)
    assert text in str(error.value)
