"""Which workflow `tidemark run` runs: the named one, or the only one that starts anything."""

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_service.one_run import chosen_workflow
from tidemark.model.assembly.definitions import Deployment, TriggerDefinition


def deployment(*started, streamed=()):
    """Return workflows that have a start trigger, and others of streaming jobs alone."""
    triggers = tuple(
        TriggerDefinition(name=f"{name}-start", type="ON_DEMAND", workflow_name=name, actions=())
        for name in started
    )
    return Deployment({}, triggers, (*streamed, *started), (), (), {}, "eu-west-1")


def test_a_workflow_of_streaming_jobs_alone_is_not_in_the_way_of_another():
    assert chosen_workflow(deployment("orders", streamed=["clicks"]), None) == "orders"


@pytest.mark.parametrize("name", [None, "clicks"])
def test_a_workflow_of_streaming_jobs_alone_is_refused_by_name(name):
    with pytest.raises(UnsupportedError, match="workflow clicks starts nothing"):
        chosen_workflow(deployment(streamed=["clicks"]), name)


def test_of_several_workflows_one_is_named():
    with pytest.raises(UsageError, match="allowed: orders, visits; name it"):
        chosen_workflow(deployment("orders", "visits", streamed=["clicks"]), None)
    assert chosen_workflow(deployment("orders", "visits"), "visits") == "visits"
