"""EVENT triggers, by boto3: rules of EventBridge send events to them."""

from __future__ import annotations

import json
import time

import pytest
from click.testing import CliRunner

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark import extras
from tidemark.cli.main import main
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home

pytestmark = pytest.mark.stress  # starts many processes

NOW = [1_700_000_000.0]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """A home whose clock the tests turn, and what is said."""
    home = Home.open(tmp_path_factory.mktemp("events") / "home")
    said: list[str] = []
    options = Options(clock=lambda: int(NOW[0] * 1000), say=said.append)
    with serving(home, options) as (url, engine):
        port = Port(home, url, engine)
        port.events, port.said = port.client("events"), said
        yield port


def listening(port, name, batch=None, pattern=None, **workflow):
    """Define a workflow that events of a source start, and the job of the same name."""
    port.job(name)
    port.glue.create_workflow(Name=name, **workflow)
    members = {} if batch is None else {"EventBatchingCondition": batch}
    actions = [{"JobName": name}]
    port.glue.create_trigger(Name=name, Type="EVENT", WorkflowName=name, Actions=actions, **members)
    pattern = pattern or {"source": [f"acme.{name}"]}
    port.events.put_rule(Name=name, EventPattern=json.dumps(pattern))
    arn = f"arn:aws:glue:us-east-1:000000000000:workflow/{name}"
    port.events.put_targets(Rule=name, Targets=[{"Id": "workflow", "Arn": arn}])
    return name


def put(port, name, count=1, **members):
    entry = {"Source": f"acme.{name}", "DetailType": "Closed", "Detail": '{"day": 1}', **members}
    answer = port.events.put_events(Entries=[entry] * count)
    assert answer["FailedEntryCount"] == 0
    return [entry["EventId"] for entry in answer["Entries"]]


def turn(seconds):
    NOW[0] += seconds
    time.sleep(0.3)  # longer than an engine that has nothing to do looks at its clock


def runs(port, name):
    port.settle()
    return port.glue.get_workflow_runs(Name=name)["Runs"]


@pytest.mark.rule("Triggers and workflows", source="WFE, BOTO")
def test_an_event_that_a_rule_sends_to_a_workflow_starts_it_and_is_a_run_property(port):
    name = listening(port, "closed", DefaultRunProperties={"day": "1"})

    (event_id,) = put(port, name)
    put(port, "other")

    (run,) = runs(port, name)
    assert (run["Status"], run["Statistics"]["SucceededActions"]) == ("COMPLETED", 1)
    assert run["WorkflowRunProperties"] == {"day": "1", "aws:eventIds": f"[{event_id}]"}
    assert run["StartingEventBatchCondition"] == {"BatchSize": 1, "BatchWindow": 900}


@pytest.mark.rule("Triggers and workflows", source="WF")
def test_a_complete_batch_starts_one_run_and_the_next_batch_starts_empty(port):
    name = listening(port, "batch", {"BatchSize": 3})

    first = put(port, name, 2)
    before = len(runs(port, name))
    first += put(port, name)
    put(port, name)

    (run,) = runs(port, name)
    assert before == 0
    assert run["WorkflowRunProperties"]["aws:eventIds"] == f"[{', '.join(first)}]"
    assert run["StartingEventBatchCondition"] == {"BatchSize": 3, "BatchWindow": 900}


@pytest.mark.rule("Triggers and workflows", source="WF")
def test_an_incomplete_batch_starts_a_run_when_its_window_ends(port):
    name = listening(port, "window", {"BatchSize": 3, "BatchWindow": 60})

    (first,) = put(port, name)
    turn(40)
    (second,) = put(port, name)
    turn(19)  # 59 s after the first event
    before = len(runs(port, name))
    turn(2)

    (run,) = runs(port, name)
    turn(120)
    assert (before, len(runs(port, name))) == (0, 1)
    assert run["WorkflowRunProperties"]["aws:eventIds"] == f"[{first}, {second}]"
    assert run["StartingEventBatchCondition"] == {"BatchSize": 2, "BatchWindow": 60}


@pytest.mark.rule("Triggers and workflows", source="WF")
def test_an_event_whose_run_is_refused_is_used_up(port):
    name = listening(port, "refused", MaxConcurrentRuns=1)
    port.script(name, "import time; time.sleep(60)")

    put(port, name, 2)

    (run,) = port.glue.get_workflow_runs(Name=name)["Runs"]
    port.glue.stop_workflow_run(Name=name, RunId=run["WorkflowRunId"])
    assert len(runs(port, name)) == 1
    assert any("Concurrent runs exceeded for workflow: refused" in text for text in port.said)


