"""Triggers outside workflows, by boto3."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home

pytestmark = pytest.mark.stress  # starts many processes

FAIL = "raise ValueError('no')"


def watch(job, state="SUCCEEDED"):
    return {"LogicalOperator": "EQUALS", "JobName": job, "State": state}


def on_demand(port, name, *jobs, **members):
    actions = [job if isinstance(job, dict) else {"JobName": job} for job in jobs]
    port.glue.create_trigger(Name=name, Type="ON_DEMAND", Actions=actions, **members)
    return name


def after(port, name, started, *conditions, logical="AND", active=True, **members):
    port.glue.create_trigger(
        Name=name,
        Type="CONDITIONAL",
        StartOnCreation=active,
        Predicate={"Logical": logical, "Conditions": list(conditions)},
        Actions=[started if isinstance(started, dict) else {"JobName": started}],
        **members,
    )


def jobs(port, *names, text=""):
    for name in names:
        port.job(name, text)
    return names


def test_a_chain_runs_in_order_and_says_what_started_each(port):
    one, two = jobs(port, "chain-1", "chain-2")
    after(port, "chain-then", {"JobName": two, "Arguments": {"--a": "1"}, "Timeout": 9}, watch(one))
    on_demand(port, "chain-start", one)

    port.glue.start_trigger(Name="chain-start")
    wait_until(lambda: port.states(two) == ["SUCCEEDED"])

    (first,) = port.glue.get_job_runs(JobName=one)["JobRuns"]
    (second,) = port.glue.get_job_runs(JobName=two)["JobRuns"]
    assert (first["TriggerName"], second["TriggerName"]) == ("chain-start", "chain-then")
    assert (second["Arguments"], second["Timeout"]) == ({"--a": "1"}, 9)
    run = port.run(two, second["Id"])
    assert run["PredecessorRuns"] == [{"JobName": one, "RunId": first["Id"]}]


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="TRG, TRC")
def test_a_run_that_a_client_starts_fires_no_conditional_trigger(port):
    one, two = jobs(port, "by-hand-1", "by-hand-2")
    after(port, "by-hand-then", two, watch(one))

    port.ended(one, port.start(one))
    port.settle()

    assert port.states(two) == []


@pytest.mark.nightly
def test_an_inactive_trigger_fires_nothing_until_it_is_started(port):
    one, two = jobs(port, "asleep-1", "asleep-2")
    after(port, "asleep-then", two, watch(one), active=False)
    on_demand(port, "asleep-start", one)
    state = lambda: port.glue.get_trigger(Name="asleep-then")["Trigger"]["State"]  # noqa: E731

    found = []
    for change in (None, port.glue.start_trigger, port.glue.stop_trigger):
        if change:
            change(Name="asleep-then")
        port.glue.start_trigger(Name="asleep-start")
        port.settle()
        found.append((state(), len(port.states(two))))

    assert found == [("CREATED", 0), ("ACTIVATED", 1), ("DEACTIVATED", 1)]


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="TRSS")
@pytest.mark.parametrize("kind", ["ON_DEMAND", "SCHEDULED", "CONDITIONAL"])
def test_a_trigger_that_was_never_active_cannot_be_stopped(port, kind):
    one, two = f"never-{kind}-1".lower(), f"never-{kind}-2".lower()
    jobs(port, one, two)
    if kind == "CONDITIONAL":
        after(port, one, two, watch(one), active=False)
    else:
        timed = {"Schedule": "cron(0 12 * * ? *)"} if kind == "SCHEDULED" else {}
        port.glue.create_trigger(Name=one, Type=kind, Actions=[{"JobName": two}], **timed)

    with pytest.raises(port.glue.exceptions.InvalidInputException, match="in state: CREATED"):
        port.glue.stop_trigger(Name=one)

    assert port.glue.get_trigger(Name=one)["Trigger"]["State"] == "CREATED"


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="TRG, RP1")
def test_all_of_several_conditions_are_met_within_one_firing(port):
    one, two, three = jobs(port, "both-1", "both-2", "both-3")
    after(port, "both-then", three, watch(one), watch(two))
    on_demand(port, "both-first", one)
    on_demand(port, "both-second", two)
    on_demand(port, "both-all", one, two)

    port.glue.start_trigger(Name="both-first")
    port.settle()
    port.glue.start_trigger(Name="both-second")
    port.settle()
    apart = port.states(three)
    port.glue.start_trigger(Name="both-all")
    port.settle()

    assert (apart, port.states(three)) == ([], ["SUCCEEDED"])


@pytest.mark.rule("Triggers and workflows", source="SILENT", choice="once per firing")
def test_any_of_several_conditions_fires_once(port):
    one, two, three = jobs(port, "any-1", "any-2", "any-3")
    after(port, "any-then", three, watch(one), watch(two), logical="ANY")
    on_demand(port, "any-all", one, two)

    port.glue.start_trigger(Name="any-all")
    port.settle()

    assert port.states(three) == ["SUCCEEDED"]


def test_a_failure_takes_its_own_branch(port):
    (good, bad) = jobs(port, "branch-good", "branch-bad")
    port.job("branch-fails", FAIL)
    after(port, "branch-on-success", good, watch("branch-fails"))
    after(port, "branch-on-failure", bad, watch("branch-fails", "FAILED"))
    on_demand(port, "branch-start", "branch-fails")

    port.glue.start_trigger(Name="branch-start")
    port.settle()

    assert (port.states(good), port.states(bad)) == ([], ["SUCCEEDED"])


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="STAT")
def test_a_job_that_cannot_start_is_a_failed_run_and_a_deleted_one_an_error(port):
    one, gone = jobs(port, "cannot-1", "cannot-gone")
    (told,) = jobs(port, "cannot-told")
    after(port, "cannot-then", told, watch(one, "FAILED"))
    on_demand(port, "cannot-start", one, one, gone)
    port.glue.delete_job(JobName=gone)

    port.glue.start_trigger(Name="cannot-start")
    port.settle()
    port.job(gone)  # its runs are seen again

    assert sorted(port.states(one)) == ["FAILED", "SUCCEEDED"]
    failed = [r for r in port.glue.get_job_runs(JobName=one)["JobRuns"] if "ErrorMessage" in r]
    assert [run["ErrorMessage"] for run in failed] == [f"Concurrent runs exceeded for {one}"]
    assert port.states(gone) == ["ERROR"]


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="TRA")
def test_triggers_are_listed_changed_and_deleted(port):
    one, two = jobs(port, "list-1", "list-2")
    on_demand(port, "list-a", one, Description="old", Tags={"list": "1"})
    after(port, "list-b", two, watch(one), Tags={"list": "1"})
    glue = port.glue

    update = {"Actions": [{"JobName": two}]}  # the whole definition
    changed = glue.update_trigger(Name="list-a", TriggerUpdate=update)["Trigger"]
    with pytest.raises(glue.exceptions.InvalidInputException, match=port.says("Actions is empty")):
        glue.update_trigger(Name="list-a", TriggerUpdate={"Description": "new"})
    several = glue.batch_get_triggers(TriggerNames=["list-a", "nobody"])

    assert ("Description" in changed, changed["Actions"]) == (False, [{"JobName": two}])
    assert (changed["Type"], changed["State"]) == ("ON_DEMAND", "CREATED")
    assert glue.list_triggers(Tags={"list": "1"})["TriggerNames"] == ["list-a", "list-b"]
    found = glue.get_triggers(DependentJobName=two)["Triggers"]
    assert [trigger["Name"] for trigger in found] == ["list-a", "list-b"]
    assert ([t["Name"] for t in several["Triggers"]], several["TriggersNotFound"]) == (
        ["list-a"],
        ["nobody"],
    )
    for _ in range(2):  # one that is not there is no error
        assert glue.delete_trigger(Name="list-a")["Name"] == "list-a"
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.start_trigger(Name="list-a")


@pytest.mark.on_aws
@pytest.mark.rule("Triggers and workflows", source="TRA, BOTO")
@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"Type": "ON_DEMAND", "StartOnCreation": True}, "StartOnCreation"),
        ({"Type": "ON_DEMAND", "Actions": []}, "Actions"),
        ({"Type": "ON_DEMAND", "Actions": [{}]}, "JobName and CrawlerName"),
        ({"Type": "SCHEDULED"}, "Schedule"),
        ({"Type": "SCHEDULED", "Schedule": "cron(* * * * ? *)"}, "5 min or more"),
        ({"Type": "CONDITIONAL"}, "Predicate"),
        ({"Predicate": {"Conditions": [{"JobName": "wrong-1", "State": "FAILED"}]}}, "operator"),
        ({"Predicate": {"Conditions": [watch("wrong-1", "ERROR")]}}, "SUCCEEDED, STOPPED"),
        ({"Predicate": {"Conditions": [watch("wrong-2")]}}, "Predicate and Action"),
        ({"Predicate": {"Conditions": [watch("wrong-1"), watch("wrong-3")]}}, "Logical"),
        ({"Type": "EVENT"}, "WorkflowName"),
        ({"Type": "ON_DEMAND", "EventBatchingCondition": {"BatchSize": 1}}, "EVENT"),
    ],
)
def test_a_trigger_that_glue_refuses_is_refused(port, members, named):
    if not port.glue.batch_get_jobs(JobNames=["wrong-2"])["Jobs"]:
        jobs(port, "wrong-1", "wrong-2", "wrong-3")
    actions = [{"JobName": "wrong-2"}]
    request = {"Name": "wrong", "Type": "CONDITIONAL", "Actions": actions, **members}

    with pytest.raises(port.glue.exceptions.InvalidInputException, match=port.says(named)):
        port.glue.create_trigger(**request)

    assert "wrong" not in port.glue.list_triggers()["TriggerNames"]


def test_a_trigger_of_a_job_that_is_not_there_is_refused(port):
    with pytest.raises(port.glue.exceptions.EntityNotFoundException, match="nobody"):
        on_demand(port, "of-nobody", "nobody")


def test_a_trigger_of_a_crawler_that_is_not_there_is_kept_and_does_not_fire(port):
    on_demand(port, "crawls", {"CrawlerName": "c"})

    with pytest.raises(port.glue.exceptions.EntityNotFoundException, match="crawler 'c'"):
        port.glue.start_trigger(Name="crawls")


@pytest.mark.rule("Triggers and workflows", source="CRON", choice="missed times are not caught up")
def test_a_schedule_fires_by_the_clock_in_utc_once_each_time(tmp_path):
    begin = datetime(2026, 1, 1, 11, 50, tzinfo=UTC).timestamp()
    now = [begin]
    home = Home.open(tmp_path / "home")
    options = Options(clock=lambda: int(now[0] * 1000))
    counts = []
    with serving(home, options) as (url, engine):
        port = Port(home, url, engine)
        jobs(port, "timed", "idle")
        schedule = {"Type": "SCHEDULED", "Schedule": "cron(0/15 12 * * ? *)"}
        for name, active in (("timed", True), ("idle", False)):
            actions = [{"JobName": name}]
            port.glue.create_trigger(Name=name, Actions=actions, StartOnCreation=active, **schedule)
        for minutes in (9, 10, 12, 60, 24 * 60 + 20):  # 11:59, 12:00, 12:02, 12:50, 12:10
            now[0] = begin + minutes * 60
            time.sleep(0.3)
            port.settle()
            counts.append(len(port.states("timed")))
    now[0] = begin + 60 * 26 * 60
    with serving(home, options) as (url, engine):
        port = Port(home, url, engine)
        time.sleep(0.3)
        port.settle()
        counts.append(len(port.states("timed")))
        assert port.states("idle") == []

    assert counts == [0, 1, 1, 2, 3, 3]
