"""Runs the job script CRASH_SCRIPT and kills its own process with SIGKILL at the step CRASH_AT.

Steps are the requests to DynamoDB, the steps of the Spark write and the commit of the job.
"""

import os
import runpy

import boto3
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrameWriter
from steps import around, step

from awsglue.job import Job
from watermarks.spark import files


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
