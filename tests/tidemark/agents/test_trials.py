"""Long work with a real Spark: rows are withheld, progress is told, and a cancelled proof ends."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from tests.sockets import descendants
from tests.tidemark.agents.agent import Agent, talk
from tests.tidemark.cli.test_cli import tidemark
from tidemark.agents.withheld import WITHHELD
from tidemark.glue_job.process.pool import POOL_VARIABLE
from tidemark.local_state.home import Home

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
SCRIPT = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
rows = glue.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://lake/in/"]}, "json", transformation_ctx="rows"
).toDF()
rows.show()
rows.coalesce(1).write.mode("append").json("s3://lake/out/")
rows.coalesce(1).write.mode("overwrite").json("s3://lake/last/")
job.commit()
"""
ENABLE = ("--job-bookmark-option", "job-bookmark-enable")
NAMES = ("Jane", "Wolf", "Anna")


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """A project whose job appends what is new, and has run twice."""
    lake = Home.open(home)
    lake.create_bucket("lake")
    (tmp_path / "load.py").write_text(SCRIPT, encoding="utf-8")
    (home / "lake" / "lake" / "in").mkdir()
    for number, name in enumerate(NAMES):
        file = home / "lake" / "lake" / "in" / f"{number}.json"
        file.write_text(f'{{"id": {number}, "name": "{name}"}}\n', encoding="utf-8")
        if name != NAMES[-1]:  # the last one is new to a proof
            done = tidemark("submit", str(tmp_path / "load.py"), *ENABLE)
            assert done.exit_code == 0, done.output
    return tmp_path


def has_names(text: str) -> bool:
    return any(name in text for name in NAMES)


@pytest.mark.parametrize("rows", [False, True])
def test_rows_are_shown_only_where_they_may_be(folder: Path, rows: bool) -> None:
    async def story(agent: Agent) -> None:
        different = await agent.ask("diff", what="load")
        assert different["exit_code"] == 1
        assert has_names(agent.text) is rows
        targets = {part["target"]: part for part in different["untrusted"]["answer"]["targets"]}
        assert targets["s3://lake/out/"]["only"] == [0, 1]
        await agent.ask("logs", job="load")
        assert has_names(agent.text) is rows
        for name in ("explain", "bookmark", "schema"):
            await agent.ask(name, job="load")
            assert not has_names(agent.text)
        asked = agent.ask if rows else agent.refused
        await asked("diff", what="load", where="name = 'Jane'")

        proof = await agent.ask("prove", what="load.py", kind=["crash"], arguments=list(ENABLE))
        assert proof["exit_code"] == 1
        doubled = [
            target
            for experiment in proof["untrusted"]["answer"]["experiments"]
            for target in experiment["targets"]
            if target["doubled"]
        ]
        assert doubled
        assert has_names(agent.text) is rows
        assert (doubled[0]["examples"] == WITHHELD) is not rows
        assert any(text.startswith("prove: ") for _, text in agent.progress)

    talk(story, folder, *(["--allow-rows"] if rows else []), bound_s=600)


def test_a_cancelled_proof_leaves_no_spark(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(POOL_VARIABLE, raising=False)  # the JVMs are the server's own
    of_tests = set(javas_below(os.getpid()))

    def new_javas() -> set[int]:
        return set(javas_below(os.getpid())) - of_tests

    async def story(agent: Agent) -> None:
        async with anyio.create_task_group() as tasks:

            async def prove() -> None:
                await agent.ask("prove", what="load.py", arguments=list(ENABLE))

            tasks.start_soon(prove)
            while not new_javas():
                await anyio.sleep(0.2)
            await anyio.sleep(3)  # its Spark works
            assert new_javas()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(120):  # the command deletes its copies last
            while new_javas() or list((folder / "home").glob("experiment-*")):
                await anyio.sleep(0.2)
        (load, *_) = (await agent.ask("status"))["untrusted"]["answer"]
        assert load["last_run"]["state"] == "SUCCEEDED"  # the home is as it was

    talk(story, folder, bound_s=600)


def javas_below(process: int) -> list[int]:
    return [pid for pid in descendants(process) if b"java" in command_of(pid)]


def command_of(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().partition(b"\0")[0]
    except OSError:  # it has ended
        return b""
