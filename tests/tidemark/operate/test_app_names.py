"""What an assembly says of a stage: names, account and region."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import Assembly, Stack
from tidemark.operate.app_names import Names, names_of_stage


def stack(stage: str | None = None, environment: str = "", **resources: Any) -> Stack:
    tags = {"Tags": {"tidemark:stage": stage}} if stage else {}
    template = {
        "Resources": {
            name: {"Type": f"AWS::Glue::{kind}", "Properties": {"Name": name, **tags}}
            for name, kind in resources.items()
        }
    }
    return Stack(f"app-{stage}", template, environment=environment)


def names(*stacks: Stack, stage: str = "prod") -> Names:
    return names_of_stage(Assembly(stacks, ()), stage, "us-east-1")


def test_jobs_and_workflows_are_named_with_the_place_of_their_stage():
    found = names(stack("prod", "aws://123456789012/eu-west-1", load="Job", flow="Workflow"))

    assert (found.jobs, found.workflows) == (("load",), ("flow",))
    assert (found.account, found.region, found.stage) == ("123456789012", "eu-west-1", "prod")
    assert found.workflow(None) == "flow"


def test_of_an_app_with_several_stages_those_of_the_one_asked_for_count():
    europe = stack("prod", "aws://123456789012/eu-west-1", load="Job")
    here = stack("dev", "aws://unknown-account/unknown-region", try_it="Job")

    assert names(europe, here).jobs == ("load",)
    assert names(europe, here, stage="dev").jobs == ("try_it",)
    assert names(europe, here, stage="dev").account is None


def test_what_an_app_does_not_say_is_not_known():
    found = names(stack(None, "aws://unknown-account/unknown-region", load="Job"))

    assert (found.account, found.region) == (None, None)


def test_names_that_only_aws_makes_up_are_left_out():
    template = {"Resources": {"J": {"Type": "AWS::Glue::Job", "Properties": {"Command": {}}}}}

    with pytest.raises(UsageError, match="no Glue job with a fixed name"):
        names(Stack("app", template))


@pytest.mark.parametrize(
    ("stacks", "said"),
    [
        ([stack("dev", load="Job")], "of the stage dev, not 'prod'"),
        (
            [stack(None, "aws://1/a", load="Job"), stack(None, "aws://1/b", more="Job")],
            "several places, 1/a, 1/b",
        ),
        ([Stack("app", {"Resources": {"J": {}}})], "could not be deployed"),
    ],
)
def test_what_is_no_stage_is_refused(stacks, said):
    with pytest.raises(UsageError, match=said):
        names(*stacks)


def test_of_several_workflows_one_is_to_be_named():
    found = Names(("a",), ("daily", "hourly"))

    assert found.workflow("daily") == "daily"
    with pytest.raises(UsageError, match="--workflow; allowed: daily, hourly"):
        found.workflow(None)
    with pytest.raises(UsageError, match="did you mean hourly"):
        found.workflow("hurly")
    with pytest.raises(UsageError, match=r"there is no workflow; `tidemark run`.*`tidemark init"):
        Names(("a",), ()).workflow(None)


def test_a_message_lists_the_first_of_many_names():
    with pytest.raises(UsageError, match=r"j11, and 88 more$"):
        Names(tuple(f"j{number}" for number in range(100)), ()).job("zzzz")
