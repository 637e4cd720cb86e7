"""The live page in a headless Chromium: buttons, states as they change, logs as they grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import IN_CHROMIUM, PICTURES
from tests.servers import free_port, is_listening
from tests.waiting import wait_until
from tidemark.app import find_node

HERE = Path(__file__).parent
TICKS = "import time\nfor i in range(8):\n    print('tick', i, flush=True)\n    time.sleep(1)\n"

pytestmark = IN_CHROMIUM


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    from tests.fixtures.commands import write_assembly_into

    folder = tmp_path_factory.mktemp("live")
    app = write_assembly_into(folder, {"first": TICKS, "second": "print(1)"}, {"second": ["first"]})
    port = free_port()
    up = [sys.executable, "-m", "tidemark", "serve", "--jvms", "0"]
    command = [*up, "--port", str(port), "--app", str(app)]
    variables = {**os.environ, "TIDEMARK_HOME": str(folder / "home")}
    served = subprocess.Popen(command, env=variables)
    try:
        wait_until(lambda: is_listening(port))
        words = [find_node(None), str(HERE / "live.mjs"), f"http://127.0.0.1:{port}", "flow"]
        words += [json.dumps(command), str(served.pid), *filter(None, [PICTURES])]
        done = subprocess.run(words, capture_output=True, text=True, timeout=580, env=variables)
    finally:
        served.terminate()
        served.wait(30)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_button_starts_the_workflow_and_says_so(found) -> None:
    assert "started wr_" in found["seen"]["answer"]


def test_states_and_logs_change_by_themselves(found) -> None:
    assert "RUNNING" in found["seen"]["running"]
    assert "tick 3" in found["seen"]["log"]
    assert "SUCCEEDED" in found["seen"]["ended"]


def test_the_focus_stays_where_it_was_when_the_page_changes(found) -> None:
    assert found["seen"]["focus"] == "start?name=flow"


def test_only_what_acts_can_be_pressed_while_a_workflow_runs(found) -> None:
    assert found["seen"]["on"] == ["stop?name=flow"]


def test_the_page_of_a_job_tells_runs_and_state(found) -> None:
    for part in ("SUCCEEDED", "Next run", "Bookmark", "Rewind"):
        assert part in found["seen"]["job"]


def test_the_end_of_a_run_is_announced(found) -> None:
    assert "first" in found["seen"]["said"]
    assert "SUCCEEDED" in found["seen"]["said"]


def test_a_request_without_the_token_changes_nothing(found) -> None:
    assert found["seen"]["stranger"] == 403


def test_a_lost_connection_is_shown_within_three_seconds_and_buttons_are_off(found) -> None:
    lost = found["seen"]["lost"]

    assert lost["times"]["hangs"] < 3000
    assert lost["times"]["stopped"] < 3000
    assert "Connection lost" in lost["says"]
    assert lost["before"] > 0
    assert lost["during"] == 0


def test_the_page_catches_up_when_its_port_is_there_again(found) -> None:
    lost = found["seen"]["lost"]

    assert lost["times"]["again"] < 3000
    assert lost["after"] == lost["before"]


def test_nothing_is_loaded_from_elsewhere_and_no_error_is_shown(found) -> None:
    said = [line for line in found["said"] if "403" not in line and "REFUSED" not in line]
    assert said == [], json.dumps(said)


def test_axe_finds_no_violation_and_nothing_is_wider_than_the_window(found) -> None:
    assert len(found["looks"]) == 16
    wrong = [look for look in found["looks"] if look["violations"] or look["overflow"]]
    assert wrong == [], json.dumps(wrong)
