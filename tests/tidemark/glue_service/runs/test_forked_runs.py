"""Runs whose processes one process forks; nothing starts a JVM here."""

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.sampled import at_night
from tests.tidemark.glue_service.runs.test_pythons import order_for, taken, waiting
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_job.process.forks import CAN_FORK
from tidemark.glue_service.runs.job_run_process import end_left_over_processes, end_process
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.local_state.machine.processes import is_running
from tidemark.local_state.sparks.make import spark_for

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="only Linux forks them")


@pytest.fixture
def pythons():
    with closing(Pythons()) as pythons:
        yield pythons


@pytest.fixture
def order(tmp_path):
    """Return an order for a script in a folder of its own."""

    def make(script, *arguments, **variables):
        folder = tmp_path / f"run {len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / "job.py").write_text(script)
        return order_for(folder, *arguments, **variables)

    return make


def printed(order):
    return json.loads((Path(order.folder) / "stdout.log").read_text())


@pytest.mark.nightly
def test_runs_at_the_same_time_have_a_process_each(pythons, order):
    script = (
        "import json, os, sys, time\n"
        "from pathlib import Path\n"
        "Path(os.environ['MINE']).touch()\n"
        "while not Path(os.environ['OTHER']).exists(): time.sleep(0.01)\n"
        "print(json.dumps([os.getpid(), os.getpgid(0), os.environ['MINE'], os.getcwd()]))\n"
        "sys.exit(int(sys.argv[1]))"
    )
    first, second = (
        order(script, code, MINE=f"../{mine}", OTHER=f"../{other}")
        for code, mine, other in (("0", "a", "b"), ("1", "b", "a"))
    )

    processes = [taken(pythons, first), taken(pythons, second)]

    assert [process.wait(BOUND_S) for process in processes] == [0, 1]
    assert [process.poll() for process in processes] == [0, 1]
    for process, its, mine in zip(processes, (first, second), ("../a", "../b"), strict=True):
        assert printed(its) == [process.pid, process.pid, mine, its.folder]
    assert len(pythons._ready) == 2


def test_two_runs_in_a_row_show_what_depends_on_the_order_of_a_set(pythons, order):
    orders = [order("print(hash('abc'))") for _ in range(4)]

    for one in orders:
        assert taken(pythons, one).wait(BOUND_S) == 0

    first, second, third, fourth = map(printed, orders)
    assert first != second
    assert (first, second) == (third, fourth)  # as long as both live


@pytest.mark.nightly
def test_runs_of_one_turn_have_the_same_seed_and_those_of_the_next_another(pythons, order):
    turns = [(order("print(hash('abc'))"), turn) for turn in (0, 0, 1, 3, 2)]

    for one, turn in turns:
        assert taken(pythons, one, turn=turn).wait(BOUND_S) == 0

    first, again, second, fourth, third = (printed(one) for one, _ in turns)
    assert first == again == third != second == fourth


def test_one_that_has_died_is_replaced(pythons, order):
    taken(pythons, order("")).wait(BOUND_S)
    dead = waiting(pythons)
    dead.kill()
    dead.wait(BOUND_S)

    assert [taken(pythons, order("")).wait(BOUND_S) for _ in range(3)] == [0, 0, 0]

    assert dead not in [one.process for _, one in pythons._ready]


@pytest.mark.parametrize("version", ["5.1", *at_night("6.0")])
def test_no_two_runs_have_the_same_random_numbers(pythons, order, version):
    orders = [
        order(
            "import json, random, numpy, uuid, tempfile\n"
            "names = tempfile._get_candidate_names()\n"
            "print(json.dumps([random.random(), numpy.random.rand(), str(uuid.uuid4()),\n"
            "    next(names)]))"
        )
        for _ in range(2)
    ]

    for one in orders:
        assert taken(pythons, one, spark_for(version)).wait(BOUND_S) == 0

    first, second = map(printed, orders)
    assert not {*first} & {*second}


@pytest.mark.nightly
def test_a_run_that_is_killed_says_by_what(pythons, order):
    script = "import os, sys; os.kill(os.getpid(), int(sys.argv[1]))"

    codes = [taken(pythons, order(script, str(n))).wait(BOUND_S) for n in (9, 15, 6)]

    assert codes == [-signal.SIGKILL, -signal.SIGTERM, -signal.SIGABRT]


def test_the_end_of_a_run_ends_what_it_started(pythons, order):
    script = (
        "import subprocess, time\n"
        "from pathlib import Path\n"
        "child = subprocess.Popen(['sleep', '600'], close_fds=False)\n"
        "Path('half').write_text(str(child.pid))\n"
        "Path('half').rename('child')\n"
        "time.sleep(600)"
    )
    its = order(script)
    process = taken(pythons, its)
    wait_until((Path(its.folder) / "child").exists)
    child = int((Path(its.folder) / "child").read_text())
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)

    assert end_process(process) == -signal.SIGTERM

    wait_until(lambda: not is_running(process.pid))
    wait_until(lambda: not is_running(child))


