"""`tidemark mcp` of a stage and of a home that a port serves: an agent rewinds a job."""

from __future__ import annotations

import pytest

from tests.tidemark.agents.agent import Agent, talk
from tests.tidemark.cli.deployed_stages import ServedHome, bookmark_of

pytestmark = [pytest.mark.stress, pytest.mark.nightly]
ASKED = {"jobs": ["report"], "to": "jr_r1"}


def test_an_agent_rewinds_by_the_plan_that_it_was_shown(rewindable_target, tmp_path):
    target, _ = rewindable_target
    is_stage = not isinstance(target, ServedHome)
    app = {} if is_stage else {"app": str(target.app.relative_to(tmp_path))}
    words = ("--deployed", "prod", "--app", str(target.app)) if is_stage else ()

    async def story(agent: Agent) -> None:
        listed = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        assert ("lint" in listed) is not is_stage  # it has no --deployed
        assert ("app" in listed["rewind"].input_schema["properties"]) is not is_stage
        plan = await agent.ask("plan_rewind", **ASKED, **app)
        (move,) = plan["untrusted"]["answer"]["jobs"][0]["states"]
        assert (move["from_run"], move["to_run"]) == ("jr_r3", "jr_r1")
        assert bookmark_of(target, "report")[0] == "jr_r3"
        missing = await agent.refused("rewind", **ASKED, **app, plan=plan["digest"])
        assert "'reason' is a required property" in missing["error"]
        why = {"reason": "a bad day", "plan": plan["digest"]}

        await agent.ask("rewind", **ASKED, **app, **why)
        assert bookmark_of(target, "report")[0] == "jr_r1"
        again = await agent.refused("rewind", **ASKED, **app, **why)
        assert again["error"].startswith("nothing was done")

    talk(story, tmp_path, "--allow-actions", *words)
