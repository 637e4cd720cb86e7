"""How a process that was forked for a run ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tidemark.glue_service.runs.jvms.supply import NO_JVMS
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home

SCRIPT = """
import atexit, sys, tempfile, threading, time
import left_open

def put(name):
    with open(name, "w") as file:
        file.write("done")

class Deleted:
    def __del__(self):
        put("deleted")

file = open("file", "w")
file.write("done")
deleted = Deleted()
deleted.itself = deleted
atexit.register(put, "atexit")
threading.Thread(target=lambda: (time.sleep(0.3), put("thread"))).start()
folder = tempfile.TemporaryDirectory()
print(folder.name, sys.argv[0], end="")
sys.stderr.write("the last words")
"""


def test_everything_that_a_script_leaves_open_is_ended(
    shared_pythons: Callable[..., Pythons], tmp_path: Path
) -> None:
    home = Home.open(tmp_path / "home")
    script, module = tmp_path / "ends.py", tmp_path / "left_open.py"
    script.write_text(SCRIPT, encoding="utf-8")
    module.write_text("file = open('module', 'w')\nfile.write('done')\n", encoding="utf-8")
    jvms = replace(NO_JVMS, pythons=shared_pythons())
    jvms.want(1)
    submission = Submission(script, "ends", {"--extra-py-files": str(module)})

    run, _ = submit(submission, home, lambda _: None, jvms=jvms)

    folder = home.runs / run.run_id
    assert (run.state, run.error_message) == ("SUCCEEDED", None)
    temporary, program = (folder / "stdout.log").read_text().split()
    assert program.endswith("ends.py")
    assert not Path(temporary).exists()
    assert (folder / "stderr.log").read_text().endswith("the last words")
    left = ("file", "module", "deleted", "atexit", "thread")
    assert {name: (folder / name).read_text() for name in left} == dict.fromkeys(left, "done")
