"""Starts Spark's own cluster for one run, on this machine: a master, and a worker per executor.

They are one process, which ends with the process that starts it, also if that is killed. Only who
has the secret of the run talks to them, and they listen on the loopback interface alone.
Source: https://spark.apache.org/docs/latest/spark-standalone.html
"""

import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.local_state.machine import child

FOLDER = "cluster"  # of a run: the log of master and workers, and those of executors
SECRET_VARIABLE = "_SPARK_AUTH_SECRET"  # noqa: S105 (where Spark looks for the secret)
START_TIMEOUT_S = 90.0
LOOK_S = 0.05
URL = re.compile(r"Starting Spark master at (spark://\S+)")
IS_REGISTERED = re.compile("Successfully registered")
ERROR = re.compile("Exception|Error|Unrecognized|[Cc]annot ")
OPTIONS = (
    "-Xmx256m",
    "-Dspark.authenticate=true",
    "-Dspark.master.rest.enabled=false",
    "-Dspark.ui.filters=dev.tidemark.cluster.NoPages",
)
REMEDY = "run with fewer --executors, or without"


@contextmanager
def standalone_cluster(
    executors: int, folder: Path, variables: Mapping[str, str], java_options: Sequence[str]
) -> Iterator[dict[str, str]]:
    """Yield the settings with which a driver uses a new cluster; it ends with the body.

    The folder for its files must not be there.
    """
    folder.mkdir(mode=0o700)
    secret, log = secrets.token_hex(32), folder / "cluster.log"
    class_path = [
        f"{variables['SPARK_CONF_DIR']}/",
        f"{variables['SPARK_HOME']}/jars/*",
        variables["SPARK_DIST_CLASSPATH"],
    ]
    command = [sys.executable, "-S", "-E", child.__file__, str(os.getpid())]
    command += [f"{variables['JAVA_HOME']}/bin/java", "-cp", os.pathsep.join(class_path)]
    command += [*java_options, *OPTIONS, "dev.tidemark.cluster.Standalone"]
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 (Spark's own classes)
            [*command, str(executors), str(folder)],
            # A worker asks for Scala's version, which matters to who builds Spark only.
            env={**variables, SECRET_VARIABLE: secret, "SPARK_SCALA_VERSION": "any"},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        url = _wait_for_workers(process, log, executors)
        yield {"spark.master": url, "spark.authenticate.secret": secret}
    finally:
        process.kill()
        process.wait()


def _wait_for_workers(process: subprocess.Popen[bytes], log: Path, executors: int) -> str:
    """Return the URL of the master as soon as all workers have registered."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        is_over = process.poll() is not None or time.monotonic() > deadline
        text = log.read_text(encoding="utf-8", errors="replace")
        url = URL.search(text)
        if url and len(IS_REGISTERED.findall(text)) >= executors:
            return url[1]
        if is_over:
            raise TidemarkError(f"Spark's cluster does not start: {last_words(text)}; {REMEDY}")
        time.sleep(LOOK_S)


def last_words(log: str) -> str:
    """Return the line of a log that says what went wrong: the first error, else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.search(line) and not line.startswith("at ")]
    return [*errors, *lines[-1:], "it says nothing"][0]
