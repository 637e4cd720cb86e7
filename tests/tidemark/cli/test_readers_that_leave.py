"""Commands whose reader leaves before the end, such as `| head -1`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fixtures.commands import WriteAssembly
from tests.sampled import at_night
from tests.tidemark.cli.test_cli import tidemark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.stored_warnings import keep_warnings, unseen_warnings

LOOKS = [
    ("status", "--app", "APP"),
    ("runs", "--format", "json"),
    ("logs", "load"),
]
MORE = [
    ("status", "--app", "APP", "--format", "json"),
    ("runs",),
    ("run", "show", "jr_"),
    ("engine", "list"),
    ("trigger",),
]


@pytest.mark.nightly
@pytest.mark.parametrize("looks", [LOOKS, *at_night(MORE)], ids=["some", "more"])
def test_commands_that_look_end_with_zero_and_leave_warnings_unseen(
    home: Path, write_assembly: WriteAssembly, looks: Sequence[Sequence[str]]
) -> None:
    app = str(write_assembly({"load": "print('a line\\n' * 20)"}))
    assert tidemark("run", "--app", app).exit_code == 0
    with Store(Home.open(home).database) as store:
        run = store.latest_job_run("load")
        assert run is not None
        keep_warnings(store, run.run_id, ["late files"])
    reader, writer = os.pipe()
    os.close(reader)

    for words in looks:
        given = [app if word == "APP" else word for word in words]
        given = [run.run_id if word == "jr_" else word for word in given]
        command = [sys.executable, "-m", "tidemark", *given]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (0, b""), words
    os.close(writer)

    with Store(Home.open(home).database) as store:
        assert "late files" in [warning.text for warning in unseen_warnings(store)]
