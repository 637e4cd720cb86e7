"""The open windows of jobs, on the embedded DynamoDB."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from tests.fixtures.commands import TABLE
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.operate.app_jobs import PipelineJob
from tidemark.report import windows
from watermarks import WatermarkAdmin, Watermarks


def keeping(*names: str) -> list[PipelineJob]:
    return [PipelineJob(name, watermark_table=TABLE.name) for name in names]


def test_windows_that_are_open_are_told_with_their_run_and_others_are_not(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(windows, "MAX_JOBS", 2)
    jobs = [*keeping("one", "two", "closed"), PipelineJob("other", watermark_table="not-there")]
    with (
        dynamodb_endpoint(Home.open(tmp_path / "home")) as endpoint,
        dynamodb_client(endpoint, "us-east-1") as client,
    ):
        create_tables(client, [TABLE])
        watermarks = Watermarks(TABLE.name, client)

        def open_table(name: str) -> nullcontext[WatermarkAdmin]:
            return nullcontext(WatermarkAdmin(name, client))

        watermarks.open_window("one", run_id="jr_1", cursor="id", high=9)
        watermarks.open_window("two", run_id="jr_2", cursor="id", source="orders", high=7)
        closed = watermarks.open_window("closed", run_id="jr_3", cursor="id", high=9)
        watermarks.commit_window(closed)
        found, unknown = windows.windows_of(jobs, open_table)
        watermarks.open_window("closed", run_id="jr_4", cursor="id", high=11)
        fewer, said = windows.windows_of(jobs, open_table)

    assert unknown == ()
    assert [(it.job, it.source, it.low, it.high, it.run_id) for it in found] == [
        ("one", "", "the beginning", "9", "jr_1"),
        ("two", "orders", "the beginning", "7", "jr_2"),
    ]
    assert (len(fewer), said) == (2, ("3 jobs have open windows; those of 2 are shown.",))
