"""Rewinds on a disk of its own that is filled before a random step, as a program.

Run as `unshare --mount python -m tests.tidemark.operate.rewind.full_disk DISK SEED ROUNDS`. Prints
what came of each rewind, as JSON.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.tidemark.operate.rewind.model import TABLE, Job, World
from tidemark.errors import TidemarkError
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.records import open_rewind
from tidemark.local_state.store.database import Store
from tidemark.operate.rewind.cut import RewindTo
from tidemark.operate.rewind.planner import plan_rewind
from watermarks import WatermarkAdmin, create_table_request

SIZE = 12 * 1024**2
STEPS = ("record", "mark", "files", "file", "watermarks", "bookmarks")
JOBS = [
    Job("copy", ("source",), "files", "append"),
    Job("ingest", ("copy",), "keys", "window"),
    Job("merge", ("ingest",), "files", "merge"),
]


class OwnEngine(World):
    """A world whose rewinds start an engine for the watermarks, as the command does."""

    @contextmanager
    def open_table(self, table: str) -> Iterator[WatermarkAdmin]:
        """Open a table of watermarks."""
        with dynamodb_endpoint(self.home) as url, dynamodb_client(url, "us-east-1") as client:
            yield WatermarkAdmin(table, client, now=self.now)


def fill(disk: Path, left: int) -> None:
    """Fill a disk but for some bytes."""
    space = os.statvfs(disk)
    with suppress(OSError):
        (disk / "filler").write_bytes(bytes(max(0, space.f_bavail * space.f_frsize - left)))


def rewind_on_full_disk(world: World, disk: Path, step: str, left: int) -> dict[str, Any]:
    """Rewind; return what the error said, and what is as it was."""
    before = world.state()
    folder = world.files("copy")
    facts = world.facts()
    to = RewindTo("jr_000001", "jr_000001")
    plan = plan_rewind(facts, ["copy"], to, with_downstream=True, clears=True)

    def fill_before(name: str) -> None:
        if name.partition(" ")[0] == step:
            fill(disk, left)

    said = "done"
    try:
        world.carry_out(facts, plan, fill_before)
    except TidemarkError as error:
        said = str(error)
    files_moved = world.files("copy") != folder
    (disk / "filler").unlink(missing_ok=True)
    is_open = open_rewind(world.store) is not None
    watermarks_moved = world.state()[1] != before[1]
    outcome = {"said": said, "open": is_open, "files": files_moved, "marks": watermarks_moved}
    outcome["same"] = world.state() == before
    if said == "done" or is_open:
        world.undo(None)
    return {**outcome, "step": step, "after": world.state() == before}


def main(folder: Path, seed: int, rounds: int) -> None:
    """Do rewinds, each with another step before which the disk is filled."""
    choose = random.Random(seed)  # noqa: S311 (no secret)
    disk = folder / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)]
    subprocess.run(["mount", *options], check=True)
    home = Home.open(disk / "home")
    with (
        Store(home.database) as store,
        dynamodb_endpoint(home) as url,
        dynamodb_client(url, "us-east-1") as client,
    ):
        client.create_table(**create_table_request(TABLE))
        world = OwnEngine(home, store, client, JOBS)
        for _ in range(2):
            world.land("source", 3)
            for job in JOBS:
                world.run(job.name)
        outcomes = []
        for number in range(rounds):
            left = choose.choice([0, 0, choose.randrange(40_000), choose.randrange(400_000)])
            step = STEPS[number % len(STEPS)]
            outcomes.append(rewind_on_full_disk(world, disk, step, left))
        sys.stdout.write(json.dumps(outcomes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
