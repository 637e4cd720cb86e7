"""The story of docs/rewind.md: a bad day is published, planned, rewound, and right."""

from __future__ import annotations

import json

import duckdb
import pytest

from tests.projects import copy_project, guide, shell

PAGE = "rewind.md"
DELAYED = "SELECT sum(delayed) FROM read_parquet('{}/**/*.parquet')"


def run_all(project, name):
    return [shell(project, line) for line in guide(name, PAGE).splitlines()]


def delayed(project):
    mart = project / ".tidemark/lake/tidemark-dev-storage-mart/route_delays"
    ((found,),) = duckdb.sql(DELAYED.format(mart)).fetchall()
    return int(found)


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.synth
def test_the_story_ends_with_what_is_right(tmp_path):
    project = copy_project(tmp_path)

    run_all(project, "a bad day")
    bad = delayed(project)
    _, text = run_all(project, "the plan")
    plan = json.loads(
        shell(
            project,
            "tidemark rewind publish-delays --to previous --dry-run --format json",
        )
    )
    rewound, _ = run_all(project, "rewound")
    (run,) = json.loads(shell(project, "tidemark runs publish-delays --limit 1 --format json"))
    shown = json.loads(shell(project, f"tidemark run show {run['run_id']} --format json"))

    assert bad > delayed(project)
    assert "safe: the partitions written" in text
    assert "rewound: number 1" in rewound
    (planned,) = plan["jobs"]
    tracked = {one["source"]: one for one in shown["checkpoint"]["read"] if one["source"]}
    for one in planned["reads_again"]:
        if not one["why"]:
            found = tracked[one["source"]]
            assert (found["files"], found["rows"]) == (one["files"], one["rows"])
    shell(project, "tidemark rewind publish-delays --to beginning --reason 'from scratch' --yes")
    right = delayed(project)
    shell(project, "tidemark run")
    assert delayed(project) == right


def test_the_page_shows_the_plan_that_the_command_prints():
    text = guide("the plan", PAGE)

    assert text.splitlines()[-1] == "tidemark rewind publish-delays --to previous --dry-run"
