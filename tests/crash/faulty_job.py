"""Runs the job script CRASH_SCRIPT and kills its own process with SIGKILL at the step CRASH_AT.

Steps are the requests to DynamoDB, the steps of the Spark write and the commit of the job, counted
by name: ``before UpdateItem #1``. Every step reached is a line of the file CRASH_LOG.
"""

import os
import runpy
import signal
import threading
from collections import Counter

import boto3
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrameWriter

from awsglue.job import Job
from watermarks import files

seen = Counter()
lock = threading.Lock()


def step(name):
    with lock:
        seen[name] += 1
        label = f"{name} #{seen[name]}"
        with open(os.environ["CRASH_LOG"], "a", encoding="utf-8") as log:  # noqa: PTH123
            log.write(f"{label}\n")
            log.flush()
        if label == os.environ["CRASH_AT"]:
            os.kill(os.getpid(), signal.SIGKILL)


def around(owner, attribute, name):
    original = getattr(owner, attribute)

    def wrapped(*args, **kwargs):
        step(f"before {name}")
        result = original(*args, **kwargs)
        step(f"after {name}")
        return result

    setattr(owner, attribute, wrapped)


class TaskListener:
    """Hears of the tasks and jobs of the Spark write, from Spark's own listener bus."""

    def __init__(self):
        self.is_writing = False

    def onTaskEnd(self, event):  # noqa: N802 (Spark's name)
        if event.taskMetrics().outputMetrics().recordsWritten() > 0:
            self.is_writing = True
            step("a task of the write ended")

    def onJobEnd(self, event):  # noqa: N802 (Spark's name)
        if self.is_writing:
            self.is_writing = False
            step("the job of the write ended")

    def __getattr__(self, name):
        if name.startswith("on"):
            return lambda event: None
        raise AttributeError(name)

    class Java:
        implements = ("org.apache.spark.scheduler.SparkListenerInterface",)


boto3.setup_default_session()
events = boto3.DEFAULT_SESSION.events
events.register("before-call.dynamodb", lambda model, **_: step(f"before {model.name}"))
events.register("after-call.dynamodb", lambda model, **_: step(f"after {model.name}"))
around(files, "_delete_earlier_attempts", "deleting earlier attempts")
around(DataFrameWriter, "save", "the Spark write")
around(Job, "commit", "Job.commit")
context = SparkContext.getOrCreate()
ensure_callback_server_started(context._gateway)
context._jsc.sc().addSparkListener(TaskListener())
runpy.run_path(os.environ["CRASH_SCRIPT"], run_name="__main__")
