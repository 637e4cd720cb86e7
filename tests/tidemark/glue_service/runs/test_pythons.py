"""Job processes that are there before their runs; nothing starts a JVM here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.sampled import at_night
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_job.process.ahead import Order, provide
from tidemark.glue_job.process.forks import CAN_FORK
from tidemark.glue_service.runs import pythons as pythons_module
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.glue_service.runs.waiting import PYTHON_VARIABLES
from tidemark.local_state.machine.processes import inherited, is_running
from tidemark.local_state.sparks.installed import own_spark
from tidemark.local_state.sparks.make import spark_for

SCRIPT = """
import json, os, sys
import fastavro
from pathlib import Path
try:
    from shipped import VALUE
except ImportError:
    VALUE = None
found = {
    "argv": sys.argv, "folder": os.getcwd(), "own": os.environ.get("OWN"), "value": VALUE,
    "fastavro": fastavro.__file__, "file": __file__, "stdin": sys.stdin.read(),
    "left": os.environ.get("OF_THE_COMMAND"), "path": sys.path,
}
print(json.dumps(found))
print("to stderr", file=sys.stderr)
sys.exit(3 if "--fail" in sys.argv else 0)
"""


BOTH_WAYS = pytest.mark.parametrize("way", ["one run", "fork"], indirect=True)


@pytest.fixture(autouse=True, params=["fork", *at_night("one run")])
def way(request, monkeypatch):
    """Let a process that waits become a run's, or fork one for each run."""
    if request.param == "fork" and not CAN_FORK:
        pytest.skip("only Linux forks them")
    monkeypatch.setattr(pythons_module, "CAN_FORK", request.param == "fork")
    return request.param


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "job.py").write_text(SCRIPT)
    return folder


def order_for(folder, *arguments, libraries=(), **variables):
    (folder / "arguments.json").write_text(json.dumps([*arguments]))
    path = os.pathsep.join([PYTHON_VARIABLES["PYTHONPATH"], *map(str, libraries)])
    environment = {
        **inherited(),
        **PYTHON_VARIABLES,
        "PYTHONPATH": path,
        "TIDEMARK_HOME": str(folder.parent / "home"),
        "TIDEMARK_RUN_FOLDER": str(folder),
        **variables,
    }
    environment.pop("OF_THE_COMMAND", None)
    return Order(str(folder / "job.py"), str(folder), environment)


def taken(pythons, order, spark=None, turn=None):
    """Return a process that waited, and got an order."""
    spark = spark or own_spark()
    pythons.want(1, spark)
    return wait_until(lambda: pythons.take(order, spark, turn))


def run(order, spark=None):
    with closing(Pythons(refills=False)) as pythons:
        process = taken(pythons, order, spark)
        code = process.wait(BOUND_S)
    folder = Path(order.folder)
    lines = (folder / "stdout.log").read_text().splitlines()
    return code, json.loads(lines[-1]), (folder / "stderr.log").read_text()


@pytest.mark.nightly
@BOTH_WAYS
def test_a_process_that_waited_is_the_runs_own(folder, monkeypatch):
    monkeypatch.setenv("OF_THE_COMMAND", "1")

    code, found, stderr = run(order_for(folder, "--day", "1", OWN="yes"))

    assert (code, found["argv"]) == (0, [str(folder / "job.py"), "--day", "1"])
    assert (found["folder"], found["own"], found["value"]) == (str(folder), "yes", None)
    assert (found["file"], found["stdin"], found["left"]) == (str(folder / "job.py"), "", None)
    assert "to stderr" in stderr
    assert not (folder / "arguments.json").exists()


FIRST_CALL = """
import json, sys
from pyspark.sql.types import NumpyArrayConverter
before = set(sys.modules)
NumpyArrayConverter().can_convert(1)  # as py4j asks for the first argument of a call
print(json.dumps([name for name in sys.modules if name not in before]))
"""


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["5.1", "6.0"])
def test_the_first_call_of_java_imports_nothing_more(folder, version):
    (folder / "job.py").write_text(FIRST_CALL)

    code, found, stderr = run(order_for(folder), spark_for(version))

    assert (code, found) == (0, []), stderr


def test_its_exit_code_is_the_scripts(folder):
    assert run(order_for(folder, "--fail"))[0] == 1
    assert json.loads((folder / "error.json").read_text())


def test_modules_that_the_job_ships_are_found_where_a_fresh_python_finds_them(folder, tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    (library / "shipped.py").write_text("VALUE = 7")
    order = order_for(folder, libraries=[library])

    code, found, _ = run(order)
    order_for(folder, libraries=[library])
    fresh = subprocess.run(
        [
            sys.executable,
            "-P",
            "-m",
            "tidemark.glue_job.process.job_process",
            str(os.getpid()),
            order.script,
        ],
        cwd=folder,
        env=order.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )

    assert (code, found["value"]) == (0, 7)
    assert json.loads(fresh.stdout) == found


def test_a_job_that_ships_what_was_imported_gets_its_own(folder, tmp_path):
    library = tmp_path / "library"
    (library / "fastavro").mkdir(parents=True)
    (library / "fastavro" / "__init__.py").write_text("")
    (library / "shipped.py").write_text("VALUE = 8")

    code, found, _ = run(order_for(folder, libraries=[library]))

    assert (code, found["value"]) == (0, 8)
    assert found["fastavro"] == str(library / "fastavro" / "__init__.py")


def test_settings_of_python_count_from_its_start(folder):
    (folder / "job.py").write_text("import sys; print(sys.flags.dont_write_bytecode)")

    assert run(order_for(folder, PYTHONDONTWRITEBYTECODE="1"))[1] == 1


def test_only_what_is_imported_already_is_in_the_way(tmp_path):
    (tmp_path / "helper.py").write_text("")

    assert not provide([str(tmp_path), str(tmp_path / "none")], {"json", "pyspark", "__main__"})
    assert provide([str(tmp_path)], {"helper"})
    (tmp_path / "sitecustomize.py").write_text("")
    assert provide([str(tmp_path)], {"json"})


def waiting(pythons):
    """Return the process that waits, as soon as there is one."""
    return wait_until(lambda: pythons._ready)[0][1].process


def test_one_that_has_died_is_passed_over(folder):
    with closing(Pythons(refills=False)) as pythons:
        pythons.want(1, own_spark())
        dead = waiting(pythons)
        dead.kill()
        dead.wait(BOUND_S)

        assert pythons.take(order_for(folder), own_spark()) is None


@pytest.mark.nightly
@BOTH_WAYS
def test_more_runs_are_served_and_all_end_with_their_command(folder):
    pythons = Pythons()
    assert taken(pythons, order_for(folder)).wait(BOUND_S) == 0
    assert taken(pythons, order_for(folder)).wait(BOUND_S) == 0
    idle = waiting(pythons)

    pythons.close()

    assert idle.returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_none_outlives_a_killed_command(way):
    program = (
        "import time; from tidemark.glue_service.runs import pythons\n"
        "from tidemark.local_state.sparks.installed import own_spark\n"
        f"pythons.CAN_FORK = {way == 'fork'}\n"
        "p = pythons.Pythons(); p.want(1, own_spark())\n"
        "while not p._ready: time.sleep(0.02)\n"
        "print(p._ready[0][1].process.pid, flush=True); time.sleep(600)"
    )
    command = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    pid = int(command.stdout.readline())
    command.kill()
    command.communicate()

    wait_until(lambda: not is_running(pid))
