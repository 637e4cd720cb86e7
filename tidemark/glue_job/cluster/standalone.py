"""Starts Spark's own cluster for one run, on this machine: a master, and a worker per executor.

Its processes end with the process that starts them, also if that is killed. Only who has the secret
of the run talks to them, and they listen on the loopback interface alone.
Source: https://spark.apache.org/docs/latest/spark-standalone.html
"""

import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.local_state.machine import child

FOLDER = "cluster"  # of a run: logs of master, workers and executors
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
HERE = "127.0.0.1"
SECRET_VARIABLE = "_SPARK_AUTH_SECRET"  # noqa: S105 (where Spark looks for the secret)
START_TIMEOUT_S = 90.0
LOOK_S = 0.05
URL = re.compile(r"Starting Spark master at (spark://\S+)")
# A worker that comes before would be sent away, and wait for ten seconds.
IS_LEADER, IS_REGISTERED = re.compile(r"New state: ALIVE"), re.compile("Successfully registered")
ERROR = re.compile("Exception|Error|Unrecognized|[Cc]annot ")
SETTINGS = """\
spark.authenticate=true
spark.master.rest.enabled=false
spark.ui.filters=dev.tidemark.cluster.NoPages
"""
REMEDY = "run with fewer --executors, or without"


@contextmanager
def standalone_cluster(
    executors: int, folder: Path, variables: Mapping[str, str], memory: str
) -> Iterator[dict[str, str]]:
    """Yield the settings with which a driver uses a new cluster; it ends with the body.

    The folder for its files must not be there. The memory of a worker is as much as an executor may
    ask for.
    """
    folder.mkdir(mode=0o700)
    (folder / "settings.conf").write_text(SETTINGS, encoding="utf-8")
    secret = secrets.token_hex(32)
    environment = {**variables, SECRET_VARIABLE: secret, "SPARK_DAEMON_MEMORY": "256m"}
    with ExitStack() as stack:
        master = _Daemon(MASTER, folder / "master", environment)
        stack.callback(master.end)
        master.wait_for(IS_LEADER)
        url = master.wait_for(URL)[1]
        workers = []
        for number in range(1, executors + 1):
            own = folder / f"worker-{number}"
            words = ["--cores", "1", "--memory", memory, "--work-dir", str(own), url]
            workers.append(_Daemon(WORKER, own, environment, words))
            stack.callback(workers[-1].end)
        for worker in workers:
            worker.wait_for(IS_REGISTERED)
        yield {"spark.master": url, "spark.authenticate.secret": secret}


class _Daemon:
    """A process of the cluster, in a program of Spark's, and its log."""

    def __init__(
        self, kind: str, place: Path, environment: Mapping[str, str], words: Sequence[str] = ()
    ) -> None:
        self._name = place.name
        self._log = place.with_name(f"{place.name}.log")
        command = [sys.executable, "-S", "-E", child.__file__, str(os.getpid())]
        command += [f"{environment['SPARK_HOME']}/bin/spark-class", kind]
        common = ["--host", HERE, "--port", "0", "--webui-port", "0"]
        common += ["--properties-file", str(place.with_name("settings.conf"))]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 (Spark's own script)
                [*command, *common, *words],
                env=dict(environment),
                cwd=place.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait_for(self, wanted: re.Pattern[str]) -> re.Match[str]:
        """Return what its log has, as soon as it does."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            is_over = self._process.poll() is not None or time.monotonic() > deadline
            text = self._log.read_text(encoding="utf-8", errors="replace")
            if found := wanted.search(text):
                return found
            if is_over:
                raise TidemarkError(
                    f"the {self._name} of Spark's cluster does not start: {last_words(text)}; "
                    f"{REMEDY}"
                )
            time.sleep(LOOK_S)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def last_words(log: str) -> str:
    """Return the line of a log that says what went wrong: the first error, else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.search(line) and not line.startswith("at ")]
    return [*errors, *lines[-1:], "it says nothing"][0]
