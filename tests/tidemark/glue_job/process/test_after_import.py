"""What is changed of PySpark: that it stops soon."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
import zipfile
from types import SimpleNamespace

import pytest

from tests.tidemark.glue_job.process.test_job_process import finish, job, put_script
from tests.waiting import BOUND_S
from tidemark.glue_job.process.after_import import after_import, free_alone, free_no_more
from tidemark.glue_service.runs.job_run_process import plan_job_run, start_job_run
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home

SCRIPT = """
import statistics, sys, time
from tidemark.glue_job.process.after_import import ACCUMULATORS, AfterImport, stop_accumulators_soon

if sys.argv[1] == "changed":
    sys.meta_path.insert(0, AfterImport(ACCUMULATORS, stop_accumulators_soon))
import pyspark
from pyspark.accumulators import _start_update_server

seconds = []
for _ in range(5):
    # Since Spark 4, the second one is whether it is a socket of Unix.
    given = ["token", False][: 1 if pyspark.__version__.startswith("3.") else 2]
    server = _start_update_server(*given)
    time.sleep(0.01)
    begin = time.monotonic()
    server.shutdown()
    seconds.append(time.monotonic() - begin)
print(statistics.median(seconds))
"""


def seconds_of(how):
    command = [sys.executable, "-c", SCRIPT, how]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_the_server_of_accumulators_is_shut_down_in_a_fraction_of_the_time():
    assert seconds_of("changed") < seconds_of("as it comes") / 2


def test_only_the_module_itself_is_changed_of_those_in_one_zip(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "libs.zip", "w") as archive:
        archive.writestr("packed/__init__.py", "")
        archive.writestr("packed/changed.py", "from packed import other")
        archive.writestr("packed/other.py", "")
    monkeypatch.syspath_prepend(str(tmp_path / "libs.zip"))
    names = []

    after_import("packed.changed", lambda module: names.append(module.__name__))
    importlib.import_module("packed.changed")

    assert names == ["packed.changed"]


def test_the_end_of_spark_waits_for_the_object_that_is_being_freed_and_frees_no_more():
    begun, may_end, freed = threading.Event(), threading.Event(), []

    class JavaClient:
        is_connected = True

        def garbage_collect_object(self, target_id, enqueue=True):
            if self.is_connected:
                begun.set()
                may_end.wait(BOUND_S)
                freed.append(target_id)

    free_alone(SimpleNamespace(JavaClient=JavaClient))
    client = JavaClient()
    freeing = threading.Thread(target=client.garbage_collect_object, args=("o1", False))
    ending = threading.Thread(
        target=free_no_more, args=(SimpleNamespace(_gateway_client=client),), daemon=True
    )
    freeing.start()
    begun.wait(BOUND_S)
    ending.start()
    ending.join(0.1)

    assert ending.is_alive()
    may_end.set()
    freeing.join()
    ending.join()
    client.garbage_collect_object("o2", False)
    assert freed == ["o1"]


MANY_OBJECTS = """
import gc
from pyspark.context import SparkContext
context = SparkContext.getOrCreate()
left = [context._jvm.java.util.ArrayList() for _ in range(20_000)]
context.stop()
del left
gc.collect()  # Py4J's thread frees them in the JVM, which ends now
"""


@pytest.mark.nightly
def test_a_jvm_that_ends_while_its_objects_are_freed_leaves_no_error_in_the_log(tmp_path):
    home = Home.open(tmp_path / "home")
    put_script(home, MANY_OBJECTS)
    machine = Machine(home, find_java_home(), "http://127.0.0.1:9", "eu-west-1")
    planned = plan_job_run(machine, job(), {}, "jr_" + "b" * 64, attempt=0)

    run = finish(start_job_run(machine, job(), {}, planned))

    log = (home.runs / run.run_id / "stderr.log").read_text(encoding="utf-8")
    assert run.state == "SUCCEEDED", log
    assert "ERROR" not in log
