"""pyspark-client, unmodified, in a session of Glue 6.0."""

from __future__ import annotations

import json
import subprocess
import time

import pytest
from botocore.exceptions import ClientError

from tests.clients.conftest import PROGRAMS
from tests.pages import Page
from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.sessions.conftest import Sessions
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home
from tidemark.model.clock import now_ms

pytestmark = pytest.mark.clients
PAGE = Page("docs/sessions.md")
PROGRAM = str(PROGRAMS / "spark_connect.py")


def test_a_client_with_the_token_is_served_and_no_other(client, port):
    port.home.create_bucket("connect")
    sessions = Sessions(port.glue)
    sessions.create("connect", GlueVersion="6.0", SessionType="SPARK_CONNECT", IdleTimeout=10)
    endpoint = port.glue.get_session_endpoint(SessionId="connect")["SparkConnect"]
    url = endpoint["Url"]
    shown = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True).stdout
    assert endpoint["AuthToken"] not in shown  # to other users of the machine

    done = client("spark-connect", "python", PROGRAM, f"{url}/;token={endpoint['AuthToken']}")
    assert json.loads(done.stdout) == {"version": "4.1.1", "count": 5}
    page = f"{PAGE.blocks['connect']}\nprint(spark.range(7).count())"
    assert client("spark-connect", "python", "-c", page).stdout == "7\n"
    for stranger in (url, f"{url}/;token=guessed"):
        refused = client("spark-connect", "python", PROGRAM, stranger, code=1)
        assert "UNAUTHENTICATED" in refused.stderr

    with pytest.raises(ClientError, match="OperationNotSupportedException"):
        sessions.send("connect", "1")
    sessions.glue.stop_session(Id="connect")
    assert sessions.becomes("connect", "STOPPED")["SessionType"] == "SPARK_CONNECT"
    (run,) = sessions.glue.get_job_runs(JobName="session-connect")["JobRuns"]
    assert run["JobRunState"] == "SUCCEEDED"


def test_the_work_of_a_client_keeps_its_session_from_being_idle(client, tmp_path):
    home, moved_ms = Home.open(tmp_path / "home"), [0]
    with serving(home, Options(clock=lambda: now_ms() + moved_ms[0])) as (url, engine):
        sessions = Sessions(Port(home, url, engine).glue)
        home.create_bucket("connect")
        sessions.create("works", GlueVersion="6.0", SessionType="SPARK_CONNECT", IdleTimeout=1)
        endpoint = sessions.glue.get_session_endpoint(SessionId="works")["SparkConnect"]
        begun = sessions.becomes("works", "READY")["CreatedOn"].timestamp()
        time.sleep(20)
        client(
            "spark-connect", "python", PROGRAM, f"{endpoint['Url']}/;token={endpoint['AuthToken']}"
        )
        worked = time.time()
        time.sleep(3)  # the session looks every second

        moved_ms[0] = int((begun + 60 + 2 - time.time()) * 1000)  # more than a minute old
        time.sleep(3)
        assert time.time() + moved_ms[0] / 1000 < worked + 60
        assert sessions.becomes("works", "READY", "TIMEOUT")["Status"] == "READY"
        moved_ms[0] += 120_000
        assert sessions.becomes("works", "TIMEOUT")["Status"] == "TIMEOUT"
