"""What a script set in statics of Java, Hadoop and Spark is seen: its JVM is not used again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.glue_job.process.lake_fs.jar import lake_jar
from tidemark.local_state.machine.java import find_java_home

pytestmark = pytest.mark.spark
JOB = Path(__file__).with_name("statics_job.py")
CLEAN = ("nothing", "a query", "the watch of a proof")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Return what is told after each change, by the name of the change."""
    java_home = find_java_home()
    ended = subprocess.run(
        [sys.executable, JOB],
        capture_output=True,
        text=True,
        cwd=tmp_path_factory.mktemp("statics"),
        env={
            **os.environ,
            "JAVA_HOME": str(java_home),
            "PYSPARK_SUBMIT_ARGS": f"--driver-class-path {lake_jar(java_home)} pyspark-shell",
        },
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def test_neither_a_query_nor_a_proof_changes_a_static(seen):
    assert {name: seen[name] for name in CLEAN} == dict.fromkeys(CLEAN)


def test_each_static_that_a_script_sets_is_named(seen):
    told = {name: what for name, what in seen.items() if name not in CLEAN}

    assert [name for name, what in told.items() if not what] == []
    assert told["a dialect"] == "org.apache.spark.sql.jdbc.JdbcDialects$.dialects"
    assert told["the login user"] == "Hadoop's login user"
    assert told["a property"] == "java.security.Security.props"
    assert told["login timeout"] == "the login timeout of java.sql.DriverManager"
    assert told["a level"] == "java.util.logging"
    assert len(told) == 27
