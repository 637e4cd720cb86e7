"""Jobs of boto3 that are put together at random get the verdicts that follow from their parts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from textwrap import indent

import pytest

from tests.tidemark.operate.prove.jobs import Case
from tests.tidemark.operate.prove.plain_jobs import HEAD, STATE

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
COUNT = 300
WRITES = {
    "named": 'put(f"out/{name_of(key)}", text)',
    "random": 'put(f"out/{uuid.uuid4()}.json", text)',
    "items": """for row in map(json.loads, text.splitlines()):
    item = {"id": {"S": str(row["id"])}, "day": {"S": row["day"]}}
    items.put_item(TableName="out", Item=item)""",
}
LISTS = {
    "plain": 'keys("in/")',
    "reversed": 'sorted(keys("in/"), reverse=True)',
    "pages": """[
    entry["Key"]
    for page in s3.get_paginator("list_objects_v2").paginate(
        Bucket="lake", Prefix="in/", PaginationConfig={"PageSize": 1}
    )
    for entry in page.get("Contents", [])
]""",
}
READ = 'text = s3.get_object(Bucket="lake", Key=key)["Body"].read().decode()'
HELPERS = """
def written(key, text):
{write}
    return text


def noted(key):
{note}
    return key
"""


@dataclass(frozen=True)
class Parts:
    """How a job notes what is done, and when; what it writes; and which error it keeps.

    Attributes:
        mark: none, a list of what is done, or an input that is deleted.
        when: the mark is changed first or last, of each file or of all files of a run.
        write: objects named after the input, or by an id; or items by their key.
        keeps: the request whose error is kept: none, the write, or the read.
        by_helpers: whether functions make the requests.
        lists: how the input is listed.
    """

    mark: str
    when: tuple[str, str]
    write: str
    keeps: str
    by_helpers: bool
    lists: str

    @property
    def name(self) -> str:
        helpers = "helpers" if self.by_helpers else "inline"
        return "-".join((self.mark, *self.when, self.write, self.keeps, helpers, self.lists))

    @property
    def script(self) -> str:
        write = WRITES[self.write]
        note = {
            "none": "pass",
            "list": 'done.append(key)\nput("state/state.json", json.dumps(done))',
            "deleted": 's3.delete_object(Bucket="lake", Key=key)',
        }[self.mark]
        setup = "done = state([])\n" + ('table("out")\n' if self.write == "items" else "")
        if self.by_helpers:
            setup += HELPERS.format(write=indent(write, "    "), note=indent(note, "    "))
            write, note = "written(key, text)", "noted(key)"
        write, read = (
            f"try:\n{indent(step, '    ')}\nexcept Exception as error:\n    print(error)"
            if self.keeps == kept
            else step
            for kept, step in (("write", write), ("read", READ))
        )
        read = f'text = ""\n{read}'
        order, of = self.when
        if of == "file":
            steps = [note, read, write] if order == "first" else [read, write, note]
            loops = [steps]
        else:
            loops = [[note], [read, write]] if order == "first" else [[read, write], [note]]
        bodies = ["for key in new:\n" + indent("\n".join(steps), "    ") + "\n" for steps in loops]
        new = f"new = [key for key in {LISTS[self.lists]} if key not in done]\n"
        return "\n".join((HEAD, setup, new, *bodies))

    @property
    def verdicts(self) -> dict[str, str]:
        """What must come out, by reasoning alone."""
        is_first = self.mark != "none" and self.when[0] == "first"
        adds = self.write == "random"
        expected = {
            "crash": "lost" if is_first else "doubled" if adds else "equal",
            "again": "doubled" if self.mark == "none" and adds else "equal",
        }
        if self.keeps != "none":
            is_lost = self.mark != "none"
            expected["error"] = "lost" if is_lost else "doubled" if adds else "equal"
        return expected


def jobs() -> list[Parts]:
    """Return all jobs that make sense: without a mark it is never changed."""
    times = list(product(("first", "last"), ("file", "run")))
    ways = list(product(WRITES, ("none", "write", "read"), (False, True), LISTS))
    marked = [
        Parts(mark, when, *way)
        for mark, when, way in product(("list", "deleted"), times, ways)
        # What is deleted first cannot be read.
        if not (mark == "deleted" and when[0] == "first")
    ]
    return marked + [Parts("none", ("last", "file"), *way) for way in ways]


def chosen() -> list[Parts]:
    """Return the jobs of this night: others in each."""
    draws = random.Random(datetime.now(UTC).date().toordinal())  # noqa: S311 (not a secret)
    return draws.sample(jobs(), COUNT)


@pytest.mark.parametrize("parts", chosen(), ids=lambda parts: parts.name)
def test_a_job_gets_the_verdicts_of_its_parts(verdicts, project, parts):
    for day in (3, 4):
        (project / f"home/lake/lake/in/day{day}.json").unlink()
    ignored = () if parts.mark == "none" else STATE
    case = Case(parts.name, parts.script, parts.verdicts, (), ignored)

    told = verdicts(case, only=("crash", "error", "again"))

    assert {kind: told[kind] for kind in parts.verdicts} == parts.verdicts, parts.script
