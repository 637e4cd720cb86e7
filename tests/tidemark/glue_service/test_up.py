"""`tidemark serve --port`: an app on the port, by the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import BOUND_S
from tidemark.cli.main import main
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home

UP = [sys.executable, "-m", "tidemark", "serve", "--port", "0", "--jvms", "0"]


@pytest.fixture
def up(home):
    servers = []

    def start(*arguments):
        server = subprocess.Popen(
            [*UP, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            # As a shell starts what stands before `&`.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        servers.append(server)
        line = next(line for line in server.stdout if "AWS_ENDPOINT_URL=" in line)
        return server, Port(Home.open(home), line.strip().partition("=")[2], None)

    yield start
    for server in servers:
        server.kill()
        server.communicate()


def test_jobs_of_an_app_run_on_the_port_and_one_that_left_it_is_gone(up, write_assembly, tmp_path):
    assembly = write_assembly({"one": "print('ran')", "two": ""})
    server, port = up("--app", str(assembly))

    job = port.glue.get_job(JobName="one")["Job"]
    run = port.ended("one", port.start("one"))
    server.send_signal(signal.SIGINT)
    rest, _ = server.communicate(timeout=BOUND_S)

    assert job["Command"] == {"Name": "glueetl", "ScriptLocation": "s3://assets/one.py"}
    assert run["JobRunState"] == "SUCCEEDED"
    assert server.returncode == 0
    assert f"one {run['Id']} SUCCEEDED" in rest
    assert rest.endswith("stopped\n")

    write_assembly({"one": ""})
    _, port = up("--app", str(assembly))
    assert port.glue.list_jobs()["JobNames"] == ["one"]
    assert port.states("one") == ["SUCCEEDED"]


def test_rules_of_an_app_start_its_workflow_and_publish_to_its_topic(home, write_assembly):
    rule = {
        "Type": "AWS::Events::Rule",
        "Properties": {
            "EventPattern": {"source": ["acme.shop"]},
            "Targets": [
                {
                    "Id": "Workflow",
                    "Arn": {
                        "Fn::Sub": "arn:aws:glue:${AWS::Region}:${AWS::AccountId}:workflow/${Flow}"
                    },
                    "DeadLetterConfig": {"Arn": {"Fn::GetAtt": ["Missed", "Arn"]}},
                },
                {"Id": "Topic", "Arn": {"Ref": "Topic"}},
                {"Id": "Queue", "Arn": {"Fn::GetAtt": ["Missed", "Arn"]}},
            ],
        },
    }
    others = {
        "Closed": rule,
        "Missed": {"Type": "AWS::SQS::Queue"},
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "closed"}},
    }
    assembly = write_assembly({"one": ""}, others=others)
    template = json.loads((assembly / "template.json").read_text(encoding="utf-8"))
    start = template["Resources"]["Start"]["Properties"]
    start["Type"] = "EVENT"
    start["EventBatchingCondition"] = {"BatchSize": 2}
    (assembly / "template.json").write_text(json.dumps(template), encoding="utf-8")
    opened, said = Home.open(home), []
    with serving(opened, Options(say=said.append, max_parallel=0)) as (url, engine):
        port = Port(opened, url, engine)
        text = engine.ask(lambda glue: deploy_on_port(glue, assembly))
        sns, sqs = port.client("sns"), port.client("sqs")
        (topic,) = sns.list_topics()["Topics"]
        inbox = sqs.create_queue(QueueName="inbox")["QueueUrl"]
        endpoint = "arn:aws:sqs:us-east-1:000000000000:inbox"
        sns.subscribe(Protocol="sqs", Endpoint=endpoint, **topic)
        entry = {"Source": "acme.shop", "DetailType": "Closed", "Detail": "{}"}
        port.client("events").put_events(Entries=[entry, entry])

        (run,) = port.glue.get_workflow_runs(Name="flow")["Runs"]
        messages = sqs.receive_message(QueueUrl=inbox, WaitTimeSeconds=5)["Messages"]
        del template["Resources"]["Closed"]
        (assembly / "template.json").write_text(json.dumps(template), encoding="utf-8")
        engine.ask(lambda glue: deploy_on_port(glue, assembly))
        rest = port.client("events").list_rules()["Rules"]

    assert topic["TopicArn"] == "arn:aws:sns:us-east-1:000000000000:closed"
    assert json.loads(json.loads(messages[0]["Body"])["Message"])["source"] == "acme.shop"
    assert "1 rule; not on this machine: rule stack-closed → {Missed.Arn}" in text
    assert run["StartingEventBatchCondition"]["BatchSize"] == 2
    assert (len(said), "is on AWS only" in said[0]) == (2, True)
    assert rest == []


def test_two_stages_of_an_app_live_in_one_home_apart(home, write_assembly):
    def stage(name, *jobs):
        folder = write_assembly({f"{name}-{job}": "" for job in jobs})
        for file, old, new in (
            ("manifest.json", '"stack": {"type"', f'"{name}": {{"type"'),
            ("template.json", '"Name": "flow"', f'"Name": "{name}-flow"'),
        ):
            text = (folder / file).read_text(encoding="utf-8")
            assert old in text
            (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        return folder

    with serving(Home.open(home), Options(max_parallel=0)) as (url, engine):
        glue = Port(Home.open(home), url, engine).glue
        for folder in (lambda: stage("dev", "one", "two"), lambda: stage("prod", "one")):
            assembly = folder()
            engine.ask(lambda glue, assembly=assembly: deploy_on_port(glue, assembly))
        both = glue.list_jobs()["JobNames"], glue.list_workflows()["Workflows"]
        assembly = stage("dev", "one")
        engine.ask(lambda glue: deploy_on_port(glue, assembly))
        rest = glue.list_jobs()["JobNames"]

    assert both == (["dev-one", "dev-two", "prod-one"], ["dev-flow", "prod-flow"])
    assert rest == ["dev-one", "prod-one"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--app", "cdk.out"), "--port"),
        (("--host", "0.0.0.0"), "--port"),  # noqa: S104 (refused)
        (("--jvms", "0"), "--jvms 0"),
        (("--port", "0", "--jvms", "0", "--host", "203.0.113.9"), "203.0.113.9"),
    ],
)
def test_what_cannot_be_served_is_told(home, words, named):
    result = CliRunner().invoke(main, ["serve", *words])

    assert (result.exit_code, named in result.stderr) == (2, True)
