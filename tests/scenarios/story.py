"""The scenarios as one story of one job, told to any Glue: what each step reads and leaves behind.

They follow each other because every run costs a start of Spark, on AWS a minute of a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tests.scenarios.driver import Driver

Observations: TypeAlias = dict[str, dict[str, Any]]
"""By step: the `state` of its run, what it `read`, and the counters of the `bookmark` after it."""

SCRIPT = Path(__file__).with_name("job.py")
COUNTERS = ("Version", "Run", "Attempt")


class Story:
    """A story being told; `seen` is what was observed so far."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.seen: Observations = {}
        self.run_ids: dict[str, str] = {}

    def put(self, folder: str, name: int, *more: int) -> None:
        """Write an object with one row per id; its name is the first one."""
        rows = "".join(f'{{"id": {number}}}\n' for number in (name, *more))
        self.driver.put(f"{folder}/{name}.json", rows)

    def run(self, step: str, variant: str = "whole", option: str = "enable", **window: str) -> None:
        """Run a variant of the job; a window names the steps whose runs are its ends."""
        ends = {f"--job-bookmark-{end}": self.run_ids[name] for end, name in window.items()}
        option = f"job-bookmark-{option}"
        arguments = {"--job-bookmark-option": option, "--variant": variant, **ends}
        run = self.driver.run(step.replace(" ", "-"), SCRIPT, arguments)
        self.run_ids[step] = run.run_id
        self.seen[step] = {"state": run.state, "read": run.read or run.error_message}
        self._see_bookmark(step)

    def reset(self, step: str, to: str | None = None) -> None:
        """Reset the bookmark, or rewind it to the run of a step."""
        self.driver.reset_bookmark(self.run_ids[to] if to else None)
        self.seen[step] = {}
        self._see_bookmark(step)

    def _see_bookmark(self, step: str) -> None:
        entry = self.driver.bookmark()
        self.seen[step]["bookmark"] = None if entry is None else self._with_names(entry)

    def _with_names(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        names = {run_id: step for step, run_id in self.run_ids.items()}
        runs = {key: names.get(entry.get(key, "")) for key in ("RunId", "PreviousRunId")}
        return {**{key: entry.get(key) for key in COUNTERS}, **runs}


def tell(driver: Driver) -> Observations:
    """Play all scenarios on a job that has never run; return what was seen, step by step."""
    story = Story(driver)
    for name in (1, 2):
        story.put("orders", name)
    story.put("countries", 1)
    for name in (1, 2, 3):
        story.put("events", name)
    story.run("first run")

    story.put("orders", 1, 10)  # rewritten
    story.put("orders", 3)
    story.run("second run")

    story.put("orders", 4)
    story.run("run without commit", "without commit")
    story.run("paused run", option="pause")
    story.run("third run")
    story.run("window of runs", option="pause", **{"from": "first run", "to": "third run"})
    story.run("renamed ctx", "renamed ctx")

    story.reset("rewind", to="first run")
    story.run("run after the rewind")
    story.reset("reset")
    story.run("run after the reset")

    story.put("orders", 5)
    story.run("run that fails after its commit", "failing after its commit")
    return story.seen


def differences(local: Observations, aws: Observations) -> list[str]:
    """Return one line for each observation in which the two differ."""
    return [
        f"{step}: {name} is {here} here and {there} on AWS"
        for step in local
        for name in local[step]
        if (here := local[step][name]) != (there := aws.get(step, {}).get(name))
    ]
