"""Starts Spark's Python workers in the folder of their run: a warm JVM stays where it began.

Spark calls ``python -m tidemark.local_glue.runs.jvms.worker_daemon`` for the property
``spark.python.daemon.module``.
"""

import os
import sys

from pyspark.daemon import manager

if __name__ == "__main__":
    before, folder = os.getcwd(), os.environ.pop("TIDEMARK_WORKER_FOLDER")  # noqa: PTH109 (as text)
    os.chdir(folder)
    sys.path[:] = [folder if entry == before else entry for entry in sys.path]
    manager()  # type: ignore[no-untyped-call]
