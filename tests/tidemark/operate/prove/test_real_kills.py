"""A wrong job that is killed by SIGKILL leaves the rows that a proof has predicted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.tidemark.operate.prove.catalogue import CATALOGUE
from tests.tidemark.operate.prove.jobs import Case
from tests.tidemark.operate.prove.plain_jobs import PLAIN
from tidemark.cli.main import main
from tidemark.operate.rows.rows_here import judged_here
from tidemark.operate.versions.targets import files_of, target_of

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
KILL = "import os, signal\n\n\ndef die():\n    os.kill(os.getpid(), signal.SIGKILL)\n\n\n"
# Kills right after so many requests that change something.
AFTER_REQUESTS = """
import botocore.client

READS = ("Get", "List", "Head", "Describe", "BatchGet", "TransactGet", "Query", "Scan")
made, call = [], botocore.client.BaseClient._make_api_call


def counted(client, name, parameters):
    answer = call(client, name, parameters)
    made.append(name) if not name.startswith(READS) else None
    die() if len(made) == {number} else None
    return answer


botocore.client.BaseClient._make_api_call = counted
"""
AT_COMMIT = """
from awsglue.job import Job

commit = Job.commit
Job.commit = lambda job: {dies}
"""
PLAIN_WRONG = (
    "random-then-noted",
    "noted-then-written",
    "total-of-an-object",
    "repeats-under-a-new-name",
    "moves-its-input-first",
)
BEFORE_COMMIT = ("append", "append-json", "append-csv", "append-orc", "sink", "folder-of-each-run")
AFTER_COMMIT = ("commit-first",)
CASES = {case.name: case for case in [*CATALOGUE, *PLAIN]}


def submit(project: Path, case: Case, script: str) -> None:
    file = project / "job.py"
    file.write_text(script, encoding="utf-8")
    words = ["submit", str(file), "--JOB_NAME", case.name, *case.arguments]
    CliRunner().invoke(main, [*words, "--extra-py-files", "s3://lake/libs.zip"])


def predicted(project: Path, case: Case, is_of_commit: bool) -> tuple[dict[str, Any], int]:
    """Return what a proof says of the first wrong crash, and the number of the change before it."""
    file = project / "job.py"
    file.write_text(case.script, encoding="utf-8")
    words = ["prove", "--format", "json", "--kind", "crash"]
    words += ["--ignore", ",".join(case.ignore)] if case.ignore else []
    words += [str(file), "--JOB_NAME", case.name, *case.arguments]
    result = CliRunner().invoke(main, [*words, "--extra-py-files", "s3://lake/libs.zip"])
    document = json.loads(result.stdout)
    commits = {made["number"] for made in document["operations"] if made["kind"] == "bookmark"}
    for tried in document["experiments"]:
        is_at_commit = {tried["after"], (tried["after"] or 0) + 1} & commits
        of_first = tried["title"].startswith("crash after") and "arrives" not in tried["title"]
        is_wrong = tried["verdict"] in ("lost", "doubled", "changed")
        if of_first and is_wrong and (is_at_commit or not is_of_commit):
            return tried, tried["after"]
    raise AssertionError(result.stdout)


def side(lake: Path) -> dict[str, Any]:
    below = [path for path in files_of(lake) if path.startswith("lake/out/")]
    files = [str(lake / path) for path in sorted(below)]
    return {"folder": str(lake / "lake" / "out"), "files": files, "all": False}


@pytest.mark.parametrize("name", [*PLAIN_WRONG, *BEFORE_COMMIT, *AFTER_COMMIT])
def test_a_killed_run_and_the_next_one_leave_what_a_proof_says(project, monkeypatch, name):
    case = CASES[name]
    is_plain = name in PLAIN_WRONG
    tried, after = predicted(project, case, not is_plain)
    dies = "(commit(job), die())" if name in AFTER_COMMIT else "die()"
    prelude = AFTER_REQUESTS.format(number=after) if is_plain else AT_COMMIT.format(dies=dies)
    well = project / "well"
    shutil.copytree(project / "home", well, symlinks=True)

    submit(project, case, f"{KILL}{prelude}\n{case.script}")
    submit(project, case, case.script)
    monkeypatch.setenv("TIDEMARK_HOME", str(well))
    submit(project, case, case.script)

    first, killed = side(well / "lake"), side(project / "home" / "lake")
    kind = target_of("/".join(Path(first["files"][0]).parts[-2:])).format
    target = {"format": kind, "sides": [first, killed], "control": first, "left_out": ()}
    left = judged_here(target, {"key": [], "surrogates": []})["sides"][1]
    facts = ("expected", "lost", "doubled", "added")
    (told,) = [rows for rows in tried["targets"] if rows["target"].startswith("s3://lake/out")]
    assert {fact: left[fact] for fact in facts} == {fact: told[fact] for fact in facts}
    assert left["lost"] + left["doubled"] + left["added"] > 0