@pytest.mark.nightly
def test_a_process_that_a_run_left_behind_does_not_hide_its_end(pythons, order):
    script = (
        "import os, subprocess\n"
        "if os.fork() == 0:\n"
        "    os.execvp('sleep', ['sleep', '600'])\n"
        "subprocess.Popen(['sleep', '600'], close_fds=False)"
    )
    process = taken(pythons, order(script))

    assert process.wait(BOUND_S) == 0

    os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.nightly
def test_runs_end_with_the_process_that_forked_them(pythons, order):
    its = order("import time; open('begun', 'w').close(); time.sleep(600)")
    process = taken(pythons, its)
    wait_until((Path(its.folder) / "begun").exists)

    pythons._ready[-1][1].process.kill()

    assert process.wait(BOUND_S) == -signal.SIGKILL
    wait_until(lambda: not is_running(process.pid))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_no_run_outlives_a_killed_command(order):
    its = order("import time; open('begun', 'w').close(); time.sleep(600)")
    program = (
        "import json, sys, time\n"
        "from tidemark.glue_job.process.ahead import Order\n"
        "from tidemark.glue_service.runs.pythons import Pythons\n"
        "from tidemark.local_state.sparks.installed import own_spark\n"
        "p = Pythons(); p.want(1, own_spark()); order = Order(**json.loads(sys.argv[1]))\n"
        "while not (run := p.take(order, own_spark())): time.sleep(0.02)\n"
        "print(run.pid, flush=True); time.sleep(600)"
    )
    command = subprocess.Popen([sys.executable, "-c", program, its.line()], stdout=subprocess.PIPE)
    pid = int(command.stdout.readline())
    wait_until((Path(its.folder) / "begun").exists)

    command.kill()
    command.communicate()

    wait_until(lambda: not is_running(pid))


@pytest.mark.nightly
def test_an_order_may_be_large(pythons, order):
    its = order("import os; print(len(os.environ['LARGE']))", LARGE="x" * 100_000)
    its.environment.update({f"LARGE_{n}": "x" * 100_000 for n in range(9)})

    assert taken(pythons, its).wait(BOUND_S) == 0
    assert printed(its) == 100_000


@pytest.mark.nightly
def test_a_run_may_be_stopped_before_it_has_begun(pythons, order):
    taken(pythons, order("")).wait(BOUND_S)
    server = pythons._ready[0][1]
    os.kill(server.process.pid, signal.SIGSTOP)
    process = server.run(order("import time; time.sleep(600)"))

    process.signal_group(signal.SIGTERM)

    assert process.poll() is None
    os.kill(server.process.pid, signal.SIGCONT)
    assert process.wait(BOUND_S) == -signal.SIGTERM


@pytest.mark.nightly
def test_what_a_stopped_run_has_forked_is_found_wherever_it_has_gone(pythons, order):
    script = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    open('half', 'w').write(str(os.getpid()))\n"
        "    os.rename('half', 'child')\n"
        "    time.sleep(600)"
    )
    its = order(script)
    assert taken(pythons, its).wait(BOUND_S) == 0
    wait_until((Path(its.folder) / "child").exists)
    child = int((Path(its.folder) / "child").read_text())
    assert is_running(child)

    end_left_over_processes(SimpleNamespace(run_id="jr_1", log_path=f"{its.folder}/stderr.log"))

    wait_until(lambda: not is_running(child))
    assert len(pythons._ready) == 2


@pytest.mark.nightly
def test_the_processes_that_fork_are_of_no_run(pythons, order, monkeypatch):
    its = order("")
    monkeypatch.chdir(its.folder)
    assert taken(pythons, its).wait(BOUND_S) == 0
    servers = [server.process for _, server in pythons._ready]

    end_left_over_processes(SimpleNamespace(run_id="jr_1", log_path=f"{its.folder}/stderr.log"))

    assert taken(pythons, order("")).wait(BOUND_S) == 0
    assert [process.poll() for process in servers] == [None, None]


def test_a_run_that_never_began_was_killed(pythons, order):
    taken(pythons, order("")).wait(BOUND_S)
    server = pythons._ready[0][1]
    os.kill(server.process.pid, signal.SIGSTOP)
    process = server.run(order(""))

    server.process.kill()

    assert process.wait(BOUND_S) == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        _ = process.pid
    assert end_process(process) == -signal.SIGKILL
