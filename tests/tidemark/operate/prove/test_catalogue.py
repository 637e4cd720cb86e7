"""Every job of the catalogue gets the verdict that reasoning gives it."""

from __future__ import annotations

import pytest

from tests.pages import Page
from tests.tidemark.operate.prove.catalogue import CATALOGUE as OF_GLUE
from tests.tidemark.operate.prove.jobs import ALL, COMMIT, NEW, WHERE_ANY, WINDOWS, Case
from tests.tidemark.operate.prove.plain_jobs import HEAD, PLAIN

pytestmark = pytest.mark.spark
CATALOGUE = [*OF_GLUE, *PLAIN]
COLUMNS = ("crash", "again", "order", "meanwhile", "twice")


@pytest.mark.nightly
@pytest.mark.parametrize("case", CATALOGUE, ids=lambda case: case.name)
def test_a_job_gets_its_verdicts(case, verdicts):
    found = verdicts(case)

    assert {kind: found[kind] for kind in case.verdicts} == case.verdicts


def test_crashes_of_a_job_that_commits_first_lose_rows(verdicts, project):
    for day in (2, 3, 4):
        (project / f"home/lake/lake/in/day{day}.json").unlink()
    case = next(case for case in CATALOGUE if case.name == "noted-then-written")

    assert verdicts(case, only=("crash", "again")) == {"crash": "lost", "again": "equal"}


def test_items_that_follow_a_known_state_are_compared(verdicts, project):
    for day in (2, 3, 4):
        (project / f"home/lake/lake/in/day{day}.json").unlink()
    case = next(case for case in CATALOGUE if case.name == "adds-to-items")

    assert verdicts(case, only=("crash",)) == {"crash": "changed"}


# A running total of a hidden name looks like a mark: it is read, and then written.
HIDDEN_TOTAL = """
for key in keys("in/"):
    total = json.loads(read("out/_total.json")) if keys("out/_total") else 0
    put(f"out/{name_of(key)}", read(key))
    put("out/_total.json", json.dumps(total + len(rows_of(key))))
    s3.delete_object(Bucket="lake", Key=key)
"""


def test_what_a_crash_changes_in_a_mark_of_a_hidden_name_is_told(verdicts, project):
    for day in (2, 3, 4):
        (project / f"home/lake/lake/in/day{day}.json").unlink()
    case = Case("hidden-total", HEAD + HIDDEN_TOTAL, {})

    assert verdicts(case, only=("crash",)) == {"crash": "changed"}


# A run takes back what a dead one has left.
TAKES_BACK = """
import json, uuid
import boto3

s3 = boto3.client("s3")


def read(key):
    try:
        return s3.get_object(Bucket="lake", Key=key)["Body"].read().decode()
    except s3.exceptions.NoSuchKey:
        return ""


begun = read("note/begun")
if begun:
    name, made = begun.split()
    {first}
    {then}
for found in s3.list_objects_v2(Bucket="lake", Prefix="in/")["Contents"]:
    name = found["Key"].rpartition("/")[2]
    if not read(f"note/done-{{name}}"):
        made = f"out/{{uuid.uuid4()}}.json"
        s3.put_object(Bucket="lake", Key="note/begun", Body=f"{{name}} {{made}}".encode())
        s3.put_object(Bucket="lake", Key=made, Body=read(found["Key"]).encode())
        s3.put_object(Bucket="lake", Key=f"note/done-{{name}}", Body=b"1")
        s3.delete_object(Bucket="lake", Key="note/begun")
"""
FORGETS = 's3.delete_object(Bucket="lake", Key="note/begun")'
REPAIRS = 'read(f"note/done-{name}") or s3.delete_object(Bucket="lake", Key=made)'


@pytest.mark.parametrize(
    ("first", "then", "verdict"),
    [
        (FORGETS, REPAIRS, "doubled"),
        pytest.param(REPAIRS, FORGETS, "equal", marks=pytest.mark.nightly),
    ],
)
def test_two_deaths_in_a_row_are_tried(verdicts, project, first, then, verdict):
    for day in (2, 3, 4):
        (project / f"home/lake/lake/in/day{day}.json").unlink()
    script = TAKES_BACK.format(first=first, then=then)

    assert verdicts(Case("two-deaths", script, {}), only=("crash",)) == {"crash": verdict}


@pytest.mark.nightly
def test_the_only_new_file_is_split(verdicts, project):
    for day in (2, 3, 4):
        (project / f"home/lake/lake/in/day{day}.json").unlink()
    script = NEW + WHERE_ANY + 'rows.write.mode("overwrite").json(OUT)' + COMMIT

    assert verdicts(Case("overwrite", script, {}), only=("parts",)) == {"parts": "lost"}


def table_of_page(page: Page) -> dict[str, dict[str, str]]:
    """Return the verdicts that the table of the wrong jobs states."""
    rows = [
        line.strip("| ").split(" | ") for line in page.text.splitlines() if line.startswith("| ")
    ]
    return {
        row[0]: dict(zip(COLUMNS, row[1:], strict=True))
        for row in rows
        if len(row) == len(COLUMNS) + 1 and row[0] != "job"
    }


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["append", "commit-first", "watermark-last"])
def test_the_wrong_jobs_of_the_page_get_the_verdicts_that_it_states(name, verdicts):
    page = Page("docs/prove.md")
    head = WINDOWS if "marks." in page.blocks[f"prove {name}"] else NEW
    script = f"{head}\n{page.blocks[f'prove {name}']}"

    found = verdicts(Case(name, script, {}))

    stated = table_of_page(page)
    assert len(stated) == 3
    assert {kind: found[kind] for kind in COLUMNS} == stated[name]


def test_the_catalogue_has_right_and_wrong_jobs():
    assert len({case.name for case in CATALOGUE}) == len(CATALOGUE) >= 60
    safe = [one for one in CATALOGUE if set(one.verdicts.values()) <= {"equal", "not tried"}]
    assert len(safe) >= 3
    assert {ALL, NEW, WINDOWS} == {
        head for head in (ALL, NEW, WINDOWS) if any(head in one.script for one in CATALOGUE)
    }
