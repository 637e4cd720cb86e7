"""Only the JVM of a run asks for its Data Catalog: by its socket, and by a secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tidemark.glue_job.process.test_job_process import finish, job, put_script
from tidemark.glue_job.metastore.connect import offered
from tidemark.glue_service.runs.job_run_process import plan_job_run, start_job_run
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home

# Asks each offered object, also after a head of HTTP; arguments: the port, the names of objects.
ASK = """
import json, socket, sys
answers = {}
for name in sys.argv[2:]:
    for head in ("", "POST / HTTP/1.1\\nHost: 127.0.0.1\\n"):
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60) as client:
            answer = b""
            try:
                request = json.dumps({"operation": "databases"})
                client.sendall(f"{head}c\\n{name}\\nask\\ns{request}\\ne\\ng\\n{name}\\n".encode())
                client.shutdown(socket.SHUT_WR)
                answer = client.recv(1000)
            except OSError:  # it is closed already
                pass
            answers[name] = answers.get(name, "") + answer.decode()
print(json.dumps(answers))
"""
# Drops each offered object, and is gone at once; arguments: a port, the names of objects.
DROP_AND_GO = """
import socket, struct, sys
lines = "".join(f"g\\n{name}\\ne\\n" for name in sys.argv[2:]).encode()
for number in range(20):
    client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 60)
    if number % 3 == 0:  # the other end gets a reset
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.sendall(lines)
    client.close()
"""
PROJECT = str(Path(__file__).parents[4])
SCRIPT = f"""
import json, os, subprocess, sys
from awsglue.context import GlueContext
from pyspark.context import SparkContext
sys.path.append({PROJECT!r})
from tests.other_user import NOBODY, held, run_as
from tests.sockets import sockets_of
context = SparkContext.getOrCreate()
spark = GlueContext(context).spark_session
total = context.accumulator(0)
server = context._gateway._callback_server
names = list(server.pool.dict)
user = NOBODY if os.getuid() == 0 else None

def used():
    context.parallelize(range(4), 2).foreach(lambda number: total.add(number))
    return spark.sql("SHOW DATABASES").count(), total.value

def used_under_attack(port):
    subprocess.run([sys.executable, "-c", {DROP_AND_GO!r}, str(port), *names], check=True)
    if user:
        run_as(user, {DROP_AND_GO!r}, str(port), *names).check_returncode()
    with held("127.0.0.1", port, 10, user=user):
        return used()

# Once its JVM is there, the server of accumulators accepts nobody more.
counts = [used_under_attack(context._accumulatorServer.server_address[1])]
jvm = context._jvm.java.lang.ProcessHandle.current()
daemons = [int(child.pid()) for child in jvm.children().toArray()]
(workers,) = [socket.port for socket in sockets_of(daemons) if socket.is_listening]
counts.append(used_under_attack(workers))
callbacks = server.server_socket.getsockname()[1]
counts.append(used_under_attack(callbacks))
asked = [sys.executable, "-c", {ASK!r}, str(callbacks), *names]
answers = json.loads(subprocess.run(asked, capture_output=True).stdout)
print(json.dumps([names, answers, counts, used()]))
"""


def test_what_is_offered_answers_who_knows_the_secret():
    asked = []
    metastore = offered("secret", lambda request: asked.append(request) or "answer")

    assert metastore.ask("secret", "request") == "answer"
    for wrong in ("", "Secret", "secre", "\udcff"):
        with pytest.raises(PermissionError):
            metastore.ask(wrong, "request")
    assert asked == ["request"]


@pytest.mark.parametrize(
    "name", ["__init__", "__setattr__", "__dict__", "__getattribute__", "__reduce__"]
)
def test_of_what_is_offered_nothing_else_is_reached(name):
    with pytest.raises(AttributeError):
        getattr(offered("secret", str), name)


@pytest.mark.stress
def test_a_run_answers_its_jvm_and_no_other_program(tmp_path):
    home = Home.open(tmp_path / "home")
    put_script(home, SCRIPT)

    machine = Machine(home, find_java_home(), "http://127.0.0.1:9", "eu-west-1")
    planned = plan_job_run(machine, job(), {}, "jr_" + "b" * 64, attempt=0)
    run = finish(start_job_run(machine, job(), {}, planned))

    folder = home.runs / run.run_id
    log = (folder / "stderr.log").read_text(encoding="utf-8")
    assert run.state == "SUCCEEDED", log
    names, answers, counts, last = json.loads((folder / "stdout.log").read_text("utf-8"))
    assert names
    assert answers == dict.fromkeys(names, "")
    assert [total for _, total in [*counts, last]] == [6, 12, 18, 24]
    assert {number for number, _ in [*counts, last]} == {1}
    assert "Traceback" not in log
    assert "ERROR" not in log
