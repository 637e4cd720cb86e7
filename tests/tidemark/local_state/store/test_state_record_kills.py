"""Kills and full disks at random are never taken for a loss of what a home has had."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.disks import can_mount
from tests.sampled import at_night
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import STORE_FILE
from tidemark.local_state.store.database import Store


@pytest.fixture
def environment(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


WRITE_ON = """
import sys
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
home, seed = Home.from_environment(), sys.argv[1]
for number in range(10**6):
    with Store(home.database) as store:
        for name in ("one", "x" * 999):
            store.put_job_run(
                JobRun(f"jr_{seed}_{number}", name, None, None, 0, "FAILED", 7, "stderr.log", "off")
            )
    print(number, flush=True)
"""


@pytest.mark.parametrize(("seed", "rounds"), [(1, 2), *at_night((2, 20), (3, 20))])
def test_kills_of_writers_at_random_are_never_taken_for_a_loss(environment, seed, rounds):
    choose, acknowledged = random.Random(seed), 0  # noqa: S311 (no secret)
    Home.from_environment()
    for round_ in range(rounds):
        command = [sys.executable, "-c", WRITE_ON, f"{seed}_{round_}"]
        writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        for writer in writers:
            for _ in range(choose.randint(1, 20)):
                writer.stdout.readline()
            writer.kill()
            acknowledged = max(acknowledged, len(writer.stdout.read().splitlines()))
            writer.wait()
            writer.stdout.close()
        Home.from_environment()
    with Store(environment / STORE_FILE) as store:
        assert len(store.all_job_runs()) >= acknowledged


USE_ON = """
import os
from tests.tidemark.local_state.store.test_state_record import *
while True:
    change(Path(os.environ["TIDEMARK_HOME"]), TABLES)
    print(flush=True)
"""


@pytest.mark.parametrize("rounds", [2, *at_night(30)])
def test_kills_of_users_of_tables_are_never_taken_for_a_loss(environment, rounds):
    Home.from_environment()
    for round_ in range(rounds):
        command = [sys.executable, "-c", USE_ON]
        users = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        for user in users:
            for _ in range(1 + round_ % 3):
                assert user.stdout.readline() == b"\n"
            time.sleep(random.Random(round_).random() / 5)  # noqa: S311 (no secret)
            user.kill()
        for user in users:
            user.wait()
            user.stdout.close()
        Home.from_environment()


FILLS = """
import os, random, subprocess, sys
from pathlib import Path
from tidemark.errors import DamagedDatabaseError, DiskFullError
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
disk, choose = Path(sys.argv[1]), random.Random(sys.argv[2])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=True)
os.environ["TIDEMARK_HOME"] = str(disk / "home")
home, kept, refused = Home.from_environment(), 0, 0
run = ("one", None, None, 0, "FAILED", 7, "stderr.log" + "x" * 20_000, "off")
with Store(home.database) as store:
    store.put_job_run(JobRun("jr_first", *run))
for number in range(int(sys.argv[3])):
    space = os.statvfs(disk)
    fill = max(0, space.f_bavail * space.f_frsize - choose.randrange(0, 200_000))
    try:
        (disk / "filler").write_bytes(bytes(fill))
    except OSError:
        pass
    try:
        with Store(home.database) as store:
            store.put_job_run(JobRun(f"jr_{number}", *run))
        kept += 1
    except DiskFullError:
        refused += 1
    (disk / "filler").unlink(missing_ok=True)
    Home.from_environment()
with Store(home.database) as store:
    assert len(store.all_job_runs()) >= kept, (kept, len(store.all_job_runs()))
(home.root / "glue.sqlite").unlink()
try:
    Home.from_environment()
except DamagedDatabaseError:
    print("refused", kept, refused)
"""


@pytest.mark.skipif(not can_mount(), reason="a disk of its own needs root")
@pytest.mark.parametrize(("seed", "rounds"), [(7, 40), *at_night((8, 400))])
def test_a_disk_that_fills_and_empties_is_never_taken_for_a_loss(tmp_path, seed, rounds):
    run = subprocess.run(
        [
            "unshare",
            "--mount",
            sys.executable,
            "-c",
            FILLS,
            str(tmp_path),
            *map(str, (seed, rounds)),
        ],
        capture_output=True,
        text=True,
    )

    assert run.stdout.startswith("refused"), run.stderr
    _, kept, refused = run.stdout.split()
    assert int(kept) > 0
    assert int(refused) > 0
