"""A full disk stops what cannot go on, says so, and the port continues when there is room."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter, deque
from contextlib import suppress
from types import SimpleNamespace

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from tests.disks import can_mount
from tests.sampled import at_night
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import BOUND_S
from tidemark.errors import DiskFullError
from tidemark.glue_service.entities import Entity, EntityKind, put_entity
from tidemark.glue_service.eventbridge.bus import flush
from tidemark.glue_service.workflows.due import Schedules
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store


@pytest.mark.skipif(not can_mount(), reason="a disk of its own needs root")
@pytest.mark.parametrize(
    ("seed", "flows", "kills"), [(1, 4, 0), *at_night((2, 60, 0), (3, 60, 6), (4, 40, 10))]
)
def test_workflows_run_once_each_while_the_disk_fills_and_empties(tmp_path, seed, flows, kills):
    program = [sys.executable, "-m", "tests.tidemark.glue_service.full_disk"]
    arguments = [str(tmp_path), str(seed), str(flows), str(kills)]

    run = subprocess.run(
        ["unshare", "--mount", *program, *arguments], capture_output=True, text=True
    )

    assert run.returncode == 0, run.stderr + (tmp_path / "output").read_text()
    done = json.loads(run.stdout)
    assert done["alive"], done["output"]
    assert done["accepted"], "the disk was full for every start"
    assert set(done["flows"]) == {"COMPLETED"}
    times = Counter(done["ran"])
    assert set(times.values()) <= {1}, times
    for flow in done["accepted"]:  # what follows a run that succeeded has happened
        assert times[f"b {flow}"] <= times[f"a {flow}"]
    assert done["runs"]["a"].get("SUCCEEDED", 0) <= sum(done["runs"]["b"].values())
    assert sum(done["runs"]["c"].values()) <= done["runs"]["b"].get("SUCCEEDED", 0)
    if not kills:
        assert sum(done["runs"]["c"].values()) == done["runs"]["b"].get("SUCCEEDED", 0)
        ran = sum(done["runs"][name].get("SUCCEEDED", 0) for name in "abc")
        assert times.total() >= ran > 0


DIES = """
import sys
from pathlib import Path
from tidemark.glue_service import engine

do_step = engine.step

def step(glue):
    if Path(sys.argv[1]).exists():
        raise RuntimeError("a fault of ours")
    do_step(glue)

engine.step = step
from tidemark.cli.main import main
main(["serve", "--port", "0", "--jvms", "0"])
"""


def test_a_server_whose_engine_died_ends_at_once_with_the_line(home, tmp_path):
    """Started as before `&` in a script: there a signal of its own would not reach it."""
    server = subprocess.Popen(
        [sys.executable, "-c", DIES, str(tmp_path / "die")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    line = next(line for line in server.stdout if "AWS_ENDPOINT_URL=" in line)
    port = Port(Home.open(home), line.strip().partition("=")[2], None)

    (tmp_path / "die").touch()
    with suppress(ClientError, BotoCoreError):
        port.glue.list_jobs()
    _, said = server.communicate(timeout=BOUND_S)

    assert server.returncode == 1
    assert "the local Glue ended by an error (RuntimeError: a fault of ours)" in said
    assert "start it again" in said


def test_a_time_of_a_schedule_stays_due_until_it_has_fired(tmp_path):
    definition = {"Type": "SCHEDULED", "State": "ACTIVATED", "Schedule": "cron(0/5 * * * ? *)"}
    schedules, minute_ms = Schedules(), 60_000
    with Store(tmp_path / "glue.sqlite") as store:
        with store.transaction():
            put_entity(store, Entity(EntityKind.TRIGGER, "nightly", definition, {}, 0, 0))
        schedules.load(store, now_ms=0)

    for _ in schedules.due(6 * minute_ms):
        break  # as by a full disk
    again = [(timer.name, at_ms) for timer, at_ms in schedules.due(7 * minute_ms)]

    assert again == [("nightly", 5 * minute_ms)]
    assert list(schedules.due(8 * minute_ms)) == []
    assert [timer.name for timer, _ in schedules.due(10 * minute_ms)] == ["nightly"]


def test_what_one_target_cannot_take_yet_is_passed_on_once_and_in_order():
    passed, full = list[str](), [True]

    def first():
        if full:
            full.pop()
            raise DiskFullError("the disk is full")
        passed.append("first")

    waiting = SimpleNamespace(deliveries=deque([first, lambda: passed.append("second")]))
    with pytest.raises(DiskFullError):
        flush(waiting)
    assert passed == []
    flush(waiting)
    flush(waiting)

    assert passed == ["first", "second"]
