"""Only the JVM of a run asks for its Data Catalog: by its socket, and by a secret."""

from __future__ import annotations

import json

import pytest

from tests.tidemark.glue_job.process.test_job_process import finish, job, put_script
from tidemark.glue_job.metastore.connect import offered
from tidemark.glue_service.runs.job_run_process import plan_job_run, start_job_run
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home

STRANGER = """
import json, socket, sys
found = {}
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
            found[name] = found.get(name, "") + answer.decode()
print(json.dumps(found))
"""
SCRIPT = f"""
import json, subprocess, sys
from awsglue.context import GlueContext
from pyspark.context import SparkContext
context = SparkContext.getOrCreate()
spark = GlueContext(context).spark_session
before = spark.sql("SHOW DATABASES").count()
server = context._gateway._callback_server
names = list(server.pool.dict)
place = str(server.server_socket.getsockname()[1])
done = subprocess.run([sys.executable, "-c", {STRANGER!r}, place, *names], capture_output=True)
answers = json.loads(done.stdout)
print(json.dumps([before, names, answers, spark.sql("SHOW DATABASES").count()]))
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
def test_py4j_answers_the_jvm_of_a_run_and_no_other_program(tmp_path):
    home = Home.open(tmp_path / "home")
    put_script(home, SCRIPT)

    machine = Machine(home, find_java_home(), "http://127.0.0.1:9", "eu-west-1")
    planned = plan_job_run(machine, job(), {}, "jr_" + "b" * 64, attempt=0)
    run = finish(start_job_run(machine, job(), {}, planned))

    folder = home.runs / run.run_id
    assert run.state == "SUCCEEDED", (folder / "stderr.log").read_text(encoding="utf-8")
    before, asked, answers, after = json.loads((folder / "stdout.log").read_text("utf-8"))
    assert before == after >= 1
    assert asked
    assert answers == dict.fromkeys(asked, "")