@pytest.mark.nightly
@pytest.mark.parametrize("starts", [False, True])
@pytest.mark.rule("Triggers and workflows", source="TRSS")
def test_an_event_trigger_stays_created_and_only_events_start_it(port, starts):
    name = listening(port, f"asleep-{starts}".lower())
    port.glue.delete_trigger(Name=name)
    members = {"Actions": [{"JobName": name}], "WorkflowName": name, "StartOnCreation": starts}
    port.glue.create_trigger(Name=name, Type="EVENT", **members)

    found = []
    for change, words in (
        (port.glue.start_trigger, "Trigger Type EVENT cannot be started"),
        (port.glue.stop_trigger, "not allowed when trigger is in state: CREATED"),
    ):
        with pytest.raises(port.glue.exceptions.InvalidInputException, match=words):
            change(Name=name)
        put(port, name)
        state = port.glue.get_trigger(Name=name)["Trigger"]["State"]
        found.append((state, len(runs(port, name))))

    assert found == [("CREATED", 1), ("CREATED", 2)]


@pytest.mark.rule("The API on a port", source="EVENTS")
def test_objects_that_clients_put_are_s3_events_if_a_rule_matches_them(port):
    objects = {"bucket": {"name": ["landing"]}, "object": {"key": [{"prefix": "in/"}]}}
    pattern = {"source": ["aws.s3"], "detail-type": ["Object Created"], "detail": objects}
    name = listening(port, "arrivals", pattern=pattern)
    s3 = port.client("s3", s3={"addressing_style": "path"})
    s3.create_bucket(Bucket="landing")

    s3.put_object(Bucket="landing", Key="in/ä b.csv", Body=b"12345")
    s3.put_object(Bucket="landing", Key="out/b.csv", Body=b"12345")
    copied = {"Bucket": "landing", "Key": "in/ä b.csv"}
    s3.copy_object(Bucket="landing", Key="in/c.csv", CopySource=copied)
    wait_until(lambda: len(port.glue.get_workflow_runs(Name=name)["Runs"]) == 2)

    lines = (port.home.root / "events.jsonl").read_text(encoding="utf-8").splitlines()
    seen = [event for line in lines if (event := json.loads(line))["source"] == "aws.s3"]
    told = [event["detail"]["object"] for event in seen]
    assert [(one["key"], one["size"]) for one in told] == [("in/ä b.csv", 5), ("in/c.csv", 5)]
    assert told[0]["etag"] == "827ccb0eea8a706c4c34a16891f84e7b"
    assert [event["detail"]["reason"] for event in seen] == ["PutObject", "CopyObject"]
    assert seen[0]["resources"] == ["arn:aws:s3:::landing"]
    ids = {run["WorkflowRunProperties"]["aws:eventIds"] for run in runs(port, name)}
    assert ids == {f"[{event['id']}]" for event in seen}
    port.events.remove_targets(Rule=name, Ids=["workflow"])
    port.events.delete_rule(Name=name)


@pytest.mark.nightly
@pytest.mark.rule("The API on a port", source="EVENTS")
def test_the_end_of_a_run_is_an_event_that_starts_another_workflow(port):
    pattern = {
        "source": ["aws.glue"],
        "detail-type": ["Glue Job State Change"],
        "detail": {"jobName": ["watched"], "state": ["FAILED"]},
    }
    name = listening(port, "clean-up", pattern=pattern)
    for text in ("", "raise ValueError('no')"):
        if text:
            port.script("watched", text)
        else:
            port.job("watched")
        port.ended("watched", port.start("watched"))

    wait_until(lambda: port.glue.get_workflow_runs(Name=name)["Runs"])
    assert len(runs(port, name)) == 1


def test_a_target_that_is_not_here_is_named(port, monkeypatch):
    port.events.put_rule(Name="alarm", EventPattern='{"source": ["acme.alarm"]}')
    queue, topic = (f"arn:aws:{one}:us-east-1:000000000000:alarms" for one in ("sqs", "sns"))
    targets = [{"Id": "queue", "Arn": queue}, {"Id": "topic", "Arn": topic}]
    port.events.put_targets(Rule="alarm", Targets=targets)
    monkeypatch.setattr(extras, "find_spec", lambda module: None if module == "moto" else module)

    put(port, "alarm")

    assert f"its target {queue} is on AWS only" in port.said[-2]
    assert f"its target {topic} gets nothing: SNS is not on this machine" in port.said[-1]
    assert "tidemark-glue[services]" in port.said[-1]


