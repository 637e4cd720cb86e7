"""Which JVMs are warmed: those that the jobs of a home need."""

from __future__ import annotations

from queue import SimpleQueue

import pytest

from tidemark.glue_service.entities import Entity, EntityKind, put_entity
from tidemark.glue_service.runs.jvms import warm_up as warm_up_module
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.glue_service.runs.jvms.warm_up import pool_for_home, versions_to_warm, warm_up
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import own_glue_version, pyspark_of
from tidemark.local_state.store.database import Store

OWN = own_glue_version()


def define(home, *versions, command="glueetl"):
    with Store(home.database) as store, store.transaction():
        for version in versions:
            named = {} if version is None else {"GlueVersion": version}
            definition = {"Command": {"Name": command}, **named}
            put_entity(store, Entity(EntityKind.JOB, f"{command}-{version}", definition, {}, 0, 0))


@pytest.mark.parametrize(
    ("versions", "warmed"),
    [
        ([], [OWN, OWN]),
        (["5.1"], ["5.1", "5.1"]),
        (["5.0", "5.1"], ["5.0", "5.0"]),
        (["6.0"], ["6.0", "6.0"]),
        ([None], ["6.0", "6.0"]),
        (["5.1", "6.0"], ["5.1", "6.0"]),
        (["4.0", "3.0"], [OWN, OWN]),
    ],
)
def test_jvms_are_warmed_of_each_spark_by_turns(monkeypatch, tmp_path, versions, warmed):
    monkeypatch.setattr(warm_up_module, "installed_spark", pyspark_of)  # all are installed
    home = Home.open(tmp_path / "home")
    define(home, *versions)
    define(home, "5.1", command="pythonshell")

    assert versions_to_warm(home, 2) == warmed


def test_no_jvm_is_warmed_of_a_spark_that_is_not_installed(monkeypatch, tmp_path):
    own = {OWN: pyspark_of(OWN)}
    monkeypatch.setattr(warm_up_module, "installed_spark", own.get)
    home = Home.open(tmp_path / "home")
    define(home, "5.1", "6.0")

    assert versions_to_warm(home, 2) == [OWN, OWN]


@pytest.mark.spark
@pytest.mark.nightly
def test_a_jvm_of_each_version_is_warm(tmp_path):
    home = Home.open(tmp_path / "home")
    with pool_for_home(home, 2) as jvms:
        runs = warm_up(home, Jvms(jvms.pool_file, pool=jvms.pool), ["5.1", "6.0"], SimpleQueue())

    assert [run.state for run in runs] == ["SUCCEEDED"] * 2
