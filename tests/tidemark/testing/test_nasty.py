"""A plain script after a nasty one in the same process: all is as in a process of its own."""

from __future__ import annotations

import json

import pytest

from tests.tidemark.testing.nasty import CORE, NASTY, PLAIN, START

pytestmark = pytest.mark.spark
OWN_CATALOG = {"enable_glue_datacatalog": False}  # else databases are to be there for others


@pytest.fixture
def plain(lake, glue_job, tmp_path, glue_kit):
    """Return a function that runs the plain script and returns what it saw."""
    if glue_kit.engine.is_running:  # what other tests have cached is there for every run
        for rdd in glue_kit.engine.session.sparkContext._jsc.getPersistentRDDs().values():
            rdd.unpersist()
    script = tmp_path / "plain.py"
    script.write_text(PLAIN, encoding="utf-8")
    lake.put("landing/in/1.json", [{"id": 1}, {"id": 2}])
    lake.bucket("raw")

    def run(**options):
        done = glue_job(script, **OWN_CATALOG, **options)
        assert done.state == "SUCCEEDED", f"{done.error}\n{done.stderr[-2000:]}"
        assert "told" in done.stderr
        return json.loads(done.stdout)

    return run


@pytest.mark.parametrize(
    "name", [pytest.param(it, marks=() if it in CORE else pytest.mark.nightly) for it in NASTY]
)
def test_plain_script_sees_nothing_of(name, plain, glue_job, lake, tmp_path):
    text, state, is_in_process = NASTY[name]
    nasty = tmp_path / "nasty.py"
    nasty.write_text(START + text, encoding="utf-8")

    run = glue_job(nasty, conf={"spark.hadoop.x": 1}, **OWN_CATALOG)

    assert (run.state, run.is_isolated) == (state, not is_in_process), run.error or run.where
    assert plain() == EXPECTED


@pytest.mark.nightly
def test_plain_script_sees_the_same_in_a_process_of_its_own(plain):
    assert plain(isolated=True) == EXPECTED


EXPECTED = {
    "rows": 2,
    "python": 3,
    "conf": [],
    "app": "pyspark-shell",
    "leak": [None, None],
    "hadoop": [None, "dev.tidemark.lake.LakeFileSystem"],
    "static": None,
    "properties": [None, None],
    "tmp": True,
    "zone": "UTC",
    "views": [],
    "global views": [],
    "databases": ["default"],
    "functions": [],
    "cached": 0,
    "streams": 0,
    "level": "INFO",
    "argv": ["--JOB_NAME", "plain"],
    "folder": ["beside.txt"],
    "modules": [],
    "environment": [],
    "path": [],
    "limit": True,
    "logging": [[], 30, 0],
    "prec": 28,
    "umask": 0o022,
}


@pytest.fixture(autouse=True)
def shuffle_partitions(monkeypatch):
    """Expect as many partitions as jobs have on this machine."""
    import os

    monkeypatch.setitem(EXPECTED, "shuffle", str(2 * (os.cpu_count() or 2)))