@pytest.mark.rule("The API on a port", source="EVENTS")
@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"Detail": "{"}, "MalformedDetail"),
        ({"Detail": "[]"}, "MalformedDetail"),
        ({"Detail": '{"a": NaN}'}, "MalformedDetail"),
        ({"Detail": '{"a": 1e400}'}, "MalformedDetail"),
        ({"Detail": '{"a":' * 90_000 + "1" + "}" * 90_000}, "MalformedDetail"),
        ({"Time": -5}, "InvalidArgument"),
        ({"Source": ""}, "InvalidArgument"),
        ({"DetailType": ""}, "InvalidArgument"),
        ({"Source": "aws.s3"}, "NotAuthorizedForSourceException"),
        ({"EventBusName": "mine"}, "ResourceNotFoundException"),
    ],
)
def test_an_entry_that_is_not_an_event_fails_alone(port, members, code):
    good = {"Source": "acme", "DetailType": "x", "Detail": "{}"}

    answer = port.events.put_events(Entries=[{**good, **members}, good])

    bad, put_one = answer["Entries"]
    assert (answer["FailedEntryCount"], bad["ErrorCode"]) == (1, code)
    assert len(put_one["EventId"]) == 36


def test_rules_are_listed_changed_and_deleted(port):
    events = port.events
    events.put_rule(Name="listed-1", EventPattern='{"source": ["a"]}', Description="one")
    events.put_targets(Rule="listed-1", Targets=[{"Id": "t", "Arn": "arn:aws:sqs:::x"}])
    events.put_rule(Name="listed-1", EventPattern='{"source": ["b"]}', State="DISABLED")

    (rule,) = events.list_rules(NamePrefix="listed-")["Rules"]
    targets = events.list_targets_by_rule(Rule="listed-1")["Targets"]

    assert (rule["State"], rule["EventPattern"]) == ("DISABLED", '{"source": ["b"]}')
    assert targets == [{"Id": "t", "Arn": "arn:aws:sqs:::x"}]
    with pytest.raises(events.exceptions.ClientError, match="has targets"):
        events.delete_rule(Name="listed-1")
    events.remove_targets(Rule="listed-1", Ids=["t"])
    events.delete_rule(Name="listed-1")
    assert events.list_rules(NamePrefix="listed-")["Rules"] == []
    with pytest.raises(events.exceptions.ResourceNotFoundException):
        events.put_targets(Rule="listed-1", Targets=[{"Id": "t", "Arn": "arn:aws:sqs:::x"}])
    deep = '{"a":' * 150 + '["x"]' + "}" * 150
    for pattern in ("{", '{"source": "a"}', '{"a": [{"like": "x"}]}', '{"a": [1e400]}', deep):
        with pytest.raises(events.exceptions.InvalidEventPatternException):
            events.put_rule(Name="listed-2", EventPattern=pattern)
    with pytest.raises(events.exceptions.ClientError, match="allowed: a string that"):
        events.put_rule(Name="../ä", EventPattern='{"source": ["a"]}')
    with pytest.raises(events.exceptions.ClientError, match="ScheduleExpression is not valid"):
        events.put_rule(Name="listed-2", ScheduleExpression="rate(1 second)")


def test_the_command_puts_events_of_aws_too(port, monkeypatch, tmp_path):
    name = listening(port, "by-command", pattern={"source": ["aws.s3"], "detail": {"n": [1]}})
    monkeypatch.setenv("TIDEMARK_HOME", str(port.home.root))
    detail = tmp_path / "detail.json"
    detail.write_text('{"n": 1}', encoding="utf-8")

    def command(*words):
        base = ["event", "put", "--source", "aws.s3", "--detail-type", "Object Created"]
        return CliRunner().invoke(main, [*base, *words])

    matched = command("--detail", f"@{detail}")
    other = command("--detail", '{"n": 2}')
    wrong = command("--detail", "[]")
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "nobody"))
    alone = command()

    assert matched.stdout.strip().endswith("matches by-command")
    assert other.stdout.strip().endswith("matches no rule")
    assert (wrong.exit_code, "--detail must be a JSON object" in wrong.stderr) == (2, True)
    assert (alone.exit_code, "serve" in alone.stderr) == (2, True)
    assert len(runs(port, name)) == 1
    port.events.put_rule(Name=name, EventPattern='{"source": ["none"]}')


def test_events_that_wait_outlive_the_engine(tmp_path):
    home = Home.open(tmp_path / "home")
    options = Options(clock=lambda: int(NOW[0] * 1000))
    with serving(home, options) as (url, engine):
        port = Port(home, url, engine)
        port.events = port.client("events")
        name = listening(port, "waits", {"BatchSize": 9, "BatchWindow": 900})
        (event_id,) = put(port, name)
    NOW[0] += 901

    with serving(home, options) as (url, engine):
        port = Port(home, url, engine)
        wait_until(lambda: port.glue.get_workflow_runs(Name=name)["Runs"])
        (run,) = runs(port, name)

    assert run["WorkflowRunProperties"]["aws:eventIds"] == f"[{event_id}]"
