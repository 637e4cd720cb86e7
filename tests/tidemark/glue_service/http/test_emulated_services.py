"""Secrets Manager, SSM, SNS and SQS of a home, by boto3, jobs and the command line."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from tests.tidemark.glue_service.conftest import Port
from tidemark import extras
from tidemark.cli.main import main
from tidemark.local_state.home import Home

READ = """
import boto3
print(boto3.client("secretsmanager").get_secret_value(SecretId="db/main")["SecretString"])
"""


def put(home, name, value):
    words = ["secret", "put", name]
    return CliRunner().invoke(main, words, input=value, env={"TIDEMARK_HOME": str(home.root)})


def test_a_job_reads_a_secret_that_the_command_line_put(port):
    created = put(port.home, "db/main", "s3cret ü\n")
    port.job("reads-secret", READ)
    run_id = port.start("reads-secret")
    run = port.ended("reads-secret", run_id)
    changed = put(port.home, "db/main", '{"user": "me"}')  # while the port is served

    events = port.logs.get_log_events(
        logGroupName="/aws-glue/python-jobs/output", logStreamName=run_id, startFromHead=True
    )["events"]
    secret = port.client("secretsmanager").get_secret_value(SecretId="db/main")
    assert run["JobRunState"] == "SUCCEEDED", run["ErrorMessage"]
    assert [event["message"] for event in events] == ["s3cret ü"]
    assert secret["SecretString"] == '{"user": "me"}'
    assert "created" in created.output
    assert "changed" in changed.output
    assert "s3cret" not in created.output


def test_what_is_kept_is_there_with_its_ids_when_the_port_is_served_again(serve, tmp_path):
    home = Home.open(tmp_path / "home")
    with serve() as (url, engine):
        port = Port(home, url, engine)
        arn = port.client("secretsmanager").create_secret(Name="a", SecretString="1")["ARN"]
        port.client("ssm").put_parameter(Name="/a/b", Value="2", Type="SecureString")
        topic = port.client("sns").create_topic(Name="alerts")["TopicArn"]
        sqs = port.client("sqs")
        queue = sqs.create_queue(QueueName="inbox")["QueueUrl"]
        names = {"QueueUrl": queue, "AttributeNames": ["QueueArn"]}
        endpoint = sqs.get_queue_attributes(**names)["Attributes"]["QueueArn"]
        subscription = port.client("sns").subscribe(
            TopicArn=topic, Protocol="sqs", Endpoint=endpoint, ReturnSubscriptionArn=True
        )["SubscriptionArn"]
    with serve() as (url, engine):
        port = Port(home, url, engine)
        secret = port.client("secretsmanager").get_secret_value(SecretId=arn)
        parameter = port.client("ssm").get_parameter(Name="/a/b", WithDecryption=True)
        port.client("sns").publish(TopicArn=topic, Message="failed: <é>")
        queue = port.client("sqs").get_queue_url(QueueName="inbox")["QueueUrl"]
        messages = port.client("sqs").receive_message(QueueUrl=queue)["Messages"]
        found = port.client("sns").list_subscriptions()["Subscriptions"]

    assert arn.startswith("arn:aws:secretsmanager:us-east-1:000000000000:secret:a-")
    assert (secret["SecretString"], parameter["Parameter"]["Value"]) == ("1", "2")
    assert json.loads(messages[0]["Body"])["Message"] == "failed: <é>"
    assert [one["SubscriptionArn"] for one in found] == [subscription]


def test_errors_have_the_codes_of_the_services(port):
    secrets, sns = port.client("secretsmanager"), port.client("sns")

    with pytest.raises(secrets.exceptions.ResourceNotFoundException):
        secrets.get_secret_value(SecretId="none")
    with pytest.raises(sns.exceptions.NotFoundException):
        sns.publish(TopicArn="arn:aws:sns:us-east-1:000000000000:none", Message="a")


@pytest.mark.parametrize("service", ["secretsmanager", "sns"])
def test_without_the_extra_a_service_is_refused_with_what_to_install(port, monkeypatch, service):
    monkeypatch.setattr(extras, "find_spec", lambda module: None if module == "moto" else module)
    call = {"secretsmanager": "list_secrets", "sns": "list_topics"}[service]

    with pytest.raises(ClientError, match=r"pip install 'tidemark-glue\[services\]'") as caught:
        getattr(port.client(service), call)()

    name = {"secretsmanager": "Secrets Manager", "sns": "SNS"}[service]
    assert f"{name} is not on this machine" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [("bad name!", "x", "'bad name!'"), ("a", "", "empty"), ("a", "x" * 70_000, "65536")],
)
def test_a_secret_that_cannot_be_is_told(port, name, value, told):
    result = put(port.home, name, value)

    assert (result.exit_code, told in result.stderr) == (2, True)
