"""Step Functions' operations on executions."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest
from botocore.exceptions import ClientError

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.state_machines.conftest import END, PASS, States, steps, task
from tests.waiting import wait_until
from tidemark.glue_service.http.serving import serving
from tidemark.glue_service.state_machines.execution_rows import (
    executions_of,
    parts_of_token,
    token_of,
)
from tidemark.glue_service.state_machines.executions import stop_execution
from tidemark.local_state.home import Home

LONG = steps("W", W={"Type": "Wait", "Seconds": 60, **END})


@pytest.mark.rule("Step Functions", source="SFNE")
def test_the_same_name_and_input_is_the_same_execution_while_it_runs(states):
    arn = states.machine("named", LONG)

    first = states.start(arn, {"day": 1}, name="x")

    assert states.start(arn, {"day": 1}, name="x") == first
    with pytest.raises(ClientError, match="Execution Already Exists") as other_input:
        states.start(arn, {"day": 2}, name="x")
    states.client.stop_execution(executionArn=first)
    with pytest.raises(ClientError, match="Execution Already Exists"):
        states.start(arn, {"day": 1}, name="x")
    assert other_input.value.response["Error"]["Code"] == "ExecutionAlreadyExists"


@pytest.mark.rule(
    "Step Functions",
    source="SFN",
    choice="it fails with States.TaskFailed: the run has not done its work",
)
def test_a_job_run_that_was_stopped_fails_its_task(states):
    states.port.job("stops", "import time; time.sleep(60)")
    job = task("glue:startJobRun.sync", Parameters={"JobName": "stops"})
    execution = states.start(states.machine("stops", steps("A", A=job)))
    wait_until(lambda: states.port.states("stops") == ["RUNNING"])

    (run,) = states.port.glue.get_job_runs(JobName="stops")["JobRuns"]
    states.port.glue.batch_stop_job_run(JobName="stops", JobRunIds=[run["Id"]])

    answer = states.ended(execution)
    assert (answer["status"], answer["error"]) == ("FAILED", "States.TaskFailed")
    assert json.loads(answer["cause"])["JobRunState"] == "STOPPED"


@pytest.mark.rule("Step Functions", source="SFN")
def test_a_stop_ends_the_job_run_that_the_task_waits_for(states):
    states.port.job("waits", "import time; time.sleep(60)")
    arn = states.machine(
        "stopped", steps("A", A=task("glue:startJobRun.sync", Parameters={"JobName": "waits"}))
    )
    execution = states.start(arn)
    wait_until(lambda: "TaskSubmitted" in states.types(execution))

    states.client.stop_execution(executionArn=execution, error="E", cause="why")

    answer = states.ended(execution)
    assert (answer["status"], answer["error"], answer["cause"]) == ("ABORTED", "E", "why")
    wait_until(lambda: states.port.states("waits") == ["STOPPED"])
    assert states.types(execution)[-1] == "ExecutionAborted"


def test_executions_are_listed_by_their_status_the_last_one_first(states):
    arn = states.machine(
        "listed",
        steps(
            "C",
            C={
                "Type": "Choice",
                "Choices": [{"Variable": "$.ok", "BooleanEquals": True, "Next": "A"}],
                "Default": "F",
            },
            A=PASS,
            F={"Type": "Fail"},
        ),
    )
    good = [states.start(arn, {"ok": True}) for _ in range(2)]
    bad = states.start(arn, {"ok": False})
    for execution in (*good, bad):
        states.ended(execution)

    def listed(**members):
        pages = states.client.get_paginator("list_executions").paginate(
            stateMachineArn=arn, PaginationConfig={"PageSize": 1}, **members
        )
        return [run["executionArn"] for page in pages for run in page["executions"]]

    assert listed() == [bad, *reversed(good)]
    assert listed(statusFilter="FAILED") == [bad]


def test_a_history_comes_in_pages_in_both_orders_and_without_data(states):
    execution = states.start(states.machine("told", steps("A", A=PASS)), {"secret": 1})
    states.ended(execution)

    forwards = [event["id"] for event in states.events(execution, maxResults=3)]
    backwards = [event["id"] for event in states.events(execution, reverseOrder=True)]
    bare = states.events(execution, includeExecutionData=False)

    assert forwards == [1, 2, 3, 4]
    assert backwards == [4, 3, 2, 1]
    assert "secret" not in json.dumps(bare, default=str)


@pytest.mark.parametrize("text", ["{", "NaN", '"' + "x" * 262_144 + '"'])
def test_an_input_that_is_no_json_or_too_large_is_refused(states, text):
    arn = states.machine("input", steps("A", A=PASS))

    with pytest.raises(ClientError) as refused:
        states.client.start_execution(stateMachineArn=arn, input=text)

    assert refused.value.response["Error"]["Code"] in (
        "InvalidExecutionInput",
        "ValidationException",
    )


def test_an_express_machine_answers_with_the_end(states):
    good = states.machine("express", steps("A", A={**PASS, "Result": 1}), type="EXPRESS")
    bad = states.machine(
        "express-bad", steps("A", A={"Type": "Fail", "Error": "E"}), type="EXPRESS"
    )
    standard = states.machine("standard", steps("A", A=PASS))

    def sync(arn):
        return states.client.start_sync_execution(stateMachineArn=arn)

    assert (sync(good)["status"], sync(good)["output"]) == ("SUCCEEDED", "1")
    assert (sync(bad)["status"], sync(bad)["error"]) == ("FAILED", "E")
    with pytest.raises(ClientError, match="not supported by this type of state machine"):
        sync(standard)
    with pytest.raises(ClientError, match="not supported by this type of state machine"):
        states.client.list_executions(stateMachineArn=good)


def test_a_task_waits_for_the_answer_to_its_token(states):
    sqs = states.port.client("sqs")
    url = sqs.create_queue(QueueName="tokens")["QueueUrl"]
    message = {"QueueUrl": url, "MessageBody": {"token.$": "$$.Task.Token"}}
    arn = states.machine(
        "tokens",
        steps(
            "A",
            A=task(
                "sqs:sendMessage.waitForTaskToken",
                Parameters=message,
                HeartbeatSeconds=600,
                Retry=[{"ErrorEquals": ["Again"], "IntervalSeconds": 1, "MaxAttempts": 1}],
            ),
        ),
    )
    execution = states.start(arn)

    def token():
        messages = wait_until(lambda: sqs.receive_message(QueueUrl=url).get("Messages"))
        sqs.delete_message(QueueUrl=url, ReceiptHandle=messages[0]["ReceiptHandle"])
        return json.loads(messages[0]["Body"])["token"]

    first = token()
    arn, attempt, _ = parts_of_token(first)
    for forged in (token_of(arn, attempt, "guessed"), token_of(arn, "B#1.1", ""), "no token"):
        with pytest.raises(ClientError, match="Invalid Token"):
            states.client.send_task_success(taskToken=forged, output="{}")
    states.client.send_task_heartbeat(taskToken=first)
    states.client.send_task_failure(taskToken=first, error="Again", cause="busy")
    second = token()
    states.client.send_task_success(taskToken=second, output='{"done": true}')

    assert json.loads(states.ended(execution)["output"]) == {"done": True}
    assert first != second
    with pytest.raises(ClientError, match="Task Timed Out"):
        states.client.send_task_success(taskToken=second, output="{}")


def test_two_homes_of_a_process_keep_their_executions_apart(tmp_path):
    with ExitStack() as stack:
        homes = [Home.open(tmp_path / name) for name in ("first", "second")]
        ports = [Port(home, *stack.enter_context(serving(home))) for home in homes]
        both = [States(port) for port in ports]
        for states in both:
            states.run("first", steps("A", A=PASS))
        for states, home in zip(both, homes, strict=True):
            call = task("aws-sdk:s3:createBucket", Parameters={"Bucket": f"of-{home.root.name}"})
            states.machine("makes", steps("A", A=call))
        for states in both:  # when the second port has made its clients too
            _, machine = states.client.list_state_machines()["stateMachines"]
            assert states.ended(states.start(machine["stateMachineArn"]))["status"] == "SUCCEEDED"

    assert [[place.name for place in home.lake.glob("of-*")] for home in homes] == [
        ["of-first"],
        ["of-second"],
    ]


def test_services_of_the_port_are_called(states):
    port = states.port
    port.client("s3").create_bucket(Bucket="results")
    port.client("dynamodb").create_table(
        TableName="counts",
        KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    sqs = port.client("sqs")
    url = sqs.create_queue(QueueName="results")["QueueUrl"]
    topic = port.client("sns").create_topic(Name="results")["TopicArn"]
    key = {"k": {"S": "1"}}
    keep = {"ResultPath": None}
    entry = {"Source": "mine", "DetailType": "done", "Detail": {"n": 1}}

    answer = states.run(
        "services",
        steps(
            "Put",
            Put=task(
                "dynamodb:putItem",
                Parameters={"TableName": "counts", "Item": {**key, "n": {"N": "5"}}},
                Next="Get",
                **keep,
            ),
            Get=task(
                "dynamodb:getItem",
                Parameters={"TableName": "counts", "Key": key},
                ResultSelector={"n.$": "$.Item.n.N"},
                Next="Write",
            ),
            Write=task(
                "aws-sdk:s3:putObject",
                Parameters={"Bucket": "results", "Key": "n.json", "Body.$": "$"},
                Next="List",
                **keep,
            ),
            List=task(
                "aws-sdk:s3:listObjectsV2",
                Parameters={"Bucket": "results"},
                ResultSelector={"key.$": "$.Contents[0].Key"},
                ResultPath="$.s3",
                Next="Publish",
            ),
            Publish=task(
                "sns:publish", Parameters={"TopicArn": topic, "Message": "hi"}, Next="Tell", **keep
            ),
            Tell=task("events:putEvents", Parameters={"Entries": [entry]}, Next="Send", **keep),
            Send=task(
                "sqs:sendMessage", Parameters={"QueueUrl": url, "MessageBody.$": "$"}, **keep
            ),
        ),
    )

    expected = {"n": "5", "s3": {"key": "n.json"}}
    assert json.loads(answer["output"]) == expected
    assert (port.home.lake / "results" / "n.json").read_text() == '{"n":"5"}'
    assert json.loads(sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"]) == expected


@pytest.mark.parametrize("suffix", ["", ".sync", ".sync:2"])
def test_a_machine_starts_another_one(states, suffix):
    child = states.machine("child", steps("A", A={**PASS, "Result": {"n": 1}}))
    name = f"parent{suffix.replace(':', '-')}"
    call = task(
        f"states:startExecution{suffix}", Parameters={"StateMachineArn": child, "Input": {}}
    )

    output = json.loads(states.run(name, steps("A", A=call))["output"])

    assert output.get("Output") == {"": None, ".sync": '{"n":1}', ".sync:2": {"n": 1}}[suffix]


def test_jsonata_sees_texts_with_quotation_marks_and_variables(states):
    machine = {
        "QueryLanguage": "JSONata",
        "StartAt": "A",
        "States": {
            "A": {
                "Type": "Pass",
                "Assign": {"text": "{% $states.input.text %}"},
                "Output": {
                    "sum": "{% $sum($states.input.numbers) %}",
                    "hash": "{% $hash('a', 'SHA-1') %}",
                },
                "Next": "B",
            },
            "B": {"Type": "Succeed", "Output": "{% $text & $string($states.input.sum) %}"},
        },
    }

    answer = states.run("jsonata", machine, {"numbers": [1, 2], "text": 'say "hi" '})

    assert json.loads(answer["output"]) == 'say "hi" 3'


def test_paths_return_one_value_or_a_list_as_on_aws(states):
    paths = {
        "one.$": "$.rows[0].n",
        "all.$": "$.rows[*].n",
        "some.$": "$.rows[?(@.n==2)].n",
        "slice.$": "$.rows[0:1]",
        "none.$": "$.empty[*].n",
    }

    answer = states.run(
        "paths",
        steps("A", A={**PASS, "Parameters": paths}),
        {"rows": [{"n": 1}, {"n": 2}], "empty": []},
    )

    assert json.loads(answer["output"]) == {
        "one": 1,
        "all": [1, 2],
        "some": [2],
        "slice": [{"n": 1}],
        "none": [],
    }


def test_a_stop_aborts_what_tasks_wait_for_in_the_same_transaction(port, states):
    child = states.machine("long", steps("W", W={"Type": "Wait", "Seconds": 600, **END}))
    started = {"StateMachineArn": child, "Name": "awaited"}
    alone = task("states:startExecution", Parameters={**started, "Name": "alone"}, Next="B")
    waits = task("states:startExecution.sync:2", Parameters=started)
    parent = states.start(states.machine("stops-both", steps("A", A=alone, B=waits)))

    def children(glue):
        return {run.name: run.status for run in executions_of(glue.store, child)}

    wait_until(lambda: "awaited" in port.engine.ask(children))

    def stop_and_look(glue):
        stop_execution(glue, {"executionArn": parent})
        return children(glue)  # no thread of the execution has done anything since

    assert port.engine.ask(stop_and_look) == {"alone": "RUNNING", "awaited": "ABORTED"}


def test_a_missing_heartbeat_is_caught_by_its_name(port, states):
    queue = port.client("sqs").create_queue(QueueName="beats")["QueueUrl"]
    parameters = {"QueueUrl": queue, "MessageBody.$": "$$.Task.Token"}
    catch = [{"ErrorEquals": ["States.HeartbeatTimeout"], "Next": "B"}]
    waits = task(
        "sqs:sendMessage.waitForTaskToken",
        Parameters=parameters,
        HeartbeatSeconds=1,
        Catch=catch,
        Next="B",
    )

    answer = states.run("beats", steps("A", A=waits, B={**PASS, "Result": "caught"}))

    assert answer["output"] == '"caught"'
