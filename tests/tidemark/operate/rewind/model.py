"""A small model of incremental jobs: files and tables in a lake, no Spark, the real state.

Bookmarks are versions in the real state database, by the functions that a commit calls; watermarks
are those of the library in the embedded DynamoDB. A row is an id and whether it is right: a job
with the bug spoils the rows that it writes. What a mart should hold is then easily said: every row
that has landed, once, and right.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.records import RewindCause
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.checkpoint import (
    BookmarkMove,
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.operate.job_runs import Run
from tidemark.operate.rewind.carry_out import CarryOut, no_step
from tidemark.operate.rewind.facts import JobTrigger, RewindFacts
from tidemark.operate.rewind.home_rewinds import bookmark_track, steps_of
from tidemark.operate.rewind.tracks import tracks_of_table
from tidemark.operate.rewind.undoing import undo
from watermarks import WatermarkAdmin

TABLE = "glue-watermarks"
DAYS = 3
SOURCE = "source"
# What a head says, but for what only counts or notes the changes.
STATE = ("watermarks", "wmTypes", "wmRunId", "wmBounds", "wmWindows")


def past_run(
    run_id: str,
    job: str,
    started_at_ms: int,
    state: str = "SUCCEEDED",
    ended_at_ms: int | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Run:
    """Return a run as a target tells it."""
    begin = datetime.fromtimestamp(started_at_ms / 1000, UTC)
    end = None if ended_at_ms is None else datetime.fromtimestamp(ended_at_ms / 1000, UTC)
    return Run(run_id, job, state, begin, end, arguments=arguments or {})


@dataclass(frozen=True)
class Job:
    """A job: where it reads, how it finds what is new, and how it writes."""

    name: str
    inputs: tuple[str, ...]
    how: str  # files, keys, whole, committed: whole, of committed windows
    mode: str  # append, window, overwrite, overwrite_partitions, merge
    begins: int = 0  # a job by keys leaves out what is before: a backfill may load it


@dataclass
class World:
    """A lake with its jobs and their state; the clock counts milliseconds."""

    home: Home
    store: Store
    client: Any
    jobs: list[Job]
    clock: int = 1_700_000_000_000
    next_id: int = 0
    runs: int = 0
    landed: dict[str, list[int]] = field(default_factory=dict)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    tables: dict[str, dict[int, bool]] = field(default_factory=dict)
    filled: dict[str, set[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.admin = WatermarkAdmin(TABLE, self.client, now=self.now)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock / 1000, UTC)

    def tick(self) -> int:
        self.clock += 10
        return self.clock

    def job(self, name: str) -> Job:
        return next(job for job in self.jobs if job.name == name)

    # The lake

    def uri(self, dataset: str) -> str:
        kind = "s3://lake/" if not self.is_table(dataset) else "dynamodb:"
        return f"{kind}{dataset}/" if kind == "s3://lake/" else f"{kind}{dataset}"

    def is_table(self, dataset: str) -> bool:
        return any(job.name == dataset and job.mode == "merge" for job in self.jobs)

    def folder(self, dataset: str) -> Path:
        return self.home.lake / "lake" / dataset

    def put(self, dataset: str, name: str, rows: Iterable[tuple[int, bool]]) -> None:
        path = self.folder(dataset) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(list(rows)), encoding="utf-8")
        os.utime(path, ns=(self.clock * 1_000_000, self.clock * 1_000_000))

    def files(self, dataset: str) -> dict[str, list[tuple[int, bool]]]:
        folder = self.folder(dataset)
        return {
            path.relative_to(folder).as_posix(): [
                tuple(row) for row in json.loads(path.read_text())
            ]
            for path in sorted(folder.rglob("*.json"))
        }

    def rows(self, dataset: str) -> list[tuple[int, bool]]:
        if self.is_table(dataset):
            return sorted(self.tables.get(dataset, {}).items())
        return sorted(row for rows in self.files(dataset).values() for row in rows)

    def committed_rows(self, name: str) -> list[tuple[int, bool]]:
        """Return the rows of the windows of a job that count.

        Those are the newest of each id, up to its mark, of runs that have committed.
        """
        edge = self.position(self.job(name))[1].get("", -1)
        committed = {one.run_id for one in self.checkpoints}
        found: list[tuple[int, bool]] = []
        for path, rows in sorted(self.files(name).items(), reverse=True):
            run_id = path.partition("/")[0].removeprefix("window=")
            if run_id in committed and max(rows)[0] <= edge:
                found, edge = found + rows, min(rows)[0] - 1
        return sorted(found)

    def land(self, source: str, count: int) -> None:
        self.tick()
        ids = list(range(self.next_id, self.next_id + count))
        self.next_id += count
        self.landed.setdefault(source, []).extend(ids)
        self.put(source, f"f{self.clock}.json", [(one, True) for one in ids])

    def expected(self, dataset: str) -> list[tuple[int, bool]]:
        job = next((job for job in self.jobs if job.name == dataset), None)
        if job is None:
            return [(one, True) for one in self.landed.get(dataset, [])]
        rows = [row for name in job.inputs for row in self.expected(name)]
        rows = [row for row in rows if row[0] not in self.left_out(job)]
        return sorted(dict(rows).items() if job.mode == "merge" else rows)

    def left_out(self, job: Job) -> set[int]:
        """Return the ids that no incremental run of a job reads, and no backfill has loaded."""
        return set(range(job.begins)) - self.filled.get(job.name, set())

    # A run

    def run(self, name: str, *, is_bad: bool = False, dies: str = "") -> dict[str, tuple[int, int]]:
        """Run a job; return how many files and rows it has read of each source."""
        job = self.job(name)
        self.runs += 1
        run_id = f"jr_{self.runs:06d}"
        started = self.tick()
        self._record(run_id, name, started, None, "RUNNING")
        reads, rows, states, marks = self._read(job)
        if dies != "before":
            written, windows = self._write(job, run_id, [(i, r and not is_bad) for i, r in rows])
        if dies:
            self._record(run_id, name, started, self.tick(), "FAILED")
            return {}
        self.tick()
        bookmark, moves = self._commit(job, run_id, states, marks, windows)
        self.checkpoints.append(
            Checkpoint(
                name,
                run_id,
                self.clock,
                bookmark=bookmark,
                watermarks=tuple(moves),
                read=tuple(reads),
                written=tuple(written),
            )
        )
        self._record(run_id, name, started, self.tick(), "SUCCEEDED")
        return {r.source: (r.files or 0, r.rows or 0) for r in reads if r.source}

    def fill(self, name: str, low: int, high: int, *, is_bad: bool = False) -> None:
        """Run a job for a range of ids, as `tidemark backfill` does: its state stays.

        A job that adds to its target loads what has never been loaded only.
        """
        job = self.job(name)
        ids = set(range(low, high)) & (
            self.left_out(job) if job.mode in ("append", "window") else set(range(self.next_id))
        )
        self.runs += 1
        run_id, started = f"jr_{self.runs:06d}", self.tick()
        found = {dataset: [r for r in self.rows(dataset) if r[0] in ids] for dataset in job.inputs}
        rows = self._of_days(job, [row for rows in found.values() for row in rows])
        written, _ = self._write(job, run_id, [(one, ok and not is_bad) for one, ok in rows])
        self.filled.setdefault(name, set()).update(one for one, _ in rows)
        latest = latest_bookmark(self.store, name)
        version = latest.version if latest else 0
        self.checkpoints.append(
            Checkpoint(
                name,
                run_id,
                self.tick(),
                bookmark=BookmarkMove("job-bookmark-disable", version, version),
                read=tuple(DatasetRead(self.uri(d), rows=len(found[d])) for d in found),
                written=tuple(written),
                arguments={"--backfill_from": str(low), "--backfill_to": str(high)},
            )
        )
        self._record(run_id, name, started, self.tick(), "SUCCEEDED")

    def _of_days(self, job: Job, rows: list[tuple[int, bool]]) -> list[tuple[int, bool]]:
        """Return all rows of the days of some, for a job that replaces days; else the rows."""
        if job.mode != "overwrite_partitions":
            return rows
        days = {one % DAYS for one, _ in rows}
        return [r for d in job.inputs for r in self.rows(d) if r[0] % DAYS in days]

    def _record(self, run_id: str, job: str, start: int, end: int | None, state: str) -> None:
        self.store.put_job_run(
            JobRun(run_id, job, None, None, 0, state, start, "", "enable", completed_at_ms=end)
        )

    def _read(self, job: Job) -> Any:
        latest = latest_bookmark(self.store, job.name)
        states = dict(latest.states) if latest else {}
        reads, rows, marks = [], [], {}
        for number, dataset in enumerate(job.inputs):
            uri, ctx = self.uri(dataset), f"in{number}"
            if job.how == "files":
                known = states.get(ctx, [])
                files = {n: r for n, r in self.files(dataset).items() if n not in known}
                found = [row for of_file in files.values() for row in of_file]
                before = {"kind": "files", "until_ms": 1} if known else None
                after = {"kind": "files", "until_ms": self.clock}
                reads.append(
                    DatasetRead(
                        uri, ctx, files=len(files), rows=len(found), before=before, after=after
                    )
                )
                states[ctx] = sorted({*known, *files})
            elif job.how == "keys":
                source = ctx if len(job.inputs) > 1 else ""
                head = self.admin.latest(job.name, source=source)
                mark = int(head.watermarks["id"]) if head else job.begins - 1
                found = [row for row in self.rows(dataset) if row[0] > mark]
                high = max((row[0] for row in found), default=mark)
                marks[source] = (head, mark, high)
                # The library's own readers leave no position, as with the windows of the sample.
                has_position = job.mode != "window"
                before = {"kind": "keys", "values": {"id": mark}} if has_position else None
                after = {"kind": "keys", "values": {"id": high}} if has_position else None
                reads.append(
                    DatasetRead(uri, source or "id", rows=len(found), before=before, after=after)
                )
            elif job.how == "committed":
                found = self.committed_rows(dataset)
                reads.append(DatasetRead(uri, rows=len(found), is_committed=True))
            else:
                found = self.rows(dataset)
                reads.append(DatasetRead(uri, rows=len(found)))
            rows += found
        if job.mode == "overwrite_partitions" and rows:
            rows = self._of_days(job, rows)
            reads += [DatasetRead(self.uri(dataset)) for dataset in job.inputs]
        return reads, rows, states, marks

    def _write(self, job: Job, run_id: str, rows: list[tuple[int, bool]]) -> Any:
        self.tick()
        uri, windows, count = self.uri(job.name), (), int(bool(rows))
        if job.mode == "merge":
            self.tables.setdefault(job.name, {}).update(rows)
            return [DatasetWritten(uri, "merge", rows=len(rows))], windows
        if job.mode == "overwrite_partitions":
            return [self._replace_days(job, run_id, rows)], windows
        if job.mode == "append" and rows:
            self.put(job.name, f"{run_id}.json", rows)
        if job.mode == "window" and rows:
            self.put(job.name, f"window={run_id}/attempt=1/part.json", rows)
            windows = ({"cursor": "id", "window_id": run_id},)
        if job.mode == "overwrite":
            shutil.rmtree(self.folder(job.name), ignore_errors=True)
            self.put(job.name, f"{run_id}.json", rows)
            count = 1
        return [DatasetWritten(uri, job.mode, rows=len(rows), files=count)], windows

    def _replace_days(self, job: Job, run_id: str, rows: list[tuple[int, bool]]) -> DatasetWritten:
        days = sorted({one % DAYS for one, _ in rows})
        for day in days:
            shutil.rmtree(self.folder(job.name) / f"day={day}", ignore_errors=True)
            own = [row for row in rows if row[0] % DAYS == day]
            self.put(job.name, f"day={day}/{run_id}.json", own)
        return DatasetWritten(self.uri(job.name), job.mode, rows=len(rows), files=len(days))

    def _commit(self, job: Job, run_id: str, states: Any, marks: Any, windows: Any) -> Any:
        name = job.name
        moves: list[WatermarkMove] = []
        if job.how == "files":
            latest = latest_bookmark(self.store, name)
            before = latest.version if latest else 0
            after = commit_bookmark(self.store, name, run_id, states, before, self.clock)
            return BookmarkMove("job-bookmark-enable", before, after), moves
        for source, (head, mark, high) in marks.items():
            if high > mark:
                now = self.admin.advance(
                    job_id=name, run_id=run_id, to={"id": high}, base=head, source=source
                )
                moves.append(
                    WatermarkMove(TABLE, source, after_version=now.version, windows=windows)
                )
        return None, moves

    # Rewinding

    def facts(self) -> RewindFacts:
        names = [job.name for job in self.jobs]
        keys = [job.name for job in self.jobs if job.how == "keys"]
        tracks, self.windows = tracks_of_table(self.admin, keys)
        bookmarks = [track for name in names if (track := bookmark_track(self.store, name))]
        return RewindFacts(
            jobs=names,
            starts=[
                JobTrigger(f"start-{job.name}", (job.name,), self.before(job), "w")
                for job in self.jobs
            ],
            tracks=[*bookmarks, *tracks],
            checkpoints=self.checkpoints,
            runs=[
                past_run(r.run_id, r.job_name, r.started_at_ms, r.state, r.completed_at_ms)
                for r in self.store.all_job_runs()
            ],
            now_ms=self.clock,
        )

    def before(self, job: Job) -> tuple[str, ...]:
        """Return the jobs whose output a job reads."""
        names = {one.name for one in self.jobs}
        return tuple(name for name in job.inputs if name in names)

    def open_table(self, _: str) -> Any:
        return _Opened(self.admin)

    def work(self, before: Callable[[str], None] = no_step) -> CarryOut:
        return CarryOut(self.home, self.store, self.open_table, before)

    def asked(self, why: str = "it was right") -> RewindCause:
        return RewindCause("ada", why, self.tick())

    def carry_out(
        self, facts: RewindFacts, plan: Any, before: Callable[[str], None] = no_step
    ) -> Any:
        steps = steps_of(self.home, facts, plan, self.windows)
        return self.work(before).do(steps, self.asked("a bad day"), plan.to)

    def undo(self, number: int | None) -> Any:
        return undo(self.work(), number, self.asked())

    def sources(self, job: Job) -> list[str]:
        """Return the names of the watermarks of a job."""
        if job.how != "keys":
            return []
        return [f"in{n}" for n in range(len(job.inputs))] if len(job.inputs) > 1 else [""]

    def head(self, job: str, source: str) -> dict[str, Any]:
        """Return the row with a watermark, empty if there is none."""
        key = {"jobName": {"S": job}, "runId": {"S": f"~CURSOR#{source}" if source else "~HEAD"}}
        found = self.client.get_item(TableName=TABLE, Key=key, ConsistentRead=True)
        return dict(found.get("Item", {}))

    def position(self, job: Job) -> Any:
        """Return how far a job has read each source: names of files, or a key."""
        latest = latest_bookmark(self.store, job.name)
        marks = {}
        for source in self.sources(job):
            if "watermarks" in (item := self.head(job.name, source)):
                marks[source] = int(item["watermarks"]["M"]["id"]["N"])
        return (dict(latest.states) if latest else {}), marks

    def new_since(self, job: Job, position: Any) -> dict[str, tuple[int, int]]:
        """Return how many files and rows of each source are there beyond a position."""
        states, marks = position
        found = {}
        for number, dataset in enumerate(job.inputs):
            if job.how == "files":
                known = states.get(f"in{number}", [])
                files = [rows for name, rows in self.files(dataset).items() if name not in known]
                found[f"in{number}"] = (len(files), sum(map(len, files)))
            if job.how == "keys":
                source = f"in{number}" if len(job.inputs) > 1 else ""
                rows = [
                    row for row in self.rows(dataset) if row[0] > marks.get(source, job.begins - 1)
                ]
                found[source or "id"] = (0, len(rows))
        return found

    def state(self) -> Any:
        """Return all that a rewind may change, bit for bit, but for the counts of changes."""
        bookmarks = {}
        for job in self.jobs:
            rows = self.store.query(
                "SELECT run, attempt, run_id, states FROM bookmark WHERE job_name = ? "
                "ORDER BY version DESC LIMIT 1",
                (job.name,),
            )
            bookmarks[job.name] = [tuple(row) for row in rows]
        heads = {}
        for job in self.jobs:
            for source in self.sources(job):
                item = self.head(job.name, source)
                heads[job.name, source] = {name: item[name] for name in STATE if name in item}
        lake = {
            str(path.relative_to(self.home.lake)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(self.home.lake.rglob("*"))
            if path.is_file()
        }
        return bookmarks, heads, lake


class _Opened:
    def __init__(self, admin: WatermarkAdmin) -> None:
        self.admin = admin

    def __enter__(self) -> WatermarkAdmin:
        return self.admin

    def __exit__(self, *_: object) -> None:
        return None
