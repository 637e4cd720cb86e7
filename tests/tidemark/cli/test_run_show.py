"""`tidemark run show ID`: which run is meant, and what is shown of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tidemark.cli.views.run_details import RunDetails, details_parts
from tidemark.cli.views.runs import runs_listing
from tidemark.glue_service.entities import Entity, EntityKind, put_entity
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import keep_warnings
from tidemark.model.checkpoints.checkpoint import (
    BookmarkMove,
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.operate.job_runs import Run
from tidemark.operate.target import RunNotes

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MS = int(NOW.timestamp() * 1000)
ID = f"jr_{'0123456789abcdef' * 4}"
RUN = Run(ID, "ingest-flights", "SUCCEEDED", NOW, NOW + timedelta(seconds=2), trigger="nightly")
CHECKPOINT = Checkpoint(
    "ingest-flights",
    ID,
    MS,
    "wr_1",
    BookmarkMove("job-bookmark-enable", 3, 4),
    (WatermarkMove("glue-watermarks", "items", {"id": "5"}, {"id": "7"}, 1, 2, ({}, {})),),
    (
        DatasetRead(
            "s3://raw-of-the-whole-company/flights/",
            "flights",
            "",
            3,
            100,
            2310,
            None,
            {"kind": "files", "until_ms": MS},
        ),
        DatasetRead("jdbc:x#t", "t", rows=5, after={"kind": "keys", "values": {"id": 9}}),
    ),
    (DatasetWritten("s3://lake/flights/", "overwrite_partitions", "", 2310, 3),),
    {"--day": "1", "--job-language": "python"},
    {"script": "ab" * 32},
)


def shown(details, width=80):
    console = Console(file=StringIO(), width=width)
    for part in details_parts(details):
        console.print(part, highlight=False, soft_wrap=True)
    return console.file.getvalue()


def test_a_run_names_the_snapshots_that_it_made():
    written = (DatasetWritten("table:sales.orders", "merge", snapshots=("71", "72")),)
    details = RunDetails(RUN, replace(CHECKPOINT, written=written), "here")

    assert "  2 snapshots of table:sales.orders: 71, 72\n" in shown(details)


def test_a_run_is_shown_in_eighty_columns():
    text = shown(
        RunDetails(
            replace(RUN, workflow_run_id="wr_1", rows_read=2310, rows_written=2310, jvm="warm"),
            CHECKPOINT,
            "here",
            notes=RunNotes(("look",), ("end",)),
        )
    )

    assert max(map(len, text.splitlines())) <= 80
    for part in (
        "ingest-flights SUCCEEDED",
        "by nightly in wr_1",
        "bookmark version 3 to 4",
        "watermark of items id from 5 to 7",
        "2 windows",
        "overwrite partitions",
        "2,310",
        "the beginning to 2026-01-31T12:00:00Z",
        "the beginning to id=9",
        "--day 1",
        "abababab",
        "Warnings look",
        "lines end",
    ):
        assert part in " ".join(text.split())
    assert "--job-language" not in text  # Glue's own
    assert "\n\nWarnings\n  look\n\nThe log's last lines\n  end\n" in text
    assert "\\n" not in text


def test_a_run_that_committed_nothing_is_not_called_committed():
    nothing = replace(CHECKPOINT, bookmark=None, watermarks=(), is_committed=False)
    text = " ".join(shown(RunDetails(RUN, nothing, "here")).split())
    unread = " ".join(shown(RunDetails(RUN, replace(nothing, read=()), "here")).split())

    assert "Committed" not in text
    assert "Succeeded 2026-01-31 12:00Z, nothing committed: the next run reads this again" in text
    assert "nothing committed" in unread
    assert "reads this again" not in unread
    assert "Committed 2026-01-31" in shown(RunDetails(RUN, CHECKPOINT, "here"))
    assert not Checkpoint.from_json(nothing.to_json()).is_committed
    assert Checkpoint.from_json({**CHECKPOINT.to_json(), "read": []}).is_committed


@pytest.mark.parametrize(
    ("state", "text"), [("RUNNING", "it has not ended"), ("FAILED", "it has committed nothing")]
)
def test_a_run_without_a_checkpoint_says_why(state, text):
    run = Run(ID, "load", state, NOW, message="no rows")

    found = shown(RunDetails(run, None, "here", dpu_seconds=1234.0))
    deployed = shown(RunDetails(replace(run, billed={}), None, "there"))

    assert f"No checkpoint: {text}" in " ".join(found.split())
    assert f"No checkpoint: {text}" in " ".join(deployed.split())
    assert ("Watermarks.checkpoint" in deployed) == (state == "FAILED")
    assert "1,234 DPU-seconds" in found
    assert "no rows" in found
    assert ("in progress" in found) == (state == "RUNNING")  # one that was killed does not


def test_the_run_of_a_home_is_shown(home: Path) -> None:
    Store(Home.from_environment().database).close()  # else it would be one that is lost
    folder = home / "runs" / ID
    folder.mkdir(parents=True)
    lines = "".join(f"line {number}\n" for number in range(50))
    (folder / "stdout.log").write_text(lines, encoding="utf-8")
    (folder / "tidemark-not-skipped.txt").write_text("its code has changed", encoding="utf-8")
    log = str(folder / "stderr.log")
    record = JobRun(ID, "load", "wr_1", None, 0, "SUCCEEDED", MS, log, "x", MS + 2000, None, 7, 5)
    with Store(home / "glue.sqlite") as store:
        store.put_job_run(record)
        put_checkpoint(store, CHECKPOINT)
        keep_warnings(store, ID, ["look here"])
        command = {"Name": "glueetl", "ScriptLocation": "s3://b/x.py"}
        capacity = {"WorkerType": "G.1X", "NumberOfWorkers": 2, "ExecutionClass": "FLEX"}
        definition = {"Command": command, "GlueVersion": "5.0", **capacity}
        put_entity(store, Entity(EntityKind.JOB, "load", definition, {}, MS, MS))

    found = json.loads(tidemark("run", "show", "0123", "--format", "json").stdout)
    text = tidemark("run", "show", ID).stdout

    assert Checkpoint.from_json(found["checkpoint"]) == CHECKPOINT
    assert (found["rows_read"], found["rows_written"], found["seconds"]) == (7, 5, 2.0)
    assert found["warnings"] == ["look here"]
    assert found["log"] == [f"line {number}" for number in range(40, 50)]
    assert "  line 49\n" in text
    assert (found["dpu_seconds"], found["is_estimate"]) == (120, True)  # a minute is the least
    assert "  on AWS about 120 DPU-seconds, 0.0097 USD, an estimate\n" in text
    assert "  not skipped: its code has changed\n" in text
    with Store(home / "glue.sqlite") as store, store.transaction():
        store.query("UPDATE checkpoint SET document = '{'")
    assert_one_clear_line(tidemark("run", "show", ID), 1, f"checkpoint of the run {ID} cannot be")


def test_what_cannot_be_shown_is_one_line(home: Path) -> None:
    assert_one_clear_line(tidemark("run", "show", "jr_1"), 2, "nothing has run yet")
    assert_one_clear_line(tidemark("run", "--only", "x", "show", "jr_1"), 2, "--only before show")
    assert_one_clear_line(tidemark("run", "show", "x", "--app", "y"), 2, "--deployed STAGE")


def test_rows_are_listed_where_there_is_room_for_them():
    run = replace(RUN, rows_read=12_208, rows_written=0)
    console = Console(file=StringIO(), width=80)

    console.print(runs_listing([run], 80, has_rows=True), soft_wrap=True)
    console.print(runs_listing([run], 70, has_rows=True), soft_wrap=True)

    wide, _, narrow, _ = console.file.getvalue().splitlines()
    assert wide.split() == ["job", "started", "state", "took", "read", "wrote", "run"]
    assert narrow.split() == ["job", "started", "state", "took", "run"]
