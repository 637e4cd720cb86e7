"""A part of a workflow."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tidemark.cli.main import main
from tidemark.errors import UsageError
from tidemark.glue_service.workflows.selection import Selection, select
from tidemark.model.assembly.definitions import (
    Action,
    Deployment,
    TriggerCondition,
    TriggerDefinition,
)

START = TriggerDefinition("start", "SCHEDULED", (Action("a", {"--x": "1"}), Action("b")), "flow")


def after(name, started, *conditions, logical="AND"):
    return TriggerDefinition(
        name,
        "CONDITIONAL",
        tuple(Action(job) for job in started),
        "flow",
        logical,
        tuple(TriggerCondition(*condition) for condition in conditions),
    )


TRIGGERS = (
    START,
    after("t1", ["c"], ("a", "SUCCEEDED"), ("b", "SUCCEEDED")),
    after("t2", ["d", "e"], ("c", "SUCCEEDED")),
    after("t3", ["f"], ("a", "FAILED"), ("c", "SUCCEEDED")),
    after("t4", ["g"], ("b", "SUCCEEDED")),
    after("t5", ["h"], ("b", "SUCCEEDED"), ("d", "FAILED"), logical="ANY"),
)
OTHER = TriggerDefinition("other", "ON_DEMAND", (Action("z"),), "another")


def part(job, *, following):
    deployment = Deployment({}, (*TRIGGERS, OTHER), ("flow", "another"), (), (), {}, "eu-west-2")
    chosen = select(deployment, "flow", Selection(job, following))
    assert chosen.triggers_of("another") == (OTHER,)
    return [
        (
            one.name,
            one.type,
            [action.job_name for action in one.actions],
            [(condition.job_name, condition.state) for condition in one.conditions],
        )
        for one in chosen.triggers_of("flow")
    ]


def test_one_job_alone_starts_with_the_arguments_of_its_trigger():
    deployment = Deployment({}, TRIGGERS, ("flow",), (), (), {}, "eu-west-2")

    (start,) = select(deployment, "flow", Selection("a", has_following=False)).triggers

    assert (start.type, start.actions) == ("ON_DEMAND", (Action("a", {"--x": "1"}),))
    assert part("e", following=False) == [("t2", "ON_DEMAND", ["e"], [])]


def test_what_follows_a_job_runs_and_what_is_beside_it_counts_as_succeeded():
    assert part("c", following=True) == [
        ("t1", "ON_DEMAND", ["c"], []),
        ("t2", "CONDITIONAL", ["d", "e"], [("c", "SUCCEEDED")]),
        ("t5", "CONDITIONAL", ["h"], [("d", "FAILED")]),
    ]
    assert [name for name, *_ in part("a", following=True)] == ["start", "t1", "t2", "t3", "t5"]
    assert part("g", following=True) == [("t4", "ON_DEMAND", ["g"], [])]


def test_a_job_that_the_workflow_does_not_start_is_told_with_the_nearest(home):
    with pytest.raises(UsageError, match="starts no job 'z'; allowed: a, b, c"):
        part("z", following=False)


@pytest.mark.nightly
def test_a_part_is_run_by_the_command_line(home, write_assembly):
    scripts = {name: f"print('ran {name}')" for name in ("one", "two", "three")}
    app = str(write_assembly(scripts, after={"two": ["one"], "three": ["two"]}))

    def run(*words):
        result = CliRunner().invoke(main, ["run", "--app", app, *words], env={"COLUMNS": "200"})
        return result.exit_code, [name for name in scripts if f"{name}  " in result.output]

    assert run("--only", "two") == (0, ["two"])
    assert run("--from", "two") == (0, ["two", "three"])
    assert run("--only", "four")[0] == 2
    assert run("--only", "one", "--from", "two")[0] == 2
