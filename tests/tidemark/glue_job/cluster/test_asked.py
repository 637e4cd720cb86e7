"""Where a command wants the executors of its runs, and what that makes of Spark's settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.errors import UsageError
from tidemark.glue_job.cluster.asked import (
    Asked,
    asked_for,
    engine_settings_of,
    too_small_for,
    with_executors,
)
from tidemark.glue_job.cluster.standalone import last_words

ENGINE = {
    "spark.master": "local[2]",
    "spark.driver.host": "127.0.0.1",
    "spark.authenticate": "true",
    "spark.hadoop.tidemark.lake": "/a home/lake",
}
GB = 1024**3


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({}, Asked()),
        ({"TIDEMARK_EXECUTORS": ""}, Asked()),
        ({"TIDEMARK_EXECUTORS": "2"}, Asked(2)),
        ({"TIDEMARK_MASTER": "spark://h:7077"}, Asked(master="spark://h:7077")),
        ({"TIDEMARK_MASTER": "yarn", "HADOOP_CONF_DIR": "/etc/h"}, Asked(master="yarn")),
    ],
)
def test_a_command_asks_by_its_environment(environment, asked):
    assert asked_for(environment) == asked


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"TIDEMARK_EXECUTORS": "0"}, "is '0'; allowed: a whole number from 1; give one to --exec"),
        ({"TIDEMARK_EXECUTORS": "two"}, "is 'two'; allowed: a whole number from 1"),
        ({"TIDEMARK_EXECUTORS": "-1"}, "is '-1'; allowed: a whole number from 1"),
        ({"TIDEMARK_EXECUTORS": "9999"}, "9999 executors need 8.* GB; give --executors [0-9]+ at"),
        ({"TIDEMARK_MASTER": "local[4]"}, r"--master is 'local\[4\]'; allowed: spark://HOST:PORT"),
        ({"TIDEMARK_MASTER": "yarn"}, "set HADOOP_CONF_DIR or YARN_CONF_DIR to that folder"),
        (
            {"TIDEMARK_MASTER": "spark://h:7077", "TIDEMARK_LAKE_SEMANTICS": "s3"},
            "--s3-semantics is for processes of this machine.*leave it out",
        ),
        (
            {"TIDEMARK_MASTER": "spark://h:7077", "TIDEMARK_EXECUTORS": "2"},
            "allowed: one of --executors and --master; leave one out",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(environment, message):
    with pytest.raises(UsageError, match=message):
        asked_for(environment)


def test_a_machine_that_is_too_small_says_what_fits():
    assert too_small_for(2, 16 * GB) == ""
    assert too_small_for(8, 4 * GB).endswith("8 executors need 9.0 GB; give --executors 2 at most")
    assert too_small_for(1, 2 * GB).endswith("need 2.9 GB; run without --executors")


def test_without_executors_the_settings_stay_as_they_are():
    assert engine_settings_of(Asked(), ENGINE, []) == ENGINE
    assert with_executors(ENGINE, Asked(), [Path("/lake.jar")]) == ENGINE


def test_executors_of_this_machine_have_one_core_each_and_no_more():
    engine = engine_settings_of(Asked(2), ENGINE, ["-Da=b"])
    found = with_executors({**engine, "spark.executor.cores": "4"}, Asked(2), [])

    options = '"-Dtidemark.lake=/a home/lake" "-Da=b"'
    assert found["spark.executor.defaultJavaOptions"] == options
    assert (found["spark.executor.cores"], found["spark.cores.max"]) == ("1", "2")
    assert found["spark.authenticate"] == "true"


def test_a_memory_of_the_job_wins():
    engine = engine_settings_of(Asked(2), ENGINE, [])
    found = with_executors({**engine, "spark.executor.memory": "1g"}, Asked(2), [])

    assert engine["spark.executor.memory"] == "512m"
    assert found["spark.executor.memory"] == "1g"


def test_executors_get_the_jars_that_the_driver_has_first():
    given = {"spark.driver.extraClassPath": "/own.jar"}

    assert with_executors(given, Asked(1), [])["spark.executor.extraClassPath"] == "/own.jar"


def test_another_cluster_decides_how_it_is_reached_and_gets_the_jars_by_their_paths():
    asked = Asked(master="spark://h:7077")
    found = with_executors(engine_settings_of(asked, ENGINE, ["-Da=b"]), asked, [Path("/lake.jar")])

    assert found["spark.master"] == "spark://h:7077"
    assert found["spark.executor.extraClassPath"] == "/lake.jar"
    assert "spark.driver.host" not in found
    assert "spark.authenticate" not in found
    assert "-Da=b" not in found["spark.executor.defaultJavaOptions"]


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "it says nothing"),
        ("one\ntwo\n", "two"),
        (
            "java.net.BindException: in use\n  at sun.nio.Error.bind\nbye\n",
            "java.net.BindException: in use",
        ),
    ],
)
def test_the_line_of_a_log_that_says_what_went_wrong(log, words):
    assert last_words(log) == words
